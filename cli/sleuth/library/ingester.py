"""Adds files and web pages to the library and counts the outcome."""

import re
import time
from collections.abc import Callable, Iterable, Sequence

from sleuth.base.i18n import tr
from sleuth.base.urls import domain
from sleuth.library import files
from sleuth.library.library import Counts, Document, Library
from sleuth.pages.blocks import MAX_TEXT_CHARS
from sleuth.pages.page import Page, PageEvent
from sleuth.pages.reader import Reader

PAGES_PER_WRITE = 10  # few, so that an interrupt loses little
PAGES_PER_READ = 500

OnEvent = Callable[[PageEvent], None]


def is_url(word: str) -> bool:
    """Tell whether a word is the URL of a web page rather than a path."""
    return re.match(r"https?://", word, re.IGNORECASE) is not None


def to_document(page: Page, url: str = "") -> Document:
    """Return a page as a document, under `url` or its final URL; an archived copy, under that of the page itself."""
    url = url or (page.url if page.archived else page.final_url) or page.url
    text = page.whole_text
    return Document(
        url=url,
        title=page.title or page.url,
        text=text,
        site=domain(url),
        modified=time.time() - page.age,
        size=len(text),
        kind="html",
        source="page",
        published=page.published,
        lang=page.language,
    )


class Ingester:
    """Adds files and web pages to a library."""

    def __init__(self, library: Library, reader: Callable[[], Reader]) -> None:
        self.library, self.reader = library, reader
        self.counts = Counts()
        self.skipped: list[tuple[str, str]] = []  # path or URL, and the reason
        self._bookmarks: dict[str, Document] = {}  # whose pages are still to be read
        self._unwritten: list[Document] = []

    def add_files(
        self, paths: Sequence[str], *, fetch: bool = False, progress: Callable[[int], None] | None = None
    ) -> None:
        """Add files, and folders with everything below; with `fetch`, bookmarks wait for `add_pages`."""

        def is_known(url: str, modified: float, size: int) -> bool:
            known = self.library.holds(url, modified, size)
            self.counts = self.counts.plus(Counts(unchanged=known))
            return known

        def documents() -> Iterable[Document]:
            for document in files.read(paths, is_known=is_known, on_skip=self._skip):
                if fetch and document.source == "bookmark":
                    self._bookmarks[document.url] = document
                else:
                    yield document

        def count(written: Counts) -> None:
            self.counts = self.counts.plus(written)
            if progress:
                progress(sum(self.counts))

        self.library.add(documents(), progress=count)

    def add_pages(self, urls: Sequence[str], *, refresh: bool = False, on_event: OnEvent | None = None) -> None:
        """Read and add web pages and the pages of bookmarks; if one fails, its bookmark is added instead.

        A bookmarked page that is already in the library is read again only with `refresh`.
        """
        bookmarked = [url for url in self._bookmarks if refresh or not self.library.has_read(url)]
        wanted = list(dict.fromkeys([*urls, *bookmarked]))
        try:
            for start in range(0, len(wanted), PAGES_PER_READ):
                self._read(wanted[start : start + PAGES_PER_READ], start, len(wanted), refresh, on_event)
        finally:  # also when interrupted
            self._flush()
            left, self._bookmarks = self._bookmarks, {}
            self.counts = self.counts.plus(self.library.add(left.values()))

    def _read(self, urls: Sequence[str], before: int, total: int, refresh: bool, on_event: OnEvent | None) -> None:
        def handle(event: PageEvent) -> None:
            if event.page:
                self._add(event.page)
            if on_event:
                on_event(event._replace(done=before + event.done, total=total))

        self.reader().read(urls, max_chars=MAX_TEXT_CHARS, cache="refresh" if refresh else "use", on_event=handle)

    def _add(self, page: Page) -> None:
        if not page.ok:
            self._skip(page.url, page.problem or tr("the page could not be read; for details, add --debug"))
            return
        document = to_document(page, page.url)
        if bookmark := self._bookmarks.pop(page.url, None):
            document = document.bookmarked(bookmark.bookmark)
        self._unwritten.append(document)
        if len(self._unwritten) >= PAGES_PER_WRITE:
            self._flush()

    def _flush(self) -> None:
        self.counts = self.counts.plus(self.library.add(self._unwritten))
        self._unwritten.clear()

    def _skip(self, place: str, reason: str) -> None:
        self.skipped.append((place, reason))
