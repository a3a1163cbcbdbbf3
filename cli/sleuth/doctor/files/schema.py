"""What SearXNG accepts in its files; the facts are in schema.toml."""

import json
import re
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.yaml_source import YamlNode
from sleuth_providers.records import Record

VALKEY_SCHEMES = ("valkey://", "valkeys://", "redis://", "rediss://", "unix://")
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0", "")
WORDS = {
    "bool": "true or false",
    "false": "false",
    "nothing": "nothing",
    "integer": "an integer",
    "number": "a number",
    "list": "a list",
    "mapping": "a mapping",
    "text": "text",
}
FACTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("schema.toml").read_text("utf-8"))


class Shape(Record):
    """What a setting takes, and the server's default as YAML."""

    types: tuple[str, ...]
    default: str
    choices: tuple[Any, ...] = ()
    pattern: str = ""  # of text, and of the items of a list

    def accepts(self, node: YamlNode) -> bool:
        """Return whether the server takes a value."""
        if self.choices:
            return node.value in self.choices and node.kind not in ("map", "list")
        kinds = {kind for name in self.types for kind in FACTS["kinds"].get(name, (name,))}
        if node.kind not in kinds and not (node.value is False and "false" in kinds):
            return False
        words = node.value if node.kind == "list" else [node] if node.kind == "text" else []
        return not self.pattern or all(
            word.kind == "text" and re.fullmatch(self.pattern, word.value) is not None for word in words
        )

    def describe(self) -> str:
        """Return what it takes, in words."""
        if self.choices:
            return ", ".join(json.dumps(choice) for choice in self.choices)
        return tr(", ").join(tr(WORDS[name if name in WORDS else "text"]) for name in self.types)

    def correct(self, node: YamlNode) -> str:
        """Return the value that was probably meant, as YAML; the default where that is unclear."""
        word = str(node.value).strip()
        if node.kind in ("map", "list", "null"):
            return self.default
        if self.choices:
            return next((json.dumps(one) for one in self.choices if str(one).lower() == word.lower()), self.default)
        meaning = truth(node)
        if self.types == ("bool",) and meaning is not None:
            return str(meaning).lower()
        number = r"\d+(\.\d+)?" if "number" in self.types else r"\d+"
        if {"number", "integer"} & set(self.types) and re.fullmatch(number, word, re.ASCII):
            return word
        if "text" in self.types and node.kind in ("int", "float", "date"):
            return f'"{clean(word, 200, entities=False)}"'
        return self.default


def truth(node: YamlNode) -> bool | None:
    """Return what a switch means, even when it has the wrong type."""
    word = str(node.value if node.value is not None else "").strip().lower()
    return True if word in TRUE else False if word in FALSE else None


def _parse(spec: str) -> Shape:
    accepted, _, default = spec.partition(" = ")
    if " | " in accepted:
        choices = accepted.split(" | ")
        return Shape((), choices[0], tuple(json.loads(choice) for choice in choices))
    accepted, _, items = accepted.partition(" of ")
    return Shape(tuple(accepted.split(", ")), default, pattern=FACTS["patterns"].get(items or accepted, ""))


SECTIONS: dict[str, dict[str, Shape]] = {
    name: {key: _parse(spec) for key, spec in keys.items()} for name, keys in FACTS["sections"].items()
}
ENGINE_KEYS: dict[str, Shape] = {key: _parse(spec) for key, spec in FACTS["engine"].items()}
ENGINE_MODULES: tuple[str, ...] = tuple(FACTS["engines"]["modules"].split())
MAPPINGS: tuple[str, ...] = (*SECTIONS, *FACTS["top"]["mappings"])
TOP_LEVEL: tuple[str, ...] = (*MAPPINGS, *FACTS["closed"], *FACTS["top"]["others"])


def section_of(key: str) -> str:
    """Return the section a key belongs to, when exactly one has it."""
    sections = [section for section, keys in SECTIONS.items() if key in keys and section != "redis"]
    return sections[0] if len(sections) == 1 else ""


def nearest(word: str, known: tuple[str, ...]) -> str:
    """Return the known word that was probably meant."""
    return next(iter(get_close_matches(word.lower().replace("-", "_"), known, 1, 0.75)), "")
