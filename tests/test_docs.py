"""The docs are true: links lead somewhere, commands and options exist, examples run."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tools import command_tree
from typer.main import get_command

from sleuth.commands.app import app

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
TREE = command_tree.read(get_command(app))


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        file, _, place = target.partition("#")
        other = (page.parent / file) if file else page
        assert other.exists(), target
        assert not place or place in anchors(other), target


def commands(page: Path) -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def words_of(line: str) -> list[list[str]]:
    """Return the sleuth command lines in a shell line, each as its words."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&<>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    found: list[list[str]] = []
    current: list[str] = []
    for word in [*lexer, "|"]:
        if set(word) <= set("|;&<>"):
            if current and current[0] == "sleuth":
                found.append(current[1:])
            current = []
        else:
            current.append(word)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_and_options_in_examples_exist(page: Path) -> None:
    for line in commands(page):
        for words in words_of(line):
            check(words, line)


def check(words: list[str], line: str) -> None:
    command = TREE.root
    flags = {flag for option in command.options for flag in (*option.flags, *option.negative)}
    for word in words:
        inner = {child.name: child for child in command.commands}
        if word in inner and not word.startswith("-"):
            command = inner[word]
            flags |= {flag for option in command.options for flag in (*option.flags, *option.negative)}
        elif word.startswith("-") and word not in ("-", "--"):
            assert word.partition("=")[0] in flags, f"{word} in: {line}"
        elif command is TREE.root and not word.startswith("-"):
            raise AssertionError(f"no such command: {line}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_data_in_examples_can_be_read(page: Path) -> None:
    for kind, text in re.findall(r"```(json|toml)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        json.loads(text) if kind == "json" else tomllib.loads(text)


def test_every_setting_is_in_the_handbook() -> None:
    from sleuth.store.settings import TABLE

    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [key for key in TABLE if f"`{key}`" not in text] == []


def test_every_provider_is_in_the_handbook() -> None:
    from sleuth_providers import registry

    text = (ROOT / "docs" / "providers.md").read_text(encoding="utf-8")
    assert [name for name in registry.names() if f"`{name}`" not in text] == []


def test_exit_codes_are_documented_alike() -> None:
    from sleuth.base.errors import Exit

    for page in ("README.md", "docs/exit-codes.md", "man/sleuth.1"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert [code for code in Exit if not re.search(rf"\b{code.value}\b", text)] == [], page


def test_quick_start_really_answers(sleuth: Any) -> None:
    done = sleuth("search", "--offline", "-n", "1", "--json", "searxng 403")
    assert "403" in done.json["results"][0]["title"]
