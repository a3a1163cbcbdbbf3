"""A compose file beside the settings: which variables reach the server, and whether port and mount are right."""

import os
import re
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.environment import Variable, interpolate, read_environment
from sleuth.doctor.files.yaml_source import (
    MAX_BYTES,
    NotYamlError,
    YamlEntry,
    YamlNode,
    YamlSource,
    entries,
    find,
    read_yaml,
)
from sleuth.doctor.finding import Finding
from sleuth.doctor.issue import fine, issue
from sleuth.doctor.verdict import RECREATE, Remedy, in_compose, shell
from sleuth_providers.records import Record

NAMES = ("docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml")
NEEDED = ("CHOWN", "SETUID", "SETGID", "DAC_OVERRIDE")  # to hand the mounted folders to its own user
HOST_NAME = re.compile(r"[A-Za-z0-9][\w.-]*", re.ASCII)  # what Docker takes; it goes into settings.yml as it is
START_LINK = "searxng.md#start-searxng-with-docker-compose"
RIGHTS_LINK = "searxng.md#searxng-container-permission-denied-not-a-valid-file"
ENV_LINK = "searxng.md#docker-compose-up-env-file-env-not-found"
HEALTH_LINK = "searxng.md#searxng-container-is-unhealthy-healthcheck"
OLD_LINK = "searxng.md#searxng-broken-after-an-update-uwsgi-redis-base_url"
HEALTHY = (
    "healthcheck:",
    '  test: ["CMD", "/usr/local/searxng/.venv/bin/python", "-c",'
    " \"import urllib.request as u; u.urlopen('http://127.0.0.1:8080/healthz')\"]",
)


class Compose(Record):
    """The part of a compose file that runs SearXNG."""

    source: YamlSource
    folder: str
    service: YamlEntry
    filled: dict[str, Variable]  # what ${NAME} in the file is taken from
    variables: dict[str, Variable]  # what the server gets
    valkey: str = ""  # host name of a valkey or redis service
    host_network: bool = False

    @property
    def port(self) -> str:
        """Return the port the server listens on inside the container."""
        for name in ("SEARXNG_PORT", "GRANIAN_PORT"):
            variable = self.variables.get(name)
            if variable and (variable.value or "").isdigit():
                return str(variable.value)
        return "8080"

    def text(self, node: YamlNode) -> str:
        """Return a scalar with ${NAME} filled in."""
        return "" if node.value is None or node.kind in ("map", "list") else self.fill(str(node.value))

    def fill(self, text: str) -> str:
        """Return text with ${NAME} filled in."""
        return interpolate(text, self.filled)[0]


def find_compose(folder: str) -> str:
    """Return the compose file in a folder or the one above it, as the current template lays them out."""
    for place in (folder, os.path.dirname(folder)):
        for name in NAMES:
            if os.path.isfile(path := os.path.join(place, name)):
                return path
    return ""


def read_compose(path: str) -> tuple[Compose | None, list[Finding]]:
    """Read a compose file; None when it cannot be read or runs no SearXNG."""
    name, folder = os.path.basename(path), os.path.dirname(path)
    try:
        with open(path, "rb") as stream:
            text = stream.read(MAX_BYTES + 1).decode("utf-8-sig")
        source = YamlSource(name, text, read_yaml(text))
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        return None, [issue("compose.file", "skipped", f"{name}: {clean(reason, 200)}").finding]
    except NotYamlError as problem:
        place = f"{name}:{problem.line}:{problem.column}"
        remedy = Remedy(tr("Docker cannot read the compose file"), ("docker compose config -q",), START_LINK)
        return None, [issue("compose.file", "fail", f"{place}: {problem.reason}", remedy).finding]
    services = find(source.root, "services")
    service = _pick(entries(services.value)) if services else None
    if service is None or services is None:
        return None, [issue("compose.service", "skipped", f"{name}: " + tr("no service here runs SearXNG")).finding]
    env = os.path.join(folder, ".env")
    filled, problems = read_environment(env) if os.path.isfile(env) else ({}, [])
    mode = find(service.value, "network_mode")
    compose = Compose(source, folder, service, filled, {}, _valkey(entries(services.value)))
    compose = compose._replace(host_network=mode is not None and mode.value.value == "host")
    variables, more = _variables(compose)
    return compose._replace(variables=variables), list(dict.fromkeys(problems + more))  # .env may be read twice


def _pick(services: list[YamlEntry]) -> YamlEntry | None:
    def image(service: YamlEntry) -> str:
        found = find(service.value, "image")
        return str(found.value.value).lower() if found else ""

    for words in (("searxng/searxng", "searx/searx"), ("searxng", "searx")):
        for service in services:
            if any(word in image(service) for word in words):
                return service
    return next((service for service in services if service.name.lower() in ("searxng", "searx")), None)


def _valkey(services: list[YamlEntry]) -> str:
    """Return the name under which the server finds a valkey service."""
    for service in services:
        image, named = find(service.value, "image"), find(service.value, "container_name")
        if image and any(word in str(image.value.value).lower() for word in ("valkey", "redis")):
            name = str(named.value.value) if named and named.value.kind == "text" else service.name
            return name if HOST_NAME.fullmatch(name) else ""
    return ""


def _variables(compose: Compose) -> tuple[dict[str, Variable], list[Finding]]:
    """Return what the server gets: environment files first, `environment:` over them."""
    found: dict[str, Variable] = {}
    problems: list[Finding] = []
    for path, node, required in _environment_files(compose):
        full = os.path.join(compose.folder, path)
        if os.path.isfile(full):
            values, troubles = read_environment(full)
            found |= values
            problems += troubles
            problems.append(fine("compose.env_file", compose.source.at(node)).finding)
        elif required:
            cause = tr("docker compose stops when the file is missing; it may be empty")
            fix = (f"printf 'SEARXNG_SECRET=%s\\n' \"$(openssl rand -hex 32)\" > {shell(path)}", RECREATE)
            remedy = Remedy(cause, fix, ENV_LINK)
            problems.append(issue("compose.env_file", "fail", compose.source.at(node), remedy).finding)
    section = find(compose.service.value, "environment")
    for name, text, node in _settings(section.value) if section else ():
        found[name] = _variable(compose, name, text, node)
    return found, problems


def _environment_files(compose: Compose) -> Iterator[tuple[str, YamlNode, bool]]:
    entry = find(compose.service.value, "env_file")
    if entry is None:
        return
    for node in entry.value.value if entry.value.kind == "list" else [entry.value]:
        named, required = find(node, "path"), find(node, "required")
        path = compose.text(named.value if named else node)
        if path:
            yield path, node, not (required and required.value.value is False)


def _settings(node: YamlNode) -> Iterator[tuple[str, str | None, YamlNode]]:
    """Yield name, text and place of each entry of `environment:`, a mapping or a list."""
    for entry in entries(node):
        scalar = entry.value
        text = str(scalar.value).lower() if scalar.kind == "bool" else str(scalar.value)
        yield entry.name, None if scalar.kind in ("null", "map", "list") else text, entry.key
    for item in node.value if node.kind == "list" else ():
        if item.kind == "text":
            name, equals, text = item.value.partition("=")
            yield name.strip(), text if equals else None, item


def _variable(compose: Compose, name: str, text: str | None, node: YamlNode) -> Variable:
    if text is None:  # handed through from .env or the shell
        known = compose.filled.get(name)
        return Variable(known.value if known else None, compose.source.name, node.line)
    value, complete = interpolate(text, compose.filled)
    return Variable(value if complete else None, compose.source.name, node.line)


def check_compose(compose: Compose) -> Iterator[Finding]:
    """Check how the container is run; ports and mounts have files of their own."""
    yield from _check_capabilities(compose)
    yield from _check_restart(compose)
    yield from _check_health(compose)
    yield from _check_image(compose)


def _check_capabilities(compose: Compose) -> Iterator[Finding]:
    dropped, added = (_names(compose, key) for key in ("cap_drop", "cap_add"))
    entry = find(compose.service.value, "cap_drop")
    if entry is None:
        return
    missing = [name for name in NEEDED if (name in dropped or "ALL" in dropped) and not {name, "ALL"} & set(added)]
    if not missing:
        yield fine("compose.capabilities", compose.source.at(entry.key)).finding
        return
    cause = tr(
        "without {names} the container cannot hand its folders to its own user, and may not read the settings",
        names=", ".join(missing),
    )
    fix = in_compose("cap_add:", *(f"  - {name}" for name in missing))
    yield issue("compose.capabilities", "warn", compose.source.at(entry.key), Remedy(cause, fix, RIGHTS_LINK)).finding


def _names(compose: Compose, key: str) -> list[str]:
    entry = find(compose.service.value, key)
    items = entry.value.value if entry and entry.value.kind == "list" else []
    return [compose.text(item).upper().removeprefix("CAP_") for item in items]


def _check_restart(compose: Compose) -> Iterator[Finding]:
    entry = find(compose.service.value, "restart")
    policy = compose.text(entry.value) if entry else ""
    # YAML reads a bare `no` as false, Docker as the word.
    if entry and policy not in ("no", "False", ""):
        yield fine("compose.restart", compose.source.at(entry.key)).finding
        return
    cause = tr("the server stays down after a crash or a restart of the machine")
    place = compose.source.at(entry.key if entry else compose.service.key)
    remedy = Remedy(cause, in_compose("restart: always"), START_LINK)
    yield issue("compose.restart", "warn", place, remedy).finding


def _check_health(compose: Compose) -> Iterator[Finding]:
    entry = find(compose.service.value, "healthcheck", "test")
    if entry is None:
        return
    items = entry.value.value if entry.value.kind == "list" else [entry.value]
    words = " ".join(compose.text(item) for item in items).split()
    if any(os.path.basename(word) in ("curl", "wget") for word in words):
        cause = tr("the image has neither curl nor wget, so it is shown as unhealthy although it works")
        remedy = Remedy(cause, in_compose(*HEALTHY), HEALTH_LINK)
        yield issue("compose.healthcheck", "warn", compose.source.at(entry.key), remedy).finding


def _check_image(compose: Compose) -> Iterator[Finding]:
    entry = find(compose.service.value, "image")
    if entry is None:
        return
    if "searx/searx" in compose.text(entry.value):
        cause = tr("searx is no longer maintained; its settings differ from those of SearXNG")
        remedy = Remedy(cause, in_compose("image: searxng/searxng:latest"), OLD_LINK)
        yield issue("compose.service", "warn", compose.source.at(entry.key), remedy).finding
    else:
        yield fine("compose.service", compose.source.at(entry.key)).finding
