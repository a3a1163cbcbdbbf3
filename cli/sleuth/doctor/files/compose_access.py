"""How a compose file connects the container: the port it publishes, and the settings it mounts."""

import os
from collections.abc import Iterator
from ipaddress import ip_address

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.compose import OLD_LINK, RIGHTS_LINK, Compose
from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode, find
from sleuth.doctor.finding import Finding
from sleuth.doctor.issue import fine, issue
from sleuth.doctor.verdict import RECREATE, Remedy, in_compose
from sleuth_providers.records import Record

CONFIG = "/etc/searxng"
LAN_LINK = "searxng.md#connection-refused-from-another-machine-in-the-network"
PORT_LINK = "searxng.md#searxng-listens-on-the-wrong-port-in-the-container"
FILE_LINK = "searxng.md#searxng-still-answers-403-after-adding-json-to-formats"


class Port(Record):
    """A published port: the host's address and port, and the container's."""

    host: str
    published: str
    target: str
    node: YamlNode


class Mount(Record):
    """What of the host appears where in the container."""

    source: str
    target: str
    read_only: bool
    node: YamlNode


def check_access(compose: Compose, settings: str) -> Iterator[Finding]:
    """Check ports and mounts of the service that runs SearXNG with the settings file at hand."""
    yield from _check_ports(compose)
    yield from _check_mounts(compose, settings)


def _check_ports(compose: Compose) -> Iterator[Finding]:
    if compose.host_network:
        mode = find(compose.service.value, "network_mode") or compose.service
        cause = tr("with the host's network the server listens on every interface; ports: has no effect")
        remedy = Remedy(cause, in_compose("ports:", f'  - "127.0.0.1:{compose.port}:{compose.port}"'), LAN_LINK)
        yield issue("compose.ports", "warn", compose.source.at(mode.key), remedy).finding
        return
    entry = find(compose.service.value, "ports")
    ports = list(_ports(compose, entry)) if entry else []
    if not ports:
        cause = tr("no port is published: only containers of the same network reach the server")
        remedy = Remedy(cause, in_compose("ports:", f'  - "127.0.0.1:8080:{compose.port}"'), LAN_LINK)
        yield issue("compose.ports", "warn", compose.source.at((entry or compose.service).key), remedy).finding
    right = [port for port in ports if port.target == compose.port]
    for port in right or ports:
        yield _judge(compose, port)


def _ports(compose: Compose, entry: YamlEntry) -> Iterator[Port]:
    for node in entry.value.value if entry.value.kind == "list" else []:
        if node.kind == "map":
            found = [find(node, key) for key in ("host_ip", "published", "target")]
            host, published, target = (clean(_text(compose, one), 100) for one in found)
            yield Port(host, published, target, node)
        elif text := clean(compose.text(node), 100).partition("/")[0]:
            yield _read_port(text, node)


def _text(compose: Compose, entry: YamlEntry | None) -> str:
    return compose.text(entry.value) if entry else ""


def _read_port(text: str, node: YamlNode) -> Port:
    host = ""
    if text.startswith("["):
        host, _, text = text[1:].partition("]:")
    parts = text.split(":")
    if len(parts) >= 3:
        host, parts = ":".join(parts[:-2]), parts[-2:]
    return Port(host, parts[-2] if len(parts) > 1 else "", parts[-1], node)


def _judge(compose: Compose, port: Port) -> Finding:
    place = compose.source.at(port.node)
    if port.target != compose.port:
        cause = tr(
            "inside the container the server listens on {inside}, not on {target}",
            inside=compose.port,
            target=clean(port.target, 40),
        )
        line = f'  - "127.0.0.1:{port.published or port.target}:{compose.port}"'
        return issue("compose.ports", "fail", place, Remedy(cause, in_compose("ports:", line), PORT_LINK)).finding
    if port.host in ("", "0.0.0.0", "::"):  # noqa: S104 - it is what is looked for
        cause = tr("the port is open to the whole network, past most firewalls: Docker sets its own rules")
        line = f'  - "127.0.0.1:{port.published or port.target}:{port.target}"'
        return issue("compose.ports", "warn", place, Remedy(cause, in_compose("ports:", line), LAN_LINK)).finding
    reach = tr("this machine only") if _is_loopback(port.host) else tr("the network of {host}", host=port.host)
    return fine("compose.ports", f"{place} ({reach})").finding


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _check_mounts(compose: Compose, settings: str) -> Iterator[Finding]:
    entry = find(compose.service.value, "volumes")
    mounts = list(_mounts(compose, entry)) if entry else []
    for mount in mounts:
        if mount.target.endswith("uwsgi.ini"):
            cause = tr("the container has no uWSGI any more and ignores this file")
            place = compose.source.at(mount.node)
            fix = (tr("# remove this line, then:"), RECREATE)
            yield issue("compose.volumes", "warn", place, Remedy(cause, fix, OLD_LINK)).finding
    ours = [mount for mount in mounts if mount.target.startswith(CONFIG) and not mount.target.endswith("uwsgi.ini")]
    folder = next((mount for mount in ours if mount.target == CONFIG), None)
    file = next((mount for mount in ours if mount.target == f"{CONFIG}/settings.yml"), None)
    if file:
        yield _judge_file(compose, file)
    elif folder:
        yield _judge_folder(compose, folder, settings)
    else:
        cause = tr("nothing is mounted at {path}: the container does not see this file", path=CONFIG)
        place = compose.source.at((entry or compose.service).key)
        yield issue("compose.volumes", "fail", place, Remedy(cause, _mounting(compose, settings), FILE_LINK)).finding


def _mounts(compose: Compose, entry: YamlEntry) -> Iterator[Mount]:
    for node in entry.value.value if entry.value.kind == "list" else []:
        if node.kind == "map":
            source, target, locked = (find(node, key) for key in ("source", "target", "read_only"))
            read_only = locked is not None and locked.value.value is True
            yield Mount(_text(compose, source), _text(compose, target).rstrip("/"), read_only, node)
        else:
            source_text, _, rest = compose.text(node).partition(":")
            target_text, _, options = rest.partition(":")
            yield Mount(source_text, target_text.rstrip("/"), "ro" in options.split(","), node)


def _judge_file(compose: Compose, mount: Mount) -> Finding:
    place, fix = compose.source.at(mount.node), in_compose("volumes:", f"  - ./core-config/:{CONFIG}/")
    path = _on_host(compose, mount)
    if path and not os.path.isfile(path):
        cause = tr("there is no such file: Docker makes a folder of that name, and the server exits")
        return issue("compose.volumes", "fail", place, Remedy(cause, fix, RIGHTS_LINK)).finding
    cause = tr(
        "a file mounted by itself keeps its old content when an editor replaces it, and limiter.toml is not seen: "
        "mount the folder around it"
    )
    return issue("compose.volumes", "warn", place, Remedy(cause, fix, FILE_LINK)).finding


def _judge_folder(compose: Compose, mount: Mount, settings: str) -> Finding:
    place, path = compose.source.at(mount.node), _on_host(compose, mount)
    fix = _mounting(compose, settings)
    if not path:
        cause = tr("the settings live in a volume of Docker's own; the file at hand is not the one in use")
        return issue("compose.volumes", "warn", place, Remedy(cause, fix, FILE_LINK)).finding
    if os.path.realpath(path) != os.path.realpath(os.path.dirname(settings)):
        cause = tr("the container reads another folder than the one of the file at hand")
        return issue("compose.volumes", "warn", place, Remedy(cause, fix, FILE_LINK)).finding
    if mount.read_only:
        cause = tr("the container cannot hand a read-only folder to its own user, and may not be allowed to read it")
        return issue("compose.volumes", "warn", place, Remedy(cause, fix, RIGHTS_LINK)).finding
    return fine("compose.volumes", place).finding


def _on_host(compose: Compose, mount: Mount) -> str:
    """Return the path on the host, or nothing for a volume that Docker keeps."""
    if not mount.source.startswith((".", "/", "~")):
        return ""
    return os.path.normpath(os.path.join(compose.folder, os.path.expanduser(mount.source)))


def _mounting(compose: Compose, settings: str) -> tuple[str, ...]:
    folder = os.path.relpath(os.path.dirname(settings), compose.folder)
    return in_compose("volumes:", f"  - ./{'' if folder == '.' else folder + '/'}:{CONFIG}/")
