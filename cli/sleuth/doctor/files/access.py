"""Settings that decide whether programs get answers: defaults, formats, secret key, limiter, public instance."""

import secrets
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment, is_complete, uses_defaults
from sleuth.doctor.files.edits import add_first, add_item, add_section, set_value
from sleuth.doctor.files.schema import DEFAULT_SECRET
from sleuth.doctor.files.yaml_source import find
from sleuth.doctor.finding import Edit, Finding, fail, ok, skipped, warn
from sleuth.doctor.remedies import remedy

FORMATS = ("html", "csv", "json", "rss")


def check_defaults(deployment: Deployment) -> Iterator[Finding]:
    """Check `use_default_settings`: without it the file must be complete, and hardly any is."""
    root, source = deployment.root, deployment.source
    entry = find(root, "use_default_settings")
    at = source.at(entry.key) if entry else source.at(root, tr("use_default_settings is missing"))
    edit = set_value(entry, "true") if entry else add_first(source.text, root, "use_default_settings: true")
    if entry and uses_defaults(root):
        yield ok(at)
    elif entry and entry.value.kind not in ("bool", "null"):
        yield fail(at, remedy("defaults-wrong-type"), edits=(edit,))
    elif is_complete(root):
        yield warn(at, remedy("defaults-replaced"))
    else:
        yield fail(at, remedy("defaults-missing"), edits=(edit,))


def check_formats(deployment: Deployment) -> Iterator[Finding]:
    """Check that `search.formats` has json, and that names are in lower case."""
    root, source = deployment.root, deployment.source
    entry = find(root, "search", "formats")
    if entry is None and is_complete(root) and not uses_defaults(root):
        yield ok(source.at(root, tr("search.formats is missing: every format is allowed")))
        return
    if entry is None:
        at = deployment.at("", "search", "formats", missing=tr("search.formats is missing: only HTML is allowed"))
        yield fail(at, remedy("formats-without-json"), edits=_add_formats(deployment))
        return
    if entry.value.kind != "list":
        return  # reported with the types of values
    items = [item for item in entry.value.value if item.kind == "text"]
    capitals = [item for item in items if item.value not in FORMATS and item.value.strip().lower() in FORMATS]
    if capitals:
        word = ", ".join(clean(item.value, 20) for item in capitals)
        edits = tuple(Edit(item.start, item.end, item.value.strip().lower()) for item in capitals)
        yield fail(source.at(capitals[0]), remedy("formats-in-capitals", word=word), edits=edits, edit_first=True)
    elif not any(item.value == "json" for item in items):
        edits = (add_item(source.text, entry.value, "json"),)
        yield fail(source.at(entry.key), remedy("formats-without-json"), edits=edits)
    else:
        yield ok(source.at(entry.key, f"search.formats: {', '.join(clean(item.value, 20) for item in items)}"))


def _add_formats(deployment: Deployment) -> tuple[Edit, ...]:
    if find(deployment.root, "search") or deployment.root.flow:
        return deployment.set("search", "formats", "[html, json]")
    lines = ["formats:", "  - html", "  - json"]
    return (add_section(deployment.source.text, deployment.root, "search", lines),)


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
        yield fail(at, remedy("secret-default"), edits=fresh)
    elif not str(entry.value.value).strip():
        yield warn(at, remedy("secret-empty"), edits=fresh)
    else:
        yield ok(at)


def check_limiter(deployment: Deployment) -> Iterator[Finding]:
    """Check that the limiter is off, or has valkey and exempts local programs."""
    name = "SEARXNG_LIMITER"
    at = deployment.at(name, "server", "limiter", missing=f"server.limiter: {tr('off by default')}")
    if not deployment.is_on(name, "server", "limiter"):
        yield ok(at)
    elif not deployment.valkey_url[0]:
        if deployment.valkey:
            url = f"valkey://{deployment.valkey}:6379/0"
            advice = remedy("limiter-without-valkey-url", url=url)
            yield fail(at, advice, edits=deployment.set("valkey", "url", url))
        else:
            edits = () if name in deployment.variables else deployment.set("server", "limiter", "false")
            yield fail(at, remedy("limiter-without-valkey"), edits=edits)
    elif not deployment.exempt:
        yield warn(at, remedy("limiter-without-exemption"))
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
        yield fail(at, remedy("public-instance-variable" if overridden else "public-instance"), edits=edits)
    else:
        yield ok(at)
