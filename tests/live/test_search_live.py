"""`sleuth search` against a real SearXNG whose engines ask a page server of the test's own."""

import json
from typing import Any

import jsonschema
import pytest

from sleuth.serving.schemas import SEARCH_ANSWER

pytestmark = pytest.mark.live


def test_healthy_server_answers_in_the_published_schema(sleuth: Any, healthy_searxng: Any) -> None:
    done = sleuth.process("search", "-p", "searxng", "--json", "rust async", SEARXNG_URL=healthy_searxng.url)
    assert done.exit == 0, done.err
    answer = json.loads(done.out)
    jsonschema.validate(answer, SEARCH_ANSWER)
    assert answer["outcome"] == "success"
    assert answer["results"][0]["url"] == "https://docs.example.org/page/1"
    assert answer["results"][0]["engines"] == ["alpha", "beta"]
    assert answer["suggestions"] == ["rust async more"]


def test_engines_that_failed_are_named_beside_results(sleuth: Any, searxng_server: Any, page_server: str) -> None:
    fields = {"url_query": "url", "title_query": "title", "content_query": "summary", "results_query": "documents"}
    common = {"engine": "json_engine", "categories": ["general"], "enable_http": True} | fields
    engines = [
        common | {"name": "alpha", "shortcut": "al", "search_url": f"{page_server}/json?q={{query}}"},
        common | {"name": "broken", "shortcut": "br", "search_url": f"{page_server}/500?q={{query}}"},
    ]
    done = sleuth("search", "-p", "searxng", "--json", "rust", SEARXNG_URL=searxng_server({"engines": engines}))
    assert (done.exit, done.json["outcome"]) == (0, "success")
    assert done.json["attempts"][0]["engines"] == {"broken": "HTTP error"}


def test_json_disabled_says_which_lines_to_add(sleuth: Any, searxng_server: Any) -> None:
    done = sleuth("search", "-p", "searxng", "rust", SEARXNG_URL=searxng_server({"search": {"formats": ["html"]}}))
    assert done.exit == 1
    assert "does not allow JSON" in done.err
    assert "`- json` under `search: formats:`" in done.err
    assert "sleuth doctor" in done.err


def test_page_is_read_where_json_is_disabled_and_the_row_allows_it(sleuth: Any, searxng_server: Any) -> None:
    assert sleuth("providers", "set", "searxng", "--option", "html=on").exit == 0
    server = searxng_server({"search": {"formats": ["html"]}})
    done = sleuth("search", "-p", "searxng", "--json", "rust async", SEARXNG_URL=server)
    assert done.exit == 0, done.err
    first = done.json["results"][0]
    assert (first["url"], first["engines"]) == ("https://docs.example.org/page/1", ["alpha", "beta"])
    assert first["title"]
    assert first["snippet"]
    assert "json" in done.json["attempts"][0]["notApplied"]


def test_unknown_engine_is_named(sleuth: Any, healthy_searxng: Any) -> None:
    words = ("search", "-p", "searxng", "--engine", "nosuch", "--json", "rust")
    done = sleuth(*words, SEARXNG_URL=healthy_searxng.url)
    assert (done.exit, done.json["attempts"][0]["engines"]) == (0, {"nosuch": "unknown engine"})


def test_external_bang_sends_the_query_nowhere_else(sleuth: Any, healthy_searxng: Any) -> None:
    done = sleuth("search", "-p", "searxng", "!!g secret words", SEARXNG_URL=healthy_searxng.url)
    assert done.exit == 2
    assert "a bang with `!!` leads to another site" in done.err


def test_paging_freshness_and_language_are_accepted(sleuth: Any, healthy_searxng: Any) -> None:
    words = ("search", "-p", "searxng", "--json", "--lang", "zh-CN", "--safe", "strict", "大语言模型")
    done = sleuth(*words, SEARXNG_URL=healthy_searxng.url)
    assert done.exit == 0
    assert done.json["results"][0]["title"] == "大语言模型 - result 1"
