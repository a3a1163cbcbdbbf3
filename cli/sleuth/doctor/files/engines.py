"""The engines in settings.yml: valid entries, unique names and shortcuts, at least one enabled."""

from collections.abc import Callable, Iterator
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment, is_complete, uses_defaults
from sleuth.doctor.files.edits import add_first, add_key, apply, end_of, set_value
from sleuth.doctor.files.schema import ENGINE_KEYS, ENGINE_MODULES, FACTS, nearest
from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode, find, show_line
from sleuth.doctor.finding import RESTART, Edit, Finding, fail, ok, warn
from sleuth_providers.records import Record

Report = Callable[..., Finding]  # fail or warn
MAX_ENGINES = 1000  # checked; SearXNG has three hundred


class EngineEntry(Record):
    """One engine of the file."""

    node: YamlNode
    name: str
    is_new: bool  # certainly none of SearXNG's own

    def get(self, key: str) -> YamlEntry | None:
        """Return one of its entries."""
        return find(self.node, key)

    def is_on(self, key: str) -> bool:
        """Return whether one of its switches is on."""
        entry = self.get(key)
        return bool(entry and entry.value.value)


def check_engines(deployment: Deployment) -> Iterator[Finding]:
    """Check the selection of default engines, each engine, and whether any is enabled."""
    engines = _engines(deployment)
    active = [engine for engine in engines if not engine.is_on("inactive")]
    found = [*_check_selection(deployment), *_check_list(deployment)]
    found += [problem for engine in engines for problem in _check_engine(deployment, engine)]
    found += [*_check_names(deployment, active), *_check_shortcuts(deployment, active)]
    found += _check_any(deployment, engines)
    entry = find(deployment.root, "engines") or find(deployment.root, "use_default_settings")
    yield from found or [ok(deployment.source.at(entry.key if entry else deployment.root))]


def _kept(root: YamlNode) -> list[str] | None:
    """Return the names of SearXNG's own engines that are kept; None for all or nearly all."""
    if not uses_defaults(root):
        return []
    entry = find(root, "use_default_settings", "engines", "keep_only")
    return None if entry is None or entry.value.kind != "list" else [str(item.value) for item in entry.value.value]


def _engines(deployment: Deployment) -> list[EngineEntry]:
    entry, kept = find(deployment.root, "engines"), _kept(deployment.root)
    found = []
    for node in entry.value.value[:MAX_ENGINES] if entry and entry.value.kind == "list" else []:
        name = find(node, "name")
        if name and name.value.kind == "text":
            found.append(EngineEntry(node, name.value.value, kept is not None and name.value.value not in kept))
    return found


def _problem(
    deployment: Deployment, report: Report, node: YamlNode, kind: str, edits: tuple[Edit, ...] = (), **values: Any
) -> Finding:
    """Return a finding; {correct} in its fix is the corrected line."""
    source = deployment.source
    correct = [tr("# correct this line, then:"), RESTART]
    if edits:
        begin = source.text.rfind("\n", 0, node.start) + 1
        correct = ["@settings", show_line(apply(source.text, edits)[begin : begin + 300].partition("\n")[0])]
    return report(source.at(node), kind, correct=correct, **values, edits=edits)


def _check_selection(deployment: Deployment) -> Iterator[Finding]:
    """Check `use_default_settings: engines:`, which keeps or removes default engines."""
    entry = find(deployment.root, "use_default_settings", "engines")
    if entry and entry.value.kind != "map":
        items = entry.value.value if entry.value.kind == "list" else []
        names = ", ".join(f'"{clean(item.value, 100)}"' for item in items if item.kind == "text")
        edits = (set_value(entry, f"{{keep_only: [{names}]}}" if names else "{}"),)
        yield _problem(deployment, fail, entry.key, "engine-selection-type", edits)
    for key, default in (("keep_only", "[wikipedia]"), ("remove", "[]")):
        chosen = find(deployment.root, "use_default_settings", "engines", key)
        if chosen and chosen.value.kind not in ("list", "null"):
            is_text = chosen.value.kind == "text"  # SearXNG then looks for names inside this word
            edits = (set_value(chosen, f'["{clean(chosen.value.value, 100)}"]' if is_text else default),)
            yield _problem(deployment, warn if is_text else fail, chosen.key, "engine-selection-names", edits, key=key)


def _check_list(deployment: Deployment) -> Iterator[Finding]:
    """Check that `engines` is a list of mappings with names."""
    entry = find(deployment.root, "engines")
    if entry is None or (entry.value.kind == "null" and uses_defaults(deployment.root)):
        return
    if entry.value.kind == "list":
        for number, node in enumerate(entry.value.value[:MAX_ENGINES], 1):
            yield from _check_item(deployment, node, f"unnamed {number}")
        return
    text, node = deployment.source.text, entry.value
    edit = set_value(entry, "[]")
    if node.kind == "map" and find(node, "name"):
        end = node.end if node.flow else end_of(node)
        body = text[node.start : end]
        edit = Edit(node.start, end, f"[{body}]" if node.flow else "- " + body.replace("\n", "\n  "))
    yield _problem(deployment, fail, entry.key, "engines-not-list", (edit,))


def _check_item(deployment: Deployment, node: YamlNode, unnamed: str) -> Iterator[Finding]:
    name = find(node, "name")
    if node.kind != "map":
        word = _plain(node.value, 80) if node.kind == "text" else ""
        better = f'{{name: "{word}"}}' if word else f'{{name: "{unnamed}", inactive: true}}'
        end = node.end if node.kind != "list" or node.flow else end_of(node)
        edits: tuple[Edit, ...] = (Edit(node.start, end, better if node.start < node.end else f" {better}"),)
        yield _problem(deployment, fail, node, "engine-not-mapping", edits)
    elif name is None:
        edits = _add(deployment, node, "name", unnamed)
        yield _problem(deployment, fail, node, "engine-without-name", edits)
    elif name.value.kind != "text":
        text = deployment.source.text[name.value.start : name.value.end].strip()
        word = _plain(text, 80) if name.value.kind not in ("map", "list", "null") else ""
        edits = (set_value(name, f'"{word or unnamed}"'),)
        yield _problem(deployment, fail, name.value, "engine-name-not-text", edits)
    elif "_" in name.value.value:
        edits = (set_value(name, f'"{_plain(name.value.value.replace("_", " "), 100)}"'),)
        yield _problem(deployment, warn, name.value, "engine-name-underscore", edits)


def _plain(value: str, limit: int) -> str:
    return clean(value, limit).replace('"', "").replace("\\", "")


def _add(deployment: Deployment, engine: YamlNode, key: str, value: str) -> tuple[Edit, ...]:
    return add_key(deployment.source.text, YamlEntry(engine, engine), key, f'"{value}"')


def _check_engine(deployment: Deployment, engine: EngineEntry) -> Iterator[Finding]:
    for key, shape in ENGINE_KEYS.items():
        entry = engine.get(key)
        if entry and not shape.accepts(entry.value):
            values = {"name": key, "key": key, "accepted": shape.describe()}
            is_switch = key in ("disabled", "inactive")
            report, kind = (warn, "engine-switch-type") if is_switch else (fail, "engine-value-type")
            edits = (set_value(entry, shape.correct(entry.value)),)
            yield _problem(deployment, report, entry.key, kind, edits, **values)
    module = engine.get("engine")
    if module is None and engine.is_new and not engine.is_on("inactive"):
        yield _problem(deployment, warn, engine.node, "engine-without-module")
    word = str(module.value.value) if module and module.value.kind == "text" else ""
    near = nearest(word, ENGINE_MODULES) if word and word not in ENGINE_MODULES else ""
    if module and near:
        edits = (set_value(module, near),)
        yield _problem(deployment, warn, module.key, "engine-module-unknown", edits, name=word, near=near)
    elif module and word and word not in ENGINE_MODULES:
        yield _problem(deployment, warn, module.key, "engine-module-not-found", name=clean(word, 60))


def _check_names(deployment: Deployment, engines: list[EngineEntry]) -> Iterator[Finding]:
    seen: dict[str, EngineEntry] = {}
    taken = {engine.name.lower() for engine in engines}
    for engine in engines:
        first = seen.setdefault(engine.name.lower(), engine)  # names are case-insensitive
        name = engine.get("name")
        if first is engine or name is None:
            continue
        if engine.get("engine") and first.get("engine"):
            edits = (set_value(name, f'"{_unused(engine.name.lower(), taken, " ")}"'),)
            yield _problem(deployment, fail, name.value, "engine-name-taken", edits, line=first.node.line)
        else:
            yield _problem(deployment, warn, name.value, "engine-repeated", line=first.node.line)


def _check_shortcuts(deployment: Deployment, engines: list[EngineEntry]) -> Iterator[Finding]:
    seen: dict[str, EngineEntry] = {}
    taken = {str(entry.value.value) for engine in engines if (entry := engine.get("shortcut"))}
    for engine in engines:
        entry = engine.get("shortcut")
        if entry is None and not (engine.is_new and engine.get("engine")):
            continue
        word = str(entry.value.value) if entry else "-"  # SearXNG's default
        first = seen.setdefault(word, engine)
        if first.name == engine.name:
            continue
        better = _unused(word if entry else engine.name[:3].strip(), taken, "")
        edits = (set_value(entry, f'"{better}"'),) if entry else _add(deployment, engine.node, "shortcut", better)
        place = entry.value if entry else engine.node
        yield _problem(deployment, fail, place, "engine-shortcut-taken", edits, line=first.node.line)


def _unused(word: str, taken: set[str], separator: str) -> str:
    """Return a similar word that is not taken yet, and take it."""
    plain = _plain(word, 60)
    number = next(number for number in range(2, 10_000) if f"{plain}{separator}{number}" not in taken)
    taken.add(f"{plain}{separator}{number}")
    return f"{plain}{separator}{number}"


def _check_any(deployment: Deployment, engines: list[EngineEntry]) -> Iterator[Finding]:
    """Check that a search queries at least one engine."""
    root, kept = deployment.root, _kept(deployment.root)
    if kept is None or not (uses_defaults(root) or is_complete(root)):
        return
    last = {engine.name: engine for engine in engines}
    off = {name for name, engine in last.items() if engine.is_on("disabled") or engine.is_on("inactive")}
    if any(engine.is_new and name not in off for name, engine in last.items()):
        return
    choice = find(root, "use_default_settings", "engines", "keep_only") or find(root, "engines")
    place = choice.key if choice else root
    on = [name for name in kept if name not in off]
    if not on:
        yield _problem(deployment, fail, place, "engines-all-disabled", _enable(deployment, last, off))
    elif all(name in FACTS["engines"]["off_by_default"] and name not in last for name in on):
        yield _problem(deployment, warn, place, "engines-off-by-default", names=", ".join(on), name=on[0])


def _enable(deployment: Deployment, engines: dict[str, EngineEntry], off: set[str]) -> tuple[Edit, ...]:
    """Return the edits that enable what is disabled, or else bring back SearXNG's own engines."""
    switches = [engines[name].get(key) for name in sorted(off) for key in ("disabled", "inactive")]
    if edits := tuple(set_value(entry, "false") for entry in switches if entry and entry.value.value):
        return edits
    if choice := find(deployment.root, "use_default_settings"):
        return (set_value(choice, "true"),)
    return (add_first(deployment.source.text, deployment.root, "use_default_settings: true"),)
