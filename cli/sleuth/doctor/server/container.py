"""When nobody answers on this machine: is Docker there, does the container run, on which port, what is in its log?"""

import re
import shutil
import subprocess

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.session import Session
from sleuth.doctor.verdict import RECREATE, Remedy, in_compose, poor, shell, unasked
from sleuth_providers.records import Record

PROGRAMS = ("docker", "podman")
FORMAT = "{{.Names}}\t{{.Image}}\t{{.State}}\t{{.Status}}\t{{.Ports}}"
COMPANIONS = ("valkey", "redis", "caddy", "nginx", "traefik")  # containers of the same deployment
SECONDS = 2.0
PUBLISHED = re.compile(r"(\d{1,5})->\d{1,5}/tcp")
REFUSED_LINK = "searxng.md#connection-refused-on-localhost8080-is-the-searxng-container-running"
PORT_LINK = "searxng.md#searxng-listens-on-the-wrong-port-in-the-container"
FILES_LINK = "searxng.md#searxng-container-permission-denied-not-a-valid-file"
INVALID_LINK = "searxng.md#searxng-exits-invalid-settingsyml-yaml-error"
UNCHANGED_LINK = "searxng.md#searxng-does-not-start-serversecret_key-is-not-changed"
VALKEY_LINK = "searxng.md#searxng-log-cant-connect-valkey-db-redis"
IPV6_LINK = "searxng.md#searxng-exits-with-os-error-97-no-ipv6"
KUBERNETES_LINK = "searxng.md#searxng-on-kubernetes-tcp-is-not-a-valid-integer-for---port"
SYNTAX = 'python3 -c "import yaml,sys; yaml.safe_load(open(sys.argv[1]))" core-config/settings.yml'
MEND = ("sleuth doctor --settings core-config/settings.yml", "docker compose restart core")


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


class Sign(Record):
    """A line of the log that gives the reason away."""

    pattern: str
    cause: str
    fix: tuple[str, ...]
    link: str


SIGNS = (
    Sign(
        r"secret_key is not changed",
        "the settings have no secret of their own, and SearXNG refuses to run with the built-in one",
        ("printf 'SEARXNG_SECRET=%s\\n' \"$(openssl rand -hex 32)\" >> .env", RECREATE),
        UNCHANGED_LINK,
    ),
    Sign(
        r"ScannerError|ParserError|found character '\\t'|could not find expected",
        "settings.yml is not valid YAML: a tab, or a wrong indent",
        (SYNTAX, *MEND),
        INVALID_LINK,
    ),
    Sign(
        r"'tcp://.*is not a valid integer",
        "Kubernetes sets SEARXNG_PORT for a service of that name",
        ("enableServiceLinks: false",),
        KUBERNETES_LINK,
    ),
    Sign(
        r"limiter requires Valkey",
        "the limiter is on, by itself or through `public_instance`, and there is no valkey server for it",
        (
            "# in settings.yml, in the folder mounted at /etc/searxng:",
            "server:",
            "  public_instance: false",
            "  limiter: false",
            "# the environment wins over settings.yml:",
            "grep -E 'SEARXNG_(LIMITER|PUBLIC_INSTANCE)' .env docker-compose.yml",
            RECREATE,
        ),
        VALKEY_LINK,
    ),
    Sign(
        r"Invalid settings\.yml|has to be one of these types|ambiguous shortcut|Invalid value|Expected `",
        "settings.yml or a variable has a value SearXNG does not accept; the log names the key",
        MEND,
        INVALID_LINK,
    ),
    Sign(
        r"os error 97|Address family not supported",
        "the server listens on IPv6, which this host does not have",
        ("echo 'GRANIAN_HOST=0.0.0.0' >> .env", RECREATE),
        IPV6_LINK,
    ),
    Sign(
        r"Permission denied|not a valid file|Is a directory",
        "the mounted folder is not writable for the user of the server (977), or settings.yml is a folder",
        ("sudo chown -R 977:977 ./core-config", RECREATE),
        FILES_LINK,
    ),
)


def container_runs(visit: Session) -> Finding | None:
    """Ask Docker or Podman about a container of SearXNG; both are only read from."""
    if not visit.nobody or not visit.place.is_local:
        return None
    program = next(filter(None, (shutil.which(name, path=visit.around.programs) for name in PROGRAMS)), None)
    if program is None:
        return unasked(tr("neither docker nor podman is installed here"))
    name = program.rpartition("/")[2]
    listed = _run(visit, program, "ps", "-a", "--no-trunc", "--format", FORMAT)
    if listed is None or listed.returncode:
        return _unusable(visit, name, listed)
    boxes = [read for line in listed.stdout.splitlines() if (read := _read(line))]
    if not boxes:
        return _absent(visit, name)
    box = next((box for box in boxes if box.state == "running"), boxes[0])
    if box.state == "running":
        return _running(visit, name, box)
    return _stopped(visit, program, name, box)


def _run(visit: Session, *words: str) -> "subprocess.CompletedProcess[str] | None":
    try:
        return subprocess.run(  # noqa: S603 - a program of the user's own PATH, read from only, without a shell
            words,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=visit.left(SECONDS),
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return None


def _read(line: str) -> Container | None:
    fields = [clean(field, 200, entities=False) for field in line.split("\t")]
    if len(fields) != 5:
        return None
    box = Container(*fields)
    named = f"{box.name} {box.image}".lower()
    return box if "searx" in named and not any(word in box.image.lower() for word in COMPANIONS) else None


def _unusable(visit: Session, name: str, listed: "subprocess.CompletedProcess[str] | None") -> Finding:
    words = clean(listed.stderr, 200, entities=False) if listed else tr("no answer in time")
    if not visit.around.expected:
        return unasked(words)
    if "permission denied" in words.lower():
        cause = tr("you may not ask {program}: only root and members of its group may", program=name)
        return poor(words, Remedy(cause, (f"sudo {name} ps -a --filter name=searxng",), REFUSED_LINK))
    cause = tr("{program} is installed, but does not answer: its service is not running", program=name)
    return poor(words, Remedy(cause, (f"sudo systemctl start {name}", f"{name} ps -a"), REFUSED_LINK))


def _absent(visit: Session, name: str) -> Finding:
    evidence = tr("{program} has no container of SearXNG", program=name)
    if not visit.around.expected:
        return unasked(evidence)
    cause = tr("no container was ever made, or it was removed; without a container SearXNG listens on port 8888")
    return poor(evidence, Remedy(cause, (RECREATE, "sleuth searxng init ./searxng"), REFUSED_LINK))


def _running(visit: Session, name: str, box: Container) -> Finding:
    port = visit.place.port
    evidence = tr("{name}: {status}, ports: {ports}", name=box.name, status=box.status, ports=box.ports or "–")
    if port in box.published:
        cause = tr(
            "the container runs and publishes this port, but its server does not answer there: it is starting, or "
            "listens on another port inside (GRANIAN_PORT, SEARXNG_PORT; `server.port` has no effect in a container)"
        )
        return poor(evidence, Remedy(cause, (f"{name} logs --tail 50 {shell(box.name)}",), PORT_LINK))
    if box.published:
        url = f"http://localhost:{min(box.published)}"
        cause = tr("the container publishes another port than {port}", port=port)
        return poor(evidence, Remedy(cause, (visit.use(url), f"sleuth doctor {url}"), REFUSED_LINK))
    cause = tr("the container publishes no port, so nothing outside of its network can reach it")
    fix = in_compose("ports:", f'  - "127.0.0.1:{port}:8080"')
    return poor(evidence, Remedy(cause, fix, PORT_LINK))


def _stopped(visit: Session, program: str, name: str, box: Container) -> Finding:
    evidence = tr("{name}: {status}", name=box.name, status=box.status or box.state)
    logged = _run(visit, program, "logs", "--tail", "60", box.name)
    text = f"{logged.stdout}\n{logged.stderr}" if logged else ""
    show = f"{name} logs --tail 50 {shell(box.name)}"
    for sign in SIGNS:
        if line := next((line for line in text.splitlines() if re.search(sign.pattern, line)), ""):
            evidence = f"{evidence}\n{clean(line, 200, entities=False)}"
            return poor(evidence, Remedy(tr(sign.cause), (*map(tr, sign.fix), show), sign.link))
    cause = tr("the container has stopped; its log has the reason")
    return poor(evidence, Remedy(cause, (show, f"{name} start {shell(box.name)}"), REFUSED_LINK))
