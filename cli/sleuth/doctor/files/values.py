"""Names and types in settings.yml: an unknown name is ignored, a value of the wrong type stops the server."""

from collections.abc import Iterator
from itertools import islice

from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment
from sleuth.doctor.files.edits import remove_entry, set_value
from sleuth.doctor.files.limiter import remove_or_rename
from sleuth.doctor.files.schema import FACTS, MAPPINGS, SECTIONS, TOP_LEVEL, nearest, section_of
from sleuth.doctor.files.yaml_source import YamlEntry, duplicates, entries, find
from sleuth.doctor.finding import Edit, Finding, fail, ok, warn

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
        kind = "section-empty" if entry.value.kind == "null" else "section-not-mapping"
        yield fail(deployment.source.at(entry.key), kind, name=name, edits=(set_value(entry, "{}"),))


def _check_types(deployment: Deployment) -> Iterator[Finding]:
    for section, key, shape in ((section, *item) for section, keys in SECTIONS.items() for item in keys.items()):
        entry, name = find(deployment.root, section, key), f"{section}.{key}"
        unset = name == "server.secret_key" and entry and entry.value.kind == "null"  # has its own check
        if not entry or unset or FACTS["overrides"].get(name) in deployment.variables or shape.accepts(entry.value):
            continue
        better = shape.correct(entry.value)
        values = {"name": name, "section": section, "key": key, "better": better, "accepted": shape.describe()}
        yield fail(deployment.source.at(entry.key), "value-type", **values, edits=(set_value(entry, better),))


def _check_closed(deployment: Deployment) -> Iterator[Finding]:
    for section, names in FACTS["closed"].items():
        home = find(deployment.root, section)
        for entry in entries(home.value)[:MAX_KEYS] if home else []:
            if home and entry.name not in names:
                near = nearest(entry.name, tuple(names))
                values = {"section": section, "key": _word(entry), "remove_or_rename": remove_or_rename(near)}
                edits = remove_entry(deployment.source.text, home.value, entry)
                yield fail(deployment.source.at(entry.key), "key-not-allowed", **values, edits=edits)


def check_keys(deployment: Deployment) -> Iterator[Finding]:
    """Check for unknown names, which are ignored, and duplicates, of which the last counts."""
    found = [*_check_top(deployment), *_check_nested(deployment), *_check_duplicates(deployment)]
    names = ", ".join(entry.name for entry in entries(deployment.root))
    yield from found or [ok(deployment.source.at(deployment.root, clean(names, 160, entities=False)))]


def _check_top(deployment: Deployment) -> Iterator[Finding]:
    for entry in entries(deployment.root)[:MAX_KEYS]:
        if entry.name in TOP_LEVEL and entry.key.kind == "text":
            continue
        home, near, new = section_of(entry.name), nearest(entry.name, TOP_LEVEL), FACTS["removed"].get(entry.name, "")
        kind = "in-wrong-place" if home else "misspelt" if near else "unknown"
        values = {"key": _word(entry), "section": home, "near": near, "new": new}
        is_free = near and not home and find(deployment.root, near) is None
        kind = f"key-{'removed' if new else kind}"
        yield _rename(deployment, entry, near if is_free else "", kind, **values)


def _check_nested(deployment: Deployment) -> Iterator[Finding]:
    for section, keys in SECTIONS.items():
        home = find(deployment.root, section)
        for entry in entries(home.value)[:MAX_KEYS] if home else []:
            if entry.name not in keys and (near := nearest(entry.name, tuple(keys))):
                values = {"section": section, "key": _word(entry), "near": near}
                name = "" if find(deployment.root, section, near) else near
                yield _rename(deployment, entry, name, "key-misspelt-in-section", **values)


def _rename(deployment: Deployment, entry: YamlEntry, name: str, remedy: str, **values: str) -> Finding:
    edits = (Edit(entry.key.start, entry.key.end, name),) if name else ()
    return warn(deployment.source.at(entry.key), remedy, edits=edits, edit_first=bool(edits), **values)


def _check_duplicates(deployment: Deployment) -> Iterator[Finding]:
    sections = [entry.value for entry in entries(deployment.root) if entry.name in MAPPINGS]
    for node in (deployment.root, *sections):
        for entry, later in islice(duplicates(node), MAX_KEYS):
            yield warn(deployment.source.at(entry.key), "key-repeated", key=_word(entry), line=later.key.line)


def _word(entry: YamlEntry) -> str:
    return clean(entry.name, 60, entities=False)
