"""Files and folders as pages for the library: Markdown, text, HTML, PDF and browser bookmarks, read one by one."""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator

from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.library.bookmarks import bookmarks, is_bookmarks
from sleuth.library.library import Document
from sleuth.library.markdown import plain, tidy, without_code
from sleuth.pages.charsets import decode, is_binary
from sleuth_providers.errors import DeadlineError, ProviderError
from sleuth_providers.records import Record

MAX_FILE = 20_000_000  # bytes
MAX_TEXT = 2_000_000  # characters of one page: a thick book
GRACE = 5.0  # seconds after its time that a PDF file has for handing over what was read
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

Known = Callable[[str, float, int], bool]
Skip = Callable[[str, str], None]


class SourceFile(Record):
    """One file that can be read."""

    path: str
    url: str
    modified: float
    size: int

    @property
    def name(self) -> str:
        """Return the name without its suffix, fit to be a title."""
        return clean(os.path.splitext(os.path.basename(self.path))[0].encode("utf-8", "replace").decode(), 300)


def check(paths: Iterable[str]) -> None:
    """Refuse what cannot be read before anything is."""
    for path in paths:
        if not os.path.exists(os.path.expanduser(path)):
            raise RequestError("there is no file or folder {path}", "check the name: ls -d {path}", path=path)


def read(paths: Iterable[str], *, known: Known | None = None, skip: Skip | None = None) -> Iterator[Document]:
    """Yield the pages of files and folders; what is `known` is not read again, and `skip` hears what cannot be read."""
    tell = skip or (lambda path, reason: None)
    for path in paths:
        for file in _files(os.path.abspath(os.path.expanduser(path)), tell):
            if known and known(file.url, file.modified, file.size):
                continue
            yield from _pages(file, tell)


def _files(path: str, skip: Skip) -> Iterator[SourceFile]:
    if not os.path.isdir(path):
        if file := _file(path, skip):
            yield file
        return
    visited: set[tuple[int, int]] = set()
    folders = [path]
    while folders:
        folder = folders.pop()
        below: list[str] = []
        for name, is_folder in _names(folder, visited, skip):
            entry = os.path.join(folder, name)
            if is_folder:
                below.append(entry)
            elif os.path.splitext(name)[1].lower() not in READERS:
                skip(entry, tr("not a kind of file that can be read"))
            elif file := _file(entry, skip):
                yield file
        folders += reversed(below)


def _names(folder: str, visited: set[tuple[int, int]], skip: Skip) -> list[tuple[str, bool]]:
    """Return what is in a folder, hidden things left out; a folder that was already visited by another way is empty."""
    try:
        state = os.stat(folder)
        if (state.st_dev, state.st_ino) in visited:
            return []
        visited.add((state.st_dev, state.st_ino))
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
        return [(name, os.path.isdir(os.path.join(folder, name))) for name in names]
    except OSError as problem:
        skip(folder, tr("cannot be read ({reason})", reason=problem.strerror or problem))
        return []


def _file(path: str, skip: Skip) -> SourceFile | None:
    from pathlib import Path

    try:
        state = os.stat(path)
    except OSError as problem:
        skip(path, tr("cannot be read ({reason})", reason=problem.strerror or problem))
        return None
    if not stat.S_ISREG(state.st_mode):
        skip(path, tr("not an ordinary file"))
        return None
    if state.st_size > MAX_FILE:
        skip(path, tr("larger than {limit} MB", limit=MAX_FILE // 1_000_000))
        return None
    return SourceFile(path, Path(path).as_uri(), state.st_mtime, state.st_size)


def _pages(file: SourceFile, skip: Skip) -> Iterator[Document]:
    try:
        with open(file.path, "rb") as stream:
            data = stream.read(MAX_FILE)
    except OSError as problem:
        skip(file.path, tr("cannot be read ({reason})", reason=problem.strerror or problem))
        return
    is_pdf = data.startswith(b"%PDF-")
    reader = _read_pdf if is_pdf else READERS.get(os.path.splitext(file.path)[1].lower(), _read_text)
    if reader is not _read_pdf and is_binary(data):
        skip(file.path, tr("not text"))
        return
    try:
        pages = [page for page in reader(file, data) if page.text or page.kind == "bookmark"]
    except ProviderError as problem:
        skip(file.path, tr(problem.detail or "a PDF file without text, most likely scanned pictures"))
        return
    for page in pages:
        if len(page.text) > MAX_TEXT:
            skip(file.path, tr("only its first {limit} characters are searched", limit=MAX_TEXT))
        yield page._replace(text=page.text[:MAX_TEXT])
    if not pages:
        skip(file.path, tr("nothing to read in it"))


def _page(file: SourceFile, title: str, text: str, kind: str, published: str = "", lang: str = "") -> Document:
    dated = DATE.match(published)
    return Document(
        url=file.url,
        title=clean(title, 300) or file.name,
        text=text,
        site=clean(os.path.basename(os.path.dirname(file.path)).encode("utf-8", "replace").decode(), 100),
        modified=file.modified,
        size=file.size,
        kind=kind,
        source="file",
        published=dated[0] if dated else time.strftime("%Y-%m-%d", time.gmtime(file.modified)),
        lang=clean(lang, 20),
    )


def _read_text(file: SourceFile, data: bytes) -> Iterator[Document]:
    yield _page(file, "", tidy(decode(data)), "text")


def _read_rst(file: SourceFile, data: bytes) -> Iterator[Document]:
    text = tidy(decode(data))
    heading = re.search(r"^([^\s].*)\n([=\-~^\"'*+#])\2{2,}[ \t]*$", text, re.MULTILINE)
    yield _page(file, heading[1] if heading else "", text, "rst")


def _read_markdown(file: SourceFile, data: bytes) -> Iterator[Document]:
    facts, body = front_matter(tidy(decode(data)))
    heading = re.search(r"^#{1,6} (.+)", without_code(body), re.MULTILINE)
    title = facts.get("title") or (plain(heading[1].rstrip("# ")) if heading else "")
    yield _page(file, title, plain(body), "markdown", facts.get("date", ""), facts.get("lang", ""))


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return what a Markdown file says about itself between two lines of dashes, and the rest."""
    found = re.match(r"---[ ]?\n(.{0,5000}?)\n(?:---|\.\.\.)[ ]?\n", text, re.DOTALL)
    if not found:
        return {}, text
    facts = re.findall(r"^(\w+):[ \t]*[\"']?(.*?)[\"']?[ \t]*$", found[1], re.MULTILINE)
    return {name.lower(): value for name, value in facts}, text[found.end() :]


def _read_html(file: SourceFile, data: bytes) -> Iterator[Document]:
    markup = decode(data, markup=True)
    if is_bookmarks(markup):
        yield from bookmarks(markup, file.modified)
        return
    from sleuth.library.html import read_markup

    found = read_markup(markup)
    yield _page(file, found.title, found.text, "html", found.published, found.language)


def _read_pdf(file: SourceFile, data: bytes) -> Iterator[Document]:
    """Read a PDF file in a thread that is left behind when time is up: a hostile one may never end."""
    from sleuth.pages.blocks import as_text
    from sleuth.pages.chain import Chain, Layer
    from sleuth.pages.extract import ExtractedPage, finished
    from sleuth.pages.pdf import PATIENCE, from_pdf

    chain: Chain[ExtractedPage] = Chain(time.monotonic() + PATIENCE + GRACE, lambda: False)
    found = chain.run(iter([Layer("page", file.name, lambda until: from_pdf(data, until - GRACE))]))
    if not found:
        raise chain.errors.get("page") or DeadlineError("a PDF file that takes long to read")
    content = finished(found[1])
    text = as_text(content.blocks)
    if content.author:  # so that it can be searched for
        text = f"{content.author}\n\n{text}"
    yield _page(file, content.title, text, "pdf", content.published, content.language)


# A further kind of file is a further line: what turns its bytes into pages, by the suffix of its name.
READERS: dict[str, Callable[[SourceFile, bytes], Iterator[Document]]] = {
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".txt": _read_text,
    ".rst": _read_rst,
    ".html": _read_html,
    ".htm": _read_html,
    ".pdf": _read_pdf,
}
