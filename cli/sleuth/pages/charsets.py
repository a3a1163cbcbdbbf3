"""In which charset a page is written: what it says, checked against what it is, and a guess where it says nothing."""

import codecs
import re

from sleuth_providers.base import as_text

MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
META = re.compile(rb"<(?:meta|\?xml)\b[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
LANGUAGE = re.compile(rb"<html\b[^>]*?\slang\s*=\s*[\"']?([A-Za-z]{2,3})", re.IGNORECASE)
TAGS = re.compile(rb"<[^<>]*>")
HEAD = 4096  # bytes in which a page must declare its charset; browsers look at 1,024
SAMPLE = 200_000
ENOUGH = 8  # characters outside ASCII that make valid UTF-8 no accident

# Browsers read the name on the left as the superset on the right, and pages rely on it.
MEANT = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "cp950": "big5hkscs",
    "euc_jis_2004": "euc_jp",
    "euc_jisx0213": "euc_jp",
    "shift_jis_2004": "cp932",
    "shift_jisx0213": "cp932",
    "utf-16": "utf-8",  # a declaration one can read in ASCII is not in UTF-16
}
NICKNAMES = {
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-x-big5": "big5hkscs",
    "windows-874": "cp874",
}
KNOWN = frozenset(
    ["utf-8", "gb18030", "hz", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949", "cp874"]
    + ["koi8-r", "koi8-u", "cp866", "mac-cyrillic", "mac-roman"]
    + [f"cp125{number}" for number in range(9)]
    + [f"iso8859-{number}" for number in range(2, 17)]
)
WESTERN = ("cp1250", "cp1252", "cp1254", "cp1257")  # a guess cannot tell them apart; the language can
BY_LANGUAGE = dict.fromkeys(("cs", "sk", "pl", "hu", "sl", "hr", "ro"), "cp1250") | {
    "tr": "cp1254",
    "lt": "cp1257",
    "lv": "cp1257",
    "et": "cp1257",
}


def find(body: bytes, declared: str = "") -> str:
    """Return the codec to read a body with; `declared` is what the HTTP header says."""
    for mark, codec in MARKS:
        if body.startswith(mark):
            return codec
    header, meta = known(declared), _in_markup(body)
    if header == "cp1252" and (meta or _is_foreign(body)):  # the default of many a server, set by nobody
        header = ""
    named = header or meta
    if _is_utf8(body, sure=named in ("", "utf-8")):
        return "utf-8" if named in ("", "utf-8") or not body.isascii() else named
    for codec in (header, meta):
        if codec and _damage(body, codec) == 0:
            return codec
    guess = _guess(body)
    if named and _damage(body, named) <= _damage(body, guess) + 0.001:  # a stray byte makes no other charset
        return named
    return guess


def known(label: str) -> str:
    """Return the codec a charset label means to a browser, or nothing for one that no page is written in."""
    label = label.strip().lower()
    try:
        name = NICKNAMES.get(label) or codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    name = MEANT.get(name, name)
    return name if name in KNOWN else ""


def _in_markup(body: bytes) -> str:
    found = META.search(body, 0, HEAD)
    return known(found[1].decode("ascii", "replace")) if found else ""


def _is_utf8(body: bytes, sure: bool) -> bool:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return sure or text.isascii() or sum(not character.isascii() for character in text[:SAMPLE]) >= ENOUGH


def _is_foreign(body: bytes) -> bool:
    """Tell whether a text has more letters outside ASCII than any language of Western Europe."""
    letters = b"".join(TAGS.sub(b"", body[:SAMPLE]).split())
    return sum(byte > 127 for byte in letters) > len(letters) // 4


def _damage(body: bytes, codec: str) -> float:
    """Return the share of characters that cannot be read with a codec."""
    text = body.decode(codec, "replace")
    return text.count("\ufffd") / len(text) if text else 0.0


def _guess(body: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(TAGS.sub(b"\n", body[:SAMPLE])).best()
    codec = known(as_text(best.encoding)) if best else ""
    if codec in ("", "ascii", *WESTERN):
        language = LANGUAGE.search(body, 0, HEAD)
        return BY_LANGUAGE.get(language[1].decode().lower() if language else "", "cp1252")
    return codec
