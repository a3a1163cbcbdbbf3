"""The fields of a provider in the table: their names, and what values they take."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from sleuth.base.errors import RequestError
from sleuth.base.urls import mask_login

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Ranges = Mapping[str, tuple[float, float]]

TYPES = ("api", "local")
TEXT_FIELDS = ("name", "type", "api_key", "api_host", "basic_auth_username", "basic_auth_password")
FLAG_FIELDS = ("using_browser", "enabled")
JSON_FIELDS = ("engines", "options")
FIELDS = (*TEXT_FIELDS, *FLAG_FIELDS, *JSON_FIELDS)
CLEARABLE = ("api_key", "api_host", "engines", "basic_auth_username", "basic_auth_password", "options")
# Numeric options of all providers, and their ranges.
NUMBER_OPTIONS = {"weight": (0.0, 100.0), "per_minute": (0, 100_000), "per_day": (0, 10_000_000), "timeout": (0.1, 600)}


def checked(name: str, value: Any, type: str) -> Any:
    """Return the value of a field as it is stored; an invalid one raises RequestError."""
    if name not in FIELDS:
        raise RequestError("unknown field {name!r}", "use one of {fields}", name=name, fields=", ".join(FIELDS))
    if value is None:
        if name not in CLEARABLE:
            raise RequestError("{name} cannot be empty", "set it to a value", name=name)
        return "{}" if name == "options" else None
    if name in FLAG_FIELDS and value not in (0, 1):
        raise RequestError("invalid value {value!r} for {name}", "use true or false", name=name, value=value)
    if name in FLAG_FIELDS:
        return int(value)
    if name in JSON_FIELDS:
        return _checked_json(name, value)
    if not isinstance(value, str) or any(unicodedata.category(c) in ("Cc", "Cs") for c in value):
        raise RequestError("{name} contains control characters", "remove line breaks and control characters", name=name)
    if not value.strip():
        hint = "to clear it: sleuth providers set ID --unset {name}" if name in CLEARABLE else "set it to a value"
        raise RequestError("{name} cannot be empty", hint, name=name)
    if name == "api_key" and value.strip() in ("env:", "cmd:"):
        raise RequestError("incomplete {name} {value!r}", "use env:NAME or cmd:COMMAND", name=name, value=value)
    if name == "type" and value not in TYPES:
        raise RequestError("invalid type {value!r}", "use api or local", value=value)
    if name == "api_host":
        for part in value.split(",") if type == "api" else [value]:
            check_host(part.strip(), type)
    return value


def _checked_json(name: str, value: Any) -> str:
    names = isinstance(value, list | tuple) and all(isinstance(entry, str) and entry for entry in value)
    try:
        if not (names if name == "engines" else isinstance(value, dict)):
            raise TypeError(value)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError) as problem:
        hint = "engines takes a list, options a mapping"
        raise RequestError("invalid value {value!r} for {name}", hint, name=name, value=value) from problem
    if name == "options":
        check_numbers(value, NUMBER_OPTIONS)
    return text


def check_numbers(options: Mapping[str, Any], ranges: Ranges) -> None:
    """Refuse a numeric option that is no number or out of its range."""
    for name, (low, high) in ranges.items():
        is_limit = name in ("per_minute", "per_day")
        number = number_option(options, name, ranges)
        if name in options and (number is None or (is_limit and number % 1)):
            message = "invalid value {value!r} for the option {name}"
            limits = "use a whole number from {low} to {high}; 0 means no limit"
            hint = limits if is_limit else "use a number from {low} to {high}"
            raise RequestError(message, hint, name=name, value=options[name], low=low, high=high)


def number_option(options: Mapping[str, Any], name: str, ranges: Ranges = NUMBER_OPTIONS) -> float | None:
    """Return a numeric option; None when it is not set or out of range."""
    low, high = ranges[name]
    try:
        number = float(options[name])
    except (KeyError, TypeError, ValueError):
        return None
    return number if low <= number <= high else None


def check_engines(adapter: str, engines: list[str]) -> None:
    """Refuse engines that the adapter does not have, and several if it searches with one."""
    from sleuth_providers import registry

    with suppress(KeyError, registry.PluginError):  # the package of the adapter is not installed
        provider = registry.load(adapter)
        known = provider.known_engines
        for name in sorted(set(engines) - set(known or engines)):
            raise RequestError("unknown engine {name!r}", "use one of: {names}", name=name, names=", ".join(known))
        if len(engines) > 1 and "engines" in provider.supports and not provider.several_engines:
            raise RequestError("{name} searches with one engine at a time", "name one", name=provider.name)


def check_host(value: str, type: str) -> None:
    """Refuse a host that is no URL, or that has no place for the query of a `local` provider."""
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and len(value.split()) == 1
    except ValueError:
        good = False
    if not good:
        shown = value.rpartition("@")[2]
        raise RequestError("{value!r} is not an http(s) URL", "use the form https://host:port", value=shown)
    if "@" in parts.netloc:
        raise RequestError("the URL contains a password", "use --basic-auth-username and --basic-auth-password -")
    if type == "local" and "%s" not in value:
        hint = "use the form https://host/search?q=%s"
        raise RequestError("{value!r} has no %s for the query", hint, value=mask_login(value))
