"""Files and folders as library documents: Markdown, text, HTML, PDF and browser bookmarks."""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator

from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.library.bookmarks import bookmarks, is_bookmarks
from sleuth.library.html import read_markup, tidy
from sleuth.library.library import Document
from sleuth.pages.blocks import as_text, from_markdown
from sleuth.pages.charsets import decode, is_binary
from sleuth_providers.errors import DeadlineError, ProviderError
from sleuth_providers.records import Record

MAX_FILE_BYTES = 20_000_000
MAX_TEXT_CHARS = 2_000_000  # of one document: a thick book
PDF_GRACE_S = 5.0  # after its deadline, a PDF file may still hand over the pages read until then
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

IsKnown = Callable[[str, float, int], bool]  # URL, time of modification, size
OnSkip = Callable[[str, str], None]  # path, reason


class SourceFile(Record):
    """A file that can be read."""

    path: str
    url: str
    modified: float
    size: int

    @property
    def name(self) -> str:
        """Return the file name without its extension, as a title."""
        return clean(os.path.splitext(os.path.basename(self.path))[0].encode("utf-8", "replace").decode(), 300)


def check(paths: Iterable[str]) -> None:
    """Raise RequestError if a path does not exist."""
    for path in paths:
        if not os.path.exists(os.path.expanduser(path)):
            raise RequestError("no such file or folder: {path}", "check the name: ls -d {path}", path=path)


def read(
    paths: Iterable[str], *, is_known: IsKnown | None = None, on_skip: OnSkip = lambda path, reason: None
) -> Iterator[Document]:
    """Yield the documents of files and folders, except known files; `on_skip` gets what cannot be read."""
    for path in paths:
        for file in _files(os.path.abspath(os.path.expanduser(path)), on_skip):
            if not (is_known and is_known(file.url, file.modified, file.size)):
                yield from _documents(file, on_skip)


def _files(path: str, on_skip: OnSkip) -> Iterator[SourceFile]:
    if not os.path.isdir(path):
        if file := _file(path, on_skip):
            yield file
        return
    visited: set[tuple[int, int]] = set()
    folders = [path]
    while folders:
        folder = folders.pop()
        below: list[str] = []
        for name, is_folder in _names(folder, visited, on_skip):
            entry = os.path.join(folder, name)
            if is_folder:
                below.append(entry)
            elif os.path.splitext(name)[1].lower() not in READERS:
                on_skip(entry, tr("unsupported file type"))
            elif file := _file(entry, on_skip):
                yield file
        folders += reversed(below)


def _names(folder: str, visited: set[tuple[int, int]], on_skip: OnSkip) -> list[tuple[str, bool]]:
    """Return the visible entries of a folder; none if it was visited before, through a symbolic link."""
    try:
        state = os.stat(folder)
        if (state.st_dev, state.st_ino) in visited:
            return []
        visited.add((state.st_dev, state.st_ino))
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
        return [(name, os.path.isdir(os.path.join(folder, name))) for name in names]
    except OSError as problem:
        on_skip(folder, _reason(problem))
        return []


def _reason(problem: OSError) -> str:
    return tr("cannot be read ({reason})", reason=problem.strerror or problem)


def _file(path: str, on_skip: OnSkip) -> SourceFile | None:
    from pathlib import Path

    try:
        state = os.stat(path)
    except OSError as problem:
        on_skip(path, _reason(problem))
        return None
    if not stat.S_ISREG(state.st_mode):
        on_skip(path, tr("not a regular file"))
    elif state.st_size > MAX_FILE_BYTES:
        on_skip(path, tr("larger than {limit} MB", limit=MAX_FILE_BYTES // 1_000_000))
    else:
        return SourceFile(path, Path(path).as_uri(), state.st_mtime, state.st_size)
    return None


def _documents(file: SourceFile, on_skip: OnSkip) -> Iterator[Document]:
    try:
        with open(file.path, "rb") as stream:
            data = stream.read(MAX_FILE_BYTES)
    except OSError as problem:
        on_skip(file.path, _reason(problem))
        return
    is_pdf = data.startswith(b"%PDF-")
    reader = _read_pdf if is_pdf else READERS.get(os.path.splitext(file.path)[1].lower(), _read_text)
    if reader is not _read_pdf and is_binary(data):
        on_skip(file.path, tr("not text"))
        return
    try:
        found = [document for document in reader(file, data) if document.text or document.kind == "bookmark"]
    except ProviderError as problem:
        on_skip(file.path, tr(problem.detail or "a PDF file without text, probably scanned images"))
        return
    for document in found:
        if len(document.text) > MAX_TEXT_CHARS:
            on_skip(file.path, tr("only its first {limit} characters are searched", limit=MAX_TEXT_CHARS))
        yield document._replace(text=document.text[:MAX_TEXT_CHARS])
    if not found:
        on_skip(file.path, tr("no text in it"))


def _document(file: SourceFile, title: str, text: str, kind: str, published: str = "", lang: str = "") -> Document:
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
    yield _document(file, "", tidy(decode(data)), "text")


def _read_rst(file: SourceFile, data: bytes) -> Iterator[Document]:
    text = tidy(decode(data))
    heading = re.search(r"^([^\s].*)\n([=\-~^\"'*+#])\2{2,}[ \t]*$", text, re.MULTILINE)
    yield _document(file, heading[1] if heading else "", text, "rst")


def _read_markdown(file: SourceFile, data: bytes) -> Iterator[Document]:
    facts, body = front_matter("\n".join(decode(data).splitlines()))
    blocks = from_markdown(body[: 2 * MAX_TEXT_CHARS], alt_text=True)
    heading = next((one.text.replace("`", "") for one in blocks if one.kind == "heading"), "")
    published, lang = facts.get("date", ""), facts.get("lang", "")
    yield _document(file, facts.get("title") or heading, as_text(blocks), "markdown", published, lang)


def front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the metadata of a Markdown file, between two lines of dashes, and the rest."""
    found = re.match(r"---[ \t]*\n(.{0,5000}?)\n(?:---|\.\.\.)[ \t]*\n", text, re.DOTALL)
    if not found:
        return {}, text
    facts = re.findall(r"^(\w+):[ \t]*[\"']?(.*?)[\"']?[ \t]*$", found[1], re.MULTILINE)
    return {name.lower(): value for name, value in facts}, text[found.end() :]


def _read_html(file: SourceFile, data: bytes) -> Iterator[Document]:
    markup = decode(data, markup=True)
    if is_bookmarks(markup):
        yield from bookmarks(markup, file.modified)
        return
    found = read_markup(markup)
    yield _document(file, found.title, found.text, "html", found.published, found.language)


def _read_pdf(file: SourceFile, data: bytes) -> Iterator[Document]:
    """Read a PDF file in a thread that is abandoned after the deadline: a hostile file may never end."""
    from sleuth.pages.chain import Chain, Layer
    from sleuth.pages.extract import ExtractedPage, finished
    from sleuth.pages.pdf import PDF_TIMEOUT_S, from_pdf

    chain: Chain[ExtractedPage] = Chain(time.monotonic() + PDF_TIMEOUT_S + PDF_GRACE_S, lambda: False)
    found = chain.run(iter([Layer("page", file.name, lambda until: from_pdf(data, until - PDF_GRACE_S))]))
    if not found:
        raise chain.errors.get("page") or DeadlineError("a PDF file that takes too long to read")
    content = finished(found[1])
    text = as_text(content.blocks)
    if content.author:  # makes it searchable
        text = f"{content.author}\n\n{text}"
    yield _document(file, content.title, text, "pdf", content.published, content.language)


# To support another kind of file, add a reader for its extension.
READERS: dict[str, Callable[[SourceFile, bytes], Iterator[Document]]] = {
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".txt": _read_text,
    ".rst": _read_rst,
    ".html": _read_html,
    ".htm": _read_html,
    ".pdf": _read_pdf,
}
