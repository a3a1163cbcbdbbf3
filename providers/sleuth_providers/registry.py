"""The registry of providers. Listing them imports none; loading one imports only its module."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth_providers.base import Provider

GROUP = "sleuth.providers"  # entry-point group of plug-ins

_added: dict[str, Callable[[], Provider]] = {}
_loaded: dict[str, Provider] = {}


def names() -> list[str]:
    """Return the ids of the built-in providers and of those registered with `add`."""
    files = os.listdir(os.path.join(os.path.dirname(__file__), "adapters"))
    modules = {file[:-3] for file in files if file.endswith(".py") and not file.startswith("_")}
    return sorted({module.replace("_", "-") for module in modules} | set(_added))


def add(name: str, make: Callable[[], Provider]) -> None:
    """Register a provider from elsewhere; `make` is called on first use."""
    _added[name] = make
    _loaded.pop(name, None)


def load(name: str) -> Provider:
    """Return the provider with this id; raise KeyError for an unknown one."""
    provider = _loaded.get(name)
    if provider is None:  # one lookup: another thread may call `add` in between
        provider = _loaded[name] = _added[name]() if name in _added else _create(name)
    return provider


def plugins() -> dict[str, Any]:
    """Return the entry points of plug-ins by id; slow, since it reads the metadata of every installed package."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


class PluginError(Exception):
    """A plug-in cannot be loaded."""

    def __init__(self, name: str, problem: Exception) -> None:
        super().__init__(f"{type(problem).__name__}: {problem}")
        self.name = name


def _create(name: str) -> Provider:
    from sleuth_providers.base import Provider

    if name == "local":  # the adapter for results pages that users add; not a provider itself
        from sleuth_providers.html.results_page import ResultsPage

        return ResultsPage()
    if name in names():
        module = importlib.import_module(f"sleuth_providers.adapters.{name.replace('-', '_')}")
        classes = (value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Provider))
        return next(adapter() for adapter in classes if adapter.id == name)
    point = plugins()[name]
    try:
        provider = point.load()()
    except Exception as problem:
        raise PluginError(name, problem) from problem
    if not isinstance(provider, Provider) or provider.id != name:
        raise PluginError(name, TypeError(f"its entry point is not a Provider with the id {name!r}"))
    return provider
