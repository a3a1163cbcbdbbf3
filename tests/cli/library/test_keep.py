"""Pages in the library's form, and what is put in when several things go wrong."""

import time
from pathlib import Path
from typing import Any

import pytest

from sleuth.library import keep
from sleuth.library.keep import Ingester, to_document
from sleuth.library.library import Counts, Library
from sleuth.pages.page import Page, PageEvent

ASKED, FOUND = "http://example.org/old", "https://www.example.org/new"


def test_a_page_is_kept_where_it_was_found() -> None:
    kept = to_document(Page(ASKED, FOUND, "T", "text", published="2026-01-02", language="de", age=60.0))
    assert (kept.url, kept.site, kept.title, kept.published, kept.lang) == (
        FOUND,
        "example.org",
        "T",
        "2026-01-02",
        "de",
    )
    assert time.time() - kept.modified == pytest.approx(60, abs=5)
    assert to_document(Page(ASKED)).title == ASKED


def test_a_copy_is_kept_as_the_page_it_is_a_copy_of() -> None:
    page = Page(ASKED, "https://archive.example/web/2020/http://example.org/old", archived="2020-01-02")
    assert to_document(page).url == ASKED


def test_pages_are_written_a_few_at_a_time(
    tmp_path: Path, site: Any, make_reader: Any, make_article: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keep, "FLUSH", 2)
    monkeypatch.setattr(keep, "CHUNK", 3)
    urls = [site.page(f"/{number}", make_article(f"Page {number}")) for number in range(7)]
    library = Library(str(tmp_path / "library.db"))
    told: list[PageEvent] = []
    kept: list[int] = []

    def tell(event: PageEvent) -> None:
        told.append(event)
        kept.append(sum(keeper.counts))

    keeper = Ingester(library, make_reader)
    keeper.add_pages([*urls, site.address + "/none", urls[0]], tell=tell)
    assert keeper.counts == Counts(added=7)
    assert [url for url, _ in keeper.skipped] == [site.address + "/none"]
    assert kept[-1] >= 6
    assert (told[-1].done, told[-1].total) == (8, 8)
    assert [event.done for event in told] == sorted(event.done for event in told)
    library.close()
