"""Writes everything that is generated from the commands: `python -m tools.generate`; --check lists stale files."""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from typer.main import get_command

from sleuth.commands.app import app
from sleuth_providers import registry
from tools import capabilities, command_tree, fast_tables, man_pages, messages, reference

# Where shells look for the completion scripts of packages; PowerShell has no such folder.
INSTALLED = {
    "completions/sleuth.bash": "share/bash-completion/completions/sleuth",
    "completions/_sleuth": "share/zsh/site-functions/_sleuth",
    "completions/sleuth.fish": "share/fish/vendor_completions.d/sleuth.fish",
}
TABLE = "[tool.hatch.build.targets.wheel.shared-data]\n"
# Where the READMEs say how many providers there are.
PROVIDER_COUNTS = {
    "README.md": r"(?<=search command for )\d+|(?<=^\| providers \| )\d+",
    "README.zh-CN.md": r"(?<=一条命令，)\d+|(?<=^\| 搜索源 \| )\d+",
}
GENERATED = ("man/*.[0-9]", f"{fast_tables.FOLDER}/*/*")  # folders without any other files


def generate(project: Path) -> dict[str, str]:
    """Return the text of every generated file by its path in the project."""
    messages.compile_catalogues()  # which the help of other languages comes from
    root = get_command(app)
    tree = command_tree.read(root)
    files = {f"man/{name}": page for name, page in man_pages.pages(tree).items()}
    files["docs/commands.md"] = reference.reference(tree)
    files["docs/capabilities.md"] = capabilities.chapter()
    files |= fast_tables.files(root, tree)
    settings = (project / "pyproject.toml").read_text(encoding="utf-8")
    count = str(len({*registry.names(), "library"}))  # sleuth itself adds the library
    readmes = {
        name: re.sub(pattern, count, (project / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
        for name, pattern in PROVIDER_COUNTS.items()
    }
    return files | readmes | {"pyproject.toml": with_shared_data(settings, files)}


def with_shared_data(text: str, names: Iterable[str]) -> str:
    """Return pyproject.toml with the table that lists the man pages and completions of the wheel."""
    pages = {name: f"share/man/man{name[-1]}/{name.partition('/')[2]}" for name in names if name.startswith("man/")}
    lines = [f'"{name}" = "{place}"' for name, place in sorted((INSTALLED | pages).items())]
    before, heading, rest = text.partition(TABLE)
    after = rest.partition("\n\n")[2]
    return "\n".join([before + heading + "# Written by python -m tools.generate.", *lines, "", after])


def stale(files: dict[str, str], project: Path) -> list[str]:
    """Return the files that are missing, differ, or belong to a command that no longer exists."""
    present = {path.relative_to(project).as_posix() for pattern in GENERATED for path in project.glob(pattern)}
    different = [name for name, text in files.items() if _read(project / name) != text.encode()]
    return sorted([*different, *(present - files.keys())])


def write(files: dict[str, str], project: Path) -> None:
    """Write the stale files and delete those that are no longer generated."""
    for name in stale(files, project):
        if name in files:
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_bytes(files[name].encode())
        else:
            (project / name).unlink()


def main(arguments: list[str]) -> int:
    """Write or check the files of the project that contains this module."""
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
