"""The parts of Markdown that matter for safety: list items that may contain code, code spans in a line, formulas."""

import re
from bisect import bisect_left
from collections.abc import Iterator

from sleuth_providers.records import Record

TAB_COLUMNS = 4
ITEM = re.compile(r" *+(?P<marker>[-*+]|(?P<number>\d{1,9})[.)]) {1,4}(?=\S)")
MARKER = re.compile(r"[ \t]*+(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\Z)")  # of a list item, or a rule such as `* * *`
RULE = re.compile(r"[ \t]*+([-*_])(?:[ \t]*+\1){2,}+[ \t]*+")
TICKS = re.compile(r"`++")
P = "\U000f0000-\U000ffffd"  # placeholders for code, which formulas do not contain
# What viewers without formulas take for prose, and where those with formulas find no other end: no code, no dollars.
TEX_PARTS = rf"[^$\\`\n{P}]|\\[^()\[\]$`\s{P}]|\\ "
TEX = rf"(?:{TEX_PARTS}){{1,5000}}+"
DISPLAY_TEX = rf"(?:{TEX_PARTS}|\\\$(?!\$)){{1,5000}}+"  # between longer delimiters
PRICE = r"\d[\d.,]*+\s(?=[^$\\^=_+<>]*+\$)[^$]*?[^\W\d_]{2}"  # and words after it
# Prose with a citation between two dollar signs, such as two prices. A TeX command rules it out.
NO_TEX = r"(?:[^$\\]|\\[^A-Za-z])*?"
PRICED = (
    rf"(?:(?=\d)|(?<=\d\$)|(?<=\d\s\$))(?={NO_TEX}(?<![A-Za-z])[^\W\d_]{{2}})"
    rf"{NO_TEX}[\[【]\d{{1,3}}(?:\s?[,;，、-]\s?\d{{1,3}}){{0,20}}[\]】](?!\$)"
)
CITED = rf"(?:{PRICED}|(?={NO_TEX}\s[^\W\d_]{{2,}}\s){NO_TEX}\s\[\d{{1,3}}\][\s.,;:)。，；、])"
# Within a line. What only some viewers take for a formula must look like one: `CO$_2$`, `$ \alpha $`, but not `US$5`.
FORMULA = re.compile(
    rf"(?<!\\)(?:(?<!\$)\$\$(?P<display>{DISPLAY_TEX})\$\$(?!\$)"
    rf"|(?<![A-Za-z\d_$])\$(?!\s|{PRICE}|{CITED})(?P<inline>{TEX})(?<!\s)\$(?![A-Za-z\d_$])"
    rf"|(?<!\$)\$(?=[A-Za-z]\$|[^\w\s$]{{1,3}}\$|[_^]|[^$]*?[\\^])(?!\d[^$]*+\$\d|{CITED})(?P<glued>{TEX})\$(?!\$)"
    rf"|(?P<whole>\\\({TEX}\\\)|\\\[{DISPLAY_TEX}\\\]|\\(?:ce|pu)\{{[^{{}}\\$`\n{P}]{{0,500}}+\}}))"
)
# In a text: also one in several lines, from the start of a line; `$$ cheap` above `$$ dear` are prices.
TEXT_FORMULA = (
    r"(?m:^)[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)]) {1,4}+)?+(?:\$\$(?!"
    r"[ \t]*+[^\s$][^$\n]*+\n(?:[^$\n]*+\n)*+[ \t\d.)*+>-]*+\$\$[ \t]*+\S)"
    rf"(?:{DISPLAY_TEX}|\n)++\$\$(?!\$)|\\\[(?:{DISPLAY_TEX}|\n)++\\\]|\\begin\{{(?P<name>\w{{1,20}}\*?)\}}"
    rf"(?:(?!\\end\{{(?P=name)\}})(?:{TEX_PARTS}|\n)){{0,2000}}+\\end\{{(?P=name)\}})|(?=[$\\]){FORMULA.pattern}"
)


class ListItem(Record):
    """A list item that the next lines may belong to."""

    column: int  # of its marker
    offset: int  # of its text
    kind: str  # the last sign of its marker


class ListTracker:
    """Follows the list items that are open, as far as all viewers agree on them."""

    def __init__(self) -> None:
        self.items: list[ListItem] = []
        self.is_after_text = False  # in the line before, so that some blocks cannot begin here
        self.is_sure = True  # that all viewers agree on the items

    @property
    def offset(self) -> int:
        """Return the column of the text of the innermost item; 0 outside of lists."""
        return self.items[-1].offset if self.items else 0

    def follow(self, line: str) -> None:
        """Take the next line outside of code."""
        if not line.strip(" \t"):
            self.is_after_text = False
            return
        column, sibling = indentation(line), None
        while self.items and self.items[-1].offset > column:
            sibling = self.items.pop()
        found = ITEM.match(line)
        is_marker, is_item = bool(MARKER.match(line)), False
        self.is_sure |= not (column or is_marker or self.is_after_text)  # a paragraph ends all lists
        is_nested_deeper = bool(found) and ITEM.match(line[found.end() :] if found else "")  # as in `- - text`
        if (
            found
            and self.is_sure
            and not is_nested_deeper
            and column - self.offset < TAB_COLUMNS
            and not RULE.fullmatch(line)
        ):
            item = ListItem(column, found.end(), found["marker"][-1])
            is_next = sibling and (sibling.column, sibling.kind) == (column, item.kind)
            # In a paragraph, a number other than 1 begins no list.
            if is_item := bool(is_next or not self.is_after_text or found["number"] in (None, "1")):
                self.items.append(item)
        self.is_after_text = True
        self.is_sure &= is_item or not is_marker
        if not self.is_sure:
            self.items.clear()


def indentation(line: str) -> int:
    """Return the columns of white space at the start of a line."""
    start = line[: len(line) - len(line.lstrip(" \t"))]
    return len(start.expandtabs(TAB_COLUMNS))


def dedent(line: str, columns: int) -> str:
    """Remove up to `columns` columns of leading white space; later tabs are kept."""
    place = column = 0
    while column < columns and line[place : place + 1] in (" ", "\t"):
        column += 1 if line[place] == " " else TAB_COLUMNS - column % TAB_COLUMNS
        place += 1
    return " " * (column - columns) + line[place:]


def code_spans(line: str) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, is_code) for each code span and each run of backticks that opens none.

    Code ends at the next run of as many backticks. An escaped backtick comes with its backslash.
    """
    runs = [found.span() for found in TICKS.finditer(line)]
    places: dict[int, list[int]] = {}
    for start, end in runs:
        places.setdefault(end - start, []).append(start)
    done = 0
    for start, end in runs:
        if start < done:
            continue
        before = line[done:start]
        if (len(before) - len(before.rstrip("\\"))) % 2:
            yield start - 1, start + 1, False
            start += 1
        length = end - start
        same = places.get(length, [])
        place = bisect_left(same, end)
        is_code = length > 0 and place < len(same)
        done = same[place] + length if is_code else end
        if length:
            yield start, done, is_code
