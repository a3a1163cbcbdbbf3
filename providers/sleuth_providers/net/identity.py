"""How requests identify themselves: to APIs as sleuth, to sites that are read as pages as one Chrome.

A site compares the headers of a request with the browser that its user agent names. So all of them come from here, in
the order in which Chrome sends them, and one version number feeds the user agent, the client hints and the TLS profile
of `net.impersonation`. The system is the real one, which TCP shows anyway.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth_providers.base import Request

CHROME_VERSION = 154  # the newest that wreq has a profile for; old versions are blocked more often
PHONE_USER_AGENT = "Nokia6230/2.0 (05.50) Profile/MIDP-2.0 Configuration/CLDC-1.1"  # gets pages without scripts
SYSTEMS = {  # by sys.platform: in the user agent, and in the hints
    "darwin": ("Macintosh; Intel Mac OS X 10_15_7", "macOS"),
    "win32": ("Windows NT 10.0; Win64; x64", "Windows"),
}
LINUX = ("X11; Linux x86_64", "Linux")
ACCEPT_PAGE = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)
DEFAULT_LANGUAGE = "en-US,en;q=0.9"
# Headers in the order of Chrome: of a page that a person opens, and of data that a script on a page fetches.
PAGE_ORDER = (
    *("connection", "content-length", "cache-control", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform"),
    *("upgrade-insecure-requests", "content-type", "user-agent", "origin", "accept"),
    *("sec-fetch-site", "sec-fetch-mode", "sec-fetch-user", "sec-fetch-dest"),
    *("referer", "accept-encoding", "accept-language", "cookie"),
)
SCRIPT_ORDER = (
    *("connection", "sec-ch-ua-platform", "user-agent", "sec-ch-ua", "sec-ch-ua-mobile", "accept"),
    *("sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "referer", "accept-encoding", "accept-language", "cookie"),
)


def user_agent(version: str) -> str:
    """Return the user agent for APIs and feeds."""
    return f"sleuth/{version} (command-line web search)"


def with_contact(agent: str, email: str) -> str:
    """Return a user agent with the e-mail address of the user, if there is one."""
    return f"{agent.removesuffix(')')}; mailto:{email})" if email else agent


def chrome_user_agent() -> str:
    """Return the user agent of Chrome on this system."""
    system = SYSTEMS.get(sys.platform, LINUX)[0]
    return f"Mozilla/5.0 ({system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{CHROME_VERSION}.0.0.0 Safari/537.36"


def chrome_brands(version: int = CHROME_VERSION) -> str:
    """Return the `sec-ch-ua` header: the made-up brand in it, and the order, follow from the version."""
    signs = " (:-./);=?_"
    made_up = f"Not{signs[version % 11]}A{signs[(version + 1) % 11]}Brand", ("8", "99", "24")[version % 3]
    brands = [made_up, ("Chromium", str(version)), ("Google Chrome", str(version))]
    places = ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))[version % 6]
    ordered = [brand for _, brand in sorted(zip(places, brands, strict=True))]
    return ", ".join(f'"{name}";v="{number}"' for name, number in ordered)


def accept_language(lang: str, region: str = "") -> str:
    """Return the `Accept-Language` of a browser whose user prefers a language."""
    primary = lang.partition("-")[0].lower()
    full = lang if "-" in lang or not region else f"{lang}-{region}"
    tags = dict.fromkeys(tag for tag in (full, primary, "en") if tag)
    named = (f"{tag};q={1 - place / 10:.1f}" if place else tag for place, tag in enumerate(tags))
    return ",".join(named) if lang else DEFAULT_LANGUAGE


def browser_headers(request: Request, defaults: Mapping[str, str]) -> dict[str, str]:
    """Return all headers of a request as Chrome sends them over HTTP/1.1; those of the request come before defaults."""
    own = {name.lower(): value for name, value in {**defaults, **request.headers}.items()}
    parts = urlsplit(request.url)
    origin = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
    body, content_type = request.body()
    values = {
        "connection": "keep-alive",
        "sec-ch-ua": chrome_brands(),
        "sec-ch-ua-mobile": "?0",
        "sec-ch-ua-platform": f'"{SYSTEMS.get(sys.platform, LINUX)[1]}"',
        "upgrade-insecure-requests": "1",
        "user-agent": chrome_user_agent(),
        "accept": ACCEPT_PAGE,
        "sec-fetch-site": "none",
        "sec-fetch-mode": "navigate",
        "sec-fetch-user": "?1",
        "sec-fetch-dest": "document",
        "accept-encoding": "gzip, deflate",
        "accept-language": DEFAULT_LANGUAGE,
    }
    if body is not None:  # a form is on a page of the same site
        values |= {"content-length": str(len(body)), "content-type": content_type, "cache-control": "max-age=0"}
        values |= {"origin": origin, "referer": f"{origin}/", "sec-fetch-site": "same-origin"}
    values |= own
    is_script = values["sec-fetch-mode"] != "navigate"
    order = [name for name in (SCRIPT_ORDER if is_script else PAGE_ORDER) if name in values]
    if parts.scheme != "https":
        order = [name for name in order if not name.startswith("sec-")]
    order += [name for name in own if name not in PAGE_ORDER]
    return {name if name.startswith("sec-ch-") else name.title(): values[name] for name in order}
