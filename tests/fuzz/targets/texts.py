"""Sanitised text has no control or invisible characters, and sanitising it again changes nothing."""

import unicodedata

from rich.text import Text

from sleuth.base.text import JOINERS, MAX_MARKS, clean, fit, redact, shorten, strip_controls, width
from sleuth.render.wrap import wrap

SEEDS = [
    "Title \x1b]0;x\x07 with \u202eright\u202c to left & &lt;b&gt; &#x1b;[2J &amp;#27;\r\n next\tline\x85 end",
    "zalgo e\u0301\u0302\u0303\u0304\u0305\u0306 \u200d\u200d\u200d\u200d\u200d\u200d 👩‍👩‍👧‍👦 می‌خواهم हिन्दी",
    "日本語のタイトル、長い。" * 10,
    "a \ud83d b \ue000 \U000e0041 \uffff".encode("utf-8", "surrogatepass"),
]
WORDS = "&#27; ¦ &amp; ¦ & ¦ ; ¦ &#xd800; ¦ &nbsp; ¦ &zwj; ¦ ́ ¦ ⃝ ¦ \u200c ¦    ¦ \u2003 ¦ … ¦ \x1c"
ROUNDS = 400
LARGE = 60_000  # bytes: a text is cleaned thirty times here


def check(data: bytes) -> None:
    """Clean a text in every way there is."""
    text = (
        data.decode("utf-8", "surrogatepass" if b"\xed" in data else "replace")
        if _is_text(data)
        else data.decode("latin-1")
    )
    one_line, lines = clean(text), clean(text, lines=True)
    assert_safe(one_line, "")
    assert_safe(lines, "\n")
    assert clean(one_line, entities=False) == one_line, "a second pass changes nothing"
    assert clean(lines, lines=True, entities=False) == lines, "a second pass changes no lines"
    assert_safe(strip_controls(text), "\n\t")
    assert strip_controls(strip_controls(text)) == strip_controls(text)
    for limit in (1, 2, 17, 200):
        short = clean(text, limit)
        assert len(short) <= limit
        assert_safe(short, "")
        assert shorten(one_line, limit) == one_line or len(shorten(one_line, limit)) <= limit
        assert width(fit(one_line, limit)) <= limit
    assert "secret" not in redact(text, ("secret",))
    wrapped = [line.plain for line in wrap(Text(lines), 30)]
    assert "".join("".join(wrapped).split()) == "".join(lines.split()), "wrapping loses nothing"


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def assert_safe(text: str, allowed: str) -> None:
    """Fail where a text could steer a terminal, hide something or stack marks."""
    run = 0
    for character in text:
        fine = character.isprintable() or character in JOINERS or character in allowed
        assert fine or (allowed and unicodedata.category(character) == "Zs"), f"U+{ord(character):04X}"
        run = run + 1 if character in JOINERS or unicodedata.category(character) in ("Mn", "Me") else 0
        assert run <= MAX_MARKS, "stacked marks"
