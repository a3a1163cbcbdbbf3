"""Types of settings: each checks a value, parses text, and describes what it accepts."""

from __future__ import annotations

import re

from sleuth.base import choices
from sleuth.base.urls import without_path
from sleuth_providers.records import Record
from sleuth_providers.translatable import Translatable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

FLAGS = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)


class SettingType(Record):
    """One type: a check, a parser, and a description of the accepted values."""

    accepts: Callable[[Any], bool]
    parse: Callable[[str], Any]
    description: str
    choices: tuple[str, ...] = ()
    address: bool = False


def whole(low: int, high: int) -> SettingType:
    """Return the type of integers within bounds."""
    described = Translatable("a whole number from {low} to {high}", low=low, high=high)
    return SettingType(lambda v: type(v) is int and low <= v <= high, int, described)


def number(low: float, high: float, word: str | None = None) -> SettingType:
    """Return the type of numbers within bounds; `word` is accepted as well."""
    form = "a number from {low:g} to {high:g}, or {word}" if word else "a number from {low:g} to {high:g}"
    return SettingType(
        lambda v: v == word or (type(v) in (int, float) and low <= v <= high),
        lambda text: text if text == word else int(text) if text.lstrip("-").isdigit() else float(text),
        Translatable(form, low=low, high=high, word=word),
    )


def choice(*names: str) -> SettingType:
    """Return the type of a fixed set of words."""
    return SettingType(lambda v: v in names, str, Translatable("one of {names}", names=", ".join(names)), names)


def _list(text: str) -> Any:
    if text.lstrip().startswith(("[", "{")):
        return _toml_value(text)
    return [part.strip() for part in text.split(",") if part.strip()]


def _toml_value(text: str) -> Any:
    import tomllib

    return tomllib.loads(f"value = {text}")["value"]


FLAG = SettingType(
    lambda v: type(v) is bool, lambda text: FLAGS.get(text.lower()), Translatable("true or false"), ("true", "false")
)
TEXT = SettingType(lambda v: isinstance(v, str), str, Translatable("text"))
KEY = SettingType(
    lambda v: isinstance(v, str) and v.strip().isprintable() and v.strip() not in ("env:", "cmd:"),
    str,
    Translatable("a key without control characters, env:NAME, cmd:COMMAND or keyring:"),
)
NAMES = SettingType(
    lambda v: isinstance(v, list) and all(isinstance(item, str) for item in v), _list, Translatable("a list of strings")
)


def is_domain_pattern(text: str) -> bool:
    """Tell whether a text is a domain, `*.x.y`, or a `/regex/` that is valid and runs in linear time."""
    if not text.startswith("/"):
        name = text.removeprefix("*.")
        return len(text.split()) == 1 and "*" not in name and bool(without_path(name))
    from sleuth.relevance.patterns import expression

    return len(text) > 2 and text.endswith("/") and expression(text[1:-1]) is not None


def _matching(pattern: str, description: str) -> SettingType:
    """Return the type of texts that are empty or match a pattern."""
    return SettingType(
        lambda v: isinstance(v, str) and (not v or bool(re.fullmatch(pattern, v))), str, Translatable(description)
    )


LANGUAGE_CODE = _matching(r"auto|[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*+", "a code such as de or zh-CN, or auto")
REGION_CODE = _matching(r"[A-Za-z]{2}", "a two-letter country code such as CH")
EMAIL = _matching(r"[^@\s]+@[^@\s]+", "an e-mail address")
PATTERNS = SettingType(
    lambda v: NAMES.accepts(v) and all(map(is_domain_pattern, v)),
    _list,
    Translatable("a list of domains, *.x.y or valid /regex/"),
)


HOST_AND_PORT = r"\w+://(?:[^/?#\s]*@)?+(?:\[[^]/]*\]|[^:/?#\s]*)(?::(\d{0,5}))?(?:[/?#]|$)"


def _has_valid_port(url: str) -> bool:
    if "://" not in url:  # env:, cmd: and keyring: refer to an address
        return True
    # urllib.parse does this too, but takes longer to import than the fast path. Only Redis has several hosts.
    scheme, _, rest = url.partition("://")
    hosts = rest.rpartition("@")[2].split(",") if not scheme.startswith("http") else [rest]
    ports = [re.match(HOST_AND_PORT, f"x://{host}") for host in hosts]
    return all(found is not None and 0 < int(found[1] or 1) < 65_536 for found in ports)


def _address(pattern: str, description: str) -> SettingType:
    return SettingType(
        lambda v: isinstance(v, str) and (not v or (bool(re.match(pattern, v)) and _has_valid_port(v))),
        str,
        Translatable(description),
        address=True,
    )


URL = _address(r"https?://[^/\s]+", "an http(s) URL")
REDIS_URL = _address(
    r"((rediss?|valkeys?)(\+sentinel)?|unix)://|env:\w|cmd:\s*\S|keyring:", "a URL such as redis://host:6379/0"
)
CHAIN_NAMES = (*choices.CATEGORIES, "general-zh")
CHAIN_TABLE = SettingType(
    lambda v: isinstance(v, dict) and all(name in CHAIN_NAMES and NAMES.accepts(chain) for name, chain in v.items()),
    _toml_value,
    Translatable("a table such as {example}", example="{ news = ['bing-news+google-news', 'you'] }"),
)
DIMENSIONS = whole(0, 100_000)
COMPRESSION_KEYS: dict[str, SettingType] = {
    "method": choice(*choices.COMPRESSION),
    "cutoff_limit": whole(1, 10_000_000),
    "cutoff_unit": choice(*choices.UNITS),
    "document_count": whole(1, 100),
    "embedding_model_id": TEXT,
    "rerank_model_id": TEXT,
    "embedding_model_meta": SettingType(
        lambda v: isinstance(v, dict) and DIMENSIONS.accepts(v.get("dimensions", 0)),
        _toml_value,
        Translatable("a table"),
    ),
    "rerank_model_meta": SettingType(lambda v: isinstance(v, dict), _toml_value, Translatable("a table")),
}


COMPRESSION = SettingType(
    lambda v: (
        isinstance(v, dict)
        and "method" in v
        and all(name in COMPRESSION_KEYS and COMPRESSION_KEYS[name].accepts(entry) for name, entry in v.items())
    ),
    _toml_value,
    Translatable("a table such as {example}", example="{ method = 'cutoff', cutoff_limit = 2000 }"),
)


def to_toml(value: Any) -> str:
    """Return the TOML form of a setting's value."""
    from sleuth.base.json_output import json_text

    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {to_toml(entry)}" for name, entry in value.items()) + " }"
    return f"{value:g}" if isinstance(value, float) else json_text(value)  # the rest looks the same in JSON
