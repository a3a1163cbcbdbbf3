"""Makes a model's Markdown safe for any viewer: no images, no HTML, and links only to the sources.

Viewers disagree where lists, tables and formulas end, so nothing here depends on it: code spans end in the line in
which they begin, fenced code begins exactly where the text of its list item does, what would begin a formula that ends
in code is escaped, and all other text is safe as prose wherever it stands. Code itself is not changed.
"""

import re
from collections.abc import Callable, Mapping

from sleuth.answers.blocks import MARKER, TAB_COLUMNS, ListTracker, code_spans, dedent, indentation
from sleuth.answers.inline import Paragraph, ProseLine, has_open, has_open_bracket

FENCE = re.compile(r"[ \t]*+(?P<marks>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w+#.-]*+)[^`]*+")
QUOTE = re.compile(r" {0,3}> ?")
DIAGRAM_LANGUAGES = ("mermaid", "vega", "vega-lite", "svg", "plantuml", "geojson")  # viewers may load images for them
MADE_FENCE = "````"  # around indented code
DELIMITER_ROW = re.compile(r"(?=[ \t>-]*+[|:])[ \t>|:]*+-[ \t>|:-]*+")  # below the head of a table
# The first line of a formula of several lines.
OPENING = re.compile(
    r"(?P<margin>[ \t]*+)(?:(?P<dollars>\$\$(?=[^$]*+\Z)|\$(?=\s*+\Z))"
    r"|(?P<bracket>\\\[)(?!.*\\\])|\\begin\{(?P<name>\w{1,20}\*?)\}(?!.*\\end\{))"
)
MAX_FORMULA_LINES = 50
# What begins another block, or a table, where a part of a line becomes a line of its own.
BLOCK_START = re.compile(r"(?:[-*+]|\d{1,9}[.)])(?:[ \t]|\Z)|[>#|:~`]|=+\s*+\Z|[-*_][-*_ \t|:]*+\Z")
# What may be the beginning of markup, or of a URL at the end of a piece. A citation is not changed.
MARKUP_START = re.compile(
    r"(?i)\[(?!\d{1,3}\][\s.,;。，；、])|\](?=[:(]|\Z)|[<!`~&$\\]|::|:\Z|(?:https?|ftp)[:\\]|www[.\\]|//|[hfw/][tpsw]{0,4}\Z"
)
MAX_HELD_CHARS = 1000  # what is longer waits for the end of its line, because each piece is searched from its start
# Code, a definition, a formula, or what is below the head of a table.
MAY_BE_BLOCK = re.compile(r" {4}|\t|[\s\d.)*+>#|:-]*+(?:[`~\[$\\]|\Z)")
PLAIN_FORM = {"&lt;": "<", "&#91;": "[", "&#92;": "\\", "&#96;": "`", r"\$": "$"}


def safe_markdown(text: str, targets: Mapping[int, str]) -> str:
    """Return a model's Markdown without images, HTML or links to other places than the sources.

    `targets` maps citations to the only URLs they may link to. Links to other places become text.
    """
    lines = SafeLines(targets)
    return ("".join(map(lines.add, text.replace("\r", " ").split("\n"))) + lines.close())[:-1]


def as_plain(text: str) -> str:
    """Return safe Markdown with signs as they were written; definitions stay escaped, or pictures would work."""
    fence, lines = "", text.split("\n")
    for number, line in enumerate(lines):
        marks = FENCE.fullmatch(line.lstrip("> "))
        if marks and (not fence or marks[0].strip() == fence):
            fence = "" if fence else marks["marks"]
        elif not fence:
            lines[number] = _plain(line)
    return "\n".join(lines)


def _plain(line: str) -> str:
    done, pieces = 0, []
    for start, end, is_code in (*code_spans(line), (len(line), len(line), False)):
        prose = re.sub(r"&lt;|&#9[126];|\\\$", lambda found: PLAIN_FORM[found[0]], line[done:start])
        code = line[start:end]
        pieces += [prose, code.replace(r"\|", "|") if is_code and line.lstrip().startswith("|") else code]
        done = end
    return "".join(pieces)


class SafeLines:
    """Makes Markdown safe line by line; some lines are held until the next ones tell what they are."""

    def __init__(self, targets: Mapping[int, str]) -> None:
        self._targets, self._lists, self._is_first = targets, ListTracker(), True
        self.fence = ""  # of the code that the next line belongs to
        self._margin, self._columns = "", 0  # before each line of that code, and what is removed from it
        self._is_indented, self._blank_lines = False, 0  # code without a fence, and the lines that may follow it
        self.held: list[tuple[str, bool]] = []
        self._paragraph = Paragraph()

    def add(self, line: str, *, is_start: bool = True) -> str:
        """Take the next line, or the rest of one that begins with words; return what is finished, with line ends."""
        if not self.held:
            return self._code(line) if self.fence else self._line(line, is_start)
        first, was_start = self.held[0]
        self.held.append((line, is_start))
        if was_start and "`" not in first and (opening := OPENING.match(first)):
            return self._formula(opening, line)
        self._paragraph.in_table |= bool(DELIMITER_ROW.fullmatch(line))
        return self._release(goes_on=bool(line.strip(" \t")))

    def close(self) -> str:
        """Return what was held, and the end of code that is still open."""
        return self._release() + (self._end_code() if self.fence else "")

    def _release(self, *, goes_on: bool = False) -> str:
        """Return the first line that was held as prose, and the others as what they are."""
        held, self.held = self.held, []
        first = self._prose(*held[0], goes_on=goes_on) if held else ""
        return first + "".join(self.add(line, is_start=is_start) for line, is_start in held[1:])

    def begin(self, words: str) -> None:
        """Take the first words of a line whose rest will be added."""
        self._is_first = False
        self._lists.follow(words)

    def _line(self, line: str, is_start: bool) -> str:
        if is_start:
            if self._is_first and line.startswith(("---", "+++")):
                line = f"\\{line}"  # else viewers may take it for front matter
            was_after_text = self._lists.is_after_text
            self.begin(line)
            if started := self._start_code(line, was_after_text):
                return started
            if not line.strip(" \t"):
                self._paragraph = Paragraph()
                return f"{line}\n"
            self._paragraph.in_table |= bool(DELIMITER_ROW.fullmatch(line))
        is_head = "`" in line and "|" in line and not self._paragraph.in_table
        if is_head or (is_start and "`" not in line and OPENING.match(line)) or has_open(line):
            self.held = [(line, is_start)]
            return ""
        return self._prose(line, is_start)

    def _start_code(self, line: str, was_after_text: bool) -> str:
        """Return the beginning of a code block if a line begins one."""
        offset, start = self._lists.offset, ""
        quote = QUOTE.match(line) if not offset else None
        item = MARKER.match(line)
        prefix = quote or item
        inner = line[prefix.end() :] if prefix else line
        fence = FENCE.fullmatch(inner)
        self._columns, self._margin = indentation(line), " " * offset
        if fence and quote:
            self._columns, self._margin = indentation(inner), "> "
        elif fence and item and offset == item.end() and item[0].isprintable():
            self._columns, start = offset, item[0]
        elif fence and item:  # viewers may not agree that it is an item
            self._columns, self._margin, start = 0, "", f"{item[0].rstrip()}\n\n"
        elif not fence and not was_after_text and not offset and self._columns >= TAB_COLUMNS and line.strip():
            self.fence, self._is_indented = MADE_FENCE, True
            self._columns = TAB_COLUMNS
            return f"{MADE_FENCE}\n" + self._code(line)
        if not fence:
            return ""
        if not self._margin:
            self._lists.items.clear()
        self.fence, self._paragraph.in_table = fence["marks"], False
        is_apart = was_after_text and (not self._margin or self._paragraph.has_bracket)
        start = start or "\n" * is_apart + self._margin
        language = "" if fence["language"].lower() in DIAGRAM_LANGUAGES else fence["language"]
        return f"{start}{self.fence}{language}\n"

    def _code(self, line: str) -> str:
        if self._is_indented:
            if not line.strip(" \t"):
                self._blank_lines += 1
                return ""
            if indentation(line) < TAB_COLUMNS:
                return self._end_code() + self.add(line)
            blank, self._blank_lines = "\n" * self._blank_lines, 0
            return f"{blank}{self._escaped_fence(dedent(line, TAB_COLUMNS))}\n"
        if self._margin == "> ":
            quote = QUOTE.match(line)
            if not quote:
                return self._end_code() + self.add(line)
            line = line[quote.end() :]
        line = dedent(line, self._columns)
        marks = line.strip(" \t")
        is_end = marks.startswith(self.fence) and not marks.strip(self.fence[0])
        if is_end and indentation(line) < TAB_COLUMNS:
            return self._end_code()
        return (self._margin + self._escaped_fence(line) if marks else self._margin.rstrip()) + "\n"

    def _escaped_fence(self, line: str) -> str:
        """Return a line of code; what only some viewers take for the end of the code gets a backslash."""
        marks = line.strip(" \t")
        return f"\\{marks}" if marks.startswith(self.fence) and not marks.strip("`~") else line

    def _end_code(self) -> str:
        end = f"{self._margin}{self.fence}\n" + "\n" * self._blank_lines
        self.fence, self._is_indented, self._blank_lines, self._lists.is_after_text = "", False, 0, False
        return end

    def _formula(self, opening: re.Match[str], line: str) -> str:
        """Return the lines of a formula once it is complete. With a blank line or code in it, it is none."""
        dollars, margin = opening["dollars"], opening["margin"]
        end = dollars or (r"\]" if opening["bracket"] else rf"\end{{{opening['name']}}}")
        last, found, after = line.partition(end)
        another = OPENING.match(line) if opening["bracket"] else None
        is_none = not line.strip() or "`" in last or "~~~" in last or (another and another["bracket"])
        # Viewers without formulas take these for the beginning of another block; a dollar would begin a formula inside.
        is_none = is_none or indentation(line) < len(margin.expandtabs(TAB_COLUMNS)) or DELIMITER_ROW.fullmatch(line)
        first = self.held[0][0][opening.end() :].strip()
        has_dollar = not dollars and "$" in first + last
        if is_none or has_dollar or BLOCK_START.match(first) or len(self.held) > MAX_FORMULA_LINES:
            return self._release(goes_on=True)
        self._lists.follow(line)
        if not found:
            return ""
        lines = [text for text, _ in self.held[:-1]] + ([last] if dollars else [last + end])
        if dollars:  # on lines of their own, where all viewers see them
            inside = [text for text in (margin + first, *lines[1:-1], margin + last.strip()) if text.strip()]
            # Behind nothing or a backslash, some look for a later end.
            is_endless = not inside or (len(inside[-1]) - len(inside[-1].rstrip("\\"))) % 2
            if is_endless or BLOCK_START.match(last.strip()):
                return self._release(goes_on=True)
            lines = [margin + dollars, *inside, margin + dollars]
        self.held = []
        had_bracket = self._paragraph.has_bracket
        safe = "".join(self._prose(text, True, in_formula=True) for text in lines)
        self._paragraph.has_bracket = had_bracket or has_open_bracket(" ".join(lines))
        if not after.strip():
            return safe
        return safe + self.add(margin + after.strip()) if dollars else safe[:-1] + self.add(after, is_start=False)

    def _prose(self, text: str, is_start: bool, *, in_formula: bool = False, goes_on: bool = False) -> str:
        """Return a line that is no code, with its end."""
        line = ProseLine(self._targets, self._paragraph, goes_on)
        return line.safe(text, is_start=is_start, in_formula=in_formula) + "\n"


class SafeStream:
    """Passes on a model's Markdown while it is written: words as they come, anything else line by line."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write, self._lines, self._pending = write, SafeLines({}), ""
        self._is_start = True  # of a line

    def add(self, text: str) -> None:
        """Take the next piece."""
        *lines, self._pending = (self._pending + text.replace("\r", " ")).split("\n")
        for line in lines:
            self._pass_on(self._lines.add(line, is_start=self._is_start))
            self._is_start = True
        is_waiting = self._lines.fence or self._lines.held or len(self._pending) > MAX_HELD_CHARS
        if is_waiting or (self._is_start and MAY_BE_BLOCK.match(self._pending)):
            return
        found = MARKUP_START.search(self._pending)
        # Whether a sign is markup depends on what precedes it, so the whole word is held back.
        end = self._pending.rfind(" ", 0, found.start()) + 1 if found else len(self._pending.rstrip())
        words = self._pending[:end]
        if words and not (self._is_start and MAY_BE_BLOCK.match(words)):
            if self._is_start:
                self._lines.begin(words)
            self._write(words)
            self._pending, self._is_start = self._pending[end:], False

    def close(self) -> None:
        """Pass on what is left."""
        self._pass_on((self._lines.add(self._pending, is_start=self._is_start) + self._lines.close())[:-1])

    def _pass_on(self, text: str) -> None:
        if text:
            self._write(text)
