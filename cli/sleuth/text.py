"""Untrusted text made safe, secrets made unreadable, text cut to fit. All that comes from the web passes `clean`."""

import html
import unicodedata
from collections.abc import Iterable
from urllib.parse import quote, urlsplit

JOINERS = "\u200c\u200d"  # ZWNJ and ZWJ: Persian, Indic scripts and emoji need them
MAX_MARKS = 4  # combining marks in a row; no script stacks more, attackers do
KEPT_IN_URLS = "!#$%&'()*+,/:;=?@[]~-._"


def clean(text: object, limit: int = 0, *, lines: bool = False, entities: bool = True) -> str:
    """Return text that can neither steer a terminal nor hide: one line, or several with `lines`."""
    value = text if isinstance(text, str) else "" if text is None else str(text)
    if limit and len(value) > 8 * limit + 1000:  # so that hostile lengths cost nothing
        value = value[: 8 * limit + 1000]
    if entities and "&" in value:
        value = html.unescape(value)
    value = "\n".join(_line(part) for part in value.splitlines()).strip("\n") if lines else _line(value)
    return shorten(value, limit) if limit else value


def _line(text: str) -> str:
    if not text.isprintable():
        text = "".join(_kept(character) for character in text)
    if not text.isascii():
        text = _limit_marks(text)
    return " ".join(text.split())


def _kept(character: str) -> str:
    if character.isprintable() or character in JOINERS:
        return character
    return " " if character.isspace() else ""


def _limit_marks(text: str) -> str:
    run, kept = 0, []
    for character in text:
        run = run + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if run <= MAX_MARKS:
            kept.append(character)
    return "".join(kept)


def clean_url(url: object, schemes: tuple[str, ...] = ("http", "https")) -> str:
    """Return a web address fit to be shown and clicked, or nothing for any other kind of link."""
    value = "".join(_kept(character) for character in str(url or "")).strip().replace(" ", "%20")
    try:
        parts = urlsplit(value)
        host = parts.hostname
    except ValueError:
        return ""
    if parts.scheme.lower() not in schemes or not (host or parts.scheme == "file"):
        return ""
    return value.replace("<", "%3C").replace(">", "%3E").replace('"', "%22").replace("\\", "%5C")[:4000]


def ascii_url(url: str) -> str:
    """Return the address with everything outside ASCII percent-encoded, for places that take nothing else."""
    return url if url.isascii() else quote(url, safe=KEPT_IN_URLS)


def domain(url: str) -> str:
    """Return the host of an address without `www.`."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("www.")


def shorten(text: str, limit: int) -> str:
    """Cut text to at most `limit` characters, at a word where there is one, with … for what is gone."""
    if len(text) <= limit:
        return text
    cut = text[: max(limit - 1, 0)]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 0.6 else cut).rstrip(" ,;:，。、") + "…"


def width(text: str) -> int:
    """Return how many columns text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_cell(character) for character in text)


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def mask(secret: str | None) -> str | None:
    """Return just enough of a secret to recognise it."""
    if not secret:
        return None
    return f"{secret[:4]}…{secret[-2:]}" if len(secret) >= 12 else "…"


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace every secret in a text, plain and percent-encoded."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= 4:
            for form in (secret, quote(secret, safe=""), quote(secret)):
                text = text.replace(form, "[hidden]")
    return text
