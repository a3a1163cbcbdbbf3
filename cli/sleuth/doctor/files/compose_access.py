"""How a compose file connects the container: published ports and mounted settings."""

import os
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.compose import Compose
from sleuth.doctor.files.yaml_source import YamlNode, find
from sleuth.doctor.finding import Check, Finding, fail, ok, warn
from sleuth.doctor.remedies import remedy
from sleuth.doctor.server.address import is_loopback
from sleuth_providers.records import Record

CONFIG = "/etc/searxng"
WILDCARD_HOSTS = ("", "0.0.0.0", "::")  # noqa: S104 - recognised, not listened on


class Port(Record):
    """A published port: the host's address and port, and the container's port."""

    host: str
    published: str
    target: str
    node: YamlNode


class Mount(Record):
    """A file or folder of the host, and where it appears in the container."""

    source: str
    target: str
    read_only: bool
    node: YamlNode


def check_ports(compose: Compose, settings: str) -> Iterator[Finding]:
    """Check that the right port is published, and only on this machine."""
    if compose.host_network:
        advice = remedy("host-network", outside=compose.port, inside=compose.port)
        yield warn(compose.at("network_mode"), advice)
        return
    ports = [_port(compose, node) for node in compose.items("ports")]
    ports = [port for port in ports if port.target]
    if not ports:
        yield warn(compose.at("ports"), remedy("no-published-port", outside=8080, inside=compose.port))
    right = [port for port in ports if port.target == compose.port]
    for port in right or ports:
        yield _judge_port(compose, port)


def _port(compose: Compose, node: YamlNode) -> Port:
    if node.kind == "map":
        keys = ("host_ip", "published", "target")
        host, published, target = (clean(compose.text(find(node, key)), 100) for key in keys)
        return Port(host, published, target, node)
    text = clean(compose.text(node), 100).partition("/")[0]
    address, _, target = text.rpartition(":")
    host, _, published = address.rpartition(":")
    return Port(host.strip("[]"), published, target, node)


def _judge_port(compose: Compose, port: Port) -> Finding:
    at, outside = compose.source.at(port.node), port.published or port.target
    values = {"outside": outside, "inside": compose.port, "target": clean(port.target, 40)}
    if port.target != compose.port:
        return fail(at, remedy("wrong-container-port", **values))
    if port.host in WILDCARD_HOSTS:
        return warn(at, remedy("open-port", **values))
    is_local = port.host == "localhost" or is_loopback(port.host)
    return ok(f"{at} ({tr('this machine only') if is_local else tr('the network of {host}', host=port.host)})")


def check_volumes(compose: Compose, settings: str) -> Iterator[Finding]:
    """Check that the container sees the settings file at hand."""
    mounts = [_mount(compose, node) for node in compose.items("volumes")]
    for mount in mounts:
        if mount.target.endswith("uwsgi.ini"):
            yield warn(compose.source.at(mount.node), remedy("uwsgi-file"))
    folder = next((mount for mount in mounts if mount.target == CONFIG), None)
    file = next((mount for mount in mounts if mount.target == f"{CONFIG}/settings.yml"), None)
    if file:
        yield _judge_file(compose, file)
    elif folder:
        yield _judge_folder(compose, folder, settings)
    else:
        advice = remedy("settings-not-mounted", path=CONFIG, folder=_folder(compose, settings))
        yield fail(compose.at("volumes"), advice)


def _mount(compose: Compose, node: YamlNode) -> Mount:
    if node.kind == "map":
        locked = find(node, "read_only")
        source, target = (compose.text(find(node, key)) for key in ("source", "target"))
        return Mount(source, target.rstrip("/"), locked is not None and locked.value.value is True, node)
    source, _, rest = compose.text(node).partition(":")
    target, _, options = rest.partition(":")
    return Mount(source, target.rstrip("/"), "ro" in options.split(","), node)


def _judge_file(compose: Compose, mount: Mount) -> Finding:
    path = _host_path(compose, mount)
    if path and not os.path.isfile(path):
        return fail(compose.source.at(mount.node), remedy("settings-mounted-missing"))
    return warn(compose.source.at(mount.node), remedy("settings-mounted-alone"))


def _judge_folder(compose: Compose, mount: Mount, settings: str) -> Finding:
    at, path, folder = compose.source.at(mount.node), _host_path(compose, mount), _folder(compose, settings)
    if not path:
        return warn(at, remedy("settings-in-volume", folder=folder))
    if os.path.realpath(path) != os.path.realpath(os.path.dirname(settings)):
        return warn(at, remedy("settings-in-other-folder", folder=folder))
    return warn(at, remedy("settings-mounted-read-only", folder=folder)) if mount.read_only else ok(at)


def _host_path(compose: Compose, mount: Mount) -> str:
    """Return the path on the host; empty for a Docker volume."""
    if not mount.source.startswith((".", "/", "~")):
        return ""
    return os.path.normpath(os.path.join(compose.folder, os.path.expanduser(mount.source)))


def _folder(compose: Compose, settings: str) -> str:
    """Return the folder of the settings as a compose file names it."""
    folder = os.path.relpath(os.path.dirname(settings), compose.folder)
    return "./" if folder == "." else f"./{folder}/"


CHECKS = (
    Check("compose.ports", "Published port is right", "Published port is wrong or open", check_ports),
    Check("compose.volumes", "Settings are mounted", "Settings are not mounted properly", check_volumes),
)
