"""Replies of MediaWiki: errors in HTTP 200, and pages in no particular order."""

from __future__ import annotations

from sleuth_providers.base import ErrorRule, Provider, Response
from sleuth_providers.errors import BadResponseError, BlockedError, ProviderError, RateLimitError, UnavailableError
from sleuth_providers.json import as_dict, as_number, as_text, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ERRORS: dict[str, type[ProviderError]] = {"ratelimited": RateLimitError, "maxlag": UnavailableError}


class MediaWiki(Provider):
    """Refuses a user agent or an address with 403, and reports other errors as HTTP 200."""

    error_rules = (ErrorRule(403, BlockedError),)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Find an error in HTTP 200."""
        if response.status != 200 or b'"error"' not in response.body[:2000]:
            return super().detect_error(response)
        code = as_text(as_dict(as_dict(response.json()).get("error")).get("code"))
        return ERRORS.get(code, BadResponseError)("error {code!r}", code=code, status=200) if code else None


def ranked_pages(response: Response) -> list[dict[str, Any]]:
    """Return the pages of a search, sorted by their rank."""
    pages = items(response, "query", "pages", envelope="batchcomplete")
    return sorted(pages, key=lambda page: as_number(page.get("index")) or 0)
