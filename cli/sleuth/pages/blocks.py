"""The text of a page as blocks, and blocks as plain text or Markdown with the same words."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sleuth.base.text import clean
from sleuth_providers.records import Record

MAX_TEXT_CHARS = 1_000_000  # of a page, however long
OPENING_BLOCKS = 4  # the title is looked for among these
SENTENCE_ENDS = tuple(".!?:。！？：")
MAX_LABEL_CHARS = 30  # of a section name, an author or a date above the title
MAX_PREFACE_CHARS = 200  # of a section name or a date before the title
KINDS = ("heading", "paragraph", "item", "quote", "code", "table")
MAX_LEVEL = 12  # of nested lists
MAX_TABLE_FILL = 4  # cells per cell of the text; if filling up short rows takes more, a table is written as code
# Code spans, bare URLs, and what could start a link, a link definition or HTML.
MARKUP = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`{1,3})[^`\n]+(?P=ticks)(?!`))|(?P<url>(?i:://|www\.)\S*+)"
    r"|(?P<mark>`|\\(?=[\\`<(\[])|(?<=\])[(:]|<(?=[A-Za-z/!?]))"
)
# A heading, quote or fence, and the line below the head of a table.
LINE_MARKUP = re.compile(r"^(?:#{1,6}(?=\s|$)|>|~~~|[|:-](?=[: \t-]*+\|[|: \t-]*+$))", re.MULTILINE)
MARK = re.compile(r"[A-Za-z0-9+#._-]{1,30}\)?")
SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s|[。！？](?:[”’」』）]*)")


class Block(Record):
    """A paragraph or similar, sanitised."""

    kind: str
    text: str  # of a table: rows on lines, cells between tabs
    level: int = 0  # of a heading 1 to 6, of an item from 0
    mark: str = ""  # number of an item, language of code
    linked: str = ""  # the text with the URLs of its links, for Markdown; empty if there are none


def block(kind: str, text: str, level: int = 0, mark: str = "", linked: str = "") -> Block:
    """Sanitise text and make it a block; only code keeps its indentation."""
    linked = _cleaned(kind, linked) if linked != text else ""
    mark = mark if MARK.fullmatch(mark) else ""
    return Block(kind, _cleaned(kind, text), min(max(level, 0), MAX_LEVEL), mark, linked)


def _cleaned(kind: str, text: str) -> str:
    if kind == "code":
        return "\n".join(_clean_code(line) for line in text.splitlines()).strip("\n")
    if kind == "table":
        rows = ("\t".join(clean(cell, entities=False) for cell in row.split("\t")) for row in text.split("\n"))
        return "\n".join(row for row in rows if row.strip())
    lines = clean(text, lines=True, entities=False).split("\n")
    return (" " if kind == "heading" else "\n").join(line.strip() for line in lines if line)


def _clean_code(line: str) -> str:
    parts = re.split("( +)", line.expandtabs(4))
    return "".join(part if part.startswith(" ") else clean(part, entities=False) for part in parts).rstrip()


def as_text(blocks: Iterable[Block]) -> str:
    """Return blocks as plain text."""
    return _joined((one, _plain(one)) for one in blocks)


def as_markdown(blocks: Iterable[Block]) -> str:
    """Return blocks as Markdown; markup in the text of the page is escaped."""
    return _joined((one, _marked(one)) for one in blocks)


def _joined(written: Iterable[tuple[Block, str]]) -> str:
    parts: list[str] = []
    before = ""
    for one, text in written:
        if parts:
            parts.append("\n" if one.kind == before == "item" else "\n\n")
        parts.append(text)
        before = one.kind
    return "".join(parts)


def _plain(one: Block) -> str:
    if one.kind == "item":
        return _item(one, one.text)
    return one.text.replace("\t", " | ") if one.kind == "table" else one.text


def _marked(one: Block) -> str:
    if one.kind == "code":
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", one.text))])
        return f"{fence}{one.mark}\n{one.text}\n{fence}"
    if one.kind == "table":
        return _table(one.linked or one.text)
    text = escape(one.linked or one.text)
    if one.kind == "heading":
        return f"{'#' * min(max(one.level, 1), 6)} {text}"
    if one.kind == "item":
        return _item(one, text)
    return _indented("> ", text, "> ") if one.kind == "quote" else text


def _item(one: Block, text: str) -> str:
    return _indented(f"{'   ' * one.level}{one.mark or '-'} ", text)


def _indented(mark: str, text: str, following: str = "") -> str:
    return mark + text.replace("\n", "\n" + (following or " " * len(mark)))


def _table(text: str) -> str:
    rows = [[escape(cell.replace("|", "\\|")) for cell in row.split("\t")] for row in text.split("\n")]
    width = max(map(len, rows))
    if width * len(rows) > MAX_TABLE_FILL * sum(map(len, rows)):
        return _marked(Block("code", text.replace("\t", " | ")))
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def escape(text: str) -> str:
    """Escape links, images, HTML, headings, quotes, fences and tables; code spans stay as they are."""
    return LINE_MARKUP.sub(r"\\\g<0>", MARKUP.sub(_escape_markup, text))


def _escape_markup(found: re.Match[str]) -> str:
    if found["url"]:  # viewers end it at `<` and take a backslash or backtick before that for a part of it
        # A definition, but not the port of http://[::1]:80/.
        url = re.sub(r"(//\[[^\[\]]*+\]:)|(?<=\])(?=[(:])", lambda place: place[1] or "\\", found["url"])
        return url.replace("`", "\\`").replace("<", "&lt;")
    return found["code"] or f"\\{found['mark']}"


def cut(blocks: Sequence[Block], limit: int) -> tuple[list[Block], bool]:
    """Truncate to `limit` characters of Markdown, between blocks unless that wastes half; return also if it was cut."""
    kept: list[Block] = []
    used = 0
    for one in blocks:
        size = len(_marked(one)) + (2 if kept else 0)
        if used + size > limit:
            if used < limit // 2 and (part := _part(one, limit - used - 2)):
                return [*kept, part], True
            while kept and kept[-1].kind == "heading":  # its section is gone
                kept.pop()
            return kept, True
        kept.append(one)
        used += size
    return kept, False


def without_title(blocks: Sequence[Block], title: str, *, is_site: bool = False) -> Sequence[Block]:
    """Return the blocks without the title, which pages carry separately; on a site also without labels above it.

    Labels are section names, authors and dates: short texts that are not sentences.
    """
    wanted = _word_list(title)
    before = 0
    for index, one in enumerate(blocks[: OPENING_BLOCKS if wanted else 0]):
        if _is_title(_word_list(one.text), wanted):
            above = [each for each in blocks[:index] if not is_site or not _is_label(each)]
            return [*above, *blocks[index + 1 :]]
        before += len(one.text)
        if before > MAX_PREFACE_CHARS:
            break
    return blocks


def _is_label(block: Block) -> bool:
    is_short = block.kind in ("heading", "paragraph") and len(block.text) <= MAX_LABEL_CHARS
    return is_short and not block.text.endswith(SENTENCE_ENDS)


def _is_title(words: list[str], title: list[str]) -> bool:
    """Tell whether words are the title, with or without the name of the site."""
    if words == title:
        return bool(words)
    if min(len(words), len(title)) < 4 or len(words) > 1.3 * len(title):
        return False
    short, long = sorted((f" {' '.join(words)} ", f" {' '.join(title)} "), key=len)
    return short in long


def _word_list(text: str) -> list[str]:
    return re.findall(r"\w+", text[:1000].lower())


def _part(one: Block, room: int) -> Block | None:
    """Return as much of a block as fits."""
    part = _start(one, room)
    while part.text and (size := len(_marked(part))) > room:
        part = _start(one, len(part.text) * room // size)
    return part if part.text else None


def _start(one: Block, length: int) -> Block:
    """Return a block up to the end of a line, a sentence or a word."""
    text = one.text[:length]
    if one.kind in ("code", "table") and "\n" in text:
        text = text[: text.rfind("\n")].rstrip("\n")
    else:
        ends = [match.end() for match in SENTENCE_END.finditer(text)]
        end = ends[-1] if ends and ends[-1] > len(text) // 2 else text.rfind(" ")
        text = text[:end].rstrip() if end > len(text) // 2 else text
    return one._replace(text=text, linked="")


def from_json(value: Any) -> list[Block]:
    """Read blocks from a cache, which others may write to; raise ValueError or TypeError for anything else."""
    if any(kind not in KINDS or [*map(type, fields)] != [str, int, str, str] for kind, *fields in value):
        raise ValueError("not blocks")
    return [block(*part) for part in value]


def from_plain(text: str) -> list[Block]:
    """Read plain text: blank lines separate paragraphs; text aligned with spaces becomes code."""
    lines = text.splitlines()
    aligned = sum(1 for line in lines if re.search(r"\S {2,}\S|^\s{2,}\S|\t", line[:500]))
    if aligned > len(lines) // 5:
        return [one for one in [block("code", text)] if one.text]
    parts = re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    return [one for part in parts if (one := block("paragraph", part)).text]


def from_markdown(source: str) -> list[Block]:
    """Read Markdown, see `base.markdown.read_blocks`."""
    from sleuth.base.markdown import read_blocks  # imported late: few pages are Markdown

    return [one for part in read_blocks("\n".join(source.splitlines())) if (one := block(*part)).text]
