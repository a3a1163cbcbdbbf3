"""A compose file next to the settings: variables, published ports, mounted settings, and how the container runs."""

import os
import re
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import is_loopback
from sleuth.doctor.files.environment import Variable, interpolate, read_environment, read_text
from sleuth.doctor.files.yaml_source import NotYamlError, YamlEntry, YamlNode, YamlSource, entries, find, read_yaml
from sleuth.doctor.finding import Check, Finding, fail, ok, shell, skipped, warn
from sleuth.doctor.server.address import WILDCARD_HOSTS
from sleuth_providers.records import Record

NAMES = ("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml")
NEEDED_CAPABILITIES = ("CHOWN", "SETUID", "SETGID", "DAC_OVERRIDE")  # to give mounted folders to its own user
HOST_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)  # what Docker accepts; it goes into settings.yml as it is
CONFIG = "/etc/searxng"


class Compose(Record):
    """The part of a compose file that runs SearXNG."""

    source: YamlSource
    folder: str
    settings: str  # the folder of settings.yml
    service: YamlEntry
    interpolated: dict[str, Variable]  # from .env, for ${NAME} in the file
    variables: dict[str, Variable]  # in the container
    valkey: str = ""  # host name of a valkey or redis service

    @property
    def host_network(self) -> bool:
        """Return whether the container shares the host's network."""
        return self.text(self.get("network_mode")) == "host"

    @property
    def port(self) -> str:
        """Return the port the server listens on inside the container."""
        found = [self.variables[name].value for name in ("SEARXNG_PORT", "GRANIAN_PORT") if name in self.variables]
        return next((value for value in found if value and value.isdigit()), "8080")

    def get(self, *path: str) -> YamlEntry | None:
        """Return an entry of the service."""
        return find(self.service.value, *path)

    def items(self, *path: str) -> list[YamlNode]:
        """Return the items of a list of the service; a scalar is a list of one."""
        entry = self.get(*path)
        if entry is None or entry.value.kind in ("map", "null"):
            return []
        return entry.value.value if entry.value.kind == "list" else [entry.value]

    def at(self, *path: str) -> str:
        """Return an entry of the service, or else the service, as evidence."""
        return self.source.at((self.get(*path) or self.service).key)

    def text(self, node: YamlNode | YamlEntry | None) -> str:
        """Return a scalar with ${NAME} filled in; an empty text for anything else."""
        scalar = node.value if isinstance(node, YamlEntry) else node
        if scalar is None or scalar.value is None or scalar.kind in ("map", "list"):
            return ""
        return interpolate(str(scalar.value), self.interpolated)[0]


def read_compose(settings: str) -> tuple[Compose | None, list[Finding]]:
    """Read the compose file in the folder of the settings or its parent; None where none runs SearXNG."""
    paths = [os.path.join(place, name) for place in (settings, os.path.dirname(settings)) for name in NAMES]
    path = next((path for path in paths if os.path.isfile(path)), "")
    if not path:
        return None, []
    (folder, name), text = os.path.split(path), read_text(path)
    if isinstance(text, Finding):
        return None, [FILE.label(text)]
    try:
        source = YamlSource(name, text, read_yaml(text))
    except NotYamlError as problem:
        return None, [FILE.label(fail(problem.at(name), "compose-not-yaml"))]
    section = find(source.root, "services")
    services = entries(section.value) if section else []
    service = _pick(services)
    if service is None:
        return None, [SERVICE.label(skipped(f"{name}: {tr('no service runs SearXNG')}"))]
    env = os.path.join(folder, ".env")
    interpolated, problems = read_environment(env) if os.path.isfile(env) else ({}, [])
    compose = Compose(source, folder, settings, service, interpolated, {}, _valkey(services))
    variables, more = _variables(compose)
    return compose._replace(variables=variables), list(dict.fromkeys(problems + more))  # .env may be read twice


def _pick(services: list[YamlEntry]) -> YamlEntry | None:
    for words in (("searxng/searxng", "searx/searx"), ("searxng", "searx")):
        for service in services:
            image = find(service.value, "image")
            if image and any(word in str(image.value.value).lower() for word in words):
                return service
    return next((service for service in services if service.name.lower() in ("searxng", "searx")), None)


def _valkey(services: list[YamlEntry]) -> str:
    """Return the host name of a valkey service."""
    for service in services:
        image, named = find(service.value, "image"), find(service.value, "container_name")
        if image and any(word in str(image.value.value).lower() for word in ("valkey", "redis")):
            name = str(named.value.value) if named and named.value.kind == "text" else service.name
            return name if HOST_NAME.fullmatch(name) else ""
    return ""


def _variables(compose: Compose) -> tuple[dict[str, Variable], list[Finding]]:
    """Return the variables in the container: `environment:` overrides environment files."""
    found: dict[str, Variable] = {}
    problems: list[Finding] = []
    for node in compose.items("env_file"):
        required = find(node, "required")
        path = compose.text(find(node, "path") or node)
        full = os.path.join(compose.folder, path)
        if path and os.path.isfile(full):
            values, more = read_environment(full)
            found |= values
            problems += [*more, ENV_FILE.label(ok(compose.source.at(node)))]
        elif path and not (required and required.value.value is False):
            problems.append(ENV_FILE.label(fail(compose.source.at(node), "env-file-missing", path=shell(path))))
    section = compose.get("environment")
    for name, text, node in _assignments(section.value) if section else ():
        value, complete = interpolate(f"${{{name}}}" if text is None else text, compose.interpolated)
        found[name] = Variable(value if complete else None, compose.source.name, node.line)
    return found, problems


def _assignments(node: YamlNode) -> Iterator[tuple[str, str | None, YamlNode]]:
    """Yield name, text and position of each entry of `environment:`; no text means from .env or the shell."""
    for entry in entries(node):
        scalar = entry.value
        text = str(scalar.value).lower() if scalar.kind == "bool" else str(scalar.value)
        yield entry.name, None if scalar.kind in ("null", "map", "list") else text, entry.key
    for item in node.value if node.kind == "list" else ():
        if item.kind == "text":
            name, equals, text = item.value.partition("=")
            yield name.strip(), text if equals else None, item


def check_capabilities(compose: Compose) -> Iterator[Finding]:
    """Check that dropped capabilities include none that the container needs."""
    if compose.get("cap_drop") is None:
        return
    names = {key: [compose.text(item).upper() for item in compose.items(key)] for key in ("cap_drop", "cap_add")}
    dropped, added = ({name.removeprefix("CAP_") for name in found} for found in names.values())
    missing = [name for name in NEEDED_CAPABILITIES if {name, "ALL"} & dropped and not {name, "ALL"} & added]
    if not missing:
        yield ok(compose.at("cap_drop"))
        return
    lines = [f"  - {name}" for name in missing]
    yield warn(compose.at("cap_drop"), "capabilities-missing", names=", ".join(missing), lines=lines)


def check_restart(compose: Compose) -> Finding:
    """Check that the container restarts after a reboot."""
    if compose.text(compose.get("restart")) not in ("no", "False", ""):  # YAML reads a bare `no` as false
        return ok(compose.at("restart"))
    return warn(compose.at("restart"), "no-restart")


def check_healthcheck(compose: Compose) -> Iterator[Finding]:
    """Check that the health check uses no program that the image lacks."""
    words = " ".join(map(compose.text, compose.items("healthcheck", "test"))).split()
    if any(os.path.basename(word) in ("curl", "wget") for word in words):
        yield warn(compose.at("healthcheck", "test"), "healthcheck-without-program")


def check_image(compose: Compose) -> Iterator[Finding]:
    """Check that the image is SearXNG, not its predecessor."""
    if "searx/searx" in compose.text(compose.get("image")):
        yield warn(compose.at("image"), "image-is-searx")
    elif compose.get("image"):
        yield ok(compose.at("image"))


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


def check_ports(compose: Compose) -> Iterator[Finding]:
    """Check that the right port is published, and only on this machine."""
    if compose.host_network:
        yield warn(compose.at("network_mode"), "host-network", outside=compose.port, inside=compose.port)
        return
    ports = [port for node in compose.items("ports") if (port := _port(compose, node)).target]
    if not ports:
        yield warn(compose.at("ports"), "no-published-port", outside=8080, inside=compose.port)
    right = [port for port in ports if port.target == compose.port]
    for port in right or ports:
        yield _judge_port(compose, port)


def _port(compose: Compose, node: YamlNode) -> Port:
    if node.kind == "map":
        keys = ("host_ip", "published", "target")
        host, published, target = (clean(compose.text(find(node, key)), 100) for key in keys)
        return Port(host, published, target, node)
    address, _, target = clean(compose.text(node), 100).partition("/")[0].rpartition(":")
    host, _, published = address.rpartition(":")
    return Port(host.strip("[]"), published, target, node)


def _judge_port(compose: Compose, port: Port) -> Finding:
    at, outside = compose.source.at(port.node), port.published or port.target
    values = {"outside": outside, "inside": compose.port, "target": clean(port.target, 40)}
    if port.target != compose.port:
        return fail(at, "wrong-container-port", **values)
    if port.host in ("", *WILDCARD_HOSTS):
        return warn(at, "open-port", **values)
    is_local = is_loopback(port.host)
    return ok(f"{at} ({tr('this machine only') if is_local else tr('the network of {host}', host=port.host)})")


def check_volumes(compose: Compose) -> Iterator[Finding]:
    """Check that the container sees this settings file."""
    mounts = [_mount(compose, node) for node in compose.items("volumes")]
    for mount in mounts:
        if mount.target.endswith("uwsgi.ini"):
            yield warn(compose.source.at(mount.node), "uwsgi-file")
    folder = next((mount for mount in mounts if mount.target == CONFIG), None)
    file = next((mount for mount in mounts if mount.target == f"{CONFIG}/settings.yml"), None)
    if file:
        path = _host_path(compose, file)
        missing = path and not os.path.isfile(path)
        report, kind = (fail, "settings-mounted-missing") if missing else (warn, "settings-mounted-alone")
        yield report(compose.source.at(file.node), kind)
    elif folder:
        yield _judge_folder(compose, folder)
    else:
        yield fail(compose.at("volumes"), "settings-not-mounted", path=CONFIG, folder=_folder(compose))


def _mount(compose: Compose, node: YamlNode) -> Mount:
    if node.kind == "map":
        locked = find(node, "read_only")
        source, target = (compose.text(find(node, key)) for key in ("source", "target"))
        return Mount(source, target.rstrip("/"), locked is not None and locked.value.value is True, node)
    source, _, rest = compose.text(node).partition(":")
    target, _, options = rest.partition(":")
    return Mount(source, target.rstrip("/"), "ro" in options.split(","), node)


def _judge_folder(compose: Compose, mount: Mount) -> Finding:
    at, path, folder = compose.source.at(mount.node), _host_path(compose, mount), _folder(compose)
    if not path:
        return warn(at, "settings-in-volume", folder=folder)
    if os.path.realpath(path) != os.path.realpath(compose.settings):
        return warn(at, "settings-in-other-folder", folder=folder)
    return warn(at, "settings-mounted-read-only", folder=folder) if mount.read_only else ok(at)


def _host_path(compose: Compose, mount: Mount) -> str:
    """Return the path on the host; empty for a Docker volume."""
    if not mount.source.startswith((".", "/", "~")):
        return ""
    return os.path.normpath(os.path.join(compose.folder, os.path.expanduser(mount.source)))


def _folder(compose: Compose) -> str:
    """Return the folder of the settings as a compose file names it."""
    folder = os.path.relpath(compose.settings, compose.folder)
    return "./" if folder == "." else f"./{folder}/"


FILE = Check("compose.file", "Compose file is valid", "Compose file is not valid")
ENV_FILE = Check("compose.env_file", "Environment file exists", "Environment file is missing")
SERVICE = Check("compose.service", "Compose file runs SearXNG", "Compose file runs searx", check_image)
CHECKS = (
    Check("compose.capabilities", "Capabilities are sufficient", "Capabilities are missing", check_capabilities),
    Check("compose.restart", "Container restarts automatically", "Container will not restart", check_restart),
    Check("compose.healthcheck", "", "Health check cannot work", check_healthcheck),
    SERVICE,
    Check("compose.ports", "Published port is right", "Published port is wrong or open", check_ports),
    Check("compose.volumes", "Settings are mounted", "Settings are not mounted properly", check_volumes),
)
