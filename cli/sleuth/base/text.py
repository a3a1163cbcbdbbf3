"""Sanitises untrusted text, redacts secrets, truncates to a length. All text from the web passes `clean`."""

import re
import unicodedata
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product

JOINERS = "\u200c\u200d"  # ZWNJ and ZWJ: Persian, Indic scripts and emoji need them
MAX_INDENT = 40  # columns
# Invisible although Unicode calls them letters, marks or symbols: fillers, blank patterns, and whatever varies or joins
# nothing. Text for a model could hide instructions in them, and a host could hide its end. Variants of Han characters
# are dropped as well: 256 selectors could hide a byte behind each character, and the character can be read without.
EMOJI = "©®\u203c-\u27ff\u2801-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
JOINING = (
    "\u0620-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u1cff\ua840-\uabff\U00010a00-\U00011fff"  # scripts
)
INVISIBLE = (
    "[\u034f\u115f\u1160\u17b4\u17b5\u180f\u2800\u3164\uffa0\U0001d159\ufe00-\ufe0d\U000e0100-\U000e01ef]"
    rf"|(?<![{EMOJI}])(?:(?<![#*0-9])[\ufe0e\ufe0f]|[\ufe0e\ufe0f](?!\u20e3))"
    rf"|(?<![{JOINING}])\u200c|(?<![{JOINING}{EMOJI}])(?<![{EMOJI}]\ufe0f)\u200d|(?<![\u1820-\u18aa])[\u180b-\u180d]"
)
MAY_BE_INVISIBLE = frozenset(  # whether one is there takes a tenth of the time that the pattern needs
    f"{JOINERS}\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0\U0001d159"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
MAX_MARKS = 4  # combining marks and joiners in a row; no script stacks more, "zalgo" text does
MAX_CLUSTER_MARKS = 10  # in a row, with spacing marks and skin tones; Burmese and Tai Tham syllables have up to 6
SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"


def clean(text: object, limit: int = 0, *, lines: bool = False, entities: bool = True) -> str:
    """Return text without control and invisible characters: on one line, or with `lines` on several, indented."""
    value = text if isinstance(text, str) else "" if text is None else str(text)
    if limit and len(value) > 8 * limit + 1000:  # bounds the work on hostile input
        value = value[: 8 * limit + 1000]
    if entities and "&" in value:
        value = _unescape(value)
    value = "\n".join(map(_indented_line, value.splitlines())).strip("\n") if lines else _line(value)
    return shorten(value, limit) if limit else value


def strip_controls(text: str) -> str:
    """Remove characters that control a terminal; keep line breaks and indentation."""
    if text.isascii() and text.isprintable():
        return text
    kept = "".join(
        character if character in "\n\t" or unicodedata.category(character) == "Zs" else _printable(character)
        for character in text.replace("\r\n", "\n")
    )
    return kept if kept.isascii() else limit_marks(without_invisible(kept))


def without_invisible(text: str) -> str:
    """Remove characters that cannot be seen although Unicode counts them as printable."""
    return replace_invisible(text, lambda _: "")


def replace_invisible(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    """Replace each character that cannot be seen although Unicode counts it as printable."""
    return text if text.isascii() or MAY_BE_INVISIBLE.isdisjoint(text) else re.sub(INVISIBLE, replace, text)


def _line(text: str) -> str:
    if not text.isprintable():
        text = printable(text)
    if not text.isascii():
        text = limit_marks(without_invisible(text))
    return " ".join(text.split())


def _indented_line(text: str) -> str:
    line = _line(text)
    return text[: len(text) - len(text.lstrip(" \t"))].expandtabs(4)[:MAX_INDENT] + line if line else ""


def printable(text: str) -> str:
    """Remove characters that cannot be printed or seen; white space becomes a space."""
    return text if text.isascii() and text.isprintable() else without_invisible("".join(map(_printable, text)))


def _printable(character: str) -> str:
    if character.isprintable() or character in JOINERS:
        return character
    return " " if character.isspace() else ""


def limit_marks(text: str, replacement: Callable[[str], str] = lambda _: "") -> str:
    """Replace combining marks and joiners beyond MAX_MARKS in a row, and all marks beyond MAX_CLUSTER_MARKS."""
    stacked, run, kept = 0, 0, []
    for character in text:
        category = unicodedata.category(character)
        stacked = stacked + 1 if character in JOINERS or category in ("Mn", "Me") else 0
        run = run + 1 if stacked or category == "Mc" or character in SKIN_TONES else 0
        kept.append(character if stacked <= MAX_MARKS and run <= MAX_CLUSTER_MARKS else replacement(character))
    return "".join(kept)


def shorten(text: str, limit: int) -> str:
    """Truncate text to `limit` characters, at a word if there is one near, with … at the end."""
    if len(text) <= limit:
        return text
    if limit < 1:
        return ""
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit * 0.6 else cut).rstrip(" ,;:，。、") + "…"


def shorten_middle(text: str, columns: int) -> str:
    """Truncate text in the middle, with …, so that it takes at most `columns` of a terminal."""
    if width(text) <= columns:
        return text
    head = fit(text, columns - columns // 3).rstrip("…")  # the beginning of an address says more than its end
    tail = fit(text[::-1], columns - width(head)).rstrip("…")[::-1]
    return f"{head}…{tail}"


def width(text: str) -> int:
    """Return how many terminal columns text takes."""
    return len(text) if text.isascii() else sum(map(columns_of, text))


def pad(text: str, columns: int) -> str:
    """Fill text up to a number of terminal columns with blanks."""
    return text + " " * (columns - width(text))


def fit(text: str, columns: int) -> str:
    """Truncate text to a number of terminal columns, with … at the end."""
    if width(text) <= columns:
        return text
    kept, room = [], columns - 1
    for character in text:
        room -= columns_of(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…" if columns > 0 else ""


def columns_of(character: str) -> int:
    """Return how many terminal columns a character takes."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def splice(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """Return the text with each span, given as start, end and replacement in ascending order, replaced."""
    pieces, done = [], 0
    for start, end, replacement in changes:
        pieces += [text[done:start], replacement]
        done = end
    return "".join([*pieces, text[done:]])


HIDDEN = "[hidden]"  # in place of a secret
MIN_SECRET_CHARS = 4  # a shorter text is no secret, and would be redacted everywhere
MIN_LONG_CHARS = 8  # of a secret that is redacted in any case and in base64; a shorter one may be a part of any word


View = tuple[str, Sequence[int]]  # a form of a text, and the offsets of its characters and its end in the text


def mask(secret: str | None) -> str | None:
    """Return just enough of a secret to recognise it."""
    if not secret:
        return None
    return f"{secret[:4]}…{secret[-2:]}" if len(secret) >= 12 else "…"


def is_common(secret: str) -> bool:
    """Tell whether a secret may occur in any text, such as the password "admin" and the key "ollama"."""
    return len(secret) < 8 or (len(secret) < 16 and not any(map(str.isdigit, secret)))


def redact(text: str, secrets: Iterable[str]) -> str:
    """Replace every secret in a text, also if its characters are encoded, escaped or split."""
    known = {secret for secret in secrets if len(secret) >= MIN_SECRET_CHARS}
    spans: list[tuple[int, int]] = []
    for (view, places), secret in product(views(text) if known else (), known):
        folded = fold(view, secret)
        for needle in needles(secret):
            spans += [(places[start], places[end]) for start, end in _occurrences(needle, folded)]
    kept, end = [], 0
    for first, last in sorted(spans):
        if first >= end:  # otherwise two secrets overlap, and one mark covers both
            kept += [text[end:first], HIDDEN]
        end = max(end, last)
    return "".join(kept) + text[end:]


def fold(text: str, secret: str) -> str:
    """Return a text as it is compared with a secret: a long one is found in any case, as in the name of a host."""
    is_long = len(secret) >= MIN_LONG_CHARS
    # These two would make lower() change the length, or depend on the letters around them.
    return text.replace("İ", "i").replace("Σ", "σ").lower() if is_long else text


@cache
def needles(secret: str) -> frozenset[str]:
    """Return the forms of a secret to look for in the folded views of a text."""
    decoded = next(_decoded(secret, range(len(secret) + 1)))[0]
    forms = {secret, repr(secret)[1:-1], decoded, *_base64_forms(secret)}
    return frozenset(fold(form, secret) for form in forms if len(form) >= MIN_SECRET_CHARS)


def secret_start(text: str, secret: str) -> tuple[int, str]:
    """Return the offset of an incomplete secret at the end of a text, and its decoded part; without one, the length."""
    found = (
        (places[-1 - len(part)], view[-len(part) :])
        for view, places in views(text)
        for needle in needles(secret)
        if (part := possible_start(fold(view, secret), needle))
    )
    return min(found, default=(len(text), ""))


def possible_start(text: str, marker: str) -> str:
    """Return the longest end of a text with which a marker may begin."""
    longest = min(len(text), len(marker) - 1)
    return next((text[-size:] for size in range(longest, 0, -1) if marker.startswith(text[-size:])), "")


def _base64_forms(secret: str) -> tuple[str, ...]:
    """Return the base64 of a secret, also inside a longer text, less the characters that depend on that text."""
    forms = []
    for before in range(3) if len(secret) >= MIN_LONG_CHARS else ():
        data = bytes(before) + secret.encode("utf-8", "replace")
        forms.append(b2a_base64(data)[(0, 2, 3)[before] : len(data) * 8 // 6].decode())
    return (*forms, *(form.replace("+", "-").replace("/", "_") for form in forms))


# A character that is percent-encoded (with the other bytes of its run), or escaped as in JSON, Python and HTML.
ENCODED = (
    r"(?:%[0-9a-f]{2})++|\\{1,2}u[0-9a-f]{4}|\\{1,2}x[0-9a-f]{2}"
    r"|&#\d{1,40}+;?|&#x[0-9a-f]{1,40}+;?|&[a-z]\w{1,31};|\\{1,2}[^\\%&]?"
)


def views(text: str) -> Iterator[View]:
    """Yield a text as it is and decoded, each also without characters that are not shown."""
    for seen, places in _also_visible(text, range(len(text) + 1)):
        for view in {seen, seen.replace("+", " ")}:
            yield view, places
            if re.search(ENCODED, view, re.IGNORECASE):
                yield from _decoded(view, places)


def _decoded(text: str, origins: Sequence[int]) -> Iterator[View]:
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for found in re.finditer(ENCODED, text, re.IGNORECASE):
        start, end = found.span()
        decoded = _characters(found[0])
        pieces += [text[done:start], decoded]
        width = (end - start) // max(len(decoded), 1)
        places += [*origins[done:start], *(origins[start + index * width] for index in range(len(decoded)))]
        done = end
    yield from _also_visible("".join([*pieces, text[done:]]), [*places, *origins[done:]])


def _also_visible(view: str, places: Sequence[int]) -> Iterator[View]:
    yield view, places
    hidden = {one for one in set(view) if one in MAY_BE_INVISIBLE or not (one.isprintable() or one.isspace())}
    if hidden:
        kept = [place for place, character in enumerate(view) if character not in hidden]
        yield "".join(map(view.__getitem__, kept)), [places[0], *(places[place + 1] for place in kept)]


def _characters(encoded: str) -> str:
    if encoded.startswith("%"):
        return bytes.fromhex(encoded.replace("%", "")).decode("utf-8", "replace")
    if encoded.startswith("&"):
        return _unescape(encoded)
    escaped = encoded.lstrip("\\")
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else escaped


def _unescape(text: str) -> str:
    from html import unescape  # imported late: most text has no entities, and the table is large

    return unescape(text)


def _occurrences(needle: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield the positions of a text in another, overlapping ones included."""
    start = text.find(needle)
    while start >= 0:
        yield start, start + len(needle)
        start = text.find(needle, start + 1)


def markdown_target(url: str) -> str:
    """Return the target of a Markdown link; in angle brackets only if the URL needs them, as few readers know them."""
    return autolink(url) if re.search(r"[\s()<>]", url) else autolink(url)[1:-1]


def autolink(url: str) -> str:
    """Return a Markdown link that shows its URL."""
    return f"<{without_markup(url)}>"


def without_markup(url: str) -> str:
    """Return a URL without signs that end a link or a table cell, or that viewers look for first, as in formulas."""
    # The host may be an IPv6 address in brackets.
    return re.sub(
        r"\A[\w+.-]++://\[[\da-fA-F:.]*+\]|[`|$\\\[\]]",
        lambda found: found[0] if len(found[0]) > 1 else f"%{ord(found[0]):X}",
        url,
    )


def escape_markdown(text: str) -> str:
    """Return text that Markdown renders literally; only what would be markup at its position is escaped."""
    # marked removes the backslash before a bracket from the text of a link, so the parenthesis of `](` has one, too.
    escaped = re.sub(r"([\\`*\[\]<|]|(?<=\])\(|~(?=~)|(?<=~)~|(?<![^\W_])_|_(?![^\W_]))", r"\\\1", text)
    # Viewers end a bare URL at `<` and take the backslash before it for a part of the URL.
    escaped = re.sub(r"(?i)(?:://|www\.)\S*+", lambda found: found[0].replace("\\<", "&lt;"), escaped)
    # A heading, quote or list item, the line below a heading or table head, and a numbered item.
    escaped = re.sub(r"^([ \t]*)([#>+=:~-])", r"\1\\\2", escaped, flags=re.MULTILINE)
    return re.sub(r"^([ \t]*\d{1,9})([.)])", r"\1\\\2", escaped, flags=re.MULTILINE)
