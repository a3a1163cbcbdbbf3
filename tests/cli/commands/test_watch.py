"""`sleuth watch`: saved searches, and only what is new."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

ATOM = {"a": "http://www.w3.org/2005/Atom"}
HOSTILE = 'x</title><script>alert("1")</script> & \x1b[31m\x0b <b>'


class News:
    """A SearXNG whose results a test changes."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.queries: list[dict[str, str]] = []
        self.status = 200
        self.failing = ""  # a query

    def answer(self, request: Request) -> Response:
        self.queries.append(request.values.to_dict())
        results = [
            {"title": f"About {name}", "url": f"https://a.example/{name}", "content": name} for name in self.names
        ]
        document = {"query": request.values["q"], "results": results}
        status = 500 if request.values["q"] == self.failing else self.status
        return Response(json.dumps(document), status, content_type="application/json")


@pytest.fixture
def news(sleuth: Any, httpserver: HTTPServer) -> News:
    found = News()
    httpserver.expect_request("/search").respond_with_handler(found.answer)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("").rstrip("/")
    return found


def watch(sleuth: Any, *arguments: str) -> Any:
    return sleuth("watch", "-p", "searxng", "-f", "urls", *arguments)


def test_only_new_results_are_shown(sleuth: Any, news: News) -> None:
    news.names = ["one", "two"]
    done = watch(sleuth, "walrus")
    assert (done.exit, done.out.split()) == (0, ["https://a.example/one", "https://a.example/two"])
    done = watch(sleuth, "walrus")
    assert (done.exit, done.out, done.err) == (7, "", "")
    news.names = ["three", "one", "two"]
    done = watch(sleuth, "walrus")
    assert (done.exit, done.out) == (0, "https://a.example/three\n")


def test_empty_domain_is_refused_and_nothing_is_saved(sleuth: Any, news: News) -> None:
    done = watch(sleuth, "walrus", "--site", "")
    assert (done.exit, done.err.splitlines()[0]) == (2, "error: --site is empty")
    assert sleuth("watch", "list").out == ""
    assert not news.queries


def test_options_for_all_saved_searches_are_refused(sleuth: Any, news: News) -> None:
    watch(sleuth, "walrus")
    done = sleuth("watch", "run", "-n", "3")
    assert (done.exit, done.err.splitlines()[0]) == (2, "error: these options need a saved search")


def test_what_is_new_can_be_opened_by_its_number(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    watch(sleuth, "walrus")
    news.names = ["one", "two", "three"]
    sleuth("watch", "walrus", terminal=True)
    assert sleuth("open", "--print", "2").out == "https://a.example/three\n"
    news.names = ["four"]
    watch(sleuth, "walrus")  # as cron does
    assert sleuth("open", "--print", "2").out == "https://a.example/three\n"


def test_options_are_saved_with_the_search(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    watch(sleuth, "--lang", "de", "--category", "news", "walrus", "oyster")
    assert sleuth("watch", "run", "walrus", "oyster").exit == 7
    assert [(query["language"], query["categories"]) for query in news.queries] == [("de", "news")] * 2
    item = sleuth("watch", "list", "--json").json["items"][0]
    assert (item["name"], item["query"], item["known"]) == ("walrus-oyster", "walrus oyster", 1)
    assert item["options"] == {"providers": ["searxng"], "language": "de", "category": "news"}


def test_all_saved_searches_run_without_words(sleuth: Any, news: News) -> None:
    assert sleuth("watch", "run").exit == 2
    news.names = ["one"]
    watch(sleuth, "walrus")
    watch(sleuth, "--name", "second", "oyster")
    news.names = ["two"]
    done = sleuth("watch", "run", "-f", "urls")
    assert (done.exit, done.out) == (0, "https://a.example/two\n" * 2)
    assert sleuth("watch", "run").exit == 7


@pytest.fixture
def two(sleuth: Any, news: News) -> None:
    """Two saved searches, each with one new result."""
    for words in (("--name", "first", "walrus"), ("--name", "second", "oyster")):
        watch(sleuth, *words)
    news.names = ["one"]


@pytest.mark.usefixtures("two")
def test_file_holds_what_is_new_in_all_saved_searches(sleuth: Any, tmp_path: Path) -> None:
    file = tmp_path / "missing" / "new.csv"
    assert sleuth("watch", "run", "-f", "csv", "-o", str(file)).exit == 2
    file.parent.mkdir()
    assert sleuth("watch", "run", "-f", "csv", "-o", str(file)).exit == 0  # nothing was lost
    assert [line.split(",")[0] for line in file.read_text().splitlines()] == ["rank", "1", "2"]


@pytest.mark.usefixtures("two")
def test_json_of_several_saved_searches_is_one_document(sleuth: Any) -> None:
    document = sleuth("watch", "run", "--json").json
    assert (document["query"], document["provider"]) == ("walrus | oyster", "searxng")
    assert [hit["citation"] for hit in document["results"]] == [1, 2]
    assert [attempt["provider"] for attempt in document["attempts"]] == ["searxng", "searxng"]
    status = {"phase": "default", "countBefore": 2, "countAfter": 2, "more": False}
    assert (document["outcome"], document["status"]) == ("success", status)


@pytest.mark.usefixtures("two")
def test_outcome_of_several_saved_searches_is_partial_if_one_is(sleuth: Any, news: News) -> None:
    watch(sleuth, "--name", "second", "-p", "searxng,brave", "oyster")
    news.names = ["two", "one"]
    document = sleuth("watch", "run", "--json", BRAVE_API_KEY="").json
    assert (len(document["results"]), document["outcome"]) == (3, "partial")


@pytest.mark.usefixtures("two")
def test_saved_search_that_fails_is_in_the_document_of_the_others(sleuth: Any, news: News) -> None:
    news.failing = "oyster"
    done = sleuth("watch", "run", "--json", SLEUTH_WEBSEARCH_RETRIES="1")
    assert ([hit["url"] for hit in done.json["results"]], done.json["outcome"]) == (
        ["https://a.example/one"],
        "partial",
    )
    (warning,) = done.json["warnings"]
    assert warning.startswith("second: SearXNG is unavailable")
    assert (done.exit, done.err) == (0, f"warning: {warning}\n")


@pytest.mark.usefixtures("two")
def test_results_of_all_saved_searches_can_be_opened(sleuth: Any, news: News) -> None:
    sleuth("watch", "run", "first")
    news.names = ["two", "one"]
    sleuth("watch", "run", terminal=True)
    assert sleuth("open", "--print", "1", "2", "3").out.split() == [
        f"https://a.example/{name}" for name in ("two", "two", "one")
    ]


@pytest.mark.usefixtures("two")
def test_results_of_several_saved_searches_are_no_search_to_repeat(sleuth: Any, news: News) -> None:
    sleuth("watch", "run", "first")
    news.names = ["two", "one"]
    sleuth("watch", "run", terminal=True)
    for words in (("--refresh",), ("--page", "2"), ("-p", "searxng"), ("-n", "1")):
        done = sleuth("again", *words)
        error = "these are the results of several saved searches", "run them again: sleuth watch run"
        assert (done.exit, done.err) == (2, "error: {}\nhint: {}\n".format(*error))
    assert len(sleuth("again", "-f", "urls").out.split()) == 3


def test_failing_program_of_one_saved_search_leaves_the_others(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    watch(sleuth, "--name", "first", "--exec", f"{sys.executable} -c 'raise SystemExit(3)'", "walrus")
    watch(sleuth, "--name", "second", "oyster")
    news.names = ["two"]
    done = sleuth("watch", "run", "-f", "urls")
    assert (done.exit, done.out.split().count("https://a.example/two")) == (0, 2)
    assert "warning: first: " in done.err
    assert sleuth("watch", "run").exit == 1  # only the first one again


def test_searches_are_listed_and_removed(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    watch(sleuth, "walrus")
    watch(sleuth, "--name", "海象", "oyster")
    lines = sleuth("watch", "list").out.splitlines()
    assert sorted(re.sub(r"\d\d\d\d-.*", "|", line) for line in lines) == ["walrus  |", "海象    |"]
    assert sleuth("watch", "remove", "walrus", "海象").exit == 0
    assert sleuth("watch", "list").out == ""
    done = sleuth("watch", "remove", "walrus")
    assert done.exit == 2
    assert "no saved search 'walrus'" in done.err
    assert sleuth("watch", "remove", "../../sleuth").exit == 2


def test_feed_is_atom_and_escapes_everything(sleuth: Any, news: News, tmp_path: Path) -> None:
    feed = tmp_path / "feed.xml"
    news.names = ["one"]
    watch(sleuth, "--feed", str(feed), "walrus <& oyster>")
    news.names = [HOSTILE, "one"]
    watch(sleuth, "walrus <& oyster>")
    assert "<script" not in feed.read_text()
    root = ET.fromstring(feed.read_text())
    assert root.tag == "{http://www.w3.org/2005/Atom}feed"
    assert root.findtext("a:title", namespaces=ATOM) == "walrus <& oyster>"
    entries = root.findall("a:entry", ATOM)
    assert len(entries) == 2  # earlier finds stay in the feed
    for entry in entries:
        for tag in ("id", "title", "updated", "summary"):
            assert entry.findtext(f"a:{tag}", namespaces=ATOM), tag
        link = entry.find("a:link", ATOM)
        assert link is not None
        assert link.attrib["href"].startswith("https://a.example/")
    assert len({entry.findtext("a:id", namespaces=ATOM) for entry in entries}) == 2


def test_program_gets_the_new_results_as_json(sleuth: Any, news: News, tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    program = f"{sys.executable} -c \"import sys; open(r'{seen}', 'w').write(sys.stdin.read())\""
    news.names = ["one"]
    assert watch(sleuth, "--exec", program, "walrus").exit == 0
    document = json.loads(seen.read_text())
    assert document["watch"] == "walrus"
    assert [hit["url"] for hit in document["results"]] == ["https://a.example/one"]
    seen.unlink()
    assert watch(sleuth, "walrus").exit == 7
    assert not seen.exists()  # it runs only if something is new


def test_web_text_never_reaches_a_shell(sleuth: Any, news: News, tmp_path: Path) -> None:
    news.names = [f"$(touch {tmp_path}/pwned)", f"; touch {tmp_path}/pwned", f"`touch {tmp_path}/pwned`"]
    assert watch(sleuth, "--exec", f"{sys.executable} -c 'import sys; sys.stdin.read()' ; $(x)", "walrus").exit == 0
    assert not (tmp_path / "pwned").exists()


def test_results_come_again_after_a_program_or_a_search_failed(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    done = watch(sleuth, "--exec", f"{sys.executable} -c 'raise SystemExit(3)'", "walrus")
    assert done.exit == 1
    assert "failed with exit status 3" in done.err
    assert watch(sleuth, "--exec", "/nowhere/program", "walrus").exit == 2
    saved = sleuth("watch", "list", "--json").json["items"]
    assert [(one["query"], one["exec"], one["known"]) for one in saved] == [("walrus", "/nowhere/program", 0)]
    assert sleuth("watch", "run").exit == 2
    assert watch(sleuth, "--exec", "true", "walrus").exit == 0
    news.names = ["two", "one"]
    news.status = 500
    assert watch(sleuth, "walrus").exit != 0
    news.status = 200
    assert watch(sleuth, "walrus").exit == 0


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such modes")
def test_file_that_anyone_may_write_runs_nothing(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    watch(sleuth, "walrus")
    path = next(sleuth.home.rglob("walrus.json"))
    path.chmod(0o666)
    done = watch(sleuth, "walrus")
    assert done.exit == 2
    assert "another user owns it or its folder" in done.err


def test_damaged_file_is_an_error_that_names_it(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    watch(sleuth, "walrus")
    path = next(sleuth.home.rglob("walrus.json"))
    for text in ("", "[]", '{"name": 1}'):
        path.write_text(text)
        done = watch(sleuth, "walrus")
        assert done.exit == 2
        assert "walrus.json is damaged" in done.err
    assert sleuth("watch", "remove", "walrus").exit == 0


def test_name_of_a_saved_search_runs_it_with_its_options(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    watch(sleuth, "--lang", "de", "Sea", "walrus")
    news.names = ["one", "two"]
    done = sleuth("watch", "run", "sea-walrus", "-f", "urls")
    assert (done.exit, done.out) == (0, "https://a.example/two\n")
    assert (news.queries[-1]["q"], news.queries[-1]["language"]) == ("Sea walrus", "de")


def test_quotes_and_capitals_do_not_make_another_search(sleuth: Any, news: News) -> None:
    news.names = ["one"]
    watch(sleuth, "sea", "walrus")
    assert watch(sleuth, "Sea walrus").exit == 7


@pytest.mark.parametrize("arguments", [("c#", "jobs"), ("--name", "c-jobs", "walrus")])
def test_other_words_do_not_replace_a_saved_search(sleuth: Any, news: News, arguments: tuple[str, ...]) -> None:
    news.names = ["one"]
    watch(sleuth, "c++", "jobs")
    done = watch(sleuth, *arguments)
    assert (done.exit, done.out) == (2, "")
    assert "c-jobs is the saved search 'c++ jobs'" in done.err
    assert json.loads(sleuth("watch", "list", "--json").out)["items"][0]["query"] == "c++ jobs"
