"""`sleuth search` as a person or a script uses it."""

import json
import sys
import threading
from pathlib import Path
from typing import Any

import jsonschema
import pexpect
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.serving.schemas import SEARCH_ANSWER

HIT = {"url": "https://a.example/", "title": "A", "content": "Text."}


@pytest.fixture
def searxng(sleuth: Any, httpserver: HTTPServer) -> HTTPServer:
    """A SearXNG with one result and one broken engine."""
    answer = {"results": [HIT], "unresponsive_engines": [["google", "timeout"]]}
    httpserver.expect_request("/search").respond_with_json(answer)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    return httpserver


def queries(server: HTTPServer) -> list[str]:
    return [request.args["q"] for request, _ in server.log]


def test_angle_brackets_are_part_of_the_query(sleuth: Any, searxng: HTTPServer) -> None:
    sleuth("search", "std::vector<int> ->", "at")
    assert queries(searxng) == ["std::vector<int> -> at"]


def test_dash_reads_the_query_from_standard_input(sleuth: Any, searxng: HTTPServer) -> None:
    for words in (["search", "-"], ["-"]):
        assert sleuth(*words, stdin="rust\nasync\n").exit == 0
    assert queries(searxng) == ["rust async"]  # and once from the cache
    assert sleuth("search", "-", stdin="other").exit == 0
    assert queries(searxng)[-1] == "other"
    assert sleuth("search", "-", stdin=" ").exit == 2


def test_option_in_place_of_a_value_is_refused(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-q", "-p", "searxng", "rust")
    assert (done.exit, done.err.splitlines()[0]) == (2, "error: -q needs a value; -p is an option")
    assert queries(searxng) == []
    assert sleuth("search", "--", "-q", "-p").exit == 0


def test_broken_engine_is_a_detail_of_a_good_answer(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--json", "x")
    assert (done.err, done.json["outcome"], done.json["warnings"]) == ("", "success", [])
    assert done.json["attempts"][0]["engines"] == {"google": "timeout"}
    assert "google: timeout" in sleuth("search", "-p", "searxng", "-v", "x").err


def test_quiet_search_prints_results_only(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-Q", "-p", "searxng", "--region", "CH", "word " * 200, terminal=True)
    assert "https://a.example/" in done.out
    assert done.err == ""


def test_missing_browser_is_an_error(sleuth: Any, searxng: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    done = sleuth("search", "-j", "x")
    assert "https://a.example/" in done.out
    assert (done.exit, done.err.splitlines()[-2]) == (1, "error: no browser was found to open https://a.example/")


def test_terminal_shows_what_a_search_waits_for(sleuth: Any, httpserver: HTTPServer) -> None:
    shown = threading.Event()

    def respond(_: Request) -> Response:
        shown.wait()
        return Response('{"results": [{"url": "https://a.example/", "title": "A"}]}', content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(respond)
    environ = sleuth.environ | {"SEARXNG_URL": httpserver.url_for("")}
    words = ["-m", "sleuth", "search", "-p", "searxng", "--timeout", "60", "x"]
    child = pexpect.spawn(sys.executable, words, env=environ, encoding="utf-8", timeout=30)
    child.expect("searxng … ")
    shown.set()
    child.expect("\\r\x1b\\[K")
    child.expect("https://a.example/")
    child.expect(pexpect.EOF)


def test_messages_are_wrapped_at_words_and_coloured_on_a_terminal(sleuth: Any) -> None:
    words = ["-m", "sleuth", "search", "-p", "no-such-provider-at-all", "x"]
    child = pexpect.spawn(sys.executable, words, env=sleuth.environ, encoding="utf-8", timeout=30, dimensions=(24, 30))
    child.expect(pexpect.EOF)
    lines = child.before.replace("\r", "").splitlines()
    assert lines[0].startswith("\x1b[1;31merror:\x1b[0m ")
    assert "'no-such-provider-at-all'" in child.before
    assert any(line.startswith("  ") for line in lines)


@pytest.mark.parametrize(
    ("value", "sent"), [("d", "day"), ("w", "week"), ("1m", "month"), ("Y", "year"), ("7d", "week"), ("365d", "year")]
)
def test_freshness_has_short_forms(sleuth: Any, searxng: HTTPServer, value: str, sent: str) -> None:
    assert sleuth("search", "-p", "searxng", "--freshness", value, "x").exit == 0
    assert searxng.log[0][0].args["time_range"] == sent


def test_freshness_in_other_numbers_of_days_is_a_range(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--freshness", "3d", "x")
    assert "--freshness was not applied to results without a date" in done.err
    weak = sleuth("search", "--freshness", "weak", "x")
    assert weak.err.splitlines()[0] == "error: invalid freshness 'weak'"


@pytest.mark.parametrize("name", ["SearXNG", "SEARXNG", "searxng"])
def test_provider_is_found_by_id_or_name_in_any_case(sleuth: Any, searxng: HTTPServer, name: str) -> None:
    assert sleuth("search", "-p", name, "--json", "x").json["provider"] == "searxng"
    assert sleuth("providers", "show", name, "--json").json["id"] == "searxng"


@pytest.mark.parametrize(
    ("site", "domain"), [("https://docs.python.org/3/", "docs.python.org"), ("www.python.org", "python.org")]
)
def test_site_may_be_a_url_or_have_www(sleuth: Any, searxng: HTTPServer, site: str, domain: str) -> None:
    sleuth("search", "-p", "searxng", "--site", site, "x")
    assert queries(searxng)[0] == f"x site:{domain}"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--region", "Switzerland"], "invalid region 'Switzerland'"),
        (["--limit", "3"], "search has no option --limit"),
        (["--json", "--template", "{url}"], "--template and --format json cannot be combined"),
        (["--json", "-f", "csv"], "--json and --format csv cannot be combined"),
        (["--fields", "url", "-f", "md"], "--fields and --format markdown cannot be combined"),
        (["--batch", "-"], "--batch and WORDS cannot be combined"),
        (["--timeout", "0"], "--timeout must be 0.1–600, not 0\n"),
        (["--resume", "-o", "out"], "--resume needs --batch"),
        (["--jobs", "2"], "--jobs needs --batch"),
        (["--explain", "-f", "csv"], "--explain and --format csv cannot be combined"),
        (["-p", "auto,brave"], "auto and brave cannot be combined"),
        (["--offline", "--refresh"], "--offline and --refresh cannot be combined"),
        (["--record", "a", "--replay", "b"], "--record and --replay cannot be combined"),
        (["--replay", ""], "error: --replay is empty"),
        (["--site", "a.example", "--site", ""], "error: --site is empty"),
        (["--template", "{rank"], "unbalanced brace in --template"),
        (["--template", "{title:>9999999999}"], "invalid width '>9999999999' in --template"),
        (["--template", "{title:9999}{title}"], "invalid width '9999' in --template"),
        (["--template", "{rank:03}"], "invalid width '03' in --template"),
        (["--template", "{title:{x}}"], "invalid width '{x}' in --template"),
        (["--count"], "error: --count needs a value"),
        (["-n", "99"], "error: --count must be 1–50, not 99"),
        (["-n", "many"], "error: --count must be a whole number, not 'many'"),
    ],
)
def test_contradictions_and_mistakes_are_refused(sleuth: Any, arguments: list[str], message: str) -> None:
    done = sleuth("search", "x", *arguments)
    assert done.exit == 2
    assert message in done.err
    assert "hint: see: sleuth --help" not in done.err


def test_provider_given_twice_counts_once(sleuth: Any, searxng: HTTPServer) -> None:
    assert sleuth("search", "-p", "auto,auto", "x").exit == 0


def test_question_of_a_batch_is_refused_by_its_name(sleuth: Any) -> None:
    done = sleuth("search", "--batch", "-", "-q", "x", stdin="apple\n")
    assert (done.exit, "--batch and --question cannot be combined" in done.err) == (2, True)


def test_comments_in_a_batch_are_skipped(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "--batch", "-", stdin="# fruit\napple\n\npear\n")
    assert sorted(line.split('"')[3] for line in done.out.splitlines()) == ["apple", "pear"]


def test_json_with_chosen_fields_fits_the_schema(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "--json", "--fields", "title,url", "x")
    jsonschema.validate(done.json, SEARCH_ANSWER)
    assert done.json["results"] == [{"title": "A", "url": "https://a.example/"}]


def test_failed_search_writes_its_document_to_a_new_file_only(
    sleuth: Any, httpserver: HTTPServer, tmp_path: Path
) -> None:
    httpserver.expect_request("/search").respond_with_data("", 500)
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_RETRIES": "1"}
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("{}")
    for path in (old, new):
        assert sleuth("search", "-p", "searxng", "--json", "-o", str(path), "x").exit == 6
    assert (old.read_text(), json.loads(new.read_text())["outcome"]) == ("{}", "failed")


@pytest.mark.parametrize("words", [("-o", "-"), ("--output", "-"), ("--output=-",), ("-o-",)])
def test_dash_as_output_is_standard_output(
    sleuth: Any, searxng: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sleuth("search", "-f", "urls", *words, "x").out == "https://a.example/\n"
    assert not (tmp_path / "-").exists()
