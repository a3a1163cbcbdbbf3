"""How patient and how careful the HTTP layer is; apart from it, so that a cached answer needs no HTTP."""

from collections.abc import Callable

from sleuth_providers.records import Record

BROWSER_USER_AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

Guard = Callable[[str, list[str]], None]  # host and every address it has; raises to refuse


class Policy(Record):
    """What one conversation with a server may take and do."""

    timeout: float = 15.0
    connect_timeout: float = 5.0
    attempts: int = 3
    max_body: int = 10_000_000
    user_agent: str = "sleuth"
    guard: Guard | None = None
    roam: bool = False  # follow redirects to other hosts, without the request's own headers
