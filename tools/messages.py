"""Collect every translatable message, update the gettext catalogues and compile them.

    python -m tools.messages            update locale/*/LC_MESSAGES/sleuth.po from the sources, then compile
    python -m tools.messages --check    list messages without a translation, and translations without a message

Babel's own extractor needs every message wrapped in a call. Many of sleuth's are class attributes of errors or rows of
tables, so the sources are followed here (`Collector`); Babel reads, updates and compiles the catalogues.
"""

import ast
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).parents[1]
REMEDIES = ROOT / "cli" / "sleuth" / "doctor" / "remedies.toml"
LOCALE = ROOT / "cli" / "sleuth" / "base" / "locale"
# Names and times would change the file with every update.
UNWANTED_HEADERS = tuple(
    b'"' + name for name in (b"Project-", b"Report-", b"POT-", b"PO-", b"Last-", b"Language-Team", b"Generated-By")
)
REPRODUCIBLE_DATE = datetime(2026, 1, 1, tzinfo=UTC)  # or compiling twice would give two files
HEADER = "# Simplified Chinese messages of sleuth.\n# Copyright (C) The sleuth authors. MIT licence.\n#"

# Names, commands and placeholders only: the same in every language.
SAME = {
    "{kind}",
    "{path}:{line}: {message}",
    "{usage}",
    "{why}",
    "SearXNG",
    "false",
    "sleuth config edit",
    "sleuth config show",
    "sleuth doctor settings.yml --fix",
    "sleuth providers set …",
    "sleuth providers set {id} --api-host 'https://example.org/search?q=%s'",
    "sleuth providers set {id} --basic-auth-username NAME --basic-auth-password -",
    "--api-host 'https://host/search?q=%s'",
    "{install}",
}
# Texts of the operating system and SQLite, which come as the value `reason`.
SYSTEM_REASONS = {
    "Connection refused",
    "Connection reset by peer",
    "Connection timed out",
    "Disk quota exceeded",
    "File exists",
    "File name too long",
    "File too large",
    "Input/output error",
    "Is a directory",
    "Name or service not known",
    "Network is unreachable",
    "No route to host",
    "No space left on device",
    "No such file or directory",
    "Not a directory",
    "Operation not permitted",
    "Permission denied",
    "Read-only file system",
    "Temporary failure in name resolution",
    "Too many levels of symbolic links",
    "Too many open files",
    "attempt to write a readonly database",
    "database disk image is malformed",
    "database is locked",
    "database or disk is full",
    "disk I/O error",
    "file is not a database",
    "unable to open database file",
}
MECHANISM = ("base/i18n.py", "sleuth_providers/errors.py")  # their calls pass on the messages of others
MESSAGE_ATTRIBUTES = {"message", "hint", "trouble_hint", "caveat"}  # of errors and providers
RECORDS = {
    "Check": {"title": 1, "problem": 2},
    "EngineProblem": {"title": 1},
    "ErrorRule": {"detail": 3},
}  # fields that are translated where they are shown, by position
FOLLOWED = {*MESSAGE_ATTRIBUTES, "detail", "template", *(field for fields in RECORDS.values() for field in fields)}


class Collector:
    """Finds every message template in the sources: passed to tr, passed to errors, or stored and translated later."""

    def __init__(self) -> None:
        paths = [path for folder in ("cli", "providers") for path in sorted((ROOT / folder).rglob("*.py"))]
        trees = {path.as_posix(): ast.parse(path.read_text("utf-8")) for path in paths}
        self.trees = [*trees.values()]
        nodes = {path: list(ast.walk(tree)) for path, tree in trees.items()}
        self.parents = {
            child: node for found in nodes.values() for node in found for child in ast.iter_child_nodes(node)
        }
        callers = [found for path, found in nodes.items() if not path.endswith(MECHANISM)]
        self.calls = [node for found in callers for node in found if isinstance(node, ast.Call)]
        self.classes = [node for found in nodes.values() for node in found if isinstance(node, ast.ClassDef)]
        self.families = self._families()
        self.plurals: set[tuple[str, str]] = set()
        self.lost: set[str] = set()  # expressions that cannot be followed to a literal
        self.found = (
            {text for node in self._sources() for text in self.texts(node) if text} | SYSTEM_REASONS | help_texts()
        ) - SAME
        for remedy in tomllib.loads(REMEDIES.read_text("utf-8"))["remedies"].values():
            comments = [line for line in remedy.get("fix", "").split("\n") if line.startswith("#")]
            self.found.update([remedy["cause"], *comments])
        self.lost -= {"catalogue()", "fix_line"}  # doctor/finding.py translates what was just read

    def _families(self) -> dict[str, str]:
        """Return the error classes, each with the root of its tree."""
        found = {"SleuthError": "SleuthError", "ProviderError": "ProviderError"}
        for _ in range(5):  # no tree is deeper
            for node in self.classes:
                roots = [found[called(base)] for base in node.bases if called(base) in found]
                if roots:
                    found[node.name] = roots[0]
        return found

    def _sources(self) -> Iterator[ast.expr]:
        for call in self.calls:
            name = called(call.func)
            if name in ("tr", "Translatable") or self.families.get(name) == "ProviderError":
                yield from call.args[:1]
            elif name == "trn":
                self.plurals.add((str(ast.literal_eval(call.args[0])), str(ast.literal_eval(call.args[1]))))
            elif name in RECORDS:
                yield from (call.args[place] for place in RECORDS[name].values() if place < len(call.args))
            elif self.families.get(name) == "SleuthError":
                yield from call.args[:2]
            messages = [keyword.value for keyword in call.keywords if keyword.arg in MESSAGE_ATTRIBUTES]
            yield from (value for value in messages if name in self.families or isinstance(value, ast.Constant))
        for node in self.classes:
            yield from (value for name, value in assigned(node.body) if name in MESSAGE_ATTRIBUTES)

    def texts(self, node: ast.expr, depth: int = 0) -> Iterator[str]:
        """Return the literals that an expression can evaluate to."""
        if isinstance(node, ast.Constant):
            yield str(node.value)
        elif isinstance(node, ast.IfExp):
            yield from self.texts(node.body, depth)
            yield from self.texts(node.orelse, depth)
        elif isinstance(node, ast.BoolOp | ast.Dict):
            yield from (text for value in node.values for text in self.texts(value, depth))
        elif isinstance(node, ast.Subscript):
            yield from self.texts(node.value, depth)
        elif isinstance(node, ast.Name) and depth < 4:
            yield from (text for value in self._named(node) for text in self.texts(value, depth + 1))
        elif not (isinstance(node, ast.Attribute) and node.attr in FOLLOWED):
            self.lost.add(ast.unparse(node))

    def _named(self, name: ast.Name) -> list[ast.expr]:
        """Return the values of a name: assigned, iterated over, passed by callers, or imported."""
        scope: ast.AST = name
        while scope in self.parents:
            scope = self.parents[scope]
            if isinstance(scope, ast.FunctionDef | ast.Module) and (values := [*self._bound(scope, name.id)]):
                return values
        imported = [value for tree in self.trees for key, value in assigned(tree.body) if key == name.id]
        if not imported:
            self.lost.add(name.id)
        return imported

    def _bound(self, scope: ast.FunctionDef | ast.Module, name: str) -> Iterator[ast.expr]:
        for node in ast.walk(scope):
            yield from (value for key, value in assigned([node]) if key == name)
            if isinstance(node, ast.For):
                yield from self._iterated(node, name)
        if isinstance(scope, ast.FunctionDef):
            taken = [argument.arg for argument in scope.args.posonlyargs + scope.args.args if argument.arg != "self"]
            home = self._module(scope) if scope.name.startswith("_") else None
            for call in self.calls if name in taken else ():
                if called(call.func) == scope.name and home in (None, self._module(call)):
                    yield from call.args[taken.index(name) :][:1]

    def _iterated(self, loop: ast.For, name: str) -> Iterator[ast.expr]:
        """Return the entries of a table that a loop assigns to a name, or the column that it unpacks into it."""
        names = [called(element) for element in loop.target.elts] if isinstance(loop.target, ast.Tuple) else []
        for key, table in assigned(self._module(loop).body):
            if key != called(loop.iter) or not isinstance(table, ast.Tuple):
                continue
            if name == called(loop.target):
                yield from table.elts
            elif name in names:
                yield from (row.elts[names.index(name)] for row in table.elts if isinstance(row, ast.Tuple))

    def _module(self, node: ast.AST) -> Any:
        while node in self.parents:
            node = self.parents[node]
        return node


def help_texts() -> set[str]:
    """Return the texts of the commands' help."""
    from typer.main import get_command  # here, because the wheel is built without sleuth's dependencies

    from sleuth.commands.app import app
    from tools import command_tree

    return command_tree.help_texts(get_command(app))


def called(node: ast.AST) -> str:
    """Return the last part of a dotted name."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def assigned(body: list[Any]) -> Iterator[tuple[str, ast.expr]]:
    """Return the names that statements assign, with their values."""
    for node in body:
        if isinstance(node, ast.Assign):
            yield called(node.targets[0]), node.value
        elif isinstance(node, ast.AnnAssign) and node.value:
            yield called(node.target), node.value


def catalogues() -> list[Path]:
    """Return the catalogues' sources."""
    return sorted(LOCALE.glob("*/LC_MESSAGES/sleuth.po"))


def read(path: Path) -> Catalog:
    """Read one catalogue."""
    with path.open("rb") as stream:
        catalogue = read_po(stream, locale=path.parts[-3])
    catalogue.creation_date = catalogue.revision_date = REPRODUCIBLE_DATE
    return catalogue


def compiled(path: Path) -> bytes:
    """Return the binary form of a catalogue, which is what sleuth loads."""
    stream = BytesIO()
    write_mo(stream, read(path))
    return stream.getvalue()


def compile_catalogues() -> None:
    """Write the binary form of every catalogue. A running sleuth never reads half of one."""
    for path in catalogues():
        written = path.with_suffix(".mo.new")
        written.write_bytes(compiled(path))
        written.replace(path.with_suffix(".mo"))


def update(path: Path, collected: Collector) -> None:
    """Add new messages to a catalogue and drop those that no longer exist."""
    old = read(path)
    new = Catalog(locale=old.locale, domain="sleuth", header_comment=HEADER, charset="utf-8", fuzzy=False)
    messages: list[str | tuple[str, ...]] = [*sorted(collected.found), *sorted(collected.plurals)]
    for message in messages:
        known = old.get(message)
        new.add(message, known.string if known else None)
    written = BytesIO()
    write_po(written, new, width=0, sort_output=True)
    lines = written.getvalue().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if not line.startswith(UNWANTED_HEADERS)))


def problems(path: Path, collected: Collector) -> list[str]:
    """Return what is missing from a catalogue, and what it has that no source uses."""
    catalogue = read(path)
    found = {entry.id for entry in catalogue if entry.id and entry.string and all(entry.string)}  # all: plural forms
    wanted = collected.found | collected.plurals
    return [
        *(f"not translated: {message}" for message in sorted(map(str, wanted - found))),
        *(f"unused: {message}" for message in sorted(map(str, found - wanted))),
        *(f"cannot be followed to a literal: {expression}" for expression in sorted(collected.lost)),
    ]


def main(arguments: list[str]) -> int:
    """Update and compile, compile only, or check."""
    if arguments == ["--compile"]:
        compile_catalogues()
        return 0
    collected = Collector()
    if arguments == ["--check"]:
        found = [f"{path.parts[-3]}: {problem}" for path in catalogues() for problem in problems(path, collected)]
        print(*found, sep="\n")
        return 1 if found else 0
    for path in catalogues():
        update(path, collected)
    compile_catalogues()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
