"""Bytes of unknown origin as text: what they declare, what they can only be, and a guess from frequent characters."""

import codecs
import re

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins like UTF-16's, so it is looked for first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
DECLARED = re.compile(
    rb"""<(?:meta\b[^>]{0,200}?\bcharset|\?xml\b[^>]{0,100}?\bencoding)\s*=\s*["']?\s*([\w.:-]{2,30})""", re.IGNORECASE
)
WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949", "iso8859-1": "cp1252"}
MULTIBYTE = ("gb18030", "cp932", "cp949", "big5", "big5hkscs", "euc_jp", "johab", "hz", "iso2022")

# What a language says all the time. Many bytes are valid in every one of these, but read as the wrong one they hardly
# ever come out as these characters.
KANA = "".join(map(chr, (*range(0x3041, 0x3097), *range(0x30A1, 0x30FB))))
HAN = "的一是不了在人有我他中大上到子和你地出道也年得就那要下以生自去之家可她小"
FREQUENT = {
    "gb18030": HAN + "这来国个说们为时会着过学对里后么",
    "cp932": KANA,
    "cp949": "이다는을의에가고하지은를도로한사리나자있그대시어기해인것수과들만서일라",
    "big5": HAN + "這來國個說們為時會著過學對裡後麼",
    "euc_jp": KANA,
}
SAMPLE = 65_536  # bytes that a guess is made from
CLEAR = 0.06  # share of frequent characters that settles it
DAMAGE = 5.0  # how much more an impossible character counts against than a frequent one counts for


def decode(data: bytes, *, markup: bool = False) -> str:
    """Return the text of a file; in `markup` a declared charset is looked for."""
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    declared = _declared(data) if markup else ""
    if declared.startswith(MULTIBYTE) and (text := _strict(data, declared)) is not None:
        return text
    if (text := _strict(data, "utf-8")) is not None:
        return text
    return data.decode(declared or guess(data), "replace")


def guess(data: bytes) -> str:
    """Return the encoding that text without any sign of one most likely has."""
    sample = data[:SAMPLE]
    if _damage(sample, "utf-8") < 0.01:
        return "utf-8"  # with a broken character here and there
    scores = {encoding: _score(sample, encoding) for encoding in FREQUENT}
    likely = max(scores, key=scores.__getitem__)
    if scores[likely] >= CLEAR:
        return likely
    if sum(byte > 127 for byte in sample) > 0.3 * len(sample):  # too many for a language that only adds accents
        for encoding in FREQUENT:
            if _damage(sample, encoding) == 0:
                return encoding
    return "cp1252" if _strict(data, "cp1252") is not None else "latin-1"


def is_binary(data: bytes) -> bool:
    """Tell whether a file is no text: zero bytes without a mark that explains them."""
    return b"\0" in data[:8192] and not data.startswith(tuple(mark for mark, _ in BOMS))


def _declared(data: bytes) -> str:
    found = DECLARED.search(data[:4096])
    if not found:
        return ""
    try:
        name = codecs.lookup(found[1].decode("ascii")).name
    except LookupError:
        return ""
    if name.startswith(("utf-16", "utf-32")):  # it could not have been read if it were true
        return ""
    return WIDER.get(name, name)


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def _score(sample: bytes, encoding: str) -> float:
    text = [character for character in _sampled(sample, encoding) if character > "\x7f"]
    if not text:
        return 0.0
    frequent = sum(character in FREQUENT[encoding] for character in text)
    return (frequent - DAMAGE * text.count("\ufffd")) / len(text)


def _damage(sample: bytes, encoding: str) -> float:
    text = _sampled(sample, encoding)
    return text.count("\ufffd") / (len(text) or 1)


def _sampled(sample: bytes, encoding: str) -> str:
    """Decode the beginning of a file, whose last character may be cut in two."""
    return codecs.getincrementaldecoder(encoding)("replace").decode(sample, final=len(sample) < SAMPLE)
