"""SIGKILL at any instant of whatever writes: files stay whole, and what was reported as done is there."""

import json
import os
import random
import shutil
import sqlite3
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import LONG, Ended, Home, good

from sleuth.doctor.files.new_deployment import make_deployment

pytestmark = pytest.mark.adversarial

KILLS = 84 if LONG else 10  # of each of six commands: 504 or 60
EARLY, LATE = 0.05, 1.1  # of the time a command usually takes; a few are let finish


@pytest.fixture
def home(tmp_path: Path, serve: Any) -> Home:
    home = Home(tmp_path, serve(good).url)
    home.ask("search", "-p", "searxng,library", "first")
    return home


def killed(home: Home, words: Callable[[int], list[str]]) -> Iterator[tuple[int, Ended]]:
    """Start a command again and again, kill it at instants all over the time it takes, and hand over what it said."""
    chance = random.Random(" ".join(words(0)[:2]))
    usual = 0.3
    for number in range(-1, KILLS):
        running = home.start(*words(number))
        if number >= 0:
            time.sleep(usual * chance.uniform(EARLY, LATE))
            running.process.kill()
        ended = running.end()
        if number < 0:
            assert ended.exit == 0, ended
            usual = ended.seconds
        check(home)
        yield number, ended


def check(home: Home) -> None:
    """Fail unless every file can be read as it should be."""
    settings = home.path / "config/config.toml"
    if settings.exists():
        tomllib.loads(settings.read_text())
    for path in (home.path / "data").glob("*.db"):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok", path


def test_setting_that_was_set_is_there(home: Home) -> None:
    home.ask("config", "set", "websearch.region", "CH")
    allowed: set[int] = set()
    for number, ended in killed(home, lambda number: ["config", "set", "cache.max_entries", str(number + 2)]):
        allowed = {number + 2} if ended.exit == 0 else allowed | {number + 2}
        settings = tomllib.loads((home.path / "config/config.toml").read_text())
        assert settings["cache"]["max_entries"] in allowed
        assert settings["websearch"] == {"region": "CH"}, "and nothing else was lost"
    home.ask("config", "set", "cache.max_entries", "9")
    assert sorted(os.listdir(home.path / "config")) == ["config.toml", "config.toml.lock"], "and nothing is left over"


def test_row_that_was_changed_is_there(home: Home) -> None:
    home.ask("providers", "set", "brave", "--api-key", "env:MINE")
    allowed: set[str] = set()
    for number, ended in killed(home, lambda number: ["providers", "set", "brave", "--name", f"N{number}"]):
        done = ended.exit == 0 or b"changed name" in ended.err
        allowed = {f"N{number}"} if done else allowed | {f"N{number}"}
        row = json.loads(home.ask("providers", "show", "brave", "--json").out)
        assert row["name"] in allowed
        assert row["apiKey"] == "env:MINE"


def test_page_that_was_added_is_there(home: Home) -> None:
    folder = home.work / "pages"
    for _number, ended in killed(home, lambda number: ["library", "add", str(fill(folder, number)), "--json"]):
        listed = json.loads(home.ask("library", "list", "--source", "file", "--json").out)
        added = json.loads(ended.out)["added"] if ended.out else 0
        assert listed["total"] >= added
        for entry in listed["items"][-1:]:
            word = Path(entry["url"]).stem
            assert entry["url"] in home.ask("library", "search", "--json", word).out.decode(), "in the index too"
        home.ask("library", "remove", "--all", "--yes")


def fill(folder: Path, number: int) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for page in range(12):
        text = f"# Page {page}\n\n" + f"word{number}x{page} of many " * 50
        (folder / f"word{number}x{page}.md").write_text(text)
    return folder


def test_search_that_was_answered_is_in_the_history(home: Home) -> None:
    for number, ended in killed(home, lambda number: ["search", "-p", "searxng", f"question {number}"]):
        if ended.out:
            assert f"question {number}" in home.ask("history").out.decode().splitlines()
        again = json.loads(home.ask("search", "-p", "searxng", "--json", f"question {number}").out)
        assert len(again["results"]) == 5, "what is kept is an answer, or nothing is"


def test_batch_goes_on_where_it_was_killed(home: Home) -> None:
    queries = [f"query {number}" for number in range(12)]
    source, answers = home.file("queries", "\n".join(queries)), home.work / "answers"
    line = ["search", "-p", "searxng", "--no-cache", "--jobs", "2", "--batch", source, "-o", str(answers), "--resume"]
    known = 0
    for number, _ended in killed(home, lambda _number: line):
        whole = answers.read_bytes().split(b"\n")[:-1] if answers.exists() else []
        assert len(whole) >= known, "an answer that was written stays"
        known = len(whole)
        if number % 4 == 3 or number < 0:
            home.ask(*line)
            done = [json.loads(text) for text in answers.read_text().splitlines()]
            assert sorted(entry["input"] for entry in done) == sorted(queries), "each once"
            assert all(len(entry["results"]) == 5 for entry in done)
            answers.unlink()
            known = 0


def test_deployment_that_can_be_started_is_whole(home: Home) -> None:
    wanted = {path: len(text) for path, text in make_deployment(8080, "0" * 64).items()}
    for number, ended in killed(home, lambda number: ["searxng", "init", str(home.work / f"searxng{number}")]):
        folder = home.work / f"searxng{number}"
        for name in wanted:
            path = folder / name
            if path.exists() or str(path).encode() in ended.err:
                assert path.stat().st_size == wanted[name]
        if (folder / "docker-compose.yml").exists():
            assert all((folder / name).exists() for name in wanted), "the compose file comes last"
        home.ask("searxng", "init", str(folder), "--force")


def test_nothing_is_left_locked(home: Home) -> None:
    """After all that, a home is used at once: no lock outlives its holder."""
    for number, _ended in killed(home, lambda number: ["search", "-p", "searxng", "--refresh", "same"]):
        if number > 4:
            break
    started = time.monotonic()
    for words in (("search", "-p", "searxng", "--refresh", "same"), ("config", "set", "cache.max_entries", "9")):
        home.ask(*words)
    assert time.monotonic() - started < 5
    assert os.listdir(home.path / "cache/answers/locks") == []
