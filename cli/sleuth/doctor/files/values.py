"""Names and types in settings.yml: an unknown name is ignored, a value of the wrong type stops the server."""

from collections.abc import Iterator
from itertools import islice

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment
from sleuth.doctor.files.edits import remove_entry, set_value
from sleuth.doctor.files.limiter import remove_or_rename
from sleuth.doctor.files.schema import FACTS, MAPPINGS, SECTIONS, TOP_LEVEL, nearest, section_of
from sleuth.doctor.files.yaml_source import YamlEntry, duplicates, entries, find
from sleuth.doctor.finding import Edit, Finding, Remedy, fail, ok, warn
from sleuth.doctor.fixes import RESTART, in_settings
from sleuth.doctor.links import Link

MAX_KEYS = 200  # checked in one mapping; SearXNG has twenty


def check_values(deployment: Deployment) -> Iterator[Finding]:
    """Check that every value has the type the server needs."""
    found = [*_check_sections(deployment), *_check_types(deployment), *_check_closed(deployment)]
    yield from found or [ok(deployment.source.name)]


def _check_sections(deployment: Deployment) -> Iterator[Finding]:
    may_be_empty = ("hostnames", *FACTS["closed"])
    for name in (*MAPPINGS, *may_be_empty):
        entry = find(deployment.root, name)
        if not entry or entry.value.kind == "map" or (name in may_be_empty and entry.value.kind == "null"):
            continue
        cause = tr("{name} must be a mapping; SearXNG refuses to start", name=name)
        if entry.value.kind == "null":
            cause = tr("{name} is empty; SearXNG refuses to start: remove it or give it a value", name=name)
        remedy = Remedy(cause, in_settings(f"{name}: {{}}"), Link.INVALID_SETTINGS)
        yield fail(deployment.source.at(entry.key), remedy, edits=(set_value(entry, "{}"),))


def _check_types(deployment: Deployment) -> Iterator[Finding]:
    for section, key, shape in ((section, *item) for section, keys in SECTIONS.items() for item in keys.items()):
        entry, name = find(deployment.root, section, key), f"{section}.{key}"
        unset = name == "server.secret_key" and entry and entry.value.kind == "null"  # has its own check
        if not entry or unset or FACTS["overrides"].get(name) in deployment.variables or shape.accepts(entry.value):
            continue
        better = shape.correct(entry.value)
        cause = tr("{name} takes {accepted}; SearXNG refuses to start", name=name, accepted=shape.describe())
        remedy = Remedy(cause, in_settings(f"{section}:", f"  {key}: {better}"), Link.INVALID_SETTINGS)
        yield fail(deployment.source.at(entry.key), remedy, edits=(set_value(entry, better),))


def _check_closed(deployment: Deployment) -> Iterator[Finding]:
    for section, names in FACTS["closed"].items():
        home = find(deployment.root, section)
        for entry in entries(home.value)[:MAX_KEYS] if home else []:
            if home and entry.name not in names:
                values = {"section": section, "key": _word(entry)}
                cause = tr("{section} has no setting {key}; SearXNG refuses to start", **values)
                remedy = Remedy(cause, remove_or_rename(nearest(entry.name, tuple(names))), Link.INVALID_SETTINGS)
                edits = remove_entry(deployment.source.text, home.value, entry)
                yield fail(deployment.source.at(entry.key), remedy, edits=edits)


def check_keys(deployment: Deployment) -> Iterator[Finding]:
    """Check for unknown names, which are ignored, and duplicates, of which the last counts."""
    found = [*_check_top(deployment), *_check_nested(deployment), *_check_duplicates(deployment)]
    names = ", ".join(entry.name for entry in entries(deployment.root))
    yield from found or [ok(deployment.source.at(deployment.root, clean(names, 160, entities=False)))]


def _check_top(deployment: Deployment) -> Iterator[Finding]:
    for entry in entries(deployment.root)[:MAX_KEYS]:
        if entry.name in TOP_LEVEL and entry.key.kind == "text":
            continue
        home, near, key = section_of(entry.name), nearest(entry.name, TOP_LEVEL), _word(entry)
        if entry.name in FACTS["removed"]:
            cause = tr("SearXNG no longer reads {key}; see {new}", key=key, new=FACTS["removed"][entry.name])
        elif home:
            cause = tr("{key} belongs under {section}: here it has no effect", key=key, section=home)
        elif near:
            cause = tr("SearXNG has no setting {key}; did you mean {near}?", key=key, near=near)
        else:
            cause = tr("SearXNG has no setting {key} and ignores it", key=key)
        lines = (f"{home}:", f"  {key}: …") if home else (f"{near}:",)
        remedy = Remedy(cause, in_settings(*lines) if home or near else remove_or_rename(""), Link.INVALID_SETTINGS)
        is_free = near and not home and find(deployment.root, near) is None
        yield _rename(deployment, entry, near if is_free else "", remedy)


def _check_nested(deployment: Deployment) -> Iterator[Finding]:
    for section, keys in SECTIONS.items():
        home = find(deployment.root, section)
        for entry in entries(home.value)[:MAX_KEYS] if home else []:
            near = nearest(entry.name, tuple(keys)) if entry.name not in keys else ""
            if near:
                values = {"section": section, "key": _word(entry), "near": near}
                cause = tr("{section} has no setting {key}; did you mean {near}?", **values)
                remedy = Remedy(cause, in_settings(f"{section}:", f"  {near}: …"), Link.INVALID_SETTINGS)
                yield _rename(deployment, entry, "" if find(deployment.root, section, near) else near, remedy)


def _rename(deployment: Deployment, entry: YamlEntry, name: str, remedy: Remedy) -> Finding:
    edits = (Edit(entry.key.start, entry.key.end, name),) if name else ()
    return warn(deployment.source.at(entry.key), remedy, edits=edits, edit_first=bool(edits))


def _check_duplicates(deployment: Deployment) -> Iterator[Finding]:
    sections = [entry.value for entry in entries(deployment.root) if entry.name in MAPPINGS]
    for node in (deployment.root, *sections):
        for entry, later in islice(duplicates(node), MAX_KEYS):
            cause = tr("{key} is repeated in line {line}, and that one counts", key=_word(entry), line=later.key.line)
            fix = (tr("# merge the two, then:"), RESTART)
            yield warn(deployment.source.at(entry.key), Remedy(cause, fix, Link.STILL_403))


def _word(entry: YamlEntry) -> str:
    return clean(entry.name, 60, entities=False)
