"""Files that another user, or a downloaded folder, put in the way: sleuth reads, runs and replaces none of them."""

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.base import files
from sleuth.base.errors import UnwritableError
from sleuth.store.cache import rendered

pytestmark = pytest.mark.adversarial

NOBODY = 65534
HITS = {"results": [{"url": "https://a.test/", "title": "A hit", "content": "text"}]}


@pytest.fixture
def home(sleuth: Any, httpserver: HTTPServer) -> Any:
    httpserver.expect_request("/search").respond_with_json(HITS)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    assert sleuth("search", "-p", "searxng", "first").exit == 0
    return sleuth


@pytest.fixture
def as_root() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")


def paths(home: Any) -> dict[str, Path]:
    base = Path(home.environ["SLEUTH_HOME"])
    names = ("config/config.toml", "config/rules.txt", "state/searches.jsonl", "data/sleuth.db", "data/sleuth.db.stamp")
    return {Path(name).name: base / name for name in names}


@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
@pytest.mark.parametrize("name", ["config.toml", "rules.txt", "searches.jsonl", "sleuth.db", "sleuth.db.stamp"])
def test_pipe_device_or_huge_file_ends_no_command_in_waiting(name: str, kind: str, home: Any) -> None:
    path = paths(home)[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        path.touch()
        os.truncate(path, 20_000_000_000)
    for line in (("search", "-p", "searxng", "second"), ("history",), ("config", "show")):
        result = home(*line)
        assert result.exit in (0, 1, 2, 7), result
        assert "unexpected" not in result.err


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("name", ["config.toml", "sleuth.db"])
def test_settings_and_database_of_another_user_are_not_used(name: str, home: Any, tmp_path: Path) -> None:
    path, mark = paths(home)[name], tmp_path / "ran"
    if name == "sleuth.db":
        connection = sqlite3.connect(path)
        connection.execute("UPDATE websearch_provider SET api_key = ? WHERE id = 'tavily'", (f"cmd:touch {mark}",))
        connection.commit()
        connection.close()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('[websearch]\nprovider = "tavily"\n')
    os.chown(path, NOBODY, NOBODY)
    result = home("search", "-p", "tavily", "hello")
    assert result.exit != 0
    assert not mark.exists()
    assert str(path) in result.err


def planted_log(home: Any, mark: Path, tmp_path: Path) -> bytes:
    """Return a write-ahead log that replaces the whole database by one with a command as a key."""
    copy = tmp_path / "copy.db"
    copy.write_bytes(paths(home)["sleuth.db"].read_bytes())
    connection = sqlite3.connect(copy, isolation_level=None)
    connection.execute("UPDATE websearch_provider SET api_key = ? WHERE id = 'tavily'", (f"cmd:touch {mark}",))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute("VACUUM")
    log = Path(f"{copy}-wal").read_bytes()
    connection.close()
    return log


def own_log(home: Any, mark: Path, tmp_path: Path) -> None:
    path = Path(f"{paths(home)['sleuth.db']}-wal")
    path.write_bytes(planted_log(home, mark, tmp_path))
    path.chmod(0o600)


def log_of_another_user(home: Any, mark: Path, tmp_path: Path) -> None:
    own_log(home, mark, tmp_path)
    os.chown(f"{paths(home)['sleuth.db']}-wal", NOBODY, NOBODY)


def log_next_to_the_target_of_a_link(home: Any, mark: Path, tmp_path: Path) -> None:
    path, real = paths(home)["sleuth.db"], tmp_path / "real"
    log_of_another_user(home, mark, tmp_path)
    real.mkdir()
    for end in ("", "-wal"):
        os.rename(f"{path}{end}", real / f"sleuth.db{end}")
    path.symlink_to(real / "sleuth.db")


def folder_of_another_user(home: Any, mark: Path, tmp_path: Path) -> None:
    own_log(home, mark, tmp_path)
    os.chown(paths(home)["sleuth.db"].parent, NOBODY, NOBODY)


def folder_that_anyone_may_write(home: Any, mark: Path, tmp_path: Path) -> None:
    own_log(home, mark, tmp_path)
    paths(home)["sleuth.db"].parent.chmod(0o777)


def folder_that_is_a_link_of_another_user(home: Any, mark: Path, tmp_path: Path) -> None:
    own_log(home, mark, tmp_path)
    folder = paths(home)["sleuth.db"].parent
    folder.rename(tmp_path / "downloaded")
    folder.symlink_to(tmp_path / "downloaded")
    os.chown(folder, NOBODY, NOBODY, follow_symlinks=False)


def test_planted_log_is_what_sqlite_applies(home: Any, tmp_path: Path) -> None:
    own_log(home, tmp_path / "ran", tmp_path)
    home("search", "-p", "tavily", "hello")
    assert (tmp_path / "ran").exists()  # the attacks below would succeed without the checks


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(
    "attack",
    [
        log_of_another_user,
        log_next_to_the_target_of_a_link,
        folder_of_another_user,
        folder_that_anyone_may_write,
        folder_that_is_a_link_of_another_user,
    ],
)
def test_log_that_another_user_put_next_to_the_database_runs_no_command(
    attack: Callable[[Any, Path, Path], None], home: Any, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    attack(home, mark, tmp_path)
    result = home("search", "-p", "tavily", "hello")
    assert not mark.exists()
    assert "sleuth.db" in result.err
    assert "another user owns it" in result.err
    assert home("providers", "set", "tavily", "--api-key", "k").exit != 0
    assert "providers list" not in home("doctor", "--repair").out
    assert not mark.exists()


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("name", ["config/config.toml", "config/rules.txt", "data/library.db"])
def test_own_file_in_the_folder_of_another_user_is_not_used(name: str, home: Any, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("own words")
    home("library", "add", str(tmp_path / "note.md"))
    path = Path(home.environ["SLEUTH_HOME"], name)
    if path.suffix != ".db":
        path.parent.mkdir(exist_ok=True)
        path.write_text("-a.test\n" if path.suffix == ".txt" else "")
    assert home("search", "-p", "library", "own words").exit == 0
    os.chown(path.parent, NOBODY, NOBODY)
    assert "another user owns it or its folder" in home("search", "-p", "library", "own words").err


@pytest.mark.usefixtures("as_root")
def test_journal_of_another_user_is_named_with_how_to_check_it(home: Any) -> None:
    assert home("search", "-p", "searxng", "words").exit == 0
    os.chown(Path(home.environ["SLEUTH_HOME"], "state", "searches.jsonl"), NOBODY, NOBODY)
    for _ in range(2):
        result = home("history")
        assert (result.exit, "another user owns it" in result.err, "hint: check type, owner" in result.err) == (
            2,
            True,
            True,
        )
    assert home("search", "-p", "searxng", "words").exit == 0


@pytest.mark.usefixtures("as_root")
def test_cache_in_the_folder_of_another_user_is_not_used(home: Any) -> None:
    line = ("search", "-p", "searxng", "--format", "json", "-n", "3", "first")
    assert '"cached": true' in home(*line).out
    os.chown(Path(home.environ["SLEUTH_HOME"], "cache", "answers"), NOBODY, NOBODY)
    assert '"cached": true' not in home(*line).out


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize(("owner", "mode"), [(0, 0o755), (0, 0o1777), (None, 0o770)])
def test_folder_of_root_of_a_group_or_with_sticky_bit_is_used(owner: int | None, mode: int, home: Any) -> None:
    folder = paths(home)["sleuth.db"].parent
    os.chown(folder, os.geteuid() if owner is None else owner, -1)
    folder.chmod(mode)
    result = home("providers", "list")
    assert (result.exit, "not used" in result.err) == (0, False)


@pytest.mark.usefixtures("as_root")
def test_rendered_answer_of_another_user_is_not_printed(home: Any) -> None:
    for _ in range(3):
        home("search", "-p", "searxng", "first")
    found = list(Path(home.environ["SLEUTH_HOME"], "cache", "rendered").glob(f"*{rendered.SUFFIX}"))
    for path in found:
        body = path.read_bytes().partition(b"\0")[2].replace(b"A hit", b"\x1b]0;planted\x07")
        path.write_bytes(rendered.digest(body) + b"\0" + body)
        os.chown(path, NOBODY, NOBODY)
    assert "planted" not in home("search", "-p", "searxng", "first").out


def test_rendered_answers_hold_no_variables(home: Any) -> None:
    secrets = {
        "SEARXNG_SECRET": "ultra-secret-9999",
        "SLEUTH_PASSPHRASE": "correct-horse",
        "SLEUTH_API_KEYS": "k-1,k-2",
    }
    home.environ.update(secrets)
    for _ in range(3):
        home("search", "-p", "searxng", "first")
    written = b"".join(path.read_bytes() for path in Path(home.environ["SLEUTH_HOME"]).rglob("*.answer"))
    assert not [value for value in secrets.values() if value.encode() in written]


@pytest.mark.usefixtures("as_root")
def test_link_of_another_user_in_a_shared_folder_is_not_written_through(tmp_path: Path) -> None:
    victim, shared = tmp_path / "victim", tmp_path / "shared"
    victim.write_text("mine")
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "out").symlink_to(victim)
    os.chown(shared / "out", NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(UnwritableError, match="symbolic link of another user"):
        files.write_out(str(shared / "out"), b"planted")
    assert victim.read_text() == "mine"
    os.chown(shared / "out", os.geteuid(), -1, follow_symlinks=False)
    files.write_out(str(shared / "out"), b"own link")
    assert victim.read_text() == "own link"


@pytest.mark.usefixtures("as_root")
@pytest.mark.parametrize("resume", [(), ("--resume",)])
def test_batch_is_not_written_through_a_link_of_another_user(
    resume: tuple[str, ...], home: Any, tmp_path: Path
) -> None:
    victim, shared, queries = tmp_path / "victim", tmp_path / "shared", tmp_path / "queries"
    queries.write_text("one\n")
    if resume:
        victim.write_text('{"input": "one", "query": "on')
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "out").symlink_to(victim)
    os.chown(shared / "out", NOBODY, NOBODY, follow_symlinks=False)
    result = home("search", "-p", "searxng", "--batch", str(queries), "-o", str(shared / "out"), *resume)
    assert (result.exit != 0, "symbolic link of another user" in result.err) == (True, True)
    assert victim.read_text() == '{"input": "one", "query": "on' if resume else not victim.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"my important notes\n" * 50,
        b"my important notes, without an end",
        b"SQLite format 3\0" + bytes(5000),
        b"[" * 100_000,
        b'{"input": "x", "results": []}\nnot an answer\n{"input": "y", "results": []}\n',
        b'{"input": "x"}\n{"other": 1}',
        b'{"input": "one", "model": "m"}\n{"input": "two", "model": "m"}\n',
        b'{"input": "one", "model": "m"}',
        b'{"input": "one", "mod',
        b"{",
    ],
)
def test_resume_leaves_a_foreign_file_as_it_is(content: bytes, home: Any, tmp_path: Path) -> None:
    output, queries = tmp_path / "out", tmp_path / "queries"
    output.write_bytes(content)
    queries.write_text("one\ntwo\n")
    result = home("search", "-p", "searxng", "--batch", str(queries), "-o", str(output), "--resume")
    assert (result.exit, "is not the output of a batch" in result.err) == (2, True)
    assert output.read_bytes() == content


def test_resume_cuts_off_an_unfinished_line(home: Any, tmp_path: Path) -> None:
    output, queries = tmp_path / "out", tmp_path / "queries"
    queries.write_text("one\ntwo\n")
    line = ("search", "-p", "searxng", "--batch", str(queries), "--ordered", "-o", str(output))
    home(*line)
    whole = output.read_bytes().splitlines(keepends=True)
    for rest in (b"{", b'{"input": "tw', whole[1][:-2]):
        output.write_bytes(whole[0] + rest)
        assert home(*line, "--resume").exit == 0
        assert [b'"two"' in line for line in output.read_bytes().splitlines()] == [False, True]
    output.write_bytes(whole[0][:-2])
    assert home(*line, "--resume").exit == 0
    assert [b'"two"' in line for line in output.read_bytes().splitlines()] == [False, True]


def test_resume_keeps_a_last_answer_without_a_line_break(home: Any, tmp_path: Path) -> None:
    output, queries = tmp_path / "out", tmp_path / "queries"
    queries.write_text("one\ntwo\n")
    line = ("search", "-p", "searxng", "--batch", str(queries), "-o", str(output))
    output.write_text('{"query":"one","results":[],"input":"one"}')
    assert home(*line, "--resume").exit == 0
    first, second = output.read_text().splitlines()
    assert (first, json.loads(second)["input"]) == ('{"query":"one","results":[],"input":"one"}', "two")


def test_failed_search_replaces_no_file(home: Any, tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    line = ("search", "-p", "searxng", "--json", "-o", str(output), "other words")
    assert home(*line).exit == 0
    good = output.read_bytes()
    assert home(*line, "--refresh", SEARXNG_URL="http://127.0.0.1:9").exit == 6
    assert output.read_bytes() == good


def test_links_out_of_an_added_folder_are_not_followed(home: Any, tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "repo"
    secret.mkdir()
    (secret / "id_rsa").write_text("PRIVATE KEY MATERIAL")
    (secret / "notes.md").write_text("more PRIVATE words")
    (folder / "docs").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "token.txt").write_text("PRIVATE token")
    (folder / "docs" / "real.md").write_text("A public guide")
    (folder / "docs" / "guide.md").symlink_to(secret / "id_rsa")
    (folder / "docs" / "token.md").symlink_to(folder / ".git" / "token.txt")
    (folder / "more").symlink_to(secret)
    (folder / "again.md").symlink_to(folder / "docs" / "real.md")
    (folder / "loop").symlink_to(".")
    result = home("library", "add", str(folder))
    assert "outside the folder" in result.err
    assert "loop" not in result.err
    assert "PRIVATE" not in home("search", "-p", "library", "PRIVATE").out
    assert "public guide" in home("search", "-p", "library", "guide").out


def test_stopped_process_does_not_block_the_same_search(home: Any, httpserver: HTTPServer) -> None:
    arrived, end = threading.Event(), threading.Event()

    def slow(_: Request) -> Response:
        is_first = not arrived.is_set()
        arrived.set()
        if is_first:
            end.wait(50)
        return Response('{"results": [{"url": "https://a.test/", "title": "A hit"}]}', content_type="application/json")

    httpserver.expect_request("/slow/search").respond_with_handler(slow)
    environ = home.environ | {"SEARXNG_URL": httpserver.url_for("/slow"), "SLEUTH_SEARXNG_TIMEOUT": "6"}
    command = [sys.executable, "-m", "sleuth", "search", "-p", "searxng", "same words"]
    first = subprocess.Popen(command, env=os.environ | environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert arrived.wait(30)
        first.send_signal(signal.SIGSTOP)
        done = subprocess.run(command, env=os.environ | environ, capture_output=True, text=True, check=False)
        assert (done.returncode, "A hit" in done.stdout) == (0, True), done.stderr
    finally:
        end.set()
        first.kill()
        first.communicate()


def test_new_files_are_private(home: Any) -> None:
    modes = {stat.S_IMODE(path.stat().st_mode) for path in Path(home.environ["SLEUTH_HOME"]).rglob("*.db")}
    assert modes == {0o600}
