"""Parts of a URL: what to connect to, what to send, what to show."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, quote, urlsplit

from sleuth_providers.errors import BadRequestError, BadResponseError, UnreachableError

KEPT_LETTERS = {*"ßς\u200c\u200d"}  # which IDNA 2003 replaces or drops
DEFAULT_PORTS = {"http": 80, "https": 443}
ASCII_PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
PROXY_HINT = "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY: sleuth doctor"
# Second-level labels under which a country's registry sells names: example.co.uk, example.com.au.
REGISTRY_LABELS = ("co", "com", "net", "org", "ac", "edu", "gov", "or", "ne")


def split_url(url: str) -> tuple[SplitResult, str, int]:
    """Return an http(s) URL in parts, with its host and port; raise BadRequestError for anything else."""
    try:
        parts = urlsplit(url)
        host, port = to_idna(parts.hostname or ""), parts.port
    except ValueError as problem:
        raise BadRequestError("invalid URL {url}", hint=BadResponseError.hint, url=url_for_display(url)) from problem
    if parts.scheme not in DEFAULT_PORTS or not host or not host.isprintable() or " " in host:
        raise BadRequestError("not an http(s) URL: {url}", hint=BadResponseError.hint, url=url_for_display(url))
    if (host.isascii() and not has_valid_labels(host)) or ("%" in host and ":" not in host):
        raise BadRequestError("invalid host name: {host!r}", hint=BadResponseError.hint, host=host)
    return parts, host, port or DEFAULT_PORTS[parts.scheme]


def without_scheme(url: str) -> str:
    """Return an address without its scheme, however that is written: http:/host, http//host, //host."""
    return re.sub(r"^(https?(:/*|/+)|/+)", "", url, flags=re.IGNORECASE)


def to_idna(host: str) -> str:
    """Return a lower-case host in ASCII; raise UnicodeError for an invalid one.

    Python implements IDNA 2003, which maps ß to ss and ς to σ, and drops joiners. Browsers keep them all.
    """
    if KEPT_LETTERS & {*host}:
        from unicodedata import normalize

        labels = re.split("[.。．｡]", normalize("NFKC", host))
        host = ".".join(f"xn--{one.encode('punycode').decode()}" if KEPT_LETTERS & {*one} else one for one in labels)
    return host if host.isascii() else host.encode("idna").decode()


def has_valid_labels(host: str) -> bool:
    """Tell whether each part of a host name has 1 to 63 characters, as DNS demands."""
    return all(0 < len(label) < 64 for label in host.removesuffix(".").split("."))


def without_login(url: str) -> str:
    """Return a URL, or what was meant as one, without login and query; a password may contain a slash."""
    return re.sub(r"\A(?!https?://[^/?@:]+(?::\d+)?[/?])(\w*+:/++)?+.*@", r"\1", url).partition("?")[0]


def url_for_display(url: str) -> str:
    """Return as much of a URL as an error may show: no query, no login, at most 100 characters."""
    return repr(without_login(url)[:100])


def proxy_error(proxy: str | None) -> UnreachableError:
    """Return the error for a proxy that does not connect, which is named without its login."""
    shown = (proxy or "").rpartition("://")[2].rpartition("@")[2].rstrip("/")
    return UnreachableError("cannot connect through proxy {proxy!r}", hint=PROXY_HINT, proxy=shown)


def request_target(parts: SplitResult) -> str:
    """Return path and query for the request line, with everything but ASCII percent-encoded."""
    path = parts.path or "/"
    return quote(f"{path}?{parts.query}" if parts.query else path, safe=ASCII_PUNCTUATION, errors="surrogatepass")


def host_header(parts: SplitResult, host: str, port: int) -> str:
    """Return the Host header: brackets around IPv6, no default port."""
    name = f"[{host.partition('%')[0]}]" if ":" in host else host
    return name if port == DEFAULT_PORTS[parts.scheme] else f"{name}:{port}"


def host_of(url: str) -> str:
    """Return the host name of a URL in lower case, empty for a URL without one."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def site_of(url: str) -> str:
    """Return the registered domain of a URL's host; a short list of labels replaces the Public Suffix List."""
    labels = host_of(url).split(".")
    if labels[-1].isdigit():  # an IPv4 address
        return ".".join(labels)
    country = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in REGISTRY_LABELS
    return ".".join(labels[-3:] if country else labels[-2:])
