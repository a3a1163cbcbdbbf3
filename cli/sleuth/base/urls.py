"""URLs: their host in three forms, and the URL made safe to show, to send or to log."""

import re
from urllib.parse import quote, urlsplit

from sleuth.base.hosts import shown_host
from sleuth.base.text import JOINERS, limit_marks, printable
from sleuth_providers.net.urls import host_of, to_idna

MAX_URL_CHARS = 4_000
ESCAPED_CHARS = frozenset(' <>"\\' + JOINERS)  # could end the URL in a terminal, in Markdown or in HTML
SAFE_CHARS = "!#$%&'()*+,/:;=?@[]~-._"  # stay as they are when the rest is percent-encoded

# Labels under which anyone can register a name (bbc.co.uk), and hosts that give every customer a subdomain. A short
# list instead of the Public Suffix List: 10,000 rules to load at every start, for ties that seldom matter.
SHARED_LABELS = frozenset(("ac", "co", "com", "edu", "go", "gob", "gov", "mil", "ne", "net", "nom", "or", "org"))
SHARED_HOSTS = frozenset(
    (
        *("blogspot.com", "github.io", "gitlab.io", "netlify.app", "pages.dev", "readthedocs.io", "substack.com"),
        *("tumblr.com", "vercel.app", "web.app", "wordpress.com", "workers.dev"),
    )
)


def host(url: str) -> str:
    """Return the host of a URL in lower case, or nothing for an invalid one."""
    return host_of(url.strip())


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of a URL, which a key belongs to."""
    try:
        parts = urlsplit(url.strip())
        return parts.scheme, to_ascii(parts.hostname or ""), parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", url, None


def origins(hosts: str) -> set[tuple[str, str, int | None]]:
    """Return the origins of one address, or of several with commas."""
    return {origin(part) for part in hosts.split(",")}


def is_in_clear(url: str) -> bool:
    """Tell whether requests go unencrypted to another machine."""
    scheme, name, _ = origin(url)
    return scheme.partition("+")[0] in ("http", "redis", "valkey") and not is_loopback(name)


def is_loopback(host: str) -> bool:
    """Tell whether a host is this machine: localhost or a loopback address."""
    return host in ("localhost", "::1", "[::1]") or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))


def domain(url: str) -> str:
    """Return the host as it is shown to people: without `www.`."""
    return host(url).removeprefix("www.")


def ascii_host(host_or_url: str) -> str:
    """Return the host of a URL, or a bare host, as it is compared: ASCII, without `www.` and port."""
    return full_host(host_or_url).removeprefix("www.")


def full_host(host_or_url: str) -> str:
    """Return the host of a URL, or a bare host, in ASCII without port."""
    address = host_or_url.strip()
    return to_ascii(host(address if "//" in address else f"//{address}"))


def without_path(pattern: str) -> str:
    """Return the host of a URL or domain, without `www.`; patterns stay."""
    if pattern.startswith(("/", "*")):
        return pattern
    return domain(pattern if "://" in pattern else f"//{pattern}").strip(".")


def to_ascii(host: str) -> str:
    """Return a host in IDNA and lower case, an IPv6 address in brackets."""
    host = host.lower().strip(".")
    if ":" in host:
        return f"[{host}]"
    if host.isascii() or len(host) > 255:
        return host
    try:
        return to_idna(host).strip(".")  # IDNA turns an ideographic full stop into an ASCII one
    except UnicodeError:
        return host


def registered_host(host: str) -> str:
    """Return the part of a host that one owner registered: `bbc.co.uk` of `news.bbc.co.uk`."""
    labels = host.split(".")
    return ".".join(labels[-registered_labels(labels) :])


def registered_labels(labels: list[str]) -> int:
    """Return how many labels at the end of a host make up its registered part."""
    if ".".join(labels[-2:]) in SHARED_HOSTS:
        return 3
    return 3 if len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in SHARED_LABELS else 2


def clean_url(url: object, schemes: tuple[str, ...] = ("http", "https")) -> str:
    """Return a URL that is safe to show and to click, or nothing for an invalid one or another scheme."""
    value = str(url or "")
    if not value or len(value) > 2 * MAX_URL_CHARS:
        return ""
    value = printable(value).strip()
    try:
        parts = urlsplit(value)
        name = parts.hostname or ""
        shown = shown_host(name)
    except ValueError:
        return ""
    if parts.scheme.lower() not in schemes or not (name or parts.scheme == "file") or " " in name:
        return ""
    if "@" in parts.netloc or shown != name:  # in https://bank.example@evil.example/ the host is evil.example
        place = parts.netloc.rpartition("@")[2]
        bare = place if shown == name else place.lower().replace(name, shown)
        return clean_url(value.replace(parts.netloc, bare, 1), schemes)  # the rest must be a valid URL, too
    if not ESCAPED_CHARS.isdisjoint(value):
        value = "".join(quote(character) if character in ESCAPED_CHARS else character for character in value)
    if not value.isascii():
        value = limit_marks(value, quote)
    return value if len(value) <= MAX_URL_CHARS else ""  # a truncated URL would lead elsewhere


def ascii_url(url: str) -> str:
    """Return the URL with everything outside ASCII percent-encoded."""
    return url if url.isascii() else quote(url, safe=SAFE_CHARS, errors="surrogatepass")


def mask_login(url: str) -> str:
    """Redact user name, password and keys in a URL, or in text that was meant as one."""
    from sleuth_providers.exchange import SECRET_FIELD

    url = re.sub(rf"({SECRET_FIELD})(?!%s)[^&;#'\s]+", r"\1…", url, flags=re.IGNORECASE)
    login, sign, place = url.rpartition("@")
    if not sign or re.fullmatch(r"\W?https?://[^/@:]+(:\d+)?/.*", login):  # the @ is in the path of a valid URL
        return url
    scheme, mark, _ = login.partition("://")
    return f"{scheme}{mark}…@{place}" if mark else f"…@{place}"
