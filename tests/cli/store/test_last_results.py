"""What is kept of a search for `sleuth open` and `sleuth again`."""

from pathlib import Path

from sleuth.relevance.hit import Hit
from sleuth.store.last_results import SavedSearch, load, save


def kept(folder: Path, hit: Hit) -> Hit:
    assert save(str(folder), SavedSearch("walrus", "library", 1.0, (hit,)))
    return load(str(folder))[0].results[0]


def test_texts_that_begin_like_a_url_are_kept(tmp_path: Path) -> None:
    hit = Hit(1, "httpx · PyPI", "https://a.example/", "https only", None, "httpbin", providers=("http-x",))
    assert kept(tmp_path, hit) == hit


def test_url_of_a_file_is_kept_whole(tmp_path: Path) -> None:
    hit = Hit(1, "Notes", (tmp_path / f"{'笔' * 60}.md").as_uri())
    assert len(hit.url) > 500
    assert kept(tmp_path, hit) == hit


def test_control_characters_are_removed(tmp_path: Path) -> None:
    hit = kept(tmp_path, Hit(1, "a\x1b[31mb", "https://a.example/\x07", "c\x00d"))
    assert not set("\x1b\x07\x00") & set(hit.title + hit.url + hit.snippet)
