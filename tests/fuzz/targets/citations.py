"""Citations in a text: found, linked, renumbered, checked and attached; all other text is unchanged.

A case consists of parts separated by lines of %%: the text, then the text of each source.
"""

from sleuth.answers.citation_check import as_json, attach, signs
from sleuth.answers.citation_check import check as check_support
from sleuth.answers.citations import CitedSource, drop_citations, find, link, reference_section
from sleuth.answers.prose import prose

PARTS = "\n%%\n"
STYLES = ("markdown", "plain")
WORDS = (
    "[1] ¦ [2] ¦ [3+] ¦ [1??] ¦ [1-2] ¦ [9] ¦ \n%%\n ¦ \n\n ¦ ]( ¦ [1][2] ¦ [a][1] ¦ ]: ¦  [1] .  ¦ "
    "Rust is a language for systems."
)
ROUNDS = 250
LARGE = 100_000  # bytes: far longer than any answer, and parsed four times


def check(data: bytes) -> None:
    """Check the invariants of a text with its sources."""
    text, *texts = data.decode("utf-8", "replace").split(PARTS)
    sources = [
        CitedSource(number, f"https://s{number}.example/?a=`|<{number}>", f"T[{number}]", part)
        for number, part in enumerate(texts[:6], 1)
    ]
    marks = find(text)
    outside = _outside(text, [(mark.start, mark.end) for mark in marks])
    assert all(mark.numbers and all(0 <= number <= 999 for number in mark.numbers) for mark in marks)
    _outside(text, prose(text).stretches)
    for style in STYLES if len(text) < LARGE // 2 else STYLES[:1]:
        linked = link(text, sources, style)
        assert_in_order(outside, linked.text)
        assert {*linked.cited, *linked.out_of_range} == {number for mark in marks for number in mark.numbers}
        assert all(number <= len(sources) for number in linked.cited)
        reference_section(text, sources, linked.cited, style)
        assert link(linked.text, sources, style).text == linked.text, "linking is idempotent"
        assert ("\x1b" in linked.text) <= ("\x1b" in text), "no control characters are added"
    assert link(text, ()).text == text, "without sources nothing changes"
    assert_in_order([part.rstrip(" ") for part in outside[:-1]] + outside[-1:], drop_citations(text))
    _check_support(text, sources)
    _check_attached(text, sources)


def _outside(text: str, spans: list[tuple[int, int]] | tuple[tuple[int, int], ...]) -> list[str]:
    """Return the text between spans, which must be ordered and inside the text."""
    parts, place = [], 0
    for start, end in spans:
        assert place <= start < end <= len(text), "spans"
        parts.append(text[place:start])
        place = end
    return [*parts, text[place:]]


def assert_in_order(parts: list[str], text: str) -> None:
    """Assert that a text consists of the parts in order, with other text only between them."""
    assert text.startswith(parts[0])
    assert text.endswith(parts[-1])
    place = 0
    for part in parts:
        place = text.find(part, place)
        assert place >= 0, "text outside citations is unchanged"
        place += len(part)


def _check_support(text: str, sources: list[CitedSource]) -> None:
    checks = check_support(text, sources)
    for one in checks:
        assert 0 <= one.start <= one.end <= len(text)
        assert 0 <= one.score <= 1
        source = sources[one.citation - 1].text
        if one.evidence:
            assert 0 <= one.evidence[0] < one.evidence[1] <= len(source), "evidence"
        as_json(one, sources)
    signed = link(text, sources, "plain", signs(checks))
    assert signed.cited == link(text, sources).cited


def _check_attached(text: str, sources: list[CitedSource]) -> None:
    attached = attach(text, sources)
    marks = {source.citation: f"[{source.citation}+]" for source in sources}
    bare, before = (_without(one, " ", *marks.values()) for one in (attached, text))
    assert bare == before, "only marks are added"
    assert attach(attached, sources) == attached, "nothing is attached twice"


def _without(text: str, *parts: str) -> str:
    for part in parts:
        text = text.replace(part, "")
    return text
