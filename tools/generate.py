"""Write all that is generated from the commands: `python -m tools.generate`; with --check, tell what is stale."""

import sys
from collections.abc import Iterable
from pathlib import Path

from typer.main import get_command

from sleuth.commands.app import app
from tools import capabilities, command_tree, completion, fast_tables, man_pages, reference

# Where a shell looks for the scripts that a package brings; PowerShell has no such place.
INSTALLED = {
    "completions/sleuth.bash": "share/bash-completion/completions/sleuth",
    "completions/_sleuth": "share/zsh/site-functions/_sleuth",
    "completions/sleuth.fish": "share/fish/vendor_completions.d/sleuth.fish",
}
TABLE = "[tool.hatch.build.targets.wheel.shared-data]\n"


def generate(project: Path) -> dict[str, str]:
    """Return every generated file: its place in the project and its text."""
    root = get_command(app)
    commands = command_tree.read(root)
    files = {f"completions/{file}": completion.script(shell, commands) for shell, file in completion.FILES.items()}
    files |= {f"man/{name}": page for name, page in man_pages.pages(commands).items()}
    files["docs/commands.md"] = reference.reference(commands)
    files |= fast_tables.files(root)
    files["docs/capabilities.md"] = capabilities.chapter()
    settings = (project / "pyproject.toml").read_text(encoding="utf-8")
    return files | {"pyproject.toml": with_shared_data(settings, files)}


def with_shared_data(text: str, names: Iterable[str]) -> str:
    """Return pyproject.toml with the one table that names every man page, for a wheel to install."""
    pages = {name: f"share/man/man{name[-1]}/{name.partition('/')[2]}" for name in names if name.startswith("man/")}
    lines = [f'"{name}" = "{place}"' for name, place in sorted((INSTALLED | pages).items())]
    before, heading, rest = text.partition(TABLE)
    after = rest.partition("\n\n")[2]
    return "\n".join([before + heading + "# Written by python -m tools.generate.", *lines, "", after])


def stale(files: dict[str, str], project: Path) -> list[str]:
    """Return the files that are missing, differ, or belong to a command that is no more."""
    kept = {f"man/{page.name}" for page in (project / "man").glob("*.[0-9]")}
    different = [name for name, text in files.items() if _read(project / name) != text.encode()]
    return sorted([*different, *(kept - files.keys())])


def write(files: dict[str, str], project: Path) -> None:
    """Bring the project up to date."""
    for name in stale(files, project):
        if name in files:
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_bytes(files[name].encode())
        else:
            (project / name).unlink()


def main(arguments: list[str]) -> int:
    """Write the files or check them, in the project this module is part of."""
    if arguments not in ([], ["--check"]):
        print("usage: python -m tools.generate [--check]", file=sys.stderr)
        return 2
    project = Path(__file__).parents[1]
    files = generate(project)
    names = stale(files, project)
    if not arguments:
        write(files, project)
    for name in names:
        print(f"{'stale' if arguments else 'wrote' if name in files else 'removed'}: {name}")
    return 1 if arguments and names else 0


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
