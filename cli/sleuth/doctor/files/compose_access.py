"""How a compose file connects the container: published ports and mounted settings."""

import os
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.compose import Compose
from sleuth.doctor.files.yaml_source import YamlNode, find
from sleuth.doctor.finding import Check, Finding, Remedy, fail, ok, warn
from sleuth.doctor.fixes import RECREATE, in_compose
from sleuth.doctor.links import Link
from sleuth.doctor.server.address import is_loopback
from sleuth_providers.records import Record

CONFIG = "/etc/searxng"


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
        cause = tr("with the host's network the server listens on every interface, and ports: has no effect")
        fix = in_compose("ports:", f'  - "127.0.0.1:{compose.port}:{compose.port}"')
        yield warn(compose.at("network_mode"), Remedy(cause, fix, Link.OTHER_MACHINE))
        return
    ports = [_port(compose, node) for node in compose.items("ports")]
    ports = [port for port in ports if port.target]
    if not ports:
        cause = tr("no port is published: only containers on the same network can reach the server")
        fix = in_compose("ports:", f'  - "127.0.0.1:8080:{compose.port}"')
        yield warn(compose.at("ports"), Remedy(cause, fix, Link.OTHER_MACHINE))
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
    fix = in_compose("ports:", f'  - "127.0.0.1:{outside}:{compose.port}"')
    if port.target != compose.port:
        values = {"inside": compose.port, "target": clean(port.target, 40)}
        cause = tr("inside the container the server listens on {inside}, not on {target}", **values)
        return fail(at, Remedy(cause, fix, Link.CONTAINER_PORT))
    if port.host in ("", "0.0.0.0", "::"):  # noqa: S104 - recognised, not listened on
        cause = tr("the port is open to the whole network, even behind most firewalls: Docker sets its own rules")
        return warn(at, Remedy(cause, fix, Link.OTHER_MACHINE))
    is_local = port.host == "localhost" or is_loopback(port.host)
    return ok(f"{at} ({tr('this machine only') if is_local else tr('the network of {host}', host=port.host)})")


def check_volumes(compose: Compose, settings: str) -> Iterator[Finding]:
    """Check that the container sees the settings file at hand."""
    mounts = [_mount(compose, node) for node in compose.items("volumes")]
    for mount in mounts:
        if mount.target.endswith("uwsgi.ini"):
            cause = tr("the container no longer uses uWSGI and ignores this file")
            fix = (tr("# remove this line, then:"), RECREATE)
            yield warn(compose.source.at(mount.node), Remedy(cause, fix, Link.OLD_SETTINGS))
    folder = next((mount for mount in mounts if mount.target == CONFIG), None)
    file = next((mount for mount in mounts if mount.target == f"{CONFIG}/settings.yml"), None)
    if file:
        yield _judge_file(compose, file)
    elif folder:
        yield _judge_folder(compose, folder, settings)
    else:
        cause = tr("nothing is mounted at {path}: the container does not see this file", path=CONFIG)
        yield fail(compose.at("volumes"), Remedy(cause, _mount_folder(compose, settings), Link.STILL_403))


def _mount(compose: Compose, node: YamlNode) -> Mount:
    if node.kind == "map":
        locked = find(node, "read_only")
        source, target = (compose.text(find(node, key)) for key in ("source", "target"))
        return Mount(source, target.rstrip("/"), locked is not None and locked.value.value is True, node)
    source, _, rest = compose.text(node).partition(":")
    target, _, options = rest.partition(":")
    return Mount(source, target.rstrip("/"), "ro" in options.split(","), node)


def _judge_file(compose: Compose, mount: Mount) -> Finding:
    at, fix = compose.source.at(mount.node), in_compose("volumes:", f"  - ./core-config/:{CONFIG}/")
    path = _host_path(compose, mount)
    if path and not os.path.isfile(path):
        cause = tr("there is no such file: Docker creates a folder of that name, and the server exits")
        return fail(at, Remedy(cause, fix, Link.PERMISSIONS))
    cause = tr("a file mounted by itself keeps its old content when an editor replaces it: mount its folder")
    return warn(at, Remedy(cause, fix, Link.STILL_403))


def _judge_folder(compose: Compose, mount: Mount, settings: str) -> Finding:
    at, path, fix = compose.source.at(mount.node), _host_path(compose, mount), _mount_folder(compose, settings)
    if not path:
        cause = tr("the settings are in a Docker volume; the file at hand is not the one in use")
        return warn(at, Remedy(cause, fix, Link.STILL_403))
    if os.path.realpath(path) != os.path.realpath(os.path.dirname(settings)):
        cause = tr("the container reads another folder than that of the file at hand")
        return warn(at, Remedy(cause, fix, Link.STILL_403))
    if mount.read_only:
        cause = tr("the folder is read-only, so the container cannot give it to its own user")
        return warn(at, Remedy(cause, fix, Link.PERMISSIONS))
    return ok(at)


def _host_path(compose: Compose, mount: Mount) -> str:
    """Return the path on the host; empty for a Docker volume."""
    if not mount.source.startswith((".", "/", "~")):
        return ""
    return os.path.normpath(os.path.join(compose.folder, os.path.expanduser(mount.source)))


def _mount_folder(compose: Compose, settings: str) -> tuple[str, ...]:
    folder = os.path.relpath(os.path.dirname(settings), compose.folder)
    return in_compose("volumes:", f"  - ./{'' if folder == '.' else folder + '/'}:{CONFIG}/")


CHECKS = (
    Check("compose.ports", "Published port is right", "Published port is wrong or open", check_ports),
    Check("compose.volumes", "Settings are mounted", "Settings are not mounted properly", check_volumes),
)
