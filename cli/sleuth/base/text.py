"""Untrusted text made safe, secrets made unreadable, text cut to fit. All that comes from the web passes `clean`."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from urllib.parse import quote, quote_plus, urlsplit

JOINERS = "\u200c\u200d"  # ZWNJ and ZWJ: Persian, Indic scripts and emoji need them
MAX_MARKS = 4  # combining marks and joiners in a row; no script stacks more, attackers do
MAX_URL = 4000
UNFIT_IN_URLS = ' <>"\\' + JOINERS
KEPT_IN_URLS = "!#$%&'()*+,/:;=?@[]~-._"


def clean(text: object, limit: int = 0, *, lines: bool = False, entities: bool = True) -> str:
    """Return text that can neither steer a terminal nor hide: one line, or several with `lines`."""
    value = text if isinstance(text, str) else "" if text is None else str(text)
    if limit and len(value) > 8 * limit + 1000:  # so that hostile lengths cost nothing
        value = value[: 8 * limit + 1000]
    if entities and "&" in value:
        from html import unescape  # its table of entities is not needed for most texts

        value = unescape(value)
    value = "\n".join(_line(part) for part in value.splitlines()).strip("\n") if lines else _line(value)
    return shorten(value, limit) if limit else value


def strip_controls(text: str) -> str:
    """Return a text that cannot steer a terminal, its lines and indents as they were."""
    if text.isascii() and text.isprintable():
        return text
    kept = "".join(_kept_in_lines(character) for character in text.replace("\r\n", "\n"))
    return kept if kept.isascii() else _limit_marks(kept)


def _kept_in_lines(character: str) -> str:
    return character if character in "\n\t" or unicodedata.category(character) == "Zs" else _kept(character)


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


def _limit_marks(text: str, instead: Callable[[str], str] = lambda _: "") -> str:
    run, kept = 0, []
    for character in text:
        run = run + 1 if character in JOINERS or unicodedata.category(character) in ("Mn", "Me") else 0
        kept.append(character if run <= MAX_MARKS else instead(character))
    return "".join(kept)


def clean_url(url: object, schemes: tuple[str, ...] = ("http", "https")) -> str:
    """Return a web address fit to be shown and clicked, or nothing for any other kind of link."""
    value = str(url or "")
    if len(value) > 2 * MAX_URL:
        return ""
    value = "".join(_kept(character) for character in value).strip()
    value = "".join(quote(character) if character in UNFIT_IN_URLS else character for character in value)
    try:
        parts = urlsplit(value)
        host = parts.hostname or ""
        shown = _host_shown(host)
    except ValueError:
        return ""
    if parts.scheme.lower() not in schemes or not (host or parts.scheme == "file"):
        return ""
    if "@" in parts.netloc or shown != host:  # a name before the host is there to be taken for the host
        where = parts.netloc.rpartition("@")[2]
        bare = where if shown == host else where.lower().replace(host, shown)
        return clean_url(value.replace(parts.netloc, bare, 1), schemes)  # what is left must be an address, too
    if not value.isascii():
        value = _limit_marks(value, quote)
    return value if len(value) <= MAX_URL else ""  # cut short, it would lead elsewhere


def _host_shown(host: str) -> str:
    """Return a host as it is written, or as the network knows it where its letters could be taken for others.

    Latin-1, Chinese, Japanese and Korean letters look like themselves; other scripts are trusted where the whole name
    is written in them, up to its last part, so that no `аpple.com` with a Cyrillic а passes for the real one.
    """
    foreign = "".join(letter for letter in host if not letter.isascii())
    other_script = not host.rpartition(".")[2].isascii() and foreign.isalnum()
    plain = (
        "ß" <= letter <= "ÿ" or (letter.isalnum() and unicodedata.east_asian_width(letter) == "W") for letter in foreign
    )
    if other_script or all(plain):
        return host
    known = host.encode("idna").decode().lower()
    if not re.fullmatch(
        r"[\w.-]+", known, re.ASCII
    ):  # signs that the network's spelling turns into blanks and the like
        raise ValueError(host)
    return known


def ascii_url(url: str) -> str:
    """Return the address with everything outside ASCII percent-encoded, for places that take nothing else."""
    return url if url.isascii() else quote(url, safe=KEPT_IN_URLS, errors="surrogatepass")


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
    if limit < 1:
        return ""
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 0.6 else cut).rstrip(" ,;:，。、") + "…"


def width(text: str) -> int:
    """Return how many columns text takes in a terminal."""
    if text.isascii():
        return len(text)
    return sum(_cell(character) for character in text)


def fit(text: str, columns: int) -> str:
    """Cut text to so many columns of a terminal, with … for what is gone."""
    if width(text) <= columns:
        return text
    kept, room = [], columns - 1
    for character in text:
        room -= _cell(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…" if columns > 0 else ""


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def mask(secret: str | None) -> str | None:
    """Return just enough of a secret to recognise it."""
    if not secret:
        return None
    return f"{secret[:4]}…{secret[-2:]}" if len(secret) >= 12 else "…"


def mask_login(address: str) -> str:
    """Return an address, or what was meant as one, without the name, the password and the keys in it."""
    from sleuth_providers.base import SECRET_FIELD

    address = re.sub(rf"({SECRET_FIELD})(?!%s)[^&;#'\s]+", r"\1…", address, flags=re.IGNORECASE)
    login, sign, place = address.rpartition("@")
    if not sign or re.fullmatch(r"\W?https?://[^/@:]+(:\d+)?/.*", login):  # the @ is in the path of a good address
        return address
    scheme, mark, _ = login.partition("://")
    return f"{scheme}{mark}…@{place}" if mark else f"…@{place}"


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace every secret in a text, however it is written: plain, percent-encoded, or as Python quotes it."""
    forms = {form for secret in secrets for form in spellings(secret)}
    kept, end = [], 0
    for first, last in sorted(place for form in forms for place in _places(text, form)):
        if first >= end:  # else two secrets overlap, and one mark covers both
            kept += [text[end:first], "[hidden]"]
        end = max(end, last)
    return "".join(kept) + text[end:]


def _places(text: str, form: str) -> Iterable[tuple[int, int]]:
    start = text.find(form)
    while start >= 0:
        yield start, start + len(form)
        start = text.find(form, start + 1)


def spellings(secret: str) -> Iterable[str]:
    """Return the ways in which a secret may be written; one of a few letters is no secret."""
    if len(secret) < 4:
        return ()
    encoded = [encode(secret, safe, errors="replace") for encode in (quote, quote_plus) for safe in ("", "/")]
    return (secret, repr(secret)[1:-1], *encoded, *(_lower_hex(form) for form in encoded))


def _lower_hex(text: str) -> str:
    return re.sub("%..", lambda found: found[0].lower(), text)


def escape_markdown(text: str) -> str:
    """Return text that Markdown renders literally."""
    escaped = re.sub(r"([\\`*_{}\[\]<>()#+!|~-])", r"\\\1", text)
    return re.sub(r"^( *\d{0,9})([.=])", r"\1\\\2", escaped, flags=re.MULTILINE)  # a list, a heading's underline
