"""Hatchling build hook: compile the message catalogues into the wheel (or in place, for an editable install)."""

import sys
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompileMessages(BuildHookInterface[Any]):
    """Compiles every .po file before the wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and include the results although git ignores them."""
        sys.path.insert(0, self.root)
        from tools.messages import compile_catalogues

        compile_catalogues()
        build_data["artifacts"].append("*.mo")
