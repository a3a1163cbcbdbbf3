"""What the front desk is told: the options of `search` and every help text, taken from Typer's own command tree."""

from collections.abc import Iterator
from typing import Any

from typer import Context

WIDTH = 78  # what Typer makes of a terminal of 80 columns
HEAD = '"""The options of `sleuth search`, for the front desk. Written by python -m tools.generate."""\n'
LAZY = """\
TYPE_CHECKING = False  # typing takes longer to import than everything else here
if TYPE_CHECKING:
    from typing import Any
"""


def files(root: Any) -> dict[str, str]:
    """Return the generated files of the front desk."""
    search = root.get_command(None, "search")
    found = {"cli/sleuth/commands/fast/generated/search.py": table(search)}
    for context in _walk(Context(root, info_name="sleuth", **root.context_settings | {"terminal_width": WIDTH})):
        name = "-".join(_names(context))
        found[f"cli/sleuth/commands/fast/generated/help/{name}.txt"] = str(context.command.get_help(context)) + "\n"
    return found


def _names(context: Any) -> list[str]:
    return [*(_names(context.parent) if context.parent else []), context.info_name]


def table(command: Any) -> str:
    """Return the flags of a command as a Python module."""
    flags: dict[str, tuple[str, str, Any]] = {}
    positional = ""
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            positional = parameter.name
            continue
        for flag in (*parameter.opts, *parameter.secondary_opts):
            flags[flag] = (parameter.name, *_kind(parameter, flag))
    lines = [f"    {flag!r}: {entry!r},".replace("'", '"') for flag, entry in flags.items()]
    body = "\n".join(['FLAGS: "dict[str, tuple[str, str, Any]]" = {', *lines, "}"])
    return f'{HEAD}\n{LAZY}\nPOSITIONAL = "{positional}"\n{body}\n'


def _kind(parameter: Any, flag: str) -> tuple[str, Any]:
    kind = parameter.type
    if parameter.is_flag:
        return "flag", flag not in parameter.secondary_opts
    if parameter.multiple:
        return "texts", None
    if hasattr(kind, "choices"):
        return "choice", tuple(str(getattr(choice, "value", choice)) for choice in kind.choices)
    name = kind.name.partition(" ")[0]
    if name in ("integer", "int", "float"):
        return "float" if name == "float" else "whole", (getattr(kind, "min", None), getattr(kind, "max", None))
    return "text", None


def _walk(context: Any) -> Iterator[Any]:
    yield context
    names = context.command.list_commands(context) if hasattr(context.command, "list_commands") else []
    for name in names:
        command = context.command.get_command(context, name)
        yield from _walk(Context(command, info_name=name, parent=context, terminal_width=WIDTH))
