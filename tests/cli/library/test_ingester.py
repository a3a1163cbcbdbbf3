"""Web pages become documents, and are written a few at a time."""

import time
from pathlib import Path
from typing import Any

import pytest

from sleuth.library import ingester
from sleuth.library.ingester import Ingester, to_document
from sleuth.library.library import Counts, Library
from sleuth.pages.page import Page, PageEvent

REQUESTED, FINAL = "http://example.org/old", "https://www.example.org/new"


def test_a_page_is_stored_under_its_final_url() -> None:
    before = time.time()
    document = to_document(Page(REQUESTED, FINAL, "T", "text", published="2026-01-02", language="de", age=60.0))
    assert (document.url, document.site, document.title, document.published, document.lang) == (
        FINAL,
        "example.org",
        "T",
        "2026-01-02",
        "de",
    )
    assert before - 60 <= document.modified <= time.time() - 60
    assert to_document(Page(REQUESTED)).title == REQUESTED


def test_an_archived_copy_is_stored_under_the_url_of_the_page() -> None:
    page = Page(REQUESTED, "https://archive.example/web/2020/http://example.org/old", archived="2020-01-02")
    assert to_document(page).url == REQUESTED


def test_pages_are_written_a_few_at_a_time(
    tmp_path: Path, site: Any, make_reader: Any, make_article: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingester, "PAGES_PER_WRITE", 2)
    monkeypatch.setattr(ingester, "PAGES_PER_READ", 3)
    urls = [site.page(f"/{number}", make_article(f"Page {number}")) for number in range(7)]
    library = Library(str(tmp_path / "library.db"))
    events: list[PageEvent] = []
    written: list[int] = []

    def on_event(event: PageEvent) -> None:
        events.append(event)
        written.append(sum(adder.counts))

    adder = Ingester(library, make_reader)
    adder.add_pages([*urls, site.address + "/none", urls[0]], on_event=on_event)
    assert adder.counts == Counts(added=7)
    assert [url for url, _ in adder.skipped] == [site.address + "/none"]
    assert written[-1] >= 6
    assert (events[-1].done, events[-1].total) == (8, 8)
    assert [event.done for event in events] == sorted(event.done for event in events)
    library.close()
