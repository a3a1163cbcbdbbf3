"""`sleuth open` and `sleuth again`: the results of the last search, without searching again."""

import json
import webbrowser
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer


@pytest.fixture
def searched(sleuth: Any, httpserver: HTTPServer) -> Any:
    """Run searches against a SearXNG that finds two results for every query."""

    def answer(request: Any) -> Any:
        from werkzeug import Response

        query = request.values["q"]
        numbers = () if query == "nothing" else (1, 2)
        host = query.replace(" | ", "-") + ".example"
        results = [{"title": f"{query} {n}", "url": f"https://{host}/{n}", "content": "x"} for n in numbers]
        import json

        return Response(json.dumps({"query": query, "results": results}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("").rstrip("/")

    def search(*arguments: str) -> Any:
        done = sleuth("search", "-p", "searxng", *arguments)
        assert done.exit == 0, done.err
        return done

    return search


def test_results_are_opened_by_number(sleuth: Any, searched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    searched("walrus")
    assert sleuth("open", "2").exit == 0
    assert sleuth("open").exit == 0
    assert opened == ["https://walrus.example/2", "https://walrus.example/1"]
    assert sleuth("open", "--print", "2", "1").out == "https://walrus.example/2\nhttps://walrus.example/1\n"
    assert sleuth("open", "--json", "2").json == [
        {"citation": 2, "title": "walrus 2", "url": "https://walrus.example/2"}
    ]
    done = sleuth("open", "7")
    assert done.exit == 2
    assert "there is no result 7" in done.err
    searched("nothing")
    done = sleuth("open", "1")
    assert (done.exit, opened[2:]) == (2, [])
    assert "the last search found nothing" in done.err


def test_url_is_shown_when_no_browser_opens(sleuth: Any, searched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    searched("walrus")
    done = sleuth("open", "1")
    assert done.exit == 1
    assert "https://walrus.example/1" in done.err


def test_again_shows_the_results_without_a_request(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    searched("walrus")
    requests = len(httpserver.log)
    out = sleuth("again").out
    assert "walrus 1" in out
    assert "https://walrus.example/2" in out
    assert sleuth("again", "-f", "urls").out.split() == ["https://walrus.example/1", "https://walrus.example/2"]
    assert sleuth("again", "--json").json["query"] == "walrus"
    assert len(httpserver.log) == requests


def test_last_search_may_be_one_whose_output_was_saved(sleuth: Any, searched: Any) -> None:
    for query in ("walrus", "walrus", "carpenter", "walrus"):  # the third walrus comes from the saved output
        searched(query)
    assert sleuth("open", "--print").out == "https://walrus.example/1\n"


def test_search_from_the_history_is_repeated(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    for query in ("walrus", "carpenter", "oyster"):
        searched(query)
    assert "walrus 1" in sleuth("again", "3", "-p", "searxng").out
    # That search is the newest one now.
    requests = len(httpserver.log)
    sleuth.environ["SLEUTH_WEBSEARCH_FALLBACK"] = "library"  # not what the last search used
    assert "walrus 1" in sleuth("again", "--refresh").out
    assert len(httpserver.log) > requests
    done = sleuth("again", "99")
    assert done.exit == 2
    assert "the history has no search 99" in done.err


def test_nothing_is_kept_without_a_history(sleuth: Any, searched: Any) -> None:
    sleuth.environ["SLEUTH_HISTORY_ENABLED"] = "false"
    searched("walrus")
    for command in ("open", "again"):
        done = sleuth(command)
        assert done.exit == 2
        assert "the history is off" in done.err
    assert not [path for path in sleuth.home.rglob("*") if path.name == "last-results.json"]


def test_older_results_are_not_taken_for_the_last_ones(sleuth: Any, searched: Any) -> None:
    searched("walrus")
    sleuth.environ["SLEUTH_HISTORY_ENABLED"] = "false"
    searched("carpenter")
    for words in (("open", "--print"), ("again",), ("read", "1")):
        done = sleuth(*words)
        assert (done.exit, done.out) == (2, "")
        assert "the history is off" in done.err


def test_results_are_opened_without_the_database(sleuth: Any, searched: Any) -> None:
    searched("walrus")
    (sleuth.home / "data" / "sleuth.db").write_bytes(b"this is no database" * 100)
    assert sleuth("open", "--print", "2").out == "https://walrus.example/2\n"


def test_clearing_the_history_deletes_the_results(sleuth: Any, searched: Any) -> None:
    searched("walrus")
    searched("carpenter")
    assert sleuth("history", "--clear", "--yes", "carpenter").exit == 0
    assert sleuth("open", "--print").out == "https://walrus.example/1\n"
    assert sleuth("history", "--clear", "--yes").exit == 0
    assert sleuth("open").exit == 2


def test_damaged_file_is_as_good_as_none(sleuth: Any, searched: Any) -> None:
    searched("walrus")
    path = next(sleuth.home.rglob("last-results.json"))
    entries = (
        '"x", []',
        "1, [[1, 2]]",
        "1, [], 5",
        '1, [], [], 5, "p", 7, []',
        '1, [], [], 5, "p", {}, [7]',
        '1, [], [], Infinity, "p", {}, []',
    )
    for text in ("", "[1]", '{"a": 1}', *(f'[["q", "p", {rest}]]' for rest in entries)):
        path.write_text(text)
        assert sleuth("open").exit == 2
    assert "walrus 1" in searched("--refresh", "walrus").out


@pytest.mark.parametrize(
    "url", ["--version", "javascript:alert(1)", "data:text/html,x", "ftp://a.test/", "/bin/sh", ""]
)
def test_only_web_addresses_and_files_of_the_library_are_opened(url: str, sleuth: Any, searched: Any) -> None:
    searched("walrus")
    path = next(sleuth.home.rglob("last-results.json"))
    saved = json.loads(path.read_text())
    saved[0][3][0][2] = url
    saved[0][3][1][2] = "file:///home/me/notes.md"
    path.write_text(json.dumps(saved))
    assert "there is no result 1" in sleuth("open", "1").err
    assert sleuth("open", "--print", "2").out == "file:///home/me/notes.md\n"


def test_history_on_a_terminal_has_the_numbers(sleuth: Any, searched: Any) -> None:
    searched("walrus")
    searched("carpenter")
    lines = sleuth("--color", "never", "history", terminal=True).out.splitlines()
    assert [line.split()[0] for line in lines] == ["1", "2"]
    assert sleuth("history", "--json", "walrus").json["items"][0]["number"] == 2


def test_results_are_read_by_number(sleuth: Any, searched: Any) -> None:
    searched("walrus")
    closed = {"HTTPS_PROXY": "http://127.0.0.1:1", "SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}
    assert "could not read https://walrus.example/2" in sleuth("read", "2", **closed).err
    assert "results are numbered from 1 to 2" in sleuth("summarize", "3").err


def test_again_goes_on_with_the_next_page(sleuth: Any, searched: Any) -> None:
    searched("-n", "1", "walrus")
    sleuth.environ["SLEUTH_WEBSEARCH_DEFAULT_PROVIDER"] = "library"
    assert sleuth("again", "-f", "urls", "--page", "2").out == "https://walrus.example/2\n"
    assert sleuth("again", "--page", "2", "-p", "nosuch").exit == 3


def test_again_goes_back_to_the_first_page(sleuth: Any, searched: Any) -> None:
    searched("-n", "1", "walrus")
    sleuth("again", "--page", "2")
    assert sleuth("again", "-f", "urls").out == "https://walrus.example/2\n"
    assert sleuth("again", "-f", "urls", "--page", "1").out == "https://walrus.example/1\n"


def test_several_questions_are_searched_for_again(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    searched("-n", "2", "-q", "walrus", "-q", "oyster | pearl")
    httpserver.clear_log()
    second = sleuth("again", "--page", "2", "--json").json
    assert (second["query"], [hit["citation"] for hit in second["results"]]) == ("walrus | oyster | pearl", [3, 4])
    assert httpserver.log == []
    sleuth("again", "--refresh")
    assert sorted(request.values["q"] for request, _ in httpserver.log) == ["oyster | pearl", "walrus"]
    searched("-q", "walrus", "-q", "seal")
    httpserver.clear_log()
    sleuth("again", "1", "-p", "searxng", "--refresh")
    assert sorted(request.values["q"] for request, _ in httpserver.log) == ["seal", "walrus"]


def test_query_with_a_bar_stays_one_query(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    searched("ls | grep")
    httpserver.clear_log()
    sleuth("again", "1", "-p", "searxng", "--refresh")
    assert [request.values["q"] for request, _ in httpserver.log] == ["ls | grep"]
    searched("-n", "1", "-q", "ls", "-q", "grep")
    assert sleuth("history", "-n", "3").out == "ls | grep\n" * 3
    assert [item["query"] for item in sleuth("history", "--json", "s | g").json["items"]] == ["ls | grep"] * 3
    assert sleuth("open", "--print", "2").exit == 2  # that was a result of the other search


def test_again_counts_pages_as_the_search_did(sleuth: Any, httpserver: HTTPServer) -> None:
    failing = {"2"}

    def answer(request: Any) -> Any:
        from werkzeug import Response

        page = request.values.get("pageno", "1")
        count = {"1": 10, "2": 3}.get(page, 0)
        rows = [{"title": f"{page}/{n}", "url": f"https://a.example/{page}/{n}"} for n in range(1, count + 1)]
        return Response(json.dumps({"results": rows}), 500 if page in failing else 200)

    httpserver.expect_request("/search").respond_with_handler(answer)
    sleuth.environ |= {"SEARXNG_URL": httpserver.url_for(""), "SLEUTH_WEBSEARCH_RETRIES": "1"}
    assert sleuth("search", "-p", "searxng", "-n", "8", "x").exit == 0
    for _ in range(2):
        assert [hit["title"] for hit in sleuth("again", "--page", "2", "--json").json["results"]] == ["1/9", "1/10"]
    failing.clear()
    assert [hit["citation"] for hit in sleuth("again", "--page", "2", "--json").json["results"]] == [9, 10, 11, 12, 13]
    done = sleuth("again", "--page", "3")
    assert (done.exit, done.out) == (0, "")
    assert "no more results" in done.err


def test_again_falls_back_if_the_search_was_allowed_to(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    sleuth.environ["SLEUTH_WEBSEARCH_FALLBACK"] = "library"
    searched("--fallback", "searxng json")
    httpserver.clear()
    httpserver.expect_request("/search").respond_with_data("", 500)
    again = sleuth("again", "--refresh", "--json")
    assert (again.exit, again.json["provider"]) == (0, "library")


def test_again_repeats_the_options_that_shaped_the_list(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    searched("--lang", "de", "--freshness", "week", "--exclude", "seal.example", "--engine", "bing", "walrus")
    for words in (("--refresh",), ("--no-cache",), ("--page", "2", "--refresh")):
        httpserver.clear_log()
        assert sleuth("again", *words).exit == 0
        sent = httpserver.log[0][0].values
        shaped = [sent[name] for name in ("q", "language", "time_range", "engines")]
        assert shaped == ["walrus -site:seal.example", "de", "week", "bing"]
    httpserver.clear_log()
    sleuth("again", "1", "-p", "searxng")  # only the words
    assert httpserver.log[0][0].values["q"] == "walrus"


def test_again_repeats_the_options_of_a_search_whose_output_was_saved(sleuth: Any, searched: Any) -> None:
    for _ in range(3):  # the last one comes from the saved output
        searched("--site", "oyster.example", "walrus")
    assert sleuth("again", "--refresh", "-f", "urls").out == ""


def test_again_ignores_damaged_options(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    searched("walrus")
    path = next(sleuth.home.rglob("last-results.json"))
    for options in ({"language": 7}, {"sites": "a"}, {"rules": ["x"]}, {"freshness": True}, {"nonsense": 1}):
        stored = json.loads(path.read_text())
        stored[0][7] = options
        path.write_text(json.dumps(stored))
        httpserver.clear_log()
        assert sleuth("again", "--refresh").exit == 0
        sent = httpserver.log[0][0].values
        assert (sent["q"], "time_range" in sent) == ("walrus", False)


def test_again_finds_the_rules_from_another_folder(
    sleuth: Any, searched: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "my.rules").write_text("$discard,site=walrus.example\n")
    monkeypatch.chdir(tmp_path)
    assert searched("--rules", "my.rules", "-f", "urls", "walrus").out == ""
    monkeypatch.chdir("/")
    assert sleuth("again", "--refresh", "-f", "urls").out == ""


def test_again_names_the_providers_as_the_search_did(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    sleuth("providers", "add", "--adapter", "searxng", "--id", "other", "--api-host", httpserver.url_for(""))
    first = sleuth("search", "-p", "searxng+other", "walrus", "--json").json
    assert first["provider"] == sleuth("again", "--json").json["provider"] == "searxng,other"
    done = sleuth("search", "nothing", SLEUTH_WEBSEARCH_FALLBACK="other+brave,searxng")
    assert done.exit == 0
    sleuth("providers", "set", "brave", "--disable")
    assert sleuth("again", "--refresh", SLEUTH_WEBSEARCH_FALLBACK="other+brave,searxng").exit == 0


@pytest.mark.parametrize("words", [("--refresh",), ("-p", "searxng"), ("--page", "1")])
def test_again_shows_as_many_results_as_the_search(sleuth: Any, searched: Any, words: tuple[str, ...]) -> None:
    searched("-n", "1", "walrus")
    assert sleuth("again", *words, "-f", "urls").out == "https://walrus.example/1\n"
    assert len(sleuth("again", *words, "-n", "2", "-f", "urls").out.split()) == 2


def test_again_stays_offline_until_it_is_refreshed(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    searched("-n", "1", "walrus")
    searched("--offline", "-n", "1", "walrus")
    httpserver.clear_log()
    assert sleuth("again", "--page", "2", "-f", "urls").out == "https://walrus.example/2\n"  # of the cached answer
    assert sleuth("again", "--page", "9").err.startswith("note: ")
    assert sleuth("again", "--offline", "-p", "searxng", "-f", "urls").out == "https://walrus.example/1\n"
    assert not httpserver.log
    assert sleuth("again", "--refresh").exit == 0
    assert len(httpserver.log) == 1


def test_again_does_not_use_the_cache_after_a_search_without_it(sleuth: Any, searched: Any) -> None:
    searched("-n", "1", "--no-cache", "walrus")
    assert sleuth("again", "--page", "2", "-f", "urls").out == "https://walrus.example/2\n"
    assert sleuth("again", "--refresh").exit == 0
    assert sleuth("search", "--offline", "-p", "searxng", "other").exit == 1
    assert not sleuth("search", "-p", "searxng", "--json", "seal", "--no-cache").json["cached"]


def test_searches_of_other_commands_do_not_change_the_last_results(sleuth: Any, searched: Any) -> None:
    sleuth("watch", "--name", "seen", "-p", "searxng", "carpenter")
    searched("-n", "1", "walrus")
    assert sleuth("watch", "run").exit == 7
    assert sleuth("open", "--print").out == "https://walrus.example/1\n"
    assert sleuth("again", "--page", "2", "-f", "urls").out == "https://walrus.example/2\n"
    assert sleuth("again", "--refresh", "-p", "searxng", "--json").json["query"] == "walrus"


def test_numbers_of_an_older_search_for_the_same_words_are_gone(sleuth: Any, searched: Any) -> None:
    searched("walrus")
    searched("-n", "1", "walrus")
    assert sleuth("open", "--print", "2").exit == 2


def test_results_of_saved_output_are_those_that_were_printed(sleuth: Any, searched: Any) -> None:
    for count in ("2", "2", "1", "2"):  # the last one comes from the saved output
        searched("-n", count, "walrus")
    assert sleuth("open", "--print", "2").out == "https://walrus.example/2\n"
    for query in ("a", "b", "c", "d", "e", "f"):
        searched(query)
    searched("-n", "2", "walrus")
    assert sleuth("again", "-f", "urls").out.split() == ["https://walrus.example/1", "https://walrus.example/2"]


def test_again_after_a_search_without_results_says_so(sleuth: Any, searched: Any) -> None:
    searched("nothing")
    assert "no results for 'nothing'" in sleuth("again", "-f", "urls").err


def test_opened_results_become_weights(
    sleuth: Any, searched: Any, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda _: True)
    found = {"results": [{"title": f"Other {n}", "url": f"https://other.example/{n}"} for n in range(3)]}
    httpserver.expect_request("/other/search").respond_with_json(found)
    host = httpserver.url_for("/other")
    sleuth("providers", "add", "--adapter", "searxng", "--id", "other", "--api-host", host)

    def weights(query: str) -> dict[str, float]:
        done = sleuth("search", "-p", "searxng,other", "--explain", "--json", query)
        return {vote["provider"]: vote["weight"] for hit in done.json["results"] for vote in hit["votes"]}

    before = weights("walrus")
    assert sleuth("open", "4").exit == 0
    assert weights("oyster") == before  # nothing is learnt by default
    sleuth("config", "set", "history.learn_weights", "true")
    assert sleuth("open", "4").exit == 0
    after = weights("carpenter")
    assert after["other"] > before["other"]
    assert after["searxng"] < before["searxng"]
    sleuth("history", "--clear", "--yes")
    assert weights("queen") == before


def test_results_that_cannot_be_saved_are_told(sleuth: Any, searched: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sleuth.base.files.write_atomic", full)
    assert "cannot save results" not in searched("walrus").err  # `open` says itself that it has none
    monkeypatch.undo()
    searched("walrus", "--refresh")
    monkeypatch.setattr("sleuth.base.files.write_atomic", full)
    done = searched("seal")
    assert "; `sleuth open` and `sleuth again` use those of an earlier search" in done.err


def test_a_search_of_the_library_alone_stays_there(sleuth: Any, searched: Any, httpserver: HTTPServer) -> None:
    assert sleuth("search", "-p", "library", "-n", "1", "enable json").exit == 0
    done = sleuth("again", "--refresh", "-f", "urls")
    assert (done.exit, httpserver.log) == (0, [])
    assert done.out.startswith("file://")


def test_a_search_for_which_the_library_stood_in_asks_the_web_again(sleuth: Any, searched: Any) -> None:
    web, sleuth.environ["SEARXNG_URL"] = sleuth.environ["SEARXNG_URL"], "http://127.0.0.1:1"
    sleuth.environ["SLEUTH_WEBSEARCH_FALLBACK"] = "searxng,library"
    assert sleuth("search", "enable json in searxng").out
    assert sleuth("again", "--json").json["provider"] == "library"
    assert sleuth("again", "--refresh", "--json", SEARXNG_URL=web).json["provider"] == "searxng"
