"""Markdown as plain words: its prose, its code."""

import re
from collections.abc import Iterator

CONTROL = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
MARKS = re.compile(r"^ {0,3}(?:#{1,6} |> ?|[-*+] )|\*\*|`+")
LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")


def tidy(text: str) -> str:
    """Return text without control characters, with plain line ends, no trailing blanks and no piles of empty lines."""
    text = CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n").replace("\v", "\n"))
    text = re.sub(r"[^\S\n]+", " ", text)
    return re.sub(r" ?\n[ \n]*\n ?| ?\n ?", lambda gap: "\n\n" if gap[0].count("\n") > 1 else "\n", text).strip()


def without_code(markdown: str) -> str:
    """Return Markdown with its fenced code blanked out, every character at its place."""
    return "\n".join(line if kind == "prose" else " " * len(line) for kind, line in _lines(markdown))


def plain(markdown: str) -> str:
    """Return the words of Markdown without its furniture; code stays as it is."""
    shown = _lines(_without_comments(markdown))
    return tidy("\n".join(line if kind == "code" else _plain_line(line) for kind, line in shown if kind != "fence"))


def _without_comments(markdown: str) -> str:
    parts, at = [], 0
    while (start := markdown.find("<!--", at)) >= 0 and (end := markdown.find("-->", start)) >= 0:
        parts.append(markdown[at:start])
        at = end + 3
    return "".join(parts) + markdown[at:]


def _lines(markdown: str) -> Iterator[tuple[str, str]]:
    """Yield every line as prose, as code, or as the fence between them."""
    inside = ""
    for line in markdown.split("\n"):
        fence = FENCE.match(line)
        if fence and (not inside or fence[1].startswith(inside)):
            inside = "" if inside else fence[1]
            yield "fence", line
        else:
            yield "code" if inside else "prose", line


def _plain_line(line: str) -> str:
    if line.lstrip().startswith("|"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        line = " · ".join(cell for cell in cells if cell.strip(":-"))
    elif not line.strip("-= "):
        return ""
    line = MARKS.sub("", line)
    return LINK.sub(r"\1", line) if "](" in line else line
