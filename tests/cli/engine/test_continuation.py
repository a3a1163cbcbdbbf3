"""The next page continues the list that was shown, whatever has happened since then."""

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

CHAIN = {"SLEUTH_WEBSEARCH_FALLBACK": "pa,pb"}


class Servers:
    """Two SearXNG servers, pa and pb, with ten results a page, and sleuth in front of them."""

    def __init__(self, sleuth: Any, httpserver: HTTPServer) -> None:
        self.sleuth, self.log = sleuth, httpserver.log
        self.status: dict[str, int] = {}  # by server
        self.fails_once = ""  # a server and its page
        self.empty: set[str] = set()
        httpserver.expect_request(re.compile("/p[ab]/search")).respond_with_handler(self.answer)
        for id in ("pa", "pb"):
            host = httpserver.url_for(f"/{id}")
            sleuth("providers", "add", "--adapter", "searxng", "--id", id, "--name", id.upper(), "--api-host", host)
        sleuth.environ |= {"SLEUTH_WEBSEARCH_RETRIES": "1", "SEARXNG_URL": httpserver.url_for("/pb")}

    def answer(self, request: Any) -> Response:
        id, page, word = request.path.split("/")[1], int(request.values.get("pageno", 1)), request.values["q"]
        names = [f"{id} {word} {n}" for n in range(page * 10 - 9, page * 10 + 1) if id not in self.empty]
        rows = [{"title": name, "url": f"https://{name.replace(' ', '-')}.example/"} for name in names]
        status = self.status.get(id, 200)
        if self.fails_once == f"{id}{page}":
            self.fails_once, status = "", 500
        return Response(json.dumps({"results": rows}), status, content_type="application/json")

    def __call__(self, *arguments: str, **environ: str) -> list[str]:
        """Return the titles of a search, or of another command."""
        urls = self.sleuth(*arguments, "-f", "urls", **environ).out.split()
        return [url.removeprefix("https://").removesuffix(".example/").replace("-", " ") for url in urls]

    def requests(self) -> list[str]:
        """Return the requests since the last call."""
        found = [request.path.split("/")[1] + request.values.get("pageno", "") for request, _ in self.log]
        self.log.clear()
        return found

    def change_cache(self, sql: str) -> None:
        with closing(sqlite3.connect(next(self.sleuth.home.rglob("answers/cache.db")))) as database, database:
            assert database.execute(sql).rowcount


@pytest.fixture
def servers(sleuth: Any, httpserver: HTTPServer) -> Servers:
    return Servers(sleuth, httpserver)


def titles(server: str, first: int, last: int, word: str = "x") -> list[str]:
    return [f"{server} {word} {n}" for n in range(first, last + 1)]


def test_provider_that_found_nothing_has_no_second_page(servers: Servers) -> None:
    servers.empty = {"pa"}
    servers.sleuth("providers", "use", "pa")
    assert servers("search", "x") == titles("pb", 1, 5)
    assert servers("search", "--page", "2", "x") == titles("pb", 6, 10)


def test_older_answer_is_not_taken_for_the_first_page(servers: Servers) -> None:
    assert servers("search", "x", **CHAIN) == titles("pa", 1, 5)
    servers.status = {"pa": 500}
    assert servers("search", "--refresh", "x", **CHAIN) == titles("pb", 1, 5)
    assert servers("search", "--page", "2", "x", **CHAIN) == titles("pb", 6, 10)
    assert servers("again", "--page", "3") == titles("pb", 11, 15)
    servers.status = {}
    assert servers("search", "--refresh", "x", **CHAIN) == titles("pa", 1, 5)
    assert servers("search", "--page", "2", "x", **CHAIN) == titles("pa", 6, 10)


def test_prompt_continues_what_it_showed_after_a_refresh(servers: Servers) -> None:
    servers("search", "x", **CHAIN)
    servers.status = {"pa": 500}
    done = servers.sleuth("search", "-i", "--refresh", "x", stdin="n\n", **CHAIN)
    assert re.findall(r"p[ab] x \d+", done.out) == titles("pb", 1, 10)


def test_number_of_results_in_the_settings_counts_like_the_option(servers: Servers) -> None:
    environ = {**CHAIN, "SLEUTH_WEBSEARCH_MAX_RESULTS": "15"}
    assert servers("search", "x", **environ) == titles("pa", 1, 15)
    assert servers("search", "--page", "2", "x", **environ) == titles("pa", 16, 30)


@pytest.mark.parametrize("is_interactive", [False, True])
def test_page_after_a_short_one_continues_where_it_ended(servers: Servers, is_interactive: bool) -> None:
    servers.fails_once = "pa2"
    if is_interactive:
        done = servers.sleuth("search", "-i", "-n", "15", "x", stdin="n\nn\n", **CHAIN)
        assert re.findall(r"p[ab] x \d+", done.out) == titles("pa", 1, 40)
        return
    assert servers("search", "-n", "15", "x", **CHAIN) == titles("pa", 1, 10)
    assert servers("again", "--page", "2") == titles("pa", 11, 25)
    assert servers("again", "--page", "3") == titles("pa", 26, 40)


def test_answer_to_one_question_is_not_the_page_for_several(servers: Servers) -> None:
    assert servers("search", "x", **CHAIN) == titles("pa", 1, 5)
    servers.status = {"pa": 429}
    servers("search", "other", **CHAIN)
    both = ("search", "-q", "x", "-q", "y")
    first, second = servers(*both, **CHAIN), servers(*both, "--page", "2", **CHAIN)
    assert sorted(first + second) == sorted(titles("pb", 1, 5) + titles("pb", 1, 5, "y"))


def test_named_providers_that_were_never_asked_join(servers: Servers) -> None:
    servers("search", "-p", "pa", "x")
    servers.requests()
    assert {title[:2] for title in servers("search", "-p", "pa+pb", "--page", "2", "x")} == {"pa", "pb"}
    assert servers.requests() == ["pb"]


@pytest.mark.parametrize("command", ["search", "again"])
def test_question_that_failed_does_not_join(servers: Servers, command: str) -> None:
    servers("search", "-p", "pb", "y")
    servers.status = {"pb": 500}
    options = ("-p", "pa+pb", "-q", "x", "-q", "y", "-n", "8")
    first = servers("search", *options)
    servers.status = {}
    second = servers(command, *(options if command == "search" else ()), "--page", "2")
    assert len({*first, *second}) == 16
    assert {" ".join(title.split()[:2]) for title in first + second} == {"pa x", "pa y", "pb y"}


@pytest.mark.parametrize("command", ["search", "again"])
def test_further_page_that_comes_late_is_added_at_the_end(servers: Servers, command: str) -> None:
    servers.fails_once = "pb2"
    options = ["search", "-p", "pa+pb", "x"]
    commands = [options] * 6 + [options if command == "search" else ["again"]] * 2
    shown = [servers(*words, "--page", str(page)) for page, words in enumerate(commands, 1)]
    assert shown[4:6] == [titles("pa", 11, 15), titles("pa", 16, 20)]
    assert sorted(title for page in shown for title in page) == sorted(titles("pa", 1, 20) + titles("pb", 1, 20))
    assert sorted(servers.requests()) == ["pa", "pa2", "pa3", "pb", "pb2", "pb2"]


def test_further_page_that_comes_late_in_the_prompt(servers: Servers) -> None:
    servers.fails_once = "pb2"
    done = servers.sleuth("search", "-i", "-p", "pa+pb", "-n", "25", "x", stdin="n\np\n")
    found = re.findall(r"p[ab] x \d+", done.out)
    assert (len(found), len(set(found))) == (75, 50)
    assert found[:25] == found[50:]


@pytest.mark.parametrize("chain", ["pa", "pa,pb"])
def test_expired_answer_is_none(servers: Servers, chain: str) -> None:
    environ = {"SLEUTH_WEBSEARCH_FALLBACK": chain}
    servers("search", "x", **environ)
    servers.change_cache("UPDATE Cache SET store_time = store_time - 1000, expire_time = expire_time - 1000")
    servers.status = {"pa": 429}
    pages = [servers("search", "--page", page, "x", **environ) for page in "112"]
    assert pages == ([[], [], []] if chain == "pa" else [titles("pb", 1, 5), titles("pb", 1, 5), titles("pb", 6, 10)])
    # After the one that met the limit, it is asked only if there is no other.
    assert servers.requests().count("pa") == (4 if chain == "pa" else 2)
    offline = servers("search", "--offline", "--page", "2", "x", **environ)
    assert offline == titles("pa" if chain == "pa" else "pb", 6, 10)


def test_offline_search_keeps_what_has_expired(servers: Servers) -> None:
    servers.status = {"pa": 500}
    servers("search", "x", **CHAIN)
    servers("search", "y", **CHAIN)
    servers.change_cache("UPDATE Cache SET store_time = store_time - 1000, expire_time = expire_time - 1000")
    found = [servers("search", "--offline", word, **CHAIN) for word in "xyx"]
    assert found == [titles("pb", 1, 5, word) for word in "xyx"]


def test_again_keeps_the_order_of_named_providers(servers: Servers) -> None:
    servers.sleuth("providers", "set", "pb", "--option", "weight=1.2")
    servers.sleuth("providers", "add", "--adapter", "searxng", "--id", "none", "--api-host", "http://127.0.0.1:9")
    shown = (
        servers("search", "-p", "pa,none,pb", "x") + servers("again", "--page", "2") + servers("again", "--page", "3")
    )
    assert len(set(shown)) == 15
    assert shown == [title for page in "123" for title in servers("search", "-p", "pa,none,pb", "--page", page, "x")]


def test_again_goes_on_with_what_stood_in_for_a_named_provider(servers: Servers) -> None:
    servers.status = {"pa": 500}
    options = ("-p", "pa", "--fallback", "x")
    assert servers("search", *options, **CHAIN) == titles("pb", 1, 5)
    assert servers("search", "--page", "2", *options, **CHAIN) == titles("pb", 6, 10)
    servers.status = {}
    assert servers("again", "--page", "3", **CHAIN) == titles("pb", 11, 15)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("-p", "pa,pb", "--fallback"), "pb"),
        (("-p", "pa,pb", "--no-cache"), "pb"),
        (("-p", "pa,pb", "--content"), "pb"),
        (("-p", "pa,pb", "--compress", "rag"), "pb"),
        (("-p", "pa", "--fallback"), "pb"),
    ],
)
def test_again_continues_what_was_shown_although_a_provider_works_again(
    servers: Servers, options: tuple[str, ...], expected: str
) -> None:
    servers.sleuth("config", "set", "fetch.jina", "false")
    servers.sleuth("config", "set", "fetch.archive", "false")
    servers.status = {"pa": 503}
    assert servers("search", *options, "x", **CHAIN) == titles(expected, 1, 5)
    servers.status = {}
    assert servers("again", "--page", "2", **CHAIN) == titles(expected, 6, 10)
    assert servers("again", "--page", "3", **CHAIN) == titles(expected, 11, 15)
    assert servers("again", "--page", "1", **CHAIN)[0][:2] in ("pa", "pb")


def test_again_continues_after_the_cached_answers_have_expired(servers: Servers) -> None:
    servers.status = {"pa": 500}
    assert servers("search", "x", **CHAIN) == titles("pb", 1, 5)
    servers.status = {}
    servers.change_cache("UPDATE Cache SET store_time = store_time - 1000, expire_time = expire_time - 1000")
    assert servers("again", "--page", "2", **CHAIN) == titles("pb", 6, 10)


def test_again_continues_in_the_library_if_it_stood_in(servers: Servers) -> None:
    servers.sleuth("config", "set", "websearch.fallback", '["pa", "library"]')
    servers.status = {"pa": 500}
    words = ("enable", "json", "in", "searxng")
    first = servers.sleuth("search", *words, "-n", "2", "-f", "urls").out.split()
    servers.status = {}
    second = servers.sleuth("again", "--page", "2", "-f", "urls").out.split()
    assert (len({*first, *second}), {url.partition(":")[0] for url in first + second}) == (4, {"file"})


def test_cooldown_is_no_reason_offline(servers: Servers) -> None:
    servers("search", "x", SLEUTH_WEBSEARCH_FALLBACK="pa")
    servers.status = {"pa": 429}
    servers("search", "y", SLEUTH_WEBSEARCH_FALLBACK="pa")
    done = servers.sleuth("search", "--offline", "-q", "x", "-q", "z", "-f", "urls", SLEUTH_WEBSEARCH_FALLBACK="pa")
    assert (done.exit, len(done.out.split())) == (0, 5)
    assert servers.sleuth("search", "--offline", "z", SLEUTH_WEBSEARCH_FALLBACK="pa").exit == 1


def test_provider_that_was_disabled_gets_no_further_query(servers: Servers) -> None:
    servers("search", "x", **CHAIN)
    servers.sleuth("providers", "set", "pa", "--disable")
    servers.requests()
    servers("search", "--page", "3", "x", **CHAIN)
    assert set(servers.requests()) == {"pb", "pb2"}


@pytest.mark.parametrize(
    "entry",
    [
        *("5", '"x"', "{}", '{"a": 1}', "[5]", "[[5]]", "[[[]]]", '[[["pb"]]]', '[[["pb", []]]]', '[[[["pb"], 0]]]'),
        *('[[["pb", 1e999]]]', '[[["pb", 7]]]', '[[["nosuch", 0]]]', '[[["brave", 0]]]', "[[]]", "[[], []]"),
        *('[[["pb", 0]], 5]', '[[["pb", 0]], [["brave", 0], ["pa", 0]]]'),
    ],
)
def test_damaged_entry_of_the_cache_selects_no_other_provider(servers: Servers, entry: str) -> None:
    servers.status = {"pa": 429}
    servers("search", "x", **CHAIN)
    servers.requests()
    servers.change_cache(f"UPDATE Cache SET value = '{entry}' WHERE value LIKE '[[[%'")
    assert servers("search", "--page", "2", "x", **CHAIN) == titles("pb", 6, 10)
    assert servers.requests() == []


def test_search_whose_providers_all_answered_stores_nothing_else(servers: Servers) -> None:
    servers("search", "-p", "pa+pb", "-n", "25", "x")
    with closing(sqlite3.connect(next(servers.sleuth.home.rglob("answers/cache.db")))) as database:
        assert database.execute("SELECT count(*) FROM Cache").fetchone() == (4,)
