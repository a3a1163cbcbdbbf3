"""The command line is parsed once; the fast parser and Typer read any search alike."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from sleuth.commands.app import app
from sleuth.commands.fast.help import FOLDER, help_text
from sleuth.commands.fast.parser import FLAGS, CommandLine, parse_search
from sleuth.commands.terminal.typer_app import BRIEF_OPTIONS
from sleuth.engine.search_options import OPTIONS, SearchOptions

COMMAND: Any = get_command(app).get_command(None, "search")  # type: ignore[attr-defined]  # a group
PLAIN = st.one_of(
    st.sampled_from(
        [
            *("rust", "async", "日本語", "a b", "", "-", "--", "x=y", "1", "0", "51", "2.5", "nan", "1_0", "٣", " 5"),
            *("day", "->", "-1", "-->", "-é"),
        ]
    ),
    st.text(max_size=6),
)
FLAG = st.sampled_from([*FLAGS, "--nosuch", "-z", "-nx", "-ij", "-pbrave", "--coun"])
WORD = st.one_of(
    PLAIN,
    FLAG,
    st.tuples(FLAG, PLAIN).map("=".join),
    st.sampled_from(["json", "rich", "off", "strict", "news", "rag", "token", "3", "10", "brave", "auto"]),
)


def typer_values(words: list[str]) -> dict[str, Any] | None:
    """Return what Typer parses; None for an error or a request for help."""
    try:
        context = COMMAND.make_context("search", list(words))
    except Exception:
        return None
    return dict(context.params)


@settings(max_examples=600, deadline=None)
@given(st.lists(WORD, max_size=7))
def test_fast_parser_agrees_with_typer(words: list[str]) -> None:
    values = parse_search(words)
    if values is None:
        return
    expected = typer_values(words)
    assert expected is not None, "the fast parser must not accept what Typer rejects"
    assert SearchOptions(**values) == SearchOptions(**expected)


@pytest.mark.parametrize(
    "line",
    [
        "rust async runtimes",
        "-p searxng,brave -n 5 --json rust",
        "--format=json --freshness month --site a.org --site b.org -q one -q two",
        "--no-cache --timeout 2.5 --no-time x",
        "-- --json",
        "--template {rank}",
        "a -> b -n 3 -1",
    ],
)
def test_fast_parser_accepts_plain_lines(line: str) -> None:
    values = parse_search(line.split())
    assert values is not None
    assert SearchOptions(**values) == SearchOptions(**(typer_values(line.split()) or {}))


@pytest.mark.parametrize("line", ["--count 51 x", "--count x", "--nosuch x", "--format xml x", "-p", "--json=1", "-h"])
def test_fast_parser_leaves_errors_and_help_to_typer(line: str) -> None:
    assert parse_search(line.split()) is None


def test_global_flags_are_taken_from_anywhere_before_two_dashes() -> None:
    line = CommandLine(["--color", "never", "search", "--debug", "x", "--color=always", "--", "--debug", "--json"])
    assert line.global_flags == ["--color", "never", "--debug", "--color=always"]
    assert line.words == ["search", "x", "--", "--debug", "--json"]
    assert (line.has("--debug"), line.wants_json) == (True, False)


@pytest.mark.parametrize("line", ["search -- --debug", "search x -- --color=never --debug", "history -- --debug"])
def test_flags_after_two_dashes_are_words(line: str) -> None:
    parsed = CommandLine(line.split())
    assert parsed.global_flags == []


def test_debug_as_a_search_word_prints_no_traceback(sleuth: Any) -> None:
    assert "Traceback" not in sleuth("search", "-p", "nosuch", "x", "--", "--debug").err
    assert "Traceback" in sleuth("search", "-p", "nosuch", "x", "--debug").err


@pytest.mark.parametrize("line", ["search --json x", "ask -f json", "config show --format json", "x --format=json"])
def test_json_is_recognised_on_any_command(line: str) -> None:
    assert CommandLine(line.split()).wants_json
    assert not CommandLine(["--", *line.split()]).wants_json


@pytest.mark.parametrize("words", [["--help"], ["search", "-h"], ["search", "--help"], ["providers", "set", "--help"]])
def test_generated_help_is_the_help_of_typer(sleuth: Any, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert help_text(words) == sleuth.process("--debug", *words, COLUMNS="80").out


def test_help_for_a_narrow_terminal_comes_from_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert help_text(["--help"]) is None
    monkeypatch.setenv("COLUMNS", "120")
    for words in (["../../etc", "--help"], ["nosuch", "--help"], ["search", "x", "--help"], ["--json", "--help"]):
        assert help_text(words) is None
    assert io.StringIO(help_text([]) or "").readline().startswith("Usage: sleuth")


def test_help_of_search_has_groups() -> None:
    lines = (help_text(["search", "--help"]) or "").splitlines()
    groups = [line for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert groups == [
        "Examples:",
        "Arguments:",
        "Query:",
        "Providers:",
        "Results:",
        "Page text:",
        "Output:",
        "Cache and network:",
        "Batch:",
        "Options:",
    ]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rust async", "search rust async"),
        ("-n 3 rust", "search -n 3 rust"),
        ("--json x", "search --json x"),
        ("x -f md", "search x -f markdown"),
        ("search --format=url x", "search --format=urls x"),
        ("md -f", "search md -f"),
        ("-- --json", "search -- --json"),
        ("-> x", "search -> x"),
        ("cache stats", "cache stats"),
        ("--nosuch", "--nosuch"),
    ],
)
def test_words_without_a_command_are_a_search(line: str, words: str) -> None:
    assert CommandLine(line.split()).words == words.split()


def test_brief_help_shows_common_options_and_says_so() -> None:
    brief, full = help_text(["search", "-h"]) or "", help_text(["search", "--help"]) or ""
    assert brief.count("\n  -") < 13 < full.count("\n  -")
    assert brief.index("Examples:") < brief.index("Options:")
    assert "All options: sleuth search --help" in brief
    assert help_text(["cache", "-h"]) == help_text(["cache", "--help"])
    assert {*BRIEF_OPTIONS["sleuth search"]} <= {*OPTIONS, "help"}


def test_help_leaks_no_notation_of_the_framework() -> None:
    texts = "".join(path.read_text("utf-8") for path in Path(FOLDER, "en").glob("*.txt"))
    assert not re.search(r"\{ID\}|range>|<=x|10000000|[a-z]\.\.\.$", texts, re.MULTILINE)
