"""The first search with the default chain names its services, once and only on a terminal."""

import io
from typing import Any

import pytest
from tests.conftest import Terminal

from sleuth.commands.terminal.keyless_notice import show_once
from sleuth.runtime import Runtime


@pytest.fixture
def said(sleuth: Any) -> Any:
    """Return what is printed before a search."""

    def search(providers: tuple[str, ...] = (), *, pipe: bool = False, offline: bool = False, **environ: str) -> str:
        err = io.StringIO() if pipe else Terminal()
        runtime = Runtime(sleuth.environ | {"SLEUTH_WEBSEARCH_KEYLESS": "true"} | environ, stderr=err)
        runtime.quiet = "QUIET" in environ
        show_once(runtime, providers, offline=offline)
        runtime.close()
        return err.getvalue()

    return search


def test_services_are_named_once(said: Any) -> None:
    text = said().replace("\n", " ")
    assert "DuckDuckGo, Keenable" in text
    assert "SearXNG" not in text  # the user's own
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
