"""Files under siege: open umasks, links, foreign things in their place, no room, damage; nothing leaks or is lost.

A new file of sleuth's own is a line in FILES, a new way to be somebody's home one in HOMES.
"""

import io
import json
import os
import random
import resource
import shutil
import sqlite3
import stat
import threading
import time
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import LONG, Home, good, hurt, limited, sound, unprivileged

from sleuth.commands.fast import parser

pytestmark = pytest.mark.adversarial

PRECIOUS = b"# precious to its owner\n" * 20
WOUNDS = 200 if LONG else 40
FILES = (
    "config/config.toml",
    "config/config.toml.lock",
    "config/rules.txt",
    "data/sleuth.db",
    "data/sleuth.db.lock",
    "data/sleuth.db.stamp",
    "data/sleuth.db-wal",
    "data/library.db",
    "data/library.db.lock",
    "cache/answers/cache.db",
    "cache/pages/cache.db",
    "state/sleuth.log",
    "state/searches.jsonl",
    "state/searches.jsonl.lock",
)
FOLDERS = (
    "config",
    "data",
    "cache",
    "cache/answers",
    "cache/answers/locks",
    "cache/pages",
    "cache/prepared",
    "state",
)
ANY = (0, 1, 2, 3)  # done, failed, refused: all of them in clear words


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory, serve_all: Any) -> Home:
    """A home that has been lived in: settings, rows, history, kept answers and pages, a library."""
    home = Home(tmp_path_factory.mktemp("used"), serve_all(good).url)
    home.ask("config", "set", "websearch.max_results", "4")
    home.ask("config", "set", "websearch.region", "CH")
    home.ask("providers", "set", "brave", "--name", "Mine", "--option", "weight=2")
    home.ask("library", "add", home.file("notes.md", "# Notes\n\nOf async runtimes.\n"))
    home.ask("summarize", f"{home.url}/page")
    for words in ("one", "one", "two", "three"):
        home.ask("search", "-p", "searxng", words)
    return home


@pytest.fixture
def home(used: Home, tmp_path: Path) -> Home:
    return used.copy(tmp_path)


@pytest.fixture
def new(used: Home, tmp_path: Path) -> Home:
    return Home(tmp_path, used.url)


def is_whole(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok")


def everyday(home: Home, name: str = "") -> list[tuple[str, ...]]:
    """Return command lines that touch a file or folder of that name, or every one there is."""
    lines = {
        "config": [("config", "set", "websearch.max_results", "4")],
        "data": [
            ("providers", "set", "brave", "--name", "Mine"),
            ("library", "add", home.file("notes.md", "# Notes\n\nOf async runtimes.\n")),
        ],
        "cache": [("summarize", f"{home.url}/page"), ("cache", "clear"), ("search", "-p", "searxng", "another")],
        "state": [("search", "-p", "nosuch", "x"), ("history",)],
    }
    searches = [("search", "-p", "searxng", "one"), ("search", "-p", "searxng", "another")]
    return searches + [line for area, some in lines.items() if not name or name.startswith(area) for line in some]


# Compiled code, which Python cuts short when the disk is full

FIRST = ("__init__", "__main__", "process")  # without these there is nobody yet who could complain


def test_code_that_is_cut_short_is_named(used: Home, tmp_path: Path) -> None:
    environ = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": None}
    assert used.run("config", "show", environ=environ).exit == 0
    compiled = sorted(path for path in tmp_path.rglob("sleuth/**/*.pyc") if not path.name.startswith(FIRST))
    chance = random.Random("cut")
    for path in chance.sample(compiled, len(compiled) if LONG else 8):
        whole = path.read_bytes()
        path.write_bytes(whole[: chance.randrange(20, len(whole))])
        ended = sound(used.run("config", "show", environ=environ | {"PYTHONDONTWRITEBYTECODE": "1"}), exits=(1,))
        path.write_bytes(whole)
        assert f"error: {path} is truncated\n" in ended.said or "install" in ended.said


# Private from birth


def writers(home: Home) -> Iterator[tuple[str, ...]]:
    work = home.work
    yield from everyday(home)
    yield "config", "unset", "websearch.max_results"
    yield "providers", "add", "--adapter", "searxng", "--id", "mine", "--api-host", home.url
    yield "providers", "use", "searxng"
    yield "search", "-p", "searxng", "another"
    yield "search", "-p", "searxng", "another"
    yield "search", "-p", "searxng", "--content", "-n", "1", "three"
    yield "search", "-p", "searxng", "--json", "-o", str(work / "out.json"), "four"
    yield "search", "-p", "searxng", "--record", str(work / "tape.json"), "five"
    yield "search", "-p", "searxng", "--batch", home.file("queries", "six\nseven\n"), "-o", str(work / "answers.ndjson")
    yield "summarize", f"{home.url}/page", "-o", str(work / "summary.md")
    yield "searxng", "init", str(work / "searxng"), "--limiter"
    yield "doctor", "--settings", home.file("settings.yml", "server:\n  secret_key: ultrasecretkey\n"), "--fix"
    yield ("usage",)
    yield "history", "--clear", "--yes"
    yield "library", "remove", "--all", "--yes"


def test_everything_is_private_whatever_writes_it_under_an_open_umask(new: Home) -> None:
    """In this process, whose umask nobody closes as main does: each file is private by itself."""
    mask = os.umask(0)
    given = {"notes.md", "queries", "settings.yml"}
    try:
        for words in writers(new):
            new.ask(*words, exits=ANY)
            for path in [new.path, *new.path.rglob("*"), *new.work.rglob("*")]:
                mode = stat.S_IMODE(path.stat().st_mode)
                assert path.name in given or mode == (0o700 if path.is_dir() else 0o600), (words, path, oct(mode))
    finally:
        os.umask(mask)
    for name in ("out.json", "tape.json", "answers.ndjson", "summary.md", "searxng/.env", "settings.fixed.yml"):
        assert (new.work / name).exists(), name


# Links


@pytest.mark.parametrize("name", FILES)
def test_link_in_place_of_a_file_harms_nothing_outside(name: str, home: Home) -> None:
    outside, link = home.work / "outside", home.path / name
    outside.write_bytes(PRECIOUS)
    link.unlink(missing_ok=True)
    link.symlink_to(outside)
    for words in everyday(home, name):
        home.ask(*words, exits=ANY)
    data = outside.read_bytes()
    assert data.startswith(PRECIOUS), "added to where that is what the link is for, and never replaced"
    if name.endswith((".db", ".lock", ".stamp", "-wal", "rules.txt")):
        assert data == PRECIOUS


@pytest.mark.parametrize("name", FOLDERS)
def test_link_in_place_of_a_folder_is_used_as_that_folder(name: str, home: Home) -> None:
    outside, link = home.work / "outside", home.path / name
    shutil.move(link, outside)
    (outside / "precious").write_bytes(PRECIOUS)
    link.symlink_to(outside)
    for words in everyday(home, name):
        home.ask(*words, exits=(0, 3))
    assert (outside / "precious").read_bytes() == PRECIOUS
    assert link.is_symlink()


def test_settings_behind_a_link_stay_behind_it(new: Home) -> None:
    real, link = new.work / "dotfiles.toml", new.path / "config/config.toml"
    real.write_text("# mine\n[websearch]\nregion = 'CH'\n")
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    new.ask("config", "set", "websearch.max_results", "7")
    assert link.is_symlink()
    assert tomllib.loads(real.read_text()) == {"websearch": {"region": "CH", "max_results": 7}}
    assert real.read_text().startswith("# mine\n")


def test_result_goes_through_a_link_and_leaves_nothing_beside_it(home: Home) -> None:
    real, link = home.work / "real.json", home.work / "link.json"
    link.symlink_to(real)
    home.ask("search", "-p", "searxng", "--json", "-o", str(link), "x")
    assert link.is_symlink()
    assert json.loads(real.read_text())["results"]
    assert sorted(os.listdir(home.work)) == ["link.json", "real.json"]


@pytest.mark.parametrize("option", ["-o", "--record"])
def test_pipe_is_written_to_and_stays_a_pipe(option: str, home: Home) -> None:
    pipe = home.work / "pipe"
    os.mkfifo(pipe)
    came: list[str] = []
    reader = threading.Thread(target=lambda: came.append(pipe.read_text()), daemon=True)
    reader.start()
    home.ask("search", "-p", "searxng", "--json", option, str(pipe), "x")
    reader.join(10)
    assert json.loads(came[0])
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


def test_settings_are_no_device(new: Home) -> None:
    done = new.ask("config", "set", "websearch.max_results", "7", SLEUTH_CONFIG="/dev/null", exits=(2,))
    assert "not a regular file" in done.said
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# Something else in the place


@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
def test_what_stands_in_the_place_of_a_file_or_folder_is_said_or_passed_over(name: str, home: Home) -> None:
    place = home.path / name
    if name in FOLDERS:
        shutil.rmtree(place)
        place.write_bytes(PRECIOUS)
    else:
        place.unlink(missing_ok=True)
        place.mkdir()
    for words in everyday(home, name):
        home.ask(*words, exits=ANY)
    if name in FOLDERS:
        assert place.read_bytes() == PRECIOUS
        place.unlink()
    for folder in place.parent.glob(f"{place.name}*/"):  # that of the journal was set aside, to be read
        folder.rmdir()
    for words in everyday(home, name)[1:]:
        home.ask(*words, exits=(0, 3))


# Nothing can be written, or not much


def close(home: Home, what: str) -> None:
    for path in sorted(home.path.rglob("*"), reverse=True):
        if path.is_dir() and what != "files":
            path.chmod(0o000 if what == "unreadable" else 0o500)
        elif path.is_file() and what in ("everything", "files"):
            path.chmod(0o400)


def reopen(folder: Path) -> None:
    folder.chmod(0o700)
    for path in folder.iterdir():
        reopen(path) if path.is_dir() else path.chmod(0o600)


@pytest.mark.parametrize("what", ["everything", "folders", "files", "unreadable"])
def test_home_that_is_closed_lets_searches_pass_and_says_what_cannot_be_done(what: str, home: Home) -> None:
    lines = {
        "search": ("search", "-p", "searxng", "--json", "fresh"),
        "config": ("config", "set", "websearch.max_results", "9"),
        "set": ("providers", "set", "brave", "--name", "Changed"),
        "list": ("providers", "list", "--json"),
        "add": ("library", "add", home.file("more.md", "# More\n\nof it\n")),
        "clear": ("cache", "clear"),
    }
    close(home, what)
    try:
        some = lines if what in ("everything", "unreadable") else ("search", "set")
        ended = {name: sound(home.run(*lines[name], before=unprivileged)) for name in some}
    finally:
        reopen(home.path)
    exits = {name: done.exit for name, done in ended.items()}
    if what == "unreadable":  # there may be settings, and what they say nobody knows
        assert set(exits.values()) == {2}
    else:
        assert len(json.loads(ended["search"].out)["results"]) == 4, "the search goes on, as the settings have it"
    if what == "everything":
        assert exits == {"search": 0, "config": 2, "set": 2, "list": 0, "add": 2, "clear": 2}
        assert '"name": "Mine"' in ended["list"].out.decode(), "what is there can be read"
    kept = json.loads(home.ask("providers", "show", "brave", "--json").out)
    assert kept["name"] == ("Changed" if exits["set"] == 0 else "Mine")
    assert kept["options"] == {"weight": "2"}


@pytest.mark.parametrize("room", [0, 1000, 100_000])
def test_full_disk_stops_no_search_and_breaks_nothing(room: int, new: Home) -> None:
    out, answers, folder = (str(new.work / name) for name in ("out.json", "answers.ndjson", "searxng"))
    lines: list[tuple[str, ...]] = [
        ("search", "-p", "searxng", "new"),
        ("search", "-p", "searxng", "--batch", new.file("queries", "six\nseven\n"), "-o", answers, "--resume"),
        ("library", "add", new.file("long.md", "# Long\n\n" + "words of all kinds " * 20_000)),
        ("search", "-p", "searxng", "--json", "-o", out, "new"),
        ("config", "set", "websearch.max_results", "5"),
        ("providers", "set", "brave", "--name", "Other"),
        ("searxng", "init", folder, "--force"),
    ]
    lines = lines[:3] if room > 1000 else lines  # the rest is small
    ended = [sound(new.run(*words, before=limited(resource.RLIMIT_FSIZE, room))) for words in lines]
    assert (ended[0].exit, ended[0].out.count(b"https://")) == (0, 5), "the search goes on"
    assert room > 1000 or b"warning: " in ended[0].err
    if os.path.exists(out):
        assert json.loads(Path(out).read_bytes())["results"], "whole, or not at all"
    assert not [path for path in new.folder.rglob(".*") if path.name != ".env"], "nothing half written is left"
    for words in lines:
        new.ask(*words)
    assert sorted(json.loads(line)["input"] for line in Path(answers).read_text().splitlines()) == ["seven", "six"]
    assert is_whole(new.path / "data/sleuth.db")
    assert is_whole(new.path / "data/library.db")


def test_full_disk_costs_a_used_home_nothing(home: Home) -> None:
    before = {path: path.read_bytes() for path in home.path.rglob("*.toml")}
    full = limited(resource.RLIMIT_FSIZE, 0)
    for words in everyday(home):
        sound(home.run(*words, before=full), exits=ANY)
    assert {path: path.read_bytes() for path in before} == before
    assert json.loads(home.ask("providers", "show", "brave", "--json").out)["name"] == "Mine"
    assert home.ask("history").out.splitlines()[-3:] == [b"two", b"one", b"one"]
    assert is_whole(home.path / "data/library.db")


# Homes that are none

HOMES: dict[str, dict[str, Any]] = {
    "no HOME": {"HOME": None, "SLEUTH_HOME": None},
    "a HOME that is not there": {"HOME": "/proc/nowhere", "SLEUTH_HOME": None},
    "an empty HOME": {"HOME": "", "SLEUTH_HOME": None},
    "a relative HOME": {"HOME": "somewhere/else", "SLEUTH_HOME": None},
    "a relative SLEUTH_HOME": {"SLEUTH_HOME": "here"},
    "a SLEUTH_HOME of a user nobody knows": {"SLEUTH_HOME": "~nobody-of-that-name/x"},
    "a SLEUTH_HOME that is no text": {"SLEUTH_HOME": b"\xff\xfe \x1b[31m\n"},
    "a SLEUTH_HOME like an address": {"SLEUTH_HOME": "a?b#c%20d"},
    "a SLEUTH_HOME too long for a file system": {"SLEUTH_HOME": "n" * 300},
    "a SLEUTH_CONFIG that is a folder": {"SLEUTH_CONFIG": "."},
}


@pytest.mark.parametrize("name", HOMES)
def test_search_works_or_says_why_not_in(name: str, new: Home) -> None:
    places = {f"XDG_{kind}_HOME": str(new.work / kind) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    environ = HOMES[name] | (places if HOMES[name].get("HOME", "x") != "/proc/nowhere" else {})
    done = new.run("search", "-p", "searxng", "x", environ=environ, cwd=new.work, before=unprivileged)
    sound(done, exits=(2,) if "too long" in name or "folder" in name else (0,))
    assert not [path.name for path in new.work.iterdir() if path.name in ("somewhere", ".config", ".cache")]


# Settings nobody wrote by hand

SETTINGS = {
    "ten megabytes of comments": b"# \n" * 3_500_000,
    "ten megabytes of names": b"".join(b"k%d = 1\n" % number for number in range(800_000)),
    "a megabyte of names": b"".join(b"k%d = 1\n" % number for number in range(80_000)),
    "a zero byte": b"[websearch]\nmax_results = 7\0\n",
    "no UTF-8": b"[websearch]\nregion = '\xff\xfe'\n",
    "UTF-16": "[websearch]\nmax_results = 7\n".encode("utf-16"),
    "five thousand brackets": b"x = " + b"[" * 5000 + b"]" * 5000,
    "five thousand tables": b"a" + b".a" * 5000 + b" = 1\n",
    "five thousand tables in brackets": b"[" + b"a." * 5000 + b"a]\nb = 1\n",
    "a number without end": b"[websearch]\nmax_results = " + b"9" * 5000,
    "not a number": b"[websearch]\ntimeout = nan\n",
    "a table that is a value": b"websearch = 7\n",
    "escape sequences": b'[websearch]\nregion = "\\u001b[31m"\n"\\u001b]0;x" = 1\n',
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_refused_or_read_in_time_when_they_are(name: str, new: Home) -> None:
    file = new.path / "config/config.toml"
    file.parent.mkdir(parents=True)
    file.write_bytes(SETTINGS[name])
    started = time.monotonic()
    new.ask("search", "-p", "searxng", "x", exits=(0, 2))
    new.ask("config", "validate", exits=(0, 2))
    assert time.monotonic() - started < 10
    if name != "a megabyte of names":  # the one that takes its time
        done = new.ask("config", "set", "cache.max_entries", "50", exits=(0, 2))
        assert done.exit == 0 or file.read_bytes() == SETTINGS[name], "what is refused stays as it is"


# Damage


def wounds(home: Home, name: str) -> Iterator[int]:
    """Wound one file of a home again and again, each time another way, and tell how many wounds there were."""
    file = home.path / name
    sound_data = file.read_bytes()
    others = {path: path.read_bytes() for path in home.path.rglob("*") if path.is_file() and path != file}
    for number in range(WOUNDS):
        for path in [path for path in home.path.rglob("*") if path.is_file() and path not in others]:
            path.unlink()
        for path, data in others.items():
            if not path.exists() or path.stat().st_size != len(data) or path.read_bytes() != data:
                path.write_bytes(data)
        file.write_bytes(hurt(sound_data, random.Random(f"{name} {number}")))
        yield number


def test_wounded_settings_are_never_written_over(home: Home) -> None:
    file = home.path / "config/config.toml"
    for _ in wounds(home, "config/config.toml"):
        data = file.read_bytes()
        home.ask("search", "-p", "searxng", "one", exits=(0, 2))
        done = home.ask("config", "set", "cache.max_entries", "50", exits=(0, 2))
        assert file.read_bytes() == data or done.exit == 0
        if done.exit == 0:
            left = tomllib.loads(data.decode("utf-8-sig"))
            left.setdefault("cache", {})["max_entries"] = 50
            assert repr(tomllib.loads(file.read_text())) == repr(left)


def test_wounded_database_is_refused_with_the_way_out_or_used(home: Home) -> None:
    file = home.path / "data/sleuth.db"
    refused = 0
    for _ in wounds(home, "data/sleuth.db"):
        lines = ("search -p searxng new", "providers list", "history", "usage", "providers show brave")
        for line in lines:
            data = file.read_bytes()
            done = home.ask(*line.split(), exits=ANY)
            if "is damaged" in done.said:
                refused += 1
                assert "mv " in done.said
                assert file.read_bytes() == data, "left as it is for who can mend it"
    assert refused > WOUNDS / 4


def test_wounded_library_answers_or_says_what_is_wrong(home: Home) -> None:
    for _ in wounds(home, "data/library.db"):
        for words in (("library", "search", "runtimes"), ("library", "list"), ("library", "list", "--json")):
            home.ask(*words, exits=ANY)
        assert home.ask("search", "-p", "searxng", "one").out.count(b"https://") == 4, "others are not harmed"


def test_wounded_cache_is_no_cache(home: Home) -> None:
    for _ in wounds(home, "cache/answers/cache.db"):
        home.ask("cache", "stats")
        for words in ("one", "new"):
            assert home.ask("search", "-p", "searxng", words).out.count(b"https://") == 4
        assert len(json.loads(home.ask("search", "-p", "searxng", "--json", "new").out)["results"]) == 4
        home.ask("cache", "clear")


def test_wounded_answer_is_never_handed_out(home: Home) -> None:
    words = ["search", "-p", "searxng", "one"]
    shutil.rmtree(home.path / "cache/prepared")
    answer = sound(home.run(*words)).out.decode()
    (file,) = (home.path / "cache/prepared").iterdir()
    data, handed_out = file.read_bytes(), 0
    for number in range(5 * WOUNDS):
        file.write_bytes(hurt(data, random.Random(number)) if number else data)
        out = io.StringIO()
        if parser.print_rendered(parser.CommandLine(list(words)), home.environ, out, io.StringIO()):
            assert out.getvalue() == answer
            handed_out += 1
    assert handed_out < WOUNDS / 4, "a wound that changes nothing is none"


def test_wounded_journal_loses_the_wounded_lines_alone(home: Home) -> None:
    journal = home.path / "state/searches.jsonl"
    lines = [line for line in journal.read_bytes().split(b"\n") if line]
    for _ in wounds(home, "state/searches.jsonl"):
        left = {json.loads(line)["query"] for line in lines if line in journal.read_bytes().split(b"\n")}
        kept = set(home.ask("history").out.decode().splitlines())
        assert left <= kept
        home.ask("usage")
