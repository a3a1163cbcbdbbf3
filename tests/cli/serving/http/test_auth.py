"""Access control: token, Host and Origin; and how the command starts and stops."""

import errno
import json
import os
import re
import signal
import socket
import stat
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.cli.serving.conftest import call

from sleuth.base.errors import RequestError, SettingsError
from sleuth.serving.http.auth import allowed_hosts, allowed_origins
from sleuth.serving.http.tokens import Token, find_tokens

ORIGIN = "https://app.example.org"
PATHS = ("/openapi.json", "/websearch-providers", "/websearch-providers/searxng", "/nowhere", "/healthz/", "/HEALTHZ")


@pytest.fixture(scope="module")
def guarded(serve: Any) -> Any:
    """Give a server that allows one more host and one origin."""
    return serve("--allow-host", "Search.example.org", "--allow-origin", f"{ORIGIN}/")


@pytest.mark.parametrize("token", ["", "wrong", "wrong-token-of-some-length-0123456789-abcdefg", "é"])
@pytest.mark.parametrize("path", PATHS)
def test_everything_needs_the_token(guarded: Any, path: str, token: str) -> None:
    reply = guarded.call("GET", path, token=token)
    assert (reply.status, reply.code) == (401, "TOKEN_REFUSED")
    assert reply.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("method", ["PATCH", "POST", "DELETE", "OPTIONS"])
def test_every_method_needs_the_token(guarded: Any, method: str) -> None:
    assert guarded.call(method, "/websearch-providers/searxng", {"name": "x"}, token="").status == 401


def test_token_is_read_from_the_header_only(guarded: Any) -> None:
    token = guarded.token
    for headers in ({"Authorization": f"Basic {token}"}, {"Authorization": token}, {"Cookie": f"token={token}"}):
        assert guarded.call("GET", "/websearch-providers", token="", **headers).status == 401
    assert guarded.call("GET", f"/websearch-providers?access_token={token}", token="").status == 401
    assert guarded.call("GET", "/websearch-providers", token="", Authorization=f"bearer {token}").status == 200


@pytest.mark.parametrize(
    "name", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1", "127.0.0.1.evil.example:{port}"]
)
def test_foreign_host_is_refused(guarded: Any, name: str) -> None:
    for path in ("/healthz", "/websearch-providers"):
        reply = guarded.call("GET", path, Host=name.format(port=guarded.port))
        assert (reply.status, reply.code) == (403, "HOST_REFUSED")


@pytest.mark.parametrize(
    "name", ["127.0.0.1:{port}", "LOCALHOST:{port}", "[::1]:{port}", "search.example.org", "search.example.org:{port}"]
)
def test_own_and_allowed_hosts_are_accepted(guarded: Any, name: str) -> None:
    assert guarded.call("GET", "/healthz", Host=name.format(port=guarded.port)).status == 200


def test_request_without_a_host_is_refused(guarded: Any) -> None:
    with socket.create_connection(("127.0.0.1", guarded.port), 10) as connection:
        connection.sendall(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert b"403" in connection.recv(20)


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1:{port}", "http://app.example.org", ""]
)
def test_foreign_origin_is_refused_even_with_the_token(guarded: Any, origin: str) -> None:
    for method, path in (("GET", "/healthz"), ("GET", "/websearch-providers"), ("OPTIONS", "/websearch-providers")):
        reply = guarded.call(method, path, Origin=origin.format(port=guarded.port), Access_Control_Request_Method="GET")
        assert (reply.status, reply.code) == (403, "ORIGIN_REFUSED")
        assert not [name for name in reply.headers if name.startswith("access-control")]


def test_allowed_origin_gets_cors_headers_on_preflight_responses_and_errors(guarded: Any) -> None:
    preflight = guarded.call(
        "OPTIONS", "/websearch/search", token="", Origin=ORIGIN, Access_Control_Request_Method="POST"
    )
    assert preflight.status == 204
    assert preflight.headers["access-control-allow-origin"] == ORIGIN
    assert "POST" in preflight.headers["access-control-allow-methods"]
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    for token, status in ((guarded.token, 200), ("", 401)):
        reply = guarded.call("GET", "/websearch-providers", token=token, Origin=ORIGIN)
        assert (reply.status, reply.headers["access-control-allow-origin"]) == (status, ORIGIN)
        assert reply.headers["vary"] == "Origin"
    assert "access-control-allow-origin" not in guarded.call("GET", "/healthz").headers


def test_log_has_every_request_but_no_token(guarded: Any) -> None:
    guarded.call("GET", "/nowhere%1b[31m?token=in-the-query")
    lines: list[str] = []
    while not lines:  # the line is written after the response
        lines = [line for line in guarded.log.splitlines() if "/nowhere[31m" in line]
    assert "GET" in lines[-1]
    assert "404" in lines[-1]
    assert guarded.token not in guarded.log
    assert "in-the-query" not in guarded.log


def test_allowed_hosts_follow_the_address_and_port() -> None:
    assert "[fe80::1]:80" in allowed_hosts("fe80::1", 80, ())
    assert {"localhost", "localhost:80"} <= allowed_hosts("127.0.0.1", 80, ())
    assert not [name for name in allowed_hosts("0.0.0.0", 7373, ()) if name.startswith("0.0.0.0")]
    assert {"a.example:8443", "b.example", "b.example:1"} <= allowed_hosts(
        "127.0.0.1", 1, ["a.example:8443", "b.example"]
    )


@pytest.mark.parametrize("name", ["", "*", "https://a.example", "a b", "a.example/x", "a.example:99999999"])
def test_invalid_allow_host_is_refused(name: str) -> None:
    with pytest.raises(RequestError):
        allowed_hosts("127.0.0.1", 1, [name])


@pytest.mark.parametrize("origin", ["", "*", "null", "a.example", "https://a.example/path", "https://"])
def test_invalid_allow_origin_is_refused(origin: str) -> None:
    with pytest.raises(RequestError):
        allowed_origins([origin])


def test_token_is_generated_once_and_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        first = find_tokens({}, str(tmp_path / "state"))
    finally:
        os.umask(old)
    again = find_tokens({}, str(tmp_path / "state"))
    assert first.all == again.all
    assert len(first.all[0].text) == 43
    assert stat.S_IMODE(os.stat(first.source).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(tmp_path / "state").st_mode) == 0o700
    assert first.warning == ""


def test_concurrent_starts_share_one_token(tmp_path: Path) -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(find_tokens({}, str(tmp_path)).all[0].text)) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found) == 8


def test_token_file_wins_over_environment_and_environment_over_the_generated_token(tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("token-of-a-file-0123456789\n")
    file.chmod(0o644)
    environ = {"SLEUTH_SERVE_TOKEN": "token-of-the-environment"}
    assert find_tokens(environ, str(tmp_path)).all == (Token("token-of-the-environment"),)
    named = find_tokens(environ, str(tmp_path), str(file))
    assert named.all == (Token("token-of-a-file-0123456789"),)
    assert "chmod 600" in named.warning


@pytest.mark.parametrize("text", ["short", "has blanks in it 0123456789", "täken-0123456789abc", "x" * 501, ""])
def test_invalid_token_is_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "token"
    file.write_text(text)
    with pytest.raises(SettingsError) as caught:
        find_tokens({}, str(tmp_path), str(file))
    assert not text or text not in str(caught.value)


@pytest.mark.parametrize(
    "lines",
    [
        "a aaaaaaaaaaaaaaaa\na bbbbbbbbbbbbbbbb",
        "a aaaaaaaaaaaaaaaa 0",
        "a aaaaaaaaaaaaaaaa many",
        "a aaaaaaaaaaaaaaaa 5 more",
        "aaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbb",
        "# nothing",
    ],
)
def test_invalid_file_of_several_tokens_is_refused(tmp_path: Path, lines: str) -> None:
    file = tmp_path / "tokens"
    file.write_text(lines)
    with pytest.raises(SettingsError):
        find_tokens({}, str(tmp_path), str(file))


def _token_file(folder: Path, alice: str, bob: str) -> str:
    file = folder / "tokens"
    file.write_text(f"# name, token, requests per minute\nalice {alice}\n\nbob {bob} 2\n")
    file.chmod(0o600)
    return str(file)


def test_each_token_has_a_name_and_a_limit(serve: Any, tmp_path: Path) -> None:
    alice, bob = "token-of-alice-0123", "token-of-bob-456789"
    server = serve("--token-file", _token_file(tmp_path, alice, bob))
    statuses = [server.call("GET", "/websearch-providers?limit=1", token=bob).status for _ in range(3)]
    assert statuses == [200, 200, 429]
    refused = server.call("GET", "/websearch-providers", token=bob)
    assert (refused.code, 0 < int(refused.headers["retry-after"]) <= 60) == ("RATE_LIMIT_EXCEEDED", True)
    assert server.call("GET", "/websearch-providers", token="token-of-nobody-0123").status == 401
    reply = server.call("GET", "/metrics", token=alice)
    assert reply.headers["content-type"].startswith("text/plain")
    counted = 'sleuth_http_requests_total{method="GET",path="/websearch-providers",status="200",token="bob"} 2.0'
    assert counted in reply.text
    for path in ("/healthz", "/mcp"):
        status = call(server.port, "GET", path, None, alice, {}).status
        text = server.call("GET", "/metrics", token=alice).text
        assert f'path="{path}",status="{status}"' in text
    for number in range(3):
        server.call(f"METHOD{number}", "/", token="")
    text = server.call("GET", "/metrics", token=alice).text
    assert 'method="other",path="other",status="401",token="-"} 3.0' in text
    assert "METHOD" not in text
    assert " bob GET /websearch-providers 429 " in server.log
    assert bob not in server.log


def test_named_file_may_belong_to_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret that is mounted into a container belongs to a user of the host."""
    file = tmp_path / "tokens"
    file.write_text("alice token-of-alice-0123\n")
    file.chmod(0o644)

    def refuse(path: str, *_: object) -> None:
        raise PermissionError(errno.EPERM, "another user owns it", path)

    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    monkeypatch.setattr("sleuth.base.files.check_own", refuse)
    assert find_tokens({}, "", str(file)) == ((Token("token-of-alice-0123", "alice"),), str(file), "")
    file.rename(tmp_path / "serve-token")
    with pytest.raises(SettingsError, match="another user owns it"):
        find_tokens({}, str(tmp_path))


def test_repeated_search_counts_for_its_token(serve: Any, tmp_path: Path) -> None:
    alice, bob = "token-of-alice-0123", "token-of-bob-456789"
    server = serve("--token-file", _token_file(tmp_path, alice, bob))
    body = {"providerId": "searxng", "questions": ["repeated"], "tracing": {"topicId": "t-1"}}
    replies = [server.call("POST", "/websearch/search", body, token=token) for token in (alice, alice, alice, bob)]
    assert {reply.status for reply in replies} == {200}
    assert [reply.json["cached"] for reply in replies] == [False, True, True, True]
    assert len({json.dumps(reply.json["results"]) for reply in replies}) == 1
    statuses = [server.call("POST", "/websearch/search", body, token=bob).status for _ in range(2)]
    assert statuses == [200, 429]
    assert server.call("POST", "/websearch/search", body, token="token-of-nobody-0123").status == 401
    text = server.call("GET", "/metrics", token=alice).text
    assert 'sleuth_provider_answers_total{cached="true",provider="searxng",state="ok"} 4.0' in text
    assert 'path="/websearch/search",status="200",token="bob"} 2.0' in text
    assert server.log.count("trace topicId=t-1") == 5
    assert server.log.count("search: success, 3 results") == 5


def test_print_token_prints_and_exits(sleuth: Any) -> None:
    first, second = sleuth("serve", "--print-token"), sleuth("serve", "--print-token")
    assert (first.exit, first.err, first.out) == (0, "", second.out)
    assert len(first.out) == 44


def test_public_address_is_refused(sleuth: Any) -> None:
    done = sleuth("serve", "--host", "0.0.0.0", "--port", "0")
    assert done.exit == 2
    assert "--allow-remote" in done.err


def test_allow_remote_serves_a_public_address_with_a_warning(serve: Any) -> None:
    server = serve("--host", "0.0.0.0", "--allow-remote")
    assert server.said.startswith("warning: anyone who can reach http://0.0.0.0")
    assert server.call("GET", "/healthz", Host=f"0.0.0.0:{server.port}").status == 403
    assert server.call("GET", "/healthz").status == 200


def test_port_in_use_is_an_error(sleuth: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = sleuth("serve", "--port", port)
    assert done.exit == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in done.err
    assert "--port 0" in done.err


@pytest.mark.parametrize("host", ["a" * 80, "..", "192.0.2.1"])
def test_host_of_another_machine_is_an_error(sleuth: Any, host: str) -> None:
    done = sleuth("serve", "--port", "0", "--host", host, "--allow-remote")
    assert done.exit == 2
    assert f"{host!r} is not an address of this machine" in done.err


def test_missing_extra_is_named(sleuth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth.commands.serve.find_spec", lambda name: None)
    done = sleuth("serve")
    assert done.exit == 2
    assert re.search(r"pip install .*'fastapi", done.err)


def test_broken_database_stops_no_search(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(parents=True)
    (tmp_path / "data" / "sleuth.db").write_bytes(b"this is no database, but long enough to be looked at" * 20)
    server = serve(home=tmp_path)
    body = {"providerId": "searxng", "questions": ["tokio"]}
    assert server.call("POST", "/websearch/search", body).status == 200


@pytest.mark.parametrize(
    ("number", "exit", "said"), [(signal.SIGTERM, 0, ""), (signal.SIGINT, 130, "\nerror: interrupted\n")]
)
def test_signal_stops_the_server(serve: Any, number: int, exit: int, said: str) -> None:
    server = serve()
    assert server.call("GET", "/healthz").status == 200
    assert server.stop(number) == (exit, "", said)


def test_running_request_is_finished_at_shutdown(serve: Any, asked: list[str], finish: threading.Event) -> None:
    server, replies = serve(), []
    body = {"providerId": "searxng", "questions": ["slow end"]}
    thread = threading.Thread(target=lambda: replies.append(server.call("POST", "/websearch/search", body)))
    thread.start()
    while "slow end" not in asked:
        thread.join(0.02)
    server.process.send_signal(signal.SIGTERM)
    finish.set()
    thread.join()
    assert (*server.process.communicate(timeout=300), server.process.returncode) == ("", "", 0)
    assert replies[0].status == 200


def test_request_that_outlasts_the_shutdown_timeout_is_503(serve: Any, asked: list[str]) -> None:
    server, replies = serve(SLEUTH_SEARXNG_TIMEOUT="20"), []
    body = {"providerId": "searxng", "questions": ["hang on"]}
    thread = threading.Thread(target=lambda: replies.append(server.call("POST", "/websearch/search", body)))
    thread.start()
    while "hang on" not in asked:
        thread.join(0.02)
    assert server.stop()[0] == 0
    thread.join()
    assert (replies[0].status, replies[0].code) == (503, "STOPPING")
