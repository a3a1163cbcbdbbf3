"""Citations: finds [n] in any text, links it, numbers sources over several rounds, and lists references."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from sleuth.answers.prose import Prose, prose
from sleuth.base.i18n import tr
from sleuth.base.text import clean, escape_markdown, markdown_target, splice, without_markup
from sleuth.base.urls import ascii_url, clean_url, domain
from sleuth.relevance.urls import canonical
from sleuth_providers.records import Record

MAX_NUMBERS = 30  # in one pair of brackets; a longer range is something else
MAX_TITLE_CHARS = 300

NUMBER = "(?:0|[1-9１-９][0-9０-９]{0,2})(?![0-9０-９])"  # four digits would be a year
RANGE = f"{NUMBER}(?:\\s?[-–—−~～]\\s?{NUMBER})?"
MARK = re.compile(
    rf"(?P<opening>[\[【［])\s?(?:(?:citations?|sources?|ref)(?:\s?[:：]\s?|\s))?"
    rf"(?P<list>{RANGE}(?:\s?[,;，、；]\s?{RANGE}){{0,{MAX_NUMBERS}}})(?P<sign>\+|\?{{1,2}})?"
    rf"(?:\s?†[^\[\]【】［］<>`\n]{{0,80}})?\s?(?P<closing>[\]】］])",
    re.IGNORECASE,
)
PAIRS = {"[": "]", "【": "】", "［": "］"}
# Array indexes in code that is not marked as code: a[1], argv[1], x[1] = 2. Any other word before [1] is cited.
WORD = re.compile(r"(?<![A-Za-z0-9_$])[A-Za-z0-9_$]*+\Z")
VARIABLE = re.compile(
    r"[a-z]|[a-z]\d{1,2}|[^\W_]*+_\w*+|(?:[A-Za-z_]\w*)?\$[A-Za-z_]\w*+|[a-z]{2,}[A-Z][a-z]\w*"
    r"|arr|argv|args|attrs?|buf|dict|elems?|idx|nums?|params?|ptr|str|tmp|vec"
)
INDEX_USE = re.compile(r"\s?(?:[-+*/%|&^]?=(?![=>]?\s*$)|\+\+|--)|\.[a-z_]\w*\(")


class CitedSource(Record):
    """A numbered source."""

    citation: int
    url: str
    title: str = ""
    text: str = ""  # to check citations against
    round: int = 1
    fields: Mapping[str, Any] = {}  # of the JSON that it was read from


class Mark(Record):
    """A citation in a text: its place and numbers."""

    start: int
    end: int
    numbers: tuple[int, ...]
    sign: str = ""  # + attached by sleuth, ? weak, ?? not found
    brackets: str = "[]"


class LinkedText(Record):
    """A text with links, and its citations with and without a source."""

    text: str
    cited: tuple[int, ...]
    out_of_range: tuple[int, ...]


def find(text: str) -> list[Mark]:
    """Return the citations in a Markdown text, ignoring code, links, footnotes and array indexes."""
    seen = prose(text)
    marks: list[Mark] = []
    index_end = -1
    for start, end in seen.stretches:
        for found in MARK.finditer(text, start, end):
            if found.start() == index_end or _is_index(text, found):
                index_end = found.end()
            elif numbers := _numbers(found, seen):
                brackets = found["opening"] + found["closing"]
                first, last = _unwrapped(text, found.start(), found.end(), start, end)
                marks.append(Mark(first, last, numbers, found["sign"] or "", brackets))
    return marks


def _is_index(text: str, found: re.Match[str]) -> bool:
    """Tell whether a bracket is an array index: `a[1]`."""
    start = found.start()
    if text[max(start - 1, 0) : start] == "[" and start > 1:  # a[[1]]
        start -= 1
    word = WORD.search(text[max(start - 40, 0) : start])
    name = word[0] if word else ""
    return bool(name) and (VARIABLE.fullmatch(name) is not None or INDEX_USE.match(text, found.end()) is not None)


def _numbers(found: re.Match[str], seen: Prose) -> tuple[int, ...]:
    if PAIRS[found["opening"]] != found["closing"]:
        return ()
    numbers: dict[int, None] = {}
    for part in re.split("[,;，、；]", found["list"]):
        first, *last = [int(number.strip()) for number in re.split("[-–—−~～]", part)]  # int() strips fewer spaces
        if last and last[0] <= first:
            return ()  # backwards: a date, a score, a subtraction
        numbers |= dict.fromkeys(range(first, last[0] + 1 if last else first + 1))
    if len(numbers) > MAX_NUMBERS or (len(numbers) > 1 and 0 in numbers):  # [0, 1] is an interval
        return ()
    return () if any(str(number) in seen.labels for number in numbers) else tuple(numbers)


def _unwrapped(text: str, first: int, last: int, start: int, end: int) -> tuple[int, int]:
    """Return the place of a mark including the second pair of brackets of `[[1]]`, if there is exactly one more."""
    if not (start < first and last < end and text[first - 1] == "[" and text[last] == "]"):
        return first, last
    is_deeper = text[max(first - 2, 0) : first - 1] == "[" or text[last + 1 : last + 2] == "]"
    return (first, last) if is_deeper else (first - 1, last + 1)


def link(
    text: str,
    sources: Sequence[CitedSource],
    style: str = "markdown",
    signs: Mapping[tuple[int, int], str] | None = None,
) -> LinkedText:
    """Return the text with every [n] that has a source linked; `signs`, by mark and number, are put behind numbers."""
    known, marks = by_number(sources), find(text)
    linked = splice(text, ((mark.start, mark.end, _linked(text, mark, known, style, signs or {})) for mark in marks))
    numbers = dict.fromkeys(number for mark in marks for number in mark.numbers)
    cited = tuple(number for number in numbers if number in known)
    return LinkedText(linked, cited, tuple(number for number in numbers if number not in known))


def drop_citations(text: str) -> str:
    """Return the text without its citations and the spaces before them."""
    return splice(text, ((len(text[: mark.start].rstrip(" ")), mark.end, "") for mark in find(text)))


def by_number(sources: Iterable[CitedSource]) -> dict[int, CitedSource]:
    """Return sources by number; the first of each number counts."""
    known: dict[int, CitedSource] = {}
    for source in sources:
        known.setdefault(source.citation, source)
    return known


def _linked(
    text: str, mark: Mark, known: Mapping[int, CitedSource], style: str, signs: Mapping[tuple[int, int], str]
) -> str:
    shown = {number: f"{number}{signs.get((mark.start, number), mark.sign)}" for number in mark.numbers}
    linked = {number: _link(shown[number], known[number].url, style) for number in mark.numbers if number in known}
    changed = any(linked.values()) or any(shown[number] != f"{number}{mark.sign}" for number in linked)
    if not changed and not (style == "plain" and linked):
        return text[mark.start : mark.end]
    brackets = "[]" if style == "plain" else mark.brackets
    parts = [linked.get(number) or f"{brackets[0]}{shown[number]}{brackets[1]}" for number in mark.numbers]
    is_after_bang = style == "markdown" and parts[0].startswith("[[") and text[mark.start - 1 : mark.start] == "!"
    return " " * is_after_bang + "".join(parts)  # ![[1]](…) would be an image


def _link(label: str, url: str, style: str) -> str:
    target = link_target(url)
    return "" if not target or style == "plain" else f"[[{label}]]({markdown_target(_for_markdown(target))})"


def targets(sources: Iterable[CitedSource]) -> dict[int, str]:
    """Return the link target of each source's number."""
    return {number: link_target(source.url) for number, source in by_number(sources).items() if link_target(source.url)}


def link_target(url: str) -> str:
    """Return a URL for a Markdown link; empty unless it is an http(s) URL."""
    return without_markup(ascii_url(clean_url(url)))


def _for_markdown(target: str) -> str:
    """Escape ampersands that Markdown would read as entities."""
    return re.sub(r"&(?=#?\w+;)", "&amp;", target)


class ReferenceGroup(Record):
    """The sources of one round, listed together."""

    round: int  # 0 if there was only one
    sources: tuple[CitedSource, ...]


def listed(sources: Sequence[CitedSource], cited: Collection[int]) -> list[ReferenceGroup]:
    """Return the cited sources in the order of a reference list, grouped by round if there were several."""
    chosen = sorted(
        (source for source in by_number(sources).values() if source.citation in cited),
        key=lambda source: (source.round, source.citation),
    )
    several = len({source.round for source in sources}) > 1
    return [
        ReferenceGroup(number if several else 0, tuple(group))
        for number, group in groupby(chosen, key=lambda source: source.round)
    ]


def references(sources: Sequence[CitedSource], cited: Collection[int], style: str = "markdown") -> list[str]:
    """Return the lines of the reference list, grouped by round if there were several."""
    lines: list[str] = []
    for group in listed(sources, cited):
        if group.round:
            name = tr("Round {number}", number=group.round)
            lines += [*([""] if lines else []), *([f"### {name}", ""] if style == "markdown" else [name])]
        lines += [line for source in group.sources for line in _reference(source, style)]
    return lines


def reference_section(
    text: str, sources: Sequence[CitedSource], cited: Collection[int], style: str = "markdown"
) -> str:
    """Return the reference list of a text, or all sources if it cites none."""
    lines = references(sources, shown_numbers(sources, cited), style)
    if not lines:
        return ""
    gap = "\n" if text.endswith("\n") or not text else "\n\n"
    title = f"## {heading(cited)}\n" if style == "markdown" else heading(cited)
    return gap + "\n".join([title, *lines]) + "\n"


def shown_numbers(sources: Sequence[CitedSource], cited: Collection[int]) -> Collection[int]:
    """Return the numbers to list: those cited, or all if none is."""
    return cited or [source.citation for source in sources]


def heading(cited: Collection[int]) -> str:
    """Return the heading of the reference list."""
    return tr("References") if cited else tr("Sources")


def address(source: CitedSource) -> str:
    """Return the URL to show for a source: on the web, or a file of the library."""
    return link_target(source.url) or clean_url(source.url, ("file",))


def _reference(source: CitedSource, style: str) -> Iterator[str]:
    target = link_target(source.url)
    site = domain(target)
    title = clean(source.title, MAX_TITLE_CHARS) or site or tr("no title")
    if style == "markdown":
        named = f"[{_escaped(title)}]({markdown_target(_for_markdown(target))})" if target else _escaped(title)
        where = site or address(source)
        yield f"- \\[{source.citation}\\] {named}" + (f" — {_escaped(where)}" if where else "")
        return
    yield f"[{source.citation}] {title}" + (f" — {site}" if site else "")
    if place := address(source):
        yield f"    {place}"


def _escaped(text: str) -> str:
    return escape_markdown(text.replace("&", "&amp;"))


def out_of_range(text: str, sources: Sequence[CitedSource]) -> tuple[int, ...]:
    """Return the cited numbers without a source."""
    return link(text, sources, "plain").out_of_range


def without_source(numbers: Iterable[int]) -> str:
    """Return the warning about citations without a source."""
    return tr("there is no source for {numbers}", numbers=tr(", ").join(f"[{number}]" for number in numbers))


class Numbering:
    """Numbers sources over all rounds; a page keeps its first number."""

    def __init__(self) -> None:
        self.rounds = 0
        self._sources: dict[str, CitedSource] = {}

    @property
    def sources(self) -> tuple[CitedSource, ...]:
        """Return all sources so far, in order."""
        return tuple(self._sources.values())

    def add(self, sources: Iterable[CitedSource]) -> dict[int, int]:
        """Number the sources of the next round; return the new number of each."""
        self.rounds += 1
        return {source.citation: self._number(source) for source in sources}

    def _number(self, source: CitedSource) -> int:
        following = len(self._sources) + 1
        key = canonical(source.url) or f"#{following}"
        known = self._sources.get(key) or source._replace(citation=following, round=self.rounds)
        better = known._replace(title=known.title or source.title, text=max(known.text, source.text, key=len))
        self._sources[key] = better
        return better.citation
