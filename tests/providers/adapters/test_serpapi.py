"""SerpApi: several engines at once, and filters that an engine does not have are reported."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth_providers.adapters.serpapi import SerpApi
from sleuth_providers.base import Account, Found, Query
from sleuth_providers.errors import BadRequestError, DeadlineError, KeyInvalidError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy


@pytest.fixture
def search(httpserver: HTTPServer) -> Any:
    """Search a server that returns results of the engine it is asked for, and does not repeat the parameters.

    A search for "without bing" fails for Bing.
    """

    def respond(request: Request) -> Response:
        engine = request.args["engine"]
        if request.args["q"].endswith(f"without {engine}"):
            return Response("{}", 400, content_type="application/json")
        hits = [{"title": f"{engine} {n}", "link": f"https://{engine}{n}.example/"} for n in (1, 2)]
        return Response(json.dumps({"organic_results": hits}), content_type="application/json")

    httpserver.expect_request("/search.json").respond_with_handler(respond)

    def run(query: Query, **account: Any) -> Found:
        chosen = Account(key="k", host=httpserver.url_for("").rstrip("/"), **account)
        return SerpApi().search(query, chosen, HttpClient(Policy(timeout=20)))

    return run


def test_several_engines_are_searched_and_mixed(search: Any) -> None:
    found = search(Query("x", engines=("google", "baidu")))
    assert [(result.url, result.engines) for result in found.results] == [
        ("https://google1.example/", ("google",)),
        ("https://baidu1.example/", ("baidu",)),
        ("https://google2.example/", ("google",)),
        ("https://baidu2.example/", ("baidu",)),
    ]
    assert found.cost == 2 * SerpApi.cost


def test_engines_of_the_table_are_all_searched_in_their_order(search: Any) -> None:
    found = search(Query("x"), engines=("baidu", "google"))
    assert [result.engines for result in found.results[:2]] == [("baidu",), ("google",)]


def test_an_engine_that_fails_costs_only_its_own_results(search: Any) -> None:
    found = search(Query("without bing", engines=("bing", "google")))
    assert [result.engines for result in found.results] == [("google",), ("google",)]
    assert found.engines == {"bing": "HTTP 400"}
    assert found.cost == SerpApi.cost
    with pytest.raises(BadRequestError):
        search(Query("without bing", engines=("bing",)))


def test_engine_that_hangs_leaves_time_for_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines: dict[str, float] = {}

    def transport(request: Any, headers: Any, limits: Any, guard: Any) -> Any:
        deadlines[request.params["engine"]] = limits.deadline
        raise DeadlineError

    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=None)
    monkeypatch.setattr("sleuth_providers.net.client.time", clock)
    account, http = Account(key="k", host="https://serpapi.com"), HttpClient(Policy(timeout=30, attempts=1), transport)
    with pytest.raises(DeadlineError):
        SerpApi().search(Query("x", engines=("google", "bing", "baidu")), account, http)
    assert {engine: round(deadline) for engine, deadline in deadlines.items()} == {
        "google": 10,
        "bing": 15,
        "baidu": 30,
    }
    assert http.deadline == 30


def test_rejected_key_is_sent_once(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search.json").respond_with_json({}, 401)
    account = Account(key="k", host=httpserver.url_for("").rstrip("/"))
    with pytest.raises(KeyInvalidError):
        SerpApi().search(Query("x", engines=("google", "bing")), account, HttpClient(Policy(timeout=20)))
    assert len(httpserver.log) == 1


def test_unknown_engine_is_named(search: Any) -> None:
    found = search(Query("x", engines=("bing", "nosuch")))
    assert found.engines == {"nosuch": "unknown engine"}


@pytest.mark.parametrize(
    ("engine", "query", "ignored"),
    [
        ("baidu", Query("x", lang="de", region="CH", safe="strict"), ("lang", "region", "safe")),
        ("baidu", Query("x", category="images"), ("category",)),
        ("bing", Query("x", lang="de"), ("lang",)),
        ("bing", Query("x", lang="de", region="CH", safe="strict"), ()),
        ("google", Query("x", lang="de", region="CH", safe="strict"), ()),
    ],
)
def test_filters_that_an_engine_lacks_are_reported(search: Any, engine: str, query: Query, ignored: Any) -> None:
    found = search(query._replace(engines=(engine,)))
    assert found.not_applied == ignored
    assert len(found.results) == 2


def test_baidu_and_bing_return_up_to_fifty(search: Any) -> None:
    assert SerpApi.max_results == 50
    for engine, name in (("baidu", "rn"), ("bing", "count")):
        request = SerpApi().request(Query("x", count=30, engines=(engine,)), Account())
        assert request.params[name] == 30
