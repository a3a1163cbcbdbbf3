"""Which providers a search without -p uses: the default provider, then a chain by category and language."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from tests.conftest import ROOT
from werkzeug import Response

from sleuth.engine.dispatch import Dispatcher
from sleuth.engine.job import ProviderReply
from sleuth.engine.merge import Replies, _warnings
from sleuth.engine.outcome import Attempt
from sleuth.engine.search import SearchRequest
from sleuth.runtime import Runtime
from sleuth.store import default_chains
from sleuth_providers import registry
from sleuth_providers.base import Query

RUST = Query("rust")
KEYLESS = ["duckduckgo", "keenable", "you", "parallel", "exa-mcp", "local-bing", "firecrawl", "tavily", "wikipedia"]


@pytest.fixture
def chain(sleuth: Any) -> Any:
    """Return the ids of the chain for a query; groups are joined by +."""
    del sleuth.environ["SEARXNG_URL"]
    sleuth.environ["SLEUTH_WEBSEARCH_KEYLESS"] = "true"

    def ids(query: Query = RUST, first: str = "", **environ: str) -> list[str]:
        runtime = Runtime(sleuth.environ | environ)
        try:
            groups = list(runtime.selector.groups(query, first, library=False))
        finally:
            runtime.close()
        return ["+".join(candidate.id for candidate in group) for group in groups if group]

    return ids


def test_default_chain_needs_neither_key_nor_server(chain: Any) -> None:
    assert chain() == KEYLESS


def test_searxng_joins_once_it_is_set_up(sleuth: Any, chain: Any, httpserver: HTTPServer) -> None:
    assert chain(SEARXNG_URL="http://127.0.0.1:1")[0] == "searxng"
    assert chain(SLEUTH_WEBSEARCH_FALLBACK="searxng,brave") == ["searxng", "brave"]
    sleuth("providers", "set", "searxng", "--engines", "bing")
    assert chain()[0] == "searxng"


def test_third_parties_can_be_turned_off(chain: Any) -> None:
    assert chain(SLEUTH_WEBSEARCH_KEYLESS="false") == []
    assert chain(SLEUTH_WEBSEARCH_KEYLESS="false", TAVILY_API_KEY="k") == ["tavily"]
    assert chain(SLEUTH_WEBSEARCH_KEYLESS="false", SEARXNG_URL="http://127.0.0.1:1") == ["searxng"]
    assert chain(SLEUTH_WEBSEARCH_KEYLESS="false", SLEUTH_WEBSEARCH_FALLBACK="duckduckgo") == ["duckduckgo"]


@pytest.mark.parametrize("text", ["北京天气", "rust 异步"])
def test_chinese_queries_start_with_chinese_sources(chain: Any, text: str) -> None:
    assert chain(Query(text))[:2] == ["local-baidu", "local-bing"]
    assert chain(Query("rust", lang="zh-CN"))[0] == "local-baidu"


@pytest.mark.parametrize("query", [Query("東京の天気"), Query("서울 날씨"), Query("北京", lang="ja")])
def test_other_languages_use_the_general_chain(chain: Any, query: Query) -> None:
    assert "local-baidu" not in chain(query)


def test_options_go_first_to_providers_that_have_them(chain: Any) -> None:
    assert chain(Query("x", region="CH"))[:3] == ["duckduckgo", "you", "local-bing"]
    assert chain(Query("x", page=2))[:3] == ["duckduckgo", "you", "local-bing"]
    assert chain(Query("x", lang="de"))[-1] == "wikipedia"
    assert set(chain(Query("x", safe="strict"))) == set(KEYLESS)


@pytest.mark.parametrize(
    ("category", "first"),
    [
        ("news", "bing-news+google-news"),
        ("images", "wikimedia+openverse"),
        ("videos", "open-videos+wikimedia+internet-archive"),
        ("science", "openalex+crossref+arxiv"),
        ("it", "stackexchange+github+hackernews"),
        ("books", "openlibrary+internet-archive"),
    ],
)
def test_categories_have_their_own_sources(chain: Any, category: str, first: str) -> None:
    assert chain(Query("x", category=category))[0] == first
    assert chain(Query("x", category=category), SLEUTH_WEBSEARCH_FALLBACK="brave") == ["brave"]


def test_one_category_can_be_changed(sleuth: Any, chain: Any) -> None:
    assert sleuth("config", "set", "websearch.chains", '{ news = ["brave+you", "gdelt"] }').exit == 0
    assert chain(Query("x", category="news")) == ["brave+you", "gdelt"]
    assert chain(Query("x", category="it"))[0] == "stackexchange+github+hackernews"
    assert sleuth("config", "set", "websearch.chains", '{ sports = ["you"] }').exit != 0


def test_default_provider_comes_first_and_only_once(chain: Any) -> None:
    assert chain(first="you") == ["you", *(id for id in KEYLESS if id != "you")]


def test_option_beats_environment_beats_file(sleuth: Any) -> None:
    assert sleuth("providers", "use", "brave").exit == 0
    origin = sleuth("config", "show", "--origin").out
    assert [line for line in origin.splitlines() if "default_provider" in line and "brave" in line and "file" in line]
    assert [row["id"] for row in sleuth("providers", "list", "--json").json["items"] if row["isDefault"]] == ["brave"]
    sleuth("config", "set", "websearch.fallback", "[]")

    def asked(*arguments: str, **environ: str) -> str:
        done = sleuth("search", "--json", *arguments, "x", **environ)
        return str(done.json["provider"])

    assert asked() == "brave"
    assert asked(SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="searxng") == "searxng"
    assert asked("-p", "auto", SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="searxng") == ""
    assert asked("-p", "auto", SLEUTH_WEBSEARCH_FALLBACK="tavily", SLEUTH_WEBSEARCH_RETRIES="1") == "tavily"
    assert sleuth("providers", "use", "auto").exit == 0
    assert sleuth("config", "get", "websearch.default_provider").out == "auto\n"
    assert sleuth("providers", "use", "nobody").exit == 3


def test_default_in_the_table_of_an_older_version_moves_to_the_settings(sleuth: Any) -> None:
    def default(row: str) -> str:
        sleuth("providers", "list")
        with closing(sqlite3.connect(sleuth.home / "data" / "sleuth.db", isolation_level=None)) as database:
            database.execute("UPDATE websearch_provider SET is_default = 1 WHERE id = ?", (row,))
        asked = str(sleuth("search", "--json", "--no-fallback", "x").json["provider"])
        return f"{asked}, {sleuth('config', 'get', 'websearch.default_provider').out.strip()}"

    assert default("brave") == "brave, brave"
    assert default("tavily") == "brave, brave"  # the settings take precedence
    sleuth("config", "unset", "websearch.default_provider")
    assert not any(row["isDefault"] for row in sleuth("providers", "list", "--json").json["items"])


def test_privacy_recipe_contacts_one_server_only(sleuth: Any, httpserver: HTTPServer) -> None:
    """The server is slow to refuse, a key of another provider is there, and third parties are allowed."""
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_KEYLESS": "true", "BRAVE_API_KEY": "k"}
    sleuth("config", "set", "websearch.default_provider", "searxng")
    sleuth("config", "set", "websearch.fallback", "[]")
    httpserver.expect_request("/search").respond_with_data("", status=403)
    done = sleuth("search", "--json", "private question")
    assert done.exit != 0
    assert [attempt["provider"] for attempt in done.json["attempts"]] == ["searxng"]


def test_disabled_default_is_skipped_with_a_notice(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_FALLBACK": "searxng"}
    sleuth("providers", "use", "wikipedia")
    sleuth("providers", "set", "wikipedia", "--disable")
    done = sleuth("search", "x")
    assert done.exit == 0
    assert done.err == "note: Wikipedia is disabled; used SearXNG instead\n"
    named = sleuth("search", "-p", "wikipedia", "x")
    assert (named.exit, named.err) == (
        2,
        "error: wikipedia is disabled\nhint: enable it: sleuth providers set wikipedia --enable\n",
    )


def test_empty_chain_is_an_error_with_a_hint(sleuth: Any) -> None:
    done = sleuth("search", "x", SLEUTH_WEBSEARCH_FALLBACK="[]")
    assert done.exit != 0
    assert "error: no provider is selected\nhint: choose one: sleuth providers use ID" in done.err


@pytest.mark.parametrize(("words", "code"), [("rust async runtime", 1), ("searxng json 403", 0)])
def test_handbook_is_no_web_search_when_no_other_provider_is_left(make_sleuth: Any, words: str, code: int) -> None:
    """With nothing set up and `keyless` off, the library is the whole default chain."""
    done = make_sleuth(SEARXNG_URL="", SLEUTH_WEBSEARCH_KEYLESS="false")("search", words)
    assert done.exit == code
    assert ("note: used Library" if code == 0 else "error: no provider is selected") in done.err


def test_own_server_has_no_competition_in_a_default_chain(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sleuth.engine.search.HEDGE_S", 0.0)
    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_KEYLESS": "true"}
    done = sleuth("search", "--json", "x")
    assert [attempt["provider"] for attempt in done.json["attempts"]] == ["searxng"]


def test_competitor_that_fails_is_not_reported(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first provider answers after the second was started and has failed."""
    failed = Event()

    def first(_: Any) -> Response:
        failed.wait(30)
        return Response('{"results": [{"title": "A", "url": "https://a.example/"}]}', content_type="application/json")

    def second(_: Any) -> Response:
        failed.set()
        return Response("", status=403)

    monkeypatch.setattr("sleuth.engine.search.HEDGE_S", 0.0)
    httpserver.expect_request("/search").respond_with_handler(first)
    httpserver.expect_request("/html/").respond_with_handler(second)
    sleuth("providers", "set", "duckduckgo", "--api-host", httpserver.url_for(""))
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_FALLBACK": "searxng,duckduckgo"}
    done = sleuth("search", "x")
    assert (done.exit, done.err) == (0, "")


def test_failed_question_is_reported(sleuth: Any, httpserver: HTTPServer) -> None:
    answer = {"results": [{"title": "A", "url": "https://a.example/"}]}
    httpserver.expect_request("/search").respond_with_handler(
        lambda request: (
            Response("", status=403)
            if request.args["q"] == "bad"
            else Response(json.dumps(answer), content_type="application/json")
        )
    )
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for("")}
    done = sleuth("search", "--json", "-q", "good", "-q", "bad")
    assert (done.exit, done.json["outcome"], len(done.json["results"])) == (0, "partial", 1)
    assert len(done.json["warnings"]) == 1
    assert done.err.startswith("warning: SearXNG")


def test_failed_member_of_a_group_is_reported(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    httpserver.expect_request("/html/").respond_with_data("", status=403)
    sleuth("providers", "set", "duckduckgo", "--api-host", httpserver.url_for(""))
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_FALLBACK": "searxng+duckduckgo"}
    done = sleuth("search", "--json", "x", SLEUTH_WEBSEARCH_RETRIES="1")
    assert (done.exit, done.json["outcome"]) == (0, "partial")
    assert done.err.startswith("warning: DuckDuckGo")
    again = sleuth("search", "--json", "--no-cache", "x")
    assert (again.json["outcome"], "DuckDuckGo is skipped until" in again.err) == ("partial", True)


def test_member_of_a_group_that_is_too_slow_is_reported(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = Event()
    monkeypatch.setattr("sleuth.engine.fallback_chain.GROUP_GRACE_S", 0.0)
    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    httpserver.expect_request("/html/").respond_with_handler(lambda _: Response(str(ended.wait(30))))
    sleuth("providers", "set", "duckduckgo", "--api-host", httpserver.url_for(""))
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_FALLBACK": "searxng+duckduckgo"}
    done = sleuth("search", "--json", "x")
    ended.set()
    assert (done.exit, done.json["outcome"]) == (0, "partial")
    assert done.err == "warning: DuckDuckGo did not answer in time\n"


@pytest.fixture
def pair(sleuth: Any, httpserver: HTTPServer) -> Any:
    """SearXNG and Brave with ten results each; those in `failing` answer with an error."""
    failing: set[str] = set()

    def answer(request: Any) -> Response:
        name = "brave" if "res" in request.path else "searxng"
        rows = [{"title": f"{name} {n}", "url": f"https://{name}.example/{n}"} for n in range(1, 11)]
        document = json.dumps({"results": rows, "web": {"results": rows}})
        return Response(document, 500 if name in failing else 200, content_type="application/json")

    httpserver.expect_request(re.compile("/search|/res/v1/web/search")).respond_with_handler(answer)
    sleuth("providers", "set", "brave", "--api-host", httpserver.url_for(""), "--api-key", "k")
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_RETRIES": "1"}

    def shown(*arguments: str, fails: str = "", **environ: str) -> list[str]:
        failing.clear()
        failing.update(fails.split())
        urls = sleuth(*arguments, "-n", "4", "-f", "urls", **environ).out.split()
        return [url.removeprefix("https://").replace(".example/", " ") for url in urls]

    return shown


@pytest.mark.parametrize(
    ("options", "chain"),
    [
        ((), "searxng,brave"),
        ((), "searxng+brave"),
        (("-p", "searxng,brave"), ""),
        (("-p", "searxng", "--fallback"), "brave"),
        (("-p", "searxng,serper", "--fallback"), "brave"),
    ],
)
def test_next_page_comes_from_the_providers_of_the_first(pair: Any, options: tuple[str, ...], chain: str) -> None:
    settings = {"SLEUTH_WEBSEARCH_FALLBACK": chain} if chain else {}
    first = pair("search", *options, "x", fails="searxng", **settings)
    second = pair("search", *options, "--page", "2", "x", **settings)
    assert first + second == [f"brave {n}" for n in range(1, 9)]


def test_next_page_has_only_the_questions_of_the_first(pair: Any, httpserver: HTTPServer) -> None:
    assert pair("search", "-p", "searxng", "x")
    first, second = (
        pair("search", "-p", "searxng", "-q", "x", "-q", "y", "--page", page, fails=fails)
        for page, fails in (("1", "searxng"), ("2", ""))
    )
    assert first + second == [f"searxng {n}" for n in range(1, 9)]


def test_again_goes_on_with_the_same_order(pair: Any) -> None:
    for options in ((), ("-p", "searxng,brave")):
        first = pair("search", *options, "x", SLEUTH_WEBSEARCH_FALLBACK="searxng+brave")
        second = pair("again", "--page", "2", SLEUTH_WEBSEARCH_FALLBACK="searxng+brave")
        assert second == pair("search", *options, "--page", "2", "x", SLEUTH_WEBSEARCH_FALLBACK="searxng+brave")
        assert (len({*first, *second}), len(first)) == (8, 4)


def test_prompt_goes_back_to_the_same_list(pair: Any, sleuth: Any) -> None:
    environ = {"SLEUTH_WEBSEARCH_FALLBACK": "searxng,brave"}
    assert pair("search", "x", fails="searxng", **environ)[0] == "brave 1"
    pair("history")
    done = sleuth("search", "-i", "-n", "4", "x", "--page", "2", stdin="p\n", **environ)
    assert "brave 5" in done.out
    assert "brave 1" in done.out
    assert "searxng 1" not in done.out


def test_failure_is_reported_when_the_only_answer_is_empty(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/empty/search").respond_with_json({"results": []})
    httpserver.expect_request("/search").respond_with_data("", 500)
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_RETRIES": "1"}
    host = httpserver.url_for("/empty")
    sleuth("providers", "add", "--adapter", "searxng", "--id", "one", "--name", "One", "--api-host", host)
    sleuth("providers", "use", "one")
    done = sleuth("search", "--json", "x")
    assert (done.exit, done.json["outcome"]) == (0, "partial")
    line = "SearXNG is unavailable (HTTP 500); One found nothing"
    assert (done.json["warnings"], done.err) == ([line], f"note: no results for 'x'\nnote: {line}\n")


def test_cooldown_does_not_hide_what_is_cached(pair: Any, sleuth: Any, httpserver: HTTPServer) -> None:
    environ = {"SLEUTH_WEBSEARCH_FALLBACK": "searxng,brave"}
    assert pair("search", "x", **environ)[0] == "searxng 1"
    with closing(Runtime(sleuth.environ)) as runtime:
        runtime.health.note_outcome(runtime.selector.cooldown_name(runtime.selector.candidate("searxng")), "quota")
    asked = len(httpserver.log)
    assert pair("search", "--offline", "x", **environ)[0] == pair("search", "x", **environ)[0] == "searxng 1"
    assert (len(httpserver.log), pair("search", "y", **environ)[0]) == (asked, "brave 1")


def test_ids_with_capitals(pair: Any, sleuth: Any, httpserver: HTTPServer) -> None:
    sleuth("providers", "add", "Work", "--adapter", "searxng", "--api-host", httpserver.url_for(""))
    sleuth("providers", "set", "Work", "--option", "weight=1")
    assert pair("search", "x", SLEUTH_WEBSEARCH_FALLBACK="work , Brave")[0] == "searxng 1"
    assert sleuth("search", "--json", "x", SLEUTH_WEBSEARCH_FALLBACK="Brave + WORK").json["provider"] == "brave,Work"
    assert pair("search", "-p", "WORK,brave,work", "x") == [f"searxng {n}" for n in range(1, 5)]
    assert set(pair("search", "-p", "WORK+brave", "x")) == {"searxng 1", "brave 1", "searxng 2", "brave 2"}
    attempts = sleuth("search", "-p", "BRAVE,Brave,Work,all", "--json", "x").json["attempts"]
    assert [one["provider"] for one in attempts].count("brave") == 1


def test_answer_that_is_no_longer_needed_is_not_cached(sleuth: Any, httpserver: HTTPServer) -> None:
    runtime = Runtime(sleuth.environ | {"SEARXNG_URL": httpserver.url_for("")})
    dispatcher = Dispatcher(runtime.selector, runtime.cache, SearchRequest(("x",), Query("x")))

    def answer(_: Any) -> Response:
        dispatcher.jobs[0].abandoned.set()
        return Response('{"results": [{"title": "A", "url": "https://a.example/"}]}')

    httpserver.expect_request("/search").respond_with_handler(answer)
    searxng = runtime.selector.candidate("searxng")
    dispatcher.start(searxng, Query("x"))
    assert dispatcher.next_reply()
    dispatcher.finish()
    assert not dispatcher.cached([searxng], [Query("x")])
    runtime.close()


@pytest.mark.parametrize(("state", "is_reported"), [("skipped", False), ("timeout", True)])
def test_further_page_of_a_spare_provider(state: str, is_reported: bool) -> None:
    candidate: Any = SimpleNamespace(id="a", row=SimpleNamespace(name="A", engines=()))
    attempt = Attempt("a", state, message="why")
    replies = Replies([ProviderReply(candidate, Query("x"), attempt, round=2)], spare=frozenset(["a"]))
    request: Any = SimpleNamespace(query=Query("x", page=2), from_settings=())
    assert list(_warnings(request, replies, (attempt,))) == (["why"] if is_reported else [])


def test_provider_whose_key_cannot_be_read_is_reported(sleuth: Any, chain: Any, httpserver: HTTPServer) -> None:
    sleuth("providers", "set", "tavily", "--api-key", "env:UNSET")
    assert "tavily" in chain()
    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_FALLBACK": "tavily,searxng"}
    assert sleuth("search", "x").err == (
        "note: the API key of Tavily comes from UNSET, which is not set; used SearXNG instead\n"
    )


@pytest.mark.parametrize("chain", [default_chains.GENERAL, *default_chains.CHAINS.values()])
def test_default_chains_are_as_documented(chain: list[str]) -> None:
    listed = ", ".join(f"`{entry}`" for entry in chain if entry not in ("searxng", "library"))
    assert f"{listed} |" in (ROOT / "docs/providers.md").read_text("utf-8")


def test_rate_limits_are_as_documented() -> None:
    documented = set()
    for line in (ROOT / "docs/providers.md").read_text("utf-8").splitlines():
        if found := re.fullmatch(r"\| (`.+`) \| (\d+) a (minute|day) \|", line):
            documented |= {(id.strip("` "), int(found[2]), found[3]) for id in found[1].split(",")}
    adapters = [registry.load(id) for id in registry.names()]
    limits = {(one.id, one.per_minute, "minute") for one in adapters} | {
        (one.id, one.per_day, "day") for one in adapters
    }
    assert documented == {limit for limit in limits if limit[1]}


def test_provider_named_next_to_all_is_not_dropped(sleuth: Any) -> None:
    done = sleuth("search", "-p", "all,kagi", "--offline", "x", "--json", KAGI_API_KEY="")
    assert "kagi" in [attempt["provider"] for attempt in done.json["attempts"]]


def test_unknown_provider_in_the_settings_is_named(make_sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    sleuth = make_sleuth(SEARXNG_URL=httpserver.url_for(""))
    done = sleuth("search", "x", SLEUTH_WEBSEARCH_FALLBACK="nosuch,searxng,searxng+nosuch")
    assert (done.exit, done.err) == (0, "note: unknown provider 'nosuch' in the fallback chain\n")
    done = sleuth("search", "x", SLEUTH_WEBSEARCH_FALLBACK="nosuch")
    assert done.exit == 1
    assert done.err.startswith("error: unknown provider 'nosuch' in the fallback chain\nhint: choose one")
    done = sleuth("search", "x", SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="nosuch")
    assert (done.exit, done.err.splitlines()) == (
        3,
        ["error: websearch.default_provider: unknown provider 'nosuch'", "hint: set it: sleuth providers use ID"],
    )
    assert sleuth("providers", "list", SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="nosuch").exit == 0


def make_unusable(path: Path, how: str) -> None:
    """Turn the database into one of a newer sleuth, with all columns or not, a damaged one, or one that is refused."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        if how.startswith("newer"):
            connection.execute("PRAGMA user_version = 99")
        if how in ("newer, other columns", "lacks a column"):
            connection.execute("ALTER TABLE websearch_provider RENAME COLUMN is_default TO was_default")
    if how == "damaged":
        path.write_bytes(b"\xff" * 100 + path.read_bytes()[100:])
    elif how == "refused":
        path.chmod(0o666)
    elif how == "a folder":
        path.unlink()
        path.mkdir()


def test_rows_of_a_newer_database_are_used(sleuth: Any, chain: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"title": "A", "url": "https://a.example/"}]})
    sleuth("providers", "set", "searxng", "--api-host", httpserver.url_for(""))
    for id in KEYLESS[:3]:
        sleuth("providers", "set", id, "--disable")
    sleuth("providers", "use", "searxng")
    path = sleuth.home / "data" / "sleuth.db"
    make_unusable(path, "newer")
    before = path.read_bytes()
    assert chain() == ["searxng", *KEYLESS[3:]]
    done = sleuth("search", "--json", "x", SLEUTH_WEBSEARCH_KEYLESS="false")
    assert (done.exit, done.json["provider"]) == (0, "searxng")
    assert "newer sleuth" in done.err
    assert path.read_bytes() == before


UNREADABLE = ["newer, other columns", "lacks a column", "damaged", "refused", "a folder"]


@pytest.mark.parametrize("how", UNREADABLE)
def test_unreadable_database_does_not_let_queries_go_to_services_that_may_be_disabled(
    sleuth: Any, chain: Any, how: str
) -> None:
    sleuth("providers", "use", "searxng")
    make_unusable(sleuth.home / "data" / "sleuth.db", how)
    assert chain(first="searxng") == ["searxng"]
    assert chain(SEARXNG_URL="http://127.0.0.1:1", TAVILY_API_KEY="k") == ["searxng", "tavily"]
    assert chain(SLEUTH_WEBSEARCH_FALLBACK="searxng,brave") == ["searxng", "brave"]
    assert chain(SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="AUTO") == KEYLESS
    assert "no provider is usable" in sleuth("search", "-p", "all", "--offline", "--category", "news", "x").err
    done = sleuth("search", "x", SLEUTH_WEBSEARCH_KEYLESS="false")
    assert done.exit == 6
    assert "sleuth.db" in done.err.splitlines()[0]
    assert "localhost:8080" in done.err.splitlines()[1]


def test_damaged_row_does_not_stop_a_search_and_nothing_is_written(sleuth: Any) -> None:
    assert sleuth("providers", "list").exit == 0
    path = sleuth.home / "data" / "sleuth.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("UPDATE websearch_provider SET name = CAST(x'ff' AS TEXT) WHERE id = 'brave'")
        connection.execute("DELETE FROM meta")
        connection.commit()
    before = path.read_bytes()
    done = sleuth("search", "--offline", "enable json in searxng")
    assert done.exit == 0
    assert "is damaged" in done.err
    assert "sleuth doctor" in done.err
    assert path.read_bytes() == before
    assert "✗ Database cannot be used" in sleuth("doctor", "--only", "install.database").out
    rows = len(sleuth("providers", "list", "--ids").out.split())
    assert sleuth("doctor", "--repair").exit == 0
    done = sleuth("providers", "list", "--ids")
    assert (len(done.out.split()), done.err) == (rows, "")


def test_damage_in_any_table_does_not_stop_a_search(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json(
        {"results": [{"title": "Rust", "url": "https://a.example/"}]}
    )
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    assert sleuth("search", "-p", "searxng", "rust").exit == 0
    assert sleuth("usage").exit == 0
    path = sleuth.home / "data" / "sleuth.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        roots = dict(connection.execute("SELECT rootpage, name FROM sqlite_master WHERE rootpage > 1").fetchall())
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    intact = path.read_bytes()
    for page, name in roots.items():
        path.write_bytes(intact[: (page - 1) * size] + b"\xee" * size + intact[page * size :])
        done = sleuth("search", "-p", "searxng", "--no-cache", "rust")
        assert done.exit == 0, f"{name}: {done.err}"
        assert "https://a.example/" in done.out
        for side_file in path.parent.glob("sleuth.db-*"):
            side_file.unlink()
