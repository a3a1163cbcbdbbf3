"""The library answers a web search only if its pages match: your documents, and the handbook on its subjects."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT

from sleuth.library.fallback import answering
from sleuth.library.library import Library

QUERIES = (ROOT / "tests/fixtures/everyday_queries.txt").read_text("utf-8").splitlines()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    library = Library(str(tmp_path_factory.mktemp("library") / "library.db"))
    yield library
    library.close()


def test_no_everyday_query_is_answered_by_the_handbook(library: Library) -> None:
    assert len(set(QUERIES)) >= 1000
    found = {query: answering(query, library.search(query, 10, content=True)) for query in QUERIES}
    assert {query: [result.title for result in results] for query, results in found.items() if results} == {}


@pytest.mark.parametrize(
    "query",
    [
        "enable json in searxng",
        "searxng 403 forbidden",
        "sleuth exit codes",
        "在SearXNG里启用JSON",
        "cache.ttl_minutes",
    ],
)
def test_handbook_answers_questions_about_its_subjects(library: Library, query: str) -> None:
    assert answering(query, library.search(query, 10, content=True))


@pytest.fixture
def offline(sleuth: Any) -> Any:
    """A home whose only provider is a server that does not exist."""
    sleuth.environ["SLEUTH_WEBSEARCH_FALLBACK"] = "searxng,library"
    return sleuth


def test_search_without_network_fails_with_a_hint(offline: Any) -> None:
    done = offline("search", "best pizza in rome")
    assert (done.exit, done.out) == (6, "")
    assert "error: SearXNG cannot be reached" in done.err
    assert "hint: " in done.err


def test_timeout_for_requests_does_not_apply_to_the_library(sleuth: Any) -> None:
    done = sleuth("search", "-p", "library", "--timeout", "0.1", "-f", "urls", "searxng json")
    assert done.exit == 0, done.err
    assert "searxng.md" in done.out


def test_own_documents_answer_when_most_words_match(offline: Any, tmp_path: Path) -> None:
    note = tmp_path / "pizza.md"
    note.write_text("# Pizza in Rome\n\nThe best place is near the river.", "utf-8")
    offline("library", "add", str(note))
    done = offline("search", "--json", "best pizza in rome")
    assert [result["title"] for result in done.json["results"]] == ["Pizza in Rome"]
    assert done.json["results"][0]["content"] == done.json["results"][0]["snippet"]
    assert "used Library (documents on this machine, not the web) instead" in done.err
    assert offline("search", "best sushi in tokyo").exit == 6


def test_only_the_search_command_falls_back_to_the_library(offline: Any) -> None:
    from sleuth.api import Client
    from sleuth.base.errors import SearchError

    with Client(environ=offline.environ) as client, pytest.raises(SearchError):
        client.search("enable json in searxng")
    done = offline("ask", "--json", "how do i enable json in searxng?")
    assert "handbook" not in done.out


def test_offline_search_is_answered_by_pages_that_match(offline: Any, tmp_path: Path) -> None:
    note = tmp_path / "pizza.md"
    note.write_text("# Pizza in Rome\n\nThe best place is near the river.", "utf-8")
    offline("library", "add", str(note))
    done = offline("search", "--offline", "--json", "best pizza in rome")
    assert [result["title"] for result in done.json["results"]] == ["Pizza in Rome"]
    assert done.err == "note: used Library (documents on this machine, not the web)\n"
    for command in ("search", "ask"):
        done = offline(command, "--offline", "what is the capital of australia")
        assert (done.exit, done.out) == (1, "")
        assert "offline, and not in the cache" in done.err
