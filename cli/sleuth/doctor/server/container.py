"""When no server answers on this machine: whether Docker runs, its container, port and log."""

import re
import shutil
import subprocess

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, Remedy, skipped, warn
from sleuth.doctor.fixes import CHECK_VARIABLES, NEW_SECRET, RECREATE, RESTART, in_compose, in_env, in_settings, shell
from sleuth.doctor.links import Link
from sleuth.doctor.server.session import Session
from sleuth_providers.records import Record

PROGRAMS = ("docker", "podman")
FORMAT = "{{.Names}}\t{{.Image}}\t{{.State}}\t{{.Status}}\t{{.Ports}}"
COMPANIONS = ("valkey", "redis", "caddy", "nginx", "traefik")  # images of the same deployment
COMMAND_TIMEOUT_S = 2.0
PUBLISHED = re.compile(r"(\d{1,5})->\d{1,5}/tcp")
CHECK_SYNTAX = 'python3 -c "import yaml,sys; yaml.safe_load(open(sys.argv[1]))" core-config/settings.yml'
CHECK_SETTINGS = ("sleuth doctor --settings core-config/settings.yml", RESTART)


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


LOG_PATTERNS = {  # the first match counts
    "secret key": r"secret_key is not changed",
    "syntax": r"ScannerError|ParserError|found character '\\t'|could not find expected",
    "kubernetes": r"'tcp://.*is not a valid integer",
    "valkey": r"limiter requires Valkey",
    "value": r"Invalid settings\.yml|has to be one of these types|ambiguous shortcut|Invalid value|Expected `",
    "ipv6": r"os error 97|Address family not supported",
    "permissions": r"Permission denied|not a valid file|Is a directory",
}


def _explain_log(kind: str) -> Remedy:
    """Return what a line in the container's log means."""
    match kind:
        case "secret key":
            return Remedy(tr("the secret key is still the built-in one"), (NEW_SECRET, RECREATE), Link.SECRET_KEY)
        case "syntax":
            cause = tr("settings.yml is not valid YAML: a tab, or wrong indentation")
            return Remedy(cause, (CHECK_SYNTAX, *CHECK_SETTINGS), Link.INVALID_SETTINGS)
        case "kubernetes":
            fix = (tr("# in the pod's spec:"), "enableServiceLinks: false")
            return Remedy(tr("Kubernetes sets SEARXNG_PORT for a service of that name"), fix, Link.KUBERNETES)
        case "valkey":
            cause = tr("the limiter is on, directly or through `public_instance`, but there is no valkey server")
            turn_off = in_settings("server:", "  public_instance: false", "  limiter: false")
            variables = (tr("# environment variables override settings.yml:"), CHECK_VARIABLES, RECREATE)
            return Remedy(cause, (*turn_off, *variables), Link.VALKEY)
        case "ipv6":
            cause = tr("the server listens on IPv6, which this host does not have")
            return Remedy(cause, in_env("GRANIAN_HOST=0.0.0.0"), Link.NO_IPV6)
        case "permissions":
            cause = tr("the server's user (977) cannot write to the mounted folder, or settings.yml is a folder")
            return Remedy(cause, ("sudo chown -R 977:977 ./core-config", RECREATE), Link.PERMISSIONS)
    cause = tr("SearXNG does not accept a value in settings.yml or in a variable; the log names it")
    return Remedy(cause, CHECK_SETTINGS, Link.INVALID_SETTINGS)


def container_runs(session: Session) -> Finding | None:
    """Look for a SearXNG container with Docker or Podman, without changing anything."""
    if not session.no_server or not session.endpoint.is_local:
        return None
    path = session.environment.search_path
    program = next(filter(None, (shutil.which(name, path=path) for name in PROGRAMS)), None)
    if program is None:
        return skipped(tr("neither docker nor podman is installed"))
    name = program.rpartition("/")[2]
    listed = _run(session, program, "ps", "-a", "--no-trunc", "--format", FORMAT)
    if listed is None or listed.returncode:
        return _unusable(session, name, listed)
    containers = [found for line in listed.stdout.splitlines() if (found := _parse(line))]
    if not containers:
        return _none(session, name)
    container = next((one for one in containers if one.state == "running"), containers[0])
    if container.state == "running":
        return _running(session, name, container)
    return _stopped(session, program, name, container)


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
    error = clean(listed.stderr, 200, entities=False) if listed else tr("no answer in time")
    if not session.environment.expected:
        return skipped(error)
    title = tr("{program} is not available", program=name)
    if "permission denied" in error.lower():
        cause = tr("only root and members of its group may use {program}", program=name)
        return warn(error, Remedy(cause, (f"sudo {name} ps -a --filter name=searxng",), Link.REFUSED), title=title)
    cause = tr("{program} is installed, but its service is not running", program=name)
    fix = (f"sudo systemctl start {name}", f"{name} ps -a")
    return warn(error, Remedy(cause, fix, Link.REFUSED), title=title)


def _none(session: Session, name: str) -> Finding:
    evidence = tr("{program} has no SearXNG container", program=name)
    if not session.environment.expected:
        return skipped(evidence)
    cause = tr("the container was never created or was removed; without a container SearXNG listens on port 8888")
    remedy = Remedy(cause, (RECREATE, tr("# or set one up:"), "sleuth searxng init ./searxng"), Link.REFUSED)
    return warn(evidence, remedy, title=tr("There is no SearXNG container"))


def _running(session: Session, name: str, container: Container) -> Finding:
    port, ports = session.endpoint.port, container.ports or "–"
    evidence = tr("{name}: {status}, ports: {ports}", name=container.name, status=container.status, ports=ports)
    if port in container.published:
        cause = tr(
            "the container publishes this port, but its server does not answer: it is starting, or listens on another "
            "port inside (GRANIAN_PORT, SEARXNG_PORT; `server.port` has no effect in a container)"
        )
        return warn(evidence, Remedy(cause, (f"{name} logs --tail 50 {shell(container.name)}",), Link.CONTAINER_PORT))
    if container.published:
        url = f"http://localhost:{min(container.published)}"
        cause = tr("the container publishes another port than {port}", port=port)
        return warn(evidence, Remedy(cause, (session.command_to_use(url), f"sleuth doctor {url}"), Link.REFUSED))
    cause = tr("the container publishes no port, so only containers on its network can reach it")
    return warn(evidence, Remedy(cause, in_compose("ports:", f'  - "127.0.0.1:{port}:8080"'), Link.CONTAINER_PORT))


def _stopped(session: Session, program: str, name: str, container: Container) -> Finding:
    evidence = tr("{name}: {status}", name=container.name, status=container.status or container.state)
    logged = _run(session, program, "logs", "--tail", "60", container.name)
    text = f"{logged.stdout}\n{logged.stderr}" if logged else ""
    show_log, title = f"{name} logs --tail 50 {shell(container.name)}", tr("SearXNG container has stopped")
    for kind, pattern in LOG_PATTERNS.items():
        if line := next((line for line in text.splitlines() if re.search(pattern, line)), ""):
            remedy = _explain_log(kind)
            remedy = remedy._replace(fix=(*remedy.fix, tr("# its log:"), show_log))
            return warn(f"{evidence}\n{clean(line, 200, entities=False)}", remedy, title=title)
    cause = tr("the container has stopped; its log shows the reason")
    return warn(evidence, Remedy(cause, (show_log, f"{name} start {shell(container.name)}"), Link.REFUSED), title=title)
