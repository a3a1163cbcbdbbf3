"""Examining a server: address, port, requests, timeout, and hostile answers."""

import errno
import json
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from sleuth.doctor.server.address import Endpoint, parse_address
from sleuth.doctor.server.examination import CHECKS, examine
from sleuth.doctor.server.probe import ProbeResult
from sleuth.doctor.server.search import response_is_fast_enough, search_works
from sleuth.doctor.server.session import Environment, Session
from sleuth_providers.base import Account, Response
from sleuth_providers.errors import DeadlineError, UnreachableError

ESCAPE = "\x1b]0;owned\x07\x1b[31m"
ADDRESSES = [
    ("http://localhost:8080", "http://localhost:8080", ""),
    ("http://localhost:8080/", "http://localhost:8080", ""),
    ("https://search.example.org/searxng/", "https://search.example.org/searxng", ""),
    ("HTTP://Search.Example.org", "http://search.example.org", ""),
    ("localhost:8080", "http://localhost:8080", "does not begin with http"),
    ("http:/localhost:8080", "http://localhost:8080", "does not begin with http"),
    ("http//localhost:8080", "http://localhost:8080", "does not begin with http"),
    ("//search.example.org", "http://search.example.org", "does not begin with http"),
    ("  'http://localhost:8080' ", "http://localhost:8080", ""),
    ("http://localhost:8080/search", "http://localhost:8080", "ends in /search"),
    ("http://localhost:8080/searxng/search?q=<query>&format=json", "http://localhost:8080/searxng", "query"),
    ("http://localhost:8080/#top", "http://localhost:8080", "query"),
    ("http://[::1]:8080", "http://[::1]:8080", ""),
    ("http://bücher.example/sö ok", "http://bücher.example/s%C3%B6%20ok", ""),
    ("http://alice:secret@localhost:8080", "http://localhost:8080", ""),
    ("http://localhost:99999", "", "port"),
    ("http://localhost:0", "", "0 is not a valid port"),
    ("http://", "", "no host"),
    ("ftp://localhost", "", "begins with ftp"),
    ("http://[::1", "", "misspelt"),
    ("not a url", "", "misspelt"),
    ("http://" + "a" * 70 + ".example", "", "misspelt"),
]


@pytest.fixture
def closed_port() -> Iterator[int]:
    """Give a port without a listener, reserved for the test."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.mark.parametrize(("text", "url", "mistake"), ADDRESSES)
def test_address_is_parsed_and_corrected(text: str, url: str, mistake: str) -> None:
    parsed = parse_address(text)
    assert (parsed.endpoint.url if parsed.endpoint else "") == url
    assert mistake in "; ".join(parsed.mistakes)
    assert bool(parsed.mistakes) == bool(mistake)


def test_mistakes_in_the_address_fail_but_the_server_is_still_examined(
    replay: Any, healthy: Any, examined: Any
) -> None:
    server = replay(healthy)
    found = examined(server.url.removeprefix("http://") + "/search?q=<query>")
    assert found.failed == ["searxng.address"]
    assert found["searxng.address"].fix == f"sleuth providers set searxng --api-host {server.url}"
    assert found["searxng.search"].state == "ok"


def test_invalid_address_skips_the_other_checks(examined: Any) -> None:
    found = examined("http://localhost:99999")
    assert found["searxng.address"].state == "fail"
    assert {finding.state for id, finding in found.items() if id != "searxng.address"} == {"skipped"}


def test_address_from_a_variable_is_fixed_in_the_variable(examined: Any) -> None:
    found = examined("ftp://localhost", variable="SEARXNG_URL")
    assert found["searxng.address"].fix == "export SEARXNG_URL=http://localhost:8080"


def test_password_in_the_address_is_neither_used_nor_shown(replay: Any, healthy: Any) -> None:
    server = replay(healthy)
    findings = list(examine(server.url.replace("//", "//alice:s3cret-horse@"), Account(), 5.0, Environment()))
    assert findings[0].state == "warn"
    assert "--basic-auth-password -" in findings[0].fix.splitlines()[1]
    assert "s3cret-horse" not in repr(findings)
    assert not any("authorization" in request.headers.lower() for request in server.asked)


def test_unknown_name_differs_from_a_closed_port(examined: Any) -> None:
    found = examined("http://nowhere.invalid:8080")
    assert found.failed == ["searxng.name"]
    assert found["searxng.port"].state == "skipped"


@pytest.mark.parametrize(
    ("host", "cause", "fix"),
    [
        ("searxng-core", "known only to containers on its network", "http://localhost:8080"),
        ("host.docker.internal", "on Linux this name must be added", "host-gateway"),
    ],
)
def test_names_of_containers_get_their_own_advice(
    host: str, cause: str, fix: str, examined: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    finding = examined(f"http://{host}:8080")["searxng.name"]
    assert finding.state == "fail"
    assert cause in finding.cause
    assert fix in finding.fix


def test_closed_port_is_refused_with_what_to_look_at(closed_port: int, examined: Any) -> None:
    found = examined(f"http://127.0.0.1:{closed_port}")
    finding = found["searxng.port"]
    assert found.failed == ["searxng.port"]
    assert "no server is listening" in finding.cause
    assert "docker ps -a --filter name=searxng" in finding.fix
    assert "refused" in finding.evidence


def test_closed_port_inside_a_container_explains_localhost(closed_port: int, examined: Any) -> None:
    finding = examined(f"http://127.0.0.1:{closed_port}", in_container=True)["searxng.port"]
    assert "localhost is that container itself" in finding.cause
    assert "http://searxng-core:8080" in finding.fix


def test_missing_server_is_only_a_warning_when_none_is_configured(closed_port: int, examined: Any) -> None:
    found = examined(f"http://127.0.0.1:{closed_port}", expected=False)
    assert not found.failed
    assert found["searxng.port"].state == "warn"
    assert "sleuth searxng init ./searxng" in found["searxng.port"].fix


def test_another_program_is_only_a_warning_when_no_server_is_configured(replay: Any, examined: Any) -> None:
    assert not examined(replay({}).url, expected=False).failed


@pytest.mark.parametrize("server", ["bare", "nginx"])
def test_broken_server_is_a_failure_even_when_none_is_configured(replay: Any, examined: Any, server: str) -> None:
    routes = dict.fromkeys(("/healthz", "/config", "probe", "search", "*"), (server, "500 Internal Server Error"))
    found = examined(replay(routes).url, expected=False)
    assert found.failed == ["searxng.server"]


def test_connection_closed_without_an_answer_points_to_docker(replay: Any, examined: Any) -> None:
    found = examined(replay({}, closes=True).url)
    assert found.failed == ["searxng.http"]
    assert "closed without an answer" in found["searxng.http"].cause


def test_program_that_is_not_a_web_server_is_recognised(examined: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")

        threading.Thread(target=greet, daemon=True).start()
        found = examined(f"http://127.0.0.1:{listener.getsockname()[1]}")
        listener.shutdown(socket.SHUT_RDWR)
    assert found.failed == ["searxng.http"]
    assert "not a web server" in found["searxng.http"].cause


def test_https_on_a_plain_port_suggests_http(replay: Any, healthy: Any, examined: Any) -> None:
    server = replay(healthy)
    finding = examined(server.url.replace("http://", "https://"))["searxng.tls"]
    assert finding.state == "fail"
    assert "plain HTTP, not TLS" in finding.cause
    assert finding.fix == f"sleuth providers set searxng --api-host {server.url}"


def test_server_that_never_answers_is_given_up(examined: Any) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=32) as listener:  # connections are accepted by the kernel alone
        found = examined(f"http://127.0.0.1:{listener.getsockname()[1]}", time_limit=0.5)
    assert found.failed == ["searxng.http"]
    assert "the server hangs" in found["searxng.http"].cause


@pytest.mark.parametrize(("elapsed_ms", "state"), [(100, "ok"), (4000, "warn"), (6000, "fail")])
def test_time_of_the_search_is_compared_with_the_timeout(elapsed_ms: int, state: str) -> None:
    session = Session(Endpoint("http", "127.0.0.1", 1), Account(), 5.0, Environment())
    session.search = ProbeResult("/search", Response(200, {}, b'{"results": []}'), None, elapsed_ms)
    finding = response_is_fast_enough(session)
    assert finding.state == state
    assert ("sleuth gives up after 5 s" in finding.cause) == (state != "ok")
    assert ("sleuth config set searxng.timeout 15" in finding.fix) == (state != "ok")


def test_search_without_an_answer_in_time_fails() -> None:
    session = Session(Endpoint("http", "127.0.0.1", 1), Account(), 5.0, Environment())
    session.search = ProbeResult("/search", None, DeadlineError("late"), 9000)
    assert response_is_fast_enough(session).state == "fail"
    assert search_works(session).state == "fail"


def test_healthy_server_has_no_problem(replay: Any, healthy: Any, examined: Any) -> None:
    assert not examined(replay(healthy).url).problems


def test_requests_look_like_those_of_a_search(replay: Any, healthy: Any, examined: Any) -> None:
    server = replay(healthy)
    examined(server.url, Account(username="alice", password="horse", engines=("alpha",)))
    assert len(server.asked) == 5
    for request in server.asked:
        headers = dict(line.split(": ", 1) for line in request.headers.splitlines())
        assert headers["User-Agent"].startswith("sleuth/")
        assert "text/html" in headers["Accept"]
        assert "gzip" in headers["Accept-Encoding"]
        assert headers["Accept-Language"] == "en"
        assert headers["Authorization"] == "Basic YWxpY2U6aG9yc2U="
    search = next(path for path in server.paths if "q=" in path)
    assert "locale=en" in search
    assert "engines=alpha" in search


def test_limiter_that_counts_gets_one_request(replay: Any, healthy: Any, examined: Any) -> None:
    server = replay(healthy | {"/config": "config_limiter_on", "search": "limiter_429_api_window"})
    examined(server.url)
    assert sum("format=json" in path for path in server.paths) == 1


def test_limiter_that_refuses_gets_no_more_requests(replay: Any, healthy: Any, examined: Any) -> None:
    server = replay(healthy | {"/config": "limiter_config_curl_ua_429"})
    examined(server.url)
    assert not any("format=json" in path for path in server.paths)


def test_engine_errors_are_requested_only_when_engines_failed(replay: Any, healthy: Any, examined: Any) -> None:
    server = replay(healthy)
    examined(server.url)
    assert "/stats/errors" not in server.paths
    server = replay(healthy | {"search": "search_partial"})
    examined(server.url)
    assert server.paths.count("/stats/errors") == 1


def test_password_stays_with_its_server(replay: Any, healthy: Any, examined: Any) -> None:
    server = replay({"*": ("nginx", "404 Not Found"), "/searxng/config": "config"})
    examined(server.url, Account(username="alice", password="horse"))
    elsewhere = [request for request in server.asked if request.path == "/searxng/config"]
    assert elsewhere
    assert not any("authorization" in request.headers.lower() for request in elsewhere)


def test_server_found_at_another_port_is_offered(
    replay: Any, healthy: Any, closed_port: int, examined: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = replay(healthy)
    monkeypatch.setattr("sleuth.doctor.server.http.COMMON_PORTS", (int(server.url.rpartition(":")[2]),))
    finding = examined(f"http://localhost:{closed_port}")["searxng.elsewhere"]
    assert finding.state == "warn"
    assert finding.fix.splitlines()[0] == f"sleuth providers set searxng --api-host {server.url}"


def test_clock_of_the_server_is_compared(replay: Any, healthy: Any, examined: Any) -> None:
    now = 1_794_787_200.0 + 7200
    finding = examined(replay(healthy).url, now=now)["searxng.clock"]
    assert finding.state == "warn"
    assert "one of the two clocks is wrong" in finding.cause
    assert "timedatectl" in finding.fix


def test_old_version_is_a_warning(replay: Any, healthy: Any, examined: Any) -> None:
    finding = examined(replay(healthy).url, now=1_794_787_200.0 + 400 * 86400)["searxng.server"]
    assert finding.state == "warn"
    assert "docker compose pull" in finding.fix


def test_redirect_from_port_80_to_443_is_followed_as_a_search_does(healthy: Any) -> None:
    def wire(request: Any, *_: object) -> Response:
        if request.url.startswith("http://"):
            return Response(301, {"location": request.url.replace("http://", "https://")}, b"")
        if "/healthz" in request.url:
            return Response(200, {"server-timing": "total;dur=1, render;dur=0"}, b"OK")
        raise UnreachableError("refused")

    session = Session(Endpoint("http", "search.example.org", 80), Account(), 5.0, Environment())
    session.prober.transport = wire
    look = {check.id: check.look for check in CHECKS}
    finding = look["searxng.http"](session)
    assert finding
    assert finding.state == "warn"
    assert "https://search.example.org" in finding.fix.splitlines()[0]
    assert session.endpoint.url == "https://search.example.org"
    assert session.software[0] == "searxng"


def test_engines_of_results_answered_where_a_proxy_removes_the_timing(healthy: Any, examined: Any, replay: Any) -> None:
    found = json.dumps({"results": [{"url": "http://x.test/", "engines": ["beta", "alpha"]}]})
    healthy["search"] = ("nginx", "200 OK", found, {"Content-Type": "application/json"})
    checks = examined(replay(healthy).url)
    assert checks["searxng.engines"].title == "Engines: 2 answered, 0 failed"
    assert "answered: beta, alpha\n" in checks["searxng.engines"].evidence
    assert "slowest" not in checks["searxng.time"].evidence


def test_public_server_without_json_suggests_an_own_server(healthy: Any) -> None:
    session = Session(Endpoint("https", "search.example.org", 443), Account(), 5.0, Environment())
    refused = Response(403, {"server-timing": "total;dur=1, render;dur=0", "content-type": "text/html"}, b"")
    session.prober.transport = lambda *_: refused
    look = {check.id: check.look for check in CHECKS}
    finding = look["searxng.json"](session)
    assert finding
    assert "public servers disable it on purpose" in finding.cause
    assert finding.fix.splitlines()[1] == "sleuth searxng init ./searxng"


@pytest.mark.parametrize(
    ("problem", "cause", "fix"),
    [
        (
            ConnectionRefusedError(errno.ECONNREFUSED, "refused"),
            "published on 127.0.0.1 only",
            "192.168.1.10:8080:8080",
        ),
        (TimeoutError("timed out"), "a firewall drops the connection", "curl -sv --max-time 5"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "the machine is off", "ping -c 1 192.168.1.10"),
    ],
)
def test_closed_port_of_another_machine_gets_its_own_advice(
    problem: OSError, cause: str, fix: str, examined: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sleuth.doctor.server.connection._connect", lambda *_: problem)
    finding = examined("http://192.168.1.10:8080")["searxng.port"]
    assert finding.state == "fail"
    assert cause in finding.cause
    assert fix in finding.fix


def test_proxy_of_the_environment_is_used(
    replay: Any, healthy: Any, examined: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = replay(healthy)
    for name in ("no_proxy", "NO_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url)
    found = examined("http://searxng.invalid:8080")
    assert "requests go through the proxy" in found["searxng.address"].evidence
    assert {found[f"searxng.{name}"].state for name in ("name", "port", "tls")} == {"skipped"}
    assert found["searxng.search"].state == "ok"
    assert "bypass the proxy" in examined("http://127.0.0.1:1")["searxng.address"].evidence


def hostile_answers() -> dict[str, Any]:
    name = ESCAPE + "evil; rm -rf ~" + "\u202e"
    engines = [{"name": name, "enabled": True, "categories": ["general"]}, None, 7, {"name": None}, {"categories": 3}]
    config = {"engines": engines, "instance_name": name, "version": name, "limiter": {"enabled": "yes"}}
    pairs = [
        [name, name],
        [None, None],
        [],
        3,
        [name, "CAPTCHA", 3],
        [name, "Suspended: CAPTCHA"],
        ["$(reboot)", "CAPTCHA"],
    ]
    errors = {name: [{"log_parameters": [f"suspended_time={'9' * 30}", "suspended_time=999999999", None]}, 3], "x": 7}
    kind = {
        "Content-Type": "application/json",
        "Server": name,
        "Server-Timing": f"total;dur=x, render;dur=, total_0_{name};dur=..1",
    }
    return {
        "/healthz": ("searxng", "200 OK", "OK", {"Server": name}),
        "/config": ("searxng", "200 OK", json.dumps(config), kind),
        "probe": ("searxng", "400 Bad Request", "{}", kind),
        "search": ("searxng", "200 OK", json.dumps({"results": [], "unresponsive_engines": pairs}), kind),
        "/stats/errors": ("searxng", "200 OK", json.dumps(errors), kind),
        "/opensearch.xml": ("searxng", "200 OK", f'<Url template="http://{name}/;reboot/search?q="/>'),
        "*": ("searxng", "404 Not Found"),
    }


def test_hostile_text_is_cleaned(replay: Any, examined: Any) -> None:
    found = examined(replay(hostile_answers()).url)
    shown = "\n".join("\n".join([f.title, f.evidence, f.cause, f.fix]) for f in found.values())
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", shown)
    for line in (line for finding in found.values() for line in finding.fix.splitlines()):
        assert "$(reboot)" not in line or line.strip().startswith('- name: "')
    assert found["searxng.engines.blocked"].state == "fail"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "7",
        '"x"',
        "{",
        "[" * 5000,
        '{"engines": {}}',
        '{"engines": [[]], "instance_name": 3}',
        '{"results": {}}',
        '{"results": [], "unresponsive_engines": {"a": 1}}',
        "NaN",
    ],
)
def test_nonsense_never_breaks_the_examination(body: str, replay: Any, healthy: Any, examined: Any) -> None:
    nonsense = ("searxng", "200 OK", body, {"Content-Type": "application/json"})
    for path in ("/config", "probe", "search", "/stats/errors"):
        routes = healthy | {"search": "search_partial"} | {path: nonsense}
        assert examined(replay(routes).url)
    assert examined(replay({"*": nonsense}).url)


@pytest.mark.parametrize(
    "headers",
    [
        {"Location": "http://[::1"},
        {"Location": "javascript:alert(1)"},
        {"Location": "//" + "a" * 5000},
        {"Content-Type": "text/html; charset=idna"},
        {"Content-Type": "text/html; charset=undefined"},
        {"Date": "Mon, 99 Nov 99999 99:99:99 GMT"},
        {"Date": "(((", "Server": "", "WWW-Authenticate": ""},
        {"Server-Timing": "total;dur=1, render;dur=1, total_0_;dur=., total_1_x;dur=1.2.3, total_2_" + "y" * 9000},
        {"Content-Encoding": "gzip"},
        {"Content-Encoding": "br"},
        {"Content-Length": "-5"},
    ],
)
@pytest.mark.parametrize("status", ["200 OK", "302 Found", "400 Bad Request", "401 No", "403 No", "429 No", "500 No"])
def test_strange_headers_never_break_the_examination(
    status: str, headers: dict[str, str], replay: Any, healthy: Any, examined: Any
) -> None:
    strange = ("searxng", status, "<title>x</title>\xff", headers)
    assert examined(replay({"*": strange}).url, time_limit=3.0)
    assert examined(replay(healthy | {"probe": strange, "search": strange}).url, time_limit=3.0)


def test_redirect_target_is_quoted_in_commands(replay: Any, examined: Any) -> None:
    target = {"Location": "https://127.0.0.1:9443/x;$(reboot)/healthz"}
    found = examined(replay({"*": ("nginx", "301 Moved Permanently", None, target)}).url)
    assert not any("$(reboot)" in finding.fix for finding in found.values())
