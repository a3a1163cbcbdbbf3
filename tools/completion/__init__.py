"""Completion scripts, one module a shell, each with `script(tree)`. They hold all that is known when they are made;
only the ids of the user's own providers are asked for when a shell completes."""

import importlib

from tools.command_tree import Command, Option, Tree

# Shell → the file its script is kept in.
FILES = {"bash": "sleuth.bash", "zsh": "_sleuth", "fish": "sleuth.fish", "powershell": "sleuth.ps1"}
GENERATED = "Generated from the commands by `python -m tools.generate`: change those, not this."


def script(shell: str, tree: Tree) -> str:
    """Return the completion script of a shell."""
    text: str = importlib.import_module(f"tools.completion.{shell}").script(tree)
    return text


def options_of(command: Command, tree: Tree) -> tuple[Option, ...]:
    """Return all options a command takes, its own first."""
    return tuple(dict.fromkeys(command.options + tree.anywhere))


def opposite(option: Option) -> str:
    """Describe what turns an option off again."""
    return f"The opposite of {option.name}."
