"""SIGKILL at any point of a command that writes: files stay valid, and reported changes are there."""

import json
import os
import random
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import LONG, Home, ProcessResult, well_behaved

from sleuth.base.append import try_lock
from sleuth.doctor.files.new_deployment import make_deployment

pytestmark = pytest.mark.adversarial

KILLS = 84 if LONG else 8  # of each of seven commands


@pytest.fixture
def home(tmp_path: Path, serve: Any) -> Home:
    home = Home(tmp_path, serve(well_behaved).url)
    home.main("search", "-p", "searxng,library", "first")
    return home


def killed(home: Home, words: Callable[[int], list[str]]) -> Iterator[tuple[int, ProcessResult]]:
    """Run a command to its end, then again and again, killed at another point each time; yield each result."""
    chance = random.Random(" ".join(words(0)[:2]))
    ticks = 0
    for number in range(-1, KILLS):
        running = home.start(*words(number))
        if number < 0:
            ticks = running.wait_for_ticks(10**9)
        else:
            running.wait_for_ticks(chance.randint(0, ticks))
            running.process.kill()
        result = running.end()
        if number < 0:
            assert result.exit == 0, result
        check(home)
        yield number, result


def check(home: Home) -> None:
    """Assert that every file is valid and no lock is held."""
    settings = home.path / "config/config.toml"
    if settings.exists():
        tomllib.loads(settings.read_text())
    for path in (home.path / "data").glob("*.db"):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok", path
    for path in [*home.path.rglob("*.lock"), *(home.path / "cache/answers/locks").glob("*")]:
        with path.open() as file:
            assert try_lock(file.fileno()), path


def test_reported_setting_is_stored(home: Home) -> None:
    home.main("config", "set", "websearch.region", "CH")
    allowed: set[int] = set()
    for number, result in killed(home, lambda number: ["config", "set", "cache.max_entries", str(number + 2)]):
        allowed = {number + 2} if result.exit == 0 else allowed | {number + 2}
        settings = tomllib.loads((home.path / "config/config.toml").read_text())
        assert settings["cache"]["max_entries"] in allowed
        assert settings["websearch"] == {"region": "CH"}, "another setting was lost"
    home.main("config", "set", "cache.max_entries", "9")
    assert sorted(os.listdir(home.path / "config")) == ["config.toml", "config.toml.lock"], "temporary files are left"


def test_reported_provider_change_is_stored(home: Home) -> None:
    home.main("providers", "set", "brave", "--api-key", "env:MINE")
    allowed: set[str] = set()
    for number, result in killed(home, lambda number: ["providers", "set", "brave", "--name", f"N{number}"]):
        done = result.exit == 0 or b"changed name" in result.err
        allowed = {f"N{number}"} if done else allowed | {f"N{number}"}
        row = json.loads(home.main("providers", "show", "brave", "--json").out)
        assert row["name"] in allowed
        assert row["apiKey"] == "env:MINE"


def test_reported_page_is_stored_and_indexed(home: Home) -> None:
    folder = home.work / "pages"
    for _number, result in killed(home, lambda number: ["library", "add", str(fill(folder, number)), "--json"]):
        listed = json.loads(home.main("library", "list", "--source", "file", "--json").out)
        added = json.loads(result.out)["added"] if result.out else 0
        assert listed["total"] >= added
        for entry in listed["items"][-1:]:
            word = Path(entry["url"]).stem
            assert entry["url"] in home.main("library", "search", "--json", word).out.decode(), "not in the index"
        home.main("library", "remove", "--all", "--yes")


def fill(folder: Path, number: int) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for page in range(12):
        text = f"# Page {page}\n\n" + f"word{number}x{page} of many " * 50
        (folder / f"word{number}x{page}.md").write_text(text)
    return folder


def test_answered_search_is_in_the_history(home: Home) -> None:
    for number, result in killed(home, lambda number: ["search", "-p", "searxng", f"question {number}"]):
        if result.out:
            assert f"question {number}" in home.main("history").out.decode().splitlines()
        again = json.loads(home.main("search", "-p", "searxng", "--json", f"question {number}").out)
        assert len(again["results"]) == 5, "an incomplete answer was cached"


def test_batch_resumes_where_it_was_killed(home: Home) -> None:
    queries = [f"query {number}" for number in range(12)]
    source, answers = home.file("queries", "\n".join(queries)), home.work / "answers"
    line = ["search", "-p", "searxng", "--no-cache", "--jobs", "2", "--batch", source, "-o", str(answers), "--resume"]
    known = 0
    for number, _result in killed(home, lambda _number: line):
        whole = answers.read_bytes().split(b"\n")[:-1] if answers.exists() else []
        assert len(whole) >= known, "a written answer was lost"
        known = len(whole)
        if number % 4 == 3 or number < 0:
            home.main(*line)
            done = [json.loads(text) for text in answers.read_text().splitlines()]
            assert sorted(entry["input"] for entry in done) == sorted(queries), "not each query once"
            assert all(len(entry["results"]) == 5 for entry in done)
            answers.unlink()
            known = 0


def test_deployment_with_a_compose_file_is_complete(home: Home) -> None:
    wanted = {path: len(text) for path, text in make_deployment(8080, "0" * 64).items()}
    for number, result in killed(home, lambda number: ["searxng", "init", str(home.work / f"searxng{number}")]):
        folder = home.work / f"searxng{number}"
        for name in wanted:
            path = folder / name
            if path.exists() or str(path).encode() in result.err:
                assert path.stat().st_size == wanted[name]
        if (folder / "docker-compose.yml").exists():
            assert all((folder / name).exists() for name in wanted), "the compose file must be written last"
        home.main("searxng", "init", str(folder), "--force")


def test_next_command_removes_the_locks_of_a_killed_one(home: Home) -> None:
    line = ["search", "-p", "searxng", "--refresh", "same"]
    for _number, _result in killed(home, lambda _number: line):
        continue
    home.main(*line)
    assert os.listdir(home.path / "cache/answers/locks") == []
