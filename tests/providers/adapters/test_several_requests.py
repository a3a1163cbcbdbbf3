"""Adapters whose search takes several requests, or that have several hosts."""

import json
from collections.abc import Mapping

import pytest

from sleuth_providers import registry
from sleuth_providers.base import Account, Found, Query, Request, Response
from sleuth_providers.errors import BlockedError, KeyInvalidError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

PAPERS = b"<PubmedArticleSet><PubmedArticle><PMID>7</PMID><ArticleTitle>A</ArticleTitle></PubmedArticle>"


class Server:
    """Answers requests in order and keeps them."""

    def __init__(self, *responses: Response) -> None:
        self.responses = list(responses)
        self.requests: list[Request] = []

    def search(self, name: str, query: Query, account: Account = Account()) -> Found:  # noqa: B008 - immutable
        client = HttpClient(Policy(attempts=1), transport=self._answer)
        return registry.load(name).search(query, account, client)

    def _answer(self, request: Request, *_: object) -> Response:
        self.requests.append(request)
        return self.responses.pop(0)


def rpc(result: Mapping[str, object], headers: Mapping[str, str] | None = None) -> Response:
    return Response(200, headers or {}, json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode())


FOUND = rpc({"structuredContent": {"results": [{"url": "https://example.org/", "title": "A"}]}})


def test_parallel_opens_a_session_and_calls_the_tool_in_it() -> None:
    opened = rpc({"protocolVersion": "2025-03-26"}, {"mcp-session-id": "s-1"})
    server = Server(opened, Response(202, {}, b""), FOUND)
    found = server.search("parallel", Query("sqlite"))
    assert [result.url for result in found.results] == ["https://example.org/"]
    assert [request.json["method"] for request in server.requests] == [
        "initialize",
        "notifications/initialized",
        "tools/call",
    ]
    assert "Mcp-Session-Id" not in server.requests[0].headers
    for request in server.requests[1:]:
        assert request.headers["Mcp-Session-Id"] == "s-1"
        assert request.headers["MCP-Protocol-Version"] == "2025-03-26"
    assert len(server.requests[2].json["params"]["arguments"]["session_id"]) == 36


@pytest.mark.parametrize("session", ["", "a\r\nX-Evil: 1", "ä", "x" * 501])
def test_parallel_sends_no_invalid_session(session: str) -> None:
    opened = rpc({"protocolVersion": "1\r\nX-Evil: 1"}, {"mcp-session-id": session})
    server = Server(opened, Response(202, {}, b""), FOUND)
    assert server.search("parallel", Query("sqlite")).results
    assert "Mcp-Session-Id" not in server.requests[2].headers
    assert server.requests[2].headers["MCP-Protocol-Version"] == "2025-06-18"


def test_parallel_stops_when_the_notification_is_refused() -> None:
    server = Server(rpc({}), Response(401, {}, b""))
    with pytest.raises(KeyInvalidError):
        server.search("parallel", Query("sqlite"))


def test_pubmed_fetches_the_papers_that_it_found() -> None:
    found = b"<eSearchResult><IdList><Id>7</Id><Id>x</Id><Id>8</Id></IdList></eSearchResult>"
    server = Server(Response(200, {}, found), Response(200, {}, PAPERS))
    results = server.search("pubmed", Query("asthma"), Account(key="k")).results
    assert [result.url for result in results] == ["https://pubmed.ncbi.nlm.nih.gov/7/"]
    assert server.requests[1].url.endswith("/efetch.fcgi")
    assert server.requests[1].params["id"] == "7,8"
    assert server.requests[1].params["api_key"] == "k"


def test_pubmed_fetches_nothing_when_it_found_nothing() -> None:
    server = Server(Response(200, {}, b"<eSearchResult><IdList/></eSearchResult>"))
    assert server.search("pubmed", Query("asthmma")) == Found()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "engine", "host"),
    [
        ("mdn", "mdn", "https://developer.mozilla.org"),
        ("mdn", "learn", "https://learn.microsoft.com"),
        ("open-videos", "sepiasearch", "https://sepiasearch.org"),
        ("open-videos", "dailymotion", "https://api.dailymotion.com"),
    ],
)
def test_engine_selects_the_host_unless_the_table_names_another(name: str, engine: str, host: str) -> None:
    provider = registry.load(name)
    query = Query("x", engines=(engine,))
    assert provider.request(query, Account(host=provider.host)).url.startswith(f"{host}/")
    assert provider.request(query, Account(host="https://mirror.example/")).url.startswith("https://mirror.example/")


def test_stackexchange_links_to_the_site_of_the_account() -> None:
    body = b'{"items": [{"item_type": "question", "question_id": 7, "title": "A"}]}'
    address = "https://api.stackexchange.com/2.3/search/excerpts?site=askubuntu&q=x"
    server = Server(Response(200, {}, body, address))
    found = server.search("stackexchange", Query("x"), Account(engines=("askubuntu",)))
    assert "site=askubuntu" in server.requests[0].address
    assert [result.url for result in found.results] == ["https://askubuntu.com/q/7"]


TOKEN_PAGE = Response(200, {}, b"""<script>vqd="4-1234567890";</script>""")
PICTURES = Response(200, {}, b'{"results": [{"url": "https://a.example/", "title": "A", "width": 4, "height": 3}]}')


def test_duckduckgo_media_sends_the_token_of_its_page() -> None:
    server = Server(TOKEN_PAGE, PICTURES)
    (result,) = server.search("duckduckgo-media", Query("sea", category="images")).results
    assert (result.details.width, result.details.height) == (4, 3)
    assert server.requests[1].params["vqd"] == "4-1234567890"


@pytest.mark.parametrize(
    ("name", "responses"),
    [
        ("duckduckgo-media", (Response(200, {}, b"<html></html>"),)),
        ("duckduckgo-media", (TOKEN_PAGE, Response(200, {}, b"{}"))),
        ("duckduckgo-media", (TOKEN_PAGE, Response(403, {}, b""))),
        ("startpage", (Response(200, {}, b'<input name="sc" value="t">', "https://www.startpage.com/sp/captcha?x"),)),
        ("startpage", (Response(200, {}, b'<input name="sc" value="t">'), Response(200, {}, b"<p>captcha</p>"))),
        ("so360", (Response(200, {"set-cookie": "QiHooGUID=1; path=/"}, b""), Response(200, {}, b" "))),
    ],
)
def test_bot_check_ends_the_search_after_one_try(name: str, responses: tuple[Response, ...]) -> None:
    server = Server(*responses)
    with pytest.raises(BlockedError) as caught:
        server.search(name, Query("captcha", category="images"))
    assert len(server.requests) == len(responses)
    assert (caught.value.retry_after or 0) >= 900


def test_startpage_sends_the_token_of_its_start_page() -> None:
    page = b'<input name="sc" value="tok"><div class="result"><a href="https://a.example/"><h2>A</h2></a></div>'
    server = Server(Response(200, {}, page), Response(200, {}, page))
    assert server.search("startpage", Query("x")).results
    assert (server.requests[1].form or {})["sc"] == "tok"


def test_so360_repeats_the_request_with_its_cookie() -> None:
    page = b'<li class="res-list"><h3 class="res-title"><a href="https://a.example/">A</a></h3></li>'
    server = Server(Response(200, {"set-cookie": "QiHooGUID=1; path=/"}, b""), Response(200, {}, page))
    assert server.search("so360", Query("x")).results
    assert [request.headers.get("Cookie") for request in server.requests] == [None, "QiHooGUID=1"]
