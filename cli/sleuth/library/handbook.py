"""The handbook, sleuth's own Markdown chapters, as library documents: one for each section."""

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sleuth.base.paths import shipped_folder
from sleuth.library.library import Document

if TYPE_CHECKING:
    from pathlib import Path

SITE = "sleuth handbook"


def handbook_folder() -> str | None:
    """Return the folder of the chapters: in the package once installed, beside it in a checkout."""
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
    """Yield a chapter's sections: the text before the first `##`, then each `##` with everything below it."""
    from sleuth.pages.blocks import Block, as_text, from_markdown

    parts: list[tuple[str, list[Block]]] = [("", [])]
    chapter = ""
    for block in from_markdown(text):
        title = block.text.replace("`", "")
        if block.kind == "heading" and block.level == 2:
            parts.append((title, []))
        elif block.kind == "heading" and block.level == 1 and not chapter:
            chapter = title
        else:
            parts[-1][1].append(block)
    chapter = chapter or path.name
    anchors: dict[str, int] = {}
    for title, blocks in parts:
        if title or blocks:
            body, site = as_text(blocks), f"{SITE} · {chapter}" if title else SITE
            url = f"{path.as_uri()}#{_unique(anchor(title or chapter), anchors)}"
            modified = path.stat().st_mtime
            yield Document(url, title or chapter, body, site, modified, len(body), "markdown", "handbook", lang="en")


def anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _unique(name: str, taken: dict[str, int]) -> str:
    times = taken.get(name, 0)
    taken[name] = times + 1
    return f"{name}-{times}" if times else name
