"""What can go wrong with a page, beyond what can go wrong with any exchange (`sleuth_providers.errors`).

ProviderError
├── PrivateAddressError       PRIVATE_ADDRESS       a page on a private network, and those are not read
├── EmptyPageError            EMPTY_PAGE            nothing to read: as a rule a page that only scripts fill
└── BadResponseError
    └── UnreadableError       BAD_RESPONSE          an image, an archive, a broken PDF: nothing that has text

In messages `{provider}` is the site, or the service that was asked to read the page for us.
"""

from sleuth_providers.errors import BadResponseError, ProviderError


class EmptyPageError(ProviderError):
    """The page came and has no text."""

    code = "EMPTY_PAGE"
    state = "empty"
    message = "{provider} sent a page without text"
    hint = "if scripts fill it, let a real browser read it: sleuth config set fetch.browser true"


class UnreadableError(BadResponseError):
    """The address leads to something that is no text."""

    message = "{provider} sent something that is not text"
    hint = "open it in a program that knows such files"
