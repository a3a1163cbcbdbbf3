"""Addresses in settings.yml: valkey, where the server listens, what it thinks it is called, proxies for engines."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment, valkey_address
from sleuth.doctor.files.edits import Edit, set_value
from sleuth.doctor.files.schema import VALKEY_SCHEMES
from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode, entries, find
from sleuth.doctor.issue import Issue, fine, issue
from sleuth.doctor.verdict import RECREATE, RESTART, Remedy, in_compose, in_settings

LOCAL = ("localhost", "127.0.0.1", "::1")
ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - it is what is looked for
VALKEY_LINK = "searxng.md#searxng-log-cant-connect-valkey-db-redis"
UPDATE_LINK = "searxng.md#searxng-broken-after-an-update-uwsgi-redis-base_url"
PORT_LINK = "searxng.md#searxng-listens-on-the-wrong-port-in-the-container"
PATH_LINK = "searxng.md#searxng-404-not-found-or-wrong-redirects-under-a-sub-path"
PROXY_LINK = "searxng.md#all-searxng-engines-fail-after-setting-a-proxy-http-connection-error"
LAN_LINK = "searxng.md#connection-refused-from-another-machine-in-the-network"


def check_valkey(deployment: Deployment) -> Iterator[Issue]:
    """The address of valkey needs a scheme, and localhost inside a container is the container."""
    yield from _check_redis(deployment)
    url, entry = valkey_address(deployment)
    if not url or not entry:
        return  # none, or from the environment and reported with it
    place, limited = deployment.source.at(entry.key), deployment.switch("SEARXNG_LIMITER", "server", "limiter")
    limited = limited or deployment.switch("SEARXNG_PUBLIC_INSTANCE", "server", "public_instance")
    scheme, host = _parts(url)
    if scheme not in VALKEY_SCHEMES:
        cause = tr("the address must begin with valkey://; this one stops the server")
        better = f"valkey://{_host(url) or deployment.valkey or 'searxng-valkey'}:6379/0"
        remedy = Remedy(cause, in_settings("valkey:", f"  url: {better}"), VALKEY_LINK)
        yield issue("settings.valkey", "fail", place, remedy, (set_value(entry, f'"{better}"'),))
    elif host in LOCAL and scheme != "unix" and not deployment.host_network and deployment.container is not False:
        yield _valkey_at_home(deployment, entry, limited)
    else:
        yield fine("settings.valkey", place)


def _check_redis(deployment: Deployment) -> Iterator[Issue]:
    section, entry = find(deployment.root, "redis"), find(deployment.root, "redis", "url")
    if not section or not entry or entry.value.value in (None, False, ""):
        return
    cause = tr("redis.url is deprecated and will go; the setting is called valkey.url now")
    remedy = Remedy(cause, in_settings("valkey:", f"  url: {clean(entry.value.value, 100)}"), UPDATE_LINK)
    free = find(deployment.root, "valkey") is None and section.key.kind == "text"
    edits = (Edit(section.key.start, section.key.end, "valkey"),) if free else ()
    yield issue("settings.valkey", "warn", deployment.source.at(entry.key), remedy, edits, first=bool(edits))


def _valkey_at_home(deployment: Deployment, entry: YamlEntry, limited: bool) -> Issue:
    """Judge an address that is right on the host and wrong in a container."""
    place, name = deployment.source.at(entry.key), deployment.valkey or "searxng-valkey"
    better = f"valkey://{name}:6379/0"
    remedy = Remedy("", in_settings("valkey:", f"  url: {better}"), VALKEY_LINK)
    if not deployment.container:
        cause = tr("if SearXNG runs in a container, localhost is the container itself; name the valkey container then")
        return issue("settings.valkey", "warn", place, remedy._replace(cause=cause))
    cause = tr("inside the container localhost is the container itself, where no valkey runs")
    if deployment.valkey:
        edits: tuple[Edit, ...] = (set_value(entry, better),)
    else:
        edits = (set_value(entry, "false"),) if not limited else ()
        edits = edits or deployment.put("server", "limiter", "false")
        remedy = remedy._replace(fix=in_settings("server:", "  limiter: false", "valkey:", "  url: false"))
    state = "fail" if limited else "warn"
    return issue("settings.valkey", state, place, remedy._replace(cause=cause), edits)


def check_address(deployment: Deployment) -> Iterator[Issue]:
    """In a container `port` and `bind_address` do nothing; without one they decide who gets in."""
    port, bind = find(deployment.root, "server", "port"), find(deployment.root, "server", "bind_address")
    if deployment.container:
        for entry in (port, bind):
            if entry:
                cause = tr("the container does not read this; it listens on GRANIAN_HOST and GRANIAN_PORT (8080)")
                remedy = Remedy(cause, in_compose("ports:", '  - "127.0.0.1:8080:8080"'), PORT_LINK)
                yield issue("settings.address", "warn", deployment.source.at(entry.key), remedy)
        return
    if port and port.value.kind in ("text", "int") and not _is_port(port.value):
        cause = tr("a port is a number from 1 to 65535")
        remedy = Remedy(cause, in_settings("server:", "  port: 8888"), PORT_LINK)
        yield issue("settings.address", "fail", deployment.source.at(port.key), remedy, (set_value(port, "8888"),))
    elif bind and bind.value.value in ANYWHERE:
        cause = tr("without a container the server is open to the whole network; in a container this has no effect")
        remedy = Remedy(cause, in_settings("server:", '  bind_address: "127.0.0.1"'), LAN_LINK)
        yield issue("settings.address", "warn", deployment.source.at(bind.key), remedy)
    elif port or bind:
        yield fine("settings.address", "; ".join(deployment.source.at(entry.key) for entry in (port, bind) if entry))


def _is_port(node: YamlNode) -> bool:
    text = str(node.value)
    return text.isdecimal() and 0 < int(text[:6]) < 65536


def check_base_url(deployment: Deployment) -> Iterator[Issue]:
    """The base address needs scheme and host, and must not end in /search."""
    variable = deployment.variables.get("SEARXNG_BASE_URL")
    entry = find(deployment.root, "server", "base_url")
    if variable:
        url = variable.value or ""
    elif entry and entry.value.kind == "text":
        url = entry.value.value
    else:
        return
    place = deployment.place("SEARXNG_BASE_URL", "server", "base_url")
    if not url:
        return
    state, cause, better = _judge_url(url.strip())
    if not state:
        yield fine("settings.base_url", place)
        return
    line = (f"SEARXNG_BASE_URL={better}", RECREATE) if variable else in_settings("server:", f"  base_url: {better}")
    edits = (set_value(entry, f'"{better}"'),) if entry and not variable else ()
    yield issue("settings.base_url", state, place, Remedy(cause, line, PATH_LINK), edits)


def _judge_url(url: str) -> tuple[str, str, str]:
    """Return how bad a base address is, why, and a better one; nothing when it is good."""
    url = clean(url, 500, entities=False).replace('"', "").replace("\\", "")
    if not re.match(r"https?://", url):
        rest = re.sub(r"^[A-Za-z]*:?/+", "", url)
        plain = re.match(r"(localhost|[\d.]+|\[)", rest) is not None
        better = f"http{'' if plain else 's'}://{rest or 'localhost:8080'}"
        return "fail", tr("without http:// or https:// the start page answers 500"), _with_slash(better)
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        return "fail", tr("it names no host, or its port is no number"), "http://localhost:8080/"
    path = parts.path
    if re.search(r"/search/?$", path):
        cause = tr("it must not end in /search: the server would look for /search/search")
        return "fail", cause, _with_slash(f"{parts.scheme}://{parts.netloc}{re.sub(r'/search/?$', '', path)}")
    if parts.query or parts.fragment:
        return "warn", tr("a query has no place in it"), _with_slash(f"{parts.scheme}://{parts.netloc}{path}")
    if host in ANYWHERE:
        cause = tr("{host} is an address to listen on, not one to visit", host=host)
        return "warn", cause, _with_slash(f"{parts.scheme}://localhost{f':{parts.port}' if parts.port else ''}{path}")
    if path and not path.endswith("/"):
        return "warn", tr("its path should end in a slash: older versions cut off the last part otherwise"), f"{url}/"
    return "", "", ""


def _with_slash(url: str) -> str:
    return f"{url.rstrip('/')}/"


def check_proxies(deployment: Deployment) -> Iterator[Issue]:
    """A proxy on localhost cannot be reached from inside a container, and needs a scheme."""
    entry = find(deployment.root, "outgoing", "proxies")
    if entry is None or entry.value.value in (None, ""):
        return
    found = [judged for node in _addresses(entry.value) for judged in _judge_proxy(deployment, node)]
    yield from found or [fine("settings.proxies", deployment.source.at(entry.key))]


def _addresses(node: YamlNode) -> Iterator[YamlNode]:
    if node.kind == "text":
        yield node
    for value in (item.value for item in entries(node)):
        if value.kind == "text":
            yield value
        yield from (item for item in (value.value if value.kind == "list" else ()) if item.kind == "text")


def _judge_proxy(deployment: Deployment, node: YamlNode) -> Iterator[Issue]:
    scheme, host = _parts(node.value)
    place = deployment.source.at(node)
    if scheme not in ("http", "https", "socks4", "socks4a", "socks5", "socks5h") or not host:
        cause = tr("a proxy is written with its scheme, such as http:// or socks5h://")
        better = f"http://{re.sub(r'^[a-z0-9]*:?//', '', clean(node.value, 200, entities=False))}"
        remedy = Remedy(cause, (better, RESTART), PROXY_LINK)
        yield issue("settings.proxies", "warn", place, remedy)
    elif host in LOCAL and not deployment.host_network:
        sure = deployment.apart
        cause = (
            tr("inside the container localhost is the container itself, where no proxy runs: every engine will fail")
            if sure
            else tr("if SearXNG runs in a container, localhost is the container itself")
        )
        better = re.sub(r"//([^/@]*@)?(localhost|127\.0\.0\.1|\[::1\])", r"//\1host.docker.internal", node.value)
        lines = ("outgoing:", "  proxies:", f"    all://: [{_without_login(better)}]")
        fix = (*in_settings(*lines), *in_compose("extra_hosts:", '  - "host.docker.internal:host-gateway"'))
        edits = (Edit(node.start, node.end, f'"{better}"'),) if sure and '"' not in better else ()
        yield issue("settings.proxies", "fail" if sure else "warn", place, Remedy(cause, fix, PROXY_LINK), edits)


def _without_login(url: str) -> str:
    return clean(re.sub(r"//[^/@]*@", "//…@", url), 200, entities=False)


def _parts(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname or ""
    except ValueError:
        return "", ""


def _host(url: str) -> str:
    """Return the host of an address that lacks its scheme."""
    match = re.match(r"(?:[a-z]+:)?/*([A-Za-z0-9][\w.-]*)", url)
    return match[1] if match else ""
