"""Attacks on files: open umasks, links, wrong types, full disks, corruption. Nothing leaks or is lost.

A new file of sleuth belongs in FILES, a new kind of home folder in HOMES.
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
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from harness import LONG, Home, assert_clean, corrupt, drop_privileges, limit_resource, well_behaved

from sleuth.commands.fast import parser

pytestmark = pytest.mark.adversarial

PRECIOUS = b"# precious to its owner\n" * 20
CORRUPTIONS = 200 if LONG else 20
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
    "cache/rendered",
    "state",
)
ANY = (0, 1, 2, 3)  # success or a clear error


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory, serve_module: Any) -> Home:
    """A home in use: settings, providers, history, cached answers and pages, a library."""
    home = Home(tmp_path_factory.mktemp("used"), serve_module(well_behaved).url)
    home.main("config", "set", "websearch.max_results", "4")
    home.main("config", "set", "websearch.language", "de")
    home.main("providers", "set", "brave", "--name", "Mine", "--option", "weight=2")
    home.main("library", "add", home.file("notes.md", "# Notes\n\nOf async runtimes.\n"))
    home.main("summarize", f"{home.url}/page")
    for words in ("one", "one", "two", "three"):
        home.main("search", "-p", "searxng", words)
    return home


@pytest.fixture
def home(used: Home, tmp_path: Path) -> Home:
    return used.copy(tmp_path)


@pytest.fixture
def new(used: Home, tmp_path: Path) -> Home:
    return Home(tmp_path, used.url)


def is_valid(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok")


def everyday(home: Home, name: str = "") -> list[tuple[str, ...]]:
    """Return commands that use a file or folder of that name, or all commands."""
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


# Compiled code, which Python truncates when the disk is full

NEEDED_FOR_ERRORS = ("__init__", "__main__", "process")  # without these there is no code to report it


def test_truncated_compiled_module_is_named(used: Home, tmp_path: Path) -> None:
    environ = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": None}
    assert used.run("config", "show", environ=environ).exit == 0
    compiled = sorted(path for path in tmp_path.rglob("sleuth/**/*.pyc") if not path.name.startswith(NEEDED_FOR_ERRORS))
    chance = random.Random("cut")
    for path in chance.sample(compiled, len(compiled) if LONG else 8):
        intact = path.read_bytes()
        path.write_bytes(intact[: chance.randrange(20, len(intact))])
        result = used.run("config", "show", environ=environ | {"PYTHONDONTWRITEBYTECODE": "1"})
        path.write_bytes(intact)
        assert_clean(result, exits=(1,))
        assert f"error: {path} is truncated\n" in result.message or "install " in result.message


# Permissions


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
    yield "search", "-p", "searxng", "--record", str(work / "recording.json"), "five"
    yield "search", "-p", "searxng", "--batch", home.file("queries", "six\nseven\n"), "-o", str(work / "answers.ndjson")
    yield "summarize", f"{home.url}/page", "-o", str(work / "summary.md")
    yield "searxng", "init", str(work / "searxng"), "--limiter"
    yield "doctor", "--settings", home.file("settings.yml", "server:\n  secret_key: ultrasecretkey\n"), "--fix"
    yield ("usage",)
    yield "history", "--clear", "--yes"
    yield "library", "remove", "--all", "--yes"


def test_every_file_is_private_under_an_open_umask(new: Home) -> None:
    """In this process, where the umask that `main` sets does not help."""
    mask = os.umask(0)
    given = {"notes.md", "queries", "settings.yml"}
    try:
        for words in writers(new):
            new.main(*words, exits=ANY)
            for path in [new.path, *new.path.rglob("*"), *new.work.rglob("*")]:
                mode = stat.S_IMODE(path.stat().st_mode)
                assert path.name in given or mode == (0o700 if path.is_dir() else 0o600), (words, path, oct(mode))
    finally:
        os.umask(mask)
    for name in ("out.json", "recording.json", "answers.ndjson", "summary.md", "searxng/.env", "settings.fixed.yml"):
        assert (new.work / name).exists(), name


# Links


@pytest.mark.parametrize("name", FILES)
def test_link_in_place_of_a_file_never_replaces_its_target(name: str, home: Home) -> None:
    outside, link = home.work / "outside", home.path / name
    outside.write_bytes(PRECIOUS)
    link.unlink(missing_ok=True)
    link.symlink_to(outside)
    for words in everyday(home, name):
        home.main(*words, exits=ANY)
    data = outside.read_bytes()
    assert data.startswith(PRECIOUS), "only appending through a link is allowed"
    if name.endswith((".db", ".lock", ".stamp", "-wal", "rules.txt")):
        assert data == PRECIOUS


@pytest.mark.parametrize("name", FOLDERS)
def test_link_in_place_of_a_folder_is_used_as_that_folder(name: str, home: Home) -> None:
    outside, link = home.work / "outside", home.path / name
    shutil.move(link, outside)
    (outside / "precious").write_bytes(PRECIOUS)
    link.symlink_to(outside)
    for words in everyday(home, name):
        home.main(*words, exits=(0, 3))
    assert (outside / "precious").read_bytes() == PRECIOUS
    assert link.is_symlink()


def test_settings_are_written_through_a_link(new: Home) -> None:
    real, link = new.work / "dotfiles.toml", new.path / "config/config.toml"
    real.write_text("# mine\n[websearch]\nregion = 'CH'\n")
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    new.main("config", "set", "websearch.max_results", "7")
    assert link.is_symlink()
    assert tomllib.loads(real.read_text()) == {"websearch": {"region": "CH", "max_results": 7}}
    assert real.read_text().startswith("# mine\n")


def test_output_is_written_through_a_link_without_temporary_files(home: Home) -> None:
    real, link = home.work / "real.json", home.work / "link.json"
    link.symlink_to(real)
    home.main("search", "-p", "searxng", "--json", "-o", str(link), "x")
    assert link.is_symlink()
    assert json.loads(real.read_text())["results"]
    assert sorted(os.listdir(home.work)) == ["link.json", "real.json"]


@pytest.mark.parametrize("option", ["-o", "--record"])
def test_output_to_a_named_pipe_keeps_the_pipe(option: str, home: Home) -> None:
    pipe = home.work / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()
    home.main("search", "-p", "searxng", "--json", option, str(pipe), "x")
    reader.join()
    assert json.loads(received[0])
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


def test_settings_cannot_be_a_device(new: Home) -> None:
    done = new.main("config", "set", "websearch.max_results", "7", SLEUTH_CONFIG="/dev/null", exits=(2,))
    assert "not a regular file" in done.message
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# A folder in place of a file, and the reverse


@pytest.mark.parametrize("name", [*FILES, *FOLDERS])
def test_wrong_file_type_is_an_error_or_ignored(name: str, home: Home) -> None:
    place = home.path / name
    if name in FOLDERS:
        shutil.rmtree(place)
        place.write_bytes(PRECIOUS)
    else:
        place.unlink(missing_ok=True)
        place.mkdir()
    for words in everyday(home, name):
        home.main(*words, exits=ANY)
    if name in FOLDERS:
        assert place.read_bytes() == PRECIOUS
        place.unlink()
    for folder in place.parent.glob(f"{place.name}*/"):  # the journal was renamed, to be read
        folder.rmdir()
    for words in everyday(home, name)[1:]:
        home.main(*words, exits=(0, 3))


# Read-only and full file systems


def remove_permissions(home: Home, what: str) -> None:
    for path in sorted(home.path.rglob("*"), reverse=True):
        if path.is_dir() and what != "files":
            path.chmod(0o000 if what == "unreadable" else 0o500)
        elif path.is_file() and what in ("everything", "files"):
            path.chmod(0o400)


def restore_permissions(folder: Path) -> None:
    folder.chmod(0o700)
    for path in folder.iterdir():
        restore_permissions(path) if path.is_dir() else path.chmod(0o600)


@pytest.mark.parametrize("what", ["everything", "folders", "files", "unreadable"])
def test_search_works_in_a_read_only_home_and_changes_are_errors(what: str, home: Home) -> None:
    lines = {
        "search": ("search", "-p", "searxng", "--json", "fresh"),
        "config": ("config", "set", "websearch.max_results", "9"),
        "set": ("providers", "set", "brave", "--name", "Changed"),
        "list": ("providers", "list", "--json"),
        "add": ("library", "add", home.file("more.md", "# More\n\nof it\n")),
        "clear": ("cache", "clear"),
    }
    remove_permissions(home, what)
    try:
        some = lines if what in ("everything", "unreadable") else ("search", "set")
        result = {name: assert_clean(home.run(*lines[name], before=drop_privileges)) for name in some}
    finally:
        restore_permissions(home.path)
    exits = {name: done.exit for name, done in result.items()}
    if what == "unreadable":  # the settings may forbid the search
        assert set(exits.values()) == {2}
    else:
        assert len(json.loads(result["search"].out)["results"]) == 4, "the search must work with the settings"
    if what == "everything":
        assert exits == {"search": 0, "config": 2, "set": 2, "list": 0, "add": 2, "clear": 2}
        assert '"name": "Mine"' in result["list"].out.decode(), "stored providers must be readable"
    kept = json.loads(home.main("providers", "show", "brave", "--json").out)
    assert kept["name"] == ("Changed" if exits["set"] == 0 else "Mine")
    assert kept["options"] == {"weight": "2"}


@pytest.mark.parametrize("room", [0, 1000, 100_000])
def test_search_works_on_a_full_disk_and_files_stay_valid(room: int, new: Home) -> None:
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
    lines = lines[:3] if room > 1000 else lines  # the others need less
    result = [assert_clean(new.run(*words, before=limit_resource(resource.RLIMIT_FSIZE, room))) for words in lines]
    assert (result[0].exit, result[0].out.count(b"https://")) == (0, 5), "the search must work"
    assert room > 1000 or b"warning: " in result[0].err
    if os.path.exists(out):
        assert json.loads(Path(out).read_bytes())["results"], "the file must be complete or absent"
    assert not [path for path in new.folder.rglob(".*") if path.name != ".env"], "temporary files are left"
    for words in lines:
        new.main(*words)
    assert sorted(json.loads(line)["input"] for line in Path(answers).read_text().splitlines()) == ["seven", "six"]
    assert is_valid(new.path / "data/sleuth.db")
    assert is_valid(new.path / "data/library.db")


def test_full_disk_loses_no_data_of_a_home_in_use(home: Home) -> None:
    before = {path: path.read_bytes() for path in home.path.rglob("*.toml")}
    full = limit_resource(resource.RLIMIT_FSIZE, 0)
    for words in everyday(home):
        assert_clean(home.run(*words, before=full), exits=ANY)
    assert {path: path.read_bytes() for path in before} == before
    assert json.loads(home.main("providers", "show", "brave", "--json").out)["name"] == "Mine"
    assert home.main("history").out.splitlines()[-3:] == [b"two", b"one", b"one"]
    assert is_valid(home.path / "data/library.db")


# Missing and invalid home folders

HOMES: dict[str, dict[str, Any]] = {
    "no HOME": {"HOME": None, "SLEUTH_HOME": None},
    "a missing HOME": {"HOME": "/proc/nowhere", "SLEUTH_HOME": None},
    "an empty HOME": {"HOME": "", "SLEUTH_HOME": None},
    "a relative HOME": {"HOME": "somewhere/else", "SLEUTH_HOME": None},
    "a relative SLEUTH_HOME": {"SLEUTH_HOME": "here"},
    "a SLEUTH_HOME of an unknown user": {"SLEUTH_HOME": "~nobody-of-that-name/x"},
    "a SLEUTH_HOME that is not UTF-8": {"SLEUTH_HOME": b"\xff\xfe \x1b[31m\n"},
    "a SLEUTH_HOME like a URL": {"SLEUTH_HOME": "a?b#c%20d"},
    "a SLEUTH_HOME too long for a file system": {"SLEUTH_HOME": "n" * 300},
    "a SLEUTH_CONFIG that is a folder": {"SLEUTH_CONFIG": "."},
}


@pytest.mark.parametrize("name", HOMES)
def test_search_works_or_is_a_clear_error_with(name: str, new: Home) -> None:
    places = {f"XDG_{kind}_HOME": str(new.work / kind) for kind in ("CONFIG", "DATA", "CACHE", "STATE")}
    environ = HOMES[name] | (places if HOMES[name].get("HOME", "x") != "/proc/nowhere" else {})
    done = new.run("search", "-p", "searxng", "x", environ=environ, cwd=new.work, before=drop_privileges)
    assert_clean(done, exits=(2,) if "too long" in name or "folder" in name else (0,))
    assert not [path.name for path in new.work.iterdir() if path.name in ("somewhere", ".config", ".cache")]


# Malformed settings

SETTINGS = {
    "ten megabytes of comments": b"# \n" * 3_500_000,
    "ten megabytes of names": b"".join(b"k%d = 1\n" % number for number in range(800_000)),
    "a megabyte of names": b"".join(b"k%d = 1\n" % number for number in range(80_000)),
    "a zero byte": b"[websearch]\nmax_results = 7\0\n",
    "not UTF-8": b"[websearch]\nregion = '\xff\xfe'\n",
    "UTF-16": "[websearch]\nmax_results = 7\n".encode("utf-16"),
    "five thousand brackets": b"x = " + b"[" * 5000 + b"]" * 5000,
    "five thousand tables": b"a" + b".a" * 5000 + b" = 1\n",
    "five thousand tables in brackets": b"[" + b"a." * 5000 + b"a]\nb = 1\n",
    "a number of 5000 digits": b"[websearch]\nmax_results = " + b"9" * 5000,
    "not a number": b"[websearch]\ntimeout = nan\n",
    "a table that is a value": b"websearch = 7\n",
    "escape sequences": b'[websearch]\nregion = "\\u001b[31m"\n"\\u001b]0;x" = 1\n',
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_read_or_rejected(name: str, new: Home) -> None:
    file = new.path / "config/config.toml"
    file.parent.mkdir(parents=True)
    file.write_bytes(SETTINGS[name])
    new.main("search", "-p", "searxng", "x", exits=(0, 2))
    new.main("config", "validate", exits=(0, 2))
    if name != "a megabyte of names":  # editing with comments kept takes half a minute
        done = new.main("config", "set", "cache.max_entries", "50", exits=(0, 2))
        assert done.exit == 0 or file.read_bytes() == SETTINGS[name], "rejected settings were changed"


# Corrupted files


def corruptions(home: Home, name: str) -> Iterator[int]:
    """Corrupt one file of a home again and again, each time in another way; all others are restored before."""
    file = home.path / name
    intact = file.read_bytes()
    others = {path: path.read_bytes() for path in home.path.rglob("*") if path.is_file() and path != file}
    for number in range(CORRUPTIONS):
        for path in [path for path in home.path.rglob("*") if path.is_file() and path not in others]:
            path.unlink()
        for path, data in others.items():
            if not path.exists() or path.stat().st_size != len(data) or path.read_bytes() != data:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.write_bytes(data)
        file.write_bytes(corrupt(intact, random.Random(f"{name} {number}")))
        yield number


def test_corrupted_settings_are_never_overwritten(home: Home) -> None:
    file = home.path / "config/config.toml"
    for _ in corruptions(home, "config/config.toml"):
        data = file.read_bytes()
        home.main("search", "-p", "searxng", "one", exits=(0, 2))
        done = home.main("config", "set", "cache.max_entries", "50", exits=(0, 2))
        assert file.read_bytes() == data or done.exit == 0
        if done.exit == 0:
            left = tomllib.loads(data.decode("utf-8-sig"))
            left.setdefault("cache", {})["max_entries"] = 50
            assert repr(tomllib.loads(file.read_text())) == repr(left)


def test_corrupted_database_is_rejected_with_a_hint_or_used(home: Home) -> None:
    file = home.path / "data/sleuth.db"
    refused = 0
    for _ in corruptions(home, "data/sleuth.db"):
        lines = ("search -p searxng new", "providers list", "history", "usage", "providers show brave")
        for line in lines:
            data = file.read_bytes()
            done = home.main(*line.split(), exits=ANY)
            if f"the database {file} is damaged" in done.message:
                refused += 1
                assert "sleuth doctor" in done.message
                assert file.read_bytes() == data, "a rejected database was changed"
    assert refused > CORRUPTIONS / 4


def test_corrupted_library_works_or_is_a_clear_error(home: Home) -> None:
    for _ in corruptions(home, "data/library.db"):
        for words in (("library", "search", "runtimes"), ("library", "list"), ("library", "list", "--json")):
            home.main(*words, exits=ANY)
        assert home.main("search", "-p", "searxng", "one").out.count(b"https://") == 4, "other providers must work"


def test_corrupted_cache_is_ignored(home: Home) -> None:
    for _ in corruptions(home, "cache/answers/cache.db"):
        home.main("cache", "stats")
        for words in ("one", "new"):
            assert home.main("search", "-p", "searxng", words).out.count(b"https://") == 4
        assert len(json.loads(home.main("search", "-p", "searxng", "--json", "new").out)["results"]) == 4
        home.main("cache", "clear")


def test_corrupted_rendered_answer_is_never_printed(home: Home) -> None:
    words = ["search", "-p", "searxng", "one"]
    shutil.rmtree(home.path / "cache/rendered")
    answer = assert_clean(home.run(*words)).out.decode()
    (file,) = (home.path / "cache/rendered").iterdir()
    data, printed = file.read_bytes(), 0
    for number in range(5 * CORRUPTIONS):
        file.write_bytes(corrupt(data, random.Random(number)) if number else data)
        out = io.StringIO()
        if parser.print_rendered(parser.CommandLine(list(words)), home.environ, out, io.StringIO()):
            assert out.getvalue() == answer
            printed += 1
    assert printed < CORRUPTIONS / 4, "only changes without effect may pass"


def test_corrupted_journal_loses_only_the_corrupted_lines(home: Home) -> None:
    journal = home.path / "state/searches.jsonl"
    lines = [line for line in journal.read_bytes().split(b"\n") if line]
    for _ in corruptions(home, "state/searches.jsonl"):
        left = {json.loads(line)["query"] for line in lines if line in journal.read_bytes().split(b"\n")}
        kept = set(home.main("history").out.decode().splitlines())
        assert left <= kept
        home.main("usage")
