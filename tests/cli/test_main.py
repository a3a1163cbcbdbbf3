"""Process start and exit: streams, signals, languages, damaged homes."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth import __version__


def test_version(sleuth: Any) -> None:
    assert sleuth.process("--version").out == f"sleuth {__version__}\n"
    assert sleuth("--version", "--debug").out == f"sleuth {__version__}\n"


def test_help_lists_every_command(sleuth: Any) -> None:
    from sleuth.commands.app import COMMANDS

    out = sleuth.process("--help").out
    assert all(name in out for name in COMMANDS)


def test_version_and_help_have_the_usual_names(sleuth: Any) -> None:
    assert sleuth.process("-V").out == sleuth.process("version").out == sleuth.process("--version").out
    assert sleuth.process("help", "cache", "stats").out == sleuth.process("cache", "stats", "--help").out
    assert sleuth.process("help").out == sleuth.process("--help").out


def test_words_that_are_no_command_are_searched_for(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    assert "https://a.example/" in sleuth("help", "me", "please").out
    assert [request.args["q"] for request, _ in httpserver.log] == ["help me please"]
    misspelt = sleuth("serach", "x")
    assert (misspelt.exit, misspelt.err) == (0, "note: searching for 'serach'; did you mean: sleuth search\n")
    assert sleuth("--quiet", "serach", "x").err == ""
    assert "searching for 'ask'; did you mean: sleuth ask" in sleuth("--no-cache", "ask", "why").err
    assert sleuth("-n", "3", "config", "set").exit == 0, "the words stand after an option of a search"
    assert sleuth("https://a.example/").err == "note: to read a page: sleuth read URL\n"


def test_misspelt_command_with_its_subcommand_is_not_searched_for(sleuth: Any, httpserver: HTTPServer) -> None:
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    done = sleuth("confg", "set", "llm.api_key", "sk-secret")
    assert done.exit == 2
    assert done.err == (
        "error: unknown command confg; did you mean config?\nhint: to search for these words: sleuth search confg …\n"
    )
    assert httpserver.log == []


@pytest.mark.parametrize(
    ("word", "said"), [("serach", "unknown command serach; did you mean search?"), ("xyz", "unknown command xyz")]
)
def test_help_on_an_unknown_command_is_an_error(sleuth: Any, httpserver: HTTPServer, word: str, said: str) -> None:
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    done = sleuth("help", word)
    hint = "to search for these words: sleuth search help …"
    assert (done.exit, done.err, httpserver.log) == (2, f"error: {said}\nhint: {hint}\n", [])


@pytest.mark.parametrize("query", ["open source search engine", "library of congress", "config file location"])
def test_query_that_begins_with_a_command_names_the_search(sleuth: Any, query: str) -> None:
    done = sleuth(*query.split())
    command = query.split()[0]
    assert done.exit == 2
    assert done.err.endswith(
        f"hint: see: sleuth {command} --help; to search for these words: sleuth search {command} …\n"
    )


@pytest.mark.parametrize("words", [("open", "x"), ("library", "serach", "x"), ("open", "x", "--print")])
def test_mistake_in_a_command_names_its_help_alone(sleuth: Any, words: tuple[str, ...]) -> None:
    assert sleuth(*words).err.endswith(f"hint: see: sleuth {words[0]} --help\n")


def test_colour_can_be_turned_off(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    assert "\x1b[" in sleuth("x", terminal=True).out
    assert "\x1b[" not in sleuth("x", "--no-color", terminal=True).out


def test_global_flags_are_allowed_anywhere(sleuth: Any) -> None:
    assert sleuth("config", "path", "--debug").exit == 0
    assert sleuth("config", "--color", "never", "path").exit == 0
    assert sleuth("config", "path", "--color").exit == 2


@pytest.mark.parametrize("language", ["zh_CN.UTF-8", "zh_CN", "zh-TW"])
def test_messages_are_chinese_in_a_chinese_locale(make_sleuth: Any, language: str) -> None:
    sleuth = make_sleuth(LC_ALL=language)
    assert "错误：" in sleuth("search", "-p", "nosuch", "x").err


def test_setting_chooses_the_language(sleuth: Any) -> None:
    sleuth("config", "set", "ui.language", "zh-CN")
    assert "错误：" in sleuth("search", "-p", "nosuch", "x").err


@pytest.mark.parametrize("words", ["read nofile", "usage --days 0", "search -n 0 x", "library show nothing"])
def test_errors_of_every_command_are_in_the_language_of_the_settings(sleuth: Any, words: str) -> None:
    """Also of commands that need no setting."""
    sleuth("config", "set", "ui.language", "zh-CN")
    assert sleuth(*words.split()).err.startswith("错误：")


def test_ascii_locale_replaces_other_characters(sleuth: Any) -> None:
    done = sleuth.process(
        "search", "--offline", "searxng", LANG="C", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert done.exit == 0
    assert "Traceback" not in done.err


def test_closed_streams_are_handled(sleuth: Any) -> None:
    for closing in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        done = subprocess.run(
            ["sh", "-c", f'"{sys.executable}" -m sleuth config path {closing}'],
            env=sleuth.environ,
            capture_output=True,
            timeout=30,
        )
        assert done.returncode == 0, closing
        assert b"Traceback" not in done.stderr


def test_closed_pipe_is_quiet(sleuth: Any) -> None:
    done = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m sleuth search -p library -n 50 searxng | head -n 1'],
        env=sleuth.environ,
        capture_output=True,
        timeout=30,
    )
    assert done.stdout.startswith(b"1. ")
    assert done.stderr == b""


def test_interrupt_ends_a_running_search_with_exit_status_130(sleuth: Any) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    accepted = threading.Event()
    connections = []
    thread = threading.Thread(target=lambda: (connections.append(server.accept()[0]), accepted.set()), daemon=True)
    thread.start()
    environ = sleuth.environ | {"SEARXNG_URL": f"http://127.0.0.1:{server.getsockname()[1]}"}
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", "search", "-p", "searxng", "x"], env=environ, stderr=subprocess.PIPE
    )
    assert accepted.wait(300)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)  # the server never answers
    for opened in (*connections, server):
        opened.close()
    assert process.returncode == 130
    assert b"interrupted" in err
    assert b"Traceback" not in err


def test_warnings_as_errors_break_nothing(sleuth: Any) -> None:
    done = sleuth.process("search", "--offline", "searxng", PYTHONWARNINGS="error")
    assert (done.exit, done.err.count("Traceback")) == (0, 0)


class TestDamagedHome:
    """A search works as far as possible; a command that must write says why it cannot."""

    def test_broken_toml_names_line_and_column(self, sleuth: Any) -> None:
        file = sleuth.home / "config" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text("[websearch]\nmax_results = = 3\n")
        done = sleuth("search", "x")
        assert done.exit == 2
        assert "line 2, column 15" in done.err
        before = file.read_bytes()
        assert sleuth("config", "set", "websearch.max_results", "3").exit == 2
        assert file.read_bytes() == before

    def test_setting_of_the_wrong_type_is_reported_once_and_ignored(self, sleuth: Any) -> None:
        file = sleuth.home / "config" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text('[websearch]\nmax_results = "many"\n')
        done = sleuth("search", "--offline", "searxng")
        assert done.exit == 0
        assert done.err.count("websearch.max_results") == 1
        assert "from 1 to 50" in done.err
        assert sleuth("config", "validate").exit == 2

    def test_home_that_cannot_be_created_is_a_warning(self, sleuth: Any, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("not a folder")
        done = sleuth("search", "-p", "searxng", "x", SLEUTH_HOME=str(tmp_path / "file"))
        assert done.exit == 6, "the search itself was tried"
        assert "using the built-in provider table" in done.err
        done = sleuth("config", "set", "websearch.max_results", "3", SLEUTH_HOME=str(tmp_path / "file"))
        assert done.exit == 2
        assert "cannot create the folder" in done.err

    def test_unwritable_home_still_searches(self, sleuth: Any, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/search").respond_with_json(
            {"results": [{"url": "https://a.example/", "title": "A"}]}
        )
        done = sleuth(
            "search", "--json", "-p", "searxng", "x", SLEUTH_HOME="/proc/1/none", SEARXNG_URL=httpserver.url_for("")
        )
        assert (done.exit, len(done.json["results"])) == (0, 1)

    def test_keys_of_a_read_only_home_are_used(
        self, sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from sleuth.base.errors import UnwritableError
        from sleuth.store import database
        from sleuth.store.migrations import MIGRATIONS

        hit = {"title": "A", "url": "https://a.example/", "description": "x"}
        path, headers = "/res/v1/web/search", {"X-Subscription-Token": "mine"}
        httpserver.expect_request(path, headers=headers).respond_with_json({"web": {"results": [hit]}})
        sleuth("providers", "set", "brave", "--api-key", "-", "--api-host", httpserver.url_for(""), stdin="mine\n")
        real = database.open_database

        def refuse(path: str, migrations: Any) -> Any:  # like a read-only file system
            if path != database.MEMORY and migrations is MIGRATIONS:
                raise UnwritableError("cannot write the database {path}", path=path)
            return real(path, migrations)

        monkeypatch.setattr(database, "open_database", refuse)
        done = sleuth("search", "-p", "brave", "--json", "x")
        assert (done.exit, len(done.json["results"])) == (0, 1)
        assert "usage and cooldowns are not saved" in done.err

    def test_corrupt_cache_is_ignored(self, sleuth: Any, httpserver: HTTPServer) -> None:
        httpserver.expect_request("/search").respond_with_json(
            {"results": [{"url": "https://a.example/", "title": "A"}]}
        )
        sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
        folder = sleuth.home / "cache" / "answers"
        folder.mkdir(parents=True)
        (folder / "cache.db").write_bytes(os.urandom(5000))
        for _ in range(2):
            assert sleuth("search", "--json", "-p", "searxng", "x").json["cached"] is False


def test_files_are_private_whatever_the_umask(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    run = f'"{sys.executable}" -m sleuth'
    command = f"umask 000; {run} search -p searxng x; {run} config set cache.max_entries 50"
    environ = sleuth.environ | {"SEARXNG_URL": httpserver.url_for("")}
    assert subprocess.run(["sh", "-c", command], env=environ, capture_output=True, timeout=300).returncode == 0
    found = list(sleuth.home.rglob("*"))
    assert len(found) > 5
    for path in found:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("group", ["providers", "config", "library", "cache", "searxng"])
def test_group_without_a_command_shows_its_help(sleuth: Any, group: str) -> None:
    done = sleuth(group)
    assert (done.exit, done.err) == (0, "")
    assert done.out.startswith(f"Usage: sleuth {group} [OPTIONS] COMMAND")
