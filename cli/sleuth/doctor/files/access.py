"""Settings that decide whether programs get answers, and the addresses of valkey, server and proxies."""

import re
import secrets
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import host
from sleuth.doctor.files.deployment import Deployment, is_complete, uses_defaults
from sleuth.doctor.files.edits import add_first, add_item, add_section, set_value
from sleuth.doctor.files.schema import VALKEY_SCHEMES
from sleuth.doctor.files.yaml_source import DEFAULT_SECRET, YamlEntry, YamlNode, entries, find, redact
from sleuth.doctor.finding import Edit, Finding, fail, ok, skipped, warn
from sleuth.doctor.server.address import WILDCARD_HOSTS, Endpoint, parse_address

FORMATS = ("html", "csv", "json", "rss")
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
PROXY_SCHEMES = ("http://", "https://", "socks4://", "socks4a://", "socks5://", "socks5h://")


def check_defaults(deployment: Deployment) -> Iterator[Finding]:
    """Check `use_default_settings`: without it the file must be complete, which few are."""
    root, source = deployment.root, deployment.source
    entry = find(root, "use_default_settings")
    at = source.at(entry.key) if entry else source.at(root, tr("use_default_settings is missing"))
    edit = set_value(entry, "true") if entry else add_first(source.text, root, "use_default_settings: true")
    if entry and uses_defaults(root):
        yield ok(at)
    elif entry and entry.value.kind not in ("bool", "null"):
        yield fail(at, "defaults-wrong-type", edits=(edit,))
    elif is_complete(root):
        yield warn(at, "defaults-replaced")
    else:
        yield fail(at, "defaults-missing", edits=(edit,))


def check_formats(deployment: Deployment) -> Iterator[Finding]:
    """Check that `search.formats` has json, and that names are in lower case."""
    root, source = deployment.root, deployment.source
    entry = find(root, "search", "formats")
    if entry is None and is_complete(root) and not uses_defaults(root):
        yield ok(source.at(root, tr("search.formats is missing: every format is allowed")))
        return
    if entry is None:
        at = deployment.at("", "search", "formats", missing=tr("search.formats is missing: only HTML is allowed"))
        yield fail(at, "formats-without-json", edits=_add_formats(deployment))
        return
    if entry.value.kind != "list":
        return  # reported with the types of values
    items = [item for item in entry.value.value if item.kind == "text"]
    if capitals := [item for item in items if item.value not in FORMATS and item.value.strip().lower() in FORMATS]:
        word = ", ".join(clean(item.value, 20) for item in capitals)
        edits = tuple(Edit(item.start, item.end, item.value.strip().lower()) for item in capitals)
        yield fail(source.at(capitals[0]), "formats-in-capitals", word=word, edits=edits, edit_first=True)
    elif not any(item.value == "json" for item in items):
        edits = (add_item(source.text, entry.value, "json"),)
        yield fail(source.at(entry.key), "formats-without-json", edits=edits)
    else:
        yield ok(source.at(entry.key, f"search.formats: {', '.join(clean(item.value, 20) for item in items)}"))


def _add_formats(deployment: Deployment) -> tuple[Edit, ...]:
    if find(deployment.root, "search") or deployment.root.flow:
        return deployment.set("search", "formats", "[html, json]")
    return (add_section(deployment.source.text, deployment.root, "search", ["formats:", "  - html", "  - json"]),)


def check_secret(deployment: Deployment) -> Iterator[Finding]:
    """Check that the secret key is set and is not the built-in one."""
    name = "SEARXNG_SECRET"
    at = deployment.at(name, "server", "secret_key", missing=tr("server.secret_key is missing"))
    if variable := deployment.variables.get(name):  # an invalid one is reported with the variables
        remark = f"{at} ({tr('set by the shell; not checked')})" if variable.value is None else at
        yield ok(at) if variable.value not in (None, "", DEFAULT_SECRET) else skipped(remark)
        return
    entry = find(deployment.root, "server", "secret_key")
    fresh = deployment.set("server", "secret_key", f'"{secrets.token_hex(32)}"')
    if entry is None or entry.value.value in (DEFAULT_SECRET, None):
        yield fail(at, "secret-default", edits=fresh)
    elif not str(entry.value.value).strip():
        yield warn(at, "secret-empty", edits=fresh)
    else:
        yield ok(at)


def check_limiter(deployment: Deployment) -> Iterator[Finding]:
    """Check that the limiter is off, or has valkey and exempts local programs."""
    name = "SEARXNG_LIMITER"
    at = deployment.at(name, "server", "limiter", missing=f"server.limiter: {tr('off by default')}")
    entry, title = find(deployment.root, "server", "limiter"), tr("Limiter has no valkey")
    if name not in deployment.variables and entry and entry.value.kind == "text":
        return  # reported with the types of values
    if not deployment.is_on(name, "server", "limiter"):
        yield ok(at)
    elif not deployment.valkey_url[0] and deployment.valkey:
        url = f"valkey://{deployment.valkey}:6379/0"
        yield fail(at, "limiter-without-valkey-url", title=title, url=url, edits=deployment.set("valkey", "url", url))
    elif not deployment.valkey_url[0]:
        edits = () if name in deployment.variables else deployment.set("server", "limiter", "false")
        yield fail(at, "limiter-without-valkey", title=title, edits=edits)
    elif not deployment.exempt:
        yield warn(at, "limiter-without-exemption")
    else:
        yield ok(f"{at} (pass_ip: {clean(', '.join(deployment.exempt), 100)})")


def check_public_instance(deployment: Deployment) -> Iterator[Finding]:
    """Check that `public_instance` is off: it turns on the limiter and link_token."""
    name = "SEARXNG_PUBLIC_INSTANCE"
    overridden, entry = name in deployment.variables, find(deployment.root, "server", "public_instance")
    if not entry and not overridden:
        return
    at = deployment.at(name, "server", "public_instance")
    if deployment.is_on(name, "server", "public_instance"):
        edits = () if overridden else deployment.set("server", "public_instance", "false")
        yield fail(at, "public-instance-variable" if overridden else "public-instance", edits=edits)
    else:
        yield ok(at)


def check_valkey(deployment: Deployment) -> Iterator[Finding]:
    """Check the valkey URL: it needs a scheme, and localhost inside a container is the container."""
    yield from _check_redis(deployment)
    url, entry = deployment.valkey_url
    if not url or not entry:
        return  # none, or from a variable and reported with it
    at = deployment.source.at(entry.key)
    if not url.lower().startswith(VALKEY_SCHEMES):
        match = re.match(r"(?:[a-z]+:/)?/*+([^/@\s]*@)?([A-Za-z0-9][\w.-]*)", url)
        place = f"{match[1] or ''}{match[2]}" if match else deployment.valkey or "searxng-valkey"
        better = f"valkey://{place}:6379/0"
        yield fail(at, "valkey-scheme", better=_show_url(better), edits=(set_value(entry, f'"{better}"'),))
    elif host(url) in LOCAL_HOSTS and not deployment.host_network:
        yield _local_valkey(deployment, entry, at)
    else:
        yield ok(at)


def _check_redis(deployment: Deployment) -> Iterator[Finding]:
    section, entry = find(deployment.root, "redis"), find(deployment.root, "redis", "url")
    if not section or not entry or entry.value.value in (None, False, ""):
        return
    can_rename = find(deployment.root, "valkey") is None and section.key.kind == "text"
    edits = (Edit(section.key.start, section.key.end, "valkey"),) if can_rename else ()
    at, url = deployment.source.at(entry.key), str(entry.value.value)
    yield warn(at, "redis-deprecated", url=_show_url(url), edits=edits, edit_first=bool(edits))


def _local_valkey(deployment: Deployment, entry: YamlEntry, at: str) -> Finding:
    """Report a URL that is right on the host and wrong in a container."""
    better = f"valkey://{deployment.valkey or 'searxng-valkey'}:6379/0"
    if not deployment.compose:
        return warn(at, "valkey-maybe-local", better=better)
    report = fail if deployment.limiter_on else warn
    if deployment.valkey:
        return report(at, "valkey-local", better=better, edits=(set_value(entry, better),))
    turn_off = deployment.set("server", "limiter", "false") if deployment.limiter_on else (set_value(entry, "false"),)
    return report(at, "valkey-local-without-service", edits=turn_off)


def check_address(deployment: Deployment) -> Iterator[Finding]:
    """Check `port` and `bind_address`, which have no effect in a container."""
    port, bind = find(deployment.root, "server", "port"), find(deployment.root, "server", "bind_address")
    at = [deployment.source.at(entry.key) for entry in (port, bind) if entry]
    if deployment.compose:
        yield from (warn(place, "listen-address-in-container") for place in at)
    elif port and port.value.kind in ("text", "int") and not _is_port(str(port.value.value)):
        yield fail(at[0], "port-invalid", edits=(set_value(port, "8888"),))
    elif bind and bind.value.value in WILDCARD_HOSTS:
        yield warn(at[-1], "listen-address-open")
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
    problem, better = _judge_url(url.strip())
    if not problem:
        yield ok(at)
        return
    lines = ["@env", f"{name}={better}"] if variable else ["@settings", "server:", f"  base_url: {better}"]
    edits = (set_value(entry, f'"{better}"'),) if entry and not variable else ()
    report = fail if problem == "base-url-invalid" else warn
    reason = "; ".join(parse_address(url).mistakes)
    yield report(at, problem, set_base_url=lines, reason=reason, host=host(url), edits=edits)


def _judge_url(url: str) -> tuple[str, str]:
    """Return the problem of a base URL, and a better one; empty texts when it is right."""
    parsed = parse_address(url)
    endpoint = parsed.endpoint or Endpoint("http", "localhost", 8080)
    if parsed.mistakes:
        return "base-url-invalid", f"{endpoint.url}/"
    if endpoint.host in WILDCARD_HOSTS:
        return "base-url-wildcard", f"{endpoint._replace(host='localhost').url}/"
    return ("base-url-without-slash", f"{endpoint.url}/") if endpoint.path and not url.endswith("/") else ("", "")


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
    at = deployment.source.at(node)
    if not node.value.lower().startswith(PROXY_SCHEMES) or not host(node.value):
        better = f"http://{re.sub(r'^[a-z0-9]*:?//', '', clean(node.value, 200, entities=False))}"
        yield warn(at, "proxy-without-scheme", better=_show_url(better))
    elif host(node.value) in LOCAL_HOSTS and not deployment.host_network:
        better = re.sub(r"//([^/@]*@)?(localhost|127\.0\.0\.1|\[::1\])", r"//\1host.docker.internal", node.value)
        if not deployment.compose:
            yield warn(at, "proxy-maybe-local", better=_show_url(better))
            return
        edits = (Edit(node.start, node.end, f'"{better}"'),) if '"' not in better else ()
        yield fail(at, "proxy-local", better=_show_url(better), edits=edits)


def _show_url(url: str) -> str:
    return clean(redact(url), 200, entities=False)
