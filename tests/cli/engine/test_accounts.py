"""Accounts of providers: keys take turns, and keys, cool-downs and contact belong to one host."""

import re
from contextlib import closing
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth.runtime import Runtime

KEY = "tvly-0123456789abcdef"
ANSWER = {"results": [{"title": "A", "url": "https://a.example/"}]}


@pytest.mark.parametrize("limit", ["0", "100"])
def test_several_keys_rotate(sleuth: Any, httpserver: HTTPServer, limit: str) -> None:
    httpserver.expect_request("/res/v1/web/search").respond_with_json({"web": {"results": []}})
    sleuth("providers", "set", "brave", "--api-key", "-", "--api-host", httpserver.url_for(""), stdin="one,two\n")
    sleuth("providers", "set", "brave", "--option", f"per_minute={limit}")
    for word in ("a", "b", "c"):
        assert sleuth("search", "-p", "brave", word).exit == 0
    assert [request.headers["X-Subscription-Token"] for request, _ in httpserver.log] == ["one", "two", "one"]
    httpserver.log.clear()
    assert sleuth("search", "-p", "brave", "-q", "d", "-q", "e").exit == 0
    assert {request.headers["X-Subscription-Token"] for request, _ in httpserver.log} == {"one", "two"}


def test_rejected_key_is_followed_by_the_next(sleuth: Any, httpserver: HTTPServer) -> None:
    bad = {"X-Subscription-Token": "one"}
    httpserver.expect_request("/res/v1/web/search", headers=bad).respond_with_json({}, 401)
    hit = {"title": "A", "url": "https://a.example/", "description": "x"}
    httpserver.expect_request("/res/v1/web/search").respond_with_json({"web": {"results": [hit]}})
    sleuth("providers", "set", "brave", "--api-key", "-", "--api-host", httpserver.url_for(""), stdin="one,two\n")
    assert sleuth("search", "-p", "brave", "--json", "a").json["attempts"][0]["state"] == "ok"
    assert sleuth("search", "-p", "brave", "--json", "b").json["attempts"][0]["state"] == "ok"
    assert [r.headers["X-Subscription-Token"] for r, _ in httpserver.log] == ["one", "two", "two"], "one rests"


def test_cooldown_of_a_host_does_not_hold_for_another(sleuth: Any, httpserver: HTTPServer) -> None:
    for path in ("/right/search", "/other/search"):
        httpserver.expect_request(path).respond_with_json(ANSWER)
    httpserver.expect_request("/wrong/search").respond_with_data("slow down", 429)
    sleuth("providers", "add", "other", "--adapter", "searxng", "--api-host", httpserver.url_for("/other"))
    sleuth.environ |= {"SLEUTH_WEBSEARCH_FALLBACK": "searxng,other", "SLEUTH_WEBSEARCH_RETRIES": "1"}

    def states(path: str) -> list[str]:
        done = sleuth("search", "--json", "--no-cache", "x", SEARXNG_URL=httpserver.url_for(path))
        return [attempt["state"] for attempt in done.json["attempts"]]

    assert [states("/wrong"), states("/wrong"), states("/right")] == [
        ["rate_limited", "ok"],
        ["cooldown", "ok"],
        ["ok"],
    ]
    assert states("/wrong") == ["cooldown", "ok"]
    sleuth("providers", "set", "searxng", "--engines", "bing")
    assert states("/wrong") == ["rate_limited", "ok"]


def test_host_that_must_be_public_is_not_reached_at_a_private_address(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request(re.compile(".*")).respond_with_data("{}", status=500)
    host = {"api_host": httpserver.url_for(""), "api_key": KEY}
    with closing(Runtime(sleuth.environ)) as runtime:  # as `sleuth serve` does
        runtime.table.update("tavily", host, public_only=True)
    refused = sleuth("search", "-p", "tavily", "x")
    assert (refused.exit, "cannot be set over HTTP" in refused.err) == (1, True)
    assert httpserver.log == []
    sleuth("providers", "set", "tavily", "--api-host", httpserver.url_for(""))
    sleuth("search", "-p", "tavily", "x")
    assert len(httpserver.log) > 0


def test_key_with_control_characters_is_refused(sleuth: Any) -> None:
    assert sleuth("providers", "set", "exa", "--api-key", "-", stdin="exa-\x1b[31mkey").exit == 2
    result = sleuth("search", "-p", "exa", "x", EXA_API_KEY="exa-\x1b[31mkey")
    assert (result.exit, "control characters" in result.err) == (2, True)


def test_key_on_the_command_line_is_a_warning(sleuth: Any) -> None:
    assert "history" in sleuth("providers", "set", "brave", "--api-key", KEY).err
    assert "history" not in sleuth("providers", "set", "brave", "--api-key", "env:MINE").err


def test_contact_goes_only_to_services_that_ask_for_it(sleuth: Any) -> None:
    with closing(Runtime(sleuth.environ | {"SLEUTH_WEBSEARCH_CONTACT": "me@example.org"})) as runtime:
        selector = runtime.selector
        assert selector.accounts(selector.candidate("crossref"))[0].contact == "me@example.org"
        assert selector.accounts(selector.candidate("duckduckgo"))[0].contact == ""
