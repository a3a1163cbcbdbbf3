"""Results on a terminal."""

import io

import pytest
from tests.conftest import Terminal

from sleuth.base.text import shorten_middle, width
from sleuth.engine.outcome import Outcome
from sleuth.relevance.hit import Hit
from sleuth.render import View
from sleuth.render.rich import render

URL = "https://docs.example.org/a/rather/long/path/to/the/section/about/runtimes.html"


def lines(columns: int, monkeypatch: pytest.MonkeyPatch, out: io.StringIO | None = None, **view: bool) -> list[str]:
    out = out or Terminal()
    monkeypatch.setenv("COLUMNS", str(columns))
    hit = Hit(1, "Title", URL, "Text.", published="2026-11-01")
    render(Outcome("q", "searxng", (hit,)), out, View(color="never", **view))
    return out.getvalue().splitlines()


@pytest.mark.parametrize("columns", [120, 80, 60, 30])
def test_address_is_shown_and_shortened_in_the_middle(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    title, address, *_ = lines(columns, monkeypatch)
    assert title == " 1  Title"
    assert width(address) <= columns
    assert URL in address or (address.startswith("    do") and "…" in address)
    assert ".html" in address


def test_whole_address_is_shown_on_request_and_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"    {URL} · 2026-11-01" in lines(60, monkeypatch, full_urls=True)
    assert f"    {URL} · 2026-11-01" in lines(60, monkeypatch, io.StringIO())


@pytest.mark.parametrize(
    ("text", "columns"), [(URL, 20), ("https://例子.example/中文路径/" * 3, 21), ("short", 9), ("x" * 9, 1)]
)
def test_shortened_text_fits(text: str, columns: int) -> None:
    assert width(shorten_middle(text, columns)) <= columns
