"""Past queries are found again, and gone for good when they are to be forgotten."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

from sleuth.store.database import open_database
from sleuth.store.history import clear, clear_prompts, entries, history_as_json
from sleuth.store.migrations import MIGRATIONS

AT = 1_700_000_000.0
COLUMNS = "at, query, providers, outcome, results, elapsed_ms, cached"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_database(str(tmp_path / "sleuth.db"), MIGRATIONS)) as connection:
        yield connection


def add(ledger: sqlite3.Connection, *queries: str | None) -> None:
    for query in queries:
        row = (AT, query, "searxng", "success", 5, 120, True)
        ledger.execute(f"INSERT INTO search ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", row)


def listed(ledger: sqlite3.Connection, *words: str, count: int | None = None) -> list[str]:
    return [entry.query for entry in entries(ledger, words, count)]


def test_words_match_in_any_order_and_case(ledger: sqlite3.Connection) -> None:
    add(ledger, "Rust async", "ASYNC python", "Straße in Zürich", "日本語 検索")
    assert listed(ledger, "async") == ["ASYNC python", "Rust async"]
    assert listed(ledger, "ASYNC", "rust") == ["Rust async"]
    assert listed(ledger, "strasse", "ZÜRICH") == ["Straße in Zürich"]
    assert listed(ledger, "検索") == ["日本語 検索"]
    assert listed(ledger, "%") == []
    assert listed(ledger, "async", count=1) == ["ASYNC python"]


def test_entry_has_the_published_form(ledger: sqlite3.Connection) -> None:
    add(ledger, "one")
    document = history_as_json(entries(ledger)[0])
    assert datetime.fromisoformat(document.pop("at")).timestamp() == AT
    assert document == {
        "number": 1,
        "query": "one",
        "providers": ["searxng"],
        "outcome": "success",
        "results": 5,
        "elapsedMs": 120,
        "cached": True,
    }


def remains(folder: Path, text: str) -> list[str]:
    return [path.name for path in sorted(folder.rglob("*")) if path.is_file() and text.encode() in path.read_bytes()]


def test_cleared_queries_are_in_no_file(ledger: sqlite3.Connection, tmp_path: Path) -> None:
    add(ledger, *(f"whale number {number} " + "x" * 300 for number in range(500)))
    ledger.execute("DELETE FROM search WHERE id % 3 = 0")  # leaves remains on pages that are used no more
    assert remains(tmp_path, "whale")
    assert clear(ledger)
    assert remains(tmp_path, "whale") == []
    assert listed(ledger) == []
    assert ledger.execute("SELECT count(*), sum(results) FROM search").fetchone()[:] == (334, 1670)


def test_prompt_history_is_cleared_too(tmp_path: Path) -> None:
    (tmp_path / "prompt_history").write_bytes(b"blue whale\nblue sky\n\xff\n")
    (tmp_path / "chat_history").write_text("Whales?\n")
    (tmp_path / "sleuth.log").write_text("whale\n")
    os.chmod(tmp_path / "prompt_history", 0o600)
    assert clear_prompts(str(tmp_path), ("WHALE",)) == 2
    assert (tmp_path / "prompt_history").read_bytes() == b"blue sky\n\xff\n"
    assert (tmp_path / "prompt_history").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "chat_history").read_bytes() == b""
    assert clear_prompts(str(tmp_path)) == 2
    assert (tmp_path / "prompt_history").read_bytes() == b""
    assert (tmp_path / "sleuth.log").read_text() == "whale\n"
    assert clear_prompts(str(tmp_path / "nowhere")) == 0


def test_prompt_history_behind_a_link_is_cleared_and_a_pipe_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("blue whale\n")
    (tmp_path / "chat_history").symlink_to("elsewhere")
    os.mkfifo(tmp_path / "prompt_history")
    assert clear_prompts(str(tmp_path)) == 1
    assert (tmp_path / "elsewhere").read_bytes() == b""
    assert (tmp_path / "chat_history").is_symlink()
