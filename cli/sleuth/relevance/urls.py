"""Canonical URLs: all URLs of one page share a key, those of different pages do not."""

import re
from collections.abc import Mapping
from urllib.parse import quote, unquote, urlsplit

from sleuth.base.urls import MAX_URL_CHARS, ascii_host, full_host, registered_host, registered_labels, to_ascii
from sleuth.relevance import sites
from sleuth.relevance.patterns import expression

MAX_ROUNDS = 300  # more than a URL of MAX_URL_CHARS can have other URLs nested in it
MAX_PATTERN_CHARS = 250  # of a URL that a user's pattern is matched against

VIEW_LABELS = frozenset(("www", "m", "mobile", "wap", "amp"))  # host labels for a view of the same site
UNRESERVED = "-._~!$'()*,:@"  # mean the same with and without percent-encoding
SESSION_ID = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/;]*|/\(S\(\w+\)\)", re.IGNORECASE)


def canonical(url: str) -> str:
    """Return the canonical form of a URL, without tracking parameters, session ids, redirects and the like."""
    key = url.strip()
    if len(key) > MAX_URL_CHARS:  # a longer one is its own key
        return key
    for _ in range(MAX_ROUNDS):  # a URL may contain another one
        if (simpler := _simplify(key).strip()) == key:
            break
        key = simpler
    return key


def matches_domain(host_or_url: str, pattern: str) -> bool:
    """Tell whether a URL or host matches: `x.y` and its subdomains, `*.x.y` only subdomains, or `/regex/`."""
    if len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/"):
        compiled = expression(pattern[1:-1])
        return compiled is not None and compiled.search(host_or_url[:MAX_PATTERN_CHARS]) is not None
    host, name = ascii_host(host_or_url), ascii_host(pattern.removeprefix("*."))
    if not host or not name:
        return False
    is_host = full_host(host_or_url) == f"www.{name}" if pattern.startswith("*.") else host == name
    return is_host or host.endswith(f".{name}")


def _simplify(url: str) -> str:
    try:
        parts = urlsplit(url.replace("&amp;", "&"))
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return url
    if not host or parts.scheme not in ("http", "https", ""):
        return url
    host = _site(to_ascii(host))
    where, _, added = _rewrite(host, _segments(parts.path)).partition("?")
    pairs = _pairs(f"{added}&{parts.query}")
    if target := _target(where, pairs):
        return target
    query, route = _query(where, pairs), _route(parts.fragment)
    if port not in (None, 80, 443) and where.startswith(host):
        where = f"{host}:{port}{where.removeprefix(host)}"
    return f"https://{where}{query}{route}"


def _site(host: str) -> str:
    labels = host.removeprefix("www.").split(".")
    if len(labels) == 1 or labels[-1].isdigit():
        return host
    own = registered_labels(labels)
    return ".".join([label for label in labels[:-own] if label not in VIEW_LABELS] + labels[-own:])


def _segments(path: str) -> list[str]:
    kept: list[str] = []
    for segment in SESSION_ID.sub("", _encode(path, UNRESERVED + "&=+", "/;")).split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in ("", "."):
            kept.append(segment)
    if kept and kept[-1].lower() in sites.INDEX_PAGES:
        kept.pop()
    return kept


def _drop_amp(segments: list[str]) -> None:
    if len(segments) > 1 and segments[-1] == "amp" and segments[-2] not in sites.AMP_IS_A_NAME:
        segments.pop()
    elif len(segments) > 1 and segments[0] == "amp":
        del segments[0]
    elif segments and segments[-1].endswith(".amp.html"):
        segments[-1] = segments[-1].removesuffix(".amp.html") + ".html"


def _encode(text: str, plain: str, kept: str = "") -> str:
    """Normalise percent-encoding: decode `plain` characters, leave `kept` ones as they are."""
    if "%" in text:
        text = re.sub("%(?![0-9A-Fa-f]{2})", "%25", text)
        text = re.sub("%([0-9A-Fa-f]{2})", lambda escape: _decoded(escape[1], plain), text)
    return quote(text, safe=f"{plain}{kept}%", errors="replace")


def _decoded(escape: str, plain: str) -> str:
    character = chr(int(escape, 16))
    readable = character.isascii() and (character.isalnum() or character in plain)
    return character if readable else f"%{escape.upper()}"


def _site_value(table: Mapping[str, Mapping[str, str]], where: str) -> str | None:
    """Return the value of the first pattern in a table of `sites` that matches, with its groups filled in."""
    site = registered_host(where.partition("/")[0]).partition(".")[0]
    matches = ((re.fullmatch(pattern, where), value) for pattern, value in table.get(site, {}).items())
    return next((found.expand(value) for found, value in matches if found), None)


def _rewrite(host: str, segments: list[str]) -> str:
    if rewritten := _site_value(sites.REWRITTEN, "/".join((host, *segments))):
        return rewritten
    if host not in sites.CODE_HOSTS:
        _drop_amp(segments)
    return "/".join((host, *segments))


def _pairs(query: str) -> list[tuple[str, str]]:
    pairs = (part.replace("+", "%20").partition("=") for part in query.split("&") if part)
    return [(_encode(name, UNRESERVED + "/?", ";"), _encode(value, UNRESERVED + "/?", ";")) for name, _, value in pairs]


def _target(where: str, pairs: list[tuple[str, str]]) -> str:
    names = (_site_value(sites.REDIRECTS, where) or "").split()
    targets = (unquote(value) for name, value in pairs if name in names)
    return next((target for target in targets if target.startswith(("http://", "https://"))), "")


def _query(where: str, pairs: list[tuple[str, str]]) -> str:
    if not pairs:
        return ""
    needed = _site_value(sites.KEPT_ON, where)
    labels = where.partition("/")[0].split(".")
    above = (".".join(labels[start:]) for start in range(len(labels)))
    dropped = " ".join(sites.TRACKING_ON.get(site, "") for site in above).split()
    kept: dict[str, None] = {}  # ordered, without duplicates
    for name, value in sorted(pairs, key=lambda pair: pair[0]):
        plain = name.lower()
        if plain in needed.split() if needed is not None else plain not in dropped and not _is_tracking(plain, value):
            kept[f"{name}={value}" if value else name] = None
    return f"?{'&'.join(kept)}" if kept else ""


def _is_tracking(name: str, value: str) -> bool:
    if name in sites.TRACKING or name.startswith(sites.TRACKING_PREFIXES):
        return True
    values = sites.TRACKING_VALUES.get(name)
    return values is not None and re.fullmatch(values, value) is not None


def _route(fragment: str) -> str:
    """Return the fragment if it selects the page, as `#!` and `#/` routes do."""
    routed = fragment.startswith(("!", "/")) and fragment.strip("!/")
    return f"#{_encode(fragment, UNRESERVED, '/?;&=+')}" if routed else ""
