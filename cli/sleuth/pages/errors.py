"""Errors of reading a page, besides those of any HTTP exchange (`sleuth_providers.errors`).

ProviderError
├── PrivateAddressError       PRIVATE_ADDRESS       the page is on a private network, and reading those is off
├── EmptyPageError            SEARCH_FAILED         the page has no text, usually because scripts fill it
└── BadResponseError
    └── UnreadableError       BAD_RESPONSE          an image, an archive, a damaged PDF

In messages, `{provider}` is the site, or the service that was to read the page.
"""

from sleuth_providers.errors import BadResponseError, ProviderError

NOT_READ = "the page arrived, but was not read in time"  # the message of a DeadlineError


class EmptyPageError(ProviderError):
    """The page has no text."""

    state = "empty"
    message = "{provider} sent a page without text"
    hint = "if the page needs JavaScript, read it in a browser: sleuth config set fetch.browser true"


class UnreadableError(BadResponseError):
    """The URL leads to a file that is not text."""

    message = "{provider} sent something that is not text"
    hint = "open the URL in a browser"
