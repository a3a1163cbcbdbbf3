"""Texts that are translated where they are shown, not where they are written."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Translatable(str):
    """An English text that keeps its template and values, for `sleuth.base.i18n.tr`."""

    template: str
    values: dict[str, Any]

    def __new__(cls, template: str = "", /, **values: Any) -> Translatable:
        """Fill in the values; a template without values may contain braces."""
        made = super().__new__(cls, template.format_map(values) if values else template)
        made.template, made.values = template, values
        return made
