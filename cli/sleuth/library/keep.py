"""What is put into the library: files and folders as they are, web pages once they have been read."""

import re
import time
from collections.abc import Callable, Iterable, Sequence

from sleuth.base.i18n import tr
from sleuth.base.urls import domain
from sleuth.library import ingest
from sleuth.library.library import Counts, Library
from sleuth.library.library import Document as Kept
from sleuth.pages.blocks import MAX_TEXT
from sleuth.pages.page import Page, PageEvent
from sleuth.pages.reader import Reader

FLUSH = 10  # pages that are written together: what was read is kept, whatever happens next
CHUNK = 500  # pages that are asked for together

Tell = Callable[[PageEvent], None]


def is_url(word: str) -> bool:
    """Tell whether a word is the address of a web page, not the name of a file."""
    return re.match(r"https?://", word, re.IGNORECASE) is not None


def to_document(page: Page, url: str = "") -> Kept:
    """Return a page in the library's form, under the address it was found at; a copy, under that of the page itself."""
    where = url or (page.url if page.archived else page.final_url) or page.url
    return Kept(
        where,
        page.title or page.url,
        page.text,
        domain(where),
        time.time() - page.age,
        len(page.text),
        "html",
        "page",
        page.published,
        page.language,
    )


class Ingester:
    """Puts things into the library and counts what became of them."""

    def __init__(self, library: Library, reader: Callable[[], Reader]) -> None:
        self.library, self.reader = library, reader
        self.counts = Counts()
        self.skipped: list[tuple[str, str]] = []  # what, and why
        self._bookmarks: dict[str, Kept] = {}  # whose pages are still to be read
        self._read: list[Kept] = []

    def add_files(
        self, paths: Sequence[str], *, fetch: bool = False, progress: Callable[[int], None] | None = None
    ) -> None:
        """Add files and all below folders; with `fetch`, bookmarks are left to `add_pages`."""
        told = Counts()

        def known(url: str, modified: float, size: int) -> bool:
            held = self.library.holds(url, modified, size)
            self._count(Counts(unchanged=held))
            return held

        def pages() -> Iterable[Kept]:
            for page in ingest.read(paths, known=known, skip=lambda path, why: self.skipped.append((path, why))):
                if fetch and page.source == "bookmark":
                    self._bookmarks[page.url] = page
                else:
                    yield page

        def count(so_far: Counts) -> None:
            nonlocal told
            self._count(Counts(*(now - before for now, before in zip(so_far, told, strict=True))))
            told = so_far
            if progress:
                progress(sum(so_far))

        self.library.add(pages(), progress=count)

    def add_pages(self, urls: Sequence[str], *, refresh: bool = False, tell: Tell | None = None) -> None:
        """Read web pages and bookmarked ones, and add them a few at a time; one that fails leaves its bookmark.

        A bookmarked page that is there already is read again only to `refresh` it.
        """
        bookmarked = [url for url in self._bookmarks if refresh or not self.library.has_read(url)]
        wanted = list(dict.fromkeys([*urls, *bookmarked]))
        try:
            for start in range(0, len(wanted), CHUNK):
                self._read_some(wanted[start : start + CHUNK], start, len(wanted), refresh, tell)
        finally:  # also when interrupted
            self._flush()
            left, self._bookmarks = self._bookmarks, {}
            self._count(self.library.add(left.values()))

    def _read_some(self, urls: Sequence[str], before: int, total: int, refresh: bool, tell: Tell | None) -> None:
        def happened(event: PageEvent) -> None:
            if event.page:
                self._take(event.page)
            if tell:
                tell(event._replace(done=before + event.done, total=total))

        self.reader().read(urls, max_chars=MAX_TEXT, cache="refresh" if refresh else "use", on_event=happened)

    def _take(self, page: Page) -> None:
        if not page.ok:
            self.skipped.append((page.url, page.problem or tr("the page could not be read; --debug tells more")))
            return
        kept = to_document(page, page.url)
        if bookmark := self._bookmarks.pop(page.url, None):  # its folder and its note are still worth finding
            kept = kept._replace(text=f"{kept.text}\n\n{bookmark.text}")
        self._read.append(kept)
        if len(self._read) >= FLUSH:
            self._flush()

    def _flush(self) -> None:
        self._count(self.library.add(self._read))
        self._read.clear()

    def _count(self, counts: Counts) -> None:
        self.counts = Counts(*(map(sum, zip(self.counts, counts, strict=True))))
