"""Addresses in settings.yml: valkey, what the server listens on, its base URL, proxies for engines."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment
from sleuth.doctor.files.edits import set_value
from sleuth.doctor.files.environment import url_parts
from sleuth.doctor.files.schema import VALKEY_SCHEMES
from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode, entries, find, redact
from sleuth.doctor.finding import Edit, Finding, Remedy, fail, ok, warn
from sleuth.doctor.fixes import in_compose, in_env, in_settings
from sleuth.doctor.links import Link

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
WILDCARD_HOSTS = ("0.0.0.0", "::")  # noqa: S104 - recognised, not listened on
PROXY_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")


def check_valkey(deployment: Deployment) -> Iterator[Finding]:
    """Check the valkey URL: it needs a scheme, and localhost inside a container is the container."""
    yield from _check_redis(deployment)
    url, entry = deployment.valkey_url
    if not url or not entry:
        return  # none, or from a variable and reported with it
    at, (scheme, host) = deployment.source.at(entry.key), url_parts(url)
    if scheme not in VALKEY_SCHEMES:
        match = re.match(r"(?:[a-z]+:)?/*([A-Za-z0-9][\w.-]*)", url)
        better = f"valkey://{match[1] if match else deployment.valkey or 'searxng-valkey'}:6379/0"
        cause = tr("the URL must begin with valkey://; SearXNG refuses to start")
        remedy = Remedy(cause, in_settings("valkey:", f"  url: {better}"), Link.VALKEY)
        yield fail(at, remedy, edits=(set_value(entry, f'"{better}"'),))
    elif host in LOCAL_HOSTS and scheme != "unix" and not deployment.host_network:
        yield _local_valkey(deployment, entry, at)
    else:
        yield ok(at)


def _check_redis(deployment: Deployment) -> Iterator[Finding]:
    section, entry = find(deployment.root, "redis"), find(deployment.root, "redis", "url")
    if not section or not entry or entry.value.value in (None, False, ""):
        return
    cause = tr("redis.url is deprecated; use valkey.url")
    remedy = Remedy(cause, in_settings("valkey:", f"  url: {clean(entry.value.value, 100)}"), Link.OLD_SETTINGS)
    can_rename = find(deployment.root, "valkey") is None and section.key.kind == "text"
    edits = (Edit(section.key.start, section.key.end, "valkey"),) if can_rename else ()
    yield warn(deployment.source.at(entry.key), remedy, edits=edits, edit_first=bool(edits))


def _local_valkey(deployment: Deployment, entry: YamlEntry, at: str) -> Finding:
    """Report a URL that is right on the host and wrong in a container."""
    better = f"valkey://{deployment.valkey or 'searxng-valkey'}:6379/0"
    fix = in_settings("valkey:", f"  url: {better}")
    if not deployment.container:
        cause = tr("if SearXNG runs in a container, localhost is that container; use the valkey container's name")
        return warn(at, Remedy(cause, fix, Link.VALKEY))
    cause = tr("inside the container localhost is the container itself, where no valkey runs")
    edits: tuple[Edit, ...] = (set_value(entry, better if deployment.valkey else "false"),)
    if not deployment.valkey:
        fix = in_settings("server:", "  limiter: false", "valkey:", "  url: false")
        edits = deployment.set("server", "limiter", "false") if deployment.limiter_on else edits
    report = fail if deployment.limiter_on else warn
    return report(at, Remedy(cause, fix, Link.VALKEY), edits=edits)


def check_address(deployment: Deployment) -> Iterator[Finding]:
    """Check `port` and `bind_address`, which have no effect in a container."""
    port, bind = find(deployment.root, "server", "port"), find(deployment.root, "server", "bind_address")
    at = [deployment.source.at(entry.key) for entry in (port, bind) if entry]
    if deployment.container:
        cause = tr("it has no effect in a container, which listens on GRANIAN_HOST and GRANIAN_PORT (8080)")
        remedy = Remedy(cause, in_compose("ports:", '  - "127.0.0.1:8080:8080"'), Link.CONTAINER_PORT)
        yield from (warn(place, remedy) for place in at)
    elif port and port.value.kind in ("text", "int") and not _is_port(str(port.value.value)):
        remedy = Remedy(tr("a port is a number from 1 to 65535"), in_settings("server:", "  port: 8888"))
        yield fail(at[0], remedy._replace(link=Link.CONTAINER_PORT), edits=(set_value(port, "8888"),))
    elif bind and bind.value.value in WILDCARD_HOSTS:
        cause = tr("without a container the server is open to the whole network; in a container this has no effect")
        fix = in_settings("server:", '  bind_address: "127.0.0.1"')
        yield warn(at[-1], Remedy(cause, fix, Link.OTHER_MACHINE))
    elif at:
        yield ok("; ".join(at))


def _is_port(text: str) -> bool:
    return text.isdecimal() and 0 < int(text[:6]) < 65536


def check_base_url(deployment: Deployment) -> Iterator[Finding]:
    """Check that the base URL has a scheme and a host, and does not end in /search."""
    name = "SEARXNG_BASE_URL"
    variable, entry = deployment.variables.get(name), find(deployment.root, "server", "base_url")
    url = (variable.value or "") if variable else entry.value.value if entry and entry.value.kind == "text" else ""
    if not url:
        return
    at = deployment.at(name, "server", "base_url")
    state, cause, better = _judge_url(url.strip())
    if not state:
        yield ok(at)
        return
    fix = in_env(f"{name}={better}") if variable else in_settings("server:", f"  base_url: {better}")
    edits = (set_value(entry, f'"{better}"'),) if entry and not variable else ()
    report = fail if state == "fail" else warn
    yield report(at, Remedy(cause, fix, Link.PATH), edits=edits)


def _judge_url(url: str) -> tuple[str, str, str]:
    """Return the state of a base URL, the cause and a better one; empty texts when it is right."""
    url = clean(url, 500, entities=False).replace('"', "").replace("\\", "")
    if not re.match(r"https?://", url):
        rest = re.sub(r"^[A-Za-z]*:?/+", "", url) or "localhost:8080"
        scheme = "http" if re.match(r"(localhost|[\d.]+|\[)", rest) else "https"
        return "fail", tr("without http:// or https:// the home page fails with 500"), _with_slash(f"{scheme}://{rest}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, f":{parts.port}" if parts.port else ""
    except ValueError:
        host = None
    if not host:
        return "fail", tr("it has no host, or its port is not a number"), "http://localhost:8080/"
    base, path = f"{parts.scheme}://{parts.netloc}", parts.path
    if re.search(r"/search/?$", path):
        cause = tr("it must not end in /search: SearXNG would look for /search/search")
        return "fail", cause, _with_slash(base + re.sub(r"/search/?$", "", path))
    if parts.query or parts.fragment:
        return "warn", tr("it must not contain a query"), _with_slash(base + path)
    if host in WILDCARD_HOSTS:
        cause = tr("{host} is an address to listen on, not one to connect to", host=host)
        return "warn", cause, _with_slash(f"{parts.scheme}://localhost{port}{path}")
    if path and not path.endswith("/"):
        return "warn", tr("its path should end in a slash; older versions drop the last part otherwise"), f"{url}/"
    return "", "", ""


def _with_slash(url: str) -> str:
    return f"{url.rstrip('/')}/"


def check_proxies(deployment: Deployment) -> Iterator[Finding]:
    """Check proxies for engines: they need a scheme, and localhost inside a container is the container."""
    entry = find(deployment.root, "outgoing", "proxies")
    if entry is None or entry.value.value in (None, ""):
        return
    found = [problem for node in _proxy_urls(entry.value) for problem in _check_proxy(deployment, node)]
    yield from found or [ok(deployment.source.at(entry.key))]


def _proxy_urls(node: YamlNode) -> Iterator[YamlNode]:
    for value in (node, *(item.value for item in entries(node))):
        yield from (item for item in (value.value if value.kind == "list" else [value]) if item.kind == "text")


def _check_proxy(deployment: Deployment, node: YamlNode) -> Iterator[Finding]:
    (scheme, host), at = url_parts(node.value), deployment.source.at(node)
    if scheme not in PROXY_SCHEMES or not host:
        cause = tr("a proxy needs a scheme, such as http:// or socks5h://")
        better = f"http://{re.sub(r'^[a-z0-9]*:?//', '', clean(node.value, 200, entities=False))}"
        yield warn(at, Remedy(cause, _proxy_lines(better), Link.ENGINES_PROXY))
    elif host in LOCAL_HOSTS and not deployment.host_network:
        better = re.sub(r"//([^/@]*@)?(localhost|127\.0\.0\.1|\[::1\])", r"//\1host.docker.internal", node.value)
        fix = (*_proxy_lines(better), *in_compose("extra_hosts:", '  - "host.docker.internal:host-gateway"'))
        if not deployment.container:
            cause = tr("if SearXNG runs in a container, localhost is that container")
            yield warn(at, Remedy(cause, fix, Link.ENGINES_PROXY))
            return
        cause = tr("inside the container localhost is the container itself, where no proxy runs: every engine fails")
        edits = (Edit(node.start, node.end, f'"{better}"'),) if '"' not in better else ()
        yield fail(at, Remedy(cause, fix, Link.ENGINES_PROXY), edits=edits)


def _proxy_lines(url: str) -> tuple[str, ...]:
    return in_settings("outgoing:", "  proxies:", f"    all://: [{clean(redact(url), 200, entities=False)}]")
