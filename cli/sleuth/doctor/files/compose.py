"""A compose file beside the settings: which variables reach the server, and how the container runs."""

import os
import re
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.doctor.files.environment import Variable, interpolate, read_environment, read_text
from sleuth.doctor.files.yaml_source import NotYamlError, YamlEntry, YamlNode, YamlSource, entries, find, read_yaml
from sleuth.doctor.finding import Check, Finding, fail, ok, skipped, warn
from sleuth.doctor.remedies import remedy, shell
from sleuth_providers.records import Record

NAMES = ("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml")
NEEDED_CAPABILITIES = ("CHOWN", "SETUID", "SETGID", "DAC_OVERRIDE")  # to give mounted folders to its own user
HOST_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)  # what Docker accepts; it goes into settings.yml as it is


class Compose(Record):
    """The part of a compose file that runs SearXNG."""

    source: YamlSource
    folder: str
    service: YamlEntry
    interpolated: dict[str, Variable]  # from .env, for ${NAME} in the file
    variables: dict[str, Variable]  # in the container
    valkey: str = ""  # host name of a valkey or redis service

    @property
    def host_network(self) -> bool:
        """Return whether the container shares the host's network."""
        mode = self.get("network_mode")
        return mode is not None and mode.value.value == "host"

    @property
    def port(self) -> str:
        """Return the port the server listens on inside the container."""
        found = [self.variables[name].value for name in ("SEARXNG_PORT", "GRANIAN_PORT") if name in self.variables]
        return next((value for value in found if value and value.isdigit()), "8080")

    def get(self, *path: str) -> YamlEntry | None:
        """Return an entry of the service."""
        return find(self.service.value, *path)

    def items(self, key: str) -> list[YamlNode]:
        """Return the items of a list of the service; a scalar is a list of one."""
        entry = self.get(key)
        if entry is None or entry.value.kind in ("map", "null"):
            return []
        return entry.value.value if entry.value.kind == "list" else [entry.value]

    def at(self, key: str) -> str:
        """Return an entry of the service, or else the service, as evidence."""
        return self.source.at((self.get(key) or self.service).key)

    def text(self, node: YamlNode | YamlEntry | None) -> str:
        """Return a scalar with ${NAME} filled in; an empty text for anything else."""
        scalar = node.value if isinstance(node, YamlEntry) else node
        if scalar is None or scalar.value is None or scalar.kind in ("map", "list"):
            return ""
        return interpolate(str(scalar.value), self.interpolated)[0]


def find_compose(folder: str) -> str:
    """Return the compose file in a folder or its parent, as SearXNG's template places them."""
    paths = [os.path.join(place, name) for place in (folder, os.path.dirname(folder)) for name in NAMES]
    return next((path for path in paths if os.path.isfile(path)), "")


def read_compose(path: str) -> tuple[Compose | None, list[Finding]]:
    """Read a compose file; None when it cannot be read or does not run SearXNG."""
    name, folder = os.path.basename(path), os.path.dirname(path)
    text = read_text(path)
    if isinstance(text, Finding):
        return None, [FILE.label(text)]
    try:
        source = YamlSource(name, text, read_yaml(text))
    except NotYamlError as problem:
        evidence = f"{name}:{problem.line}:{problem.column}: {problem.reason}"
        return None, [FILE.label(fail(evidence, remedy("compose-not-yaml")))]
    services = find(source.root, "services")
    service = _pick(entries(services.value)) if services else None
    if service is None or services is None:
        return None, [SERVICE.label(skipped(f"{name}: {tr('no service runs SearXNG')}"))]
    env = os.path.join(folder, ".env")
    interpolated, problems = read_environment(env) if os.path.isfile(env) else ({}, [])
    compose = Compose(source, folder, service, interpolated, {}, _valkey(entries(services.value)))
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
            missing = fail(compose.source.at(node), remedy("env-file-missing", path=shell(path)))
            problems.append(ENV_FILE.label(missing))
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
    advice = remedy("capabilities-missing", names=", ".join(missing), lines=[f"  - {name}" for name in missing])
    yield warn(compose.at("cap_drop"), advice)


def check_restart(compose: Compose) -> Finding:
    """Check that the container restarts after a reboot."""
    if compose.text(compose.get("restart")) not in ("no", "False", ""):  # YAML reads a bare `no` as false
        return ok(compose.at("restart"))
    return warn(compose.at("restart"), remedy("no-restart"))


def check_healthcheck(compose: Compose) -> Iterator[Finding]:
    """Check that the health check uses no program that the image lacks."""
    entry = compose.get("healthcheck", "test")
    items = (entry.value.value if entry.value.kind == "list" else [entry.value]) if entry else []
    words = " ".join(compose.text(item) for item in items).split()
    if entry and any(os.path.basename(word) in ("curl", "wget") for word in words):
        yield warn(compose.source.at(entry.key), remedy("healthcheck-without-program"))


def check_image(compose: Compose) -> Iterator[Finding]:
    """Check that the image is SearXNG, not its predecessor."""
    if "searx/searx" in compose.text(compose.get("image")):
        yield warn(compose.at("image"), remedy("image-is-searx"))
    elif compose.get("image"):
        yield ok(compose.at("image"))


FILE = Check("compose.file", "Compose file is valid", "Compose file is not valid")
ENV_FILE = Check("compose.env_file", "Environment file exists", "Environment file is missing")
SERVICE = Check("compose.service", "Compose file runs SearXNG", "Compose file runs searx", check_image)
CHECKS = (
    Check("compose.capabilities", "Capabilities suffice", "Capabilities are missing", check_capabilities),
    Check("compose.restart", "Container restarts by itself", "Container does not restart by itself", check_restart),
    Check("compose.healthcheck", "", "Health check cannot work", check_healthcheck),
    SERVICE,
)
