"""Bot checks of pages that no contract covers: one try, then a long pause."""

import re
from urllib.parse import urlsplit

from sleuth_providers.base import Response
from sleuth_providers.errors import BlockedError, ProviderError

WALL_STATUSES = (202, 403, 418, 429, 999)
WALL_WORDS = re.compile(
    rb"captcha|challenge|turnstile|anomaly|antispider|unusual traffic|verify you are", re.IGNORECASE
)
WALL_PATH = re.compile(r"captcha|antispider|/sorry/|/errors\b", re.IGNORECASE)


def wall_error(response: Response, results_sign: bytes, pause_s: float) -> ProviderError | None:
    """Return BlockedError for a refusal, a redirect to a captcha, or a challenge page without `results_sign`."""
    is_wall = response.status in WALL_STATUSES or bool(WALL_PATH.search(urlsplit(response.url).path))
    if response.status == 200 and results_sign not in response.body:
        is_wall = is_wall or bool(WALL_WORDS.search(response.body))
    if not is_wall:
        return None
    return BlockedError("challenge page" if response.status == 200 else "", status=response.status, retry_after=pause_s)
