"""Files and folders as library documents: Markdown, text, HTML, PDF and browser bookmarks."""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator

from sleuth.base.errors import RequestError
from sleuth.base.files import read_file
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import mask_login
from sleuth.library.bookmarks import bookmarks, is_bookmarks
from sleuth.library.html import read_markup
from sleuth.library.library import Document
from sleuth.pages.blocks import as_text, from_plain
from sleuth.pages.chain import LayerAttempt
from sleuth.pages.charsets import decode, is_binary
from sleuth.pages.errors import UnreadableError
from sleuth.pages.extract import ExtractedPage, finished, read_markdown
from sleuth.pages.links import PageLink, links
from sleuth.pages.page import Page, to_page
from sleuth.pages.worker_pool import POOL
from sleuth_providers.base import Response
from sleuth_providers.errors import ProviderError
from sleuth_providers.records import Record

MAX_FILE_BYTES = 20_000_000
MAX_TEXT_CHARS = 2_000_000  # of one document: a thick book
PDF_TIMEOUT_S = 20.0  # for a PDF file; then only the pages read so far are used
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
            shown = mask_login(path) if ":" in path else path  # it may be meant as a URL
            raise RequestError("no such file or folder: {path}", "check the name: ls -d {path}", path=shown)


def read(
    paths: Iterable[str], *, is_known: IsKnown | None = None, on_skip: OnSkip = lambda path, reason: None
) -> Iterator[Document]:
    """Yield the documents of files and folders, except known files; `on_skip` gets what cannot be read."""
    for path in paths:
        for found in _files(os.path.abspath(os.path.expanduser(path)), on_skip):
            try:
                file = _source_file(found)
                if not (is_known and is_known(file.url, file.modified, file.size)):
                    yield from _documents(file, on_skip)
            except (OSError, ProviderError) as problem:
                on_skip(found, _reason(problem))


def _files(path: str, on_skip: OnSkip) -> Iterator[str]:
    """Yield a file, or the supported files below a folder.

    Links are followed inside the folder, and each folder is read once. A link that leads out of it is skipped: in a
    downloaded folder it may point at the user's secrets.
    """
    if not os.path.isdir(path):
        yield path
        return
    root = os.path.join(os.path.realpath(path), "")
    visited: set[tuple[int, int]] = set()
    folders = [path]
    while folders:
        folder = folders.pop()
        try:
            state = os.stat(folder)
            names = sorted(os.listdir(folder)) if (state.st_dev, state.st_ino) not in visited else []
        except OSError as problem:
            on_skip(folder, _reason(problem))
            continue
        visited.add((state.st_dev, state.st_ino))
        entries = [os.path.join(folder, name) for name in names if not name.startswith(".")]
        outside = [entry for entry in entries if os.path.islink(entry) and not _is_inside(entry, root)]
        for entry in outside:
            on_skip(entry, tr("a link to a target outside the folder"))
        entries = [entry for entry in entries if entry not in outside]
        below = [entry for entry in entries if os.path.isdir(entry)]
        folders += reversed(below)
        for entry in entries:
            if _extension(entry) in KINDS and entry not in below:
                yield entry
            elif entry not in below:
                on_skip(entry, tr("unsupported file type"))


def _is_inside(path: str, root: str) -> bool:
    """Tell whether a link leads to a folder or a place below it, without hidden folders on the way."""
    real = os.path.join(os.path.realpath(path), "")
    return real.startswith(root) and "/." not in real[len(root) - 1 :].replace(os.sep, "/")


def _extension(path: str) -> str:
    return os.path.splitext(path)[1].lower()


def _reason(problem: OSError | ProviderError) -> str:
    if isinstance(problem, ProviderError):
        return tr(problem.detail or "the PDF contains no text, probably scanned images")
    return tr("cannot be read ({reason})", reason=problem.strerror or problem)


def _source_file(path: str) -> SourceFile:
    from pathlib import Path

    state = os.stat(path)
    if not stat.S_ISREG(state.st_mode):
        raise UnreadableError("not a regular file")
    if state.st_size > MAX_FILE_BYTES:
        raise UnreadableError("larger than {limit} MB", limit=MAX_FILE_BYTES // 1_000_000)
    return SourceFile(path, Path(path).as_uri(), state.st_mtime, state.st_size)


def file_page(url: str) -> Page:
    """Return the file at a file: URL as a page; if it cannot be read, with the reason."""
    try:
        content = finished(_content(_source_file(_path(url)))[1])
        if not content.blocks:
            raise UnreadableError("no text in it")
    except (OSError, ProviderError) as problem:
        return Page(url, attempts=(LayerAttempt("file", "unreadable", _reason(problem)),))
    return to_page(url, content, MAX_TEXT_CHARS)._replace(layer="file")


def file_links(url: str) -> list[PageLink]:
    """Return the web links of an HTML or Markdown file, or raise OSError."""
    path = _source_file(_path(url)).path
    text = decode(read_file(path, MAX_FILE_BYTES, own=False), markup=True)
    return links(text, url, KINDS.get(_extension(path), "markdown"))


def _path(url: str) -> str:
    from urllib.request import url2pathname

    return url2pathname(url.removeprefix("file://").partition("#")[0])


def _content(file: SourceFile) -> tuple[str, ExtractedPage]:
    """Return the kind and the content of a file; a file that is not named after a known kind is text."""
    data = read_file(file.path, MAX_FILE_BYTES, own=False)
    kind = "pdf" if data.startswith(b"%PDF-") else KINDS.get(_extension(file.path), "text")
    if kind != "pdf" and is_binary(data):
        raise UnreadableError("not text")
    content = READERS[kind](data)
    title = clean(content.title, 300) or file.name
    dated = DATE.match(content.published)
    published = dated[0] if dated else time.strftime("%Y-%m-%d", time.gmtime(file.modified))
    return kind, content._replace(title=title, published=published, final_url=file.url)


def _documents(file: SourceFile, on_skip: OnSkip) -> Iterator[Document]:
    if KINDS.get(_extension(file.path)) == "html":
        markup = decode(read_file(file.path, MAX_FILE_BYTES, own=False), markup=True)
        if is_bookmarks(markup):
            yield from bookmarks(markup, file.modified)
            return
    kind, content = _content(file)
    text = as_text(content.blocks)
    if content.author:  # makes it searchable
        text = f"{content.author}\n\n{text}"
    if not text:
        raise UnreadableError("no text in it")
    if len(text) > MAX_TEXT_CHARS:
        on_skip(file.path, tr("only the first {limit} characters are indexed", limit=MAX_TEXT_CHARS))
    yield Document(
        url=file.url,
        title=content.title,
        text=text[:MAX_TEXT_CHARS],
        site=clean(os.path.basename(os.path.dirname(file.path)).encode("utf-8", "replace").decode(), 100),
        modified=file.modified,
        size=file.size,
        kind=kind,
        source="file",
        published=content.published,
        lang=clean(content.language, 20),
    )


def _from_rst(data: bytes) -> ExtractedPage:
    text = decode(data)
    heading = re.search(r"^([^\s].*)\n([=\-~^\"'*+#])\2{2,}[ \t]*$", text, re.MULTILINE)
    return ExtractedPage(heading[1] if heading else "", blocks=from_plain(text))


def _from_pdf(data: bytes) -> ExtractedPage:
    """Read a PDF file in a worker process: a hostile file may never end, or need too much memory."""
    if b"%PDF-" not in data[:1024]:
        raise UnreadableError("the PDF is damaged")
    return POOL.extract(Response(200, {"content-type": "application/pdf"}, data), "", time.monotonic() + PDF_TIMEOUT_S)


KINDS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".rst": "rst",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
}
# To support another kind of file, add its extension and a reader.
READERS: dict[str, Callable[[bytes], ExtractedPage]] = {
    "markdown": lambda data: read_markdown(decode(data)[: 2 * MAX_TEXT_CHARS]),
    "text": lambda data: ExtractedPage(blocks=from_plain(decode(data))),
    "rst": _from_rst,
    "html": lambda data: read_markup(decode(data, markup=True)),
    "pdf": _from_pdf,
}
