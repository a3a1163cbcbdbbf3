"""When no server answers on this machine: whether Docker runs, its container, port and log."""

import re
import shutil
import subprocess

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, catalogue, shell, skipped
from sleuth.doctor.server.session import Session
from sleuth_providers.records import Record

PROGRAMS = ("docker", "podman")
FORMAT = "{{.Names}}\t{{.Image}}\t{{.State}}\t{{.Status}}\t{{.Ports}}"
COMPANIONS = ("valkey", "redis", "caddy", "nginx", "traefik")  # images of the same deployment
COMMAND_TIMEOUT_S = 2.0
LOG_PATTERNS = {name: entry["log"] for name, entry in catalogue()["remedies"].items() if "log" in entry}
PUBLISHED = re.compile(r"(\d{1,5})->\d{1,5}/tcp")


class Container(Record):
    """One line of `docker ps`."""

    name: str
    image: str
    state: str
    status: str
    ports: str

    @property
    def published(self) -> set[int]:
        """Return the ports of this machine that lead into the container."""
        return {int(port) for port in PUBLISHED.findall(self.ports)}


def container_runs(session: Session) -> Finding | None:
    """Look for a SearXNG container with Docker or Podman, without changing anything."""
    if not session.no_server or not session.endpoint.is_local:
        return None
    program = next(filter(None, (shutil.which(name, path=session.environment.search_path) for name in PROGRAMS)), None)
    if program is None:
        return skipped(tr("neither docker nor podman is installed"))
    name = program.rpartition("/")[2]
    listed = _run(session, program, "ps", "-a", "--no-trunc", "--format", FORMAT)
    if listed is None or listed.returncode:
        return _unusable(session, name, listed)
    containers = [found for line in listed.stdout.splitlines() if (found := _parse(line))]
    if not containers:
        evidence, title = tr("{program} has no SearXNG container", program=name), tr("There is no SearXNG container")
        expected = session.environment.expected
        return session.warn(evidence, "container-missing", title=title) if expected else skipped(evidence)
    container = next((one for one in containers if one.state == "running"), containers[0])
    word = shell(container.name)
    values = {"program": name, "container": word, "show_log": f"{name} logs --tail 50 {word}"}
    if container.state == "running":
        return _running(session, container, values)
    return _stopped(session, program, container, values)


def _run(session: Session, *words: str) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(  # noqa: S603 - docker or podman from the user's PATH, without a shell
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=session.time_left(COMMAND_TIMEOUT_S),
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _parse(line: str) -> Container | None:
    fields = [clean(field, 200, entities=False) for field in line.split("\t")]
    if len(fields) != 5:
        return None
    found = Container(*fields)
    is_companion = any(word in found.image.lower() for word in COMPANIONS)
    return found if "searx" in f"{found.name} {found.image}".lower() and not is_companion else None


def _unusable(session: Session, name: str, listed: "subprocess.CompletedProcess[str] | None") -> Finding:
    error = clean(listed.stderr, 200, entities=False) if listed else tr("no response in time")
    if not session.environment.expected:
        return skipped(error)
    title = tr("{program} is not available", program=name)
    kind = "docker-permission" if "permission denied" in error.lower() else "docker-stopped"
    return session.warn(error, kind, program=name, title=title)


def _running(session: Session, container: Container, values: dict[str, str]) -> Finding:
    port, ports = session.endpoint.port, container.ports or "–"
    evidence = tr("{name}: {status}, ports: {ports}", name=container.name, status=container.status, ports=ports)
    if port in container.published:
        return session.warn(evidence, "container-silent", **values)
    if container.published:
        return session.warn(evidence, "container-other-port", f"http://localhost:{min(container.published)}")
    return session.warn(evidence, "container-no-port")


def _stopped(session: Session, program: str, container: Container, values: dict[str, str]) -> Finding:
    evidence = tr("{name}: {status}", name=container.name, status=container.status or container.state)
    logged = _run(session, program, "logs", "--tail", "60", container.name)
    text = f"{logged.stdout}\n{logged.stderr}" if logged else ""
    known = ((kind, line) for kind, sign in LOG_PATTERNS.items() for line in text.splitlines() if re.search(sign, line))
    kind, line = next(known, ("container-stopped", ""))
    evidence += f"\n{clean(line, 200, entities=False)}" if line else ""
    return session.warn(evidence, kind, **values, title=tr("SearXNG container has stopped"))
