"""The documentation is true: links resolve, commands and options exist, examples parse, lists are complete."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pytest_httpserver import HTTPServer
from tools import command_tree
from typer.main import get_command

from sleuth.base.errors import EXITS, Exit
from sleuth.commands.app import app

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "docs").glob("*.md"))
PAGES = sorted([*ROOT.glob("*.md"), *CHAPTERS])
TREE = command_tree.read(get_command(app))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
# Chapters whose sections still start with "This section …".

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def read(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"```.*?```", "", read(page), flags=re.DOTALL)


def code_blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", read(page), re.DOTALL)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_resolve(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        other = (page.parent / file) if file else page
        assert other.exists(), target
        assert not anchor or anchor in anchors(other), target


def shell_lines(page: Path) -> list[str]:
    """Return the commands in a page's console examples."""
    lines = [line for block in code_blocks(page, "console") for line in block.splitlines()]
    return [line[2:] for line in lines if line.startswith("$ ")]


def sleuth_commands(line: str) -> list[list[str]]:
    """Return the arguments of each sleuth command in a shell line."""
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


@every_page
def test_commands_and_options_in_examples_exist(page: Path) -> None:
    for line in shell_lines(page):
        for arguments in sleuth_commands(line):
            check_arguments(arguments, line)


def check_arguments(arguments: list[str], line: str) -> None:
    command = TREE.root
    flags = {flag for option in command.options for flag in (*option.flags, *option.negative)}
    for word in arguments:
        subcommands = {child.name: child for child in command.commands}
        if command.name == "watch" and word not in subcommands:  # `run` may be left out
            command = subcommands["run"]
            flags |= {flag for option in command.options for flag in (*option.flags, *option.negative)}
        if word in subcommands and not word.startswith("-"):
            command = subcommands[word]
            flags |= {flag for option in command.options for flag in (*option.flags, *option.negative)}
        elif word.startswith("-") and word not in ("-", "--"):
            assert word.partition("=")[0] in flags, f"{word} in: {line}"
        elif command is TREE.root and not word.startswith("-"):  # `search` may be left out
            assert not get_close_matches(word, subcommands, 1, 0.75), f"no such command: {line}"
            command = subcommands["search"]
            flags |= {flag for option in command.options for flag in (*option.flags, *option.negative)}


@every_page
def test_make_targets_and_optional_parts_in_examples_exist(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):.*## ", read("Makefile"), re.MULTILINE))
    parts = PROJECT["project"]["optional-dependencies"]
    for line in shell_lines(page):
        if found := re.match(r"make (\w+)", line):
            assert found[1] in targets, line
        if found := re.search(r"(?:\.|sleuth)\[([\w,]+)\]", line):
            assert [part for part in found[1].split(",") if part not in parts] == [], line


@every_page
def test_json_and_toml_examples_parse(page: Path) -> None:
    for text in code_blocks(page, "json"):
        json.loads(text)
    for text in code_blocks(page, "toml"):
        tomllib.loads(text)


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.name)
def test_sections_start_with_a_fact(page: Path) -> None:
    announcements = re.findall(r"^This (?:section|chapter|table|page|list) \w+ .*", prose(page), re.MULTILINE)
    assert announcements == []


@pytest.mark.parametrize("page", CHAPTERS, ids=lambda page: page.name)
def test_chapters_are_plain_markdown_for_the_library(page: Path) -> None:
    assert re.findall(r"^(?:!!!|\?\?\?|===|:::).*|\{[:#.][^}]*\}", prose(page), re.MULTILINE) == []


def test_library_indexes_chapters_and_not_the_pictures() -> None:
    from sleuth.library.handbook import chapters

    files = {document.url.partition("#")[0] for document in chapters(str(ROOT / "docs"))}
    assert files == {page.as_uri() for page in CHAPTERS}


def test_handbook_names_every_setting() -> None:
    from sleuth.store.settings import TABLE

    assert [key for key in TABLE if f"`{key}`" not in read("docs/settings.md")] == []


def test_handbook_names_every_provider() -> None:
    from sleuth_providers import registry

    names = {*registry.names(), "library"}  # sleuth itself adds the library
    assert [name for name in sorted(names) if f"`{name}`" not in read("docs/providers.md")] == []
    assert f"**One search command for {len(names)} providers.**" in read("README.md")
    assert f"{len(names)} 个搜索源" in read("README.zh-CN.md")


def test_handbook_names_every_optional_part() -> None:
    text = read("docs/getting-started.md")
    assert [part for part in PROJECT["project"]["optional-dependencies"] if f"| `{part}` |" not in text] == []


def test_handbook_lists_every_chapter() -> None:
    listed = set(re.findall(r"\]\((\S+\.md)\)", read("docs/index.md")))
    assert listed == {page.name for page in CHAPTERS} - {"index.md"}


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md", "docs/exit-codes.md", "man/sleuth.1"])
def test_every_exit_code_is_documented(page: str) -> None:
    from sleuth.base.errors import Exit

    assert [code for code in Exit if not re.search(rf"\b{code.value}\b", read(page))] == []


def test_chinese_readme_is_complete() -> None:
    english, chinese = read("README.md"), read("README.zh-CN.md").replace("-zh.svg", ".svg")
    for pattern in (r"\]\(((?!README)[^)\s]+)\)", r"^\| (`sleuth .*?`) \|", r"^```(\w+)", r"^\| (\d+) \|"):
        expected = sorted(set(re.findall(pattern, english, re.MULTILINE)))
        assert expected
        assert sorted(set(re.findall(pattern, chinese, re.MULTILINE))) == expected
    assert len(re.findall("^## ", chinese, re.MULTILINE)) == len(re.findall("^## ", english, re.MULTILINE))


def test_quick_start_finds_something(sleuth: Any) -> None:
    done = sleuth("search", "--offline", "-n", "1", "--json", "searxng 403")
    assert "403" in done.json["results"][0]["title"]


def contract() -> list[set[str]]:
    """Return the layers of the import-linter contract, from the top down."""
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    layers = next(one["layers"] for one in contracts if one["type"] == "layers")
    return [{name.strip().removeprefix("sleuth.") for name in layer.split(":")} for layer in layers]


def test_architecture_diagram_is_the_import_contract() -> None:
    (diagram,) = code_blocks(ROOT / "docs" / "architecture.md", "mermaid")
    labels = dict(re.findall(r'^ *(\w+)\["(\w+) ·', diagram, re.MULTILINE))
    arrows = re.findall(r"^ *([\w& ]+) --> ([\w& ]+)$", diagram, re.MULTILINE)
    layers = [{labels[node] for node in side.split(" & ")} for side in [arrows[0][0], *(low for _, low in arrows)]]
    assert layers == contract()
    assert [low for _, low in arrows[:-1]] == [high for high, _ in arrows[1:]], "the arrows form one chain"


def test_import_contract_names_everything_in_the_package() -> None:
    entries = {path.stem for path in (ROOT / "cli" / "sleuth").iterdir() if path.suffix in ("", ".py")}
    assert set.union(*contract()) == (entries - {"__init__", "__pycache__"}) | {"sleuth_providers"}


def test_contributing_shows_the_import_contract() -> None:
    chain = next(text for text in code_blocks(ROOT / "CONTRIBUTING.md", "text") if text.startswith("__main__"))
    assert [set(re.findall(r"\w+", layer)) for layer in chain.split("→")] == contract()


def test_paths_in_the_architecture_chapter_exist() -> None:
    paths = re.findall(r"`((?:cli|providers|tests|tools|bench)/[^`]*)`", read("docs/architecture.md"))
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_website_builds_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env={"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    for page in CHAPTERS:
        html = (tmp_path / f"{page.stem}.html").read_text(encoding="utf-8")
        assert re.findall(r"<(?:script|link|img|iframe)\b[^>]*(?:src|href)=\"?(?:https?:)?//", html) == []


def json_examples(page: str) -> list[Any]:
    return [json.loads(text) for text in code_blocks(ROOT / "docs" / page, "json")]


@pytest.mark.parametrize(("first_field", "options"), [("query", ()), ("question", ("--tool", "ask"))])
def test_json_examples_match_the_published_schemas(sleuth: Any, first_field: str, options: tuple[str, ...]) -> None:
    schema = sleuth("tool-schema", "--style", "json-schema", *options).json
    (example,) = [example for example in json_examples("json-output.md") if next(iter(example)) == first_field]
    jsonschema.validate(example, schema)


def test_errors_in_examples_are_the_real_ones(make_sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/html/").respond_with_data("<html>", 202)
    text, document = (make_sleuth(name) for name in ("text", "json"))
    for sleuth in (text, document):
        assert sleuth("providers", "set", "duckduckgo", "--api-host", httpserver.url_for("")).exit == 0
    shown = text("search", "-p", "duckduckgo", "rust").err
    assert shown in code_blocks(ROOT / "docs" / "getting-started.md", "text")
    error = json.loads(document("search", "-p", "duckduckgo", "--json", "rust").err)
    assert error in json_examples("json-output.md")


def test_every_error_code_is_documented() -> None:
    files = [path for folder in ("cli", "providers") for path in (ROOT / folder).rglob("*.py")]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in files if "adapters" not in path.parts)
    used = set(re.findall(r'\bcode(?:: [\w\[\]]+)? ?= ?"([A-Z_]+)"(?=[,)\n])', sources))
    table, http = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("json-output.md", "http.md"))
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \|.*\| (\d+) \|$", table, re.MULTILINE)
    exits = {code: int(exit) for codes, exit in rows for code in re.findall(r"[A-Z_]+", codes)}
    only_in_python = {"UNKNOWN_TOOL"}  # of `sleuth.tools`
    assert used - exits.keys() - set(re.findall(r"`([A-Z_]+)`", http)) == only_in_python
    assert exits.keys() <= used
    assert exits == {code: EXITS.get(code, Exit.FAILED) for code in exits}


def test_invalid_query_in_a_batch_is_shown_as_it_is_written(sleuth: Any) -> None:
    done = sleuth("search", "--offline", "--batch", "-", stdin="\a\n")
    assert json.loads(done.out) in json_examples("scripting.md")
