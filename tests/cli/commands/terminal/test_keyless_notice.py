"""The first search with the default chain names its services, once and only on a terminal."""

import io
from typing import Any

import pytest
from tests.conftest import Terminal

from sleuth.commands.terminal.keyless_notice import show_once
from sleuth.runtime import Runtime
from sleuth_providers.base import Query

QUERY = Query("rust")


@pytest.fixture
def said(sleuth: Any) -> Any:
    """Return what is printed before a search."""

    def search(
        providers: tuple[str, ...] = (),
        query: Query = QUERY,
        *,
        pipe: bool = False,
        offline: bool = False,
        **environ: str,
    ) -> str:
        err = io.StringIO() if pipe else Terminal()
        runtime = Runtime(sleuth.environ | {"SLEUTH_WEBSEARCH_KEYLESS": "true"} | environ, stderr=err)
        runtime.quiet = "QUIET" in environ
        show_once(runtime, providers, query, offline=offline)
        runtime.close()
        return err.getvalue()

    return search


def test_services_are_named_once(said: Any) -> None:
    text = said(SEARXNG_URL="").replace("\n", " ")
    assert "no default provider is set" in text
    assert "DuckDuckGo, Keenable" in text
    assert "SearXNG" not in text
    assert "sleuth providers use ID" in text
    assert "websearch.keyless false" in text
    assert said() == ""


def test_nothing_is_said_where_it_does_not_apply(said: Any) -> None:
    assert said(pipe=True) == ""
    assert said(offline=True) == ""
    assert said(QUIET="1") == ""
    assert said(("brave",)) == ""
    assert said(SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="brave") == ""
    assert said(SLEUTH_WEBSEARCH_FALLBACK="duckduckgo") == ""
    assert said(SLEUTH_WEBSEARCH_KEYLESS="false") == ""
    assert "DuckDuckGo" in said(("auto",), SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="brave")


def test_own_server_is_named_first(said: Any) -> None:
    text = said(SEARXNG_URL="http://127.0.0.1:9").replace("\n", " ")
    assert "queries go to SearXNG; if it fails" in text
    assert "DuckDuckGo" in text


@pytest.mark.parametrize(
    ("query", "service"), [(Query("rust", category="science"), "OpenAlex"), (Query("人口"), "Baidu")]
)
def test_services_are_those_of_the_category_and_language(said: Any, query: Query, service: str) -> None:
    text = " ".join(said(query=query, SEARXNG_URL="").split())
    assert service in text.partition("answers: ")[2].partition(",")[0]
