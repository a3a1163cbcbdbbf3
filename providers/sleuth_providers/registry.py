"""Which providers there are. Listing them imports none; loading one imports that one."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth_providers.base import Provider

GROUP = "sleuth.providers"  # the entry-point group of other people's packages

_added: dict[str, Callable[[], Provider]] = {}
_loaded: dict[str, Provider] = {}


def names() -> list[str]:
    """Return the ids of the built-in providers and of those handed in by `add`."""
    files = os.listdir(os.path.join(os.path.dirname(__file__), "adapters"))
    modules = {file[:-3] for file in files if file.endswith(".py") and not file.startswith("_")}
    return sorted({module.replace("_", "-") for module in modules} | set(_added))


def add(name: str, make: Callable[[], Provider]) -> None:
    """Hand in a provider that lives elsewhere; `make` is called when it is first asked for."""
    _added[name] = make
    _loaded.pop(name, None)


def load(name: str) -> Provider:
    """Return the provider with this id; KeyError when there is none."""
    provider = _loaded.get(name)
    if provider is None:  # nothing is looked up twice: another thread may `add` in between
        provider = _loaded[name] = _added[name]() if name in _added else _built_in(name)
    return provider


def plugins() -> dict[str, Any]:
    """Return the entry points of other people's providers by id; this reads every installed package's metadata."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def _plugin(name: str) -> Provider:
    from sleuth_providers.base import Provider

    point = plugins().get(name)
    if point is None:
        raise KeyError(name)
    try:
        provider = point.load()()
    except Exception as problem:
        raise PluginError(name, problem) from problem
    if not isinstance(provider, Provider) or provider.id != name:
        raise PluginError(name, TypeError(f"its entry point is not a Provider with the id {name!r}"))
    return provider


class PluginError(Exception):
    """Somebody else's provider cannot be loaded."""

    def __init__(self, name: str, problem: Exception) -> None:
        super().__init__(f"{type(problem).__name__}: {problem}")
        self.name = name


def _built_in(name: str) -> Provider:
    from sleuth_providers.base import Provider

    module_name = name.replace("-", "_")
    if name == "local":  # the adapter of results pages that users add: no provider by itself
        from sleuth_providers.html.results_page import ResultsPage

        return ResultsPage()
    if name not in names():
        return _plugin(name)
    module = importlib.import_module(f"sleuth_providers.adapters.{module_name}")
    for value in vars(module).values():
        if isinstance(value, type) and issubclass(value, Provider) and value.id == name:
            return value()
    raise KeyError(name)
