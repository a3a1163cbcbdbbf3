"""In which charset bytes are written: what they say, checked against what they are, and a guess where they say nothing.

A guess has two parts. Chinese, Japanese and Korean are told by the characters a language uses all the time: many bytes
are valid in every one of their charsets, but read as the wrong one they hardly ever come out as these characters, be
the text ever so short. Everything else is charset_normalizer's business.
"""

import codecs
import re

from sleuth_providers.json import as_text

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16's, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
META = re.compile(rb"<(?:meta|\?xml)\b[^>]*?(?:charset|encoding)\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
LANGUAGE = re.compile(rb"<html\b[^>]*?\slang\s*=\s*[\"']?([A-Za-z]{2,3})", re.IGNORECASE)
TAGS = re.compile(rb"<[^<>]*>")
HEAD = 4096  # bytes in which a page must declare its charset; browsers look at 1,024
SNIFFED = 8192  # bytes that tell whether something is text
SAMPLE = 200_000  # bytes that a guess is made from
ENOUGH = 8  # characters outside ASCII that make valid UTF-8 no accident
CLEAR = 0.06  # share of frequent characters that settles a guess
IMPOSSIBLE = 5.0  # how much more a character that cannot be read counts against than a frequent one counts for
STRAY = 0.01  # share of broken characters that text in UTF-8 may have

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
KANA = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB))))
HAN = "的一是不了在人有我他中大上到子和你地出道也年得就那要下以生自去之家可她小"
FREQUENT = {
    "gb18030": HAN + "这来国个说们为时会着过学对里后么",
    "cp932": KANA,
    "cp949": "이다는을의에가고하지은를도로한사리나자있그대시어기해인것수과들만서일라",
    "big5hkscs": HAN + "這來國個說們為時會著過學對裡後麼",
    "euc_jp": KANA,
}
# The charset that each began as, and the first bytes of the characters there that everybody knows.
COMMON = {
    "gb18030": ("gb2312", range(0xB0, 0xD8)),
    "cp932": ("shift_jis", range(0x88, 0x98)),
    "cp949": ("euc_kr", range(0xB0, 0xC9)),
    "big5hkscs": ("big5", range(0xA4, 0xC7)),
    "euc_jp": ("euc_jp", range(0xB0, 0xD0)),
}


def decode(body: bytes, declared: str = "", *, markup: bool = False) -> str:
    """Return bytes as text; what cannot be read becomes a replacement character."""
    return body.decode(find(body, declared, markup=markup), "replace")


def find(body: bytes, declared: str = "", *, markup: bool = True) -> str:
    """Return the codec to read a body with; `declared` is what came with it, and in `markup` it may say more itself."""
    for mark, codec in MARKS:
        if body.startswith(mark):
            return codec
    header, meta = known(declared), _in_markup(body) if markup else ""
    if header == "cp1252" and (meta or _is_foreign(body)):  # the default of many a server, set by nobody
        header = ""
    named = header or meta
    if _is_utf8(body, sure=named in ("", "utf-8")):
        return "utf-8" if named in ("", "utf-8") or not body.isascii() else named
    for codec in (header, meta):
        if codec and _damage(body, codec) == 0:
            return codec
    guessed = guess(body)
    if named and _damage(body, named) <= _damage(body, guessed) + 0.001:  # a stray byte makes no other charset
        return named
    return guessed


def known(label: str) -> str:
    """Return the codec a charset label means to a browser, or nothing for one that no page is written in."""
    label = label.strip().lower()
    try:
        name = NICKNAMES.get(label) or codecs.lookup(label).name
    except (LookupError, ValueError):
        return ""
    name = MEANT.get(name, name)
    return name if name in KNOWN else ""


def guess(body: bytes) -> str:
    """Return the codec that text without any sign of one is most likely written in."""
    sample = TAGS.sub(b"\n", body[:SAMPLE])
    if _damage(sample, "utf-8") < STRAY:
        return "utf-8"
    if codec := _asian(sample):
        return codec
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    codec = known(as_text(best.encoding)) if best else ""
    if codec in ("", "ascii", *WESTERN):
        language = LANGUAGE.search(body, 0, HEAD)
        return BY_LANGUAGE.get(language[1].decode().lower() if language else "", "cp1252")
    return codec


def is_binary(body: bytes) -> bool:
    """Tell whether bytes are no text: zeros, or many control characters, without a mark that explains them."""
    start = body[:SNIFFED]
    if start.startswith(tuple(mark for mark, _ in MARKS)):
        return False
    return b"\0" in start or sum(byte < 9 or 13 < byte < 27 for byte in start) > max(8, len(start) // 20)


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


def _asian(sample: bytes) -> str:
    """Return the charset in which a text says what Chinese, Japanese or Korean says all the time, if there is one."""
    scores = {codec: _score(sample, codec) for codec in FREQUENT}
    likely = max(scores, key=scores.__getitem__)
    if scores[likely] >= CLEAR:
        return likely
    return next((codec for codec in COMMON if _is_common(sample, codec)), "") if _is_foreign(sample) else ""


def _score(sample: bytes, codec: str) -> float:
    text = [character for character in sample.decode(codec, "replace") if character > "\x7f"]
    if not text:
        return 0.0
    frequent = sum(character in FREQUENT[codec] for character in text)
    return (frequent - IMPOSSIBLE * text.count("\ufffd")) / len(text)


def _is_common(sample: bytes, codec: str) -> bool:
    """Tell whether a text, too short to say anything frequent, has nothing but well-known characters in a charset."""
    core, places = COMMON[codec]
    try:
        text = sample.decode(core)
    except UnicodeDecodeError:
        return False
    letters = [character.encode(core) for character in text if character > "\x7f" and character.isalpha()]
    return bool(letters) and all(len(letter) == 2 and letter[0] in places for letter in letters)
