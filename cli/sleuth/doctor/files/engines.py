"""The engines in settings.yml: is any enabled, and is there one that stops the server?"""

from collections.abc import Iterator

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment, means, stands_alone, uses_defaults
from sleuth.doctor.files.edits import Edit, add_first, add_key, apply, last_place, set_value
from sleuth.doctor.files.schema import nearest
from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode, entries, find, show_line
from sleuth.doctor.issue import Issue, fine, issue
from sleuth.doctor.verdict import RESTART, Remedy, in_settings
from sleuth_providers.records import Record

OFF_BY_DEFAULT = ("google", "bing", "qwant", "mojeek", "yahoo")
SHORTCUTS = {  # of SearXNG's own engines: those people try to use again
    "br": "brave",
    "bi": "bing",
    "ddg": "duckduckgo",
    "gh": "github",
    "qw": "qwant",
    "sp": "startpage",
    "st": "stackoverflow",
    "wd": "wikidata",
    "wp": "wikipedia",
    "yt": "youtube",
}
MAX_ENGINES = 1000  # looked at; SearXNG has three hundred
KEEPING = ("use_default_settings:", "  engines:", "    keep_only:", "      - wikipedia")
EXIT_LINK = "searxng.md#searxng-exits-invalid-settingsyml-yaml-error"
EMPTY_LINK = "searxng.md#searxng-returns-no-results-without-any-error"


class Engine(Record):
    """One engine of the file."""

    node: YamlNode
    name: str
    fresh: bool  # surely none of SearXNG's own

    def get(self, key: str) -> YamlEntry | None:
        """Return one of its entries."""
        return find(self.node, key)

    def is_set(self, key: str) -> bool | None:
        """Return what one of its switches says; None where it is not there."""
        entry = self.get(key)
        return bool(entry.value.value) if entry else None


def check_engines(deployment: Deployment) -> Iterator[Issue]:
    """Check the choice of engines, each engine, all together, and whether any is left."""
    found = [*_check_choice(deployment), *_check_list(deployment)]
    engines = read_engines(deployment)
    for engine in engines:
        found += _check_engine(deployment, engine)
    active = [engine for engine in engines if not engine.is_set("inactive")]
    found += [*_check_names(deployment, active), *_check_shortcuts(deployment, active)]
    found += _check_any(deployment, engines)
    yield from found
    if not found:
        entry = find(deployment.root, "engines") or find(deployment.root, "use_default_settings")
        yield fine("settings.engines", deployment.source.at(entry.key if entry else deployment.root))


def kept(root: YamlNode) -> list[str] | None:
    """Return the names of SearXNG's own engines that stay; None for all but a few, or all."""
    if not uses_defaults(root):
        return []
    entry = find(root, "use_default_settings", "engines", "keep_only")
    if entry is None or entry.value.kind != "list":
        return None
    return [str(item.value) for item in entry.value.value]


def read_engines(deployment: Deployment) -> list[Engine]:
    """Return the engines of the file that have a name."""
    entry, names = find(deployment.root, "engines"), kept(deployment.root)
    found = []
    for node in entry.value.value[:MAX_ENGINES] if entry and entry.value.kind == "list" else []:
        name = find(node, "name")
        if name and name.value.kind == "text":
            fresh = names is not None and name.value.value not in names
            found.append(Engine(node, name.value.value, fresh))
    return found


def _issue(
    deployment: Deployment,
    state: str,
    node: YamlNode,
    cause: str,
    edits: tuple[Edit, ...] = (),
    fix: tuple[str, ...] = (),
) -> Issue:
    if not fix and edits:
        begin = deployment.source.text.rfind("\n", 0, node.start) + 1
        mended = apply(deployment.source.text, edits)
        fix = in_settings(show_line(mended[begin : begin + 300].partition("\n")[0]))
    fix = fix or (tr("# correct this line, then:"), RESTART)
    remedy = Remedy(cause, fix, EXIT_LINK if state == "fail" else EMPTY_LINK)
    return issue("settings.engines", state, deployment.source.at(node), remedy, edits)


def _check_choice(deployment: Deployment) -> Iterator[Issue]:
    """Check `use_default_settings`, which keeps or removes some of SearXNG's own engines."""
    choice = find(deployment.root, "use_default_settings")
    keys = entries(choice.value) if choice else []
    for entry in keys:
        if entry.name != "engines":
            cause = tr("use_default_settings knows engines alone; {key} is ignored", key=clean(entry.name, 60))
            meant = nearest(entry.name, ("engines",)) and len(keys) == 1
            edits = (Edit(entry.key.start, entry.key.end, "engines"),) if meant else ()
            yield _issue(deployment, "warn", entry.key, cause, edits, in_settings(*KEEPING))
        elif entry.value.kind != "map":
            cause = tr("it takes keep_only or remove, each with a list; anything else stops the server")
            edits = (set_value(entry, _as_choice(entry.value)),)
            yield _issue(deployment, "fail", entry.key, cause, edits, in_settings(*KEEPING))
    for key in ("keep_only", "remove"):
        yield from _check_chosen(deployment, key)


def _as_choice(node: YamlNode) -> str:
    items = node.value if node.kind == "list" else []
    names = [f'"{clean(item.value, 100)}"' for item in items if item.kind == "text"]
    return f"{{keep_only: [{', '.join(names)}]}}" if names else "{}"


def _check_chosen(deployment: Deployment, key: str) -> Iterator[Issue]:
    entry = find(deployment.root, "use_default_settings", "engines", key)
    if entry is None or entry.value.kind in ("list", "null"):
        return
    state, better = "fail", "[]" if key == "remove" else "[wikipedia]"
    if entry.value.kind == "text":  # the server then looks for names inside this word
        state, better = "warn", f'["{clean(entry.value.value, 100)}"]'
    cause = tr("{key} takes a list of names", key=key)
    yield _issue(deployment, state, entry.key, cause, (set_value(entry, better),), in_settings(*KEEPING))


def _check_list(deployment: Deployment) -> Iterator[Issue]:
    """Check that `engines` is a list of mappings with a name."""
    entry = find(deployment.root, "engines")
    if entry is None or (entry.value.kind == "null" and uses_defaults(deployment.root)):
        return
    if entry.value.kind != "list":
        cause = tr("engines takes a list, each engine behind a dash; anything else stops the server")
        fix = in_settings("engines:", "  - name: wikipedia", "    disabled: false")
        yield _issue(deployment, "fail", entry.key, cause, (_as_list(deployment.source.text, entry),), fix)
        return
    for number, node in enumerate(entry.value.value[:MAX_ENGINES], 1):
        yield from _check_name(deployment, node, number)


def _as_list(text: str, entry: YamlEntry) -> Edit:
    node = entry.value
    if node.kind != "map" or not find(node, "name"):
        return set_value(entry, "[]")
    if node.flow:
        return Edit(node.start, node.end, f"[{text[node.start : node.end]}]")
    end = last_place(node)
    return Edit(node.start, end, "- " + text[node.start : end].replace("\n", "\n  "))


def _check_name(deployment: Deployment, node: YamlNode, number: int) -> Iterator[Issue]:
    name = find(node, "name")
    if node.kind != "map":
        cause = tr("an engine is a mapping with a name; anything else stops the server")
        word = clean(node.value, 80).replace('"', "") if node.kind == "text" else ""
        better = f'{{name: "{word}"}}' if word else f'{{name: "unnamed {number}", inactive: true}}'
        edits = (Edit(node.start, node.end, better if node.start < node.end else f" {better}"),)
        if node.kind == "list" and not node.flow:
            edits = (Edit(node.start, last_place(node), better),)
        yield _issue(deployment, "fail", node, cause, edits)
    elif name is None:
        cause = tr("an engine without a name stops the server")
        yield _issue(deployment, "fail", node, cause, _add(deployment, node, "name", f'"unnamed {number}"'))
    elif name.value.kind != "text":
        cause = tr("YAML does not read this name as text, and the server exits: put it in quotes")
        source = deployment.source.text[name.value.start : name.value.end].strip()
        word = clean(source, 80).replace('"', "") if name.value.kind not in ("map", "list", "null") else ""
        yield _issue(deployment, "fail", name.value, cause, (set_value(name, f'"{word or f"unnamed {number}"}"'),))
    elif "_" in name.value.value:
        cause = tr("an engine with _ in its name is left out")
        better = clean(name.value.value, 100).replace("_", " ").replace('"', "")
        yield _issue(deployment, "warn", name.value, cause, (set_value(name, f'"{better}"'),))


def _add(deployment: Deployment, engine: YamlNode, key: str, value: str) -> tuple[Edit, ...]:
    return add_key(deployment.source.text, YamlEntry(engine, engine), key, value)


def _check_engine(deployment: Deployment, engine: Engine) -> Iterator[Issue]:
    """Check the values of one engine that stop the server or surprise."""
    categories, timeout = engine.get("categories"), engine.get("timeout")
    if categories and categories.value.kind not in ("list", "text"):
        cause = tr("categories takes a list; anything else stops the server")
        yield _issue(deployment, "fail", categories.key, cause, (set_value(categories, "[general]"),))
    if timeout and timeout.value.kind not in ("int", "float", "bool"):
        cause = tr("timeout takes a number without quotes; anything else stops the server")
        word = str(timeout.value.value).strip()
        better = word if word.replace(".", "", 1).isdecimal() and word.isascii() else "3.0"
        yield _issue(deployment, "fail", timeout.key, cause, (set_value(timeout, better),))
    for key in ("disabled", "inactive"):
        entry = engine.get(key)
        if entry and entry.value.kind != "bool":
            cause = tr("{key} takes true or false without quotes; any text means true", key=key)
            better = "false" if means(entry.value) is False else "true"
            yield _issue(deployment, "warn", entry.key, cause, (set_value(entry, better),))
    if engine.fresh and not engine.get("engine") and not engine.is_set("inactive"):
        cause = tr("it lacks engine: and is none of those that are kept, so the server leaves it out")
        yield _issue(deployment, "warn", engine.node, cause)


def _check_names(deployment: Deployment, engines: list[Engine]) -> Iterator[Issue]:
    seen: dict[str, Engine] = {}
    taken = {engine.name.lower() for engine in engines}
    for engine in engines:
        first = seen.setdefault(engine.name.lower(), engine)  # the server makes names lower case
        if first is engine:
            continue
        own = bool(engine.get("engine") and first.get("engine"))
        cause = (
            tr("two engines have this name (the other: line {line}), and the server exits", line=first.node.line)
            if own
            else tr("this engine is in line {line} already; what stands here counts", line=first.node.line)
        )
        name = find(engine.node, "name")
        edits = (set_value(name, f'"{_unused(engine.name.lower(), taken, " ")}"'),) if own and name else ()
        yield _issue(deployment, "fail" if own else "warn", name.value if name else engine.node, cause, edits)


def _check_shortcuts(deployment: Deployment, engines: list[Engine]) -> Iterator[Issue]:
    seen: dict[str, Engine] = {}
    taken = {str(entry.value.value) for engine in engines if (entry := engine.get("shortcut"))}
    for engine in engines:
        entry = engine.get("shortcut")
        if entry is None and not (engine.fresh and engine.get("engine")):
            continue
        word = str(entry.value.value) if entry else "-"  # what the server takes where none is given
        yield from _check_borrowed(deployment, engine, entry)
        first = seen.setdefault(word, engine)
        if first.name == engine.name:
            continue
        cause = tr("the engine in line {line} has the same shortcut, and the server exits", line=first.node.line)
        better = f'"{_unused(word if entry else engine.name[:3].strip(), taken, "")}"'
        added = _add(deployment, engine.node, "shortcut", better) if entry is None else ()
        edits = (set_value(entry, better),) if entry else added
        yield _issue(deployment, "fail", entry.value if entry else engine.node, cause, edits)


def _check_borrowed(deployment: Deployment, engine: Engine, entry: YamlEntry | None) -> Iterator[Issue]:
    """Yield a shortcut that one of SearXNG's own engines has; which those are changes with its versions."""
    names = kept(deployment.root)
    owner = SHORTCUTS.get(str(entry.value.value), "") if entry else ""
    if entry and owner and engine.name != owner and engine.get("engine") and (names is None or owner in names):
        cause = tr("the engine {owner} has this shortcut, and two with the same stop the server", owner=owner)
        edits = (set_value(entry, f'"{owner[:2]}{engine.name[:2].strip()}2"'),) if engine.name.isalnum() else ()
        yield _issue(deployment, "warn", entry.value, cause, edits)


def _unused(word: str, taken: set[str], blank: str) -> str:
    """Return a word like this one that nobody has, and take it."""
    plain = clean(word, 60).replace('"', "").replace("\\", "")
    number = next(number for number in range(2, 10_000) if f"{plain}{blank}{number}" not in taken)
    taken.add(f"{plain}{blank}{number}")
    return f"{plain}{blank}{number}"


def _check_any(deployment: Deployment, engines: list[Engine]) -> Iterator[Issue]:
    """Check that a search asks anybody at all."""
    names = kept(deployment.root)
    if names is None or not (uses_defaults(deployment.root) or stands_alone(deployment.root)):
        return
    last = {engine.name: engine for engine in engines}
    off = {name for name, engine in last.items() if engine.is_set("disabled") or engine.is_set("inactive")}
    own = [name for name, engine in last.items() if engine.fresh and name not in off]
    choice = find(deployment.root, "use_default_settings", "engines", "keep_only") or find(deployment.root, "engines")
    place = choice.key if choice else deployment.root
    on = [name for name in names if name not in off]
    if not on and not own:
        cause = tr("no engine is enabled: every search is answered with an empty list")
        fix = in_settings("use_default_settings: true")
        yield _issue(deployment, "fail", place, cause, _enable(deployment, last, off), fix)
    elif not own and all(name in OFF_BY_DEFAULT and last.get(name) is None for name in on):
        cause = tr("{names}: kept, but turned off by default", names=", ".join(on))
        fix = in_settings("engines:", f"  - name: {on[0]}", "    disabled: false", "    inactive: false")
        yield _issue(deployment, "warn", place, cause, (), fix)


def _enable(deployment: Deployment, engines: dict[str, Engine], off: set[str]) -> tuple[Edit, ...]:
    """Return the edits that turn on what is turned off; where nothing is, the ones that bring SearXNG's own back."""
    switches = [engines[name].get(key) for name in sorted(off) for key in ("disabled", "inactive")]
    edits = tuple(set_value(entry, "false") for entry in switches if entry and entry.value.value)
    if edits:
        return edits
    if choice := find(deployment.root, "use_default_settings"):
        return (set_value(choice, "true"),)
    return (add_first(deployment.source.text, deployment.root, "use_default_settings: true"),)
