"""`sleuth doctor` end to end: what it examines, its output and its exit codes."""

import os
import re
import socket
import sqlite3
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth_providers.adapters.searxng import SearXNG

SIGNS = {"Server-Timing": "total;dur=0.6, render;dur=0", "X-Download-Options": "noopen"}
CONFIG = {
    "engines": [{"name": "alpha", "enabled": True, "categories": ["general"]}],
    "instance_name": "test",
    "version": "2999.1.1",
    "limiter": {"enabled": False},
}


@pytest.fixture
def searxng(httpserver: HTTPServer) -> HTTPServer:
    """A SearXNG as far as the doctor can tell."""
    answers: dict[str, Any] = {"/config": CONFIG}
    httpserver.expect_request("/healthz").respond_with_data("OK", headers=SIGNS)
    for path, body in answers.items():
        httpserver.expect_request(path).respond_with_json(body, headers=SIGNS)
    found = {"query": "q", "results": [{"url": "https://a.example", "title": "A"}], "unresponsive_engines": []}
    timing = {"Server-Timing": "total;dur=9, render;dur=0, total_0_alpha;dur=7.5"}
    httpserver.expect_request("/search", query_string="format=json").respond_with_json(
        {"error": "No query"}, status=400, headers=SIGNS
    )
    httpserver.expect_request("/search").respond_with_json(found, headers=SIGNS | timing)
    return httpserver


@pytest.fixture
def without_json(httpserver: HTTPServer) -> HTTPServer:
    """A SearXNG whose formats lack JSON."""
    httpserver.expect_request("/healthz").respond_with_data("OK", headers=SIGNS)
    httpserver.expect_request("/config").respond_with_json(CONFIG, headers=SIGNS)
    httpserver.expect_request("/search").respond_with_data("<title>403 Forbidden</title>", status=403, headers=SIGNS)
    return httpserver


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture(autouse=True)
def without_docker(sleuth: Any) -> None:
    """Hide the containers that run on this machine."""
    sleuth.environ["PATH"] = "/nowhere"


def address(server: HTTPServer) -> str:
    return server.url_for("").rstrip("/")


def test_healthy_server_exits_0_with_one_line_per_check(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("doctor", address(searxng))
    assert done.exit == 0
    assert done.err == ""
    lines = done.out.splitlines()
    assert lines[:2] == ["SearXNG", f"✓ {address(searxng)}"]
    assert "✓ SearXNG 2999.1.1" in lines
    assert "✓ JSON output is enabled" in lines
    assert "✓ Engines: 1 answered, 0 failed" in lines
    assert "\x1b" not in done.out
    assert "✗" not in done.out


def test_password_that_the_server_repeats_is_not_shown(sleuth: Any, httpserver: HTTPServer) -> None:
    password, echoed = "PassWord-1234567890", b64encode(b"alice:PassWord-1234567890").decode()
    login = ("--basic-auth-username", "alice", "--basic-auth-password", password)
    sleuth("providers", "set", "searxng", "--api-host", address(httpserver), *login, SEARXNG_URL="")
    said = f"{'x' * 50}{password} {echoed} {password.lower()}.example"
    config = {"engines": [{"name": said, "enabled": True}], "instance_name": said, "version": said}
    headers = SIGNS | {"Server": said, "WWW-Authenticate": said, "Location": f"http://{password}.example/"}
    for status in (200, 302, 401):
        httpserver.clear()
        httpserver.expect_request("/config").respond_with_json(config, status, headers=headers)
        httpserver.expect_request(re.compile("/.*")).respond_with_data(f"<title>{said}", status, headers=headers)
        done = sleuth("doctor", "-p", "searxng", "--json", SEARXNG_URL="")
        assert "hidden]" in done.out
        assert not re.search("password-|12345|ywxpy2", done.out.lower())


def test_verbose_shows_evidence_and_times(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("doctor", address(searxng), "--verbose")
    assert re.search(r"✓ JSON output is enabled  \d+ ms", done.out)
    assert "answered: alpha 8 ms" in done.out


def test_failure_is_explained_below_and_exits_1(sleuth: Any, without_json: HTTPServer) -> None:
    done = sleuth("doctor", address(without_json))
    assert done.exit == 1
    listed, _, explained = done.out.partition("\n\n")
    assert "✗ JSON output is disabled" in listed
    assert "– search, engines, time: not checked: JSON output is disabled" in listed
    assert explained.startswith("✗ JSON output is disabled  searxng.json\n")
    assert "`json` is not in `search.formats`" in explained
    assert "\n    search:\n      formats:\n        - html\n        - json\n" in explained
    assert "docker compose restart core" in explained
    assert "handbook: sleuth handbook searxng#enable-json-in-searxng-403-forbidden" in explained
    assert "1 failed" in done.out.splitlines()[-1]


def test_terminal_gets_colour_and_the_same_words(sleuth: Any, without_json: HTTPServer) -> None:
    done = sleuth("doctor", address(without_json), terminal=True)
    assert "\x1b[" in done.out
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", done.out)
    assert "✗ JSON output is disabled" in plain
    assert "        - json" in plain
    colourless = sleuth("doctor", address(without_json), "--color", "never", terminal=True).out
    assert not re.search(r"\x1b\[[0-9;]*m", colourless)


def test_json_is_one_document_for_scripts(sleuth: Any, without_json: HTTPServer) -> None:
    done = sleuth("doctor", address(without_json), "--json")
    assert done.exit == 1
    assert done.json["ok"] is False
    checks = {check["id"]: check for check in done.json["checks"]}
    assert checks["searxng.json"]["state"] == "fail"
    assert "    - json" in checks["searxng.json"]["fix"]
    assert set(checks["searxng.json"]) == {"id", "state", "title", "evidence", "cause", "fix", "link", "elapsedMs"}
    assert {check["state"] for check in checks.values()} <= {"ok", "warn", "fail", "skipped"}


@pytest.mark.parametrize("only", ["searxng.json", "json"])
def test_only_limits_report_and_exit_code(only: str, sleuth: Any, without_json: HTTPServer) -> None:
    done = sleuth("doctor", address(without_json), "--only", only, "--json")
    assert done.exit == 1
    assert [check["id"] for check in done.json["checks"]] == ["searxng.json"]
    assert sleuth("doctor", address(without_json), "--only", "searxng.clock").exit == 0


def test_only_shows_the_failure_that_blocks_a_check(sleuth: Any, closed_port: int) -> None:
    done = sleuth("doctor", f"http://127.0.0.1:{closed_port}", "--only", "searxng.json", "--json")
    assert done.exit == 1
    assert [check["id"] for check in done.json["checks"]] == ["searxng.port", "searxng.json"]


def test_only_with_an_unknown_name_is_refused(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("doctor", address(searxng), "--json", "--only", "searxng.jsno")
    assert (done.exit, done.json["ok"]) == (2, False)
    assert "no check id starts with 'searxng.jsno'" in done.err


def test_without_arguments_server_and_installation_are_examined(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("doctor", "--json", SEARXNG_URL=address(searxng))
    topics = {check["id"].partition(".")[0] for check in done.json["checks"]}
    assert {"searxng", "install"} <= topics


def test_missing_server_is_only_a_warning_when_none_is_configured(
    sleuth: Any, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SearXNG, "host", f"http://127.0.0.1:{closed_port}")
    done = sleuth("doctor", "--only", "searxng", "--json", SEARXNG_URL="")
    checks = {check["id"]: check for check in done.json["checks"]}
    assert done.exit == 0
    assert checks["searxng.port"]["state"] == "warn"
    assert "sleuth searxng init" in checks["searxng.port"]["fix"]
    assert sleuth("doctor", f"http://127.0.0.1:{closed_port}", SEARXNG_URL="").exit == 1
    assert sleuth("doctor", "--provider", "searxng", SEARXNG_URL="").exit == 1


def test_configured_server_that_is_down_is_a_failure(sleuth: Any, closed_port: int) -> None:
    sleuth("providers", "set", "searxng", "--api-host", f"http://127.0.0.1:{closed_port}")
    assert sleuth("doctor", "--only", "searxng", SEARXNG_URL="").exit == 1


def test_disabled_server_is_not_examined(sleuth: Any, closed_port: int) -> None:
    sleuth("providers", "set", "searxng", "--disable")
    done = sleuth("doctor", "--only", "searxng", "--json", SEARXNG_URL=f"http://127.0.0.1:{closed_port}")
    assert [check["state"] for check in done.json["checks"]] == ["skipped"]


def test_second_instance_is_examined_by_its_id(sleuth: Any, without_json: HTTPServer) -> None:
    sleuth("providers", "add", "--id", "work", "--adapter", "searxng", "--api-host", address(without_json))
    done = sleuth("doctor", "--provider", "work", "--json")
    assert done.exit == 1
    assert done.json["checks"][0]["title"] == address(without_json)


def test_search_that_works_ends_the_cool_down(sleuth: Any, searxng: HTTPServer) -> None:
    from sleuth.store.health import Health

    sleuth("providers", "set", "searxng", "--api-host", address(searxng))
    with closing(sqlite3.connect(sleuth.home / "data" / "sleuth.db")) as connection:
        health = Health(connection)
        health.note_outcome("searxng", "rate_limited")
        assert health.cooldown("searxng")
        assert sleuth("doctor", SEARXNG_URL="").exit == 0
        assert not health.cooldown("searxng")


def test_other_provider_gets_one_request(sleuth: Any) -> None:
    done = sleuth("doctor", "--provider", "tavily", "--timeout", "0.1", "--json")
    assert [check["id"] for check in done.json["checks"]] == ["provider.tavily"]


def test_fix_for_a_provider_can_be_pasted(sleuth: Any) -> None:
    (check,) = sleuth("doctor", "--provider", "brave", "--json").json["checks"]
    assert check["fix"] == "# set one:\nsleuth providers set brave --api-key -"


def test_unknown_provider_exits_3(sleuth: Any) -> None:
    assert sleuth("doctor", "--provider", "nobody").exit == 3


def test_password_is_sent_only_to_its_server(sleuth: Any, searxng: HTTPServer) -> None:
    login = ["--basic-auth-username", "alice", "--basic-auth-password", "env:PASSWORD"]
    sleuth("providers", "set", "searxng", "--api-host", "http://search.example.org", *login)
    sleuth("doctor", address(searxng), SEARXNG_URL="")
    assert not any("Authorization" in request.headers for request, _ in searxng.log)
    sleuth("providers", "set", "searxng", "--api-host", address(searxng), *login)
    sleuth("doctor", address(searxng), SEARXNG_URL="")
    assert any("Authorization" in request.headers for request, _ in searxng.log)


def test_fix_needs_a_settings_file(sleuth: Any) -> None:
    done = sleuth("doctor", "--fix")
    assert done.exit == 2
    assert "settings.yml --fix" in done.err


def test_fix_says_nothing_about_a_file_that_cannot_be_read(sleuth: Any, tmp_path: Any) -> None:
    done = sleuth("doctor", "--settings", f"{tmp_path}/settings.yml", "--fix")
    assert (done.exit, "cannot be read" in done.out, done.err) == (1, True, "")


def test_broken_database_does_not_stop_the_doctor(sleuth: Any, searxng: HTTPServer) -> None:
    database = sleuth.home / "data" / "sleuth.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"this is no database" * 100)
    done = sleuth("doctor", "--only", "searxng", "--json", SEARXNG_URL=address(searxng))
    assert {check["state"] for check in done.json["checks"]} <= {"ok", "skipped"}


def test_broken_settings_do_not_stop_the_doctor(sleuth: Any, searxng: HTTPServer) -> None:
    config = sleuth.home / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("this is [not toml")
    done = sleuth("doctor", "--only", "searxng", "--json", SEARXNG_URL=address(searxng))
    assert "searxng.search" in [check["id"] for check in done.json["checks"]]


def test_settings_file_is_checked_without_a_request(sleuth: Any, tmp_path: Any) -> None:
    file = tmp_path / "settings.yml"
    file.write_text("use_default_settings: true\nserver:\n  secret_key: ultrasecretkey\n")
    done = sleuth("doctor", "--settings", str(file), "--json")
    assert done.exit == 1
    assert not any(check["id"].startswith(("searxng.", "install.")) for check in done.json["checks"])


@pytest.mark.parametrize("option", [["--settings"], []])
def test_settings_file_is_fixed_in_a_copy_beside_it(option: list[str], sleuth: Any, tmp_path: Any) -> None:
    file = tmp_path / "settings.yml"
    file.write_text("use_default_settings: true\nsearch:\n  formats: [html]\n")
    done = sleuth("doctor", *option, str(file), "--fix")
    assert "json" in done.out.partition("(fixed)")[2]
    assert f"cp {tmp_path}/settings.fixed.yml {file}" in done.err
    assert "json" in (tmp_path / "settings.fixed.yml").read_text()
    assert "json" not in file.read_text()


def test_fix_replaces_a_link_and_not_its_target(sleuth: Any, tmp_path: Any) -> None:
    """The folder may be a stranger's repository, or belong to the user of the container."""
    file, target, other = tmp_path / "settings.yml", tmp_path / "settings.fixed.yml", tmp_path / "other"
    file.write_text("use_default_settings: true\nsearch:\n  formats: [html]\n")
    other.write_text("mine")
    target.symlink_to(other)
    sleuth("doctor", str(file), "--fix")
    assert (other.read_text(), target.is_symlink(), "json" in target.read_text()) == ("mine", False, True)


def test_command_that_applies_a_fix_names_the_target_of_a_link(sleuth: Any, tmp_path: Any) -> None:
    file, real = tmp_path / "settings.yml", tmp_path / "real.yml"
    real.write_text("use_default_settings: true\nsearch:\n  formats: [html]\n")
    file.symlink_to(real)
    assert f"cp {tmp_path}/settings.fixed.yml {real}\n" in sleuth("doctor", str(file), "--fix").err


def test_naming_a_server_check_requires_a_server(sleuth: Any) -> None:
    sleuth.environ.pop("SEARXNG_URL")
    sleuth("providers", "set", "searxng", "--unset", "api_host")
    assert sleuth("doctor", "--only", "searxng.json").exit == 1


@pytest.mark.parametrize("option", ["--no-pager", "--json"])
def test_exit_code_is_the_same_where_the_reader_of_the_output_has_left(sleuth: Any, option: str) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as out:
        command = [sys.executable, "-m", "sleuth", "doctor", option, "--only", "searxng"]
        done = subprocess.run(command, env=sleuth.environ, stdout=out, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (1, b"")


def test_address_without_its_scheme_is_no_path(sleuth: Any, closed_port: int) -> None:
    done = sleuth("doctor", f"//127.0.0.1:{closed_port}/searxng", "--json")
    states = {check["id"]: check["state"] for check in done.json["checks"]}
    assert (states["searxng.address"], states["searxng.port"]) == ("fail", "fail")


@pytest.mark.parametrize("path", ["/nowhere/settings", "./settings"])
def test_path_is_no_host(sleuth: Any, path: str) -> None:
    assert "✗ Settings file cannot be read" in sleuth("doctor", path).out


def test_name_of_a_missing_settings_file_is_no_host(sleuth: Any, tmp_path: Any) -> None:
    done = sleuth("doctor", str(tmp_path / "settings.yml"))
    assert done.exit == 1
    assert "✗ Settings file cannot be read" in done.out
    assert f"{tmp_path}/settings.yml:Nosuchfileordirectory" in "".join(done.out.split())  # the line is wrapped
