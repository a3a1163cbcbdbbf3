"""The output of `searxng init` and of `doctor --fix`, run on a real SearXNG."""

import json
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sleuth.doctor.files.settings import check_settings, fix_settings

pytestmark = [pytest.mark.live, pytest.mark.slow]

HEADERS = {"User-Agent": "sleuth/0 (tests)", "Accept": "application/json, text/html;q=0.5", "Accept-Language": "en"}
HEADERS |= {"Accept-Encoding": "gzip, deflate"}
KEPT = "use_default_settings: {engines: {keep_only: [wikipedia]}}\n"  # quick to start
GOOD = f"{KEPT}search: {{formats: [html, json]}}\nserver: {{secret_key: tests-only}}\n"

Start = Callable[..., Any]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def start(searxng_server: Any) -> Start:
    """Give a function that starts SearXNG with a settings file as it is."""

    def run(settings: Path, *, wait: bool = True, **environ: str) -> Any:
        port = free_port()
        return searxng_server.start(
            port=port,
            wait=wait,
            SEARXNG_SETTINGS_PATH=str(settings),
            SEARXNG_PORT=str(port),
            SEARXNG_BIND_ADDRESS="127.0.0.1",
            **environ,
        )

    return run


class Unmoved(urllib.request.HTTPRedirectHandler):
    """Follows no redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


def ask(url: str, **headers: str) -> tuple[int, bytes]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Unmoved())
    try:
        with opener.open(urllib.request.Request(url, headers=HEADERS | headers), timeout=10) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()


def variables(folder: Path) -> dict[str, str]:
    lines = [line for line in (folder / ".env").read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def test_written_deployment_answers_json(sleuth: Any, start: Start, tmp_path: Path) -> None:
    assert sleuth("searxng", "init", str(tmp_path / "s")).exit == 0
    server = start(tmp_path / "s" / "core-config" / "settings.yml", **variables(tmp_path / "s"))
    assert ask(f"{server.url}/healthz") == (200, b"OK")
    status, body = ask(f"{server.url}/search?format=json")
    assert (status, json.loads(body)) == (400, {"error": "No query"})
    assert ask(f"{server.url}/")[0] == 200
    assert json.loads(ask(f"{server.url}/config")[1])["limiter"]["enabled"] is False


def test_written_limiter_lets_this_machine_pass(sleuth: Any, start: Start, redis_server: Any, tmp_path: Path) -> None:
    assert sleuth("searxng", "init", str(tmp_path / "s"), "--limiter").exit == 0
    settings = tmp_path / "s" / "core-config" / "settings.yml"
    server = start(settings, SEARXNG_VALKEY_URL=redis_server.url, **variables(tmp_path / "s"))
    assert json.loads(ask(f"{server.url}/config")[1])["limiter"]["enabled"] is True
    # Without pass_ip the fifth request would be refused, and curl's very first one.
    assert {ask(f"{server.url}/search?format=json", **{"User-Agent": "curl/8"})[0] for _ in range(7)} == {400}


BROKEN = {
    "no defaults": GOOD.partition("\n")[2],
    "no json": GOOD.replace(", json", ""),
    "capitals": GOOD.replace("json", "JSON"),
    "no secret": GOOD.replace("tests-only", "ultrasecretkey"),
    "quoted switch": GOOD.replace("tests-only", "tests-only, limiter: 'false'"),
    "empty section": f"{GOOD}ui:\n",
    "tabs": GOOD.replace("search: {formats: [html, json]}", "search:\n\tformats:\n\t- json"),
    "public": GOOD.replace("tests-only", "tests-only, public_instance: true"),
    "valkey": f"{GOOD}valkey: {{url: 'localhost:6379'}}\n",
    "engine named no": f"{GOOD}engines: [{{name: no, disabled: true}}]\n",
    "empty file": "",
    "base_url": GOOD.replace("tests-only", "tests-only, base_url: 'http://localhost:8080/search'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_breaks_the_server_and_its_fix_works(name: str, start: Start, tmp_path: Path) -> None:
    path = tmp_path / "settings.yml"
    path.write_text(BROKEN[name])
    assert any(finding.state == "fail" for finding in check_settings(str(path)))
    assert not answers_json(start(path, wait=False))
    fixed = fix_settings(str(path))
    assert fixed is not None
    path.write_text(fixed)
    assert answers_json(start(path))


def answers_json(server: Any) -> bool:
    """Return whether a server starts and answers in JSON."""
    end = time.monotonic() + 40
    while time.monotonic() < end and server.process.poll() is None:
        try:
            return ask(f"{server.url}/search?format=json")[0] == 400
        except OSError:
            time.sleep(0.1)
    return False
