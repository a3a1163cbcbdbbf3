"""The handbook, sleuth's own Markdown chapters, as library documents: one for each section."""

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sleuth.base.paths import shipped_folder
from sleuth.library.library import Document
from sleuth_providers.records import Record

if TYPE_CHECKING:
    from pathlib import Path

SITE = "sleuth handbook"


def handbook_folder() -> str | None:
    """Return the folder of the chapters: in the package once installed, next to it in a checkout."""
    return shipped_folder("handbook", "docs")


def fingerprint(folder: str) -> str:
    """Return a text that changes whenever a chapter does."""
    with os.scandir(folder) as entries:
        states = sorted((e.name, e.stat().st_mtime_ns, e.stat().st_size) for e in entries if e.name.endswith(".md"))
    return ascii((folder, states))


def chapters(folder: str) -> Iterator[Document]:
    """Yield every section of every chapter."""
    from pathlib import Path  # imported late: the handbook seldom changes

    for path in sorted(Path(folder).glob("*.md")):
        yield from sections(path, path.read_text("utf-8", "replace"))


def sections(path: "Path", text: str) -> Iterator[Document]:
    """Yield a chapter's sections as documents."""
    from sleuth.pages.blocks import as_text, from_markdown

    parts = split_chapter(text)
    chapter = parts[0].title or path.name
    modified = path.stat().st_mtime
    for number, part in enumerate(parts):
        body = as_text(block for block in from_markdown(part.body))
        site = f"{SITE} · {chapter}" if number else SITE
        url = f"{path.as_uri()}#{part.anchor}"
        if body or number:
            title = part.title or chapter
            yield Document(url, title, body, site, modified, len(body), "markdown", "handbook", lang="en")


class Section(Record):
    """A section of a chapter: the text before the first `##`, or a `##` with everything below it."""

    anchor: str
    title: str
    body: str  # Markdown, without the heading


def split_chapter(text: str) -> list[Section]:
    """Return the sections of a chapter; the first has the chapter's title."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith(("```", "~~~"))
        if line.startswith("## ") and not fenced:
            parts.append((line[3:].strip().replace("`", ""), []))
        elif line.startswith("# ") and not fenced and not parts[0][0] and len(parts) == 1:
            parts[0] = (line[2:].strip().replace("`", ""), parts[0][1])
        else:
            parts[-1][1].append(line)
    taken: dict[str, int] = {}
    return [Section(_unique(anchor(title), taken), title, "\n".join(lines).strip()) for title, lines in parts]


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _unique(name: str, taken: dict[str, int]) -> str:
    times = taken.get(name, 0)
    taken[name] = times + 1
    return f"{name}-{times}" if times else name
