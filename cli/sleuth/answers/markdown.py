"""Makes a model's Markdown safe for any viewer: no images, no HTML, and links only to the sources.

Viewers disagree where lists, tables and formulas end, so nothing here depends on it: code spans end in the line in
which they begin, fenced code begins exactly where the text of its list item does, formulas take one line and contain
neither code nor dollars, all other dollars are escaped, and the rest is safe as prose wherever it stands.
"""

import re
import string
from collections.abc import Callable, Mapping

from sleuth.answers.blocks import DISPLAY_TEX, MARKER, TAB_COLUMNS, ListTracker, code_spans, dedent, indentation
from sleuth.answers.inline import NAME, Paragraph, ProseLine, safe_tex

FENCE = re.compile(r"[ \t]*+(?P<marks>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w+#.-]*+)[^`]*+")
SAFE_FENCE = re.compile(rf"(?P<margin>[ >]*+(?:(?:[-*+]|\d{{1,9}}[.)]) )?){FENCE.pattern}")
QUOTE = re.compile(r"(?P<margin> *+)> ?")
MAX_QUOTE_DEPTH = 5
# Viewers draw these, and may load images for them or make links.
DIAGRAM_LANGUAGES = ("mermaid", "vega", "vega-lite", "svg", "plantuml", "geojson", "topojson", "math")
MADE_FENCE = "````"  # around indented code
QUOTED_ITEM = re.compile(r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)++>")
DELIMITER_ROW = re.compile(r"[ \t>|:]*+-[ \t>|:-]*+")  # below the head of a table
# The first line of a formula of several lines, or of an environment.
OPENING = re.compile(
    r"(?P<margin>[ \t]*+(?P<item>(?:[-*+]|\d{1,9}[.)]) {1,4})?+)"
    r"(?:(?P<dollars>\$\$)(?=[^$]*+\Z)|(?P<bracket>\\\[)(?!.*\\\])|(?=\\begin\{(?P<name>\w{1,20}\*?)\}))"
)
MAX_FORMULA_LINES = 50
PRICE_LEVEL = re.compile(r"[\s\d.)*+-]*+")  # what stands before `$$` in a list of prices
COMMENT = re.compile(r"(?<!\\)%.*")  # in a formula
FORMULA_START = re.compile(r"[A-Za-z\\({]|\d(?!\d{0,8}[.)])")  # what begins no block in any viewer
# What may be the beginning of markup, or of a URL at the end of a piece. A citation is not changed.
MARKUP_START = re.compile(
    r"(?i)\[(?!\d{1,3}\][\s.,;。，；、])|\](?=[:(]|\Z)|[<!`~&$\\]|::|:\Z|(?:https?|ftp)[:\\]|www[.\\]|//|[hfw/][tpsw]{0,4}\Z"
    rf"|{NAME}|\.\u0440"
)
MAX_HELD_CHARS = 1000  # what is longer waits for the end of its line, because each piece is searched from its start
# Code, a quote, a definition, a formula, or what is below the head of a table.
MAY_BE_BLOCK = re.compile(r" {4}|\t|---|\+\+\+|[\s\d.)*+#|:-]*+(?:[>`~\[$\\]|\Z)")
ASCII_SIGNS = string.ascii_letters + string.digits + string.punctuation
ESCAPED = re.compile(r"&lt;|&#9[26];|\\[$&~]|(?:\\:){3,}+")
PLAIN_FORM = {"&lt;": "<", "&#92;": "\\", "&#96;": "`"}


def safe_markdown(text: str, targets: Mapping[int, str]) -> str:
    """Return a model's Markdown without images, HTML or links to other places than the sources.

    `targets` maps citations to the only URLs they may link to. Links to other places become text.
    """
    lines = SafeLines(targets)
    return ("".join(map(lines.add, text.replace("\r", " ").split("\n"))) + lines.close())[:-1]


def as_plain(text: str) -> str:
    """Return safe Markdown with signs as they were written; definitions stay escaped, or pictures would work."""
    end, in_table, lines = "", False, text.split("\n")
    for number, line in enumerate(lines):
        if end:  # the line is in a code block, which ends with `end`
            end = "" if line == end else end
        elif started := SAFE_FENCE.fullmatch(line):
            end, in_table = re.sub("[^>]", " ", started["margin"]) + started["marks"], False
        else:
            in_table = (in_table and bool(line.strip("> "))) or _is_head(line, "".join(lines[number + 1 : number + 2]))
            lines[number] = _plain(line, in_table)
    return "\n".join(lines)


def _is_head(line: str, following: str) -> bool:
    """Tell whether a line is the head of a table for some viewer."""
    return bool(DELIMITER_ROW.fullmatch(following)) and ("|" in line or "|" in following or ":" in following)


def _plain(line: str, in_table: bool) -> str:
    done, pieces = 0, []
    for start, end, is_code in (*code_spans(line), (len(line), len(line), False)):
        prose = ESCAPED.sub(lambda found: PLAIN_FORM.get(found[0]) or found[0].replace("\\", ""), line[done:start])
        code = line[start:end]
        pieces += [prose, code.replace(r"\|", "|") if is_code and in_table else code]
        done = end
    return "".join(pieces)


class SafeLines:
    """Makes Markdown safe line by line; some lines are held until the following ones decide what they are."""

    def __init__(self, targets: Mapping[int, str], depth: int = 0) -> None:
        self._targets, self._depth = targets, depth
        self._lists, self._is_first = ListTracker(), not depth
        self._fence = ""  # of the code that the next line belongs to
        self._margin, self._columns = "", 0  # before each line of that code, and what is removed from it
        self._is_indented, self._blank_lines = False, 0  # code without a fence, and the lines that may follow it
        self._held: list[tuple[str, bool]] = []
        self._paragraph, self._before = Paragraph(), ""  # the line before, in the same paragraph
        self._quote: SafeLines | None = None  # the lines of a quote, without their sign
        self._quote_offset, self._quote_margin = 0, ""
        self._is_quoted_item = False  # a list item that begins with a quote, which is not followed
        self._is_after_quote = False  # without a blank line between

    @property
    def is_waiting(self) -> bool:
        """Whether the next line must be complete."""
        return bool(self._fence or self._held or (self._quote and self._quote.is_waiting))

    def add(self, line: str, *, is_start: bool = True) -> str:
        """Take the next line, or the rest of one that begins with words; return what is finished, with line ends."""
        if not self._held:
            return self._code(line) if self._fence else self._line(line, is_start)
        first, was_start = self._held[0]
        self._held.append((line, is_start))
        if was_start and "`" not in first and (opening := OPENING.match(first)):
            return self._formula(opening)
        self._paragraph.in_table |= _is_head(first, line)
        return self._release()

    def close(self) -> str:
        """Return what was held, and the end of code that is still open."""
        rest = ""
        while self._held:  # a line that is released may be held again
            rest += self._release()
        return rest + self._end_quote() + (self._end_code() if self._fence else "")

    def _release(self) -> str:
        """Return the first line that was held as prose, and the others as what they are."""
        held, self._held = self._held, []
        first = self._prose(*held[0]) if held else ""
        return first + "".join(self.add(line, is_start=is_start) for line, is_start in held[1:])

    def follow(self, words: str, *, is_start: bool) -> None:
        """Take words that need no change, from a line whose rest will be added."""
        self._before = words if is_start else self._before + words
        if is_start:
            self._end_quote()  # which has nothing left to return
            self._is_first = False
            self._lists.follow(words)

    def _line(self, line: str, is_start: bool) -> str:
        if not is_start:
            return self._text(line, is_start)
        if self._is_first and line.startswith(("---", "+++")):
            line = f"\\{line}"  # else viewers may take it for front matter
        was_after_text, self._is_first = self._lists.is_after_text, False
        self._lists.follow(line)
        if quote := self._quote_at(line):
            return self._quoted(line, quote)
        before = self._end_quote(line)
        if started := self._start_code(line, was_after_text):
            return before + started
        if not line.strip(" \t"):
            self._paragraph, self._before = Paragraph(), ""
            self._is_quoted_item = self._is_after_quote = False
            return f"{before}{line}\n"
        self._is_quoted_item |= bool(QUOTED_ITEM.match(line))
        self._paragraph.in_table |= _is_head(self._before, line)
        return before + self._text(line, is_start)

    def _text(self, line: str, is_start: bool) -> str:
        self._before = line if is_start else self._before + line
        is_head = "`" in line and "|" in line and not self._paragraph.in_table
        opening = OPENING.match(line) if is_start and "`" not in line else None
        if opening and opening["item"] and self._lists.offset != opening.end("margin"):  # viewers may not agree
            opening = None
        if not is_head and not opening:
            return self._prose(line, is_start)
        self._held = [(line, is_start)]
        return self._formula(opening) if opening and opening["name"] else ""

    def _quote_at(self, line: str) -> re.Match[str] | None:
        """Return the sign of a quote at the start of a line, if all viewers see one there."""
        found = QUOTE.match(line) if self._depth < MAX_QUOTE_DEPTH and not self._is_quoted_item else None
        return found if found and len(found["margin"]) - self._lists.offset < TAB_COLUMNS else None

    def _quoted(self, line: str, sign: re.Match[str]) -> str:
        """Return a line of a quote, made safe without its sign."""
        before = self._end_quote() if self._quote_offset != self._lists.offset else ""
        if not self._quote:
            self._quote, self._quote_offset = SafeLines(self._targets, self._depth + 1), self._lists.offset
            if self._is_after_quote:  # viewers disagree whether what was in that one goes on
                self._quote._paragraph, self._quote._is_quoted_item = self._paragraph, True
                self._quote._lists.is_after_text, self._quote._lists.is_sure = True, False
        self._quote_margin, self._before = " " * self._quote_offset + "> ", ""  # as of a fence, or it leaves the list
        return before + self._in_quote(self._quote.add(line[sign.end() :]))

    def _in_quote(self, lines: str) -> str:
        return "".join(
            f"{(self._quote_margin + line) if line else self._quote_margin.rstrip()}\n"
            for line in lines.split("\n")[:-1]
        )

    def _end_quote(self, following: str = "") -> str:
        if not self._quote:
            return ""
        self._quote._note_table(following)
        quote, self._quote, self._is_after_quote = self._quote, None, True
        end = self._in_quote(quote.close())
        self._paragraph = quote._paragraph  # which the next line may continue
        return end

    def _note_table(self, following: str) -> None:
        """Note whether the line after a quote makes its last line the head of a table for some viewer."""
        self._paragraph.in_table |= _is_head(self._held[0][0] if self._held else "", following)
        if self._quote:
            self._quote._note_table(following)

    def _start_code(self, line: str, was_after_text: bool) -> str:
        """Return the beginning of a code block if a line begins one."""
        offset, start = self._lists.offset, ""
        item = MARKER.match(line)
        fence = FENCE.fullmatch(line[item.end() :] if item else line)
        self._columns, self._margin = indentation(line), " " * offset
        if fence and item and offset == item.end() and item[0].isprintable():
            self._columns, start = offset, item[0]
        elif (item or not fence) and not was_after_text and self._columns - offset >= TAB_COLUMNS and line.strip():
            self._fence, self._is_indented, self._columns = MADE_FENCE, True, offset + TAB_COLUMNS
            return f"{self._margin}{MADE_FENCE}\n" + self._code(line)
        elif fence and item:  # some viewers may not see a list item here
            self._columns, self._margin, start = 0, "", f"{item[0].rstrip()}\n\n"
        if not fence:
            return ""
        if not self._margin:
            self._lists.items.clear()
        self._fence, self._paragraph.in_table = fence["marks"], False
        is_apart = was_after_text and (not self._margin or self._paragraph.has_bracket)
        start = start or "\n" * is_apart + self._margin
        language = "" if fence["language"].lower() in DIAGRAM_LANGUAGES else fence["language"]
        return f"{start}{self._fence}{language}\n"

    def _code(self, line: str) -> str:
        if self._is_indented:
            if not line.strip(" \t"):
                self._blank_lines += 1
                return ""
            if indentation(line) < self._columns:
                return self._end_code() + self.add(line)
            blank, self._blank_lines = "\n" * self._blank_lines, 0
            return f"{blank}{self._margin}{self._escaped_fence(dedent(line, self._columns))}\n"
        line = dedent(line, self._columns)
        marks = line.strip(" \t")
        is_end = marks.startswith(self._fence) and not marks.strip(self._fence[0])
        if is_end and indentation(line) < TAB_COLUMNS:
            return self._end_code()
        return (self._margin + self._escaped_fence(line) if marks else self._margin.rstrip()) + "\n"

    def _escaped_fence(self, line: str) -> str:
        """Return a line of code; what only some viewers take for the end of the code gets a backslash."""
        marks = line.strip(" \t")
        is_like_end = marks.startswith(self._fence) and not marks.strip("`~")
        return f"\\{marks}" if is_like_end and indentation(line) < TAB_COLUMNS else line

    def _end_code(self) -> str:
        end = f"{self._margin}{self._fence}\n" + "\n" * self._blank_lines
        self._fence, self._is_indented, self._blank_lines, self._lists.is_after_text = "", False, 0, False
        return end

    def _formula(self, opening: re.Match[str]) -> str:
        """Return a formula of several lines, in one line, once it is complete; with a blank line or code it is none."""
        lines = [line for line, _ in self._held]
        margin, name = opening["margin"], opening["name"]
        end = "$$" if opening["dollars"] else rf"\end{{{name}}}" if name else r"\]"
        lines[0] = lines[0][opening.end() :]
        last, found, after = lines[-1].partition(end) if name or len(lines) > 1 else (lines[-1], "", "")
        is_blank, is_outside = not last.strip(), bool(opening["item"]) and indentation(lines[-1]) < len(margin)
        # `$$ cheap` and `$$ dear` in two lines are prices, and so are they in a list.
        is_price = PRICE_LEVEL.fullmatch(last) and after.strip() and (lines[0].strip() or not is_blank)
        is_none = len(lines) > 1 and (is_outside or is_price or (is_blank and not found))
        if is_none or "`" in last or len(lines) > MAX_FORMULA_LINES:
            return self._release()
        if not found:
            return ""
        lines[-1] = last + end if name else last
        inside = " ".join(COMMENT.sub("", line).strip() for line in lines).strip()
        inside = safe_tex(inside) if re.fullmatch(DISPLAY_TEX, inside) else ""
        if not inside or (name and after.strip()):
            return self._release()
        self._held = []
        if opening["bracket"]:
            return self._prose(rf"{margin}\[ {inside} \]{after}", True)
        inside = inside if FORMULA_START.match(inside) else f"{{}}{inside}"
        apart = "\n" if self._paragraph.in_table else ""
        block, margin = f"{apart}{margin}$$\n", " " * len(margin) if opening["item"] else margin
        self._paragraph = Paragraph()
        return f"{block}{margin}{inside}\n{margin}$$\n" + (self.add(margin + after.strip()) if after.strip() else "")

    def _prose(self, text: str, is_start: bool) -> str:
        """Return a safe line of prose with its newline."""
        return ProseLine(self._targets, self._paragraph).safe(text, is_start=is_start) + "\n"


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
        pending, is_start = self._pending, self._is_start
        if self._lines.is_waiting or len(pending) > MAX_HELD_CHARS or (is_start and MAY_BE_BLOCK.match(pending)):
            return
        found = MARKUP_START.search(pending)
        # Whether a sign is markup depends on what precedes it, so the whole word is held back.
        words = pending[: found.start()].rpartition(" ")[0] if found else pending.rstrip(ASCII_SIGNS).rstrip()
        if words and not (is_start and MAY_BE_BLOCK.match(words)):
            self._lines.follow(words, is_start=is_start)
            self._write(words)
            self._pending, self._is_start = pending[len(words) :], False

    def close(self) -> None:
        """Pass on what is left."""
        self._pass_on((self._lines.add(self._pending, is_start=self._is_start) + self._lines.close())[:-1])

    def _pass_on(self, text: str) -> None:
        if text:
            self._write(text)
