"""Replies of MediaWiki: errors in HTTP 200, and pages in no particular order."""

from __future__ import annotations

from sleuth_providers.base import Response
from sleuth_providers.errors import BadResponseError, ProviderError, RateLimitError, UnavailableError
from sleuth_providers.json import as_dict, as_number, as_text, items

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ERRORS: dict[str, type[ProviderError]] = {"ratelimited": RateLimitError, "maxlag": UnavailableError}


def api_error(response: Response) -> ProviderError | None:
    """Return the error in a reply with HTTP 200."""
    if response.status != 200 or b'"error"' not in response.body[:2000]:
        return None
    code = as_text(as_dict(as_dict(response.json()).get("error")).get("code"))
    return ERRORS.get(code, BadResponseError)("error {code!r}", code=code, status=200) if code else None


def ranked_pages(response: Response) -> list[dict[str, Any]]:
    """Return the pages of a search, sorted by their rank."""
    return sorted(items(response, "query", "pages"), key=lambda page: as_number(page.get("index")) or 0)
