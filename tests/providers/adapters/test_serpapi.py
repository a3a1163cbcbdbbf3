"""SerpApi: several engines at once, and filters that an engine does not have are reported."""

import json
from threading import Event
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth_providers.adapters.serpapi import SerpApi
from sleuth_providers.base import Account, Found, Query
from sleuth_providers.base import Response as Reply
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


def test_engines_are_asked_at_once() -> None:
    """A slow engine takes no time from the others, and one that hangs costs only its own results."""
    others = Event()

    def transport(request: Any, *_: Any) -> Reply:
        if request.params["engine"] == "google":  # as if it took all the time
            assert others.wait(30)
            raise DeadlineError
        others.set()
        body = json.dumps({"organic_results": [{"title": "x", "link": "https://x.example/"}]})
        return Reply(200, {"content-type": "application/json"}, body.encode(), request.address)

    account, http = Account(key="k", host="https://serpapi.com"), HttpClient(Policy(timeout=60, attempts=1), transport)
    found = SerpApi().search(Query("x", engines=("google", "bing", "google")), account, http)
    assert [result.engines for result in found.results] == [("bing",)]
    assert (list(found.engines), http.sent) == (["google"], 2)


def test_rejected_key_is_the_error_if_no_engine_answers(httpserver: HTTPServer) -> None:
    def respond(request: Request) -> Response:
        return Response("{}", 401 if request.args["engine"] == "bing" else 400, content_type="application/json")

    httpserver.expect_request("/search.json").respond_with_handler(respond)
    account = Account(key="k", host=httpserver.url_for("").rstrip("/"))
    with pytest.raises(KeyInvalidError) as caught:
        SerpApi().search(Query("x", engines=("google", "bing")), account, HttpClient(Policy(timeout=20)))
    assert caught.value.engines == {"google": "HTTP 400", "bing": "HTTP 401"}


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
