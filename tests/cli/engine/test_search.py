"""`sleuth search` from end to end, against servers on loopback."""

import csv
import io
import json
import sys
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.serving.schemas import SEARCH_ANSWER
from sleuth.store.cache.disk import DiskCache
from sleuth_providers.errors import DeadlineError
from sleuth_providers.net.client import transmit

HITS = [
    {
        "url": "https://a.example/1",
        "title": "First <b>hit</b>",
        "content": "About rust async.",
        "engines": ["x"],
        "score": 2,
    },
    {
        "url": "https://b.example/2",
        "title": "第二个结果",
        "content": "异步运行时的比较。",
        "engines": ["y"],
        "score": 1,
    },
    {
        "url": "https://a.example/3",
        "title": "Third",
        "content": "More.",
        "engines": ["x"],
        "publishedDate": "2026-11-01",
    },
]


def answer(results: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    return {"query": "q", "results": HITS if results is None else results, "unresponsive_engines": []} | more


@pytest.fixture
def searxng(httpserver: HTTPServer, sleuth: Any) -> HTTPServer:
    """A SearXNG that answers with three hits, set as this home's instance."""
    httpserver.expect_request("/search").respond_with_json(answer())
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    return httpserver


def hang(server: HTTPServer) -> threading.Event:
    """Let a server not answer until the event is set."""
    released = threading.Event()
    server.expect_request("/search").respond_with_handler(lambda _: Response(str(released.wait())))
    return released


@pytest.fixture
def broken(httpserver: HTTPServer, sleuth: Any) -> Callable[[Callable[[Request], Response]], None]:
    """A SearXNG that behaves as the test says."""

    def install(handler: Callable[[Request], Response]) -> None:
        httpserver.expect_request("/search").respond_with_handler(handler)
        sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")

    return install


def test_words_need_no_quotes(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "how", "to", "enable", "json")
    assert done.exit == 0
    assert done.json["query"] == "how to enable json"
    assert searxng.log[0][0].args["q"] == "how to enable json"


def test_json_fits_the_published_schema(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "rust")
    jsonschema.validate(done.json, SEARCH_ANSWER)
    assert [hit["citation"] for hit in done.json["results"]] == [1, 2, 3]
    assert done.json["outcome"] == "success"
    assert done.json["attempts"][0]["state"] == "ok"
    assert done.err == ""


def test_several_questions_are_merged_and_joined(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "-q", "one", "-q", "two")
    assert done.json["query"] == "one | two"
    assert sorted(entry[0].args["q"] for entry in searxng.log) == ["one", "two"]
    assert len(done.json["results"]) == 3


def test_plain_is_the_default_in_a_pipe(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "rust")
    assert done.out.startswith("1. First <b>hit</b>\n   https://a.example/1\n   About rust async.\n")
    assert "\x1b" not in done.out


def test_rich_is_the_default_on_a_terminal(sleuth: Any, searxng: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "80")
    done = sleuth("search", "-p", "searxng", "rust", terminal=True)
    assert "\x1b]8;" in done.out, "titles are hyperlinks"
    assert "第二个结果" in done.out
    assert "1–3 of 3 results" in done.err


@pytest.mark.parametrize("width", ["20", "40", "200"])
def test_rich_stays_within_the_terminal(sleuth: Any, searxng: HTTPServer, monkeypatch: Any, width: str) -> None:
    from sleuth.base.text import width as columns

    monkeypatch.setenv("COLUMNS", width)
    done = sleuth("search", "-p", "searxng", "--color", "never", "rust", terminal=True)
    assert all(columns(line) <= int(width) for line in done.out.splitlines())


def test_csv_has_a_header_and_harmless_cells(sleuth: Any, httpserver: HTTPServer) -> None:
    hit = {"url": "https://a.example/1", "title": "=cmd()", "content": 'a "quoted", text'}
    httpserver.expect_request("/search").respond_with_json(answer([hit]))
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    rows = list(csv.reader(io.StringIO(sleuth("search", "-p", "searxng", "-f", "csv", "x").out)))
    assert rows[0] == ["rank", "title", "url", "snippet", "published", "providers"]
    assert rows[1][1] == "'=cmd()"
    assert rows[1][3] == 'a "quoted", text'


def test_ndjson_is_one_result_a_line(sleuth: Any, searxng: HTTPServer) -> None:
    lines = sleuth("search", "-p", "searxng", "-f", "ndjson", "x").out.splitlines()
    assert [json.loads(line)["url"] for line in lines] == [hit["url"] for hit in HITS]


def test_urls_format_prints_only_urls(sleuth: Any, searxng: HTTPServer) -> None:
    assert sleuth("search", "-p", "searxng", "-f", "urls", "x").out.splitlines() == [hit["url"] for hit in HITS]


def test_markdown_escapes_titles(sleuth: Any, httpserver: HTTPServer) -> None:
    hit = {"url": "https://a.example/1)x", "title": "](javascript:alert(1))", "content": "*bold* <b>"}
    httpserver.expect_request("/search").respond_with_json(answer([hit]))
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    out = sleuth("search", "-p", "searxng", "-f", "markdown", "x").out
    assert "[\\]\\(javascript:alert(1))](<https://a.example/1)x>)" in out
    assert "\\*bold\\*" in out


def test_template_and_fields_choose_what_is_shown(sleuth: Any, searxng: HTTPServer) -> None:
    assert sleuth("search", "-p", "searxng", "--template", "{rank} {domain}", "x").out.startswith("1 a.example\n2 b.")
    done = sleuth("search", "-p", "searxng", "--fields", "rank,url", "x")
    assert done.out.splitlines()[0] == "1\thttps://a.example/1"
    done = sleuth("search", "-p", "searxng", "--json", "--fields", "title", "x")
    assert done.json["results"][2] == {"title": "Third"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--template", "{nosuch}"), "unknown field {nosuch} in --template"),
        (("--template", "{rank.__class__}"), "template"),
        (("--fields", "nosuch"), "no such field"),
        (("--freshness", "yesterday"), "invalid freshness"),
        (
            ("--freshness", "2026-02-01..2026-01-01"),
            "invalid freshness '2026-02-01..2026-01-01': it ends before it starts",
        ),
        (("--lang", "not a language"), "language"),
        (("--lang", "de-CH!"), "invalid language"),
        (("-i", "-f", "csv"), "--interactive and --format csv cannot be combined"),
        (("-n", "0"), "--count"),
        (("-n", "51"), "--count"),
        (("--format", "xml"), "--format"),
    ],
)
def test_bad_options_are_refused_with_a_hint(
    sleuth: Any, searxng: HTTPServer, arguments: tuple[str, ...], message: str
) -> None:
    done = sleuth("search", "-p", "searxng", *arguments, "x")
    assert done.exit == 2
    assert message in done.err
    assert done.err.startswith("error: ")
    assert "\nhint: " in done.err


@pytest.mark.parametrize("words", [("",), ("  ",), ("\x00\x1b",)])
def test_empty_query_is_invalid(sleuth: Any, words: tuple[str, ...]) -> None:
    done = sleuth("search", *words)
    assert (done.exit, done.out) == (2, "")
    assert "the query is empty" in done.err


def test_output_file_is_private_json(sleuth: Any, searxng: HTTPServer, tmp_path: Any) -> None:
    target = tmp_path / "out.json"
    done = sleuth("search", "-p", "searxng", "--json", "-o", str(target), "x")
    assert (done.exit, done.out) == (0, "")
    assert json.loads(target.read_text())["query"] == "x"
    assert target.stat().st_mode & 0o777 == 0o600


def test_unknown_provider_suggests_the_closest_one(sleuth: Any) -> None:
    done = sleuth("search", "-p", "serxng", "x")
    assert done.exit == 3
    assert "did you mean searxng?" in done.err


@pytest.mark.parametrize("value", ["", " ", ",", " , "])
@pytest.mark.parametrize("command", ["search", "ask"])
def test_empty_provider_is_not_the_default(sleuth: Any, searxng: HTTPServer, command: str, value: str) -> None:
    done = sleuth(command, "-p", value, "x")
    assert (done.exit, f"unknown provider {value!r}" in done.err, searxng.log) == (3, True, [])


def test_json_errors_are_one_object_on_stderr(sleuth: Any) -> None:
    done = sleuth("search", "-p", "nosuch", "--json", "x")
    error = json.loads(done.err)["error"]
    assert error["code"] == "PROVIDER_NOT_FOUND"
    assert (error["status"], error["recoverable"]) == (404, False)
    assert done.out == ""


def test_missing_key_is_exit_4(sleuth: Any) -> None:
    done = sleuth("search", "-p", "brave", "x")
    assert done.exit == 4
    assert "sleuth providers set brave --api-key -" in done.err


def test_rejected_key_of_a_variable_names_the_variable(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/res/v1/web/search").respond_with_data("{}", 401)
    sleuth("providers", "set", "brave", "--api-host", httpserver.url_for(""), "--api-key", "env:MY_KEY")
    done = sleuth("search", "-p", "brave", "x", MY_KEY="bad-key-000")
    assert (done.exit, done.err.splitlines()[1]) == (4, "hint: check the key, which comes from env:MY_KEY")


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ("env:UNSET", "UNSET, which is not set"),
        ("cmd:true", "a command, which returned nothing"),
        ("keyring:", "the system keyring, which returned nothing"),
    ],
)
@pytest.mark.parametrize("id", ["brave", "tavily"])  # the second one works without a key, with lower limits
def test_source_that_returns_no_key_is_named(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, id: str, stored: str, reason: str
) -> None:
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_password=lambda *_: None))
    sleuth("providers", "set", id, "--api-key", stored, "--api-host", httpserver.url_for(""))
    done = sleuth("search", "-p", id, "x")
    assert done.exit == 4
    assert done.err.splitlines()[0].endswith(f" comes from {reason}")
    assert not httpserver.log


def test_unreachable_server_hints_at_doctor(sleuth: Any) -> None:
    done = sleuth("search", "-p", "searxng", "x")
    assert done.exit == 6
    assert "SearXNG cannot be reached (connection refused at 127.0.0.1:1)" in done.err
    assert "sleuth doctor" in done.err


STATES = [
    (lambda _: Response("<title>403</title>", 403, content_type="text/html"), 1, "bad_response", "- json"),
    (lambda _: Response("Too Many Requests", 429), 5, "rate_limited", "limiter"),
    (lambda _: Response("no", 401, {"WWW-Authenticate": "Basic"}), 4, "key_invalid", "user name"),
    (lambda _: Response("oops", 500), 6, "unreachable", "HTTP 500"),
    (lambda _: Response("not json", 200, content_type="application/json"), 1, "bad_response", "invalid JSON"),
    (lambda _: Response("<html>", 200, content_type="text/html"), 1, "bad_response", "HTML instead of JSON"),
    (lambda _: Response("[1,2]", 200, content_type="application/json"), 1, "bad_response", "not a JSON object"),
    (lambda _: Response("[" * 50000, 200, content_type="application/json"), 1, "bad_response", "invalid JSON"),
    (lambda _: Response("", 302, {"Location": "https://elsewhere.example/"}), 1, "bad_response", "another host"),
    (
        lambda _: Response(
            json.dumps(answer([], unresponsive_engines=[["g", "CAPTCHA"]])), content_type="application/json"
        ),
        5,
        "blocked",
        "all engines of SearXNG failed",
    ),
]


@pytest.mark.parametrize(("handler", "code", "state", "words"), STATES)
def test_server_errors_have_their_state_and_exit_code(
    sleuth: Any, broken: Any, handler: Any, code: int, state: str, words: str
) -> None:
    broken(handler)
    done = sleuth("search", "-p", "searxng", "--json", "x")
    assert done.exit == code
    assert done.json["outcome"] == "failed"
    assert done.json["attempts"][0]["engines"] == ({"g": "CAPTCHA"} if state == "blocked" else {})
    assert done.json["attempts"][0]["state"] == state
    assert words in json.loads(done.err)["error"]["message"] + str(json.loads(done.err)["error"]["hint"])
    jsonschema.validate(done.json, SEARCH_ANSWER)


def test_hanging_server_times_out(sleuth: Any, lone_server: HTTPServer) -> None:
    released = hang(lone_server)
    sleuth.environ["SEARXNG_URL"] = lone_server.url_for("")
    done = sleuth("search", "-p", "searxng", "--timeout", "0.2", "x")
    released.set()
    assert done.exit == 6
    assert "did not answer in time" in done.err


def test_empty_answer_is_no_error(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json(answer([]))
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    done = sleuth("search", "-p", "searxng", "x")
    assert (done.exit, done.out) == (0, "")
    assert "no results for 'x'" in done.err
    assert sleuth("search", "-p", "searxng", "--exit-status", "x").exit == 7
    assert sleuth("search", "-p", "searxng", "--json", "x").json["outcome"] == "no_results"


def test_library_is_used_without_network(sleuth: Any) -> None:
    sleuth("config", "set", "websearch.fallback", "searxng,library")
    done = sleuth("search", "--json", "enable json in searxng")
    assert done.exit == 0
    assert done.json["outcome"] == "partial"
    assert done.json["provider"] == "library"
    assert "json" in done.json["results"][0]["title"].lower()
    assert [attempt["state"] for attempt in done.json["attempts"]] == ["unreachable", "ok"]
    assert "used Library (documents on this machine, not the web) instead" in done.err


def test_named_provider_is_strict_unless_fallback_is_allowed(sleuth: Any) -> None:
    sleuth("config", "set", "websearch.fallback", "library")
    assert sleuth("search", "-p", "searxng", "searxng").exit == 6
    done = sleuth("search", "-p", "searxng", "--fallback", "--json", "searxng")
    assert (done.exit, done.json["provider"]) == (0, "library")


def test_failures_of_several_named_providers_are_reported_with_a_fallback(sleuth: Any) -> None:
    sleuth("config", "set", "websearch.fallback", "library")
    done = sleuth("search", "-p", "searxng,serper", "--fallback", "searxng")
    assert done.exit == 0
    assert "Serper needs an API key" in done.err
    assert "SearXNG cannot be reached" in done.err


def test_empty_fallback_queries_no_other_provider(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_data("no", 500)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    sleuth("config", "set", "websearch.fallback", "[]")
    sleuth("config", "set", "websearch.default_provider", "searxng")
    done = sleuth("search", "--json", "secret")
    assert done.exit == 6
    assert [attempt["provider"] for attempt in done.json["attempts"]] == ["searxng"]


def test_failure_of_one_of_several_providers_is_a_warning(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng,brave", "--json", "x")
    assert done.exit == 0
    assert done.json["outcome"] == "partial"
    assert [attempt["state"] for attempt in done.json["attempts"]] == ["ok", "key_missing"]
    assert "Brave" in done.err
    past_the_end = sleuth("search", "-p", "searxng,brave", "--json", "--no-cache", "--page", "9", "x")
    assert past_the_end.json["outcome"] == "partial"


def test_answers_are_cached_and_show_their_age(sleuth: Any, searxng: HTTPServer) -> None:
    first = sleuth("search", "-p", "searxng", "--json", "rust")
    again = sleuth("search", "-p", "searxng", "--json", "  RUST ")
    assert (first.json["cached"], again.json["cached"]) == (False, True)
    assert again.json["ageSeconds"] is not None
    assert len(searxng.log) == 1
    sleuth("search", "-p", "searxng", "--refresh", "rust")
    sleuth("search", "-p", "searxng", "--no-cache", "rust")
    assert len(searxng.log) == 3
    assert sleuth("search", "-p", "searxng", "--json", "-n", "20", "rust").json["cached"] is False


def test_offline_uses_the_cache_only(sleuth: Any, searxng: HTTPServer) -> None:
    sleuth("search", "-p", "searxng", "rust")
    searxng.clear()
    assert sleuth("search", "-p", "searxng", "--offline", "--json", "rust").json["cached"] is True
    done = sleuth("search", "-p", "searxng", "--offline", "never asked")
    assert done.exit == 1
    assert "offline" in done.err


def test_domains_are_filtered_for_every_provider(sleuth: Any, searxng: HTTPServer) -> None:
    only = sleuth("search", "-p", "searxng", "--json", "--site", "b.example", "x")
    assert [hit["url"] for hit in only.json["results"]] == ["https://b.example/2"]
    without = sleuth("search", "-p", "searxng", "--json", "--exclude", "a.example", "x")
    assert [hit["url"] for hit in without.json["results"]] == ["https://b.example/2"]
    assert searxng.log[-1][0].args["q"] == "x -site:a.example"
    sleuth("config", "set", "websearch.exclude_domains", r"/example\/[13]$/")
    assert len(sleuth("search", "-p", "searxng", "--json", "x").json["results"]) == 1


def test_excluded_url_means_its_host(sleuth: Any, searxng: HTTPServer) -> None:
    sleuth("search", "-p", "searxng", "--exclude", "https://a.example/1", "x")
    assert searxng.log[-1][0].args["q"] == "x -site:a.example"
    sleuth("config", "set", "websearch.exclude_domains", "https://b.example/2")
    sleuth("search", "-p", "searxng", "y")
    assert searxng.log[-1][0].args["q"] == "y -site:b.example"


def test_no_results_after_filters_is_not_the_end_of_the_results(sleuth: Any, searxng: HTTPServer) -> None:
    assert "note: no results for 'x'" in sleuth("search", "-p", "searxng", "--site", "c.example", "x").err


def test_filters_that_removed_every_result_are_named(sleuth: Any, searxng: HTTPServer) -> None:
    search = ("search", "-p", "searxng", "x")
    assert "removed by" not in sleuth(*search, "--exclude", "a.example").err
    (message,) = sleuth(*search, "--json", "--site", "c.example").json["warnings"]
    assert message == "3 results were removed by --site"
    sleuth("config", "set", "websearch.exclude_domains", "*.example")
    done = sleuth(*search, "--exclude", "c.example")
    assert (
        "note: no results for 'x'\nnote: 3 results were removed by --exclude, websearch.exclude_domains\n" in done.err
    )


@pytest.mark.parametrize(
    "domain", ["http://", "foo bar", "/(a+)+$/", "/blog", "/[/", "*", "*.pinterest.*", "ads*.a.example"]
)
def test_invalid_domain_is_refused(sleuth: Any, searxng: HTTPServer, domain: str) -> None:
    for option in ("--site", "--exclude"):
        done = sleuth("search", "-p", "searxng", option, domain, "x")
        assert done.exit == 2
        assert f"invalid domain '{domain}'" in done.err
    assert searxng.log == []


def test_engine_that_the_server_does_not_have_is_named(sleuth: Any, searxng: HTTPServer) -> None:
    searxng.expect_request("/config").respond_with_json({"engines": [{"name": "bing", "shortcut": "bi"}]})
    done = sleuth("search", "-p", "searxng", "--engine", "bing,nosuch", "x")
    assert "warning: not applied by SearXNG: --engine nosuch\n" in done.err


def test_named_engine_that_fails_is_a_warning(sleuth: Any, broken: Any) -> None:
    failed = answer(unresponsive_engines=[["bing", "CAPTCHA"], ["other", "timeout"]])
    broken(lambda _: Response(json.dumps(failed), content_type="application/json"))
    assert sleuth("search", "-p", "searxng", "x").err == ""
    done = sleuth("search", "-p", "searxng", "--engine", "bing,google", "x")
    assert done.err == "warning: engines of SearXNG that failed: bing: CAPTCHA\n"


def test_unsupported_option_is_reported_once(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "--freshness", "2026-01-01..2026-12-31", "x")
    assert done.json["attempts"][0]["notApplied"] == ["range"]
    assert done.err == "warning: --freshness was not applied to results without a date\n"


def test_setting_that_a_provider_cannot_apply_is_no_warning(sleuth: Any, searxng: HTTPServer) -> None:
    sleuth("config", "set", "websearch.region", "CH")
    done = sleuth("search", "-p", "searxng", "--json", "x")
    assert done.json["attempts"][0]["notApplied"] == ["region"]
    assert done.err == ""
    assert "not applied: --region" in sleuth("search", "-p", "searxng", "-v", "x").err
    assert "warning: not applied by SearXNG: --region\n" in sleuth("search", "-p", "searxng", "--region", "DE", "x").err


def test_question_that_is_not_in_the_cache_is_reported_offline(sleuth: Any, searxng: HTTPServer) -> None:
    sleuth("providers", "use", "searxng")
    sleuth("search", "rust")
    found = sleuth("search", "--offline", "--json", "-q", "rust", "-q", "other").json
    assert (found["outcome"], found["warnings"]) == (
        "partial",
        ["SearXNG was skipped: offline, and not in the cache"],
    )


def test_search_is_repeated_offline_from_the_cache(sleuth: Any, searxng: HTTPServer) -> None:
    sleuth("search", "rust")
    searxng.clear()
    again = sleuth("search", "--offline", "--json", "rust").json
    assert (again["provider"], again["cached"]) == ("searxng", True)
    other = sleuth("search", "--offline", "--json", "enable json in searxng").json
    assert (other["provider"], other["attempts"][0]["provider"]) == ("library", "library")


def test_own_server_stays_first_if_it_lacks_an_option(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "--region", "CH", "--json", "x")
    assert [attempt["provider"] for attempt in done.json["attempts"]] == ["searxng"]


def test_cooldown_is_not_hidden_by_an_empty_answer(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_data("slow down", 429)
    httpserver.expect_request("/empty/search").respond_with_json({"query": "x", "results": []})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    sleuth("providers", "add", "other", "--adapter", "searxng", "--api-host", httpserver.url_for("/empty"))
    sleuth("config", "set", "websearch.fallback", "searxng,other")
    sleuth("config", "set", "websearch.retries", "1")
    first, again = (sleuth("search", "--json", words).json for words in ("a", "b"))
    assert [attempt["state"] for attempt in again["attempts"]] == ["cooldown", "empty"]
    assert (first["outcome"], again["outcome"]) == ("partial", "partial")


def test_failing_provider_is_skipped_in_auto(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_data("slow down", 429)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    sleuth("config", "set", "websearch.fallback", "searxng,library")
    sleuth("config", "set", "websearch.retries", "1")
    first = sleuth("search", "--json", "searxng")
    again = sleuth("search", "--json", "searxng json")
    assert first.json["attempts"][0]["state"] == "rate_limited"
    assert again.json["attempts"][0]["state"] == "cooldown"
    assert "is skipped until" in again.err
    assert len(httpserver.log) == 1


def test_own_server_that_cannot_be_reached_is_diagnosed_by_doctor(sleuth: Any) -> None:
    sleuth("providers", "set", "wikipedia", "--api-host", "http://127.0.0.1:1")
    done = sleuth("search", "x", SLEUTH_WEBSEARCH_FALLBACK="searxng,wikipedia")
    assert (done.exit, done.err.splitlines()[-1]) == (6, "hint: check the server: sleuth doctor")


def test_hostile_text_is_escaped_in_every_format(sleuth: Any, httpserver: HTTPServer) -> None:
    evil = "a\x1b]0;owned\x07b\x1b[31mc\u202ed\u0000e\r\nf[/bold][link=x]g"
    hit = {"url": "https://a.example/\u202e\x1b[0m", "title": evil, "content": evil, "engines": [evil]}
    bad = {"url": "javascript:alert(1)", "title": "no", "content": "no"}
    body = answer([hit, bad], unresponsive_engines=[[evil, evil]], suggestions=[evil], answers=[evil])
    httpserver.expect_request("/search").respond_with_json(body)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    for format in ("plain", "markdown", "csv", "urls", "rich", "ndjson", "json"):
        done = sleuth("search", "-p", "searxng", "-f", format, "--color", "never", "--refresh", "x")
        assert done.exit == 0
        text = (done.out + done.err).replace("\n", "")
        assert not [c for c in text if not c.isprintable()], format
        assert "javascript:" not in text
        assert "[/bold]" in text or format in ("markdown", "urls")


def test_keys_are_in_no_output(sleuth: Any, httpserver: HTTPServer) -> None:
    key = "sk-very-secret-key-123456"
    httpserver.expect_request("/res/v1/web/search").respond_with_json({"error": f"bad key {key}"}, 422)
    done = sleuth("providers", "set", "brave", "--api-key", "-", "--api-host", httpserver.url_for(""), stdin=f"{key}\n")
    assert done.exit == 0
    outputs = [
        sleuth("search", "-p", "brave", "x", "--debug"),
        sleuth("search", "-p", "brave", "--json", "x"),
        sleuth("providers", "show", "brave"),
        sleuth("providers", "list", "--json"),
        sleuth("providers", "test", "brave", "--json"),
    ]
    assert not [done for done in outputs if key in done.out + done.err]
    assert "sk-v…56" in outputs[2].out


def test_next_provider_starts_while_the_first_one_hangs(sleuth: Any, lone_server: HTTPServer, monkeypatch: Any) -> None:
    monkeypatch.setattr("sleuth.engine.search.HEDGE_S", 0.05)
    released = hang(lone_server)
    page = '<div class="web-result"><a class="result__a" href="https://a.example/">A</a></div>'
    lone_server.expect_request("/html/").respond_with_data(page, content_type="text/html")
    sleuth.environ |= {"SEARXNG_URL": lone_server.url_for(""), "SLEUTH_WEBSEARCH_FALLBACK": "searxng,duckduckgo"}
    sleuth("providers", "set", "duckduckgo", "--api-host", lone_server.url_for(""))
    done = sleuth("search", "--json", "x")
    filtered = sleuth("search", "--json", "--site", "b.example", "x")
    released.set()
    assert (done.exit, done.json["provider"]) == (0, "duckduckgo")
    assert filtered.json["outcome"] == "partial"  # the other one may have had results of that site
    assert {a["provider"]: a["state"] for a in done.json["attempts"]} == {"searxng": "skipped", "duckduckgo": "ok"}


def test_eight_providers_are_queried_in_parallel(sleuth: Any, httpserver: HTTPServer) -> None:
    all_are_there = threading.Barrier(8)

    def slow(_: Request) -> Response:
        all_are_there.wait()
        return Response(json.dumps(answer()), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(slow)
    for number in range(1, 9):
        host = httpserver.url_for("")
        sleuth(
            "providers",
            "add",
            "--id",
            f"s{number}",
            "--adapter",
            "searxng",
            "--api-host",
            host,
            "--engines",
            str(number),
        )
    done = sleuth("search", "--json", "-p", ",".join(f"s{n}" for n in range(1, 9)), "x")
    assert done.exit == 0
    assert len(done.json["results"][0]["providers"]) == 8


def test_explained_scores_can_be_recomputed(sleuth: Any, searxng: HTTPServer) -> None:
    sleuth("providers", "add", "--id", "other", "--adapter", "searxng", "--api-host", searxng.url_for(""))
    sleuth("providers", "set", "other", "--option", "weight=0.5")
    for hit in sleuth("search", "-p", "searxng,other", "--json", "--explain", "x").json["results"]:
        assert hit["score"] == pytest.approx(
            sum(vote["weight"] / (60 + vote["rank"]) for vote in hit["votes"]), abs=1e-6
        )
    assert "searxng #1 × 1.5 → 0.024590" in sleuth("search", "-p", "searxng,other", "--explain", "x").out


@pytest.fixture
def paged(sleuth: Any, httpserver: HTTPServer) -> Callable[[], list[str]]:
    """A SearXNG with two pages of six results; returns a function for the pages that were requested."""

    def respond(request: Request) -> Response:
        page = int(request.args.get("pageno", "1"))
        hits = [
            {"url": f"https://{'a' if n % 2 else 'b'}.example/{page}/{n}", "title": f"{page}/{n}"}
            for n in range(6 if page < 3 else 0)
        ]
        return Response(json.dumps(answer(hits)), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(respond)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    return lambda: [request.args.get("pageno", "1") for request, _ in httpserver.log]


@pytest.fixture
def endless(sleuth: Any, httpserver: HTTPServer) -> HTTPServer:
    """A SearXNG with six results on every page, set as this home's instance."""

    def respond(request: Request) -> Response:
        hits = [{"url": f"https://a.example/{request.args.get('pageno')}/{n}", "title": str(n)} for n in range(6)]
        return Response(json.dumps(answer(hits)), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(respond)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    return httpserver


def titles(done: Any) -> list[str]:
    return [hit["title"] for hit in done.json["results"]]


def test_next_page_is_requested_when_filters_leave_too_few(sleuth: Any, paged: Callable[[], list[str]]) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "--exclude", "b.example", "x")
    assert titles(done) == ["1/1", "1/3", "1/5", "2/1", "2/3"]
    assert paged() == ["1", "2"]


def test_pages_continue_after_the_last_result_shown(sleuth: Any, paged: Callable[[], list[str]]) -> None:
    pages = [sleuth("search", "-p", "searxng", "--json", "-n", "5", "--page", str(page), "x") for page in (1, 2, 3)]
    assert [titles(page) for page in pages] == [
        ["1/0", "1/1", "1/2", "1/3", "1/4"],
        ["1/5", "2/0", "2/1", "2/2", "2/3"],
        ["2/4", "2/5"],
    ]
    assert [hit["citation"] for page in pages for hit in page.json["results"]] == list(range(1, 13))
    assert [page.json["status"]["more"] for page in pages] == [True, True, False]
    assert paged()[:2] == ["1", "2"]  # the rest of a page is kept, not requested again


def test_page_after_the_last_one_has_no_results(sleuth: Any, paged: Callable[[], list[str]]) -> None:
    done = sleuth("search", "-p", "searxng", "--page", "9", "x")
    assert (done.exit, done.out) == (0, "")
    assert "note: no more results for 'x'" in done.err


def test_failure_of_a_further_page_is_not_the_end_of_the_results(sleuth: Any, broken: Any) -> None:
    def respond(request: Request) -> Response:
        if request.args.get("pageno"):
            return Response("no", 400)
        hits = [{"url": f"https://a.example/{n}", "title": str(n)} for n in range(6)]
        return Response(json.dumps(answer(hits)), content_type="application/json")

    broken(respond)
    partly = sleuth("search", "-p", "searxng", "--json", "-n", "5", "--page", "2", "x")
    assert (partly.exit, titles(partly), partly.json["status"]["more"]) == (0, ["5"], True)
    assert partly.json["outcome"] == "partial"
    nothing = sleuth("search", "-p", "searxng", "-n", "6", "--page", "2", "x")
    assert nothing.exit != 0
    assert "no more results" not in nothing.err


def test_count_is_filled_from_further_pages(sleuth: Any, paged: Callable[[], list[str]]) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "-n", "20", "x")
    assert len(done.json["results"]) == 12
    assert done.json["status"]["more"] is False
    assert "1–12 of 12 results · no more" in sleuth("search", "-p", "searxng", "-n", "20", "x", terminal=True).err


@pytest.fixture
def deadlines(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The deadlines of the requests, each of which takes 90 seconds of a clock that this fixture puts forward."""
    clock, skipped, seen = time.monotonic, [0.0], []

    def exchange(request: Any, headers: Any, limits: Any, guard: Any) -> Any:
        seen.append(limits.deadline)
        reply = transmit(request, headers, limits, guard)
        skipped[0] += 90
        return reply

    monkeypatch.setattr(time, "monotonic", lambda: clock() + skipped[0])
    monkeypatch.setattr("sleuth_providers.net.client.transmit", exchange)
    return seen


def test_time_limit_is_one_for_all_pages_of_a_search(sleuth: Any, endless: HTTPServer, deadlines: list[float]) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "-n", "50", "--timeout", "200", "x")
    assert (done.exit, len(titles(done)), done.json["outcome"]) == (0, 18, "partial")
    assert done.json["status"]["more"] is True
    assert done.err == "warning: no time was left for a request to SearXNG\n"
    assert [deadline - deadlines[0] < 45 for deadline in deadlines] == [True] * 3
    more = sleuth("search", "-p", "searxng", "--json", "-n", "50", "x")
    assert (len(titles(more)), more.json["outcome"], len(deadlines)) == (50, "success", 9)


@pytest.mark.parametrize(
    ("options", "chain", "asked", "is_whole"),
    [
        ((), "searxng,second", ["searxng", "second"], True),  # the second is started when the first is slow
        ((), "searxng+first,second", ["searxng", "first", "second"], False),
        ((), "searxng+first,kagi", ["searxng", "first"], True),  # no key
        ((), "searxng+first,library", ["searxng", "first"], True),
        (("-p", "searxng", "--fallback"), "searxng+first,second", ["searxng", "first", "second"], True),
        (("-p", "searxng,first", "--fallback"), "searxng,second", ["searxng", "first", "second"], False),
        (("-p", "searxng,first", "--fallback"), "searxng,first", ["searxng", "first"], True),
        (("-p", "searxng"), "searxng,second", ["searxng"], True),
    ],
)
def test_time_limit_leaves_time_for_the_rest_of_a_chain(
    sleuth: Any,
    httpserver: HTTPServer,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    chain: str,
    asked: list[str],
    is_whole: bool,
) -> None:
    """A server that hangs has two thirds of the time if others can only follow it, and else all of it."""
    clock, skipped, ends = time.monotonic, [0.0], {}

    def exchange(request: Any, headers: Any, limits: Any, guard: Any) -> Any:
        id = request.url.split("/")[3]
        ends[id] = limits.deadline - clock()
        if id == "second":
            return transmit(request, headers, limits, guard)
        skipped[0] = 199 if id == "searxng" else skipped[0]
        raise DeadlineError

    httpserver.expect_request("/second/search").respond_with_json(answer([("a", "https://a.example")]))
    for id in ("first", "second"):
        host = httpserver.url_for(f"/{id}")
        sleuth("providers", "add", "--adapter", "searxng", "--id", id, "--api-host", host)
    monkeypatch.setattr(time, "monotonic", lambda: clock() + skipped[0])
    monkeypatch.setattr("sleuth_providers.net.client.transmit", exchange)
    environ = {"SLEUTH_WEBSEARCH_FALLBACK": chain, "SEARXNG_URL": httpserver.url_for("/searxng")}
    done = sleuth("search", *options, "--timeout", "300", "--json", "x", **environ)
    assert (sorted(ends), done.exit) == (sorted(asked), 0 if "second" in asked else 6)
    assert (ends["searxng"] > 250) == is_whole


def test_reranker_has_the_time_that_is_left(sleuth: Any, endless: HTTPServer, deadlines: list[float]) -> None:
    endless.expect_request("/rerank").respond_with_json({"results": []})
    environ = {"SLEUTH_RERANK_BASE_URL": endless.url_for(""), "SLEUTH_RERANK_MODEL": "m"}
    environ["SLEUTH_WEBSEARCH_TIMEOUT"] = "600"
    assert sleuth("search", "-p", "searxng", "--rerank", "--timeout", "200", "x", **environ).exit == 0
    assert [deadline - deadlines[0] < 45 for deadline in deadlines] == [True] * 2


@pytest.fixture
def unpaged(sleuth: Any, httpserver: HTTPServer) -> Callable[[], list[int]]:
    """A Tavily, which has no pages; returns a function for the numbers of results that were requested."""

    def respond(request: Request) -> Response:
        hits = [{"url": f"https://a.example/{n}", "title": str(n)} for n in range(request.get_json()["max_results"])]
        return Response(json.dumps({"results": hits}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(respond)
    sleuth("providers", "set", "tavily", "--api-host", httpserver.url_for(""))
    return lambda: [request.get_json()["max_results"] for request, _ in httpserver.log]


def test_provider_without_pages_is_asked_for_a_longer_list(sleuth: Any, unpaged: Callable[[], list[int]]) -> None:
    pages = [sleuth("search", "-p", "tavily", "--json", "-n", "5", "--page", str(page), "x") for page in (1, 2, 3, 4)]
    assert [titles(page) for page in pages] == [[str(n) for n in range(first, first + 5)] for first in (0, 5, 10, 15)]
    assert [page.json["status"]["more"] for page in pages] == [True, True, True, False]
    assert all(not page.err for page in pages)
    assert unpaged() == [10, 20]


def test_more_results_than_a_provider_has_are_reported(sleuth: Any, unpaged: Callable[[], list[int]]) -> None:
    done = sleuth("search", "-p", "tavily", "--json", "-n", "30", "x")
    assert len(titles(done)) == 20
    assert done.json["attempts"][0]["notApplied"] == ["--count (at most 20 results)"]
    assert "warning: not applied by Tavily: --count (at most 20 results)\n" in done.err


def test_count_is_filled_where_pages_are_shorter_than_requested(sleuth: Any, httpserver: HTTPServer) -> None:
    def respond(request: Request) -> Response:
        start = int(request.args.get("start", "0"))
        hits = [{"link": f"https://a.example/{n}", "title": str(n)} for n in range(start, start + 10)]
        return Response(json.dumps({"organic_results": hits}), content_type="application/json")

    httpserver.expect_request("/search.json").respond_with_handler(respond)
    sleuth("providers", "set", "serpapi", "--api-host", httpserver.url_for(""), "--api-key", "-", stdin="k-12345678\n")
    done = sleuth("search", "-p", "serpapi", "--json", "-n", "25", "x")
    assert (len(titles(done)), done.err) == (25, "")


def test_refusal_of_a_request_without_a_key_is_not_about_a_key(sleuth: Any, httpserver: HTTPServer) -> None:
    for id, first, hint, exit in (
        ("firecrawl", "Firecrawl refuses requests without an API key (HTTP 403)", "set firecrawl --api-key", 4),
        ("hackernews", "Hacker News refused the request (HTTP 403)", "use another provider", 5),
    ):
        httpserver.expect_request("/v2/search").respond_with_data("no", status=403)
        httpserver.expect_request("/api/v1/search").respond_with_data("no", status=403)
        sleuth("providers", "set", id, "--api-host", httpserver.url_for(""))
        done = sleuth("search", "-p", id, "--category", "it" if id == "hackernews" else "general", "x")
        assert done.err.splitlines()[0] == f"error: {first}"
        assert hint in done.err
        assert done.exit == exit


@pytest.mark.parametrize(("key", "cost"), [("", 0.0), ("fc-12345678", 0.01)])
def test_credits_cost_money_only_with_a_key(sleuth: Any, httpserver: HTTPServer, key: str, cost: float) -> None:
    reply = {"success": True, "data": {"web": [{"title": "A", "url": "https://a.example/"}]}, "creditsUsed": 12}
    httpserver.expect_request("/v2/search").respond_with_json(reply)
    sleuth("providers", "set", "firecrawl", "--api-host", httpserver.url_for(""))
    if key:
        sleuth("providers", "set", "firecrawl", "--api-key", "-", stdin=key)
    done = sleuth("search", "-p", "firecrawl", "--json", "x")
    assert round(done.json["attempts"][0]["cost"], 3) == cost


def test_pages_of_several_providers_are_windows_of_one_list(sleuth: Any, paged: Callable[[], list[str]]) -> None:
    sleuth("providers", "add", "--id", "other", "--adapter", "searxng", "--api-host", sleuth.environ["SEARXNG_URL"])
    pages = [
        titles(sleuth("search", "-p", "searxng,other", "--json", "-n", "4", "--page", n, "x")) for n in ("1", "2", "3")
    ]
    assert [title for page in pages for title in page] == [f"{page}/{n}" for page in (1, 2) for n in range(6)]


def test_rules_apply_to_every_provider(sleuth: Any, searxng: HTTPServer, tmp_path: Any) -> None:
    rules = tmp_path / "rules.txt"
    rules.write_text("! mine\n$boost=5,site=b.example\n/3$discard\n$nonsense=,\n")
    done = sleuth("search", "-p", "searxng", "--json", "--explain", "--rules", str(rules), "x")
    assert [hit["url"] for hit in done.json["results"]] == ["https://b.example/2", "https://a.example/1"]
    assert done.json["results"][0]["adjustments"]
    assert "rules.txt:4:" in done.err
    assert sleuth("search", "--rules", "/no/such", "x").exit == 2


def test_only_the_first_invalid_rules_are_reported(sleuth: Any, searxng: HTTPServer, tmp_path: Any) -> None:
    rules = tmp_path / "binary"
    rules.write_bytes(b"\0 $nonsense\n" * 200)
    done = sleuth("search", "-p", "searxng", "--rules", str(rules), "x")
    assert done.err.count("binary:") == 6
    assert "195 more invalid lines" in done.err


def test_no_fallback_queries_only_the_first_provider(sleuth: Any) -> None:
    done = sleuth("search", "--json", "--no-fallback", "x")
    assert done.exit == 6
    assert [attempt["provider"] for attempt in done.json["attempts"]] == ["searxng"]


def test_patterns_are_not_sent_to_providers(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "--exclude", r"*.a.example,/\/2$/", "x")
    assert searxng.log[-1][0].args["q"] == "x"
    assert "https://b.example/2" not in [hit["url"] for hit in done.json["results"]]
    assert (
        "https://b.example/2"
        not in sleuth("search", "-p", "searxng", "-f", "urls", "--exclude", r"/\/b\.example\//", "x").out
    )


@pytest.mark.parametrize("option", ["weight=nan", "weight=-5", "weight=heavy", "timeout=0"])
def test_invalid_numbers_are_refused(sleuth: Any, option: str) -> None:
    done = sleuth("providers", "set", "searxng", "--option", option)
    assert done.exit == 2
    assert "use a number from" in done.err


@pytest.mark.parametrize("option", ["per_day=1.5", "per_minute=0.5"])
def test_limits_are_whole_numbers(sleuth: Any, option: str) -> None:
    done = sleuth("providers", "set", "searxng", "--option", option)
    assert (done.exit, "use a whole number from 0 to" in done.err) == (2, True)


def test_reached_limit_names_the_option_that_changes_it(sleuth: Any, searxng: HTTPServer) -> None:
    refused = sleuth("providers", "set", "searxng", "--option", "per_day=abc")
    assert "0 means no limit" in refused.err
    for option in ("per_minute", "per_day"):
        sleuth("providers", "set", "searxng", "--unset", "options")
        sleuth("providers", "set", "searxng", "--option", f"{option}=1")
        assert sleuth("search", "-p", "searxng", "--no-cache", "x").exit in (0, 5)
        assert f"sleuth providers set searxng --option {option}=N" in sleuth("search", "-p", "searxng", "y").err


@pytest.mark.parametrize(("status", "keys"), [(503, "one"), (401, "one,two,three")])
def test_retries_and_further_keys_stay_within_the_limit(
    sleuth: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, status: int, keys: str
) -> None:
    monkeypatch.setattr("sleuth_providers.net.client.RETRY_PAUSE_S", 0.0)
    httpserver.expect_request("/search").respond_with_json({}, status)
    sleuth("providers", "set", "tavily", "--api-host", httpserver.url_for(""), "--api-key", "-", stdin=f"{keys}\n")
    sleuth("providers", "set", "tavily", "--option", "per_day=2")
    assert sleuth("search", "-p", "tavily", "x").exit in (4, 6)
    assert len(httpserver.log) == 2


def test_weight_of_zero_is_accepted(sleuth: Any, searxng: HTTPServer) -> None:
    assert sleuth("providers", "set", "searxng", "--option", "weight=0").exit == 0
    assert sleuth("search", "-p", "searxng", "--json", "x").json["results"][0]["score"] == 0


def test_key_that_a_server_repeats_is_hidden_in_the_error(sleuth: Any, httpserver: HTTPServer) -> None:
    key = "exakey0123456789abcd"
    httpserver.expect_request("/search").respond_with_data(
        status=302, headers={"Location": f"https://{key}.evil.example/"}
    )
    host = httpserver.url_for("").rstrip("/")
    sleuth("providers", "set", "exa", "--api-host", host, "--api-key", "-", stdin=f"{key}\n")
    done = sleuth("search", "-p", "exa", "--json", "--no-cache", "x")
    assert "redirected to another host" in done.out + done.err
    assert key not in done.out + done.err


def test_year_alone_decides_about_freshness(sleuth: Any, httpserver: HTTPServer) -> None:
    books = [
        {"key": f"/works/OL{year}W", "title": f"Book of {year}", "first_publish_year": year} for year in (1927, 2026)
    ]
    httpserver.expect_request("/search.json").respond_with_json({"docs": books})
    assert sleuth("providers", "set", "openlibrary", "--api-host", httpserver.url_for("")).exit == 0
    words = ("search", "-p", "openlibrary", "--category", "books", "--json", "lighthouse", "--freshness")
    done = sleuth(*words, "2026-02-01..2026-03-01")
    assert [(hit["title"], hit["year"], hit["published"]) for hit in done.json["results"]] == [
        ("Book of 2026", 2026, None)
    ]


@pytest.mark.parametrize(("options", "waits"), [((), [7.0]), (("--refresh",), []), (("--no-cache",), [])])
def test_only_a_search_that_may_use_the_answer_of_another_waits_for_it(
    options: tuple[str, ...], waits: list[float], sleuth: Any, searxng: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts: list[float] = []

    def single_flight(_: DiskCache, key: str, timeout: float) -> Any:
        timeouts.append(timeout)
        return nullcontext()

    monkeypatch.setattr(DiskCache, "single_flight", single_flight)
    assert sleuth("search", "-p", "searxng", *options, "new words", SLEUTH_SEARXNG_TIMEOUT="7").exit == 0
    assert timeouts == waits
