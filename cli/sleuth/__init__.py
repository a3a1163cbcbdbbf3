"""sleuth: command-line web search with many providers, one ranked list and numbered citations.

    import sleuth
    sleuth.search("rust async runtimes", count=3).results

What a program may use is in `__all__`; it is made when first asked for, so that importing sleuth costs nothing.
"""

import sys
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.api import Client, aask, aread, asearch, ask, read, search, summarize
    from sleuth.errors import SleuthError

__version__ = "0.1.0"
__all__ = ["Client", "SleuthError", "aask", "aread", "asearch", "ask", "read", "search", "summarize"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'sleuth' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("sleuth.errors" if name == "SleuthError" else "sleuth.api"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


class _Package(ModuleType):
    """This package: `search` is the function, also after the module of that name has been imported."""

    @property
    def search(self) -> object:
        return __getattr__("search")

    @search.setter
    def search(self, module: ModuleType) -> None:
        """Take the module that the import system brings, which it finds again without this."""


sys.modules[__name__].__class__ = _Package
