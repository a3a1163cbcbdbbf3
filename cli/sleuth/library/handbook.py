"""The handbook, sleuth's own Markdown chapters, as pages of the library: a section is a page."""

import os
import re
from collections.abc import Iterator

from sleuth.base.paths import shipped_folder
from sleuth.library.library import Document

SITE = "sleuth handbook"


def handbook_folder() -> str | None:
    """Return where the chapters are: inside the package once installed, beside it in a checkout."""
    return shipped_folder("handbook", "docs")


def mark(folder: str) -> str:
    """Return what changes whenever a chapter does."""
    with os.scandir(folder) as entries:
        states = sorted((e.name, e.stat().st_mtime_ns, e.stat().st_size) for e in entries if e.name.endswith(".md"))
    return ascii((folder, states))


def chapters(folder: str) -> Iterator[Document]:
    """Yield every section of every chapter."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(".md"):
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace") as stream:
                yield from sections(path, stream.read())


def sections(path: str, text: str) -> Iterator[Document]:
    """Yield a chapter's sections: what stands before the first `##`, then each `##` with all below it."""
    from pathlib import Path

    from sleuth.library.markdown import plain, without_code  # not needed while nothing has changed

    url = Path(path).as_uri()
    headings = list(re.finditer(r"^(#{1,2}) (.+)", without_code(text), re.MULTILINE))
    chapter = next((plain(heading[2]) for heading in headings if heading[1] == "#"), os.path.basename(path))
    modified = os.stat(path).st_mtime
    starts = [heading for heading in headings if heading[1] == "##"]
    ends = [heading.start() for heading in starts[1:]] + [len(text)]
    taken: dict[str, int] = {}
    head = re.sub(r"^# .*", "", text[: starts[0].start() if starts else len(text)], count=1, flags=re.MULTILINE)
    if body := plain(head):
        address = f"{url}#{_unique(anchor(chapter), taken)}"
        yield Document(address, chapter, body, SITE, modified, len(head), "markdown", "handbook", lang="en")
    for heading, end in zip(starts, ends, strict=True):
        title, body = plain(heading[2]), plain(text[heading.end() : end])
        address = f"{url}#{_unique(anchor(title), taken)}"
        yield Document(
            address, title, body, f"{SITE} · {chapter}", modified, len(body), "markdown", "handbook", lang="en"
        )


def anchor(heading: str) -> str:
    """Return the name GitHub gives a heading in addresses."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _unique(name: str, taken: dict[str, int]) -> str:
    times = taken.get(name, 0)
    taken[name] = times + 1
    return f"{name}-{times}" if times else name
