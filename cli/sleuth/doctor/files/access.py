"""What settings.yml says about answers, secret, limiter and addresses, and what the server will make of it."""

import re
import secrets
from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment, means, stands_alone, uses_defaults, valkey_address
from sleuth.doctor.files.edits import Edit, add_first, add_item, add_section, set_value
from sleuth.doctor.files.environment import FRESH, Variable
from sleuth.doctor.files.limiter import PASS
from sleuth.doctor.files.schema import DEFAULT_SECRET
from sleuth.doctor.files.yaml_source import YamlEntry, find
from sleuth.doctor.issue import Issue, fine, issue
from sleuth.doctor.verdict import RECREATE, Remedy, in_limiter, in_settings

JSON_LINK = "searxng.md#enable-json-in-searxng-403-forbidden"
DEFAULTS_LINK = "searxng.md#searxng-500-internal-server-error-on-every-page"
EXIT_LINK = "searxng.md#searxng-exits-invalid-settingsyml-yaml-error"
SECRET_LINK = "searxng.md#searxng-does-not-start-serversecret_key-is-not-changed"  # noqa: S105 - an address
LIMITER_LINK = "searxng.md#the-searxng-limiter-turn-it-off-or-pass-your-address-pass_ip"
QUOTA_LINK = "searxng.md#searxng-429-after-four-requests-api-limit-per-hour"
PUBLIC_LINK = "searxng.md#searxng-redirects-to-its-home-page-302-instead-of-results"


def check_defaults(deployment: Deployment) -> Iterator[Issue]:
    """Without `use_default_settings` the file must be complete, and hardly any is."""
    root, source = deployment.root, deployment.source
    entry = find(root, "use_default_settings")
    if entry and uses_defaults(root):
        yield fine("settings.defaults", source.at(entry.key))
        return
    fix = in_settings("use_default_settings: true")
    if entry and entry.value.kind not in ("bool", "null"):
        cause = tr("use_default_settings takes true or a mapping; anything else stops the server")
        remedy, state = Remedy(cause, fix, EXIT_LINK), "fail"
    elif stands_alone(root):
        cause = tr("the file stands alone: engines and settings of newer versions do not reach it")
        remedy, state = Remedy(cause, fix, DEFAULTS_LINK), "warn"
    else:
        cause = tr("without this line SearXNG takes the file for the complete settings and answers 500 to everything")
        remedy, state = Remedy(cause, fix, DEFAULTS_LINK), "fail"
    edit = set_value(entry, "true") if entry else add_first(source.text, root, "use_default_settings: true")
    place = source.at(entry.key) if entry else source.at(root, tr("use_default_settings is missing"))
    yield issue("settings.defaults", state, place, remedy, (edit,) if state == "fail" else ())


def check_formats(deployment: Deployment) -> Iterator[Issue]:
    """JSON must be in `search.formats`, in lower case, in a list."""
    root, source = deployment.root, deployment.source
    entry = find(root, "search", "formats")
    cause = tr("json is not in search.formats, so every program gets 403 Forbidden")
    remedy = Remedy(cause, in_settings("search:", "  formats:", "    - html", "    - json"), JSON_LINK)
    if entry is None:
        if not uses_defaults(root) and stands_alone(root):
            yield fine("settings.formats", source.at(root, tr("search.formats is missing: every format is allowed")))
            return
        place = find(root, "search") or YamlEntry(root, root)
        evidence = source.at(place.key, tr("search.formats is missing: HTML alone is allowed"))
        yield issue("settings.formats", "fail", evidence, remedy, _add_formats(deployment))
    elif entry.value.kind != "list":
        cause = tr("search.formats must be a list; anything else stops the server")
        words = [word.lower() for word in re.findall(r"[A-Za-z]+", str(entry.value.value or ""))]
        wanted = dict.fromkeys(["html", *(word for word in words if word in ("csv", "rss")), "json"])
        edits = (set_value(entry, f"[{', '.join(wanted)}]"),)
        yield issue("settings.formats", "fail", source.at(entry.key), remedy._replace(cause=cause), edits)
    elif not any(item.value == "json" for item in entry.value.value):
        yield _without_json(deployment, entry, remedy)
    else:
        names = ", ".join(clean(item.value, 20) for item in entry.value.value if item.kind == "text")
        yield fine("settings.formats", source.at(entry.key, f"search.formats: {names}"))


def _without_json(deployment: Deployment, entry: YamlEntry, remedy: Remedy) -> Issue:
    source = deployment.source
    for item in entry.value.value:
        if item.kind == "text" and item.value.strip().lower() == "json":
            cause = tr("formats are written in lower case: SearXNG does not know {word}", word=clean(item.value, 20))
            edits = (Edit(item.start, item.end, "json"),)
            return issue("settings.formats", "fail", source.at(item), remedy._replace(cause=cause), edits)
    edits = (add_item(source.text, entry.value, "json"),)
    return issue("settings.formats", "fail", source.at(entry.key), remedy, edits)


def _add_formats(deployment: Deployment) -> tuple[Edit, ...]:
    """Return the edits that add the formats, one a line where the file is written so."""
    if find(deployment.root, "search") or deployment.root.flow:
        return deployment.put("search", "formats", "[html, json]")
    lines = ["formats:", "  - html", "  - json"]
    return (add_section(deployment.source.text, deployment.root, "search", lines),)


def check_secret(deployment: Deployment) -> Iterator[Issue]:
    """The secret key must be set, be text, and not be the default."""
    if variable := deployment.variables.get("SEARXNG_SECRET"):
        yield _secret_elsewhere(variable)
        return
    entry = find(deployment.root, "server", "secret_key")
    fresh = deployment.put("server", "secret_key", f'"{secrets.token_hex(32)}"')
    fix = (FRESH, RECREATE)
    place = deployment.place("", "server", "secret_key")
    if entry is None or entry.value.value in (DEFAULT_SECRET, None):
        cause = tr("without a key of its own SearXNG refuses to start (server.secret_key is not changed)")
        if entry is None:
            home = find(deployment.root, "server")
            place = deployment.source.at(home.key if home else deployment.root, tr("server.secret_key is missing"))
        yield issue("settings.secret_key", "fail", place, Remedy(cause, fix, SECRET_LINK), fresh)
    elif entry.value.kind != "text":
        cause = tr("the key must be text: put it in quotes; anything else stops the server")
        yield issue("settings.secret_key", "fail", place, Remedy(cause, fix, EXIT_LINK), fresh)
    elif not entry.value.value.strip():
        cause = tr("an empty key lets anybody forge the addresses that the server signs")
        yield issue("settings.secret_key", "warn", place, Remedy(cause, fix, SECRET_LINK), fresh)
    else:
        yield fine("settings.secret_key", place)


def _secret_elsewhere(variable: Variable) -> Issue:
    """Judge a key from the environment; a bad one is reported with the environment."""
    if variable.value is None:
        remark = tr("taken from the shell when the container is made; not checked")
        return issue("settings.secret_key", "skipped", f"{variable.at('SEARXNG_SECRET')} ({remark})")
    state = "ok" if variable.value not in ("", DEFAULT_SECRET) else "skipped"
    return issue("settings.secret_key", state, variable.at("SEARXNG_SECRET"))


def check_limiter(deployment: Deployment) -> Iterator[Issue]:
    """The limiter needs valkey, and lets programs pass only where pass_ip says so."""
    entry = find(deployment.root, "server", "limiter")
    place = deployment.place("SEARXNG_LIMITER", "server", "limiter")
    if entry and entry.value.kind != "bool" and "SEARXNG_LIMITER" not in deployment.variables:
        cause = tr("limiter takes true or false without quotes; anything else stops the server")
        meant = "true" if means(entry.value) else "false"
        remedy = Remedy(cause, in_settings("server:", f"  limiter: {meant}"), EXIT_LINK)
        yield issue("settings.limiter", "fail", place, remedy, (set_value(entry, meant),))
        return
    if not deployment.switch("SEARXNG_LIMITER", "server", "limiter"):
        off = tr("off, as by default")
        nearby = find(deployment.root, "server")
        unset = deployment.source.at(nearby.key if nearby else deployment.root, f"server.limiter: {off}")
        known = entry or "SEARXNG_LIMITER" in deployment.variables
        yield fine("settings.limiter", place if known else unset)
    elif not valkey_address(deployment)[0]:
        yield _limiter_without_valkey(deployment, place)
    elif not deployment.limiter.passes:
        cause = tr("the limiter allows four JSON requests an hour and address; a private server does without it")
        fix = (*in_settings("server:", "  limiter: false"), tr("# or keep it, and:"), *in_limiter(*PASS))
        yield issue("settings.limiter", "warn", place, Remedy(cause, fix, QUOTA_LINK))
    else:
        yield fine("settings.limiter", f"{place} (pass_ip: {clean(', '.join(deployment.limiter.passes), 100)})")


def _limiter_without_valkey(deployment: Deployment, place: str) -> Issue:
    cause = tr("the limiter needs valkey; without it SearXNG leaves the limiter off and says so in the log alone")
    if deployment.valkey:
        url = f"valkey://{deployment.valkey}:6379/0"
        remedy = Remedy(cause, in_settings("valkey:", f"  url: {url}"), LIMITER_LINK)
        return issue("settings.limiter", "fail", place, remedy, deployment.put("valkey", "url", url))
    remedy = Remedy(cause, in_settings("server:", "  limiter: false"), LIMITER_LINK)
    own = "SEARXNG_LIMITER" not in deployment.variables  # else the file cannot change it
    return issue("settings.limiter", "fail", place, remedy, deployment.put("server", "limiter", "false") if own else ())


def check_public(deployment: Deployment) -> Iterator[Issue]:
    """`public_instance` turns on the limiter and link_token: nothing for programs."""
    entry = find(deployment.root, "server", "public_instance")
    name = "SEARXNG_PUBLIC_INSTANCE"
    own = entry is not None and name not in deployment.variables
    if not entry and name not in deployment.variables:
        return
    place = deployment.place(name, "server", "public_instance")
    fix = in_settings("server:", "  public_instance: false") if own else (f"{name}=false", RECREATE)
    edits = deployment.put("server", "public_instance", "false") if own else ()
    if entry and own and entry.value.kind != "bool":
        cause = tr("public_instance takes true or false without quotes; anything else stops the server")
        yield issue("settings.public_instance", "fail", place, Remedy(cause, fix, EXIT_LINK), edits)
    elif deployment.switch(name, "server", "public_instance"):
        cause = tr("it forces the limiter and link_token: after a few requests programs are sent to the home page")
        yield issue("settings.public_instance", "fail", place, Remedy(cause, fix, PUBLIC_LINK), edits)
    else:
        yield fine("settings.public_instance", place)
