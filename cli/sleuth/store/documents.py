"""Files and folders as pages for the library: Markdown, text, HTML and browser bookmarks, read one by one."""

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from html import unescape
from typing import Any, NamedTuple

from sleuth.errors import RequestError
from sleuth.language import say
from sleuth.store.bookmarks import bookmarks, is_bookmarks
from sleuth.store.charsets import decode, is_binary
from sleuth.store.library import Page
from sleuth.store.markdown import front_matter, plain, tidy, without_code
from sleuth.text import clean

MAX_FILE = 20_000_000  # bytes
MAX_TEXT = 2_000_000  # characters of one page: a thick book
MAX_DEPTH = 1_000  # elements inside one another; browsers stop at 512, and parsers take for ever beyond
FURNITURE = frozenset(("script", "style", "noscript", "template", "nav", "footer", "aside", "svg", "iframe", "button"))
INLINE = re.compile(
    r"a|abbr|b|bdi|bdo|cite|code|data|del|dfn|em|font|i|ins|kbd|mark|q|r[bpt]|ruby|s|samp|small|span|strong"
    r"|su[bp]|time|tt|u|var|wbr"
)
# Elements that hold others and end: not those without an end, or whose end is often left out.
NESTING = re.compile(
    r"<(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr"
    r"|p|li|dt|dd|tr|td|th|option|thead|tbody|tfoot)\b)[a-z]",
    re.IGNORECASE,
)
# What nobody reads, and some of which parsers choke on: code, choices, and tags longer than a screen.
UNREAD = re.compile(r"<(script|style|select)\b[^<]*+(?:<(?!/\1\b)[^<]*+)*+|<[a-z][^<>]{10000,}+>", re.IGNORECASE)
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")

Known = Callable[[str, float, int], bool]
Skip = Callable[[str, str], None]


class File(NamedTuple):
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
        if re.match(r"https?://", path, re.IGNORECASE):
            raise RequestError(
                "{path} is a web page, and sleuth adds files only", "save the page and add the file", path=path
            )
        if not os.path.exists(os.path.expanduser(path)):
            raise RequestError("there is no file or folder {path}", "check the name: ls -d {path}", path=path)


def read(paths: Iterable[str], *, known: Known | None = None, skip: Skip | None = None) -> Iterator[Page]:
    """Yield the pages of files and folders; what is `known` is not read again, and `skip` hears what cannot be read."""
    tell = skip or (lambda path, reason: None)
    for path in paths:
        for file in _files(os.path.abspath(os.path.expanduser(path)), tell):
            if known and known(file.url, file.modified, file.size):
                continue
            yield from _pages(file, tell)


def _files(path: str, skip: Skip) -> Iterator[File]:
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
                skip(entry, say("not a kind of file that can be read"))
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
        skip(folder, say("cannot be read ({reason})", reason=problem.strerror or problem))
        return []


def _file(path: str, skip: Skip) -> File | None:
    from pathlib import Path

    try:
        state = os.stat(path)
    except OSError as problem:
        skip(path, say("cannot be read ({reason})", reason=problem.strerror or problem))
        return None
    if not stat.S_ISREG(state.st_mode):
        skip(path, say("not an ordinary file"))
        return None
    if state.st_size > MAX_FILE:
        skip(path, say("larger than {limit} MB", limit=MAX_FILE // 1_000_000))
        return None
    return File(path, Path(path).as_uri(), state.st_mtime, state.st_size)


def _pages(file: File, skip: Skip) -> Iterator[Page]:
    try:
        with open(file.path, "rb") as stream:
            data = stream.read(MAX_FILE)
    except OSError as problem:
        skip(file.path, say("cannot be read ({reason})", reason=problem.strerror or problem))
        return
    if is_binary(data):
        skip(file.path, say("not text"))
        return
    reader = READERS.get(os.path.splitext(file.path)[1].lower(), _read_text)
    empty = True
    for page in reader(file, data):
        if page.text or page.kind == "bookmark":
            empty = False
            if len(page.text) > MAX_TEXT:
                skip(file.path, say("only its first {limit} characters are searched", limit=MAX_TEXT))
            yield page._replace(text=page.text[:MAX_TEXT])
    if empty:
        skip(file.path, say("nothing to read in it"))


def _page(file: File, title: str, text: str, kind: str, published: str = "", lang: str = "") -> Page:
    dated = DATE.match(published)
    return Page(
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


def _read_text(file: File, data: bytes) -> Iterator[Page]:
    yield _page(file, "", tidy(decode(data)), "text")


def _read_rst(file: File, data: bytes) -> Iterator[Page]:
    text = tidy(decode(data))
    heading = re.search(r"^([^\s].*)\n([=\-~^\"'*+#])\2{2,}[ \t]*$", text, re.MULTILINE)
    yield _page(file, heading[1] if heading else "", text, "rst")


def _read_markdown(file: File, data: bytes) -> Iterator[Page]:
    facts, body = front_matter(tidy(decode(data)))
    heading = re.search(r"^#{1,6} (.+)", without_code(body), re.MULTILINE)
    title = facts.get("title") or (plain(heading[1].rstrip("# ")) if heading else "")
    yield _page(file, title, plain(body), "markdown", facts.get("date", ""), facts.get("lang", ""))


def _read_html(file: File, data: bytes) -> Iterator[Page]:
    markup = decode(data, markup=True)
    if is_bookmarks(markup):
        yield from bookmarks(markup, file.modified)
        return
    markup = UNREAD.sub("", markup)
    if is_deep(markup):
        title = re.search(r"<title[^<>]*>([^<]{1,500})", markup, re.IGNORECASE)
        text = re.sub(r"<[^<>]*>", " ", markup)
        yield _page(file, unescape(title[1]) if title else "", tidy(unescape(text)), "html")
        return
    yield _parsed(file, markup)


# A further kind of file is a further line: what turns its bytes into pages, by the suffix of its name.
READERS: dict[str, Callable[[File, bytes], Iterator[Page]]] = {
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".txt": _read_text,
    ".rst": _read_rst,
    ".html": _read_html,
    ".htm": _read_html,
}


def _parsed(file: File, markup: str) -> Page:
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(markup)
    title = tree.css_first("title") or tree.css_first("h1")
    page = _page(
        file,
        title.text() if title else "",
        "",
        "html",
        _attribute(tree.css_first('meta[property="article:published_time"], meta[name="date"]'), "content")
        or _attribute(tree.css_first("time[datetime]"), "datetime"),
        _attribute(tree.css_first("html[lang]"), "lang"),
    )
    whole = _text(tree.body)
    main = _text(tree.css_first("main, [role=main], article"))
    return page._replace(text=main if len(main) > 0.3 * len(whole) else whole)


def _text(root: Any) -> str:
    """Return what can be read in an element: lines end where blocks do, words stay whole across inline elements."""
    parts: list[str] = []
    ends: list[Any] = []  # elements that we are inside of
    node = root.child if root else None
    while node or ends:
        if node is None:
            node = ends.pop()
            if not INLINE.fullmatch(node.tag or ""):
                parts.append("\n")
            node = node.next
        elif node.tag == "-text":
            parts.append(node.text_content or "")
            node = node.next
        elif node.tag in FURNITURE:
            node = node.next
        else:
            if not INLINE.fullmatch(node.tag or ""):
                parts.append("\n")
            ends.append(node)
            node = node.child
    return tidy("".join(parts))


def _attribute(node: object, name: str) -> str:
    attributes = getattr(node, "attributes", None) or {}
    return str(attributes.get(name) or "")


def is_deep(markup: str) -> bool:
    """Tell whether elements are inside one another deeper than anybody writes."""
    depth = 0
    for tag in NESTING.finditer(markup):
        depth = max(0, depth - 1) if tag[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False
