"""Names and types in settings.yml: a name nobody knows is ignored, a value of the wrong type stops the server."""

from collections.abc import Iterator
from itertools import islice

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.deployment import Deployment, means
from sleuth.doctor.files.edits import Edit, remove_entry, set_value
from sleuth.doctor.files.schema import CLOSED, GONE, MAPPINGS, SECTIONS, TOP, Shape, home_of, nearest
from sleuth.doctor.files.yaml_source import YamlEntry, YamlNode, entries, find, repeated
from sleuth.doctor.issue import Issue, fine, issue
from sleuth.doctor.verdict import RESTART, Remedy, in_settings

ELSEWHERE = ("search.formats", "server.secret_key", "server.limiter", "server.public_instance")  # have their own checks
VARIABLES = {  # what overrules a value before its type is looked at
    "server.base_url": "SEARXNG_BASE_URL",
    "server.image_proxy": "SEARXNG_IMAGE_PROXY",
    "server.method": "SEARXNG_METHOD",
    "general.debug": "SEARXNG_DEBUG",
    "valkey.url": "SEARXNG_VALKEY_URL",
    "server.port": "SEARXNG_PORT",
    "server.bind_address": "SEARXNG_BIND_ADDRESS",
}
MAX_KEYS = 200  # looked at in one mapping; SearXNG knows twenty
EXIT_LINK = "searxng.md#searxng-exits-invalid-settingsyml-yaml-error"
TWICE_LINK = "searxng.md#searxng-still-answers-403-after-adding-json-to-formats"


def check_values(deployment: Deployment) -> Iterator[Issue]:
    """Every value must have the type the server wants."""
    found = [*_check_sections(deployment), *_check_shapes(deployment), *_check_closed(deployment)]
    yield from found
    if not found:
        yield fine("settings.values", deployment.source.name)


def _check_sections(deployment: Deployment) -> Iterator[Issue]:
    """Yield sections that are empty or no mapping: the server exits at either."""
    for name in (*MAPPINGS, "hostnames", *CLOSED):
        entry = find(deployment.root, name)
        empty_is_fine = name in (*CLOSED, "hostnames")
        if entry is None or entry.value.kind == "map" or (empty_is_fine and entry.value.kind == "null"):
            continue
        cause = (
            tr("the section is empty, which stops the server: remove it, or give it a value")
            if entry.value.kind == "null"
            else tr("the section must hold keys with values; anything else stops the server")
        )
        remedy = Remedy(cause, in_settings(f"{name}: {{}}"), EXIT_LINK)
        edits = (set_value(entry, "{}"),)
        yield issue("settings.values", "fail", deployment.source.at(entry.key), remedy, edits)


def _check_shapes(deployment: Deployment) -> Iterator[Issue]:
    for section, shapes in SECTIONS.items():
        for key, shape in shapes.items():
            entry, name = find(deployment.root, section, key), f"{section}.{key}"
            if entry is None or name in ELSEWHERE or VARIABLES.get(name) in deployment.variables:
                continue
            if not shape.accepts(entry.value):
                yield _misfit(deployment, name, entry, shape)


def _misfit(deployment: Deployment, name: str, entry: YamlEntry, shape: Shape) -> Issue:
    better = _meant(entry.value, shape)
    cause = tr("{name} takes {accepted}; anything else stops the server", name=name, accepted=shape.says)
    section, _, key = name.partition(".")
    remedy = Remedy(cause, in_settings(f"{section}:", f"  {key}: {better}"), EXIT_LINK)
    return issue("settings.values", "fail", deployment.source.at(entry.key), remedy, (set_value(entry, better),))


def _meant(node: YamlNode, shape: Shape) -> str:
    """Return, as YAML, what somebody probably meant; the server's default where nothing can be told."""
    word = str(node.value).strip()
    if node.kind in ("map", "list", "null"):
        return shape.default
    for choice in shape.choices:
        if str(choice).lower() == word.lower():
            return f'"{choice}"' if isinstance(choice, str) else str(choice)
    if shape.choices:
        return shape.default
    if shape.kinds == ("bool",):
        meaning = means(node)
        return shape.default if meaning is None else str(meaning).lower()
    if "int" in shape.kinds and _is_number(word, "float" in shape.kinds):
        return word
    if "text" in shape.kinds and node.kind in ("int", "float", "date") and not shape.pattern:
        return f'"{clean(word, 200, entities=False)}"'
    return shape.default


def _is_number(word: str, with_fraction: bool) -> bool:
    whole, _, fraction = word.partition(".")
    return whole.isascii() and whole.isdigit() and (not fraction or (with_fraction and fraction.isdigit()))


def _check_closed(deployment: Deployment) -> Iterator[Issue]:
    for section, names in CLOSED.items():
        home = find(deployment.root, section)
        for entry in entries(home.value)[:MAX_KEYS] if home else []:
            if home and entry.name not in names:
                cause = tr("{section} knows no {key}, and the server exits at it", section=section, key=_word(entry))
                near = nearest(entry.name, names)
                meant = tr("# did you mean {name}? Otherwise remove it, then:", name=near)
                fix = (meant if near else tr("# remove it, then:"), RESTART)
                edits = remove_entry(deployment.source.text, home.value, entry)
                place = deployment.source.at(entry.key)
                yield issue("settings.values", "fail", place, Remedy(cause, fix, EXIT_LINK), edits)


def check_keys(deployment: Deployment) -> Iterator[Issue]:
    """Names nobody knows have no effect; of two equal names the later one counts."""
    found = [*_check_top(deployment), *_check_nested(deployment), *_check_twice(deployment)]
    yield from found
    if not found:
        names = ", ".join(entry.name for entry in entries(deployment.root))
        yield fine("settings.keys", deployment.source.at(deployment.root, clean(names, 160, entities=False)))


def _check_top(deployment: Deployment) -> Iterator[Issue]:
    for entry in entries(deployment.root)[:MAX_KEYS]:
        if entry.name in TOP and entry.key.kind == "text":
            continue
        home, near = home_of(entry.name), nearest(entry.name, TOP)
        if entry.name in GONE:
            cause = tr("{key} is no longer read; see {new}", key=_word(entry), new=GONE[entry.name])
        elif home:
            cause = tr("{key} belongs under {section}: here it has no effect", key=_word(entry), section=home)
        elif near:
            cause = tr("SearXNG knows no {key}; did you mean {near}?", key=_word(entry), near=near)
        else:
            cause = tr("SearXNG knows no {key} and ignores it", key=_word(entry))
        lines = (f"{home}:", f"  {_word(entry)}: …") if home else (f"{near}:",)
        fix = in_settings(*lines) if home or near else (tr("# remove it, then:"), RESTART)
        free = near and not home and find(deployment.root, near) is None
        edits = (Edit(entry.key.start, entry.key.end, near),) if free else ()
        place = deployment.source.at(entry.key)
        yield issue("settings.keys", "warn", place, Remedy(cause, fix, EXIT_LINK), edits, first=bool(edits))


def _check_nested(deployment: Deployment) -> Iterator[Issue]:
    """Yield names in a section that are nearly, but not quite, those the server knows."""
    for section, shapes in SECTIONS.items():
        home = find(deployment.root, section)
        for entry in entries(home.value)[:MAX_KEYS] if home else []:
            near = nearest(entry.name, tuple(shapes)) if entry.name not in shapes else ""
            if not near:
                continue
            cause = tr("{section} knows no {key}; did you mean {near}?", section=section, key=_word(entry), near=near)
            free = find(deployment.root, section, near) is None
            edits = (Edit(entry.key.start, entry.key.end, near),) if free else ()
            remedy = Remedy(cause, in_settings(f"{section}:", f"  {near}: …"), EXIT_LINK)
            yield issue("settings.keys", "warn", deployment.source.at(entry.key), remedy, edits, first=bool(edits))


def _check_twice(deployment: Deployment) -> Iterator[Issue]:
    places = [deployment.root, *(entry.value for entry in entries(deployment.root) if entry.name in MAPPINGS)]
    for node in places:
        for entry, later in islice(repeated(node), MAX_KEYS):
            cause = tr("{key} stands again in line {line}, and that one counts", key=_word(entry), line=later.key.line)
            fix = (tr("# join the two, then:"), RESTART)
            yield issue("settings.keys", "warn", deployment.source.at(entry.key), Remedy(cause, fix, TWICE_LINK))


def _word(entry: YamlEntry) -> str:
    return clean(entry.name, 60, entities=False)
