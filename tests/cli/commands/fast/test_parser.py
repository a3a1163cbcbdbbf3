"""The front desk and Typer read any command line alike; what the desk is not sure about it hands on."""

import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from sleuth.commands.app import app
from sleuth.commands.fast.generated.search import FLAGS
from sleuth.commands.fast.parser import help_text, parse
from sleuth.engine.options import SearchOptions

COMMAND: Any = get_command(app).get_command(None, "search")  # type: ignore[attr-defined]
PLAIN = st.one_of(
    st.sampled_from(
        ["rust", "async", "日本語", "a b", "", "-", "--", "x=y", "1", "0", "51", "2.5", "nan", "1_0", "٣", " 5", "day"]
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


def by_typer(words: list[str]) -> dict[str, Any] | None:
    """Return what Typer makes of the words; None for an error or a request for help."""
    try:
        context = COMMAND.make_context("search", list(words))
    except Exception:
        return None
    return dict(context.params)


@settings(max_examples=600, deadline=None)
@given(st.lists(WORD, max_size=7))
def test_desk_and_typer_read_alike(words: list[str]) -> None:
    at_the_desk = parse(words)
    if at_the_desk is None:
        return
    by_the_book = by_typer(words)
    assert by_the_book is not None, "the desk must not accept what Typer refuses"
    assert SearchOptions(**at_the_desk) == SearchOptions(**by_the_book)


@pytest.mark.parametrize(
    "line",
    [
        "rust async runtimes",
        "-p searxng,brave -n 5 --json rust",
        "--format=json --freshness month --site a.org --site b.org -q one -q two",
        "--no-cache --timeout 2.5 --no-time x",
        "-- --json",
        "--template {rank}",
    ],
)
def test_desk_answers_plain_lines(line: str) -> None:
    values = parse(line.split())
    assert values is not None
    assert SearchOptions(**values) == SearchOptions(**(by_typer(line.split()) or {}))


@pytest.mark.parametrize("line", ["--count 51 x", "--count x", "--nosuch x", "--format xml x", "-p", "--json=1", "-h"])
def test_desk_hands_on_what_it_is_not_sure_of(line: str) -> None:
    assert parse(line.split()) is None


def test_options_and_wishes_are_the_same() -> None:
    assert SearchOptions(**(by_typer([]) or {})) == SearchOptions()
    assert set(by_typer([]) or {}) == set(SearchOptions._fields)


@pytest.mark.parametrize("words", [["--help"], ["search", "-h"], ["providers", "set", "--help"]])
def test_help_is_what_typer_says(sleuth: Any, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert help_text(words) == sleuth.process("--debug", *words, COLUMNS="80").out


def test_help_for_a_narrow_terminal_comes_from_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert help_text(["--help"]) is None
    monkeypatch.setenv("COLUMNS", "120")
    for words in (["../../etc", "--help"], ["nosuch", "--help"], ["search", "x", "--help"], ["--json", "--help"]):
        assert help_text(words) is None
    assert io.StringIO(help_text([]) or "").readline().startswith("Usage: sleuth")
