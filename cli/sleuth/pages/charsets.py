"""Finds the charset of a text: the declared one if the bytes are valid in it, otherwise a guess.

The guess has two parts. Most byte sequences are valid in every Chinese, Japanese and Korean charset, but decoded with
the wrong one they almost never give the few dozen characters that each language uses all the time; counting those works
even for a few words, where charset_normalizer fails. Everything else is left to charset_normalizer.
"""

import codecs
import re

from sleuth_providers.json import as_text

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # starts with the mark of UTF-16, so it must come first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
META = re.compile(rb"<(?:meta|\?xml)\b[^<>]*?(?:charset|encoding)\s*+=\s*+[\"']?\s*+([\w.:-]+)", re.IGNORECASE)
LANGUAGE = re.compile(rb"<html\b[^<>]*?\slang\s*+=\s*+[\"']?([A-Za-z]{2,3})", re.IGNORECASE)
TAGS = re.compile(rb"<[^<>]*>")
HEAD_BYTES = 4096  # in which a page must declare its charset; browsers look at 1,024
SNIFFED_BYTES = 8192  # that show whether data is text
SAMPLE_BYTES = 200_000  # that a guess is based on
MIN_UTF8_CHARS = 8  # outside ASCII; with so many, valid UTF-8 is no coincidence, whatever is declared
# The score of a CJK charset is the share of frequent characters minus INVALID_WEIGHT times the share of invalid ones.
# Measured, prose scores 0.18 (Chinese) to 0.56 (Japanese) in its own charset and at most 0.03 in any other.
MIN_CJK_SCORE = 0.06
INVALID_WEIGHT = 5.0
MAX_UTF8_DAMAGE = 0.01  # share of invalid characters that a text in UTF-8 may have

# Browsers decode the charset on the left, a label or a codec, with the one on the right, and pages rely on it.
BROWSER_CODECS = {
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
    "utf-16": "utf-8",  # a declaration that is readable as ASCII is not in UTF-16
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "x-euc-jp": "euc_jp",
    "x-x-big5": "big5hkscs",
    "windows-874": "cp874",
}
SUPPORTED = frozenset(
    ["utf-8", "gb18030", "hz", "big5hkscs", "cp932", "euc_jp", "iso2022_jp", "cp949", "cp874"]
    + ["koi8-r", "koi8-u", "cp866", "mac-cyrillic", "mac-roman"]
    + [f"cp125{number}" for number in range(9)]
    + [f"iso8859-{number}" for number in range(2, 17)]
)
WESTERN = ("cp1250", "cp1252", "cp1254", "cp1257")  # a guess cannot distinguish them; the language of the page can
BY_LANGUAGE = {
    **dict.fromkeys(("cs", "sk", "pl", "hu", "sl", "hr", "ro"), "cp1250"),
    **dict.fromkeys(("lt", "lv", "et"), "cp1257"),
    "tr": "cp1254",
}
KANA = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB))))
HAN = "的一是不了在人有我他中大上到子和你地出道也年得就那要下以生自去之家可她小"
HANGUL = "이다는을의에가고하지은를도로한사리나자있그대시어기해인것수과들만서일라"
# Frequent characters, the standard that the charset extends, and the lead bytes of its level 1: everyday characters.
CJK = {
    "gb18030": (HAN + "这来国个说们为时会着过学对里后么", "gb2312", range(0xB0, 0xD8)),
    "cp932": (KANA, "shift_jis", range(0x88, 0x98)),
    "cp949": (HANGUL, "euc_kr", range(0xB0, 0xC9)),
    "big5hkscs": (HAN + "這來國個說們為時會著過學對裡後麼", "big5", range(0xA4, 0xC7)),
    "euc_jp": (KANA, "euc_jp", range(0xB0, 0xD0)),
}


def decode(body: bytes, declared: str = "", *, markup: bool = False) -> str:
    """Decode bytes; invalid ones become replacement characters."""
    return body.decode(find(body, declared, markup=markup), "replace")


def find(body: bytes, declared: str = "", *, markup: bool = True) -> str:
    """Return the codec of a body; `declared` is from the HTTP header, and `markup` may declare one itself."""
    for mark, codec in MARKS:
        if body.startswith(mark):
            return codec
    header, meta = known(declared), _in_markup(body) if markup else ""
    if header == "cp1252" and (meta or _is_foreign(body)):  # the default of many servers, not a choice
        header = ""
    named = header or meta
    if _is_utf8(body, sure=named in ("", "utf-8")):
        return "utf-8" if named in ("", "utf-8") or not body.isascii() else named
    for codec in (header, meta):
        if codec and _damage(body, codec) == 0:
            return codec
    guessed = guess(body)
    if named and _damage(body, named) <= _damage(body, guessed) + 0.001:  # a stray byte is not another charset
        return named
    return guessed


def known(label: str) -> str:
    """Return the codec that browsers use for a charset label, or nothing for one that no page uses."""
    label = label.strip().lower()
    try:
        name = BROWSER_CODECS.get(label) or codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    name = BROWSER_CODECS.get(name, name)
    return name if name in SUPPORTED else ""


def guess(body: bytes) -> str:
    """Return the most likely codec of a text without a valid declaration."""
    sample = TAGS.sub(b"\n", body[:SAMPLE_BYTES])
    if _damage(sample, "utf-8") < MAX_UTF8_DAMAGE:
        return "utf-8"
    if codec := _cjk_codec(sample):
        return codec
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    codec = known(as_text(best.encoding)) if best else ""
    if codec in ("", "ascii", *WESTERN):
        language = LANGUAGE.search(body, 0, HEAD_BYTES)
        return BY_LANGUAGE.get(language[1].decode().lower() if language else "", "cp1252")
    return codec


def is_binary(body: bytes) -> bool:
    """Tell whether data is not text: zeros or many control characters, without a byte order mark."""
    start = body[:SNIFFED_BYTES]
    if start.startswith(tuple(mark for mark, _ in MARKS)):
        return False
    return b"\0" in start or sum(byte < 9 or 13 < byte < 27 for byte in start) > max(8, len(start) // 20)


def _in_markup(body: bytes) -> str:
    found = META.search(body, 0, HEAD_BYTES)
    return known(found[1].decode("ascii", "replace")) if found else ""


def _is_utf8(body: bytes, sure: bool) -> bool:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return sure or text.isascii() or sum(not character.isascii() for character in text[:SAMPLE_BYTES]) >= MIN_UTF8_CHARS


def _is_foreign(body: bytes) -> bool:
    """Tell whether a text has more bytes outside ASCII than any Western European language: over a quarter."""
    letters = b"".join(TAGS.sub(b"", body[:SAMPLE_BYTES]).split())
    return sum(byte > 127 for byte in letters) > len(letters) // 4


def _damage(body: bytes, codec: str) -> float:
    """Return the share of characters that are invalid in a codec."""
    text = body.decode(codec, "replace")
    return text.count("\ufffd") / len(text) if text else 0.0


def _cjk_codec(sample: bytes) -> str:
    """Return the CJK charset in which a text has the frequent characters of its language, or nothing."""
    scores = {codec: _cjk_score(sample, codec) for codec in CJK}
    best = max(scores, key=scores.__getitem__)
    if scores[best] >= MIN_CJK_SCORE:
        return best
    return next((codec for codec in CJK if _is_level_1(sample, codec)), "") if _is_foreign(sample) else ""


def _cjk_score(sample: bytes, codec: str) -> float:
    text = [character for character in sample.decode(codec, "replace") if character > "\x7f"]
    if not text:
        return 0.0
    frequent = sum(character in CJK[codec][0] for character in text)
    return (frequent - INVALID_WEIGHT * text.count("\ufffd")) / len(text)


def _is_level_1(sample: bytes, codec: str) -> bool:
    """Tell whether a text too short for frequent characters has only everyday characters in a charset."""
    _, standard, lead_bytes = CJK[codec]
    try:
        text = sample.decode(standard)
    except UnicodeDecodeError:
        return False
    letters = [character.encode(standard) for character in text if character > "\x7f" and character.isalpha()]
    return bool(letters) and all(len(letter) == 2 and letter[0] in lead_bytes for letter in letters)
