"""Checks of the installation: each finds its problem and none stops another."""

import errno
import io
import os
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth.doctor.finding import Finding
from sleuth.doctor.installation import checks, stores
from sleuth.render.doctor import MARKS
from sleuth.runtime import Runtime
from sleuth.store import database
from sleuth.store.settings import Settings
from sleuth_providers.net import tls

IDS = ["version", "extras", "settings", "disk", "database", "modes", "cache", "library", "keys", "proxies"]
IDS += ["certificates", "terminal", "encoding", "model"]
KEY = "sk-very-secret-0123456789"

Examine = Callable[..., dict[str, Finding]]


class Terminal(io.StringIO):
    """A buffer that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Latin(io.StringIO):
    """A buffer with a given encoding."""

    encoding = "latin-1"


@pytest.fixture
def examine(sleuth: Any) -> Iterator[Examine]:
    """Give a function that examines the installation; of several findings with one id the worst is given."""
    runtimes = []

    def run(out: Any = None, **environ: str) -> dict[str, Finding]:
        runtime = Runtime(sleuth.environ | environ, io.StringIO(), out or io.StringIO(), io.StringIO())
        runtimes.append(runtime)
        findings = list(checks.check_installation(runtime))
        assert all(finding.state in MARKS and finding.title for finding in findings)
        assert list(dict.fromkeys(f.id for f in findings)) == [f"install.{name}" for name in IDS]
        ordered = sorted(findings, key=lambda finding: ("ok", "skipped", "warn", "fail").index(finding.state))
        return {finding.id.removeprefix("install."): finding for finding in ordered}

    yield run
    for runtime in runtimes:
        runtime.close()


@pytest.fixture
def used(sleuth: Any) -> Any:
    """A home in which sleuth has been used."""
    sleuth("providers", "list", "--json")
    return sleuth


def test_new_home_has_no_problem_and_skips_missing_files(examine: Examine) -> None:
    found = examine()
    assert not [f for f in found.values() if f.state in ("warn", "fail")]
    for name in ("database", "modes", "cache", "library", "model", "terminal"):
        assert found[name].state == "skipped", name


def test_used_home_passes(used: Any, examine: Examine) -> None:
    used("search", "-p", "library", "json")
    found = examine()
    for name in ("version", "settings", "database", "modes", "library", "keys"):
        assert found[name].state == "ok", found[name]
    assert "handbook" in found["library"].evidence


def test_every_invalid_setting_is_listed(sleuth: Any) -> None:
    path = Path(sleuth.home) / "config" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[websearch]\nmax_results = 900\nlangage = 'de'\n")
    runtime = Runtime(sleuth.environ, io.StringIO(), io.StringIO(), io.StringIO())
    findings = [f for f in checks.check_installation(runtime) if f.id == "install.settings"]
    runtime.close()
    assert [f.state for f in findings] == ["warn", "warn"]
    assert "max_results" in findings[0].evidence
    assert "did you mean" in findings[1].evidence


def test_unknown_providers_in_settings_are_listed(sleuth: Any) -> None:
    names = {"SLEUTH_WEBSEARCH_DEFAULT_PROVIDER": "duckduckgoo", "SLEUTH_WEBSEARCH_FALLBACK": "serxng,wikipedia"}
    runtime = Runtime(sleuth.environ | names, io.StringIO(), io.StringIO(), io.StringIO())
    findings = [f for f in checks.check_installation(runtime) if f.id == "install.settings"]
    runtime.close()
    assert sleuth("search", "rust", **names).exit == 3
    assert [(f.state, f.evidence.partition(";")[0]) for f in findings] == [
        ("fail", "websearch.default_provider: unknown provider 'duckduckgoo'"),
        ("warn", "websearch.fallback: unknown provider 'serxng'"),
    ]


def test_broken_settings_do_not_stop_other_checks(sleuth: Any, examine: Examine) -> None:
    path = Path(sleuth.home) / "config" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[websearch\n")
    found = examine()
    assert found["settings"].state == "fail"
    assert "line 1" in found["settings"].evidence
    assert found["keys"].state == "ok"


def test_damaged_database_does_not_stop_other_checks(used: Any, examine: Examine) -> None:
    path = Path(used.home) / "data" / "sleuth.db"
    path.write_bytes(b"this is no database at all, and quite long enough to be taken for one" * 20)
    found = examine()
    assert found["database"].state == "fail"
    assert found["database"].fix == "sleuth doctor --repair"
    assert found["keys"].state == "skipped"


def test_database_of_a_newer_sleuth_is_found(used: Any, examine: Examine) -> None:
    path = Path(used.home) / "data" / "sleuth.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert "newer" in examine()["database"].cause


def test_files_that_others_can_read_are_found(used: Any, examine: Examine) -> None:
    path = Path(used.home) / "data" / "sleuth.db"
    path.chmod(0o644)
    path.parent.chmod(0o755)
    found = examine()["modes"]
    assert found.state == "warn"
    assert f"{path}: 0644" in found.evidence
    assert f"chmod 600 {path}" in found.fix
    assert f"chmod 700 {path.parent}" in found.fix


def test_folder_that_cannot_be_written_is_found(sleuth: Any, examine: Examine) -> None:
    sleuth.home.mkdir(parents=True, exist_ok=True)
    (sleuth.home / "data").write_text("a file where the folder should be")  # holds for root too
    found = examine()["disk"]
    assert (found.state, found.evidence) == ("fail", f"{sleuth.home}/data: Not a directory")
    assert found.fix.startswith(f"ls -ld {sleuth.home}/data\n")


@pytest.mark.parametrize(
    ("number", "fix"),
    [
        (errno.ENOSPC, "df -h {places}\ndf -i {places}"),
        (errno.EROFS, "ls -ld {places}\n\n# or keep sleuth's files elsewhere:\nexport SLEUTH_HOME=~/sleuth"),
    ],
)
def test_full_and_read_only_disks_are_found(
    used: Any, examine: Examine, monkeypatch: Any, number: int, fix: str
) -> None:
    def fsync(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(stores.os, "fsync", fsync)
    found = examine()["disk"]
    places = [f"{used.home}/data", *dict.fromkeys(stores._existing(f"{used.home}/{one}") for one in ("cache", "state"))]
    assert (found.state, found.evidence) == ("fail", f"{', '.join(places)}: {os.strerror(number)}")
    assert found.fix == fix.format(places=" ".join(places))


def test_files_that_cannot_be_written_are_found(used: Any, examine: Examine, monkeypatch: Any) -> None:
    put_into_cache(str(used.home), 1)
    connect = sqlite3.connect

    class ReadOnly(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if sql == "BEGIN IMMEDIATE" and super().execute("PRAGMA database_list").fetchone()[2]:
                raise sqlite3.OperationalError("attempt to write a readonly database")
            return super().execute(sql, *values)

    monkeypatch.setattr(stores.sqlite3, "connect", lambda *values, **more: connect(*values, factory=ReadOnly, **more))
    found = examine()
    assert found["disk"].state == "fail"
    places = f"{used.home}/data/sleuth.db, {used.home}/cache/answers/cache.db"
    assert found["disk"].evidence == f"{places}: attempt to write a readonly database"
    assert (found["database"].state, found["cache"].state) == ("ok", "ok")


def test_folder_without_the_database_is_only_a_warning(sleuth: Any, examine: Examine) -> None:
    sleuth.home.mkdir(parents=True)
    (sleuth.home / "cache").write_text("a file")
    assert examine()["disk"].state == "warn"


def test_database_that_another_process_writes_can_be_written(used: Any, examine: Examine) -> None:
    with closing(sqlite3.connect(used.home / "data" / "sleuth.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert examine()["disk"].state == "ok"


def test_keys_of_a_database_that_cannot_be_written_are_found(used: Any, examine: Examine, monkeypatch: Any) -> None:
    used("providers", "set", "tavily", "--api-key", KEY)
    connect = database._connect

    def failing(path: str) -> sqlite3.Connection:
        if path != database.MEMORY:
            raise sqlite3.OperationalError("disk I/O error")
        return connect(path)

    monkeypatch.setattr(database, "_connect", failing)
    found = examine()["keys"]
    assert found.state == "ok"
    assert "tavily: table" in found.evidence


def test_empty_database_is_not_damaged(sleuth: Any) -> None:
    path = Path(sleuth.home) / "data" / "sleuth.db"
    path.parent.mkdir(parents=True, mode=0o700)
    path.touch(mode=0o600)  # what a full disk left
    assert stores.check_database(Runtime(sleuth.environ), Settings("", {})).state == "ok"


def put_into_cache(home: str, mode: int) -> None:
    from sleuth.store.cache.disk import DiskCache

    folder = os.path.join(home, "cache", "answers")
    DiskCache(folder, 10).put("key", {"a": 1}, 60)
    connection = sqlite3.connect(os.path.join(folder, "cache.db"))
    connection.execute("UPDATE Cache SET mode = ?", (mode,))
    connection.commit()
    connection.close()


def test_cache_with_only_text_passes(sleuth: Any, examine: Examine) -> None:
    put_into_cache(str(sleuth.home), 1)
    assert examine()["cache"].state == "ok"


def test_entry_that_is_not_text_is_found(sleuth: Any, examine: Examine) -> None:
    put_into_cache(str(sleuth.home), 4)  # a pickle, as diskcache marks them
    assert "not plain text" in examine()["cache"].cause


def test_damaged_cache_and_library_are_found(sleuth: Any, examine: Examine) -> None:
    for name in ("cache/answers/cache.db", "data/library.db"):
        path = Path(sleuth.home) / name
        path.parent.mkdir(parents=True)
        path.write_bytes(b"nonsense" * 1000)
    found = examine()
    assert found["cache"].state == "warn"
    assert found["library"].state == "fail"


def test_library_without_tables_is_empty(sleuth: Any, examine: Examine) -> None:
    path = Path(sleuth.home) / "data" / "library.db"
    path.parent.mkdir(parents=True, mode=0o700)
    with closing(sqlite3.connect(path)) as connection:  # what a full disk left
        connection.execute("PRAGMA application_id = 1")
    path.chmod(0o600)
    found = examine()["library"]
    assert (found.state, found.evidence) == ("skipped", f"{path} is empty")


def test_cache_that_is_turned_off_is_reported(examine: Examine) -> None:
    assert "off: " in examine(SLEUTH_CACHE_TTL_MINUTES="0")["cache"].evidence


def test_keys_are_required_only_for_providers_in_use(used: Any, examine: Examine) -> None:
    assert examine()["keys"].state == "ok"
    found = examine(SLEUTH_WEBSEARCH_FALLBACK="brave,searxng")["keys"]
    assert (found.state, found.evidence) == ("warn", "no key: brave")
    assert found.fix == "sleuth providers set brave --api-key -"
    used("providers", "set", "tavily", "--api-key", "env:UNSET")  # it works without a key, but one was set
    assert examine()["keys"].evidence == "no key: tavily"


def test_default_without_its_key_is_a_failure(used: Any, examine: Examine) -> None:
    used("providers", "use", "brave")
    assert examine()["keys"].state == "fail"


def test_sources_of_keys_are_shown_but_not_the_keys(used: Any, examine: Examine) -> None:
    used("providers", "set", "tavily", "--api-key", KEY)
    used("providers", "set", "exa", "--api-key", "env:MY_EXA")
    found = examine(BRAVE_API_KEY=KEY, MY_EXA=KEY, SLEUTH_WEBSEARCH_FALLBACK="brave")
    assert found["keys"].state == "ok"
    for words in ("brave: BRAVE_API_KEY", "tavily: table", "exa: env:MY_EXA"):
        assert words in found["keys"].evidence
    assert KEY not in repr(found)


def test_provider_that_is_turned_off_needs_no_key(used: Any, examine: Examine) -> None:
    used("providers", "set", "brave", "--disable")
    assert examine(SLEUTH_WEBSEARCH_FALLBACK="brave,searxng")["keys"].state == "ok"


def test_proxy_that_refuses_is_found(examine: Examine) -> None:
    found = examine(HTTPS_PROXY=f"http://me:{KEY}@127.0.0.1:1")["proxies"]
    assert found.state == "fail"
    assert "does not accept connections" in found.cause
    assert KEY not in repr(found)


def test_proxy_that_accepts_connections_passes(examine: Examine) -> None:
    with socket.socket() as proxy:
        proxy.bind(("127.0.0.1", 0))
        proxy.listen()
        found = examine(all_proxy=f"socks5://127.0.0.1:{proxy.getsockname()[1]}")["proxies"]
    assert found.state == "ok"
    assert "loopback" in found.evidence


@pytest.mark.parametrize("login", [f"http://me:{KEY}@", f"me:{KEY}@", f"me:{KEY[:5]}/{KEY[5:]}@", f"http://{KEY}@"])
def test_login_of_a_proxy_is_not_shown(login: str, examine: Examine) -> None:
    found = examine(HTTP_PROXY=f"{login}127.0.0.1:1")["proxies"]
    assert "HTTP_PROXY=" in found.evidence
    assert found.evidence.endswith("…@127.0.0.1:1")
    assert KEY[-8:] not in repr(found)


@pytest.mark.parametrize("value", ["gopher://a:1", "http://", "http://[", "http://a:b"])
def test_invalid_proxy_address_is_found(value: str, examine: Examine) -> None:
    assert examine(http_proxy=value)["proxies"].state == "fail"


def test_certificates_that_are_missing_are_found(examine: Examine, tmp_path: Path) -> None:
    assert examine(SSL_CERT_FILE="/nowhere/ca.pem")["certificates"].state == "fail"
    assert examine(SSL_CERT_DIR="/nowhere")["certificates"].state == "fail"
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    assert "PEM" in examine(SSL_CERT_FILE=str(file))["certificates"].cause
    file.write_text("-----BEGIN CERTIFICATE-----\n")
    assert examine(SSL_CERT_FILE=str(file))["certificates"].state == "ok"
    assert examine(REQUESTS_CA_BUNDLE=str(file))["certificates"].state == "warn"


def test_folder_of_certificates_needs_hashed_names(examine: Examine, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\n")
    found = examine(SSL_CERT_DIR=str(tmp_path))["certificates"]
    assert (found.state, found.fix) == ("warn", f"openssl rehash {tmp_path}")
    several = os.pathsep.join(["/nowhere", str(tmp_path)])
    assert examine(SSL_CERT_DIR=several)["certificates"].fix == f"openssl rehash {tmp_path}"
    (tmp_path / "1a2b3c4d.0").symlink_to("ca.pem")
    for value in (str(tmp_path), several):
        assert examine(SSL_CERT_DIR=value)["certificates"].state == "ok"


def test_system_without_certificates_is_found(examine: Examine, monkeypatch: Any) -> None:
    monkeypatch.setattr(tls, "CA_FOLDERS", ())
    monkeypatch.setattr(tls.ssl, "create_default_context", lambda: tls.ssl.SSLContext(tls.ssl.PROTOCOL_TLS_CLIENT))
    assert examine()["certificates"].state == "fail"


def test_terminal_is_described(examine: Examine, monkeypatch: Any) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    found = examine(Terminal())["terminal"]
    assert found.state == "ok"
    assert "100 columns" in found.evidence
    monkeypatch.setenv("COLUMNS", "30")
    assert examine(Terminal())["terminal"].state == "warn"


@pytest.mark.parametrize("environ", [{"LANG": "C"}, {"LC_ALL": "POSIX"}, {"LANG": "de_DE.ISO-8859-1"}, {"LANG": ""}])
def test_locale_without_chinese_is_found(environ: dict[str, str], examine: Examine) -> None:
    assert examine(**environ)["encoding"].state == "warn"


def test_output_encoding_without_chinese_is_found(examine: Examine) -> None:
    found = examine(Latin())["encoding"]
    assert "question marks" in found.cause
    assert examine(LANG="zh_CN.utf8")["encoding"].state == "ok"


def model(server: HTTPServer, **environ: str) -> dict[str, str]:
    return {"SLEUTH_LLM_BASE_URL": server.url_for("/v1"), "SLEUTH_LLM_API_KEY": KEY, "SLEUTH_LLM_MODEL": "m"} | environ


def test_model_endpoint_gets_one_request_with_the_key(examine: Examine, httpserver: HTTPServer) -> None:
    headers = {"Authorization": f"Bearer {KEY}"}
    httpserver.expect_ordered_request("/v1/models", headers=headers).respond_with_json({"data": [{"id": "m"}]})
    found = examine(**model(httpserver))
    assert found["model"].state == "ok"
    assert KEY not in repr(found)
    assert len(httpserver.log) == 1


def test_key_that_the_model_endpoint_repeats_is_not_shown(examine: Examine, httpserver: HTTPServer) -> None:
    headers = {"Server": KEY, "Location": f"http://{KEY}.example/"}
    httpserver.expect_request("/v1/models").respond_with_json(
        {"data": [{"id": f"model-{KEY.upper()}"}]}, headers=headers
    )
    found = repr(examine(**model(httpserver)))
    assert KEY not in found.lower()
    assert "sleuth config set llm.model 'model-[hidden]'" in found.replace('"', "'")


@pytest.mark.parametrize("status", [200, 404])
def test_key_in_the_address_of_the_model_is_not_shown(status: int, examine: Examine, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/v1/models").respond_with_json({"data": [{"id": "m"}]}, status)
    address = f"{httpserver.url_for('/v1')}?api_key={KEY}&version=2"
    found = examine(SLEUTH_LLM_BASE_URL=address, SLEUTH_LLM_MODEL="m")["model"]
    assert "/v1/models?api_key=…&version=2" in (found.fix if status == 404 else found.evidence)
    assert KEY not in repr(found)
    assert KEY not in repr(examine(SLEUTH_LLM_BASE_URL=f"http://192.0.2.1/v1?key={KEY}", SLEUTH_LLM_API_KEY="k-12"))


def test_both_models_are_checked_and_long_names_can_be_typed(examine: Examine, httpserver: HTTPServer) -> None:
    long = "organisation/" + "a-very-long-name-of-a-model-" * 4 + "Instruct"
    httpserver.expect_request("/v1/models").respond_with_json({"data": [{"id": "m"}, {"id": long}]})
    assert examine(**model(httpserver, SLEUTH_LLM_REASONER_MODEL=long))["model"].state == "ok"
    finding = examine(**model(httpserver, SLEUTH_LLM_REASONER_MODEL="nope"))["model"]
    assert finding.state == "warn"
    assert "nope" in finding.cause
    assert f"sleuth config set llm.reasoner_model {long}" in finding.fix
    assert "llm.model" not in finding.fix


@pytest.mark.parametrize("entries", [[{}, {"id": ""}, {"id": None}, {"id": []}, "m"], [{"name": "m"}]])
def test_models_without_an_id_are_not_suggested(
    entries: list[object], examine: Examine, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/v1/models").respond_with_json({"data": entries})
    assert examine(**model(httpserver))["model"].state == "ok"
    httpserver.clear()
    httpserver.expect_request("/v1/models").respond_with_json({"data": [*entries, {"id": "other"}]})
    assert examine(**model(httpserver))["model"].fix.endswith("sleuth config set llm.model other")


@pytest.mark.parametrize(
    ("status", "body", "state"),
    [(200, {"data": [{"id": "other"}]}, "warn"), (401, {}, "fail"), (404, {}, "warn"), (500, {}, "warn")],
)
def test_unexpected_answer_of_the_model_endpoint_is_found(
    status: int, body: Any, state: str, examine: Examine, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/v1/models").respond_with_json(body, status=status)
    assert examine(**model(httpserver))["model"].state == state


def test_model_endpoint_that_does_not_answer_is_found(examine: Examine) -> None:
    found = examine(SLEUTH_LLM_BASE_URL="http://127.0.0.1:1/v1")["model"]
    assert (found.state, bool(found.fix)) == ("fail", True)


def test_key_of_the_model_is_not_sent_unencrypted(examine: Examine) -> None:
    found = examine(SLEUTH_LLM_BASE_URL="http://192.0.2.1/v1", SLEUTH_LLM_API_KEY=KEY)["model"]
    assert "unencrypted" in found.cause


@pytest.mark.parametrize(("key", "state"), [("env:NOT_SET", "fail"), ("cmd:pass show x", "skipped")])
def test_key_of_the_model_from_elsewhere(key: str, state: str, examine: Examine) -> None:
    assert examine(SLEUTH_LLM_API_KEY=key)["model"].state == state


def test_missing_browser_part_is_found(examine: Examine, monkeypatch: Any) -> None:
    monkeypatch.setattr(checks, "find_spec", lambda name: None)
    assert examine()["extras"].state == "ok"
    assert examine(SLEUTH_FETCH_BROWSER="true")["extras"].state == "warn"
    assert "wreq" in examine()["extras"].evidence
    assert "wreq" not in examine(SLEUTH_WEBSEARCH_IMPERSONATE="false")["extras"].evidence


def test_check_that_crashes_is_reported_as_skipped(examine: Examine, monkeypatch: Any) -> None:
    def crash(*_: object) -> Iterator[Finding]:
        raise ZeroDivisionError

    version, *others = checks.CHECKS
    monkeypatch.setattr(checks, "CHECKS", (version._replace(look=crash), *others))
    found = examine()
    assert found["version"].state == "skipped"
    assert "ZeroDivisionError" in found["version"].evidence
    assert found["settings"].state == "ok"
