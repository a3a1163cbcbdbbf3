"""`sleuth providers compare`: who finds what, how fast, and at what cost."""

from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer


@pytest.fixture
def servers(sleuth: Any, httpserver: HTTPServer) -> HTTPServer:
    """Serve two SearXNG servers, `one` and `two`, which share one of their results."""
    for name, pages in (("one", ("a", "b", "c")), ("two", ("www.c", "d"))):
        results = [{"title": page, "url": f"https://{page}.example/", "content": "x"} for page in pages]
        httpserver.expect_request(f"/{name}/search").respond_with_json({"query": "q", "results": results})
        url = httpserver.url_for(f"/{name}")
        assert sleuth("providers", "add", name, "--adapter", "searxng", "--url", url).exit == 0
    return httpserver


def test_overlap_and_unique_finds_are_counted(sleuth: Any, servers: HTTPServer) -> None:
    done = sleuth("providers", "compare", "-p", "one,two", "--json", "walrus", "oyster")
    assert done.exit == 0, done.err
    found = done.json
    assert found["queries"] == ["walrus", "oyster"]
    counts = {one["id"]: (one["results"], one["unique"], one["answered"]) for one in found["providers"]}
    assert counts == {"one": (6, 4, 2), "two": (4, 2, 2)}
    assert found["overlap"] == [{"providers": ["one", "two"], "shared": 2, "of": 4}]
    shared = [page for page in found["pages"] if len(page["ranks"]) == 2]
    assert shared[0]["ranks"] == {"one": 3, "two": 1}
    assert len(servers.log) == 4


def test_only_the_first_results_count(sleuth: Any, servers: HTTPServer) -> None:
    found = sleuth("providers", "compare", "-p", "one,two", "-n", "2", "--json", "walrus").json
    assert [one["results"] for one in found["providers"]] == [2, 2]
    assert found["overlap"][0]["shared"] == 0


def test_recording_is_compared_without_a_request(sleuth: Any, servers: HTTPServer, tmp_path: Path) -> None:
    recording = str(tmp_path / "r.json")
    assert sleuth("search", "--record", recording, "-p", "one,two", "walrus").exit == 0
    requests = len(servers.log)
    found = sleuth("providers", "compare", "--replay", recording, "--json").json
    assert found["queries"] == ["walrus"]
    assert [(one["id"], one["results"], one["meanMs"]) for one in found["providers"]] == [
        ("one", 3, None),
        ("two", 2, None),
    ]
    assert len(servers.log) == requests


def test_recorded_date_is_not_part_of_the_question(sleuth: Any, servers: HTTPServer, tmp_path: Path) -> None:
    """Providers that read natural language get today's date after the words."""
    found = [{"title": "c", "url": "https://c.example/", "content": "x"}]
    servers.expect_request("/tavily/search").respond_with_json({"results": found})
    sleuth("providers", "set", "tavily", "--api-host", servers.url_for("/tavily"))
    recording, words = str(tmp_path / "r.json"), ("-p", "one,tavily", "walrus")
    assert sleuth("search", "--record", recording, "--with-time", *words).exit == 0
    assert "walrus (today is" in servers.log[-1][0].get_data(as_text=True) + servers.log[-2][0].get_data(as_text=True)
    found = sleuth("providers", "compare", "--replay", recording, "--json").json
    assert found["queries"] == ["walrus"]
    assert [(one["id"], one["results"], one["failed"]) for one in found["providers"]] == [
        ("one", 3, 0),
        ("tavily", 1, 0),
    ]
    assert found["overlap"][0]["shared"] == 1
    assert sleuth("search", "--replay", recording, "--no-time", "--json", *words).json["outcome"] == "success"


@pytest.mark.parametrize("columns", [80, 40])
def test_table_fits_the_terminal(
    sleuth: Any, servers: HTTPServer, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    words = ("--color", "never", "providers", "compare", "-p", "one,two", "walrus")
    lines = sleuth(*words, terminal=True).out.splitlines()
    assert lines[0] == "1 query: walrus"
    assert lines[2].split() == ["provider", "results", "unique", "mean", "cost"]
    assert lines[3].split()[:3] == ["one", "3", "2"]
    assert max(map(len, lines)) <= columns
    assert [line for line in lines if line != line.rstrip()] == []


def test_failure_of_one_provider_is_part_of_the_comparison(sleuth: Any, servers: HTTPServer) -> None:
    sleuth("providers", "add", "gone", "--adapter", "searxng", "--url", "http://127.0.0.1:1")
    done = sleuth("providers", "compare", "-p", "one,gone", "--json", "walrus")
    assert done.exit == 0
    one, gone = done.json["providers"]
    assert (one["failed"], gone["failed"]) == (0, 1)
    assert "gone" in gone["error"]
    assert sleuth("providers", "compare", "-p", "gone,missing", "walrus").exit == 3
    assert sleuth("providers", "compare", "-p", "one", "walrus").exit == 2
    assert sleuth("providers", "compare", "-p", "one,two").exit == 2
