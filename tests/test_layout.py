"""The plan of the house, held by tests: what lies where, how large it is, and what must not be in it."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted([*(ROOT / "cli").rglob("*.py"), *(ROOT / "providers").rglob("*.py")])
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
# Long for a reason: a command's options are its signature.
LONG_FUNCTIONS = {"search"}


TOP_LEVEL = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "README.zh-CN.md",
    "SECURITY.md",
    "bench",
    "cli",
    "completions",
    "constraints-run.txt",
    "constraints.txt",
    "docs",
    "man",
    "providers",
    "pyproject.toml",
    "tests",
    "tools",
}


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split("\n")
    return [name for name in listed if name]


def test_top_level_holds_nothing_unplanned() -> None:
    names = {name.split("/")[0] for name in tracked()}
    if names:  # an unpacked source distribution has no list
        assert names == TOP_LEVEL
    assert [path.name for path in (ROOT / "cli").iterdir() if path.is_dir()] == ["sleuth"]
    assert [path.name for path in (ROOT / "providers").iterdir() if path.is_dir()] == ["sleuth_providers"]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_module_says_what_it_is_for_and_stays_small(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree), "one line saying what it is for"
    assert text.count("\n") <= LONGEST_FILE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in LONG_FUNCTIONS:
            assert (node.end_lineno or 0) - node.lineno <= LONGEST_FUNCTION, node.name


def test_nothing_names_a_registry_or_a_machine() -> None:
    files = [ROOT / name for name in tracked()] or [path for path in ROOT.rglob("*.*") if ".venv" not in path.parts]
    forbidden = re.compile(
        r"py[p]i\.org|python[h]osted|npm[j]s\.(?:com|org)|deb\.deb[i]an|(?<![\w.])/(?:wor[k]|roo[t]|far[m])/"
    )
    guilty = []
    for path in files:
        try:
            guilty += [str(path)] if forbidden.search(path.read_text(encoding="utf-8")) else []
        except (UnicodeDecodeError, OSError):
            continue
    assert guilty == []


def test_every_exception_to_a_rule_has_its_reason() -> None:
    for path in SOURCES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"# (noqa|type: ignore)", line):
                assert re.search(r"# noqa: \w+ - \w|# type: ignore\[[\w-]+\]  # \w", line), f"{path.name}:{number}"
