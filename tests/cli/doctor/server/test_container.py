"""The container check, with a fake docker that prints what the real one would."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

NO_SERVICE = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
NOT_ALLOWED = "permission denied while trying to connect to the Docker daemon socket"
EXITED = "searxng-core\tsearxng/searxng:latest\texited\tExited (1) 3 minutes ago\t"
LOGS = [
    ("ERROR:searx.webapp: server.secret_key is not changed. Please use something else instead of ultrasecretkey.",
     "still the built-in one", "openssl rand -hex 32"),
    ("yaml.scanner.ScannerError: while scanning for the next token", "not valid YAML", "yaml.safe_load"),
    ("ERROR:searx: Invalid settings.yml", "does not accept a value", "sleuth doctor --settings"),
    ("OSError: Address family not supported by protocol (os error 97)", "listens on IPv6", "GRANIAN_HOST=0.0.0.0"),
    ("Invalid value for '--port': 'tcp://10.0.0.1:8080' is not a valid integer.", "Kubernetes", "enableServiceLinks"),
    ("PermissionError: [Errno 13] Permission denied: '/etc/searxng/settings.yml'", "cannot write", "chown -R 977:977"),
    ("something else", "its log shows the reason", "docker start searxng-core"),
]  # fmt: skip


@pytest.fixture
def closed_port() -> Iterator[int]:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


@pytest.fixture
def docker(tmp_path: Path) -> Callable[..., str]:
    """Give a function that installs a fake docker and returns its PATH."""

    def install(listed: str = "", *, log: str = "", error: str = "", name: str = "docker") -> str:
        folder = tmp_path / "bin"
        folder.mkdir()
        for file, text in (("listed", listed), ("log", log), ("error", error)):
            (folder / file).write_text(text + "\n" if text else "")
        say = f"case $1 in ps) /bin/cat {folder}/listed;; logs) /bin/cat {folder}/log >&2;; esac"
        script = f"{say}\n/bin/cat {folder}/error >&2\n"
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}exit {1 if error else 0}\n")
        program.chmod(0o755)
        return str(folder)

    return install


def test_missing_docker_is_reported(closed_port: int, examined: Any) -> None:
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path="/nowhere")["searxng.container"]
    assert finding.state == "skipped"
    assert "neither docker nor podman" in finding.evidence


@pytest.mark.parametrize(
    ("error", "cause", "fix"),
    [
        (NO_SERVICE, "its service is not running", "sudo systemctl start docker"),
        (NOT_ALLOWED, "may use docker", "sudo docker ps -a"),
    ],
)
def test_docker_that_does_not_answer_is_explained(
    error: str, cause: str, fix: str, closed_port: int, examined: Any, docker: Any
) -> None:
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path=docker(error=error))["searxng.container"]
    assert (finding.state, finding.evidence) == ("warn", error)
    assert cause in finding.cause
    assert fix in finding.fix


@pytest.mark.parametrize(("log", "cause", "fix"), LOGS)
def test_log_of_a_stopped_container_shows_the_cause(
    log: str, cause: str, fix: str, closed_port: int, examined: Any, docker: Any
) -> None:
    search_path = docker(EXITED, log=f"starting\n{log}")
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path=search_path)["searxng.container"]
    assert finding.state == "warn"
    assert "Exited (1)" in finding.evidence
    assert cause in finding.cause
    assert fix in finding.fix
    assert "docker logs --tail 50 searxng-core" in finding.fix


def test_container_with_another_port_gives_the_address(closed_port: int, examined: Any, docker: Any) -> None:
    ports = "127.0.0.1:8899->8080/tcp"
    search_path = docker(f"searxng\tsearxng/searxng\trunning\tUp 2 hours\t{ports}")
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path=search_path)["searxng.container"]
    assert "publishes a port other than" in finding.cause
    assert finding.fix.splitlines()[0] == "sleuth providers set searxng --api-host http://localhost:8899"


def test_container_without_a_port_gets_one(closed_port: int, examined: Any, docker: Any) -> None:
    search_path = docker("searxng\tsearxng/searxng\trunning\tUp 2 hours\t8080/tcp")
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path=search_path)["searxng.container"]
    assert "publishes no port" in finding.cause
    assert f'  - "127.0.0.1:{closed_port}:8080"' in finding.fix


def test_container_with_the_right_port_listens_on_another_one_inside(
    closed_port: int, examined: Any, docker: Any
) -> None:
    search_path = docker(f"searxng\tsearxng/searxng\trunning\tUp 1 second\t0.0.0.0:{closed_port}->8080/tcp")
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path=search_path)["searxng.container"]
    assert "GRANIAN_PORT" in finding.cause


def test_companion_containers_are_ignored(closed_port: int, examined: Any, docker: Any) -> None:
    search_path = docker(
        "searxng-valkey\tvalkey/valkey:9-alpine\trunning\tUp 2 hours\t6379/tcp\nweb\tnginx\trunning\tUp\t"
    )
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path=search_path)["searxng.container"]
    assert "docker has no SearXNG container" in finding.evidence
    assert "docker compose up -d" in finding.fix


def test_podman_works_too(closed_port: int, examined: Any, docker: Any) -> None:
    search_path = docker(EXITED, name="podman")
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path=search_path)["searxng.container"]
    assert "podman logs --tail 50 searxng-core" in finding.fix


def test_docker_is_queried_only_when_no_local_server_answers(
    replay: Any, healthy: Any, examined: Any, docker: Any
) -> None:
    search_path = docker(EXITED)
    assert "searxng.container" not in examined(replay(healthy).url, search_path=search_path)
    assert "searxng.container" not in examined("http://nowhere.invalid:8080", search_path=search_path)


def test_container_name_is_quoted_in_commands(closed_port: int, examined: Any, docker: Any) -> None:
    search_path = docker("searxng;reboot\tsearxng/searxng\texited\tExited\t")
    finding = examined(f"http://127.0.0.1:{closed_port}", search_path=search_path)["searxng.container"]
    assert "docker logs --tail 50 'searxng;reboot'" in finding.fix
