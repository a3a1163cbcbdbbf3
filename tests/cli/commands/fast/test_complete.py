"""Completions as the shells' scripts receive them; tests/live runs them in real shells."""

from pathlib import Path
from typing import Any

import pytest

from sleuth.commands.fast.complete import complete, split_line
from sleuth.commands.fast.parser import FLAGS
from sleuth.store.settings import TABLE


@pytest.fixture
def offers(tmp_path: Path) -> Any:
    """Complete words for zsh in a home without a database."""
    return lambda *words: complete(["zsh", "--", *words], {"SLEUTH_HOME": str(tmp_path)}).splitlines()


def test_every_option_and_setting_is_offered(offers: Any) -> None:
    assert set(FLAGS) <= {line.partition("\t")[0] for line in offers("search", "-")}
    assert [line.partition("\t")[0] for line in offers("config", "get", "")] == list(TABLE)


def test_help_and_bare_words_complete_like_the_command_they_stand_for(offers: Any) -> None:
    assert offers("help", "comp") == offers("comp")
    assert offers("help", "cache", "") == offers("cache", "")
    assert offers("rust", "--full") == offers("search", "rust", "--full")
    assert offers("watch", "rust", "--fe") == offers("watch", "run", "rust", "--fe") != []
    assert offers("watch", "--fe") == offers("watch", "run", "--fe")
    assert offers("watch", "li") == ["list\tList the saved searches."]
    assert offers("hel") == ["help\tShow the help of a command."]


def test_candidates_have_descriptions_except_in_bash(offers: Any) -> None:
    assert offers("comp") == ["completions\tPrint the completion script for a shell."]
    assert complete(["bash", "--", "sleuth comp", ""], {}) == "completions\n"


def test_built_in_providers_are_offered_without_a_database(offers: Any) -> None:
    assert offers("search", "-p", "tav") == ["tavily\tTavily"]


@pytest.mark.parametrize("content", [b"", b"not a database" * 100])
def test_built_in_providers_are_offered_if_the_database_is_damaged(offers: Any, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "sleuth.db").write_bytes(content)
    assert offers("search", "-p", "tav") == ["tavily\tTavily"]


def test_providers_of_the_user_are_offered(sleuth: Any) -> None:
    sleuth("providers", "add", "--id", "work-searxng", "--adapter", "searxng", "--api-host", "http://127.0.0.1:1")
    assert complete(["fish", "--", "search", "-p", "brave,work"], sleuth.environ).startswith("brave,work-searxng")


@pytest.mark.parametrize(
    ("line", "breaks", "answer"),
    [
        ("sleuth search --safe=mod", " =:", "moderate\n"),
        ("sleuth search --safe=mod", " ", "--safe=moderate\n"),
        ("sleuth search --output=re", " =", "@file\t\tre\n"),
        ("sleuth search --output=re", " ", "@file\t--output=\tre\n"),
        ("sleuth searxng init ", " ", "@folder\t\t\n"),
        ("sleuth search 'a b' --saf", " ", "--safe\n"),
    ],
)
def test_bash_gets_what_replaces_the_part_after_a_word_break(line: str, breaks: str, answer: str) -> None:
    assert complete(["bash", "--", line, breaks], {}) == answer


@pytest.mark.parametrize("arguments", [[], ["bash"], ["bash", "--"], ["zsh", "--"], ["csh", "--", "x", "y"]])
def test_incomplete_requests_are_answered(arguments: list[str]) -> None:
    assert isinstance(complete(arguments, {}), str)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sleuth search ", ["sleuth", "search", ""]),
        ('sleuth "a b" \'c"d\' e\\ f', ["sleuth", "a b", 'c"d', "e f"]),
        ("sleuth 'unfinished wo", ["sleuth", "unfinished wo"]),
        ("", [""]),
    ],
)
def test_lines_are_split_as_a_shell_splits_them(line: str, words: list[str]) -> None:
    assert split_line(line) == words
