"""`sleuth providers`, through the real main."""

import json
import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.runtime import Runtime

KEY = "tvly-secret-0123456789f"


def on_terminal(sleuth: Any, monkeypatch: pytest.MonkeyPatch, columns: int, *arguments: str) -> str:
    monkeypatch.setenv("COLUMNS", str(columns))
    return str(sleuth("--color", "never", "providers", *arguments, terminal=True).out)


def test_list_groups_providers_by_what_they_need(sleuth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    del sleuth.environ["SEARXNG_URL"]
    out = on_terminal(sleuth, monkeypatch, 120, "list")
    ready, _, lacking = out.partition("Needs an API key, available at")
    ready, _, unset = ready.partition("Not set up")
    assert "duckduckgo" in ready
    assert "wikipedia" in ready
    assert "searxng" in unset  # none is configured, and none has answered
    assert re.search(r"brave\s+Brave Search\s.* https://", lacking)


@pytest.mark.parametrize("columns", [120, 80, 60, 30])
def test_list_breaks_no_id_and_no_url(sleuth: Any, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    lines = on_terminal(sleuth, monkeypatch, columns, "list").splitlines()
    items = sleuth("providers", "list", "--json").json["items"]
    words = {word for line in lines for word in line.split()}
    assert {item["id"] for item in items} <= words
    assert {item["keyPage"] for item in items if item["needs"] == "key"} <= words
    assert all(len(line) <= columns or "https://" in line for line in lines)
    assert [line for line in lines if line != line.rstrip()] == []


def test_show_has_no_trailing_spaces(sleuth: Any) -> None:
    lines = sleuth("providers", "show", "searxng").out.splitlines()
    assert [line for line in lines if line != line.rstrip()] == []
    assert "understands   timeout_limit: seconds that SearXNG waits for its engines" in lines


def test_list_in_a_pipe_has_one_line_a_provider(sleuth: Any) -> None:
    del sleuth.environ["SEARXNG_URL"]
    lines = sleuth("providers", "list").out.splitlines()
    rows = {row[0]: row[1:] for row in (line.split("\t") for line in lines)}
    assert len(rows) == len(lines) == sleuth("providers", "list", "--json").json["total"]
    assert {len(row) for row in rows.values()} == {5}
    assert rows["brave"] == ["Brave Search", "api", "key", "-", "https://api-dashboard.search.brave.com/app/keys"]
    assert rows["searxng"][2] == "unset"


def test_list_marks_the_fallback_chain(sleuth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sleuth("config", "set", "websearch.fallback", '["wikipedia", "duckduckgo"]')
    out = on_terminal(sleuth, monkeypatch, 80, "list")
    assert re.search(r"^ 2 duckduckgo ", out, re.MULTILINE)
    assert out.startswith("Used by searches without -p, in this order\n 1 wikipedia ")
    chain = {item["id"]: item["chain"] for item in sleuth("providers", "list", "--json").json["items"]}
    assert (chain["wikipedia"], chain["duckduckgo"], chain["brave"]) == (1, 2, None)


def test_facts_of_one_provider_are_for_people(sleuth: Any) -> None:
    out = sleuth("providers", "show", "Brave").out  # ids and names in any case
    assert re.search(r"createdAt\s+20\d\d-\d\d-\d\d \d\d:\d\d", out)
    assert "for 1,000 requests" in out
    assert isinstance(sleuth("providers", "show", "brave", "--json").json["createdAt"], int)


@pytest.mark.parametrize("name", ["SearXNG", "SEARXNG", "searxng"])
def test_provider_is_found_in_any_case(sleuth: Any, name: str) -> None:
    del sleuth.environ["SEARXNG_URL"]
    assert sleuth("providers", "set", name, "--api-host", "http://127.0.0.1:9").exit == 0
    assert sleuth("providers", "show", name, "--json").json["apiHost"] == "http://127.0.0.1:9"
    assert sleuth("search", "-p", name, "walrus").exit == 6
    assert sleuth("providers", "reset", name).exit == 0
    assert "did you mean searxng?" in sleuth("providers", "show", "SEARXN").err


def test_default_without_a_key_is_a_warning(sleuth: Any) -> None:
    done = sleuth("providers", "use", "brave")
    assert done.exit == 0
    assert "Brave Search needs an API key" in done.err
    assert "\nhint: set one: sleuth providers set brave --api-key -\n" in done.err
    assert "warning" not in sleuth("providers", "use", "wikipedia").err


def test_new_provider_is_named_by_an_argument_or_an_option(sleuth: Any) -> None:
    url = "http://127.0.0.1:9/s?q=%s"
    assert sleuth("providers", "add", "wiki", "--url", url).exit == 0
    assert sleuth("providers", "add", "--id", "forum", "--api-host", url).exit == 0
    assert sleuth("providers", "show", "wiki", "--json").json["apiHost"] == url
    for words in ((), ("one", "--id", "two")):
        done = sleuth("providers", "add", *words, "--url", url)
        assert done.exit == 2
        assert "give one id" in done.err


def test_change_names_the_next_step(sleuth: Any) -> None:
    assert "test it: sleuth providers test brave" in sleuth("providers", "set", "brave", "--api-key", "env:KEY").err
    done = sleuth("search", "-p", "brave", "x")
    reason = "the API key of Brave Search comes from KEY, which is not set"
    assert (done.exit, done.err.splitlines()[0]) == (4, f"error: {reason}")
    rows = sleuth("providers", "list", "--json").json["items"]
    assert next(row["why"] for row in rows if row["id"] == "brave") == reason
    empty = sleuth("providers", "set", "brave", "--api-key", "")
    assert empty.err.endswith("hint: to clear it: sleuth providers set ID --unset api_key\n")
    assert "no API key of brave given" in sleuth("providers", "set", "brave", "--api-key", "-", stdin="").err
    two = sleuth("providers", "set", "brave", "--api-key", "-", stdin="first-key\nsecond-key\n")
    assert (two.exit, "more than one line given for API key of brave" in two.err) == (2, True)
    assert "key" not in two.err.partition("for API key")[2].partition("hint")[0]


def test_list_is_paged(sleuth: Any) -> None:
    whole = sleuth("providers", "list", "--json").json
    assert whole["total"] == len(whole["items"]) >= 25
    page = sleuth("providers", "list", "--json", "--limit", "2", "--offset", "3").json
    assert page["items"] == whole["items"][3:5]
    assert (page["limit"], page["offset"]) == (2, 3)


def test_key_from_a_pipe_is_stored_and_masked(sleuth: Any) -> None:
    assert sleuth("providers", "set", "tavily", "--api-key", "-", stdin=f"{KEY}\n").exit == 0
    shown = sleuth("providers", "show", "tavily", "--json").json
    assert (shown["apiKey"], shown["keySource"]) == ("tvly…9f", "table")


def test_key_is_sent_only_to_the_host_it_was_set_for(sleuth: Any, httpserver: HTTPServer) -> None:
    received: list[str] = []

    def keep(request: Request) -> Response:
        received.append(str(request.headers) + request.get_data(as_text=True))
        return Response("{}", status=500)

    httpserver.expect_request(re.compile(".*")).respond_with_handler(keep)
    host, env = httpserver.url_for(""), {"EXA_API_KEY": "exa-env-key-0001"}
    sleuth("providers", "set", "tavily", "--api-key", "-", stdin="tvly-table-key-0001")
    refused = sleuth("providers", "set", "tavily", "--api-host", host)
    assert (refused.exit, "sleuth providers set tavily" in refused.err) == (2, True)
    assert sleuth("providers", "set", "exa", "--api-host", host).exit == 0
    missing = sleuth("search", "-p", "exa", "x", **env)
    assert (missing.exit, "was set for another host" in missing.err) == (4, True)
    shown = sleuth("providers", "show", "exa", "--json", **env).json
    assert (shown["usable"], "was set for another host" in str(shown["why"])) == (False, True)
    sleuth("providers", "set", "perplexity", "--api-key", "-", stdin="pplx-table-key-0001")
    assert sleuth("search", "-p", "perplexity", "x", PERPLEXITY_BASE_URL=host).exit == 4
    assert not [text for text in received if "-key-0001" in text]
    assert sleuth("providers", "set", "exa", "--api-key", "env:EXA_API_KEY").exit == 0
    sleuth("search", "-p", "exa", "x", **env)
    assert [text for text in received if "exa-env-key-0001" in text]


def test_login_is_sent_only_to_the_hosts_it_was_set_for(sleuth: Any, httpserver: HTTPServer) -> None:
    logins: list[str] = []

    def keep(request: Request) -> Response:
        logins.append(request.headers.get("Authorization", ""))
        return Response("{}", status=500)

    httpserver.expect_request(re.compile(".*")).respond_with_handler(keep)
    sleuth.environ.pop("SEARXNG_URL")
    own, login = "http://127.0.0.1:9", ("--basic-auth-username", "me", "--basic-auth-password", "-")
    sleuth("providers", "set", "searxng", "--api-host", own, *login, stdin="secret-word")
    sleuth("search", "-p", "searxng", "x", SEARXNG_URL=httpserver.url_for(""))
    assert set(logins) == {""}
    # The first part of the list is the origin that the password belongs to; the second is not.
    several = sleuth("providers", "set", "searxng", "--api-host", f"{own}/,{httpserver.url_for('')}")
    assert (several.exit, "password for its present host" in several.err) == (2, True)
    sleuth("providers", "set", "searxng", "--api-host", httpserver.url_for(""), *login, stdin="secret-word")
    sleuth("search", "-p", "searxng", "x")
    assert logins[-1].startswith("Basic ")


def test_key_of_a_jina_mirror_does_not_go_to_the_jina_reader(sleuth: Any) -> None:
    def reader_key() -> str:
        with closing(Runtime(sleuth.environ)) as runtime:
            return runtime.reader.jina_key

    sleuth("providers", "set", "jina", "--api-host", "https://mirror.example", "--api-key", "-", stdin="jina_mirror_1")
    assert reader_key() == ""
    sleuth("providers", "set", "jina", "--unset", "api_host", "--api-key", "-", stdin="jina_own_1")
    assert reader_key() == "jina_own_1"
    sleuth.environ["SLEUTH_JINA_HOST"] = "https://reader.example"  # only a key of the environment goes there
    assert reader_key() == ""
    sleuth.environ["JINA_API_KEY"] = "jina_reader_1"
    assert reader_key() == "jina_reader_1"


@pytest.mark.parametrize(
    ("stored", "environ", "source", "usable"),
    [
        ("env:MINE", {"MINE": "k"}, "env:MINE", True),
        ("env:MINE", {}, None, False),
        ("cmd:printf key", {}, "cmd", True),
        (None, {"BRAVE_API_KEY": "k"}, "BRAVE_API_KEY", True),
        (None, {}, None, False),
    ],
)
def test_source_of_a_key_is_shown(sleuth: Any, stored: str | None, environ: Any, source: Any, usable: bool) -> None:
    if stored:
        sleuth("providers", "set", "brave", "--api-key", stored)
    shown = sleuth("providers", "show", "brave", "--json", **environ).json
    assert (shown["keySource"], shown["usable"]) == (source, usable)


@pytest.mark.parametrize(
    "words",
    [
        ("--api-host", "not a url"),
        ("--api-host", "ftp://x"),
        ("--api-host", "http://user:pw@host/"),
        ("--api-host", "http://host:99999/"),
        ("--type", "other"),
        ("--option", "noequals"),
        ("--option", "htm=on"),
        ("--option", "html=maybe"),
        ("--option", "timeout_limit=abc"),
        ("--engines", "[1"),
        ("--engines", "[1]"),
        ("--engines", '{"a": 1}'),
        ("--engines", "{a = 1}"),
        ("--unset", "name"),
        ("--unset", "nosuch"),
        ("--name", " "),
        (),
    ],
)
def test_invalid_values_change_nothing(sleuth: Any, words: tuple[str, ...]) -> None:
    before = sleuth("providers", "show", "searxng", "--json").json
    done = (
        sleuth("providers", "set", "searxng", "--engines", "a,b", *words)
        if words
        else sleuth("providers", "set", "searxng")
    )
    assert done.exit == 2
    assert "hint: " in done.err
    assert sleuth("providers", "show", "searxng", "--json").json == before


def test_ids_without_a_comma_are_explained(sleuth: Any) -> None:
    done = sleuth("search", "-p", "searxng wikipedia", "rust")
    assert (done.exit, done.err) == (3, "error: unknown provider 'searxng wikipedia'\nhint: separate ids with commas\n")


def test_unknown_option_names_the_known_ones(sleuth: Any) -> None:
    done = sleuth("providers", "set", "searxng", "--option", "typo=1")
    assert done.exit == 2
    assert "unknown option 'typo'" in done.err
    assert "timeout_limit, html, weight, per_minute" in done.err
    done = sleuth("providers", "add", "wiki", "--url", "https://w.example/?q=%s", "--option", "own_sites=on")
    assert done.exit == 2
    assert "own_site" in done.err
    done = sleuth("providers", "set", "serpapi", "--engines", "bing,nope")
    assert done.exit == 2
    assert "unknown engine 'nope'\nhint: use one of: google" in done.err
    done = sleuth("providers", "set", "zhipu", "--engines", "search_std,search_pro")
    assert (done.exit, done.err) == (2, "error: Zhipu 智谱 searches with one engine at a time\nhint: name one\n")


@pytest.mark.parametrize(("text", "stored"), [("true", "on"), ("YES", "on"), ("1", "on"), ("no", "off"), ("", "")])
def test_option_that_is_on_or_off_takes_the_words_of_settings(sleuth: Any, text: str, stored: str) -> None:
    assert sleuth("providers", "set", "searxng", "--option", f"html={text}").exit == 0
    assert sleuth("providers", "show", "searxng", "--json").json["options"] == {"html": stored}


def test_value_that_an_option_does_not_have_names_the_others(sleuth: Any) -> None:
    done = sleuth("providers", "set", "brave", "--option", "content=foo")
    assert done.exit == 2
    assert "invalid value 'foo' for the option content\nhint: use one of: context, snippets" in done.err


def test_engines_may_be_a_json_array(sleuth: Any) -> None:
    assert sleuth("providers", "set", "searxng", "--engines", '["google", "bing"]').exit == 0
    assert sleuth("providers", "show", "searxng", "--json").json["engines"] == ["google", "bing"]


def test_set_changes_only_the_given_fields(sleuth: Any) -> None:
    sleuth("providers", "set", "searxng", "--engines", "bing, google", "--option", "weight=2", "--using-browser")
    sleuth("providers", "set", "searxng", "--name", "Mine", "--option", "per_minute=5")
    shown = sleuth("providers", "show", "searxng", "--json").json
    assert (shown["name"], shown["engines"], shown["usingBrowser"]) == ("Mine", ["bing", "google"], True)
    assert shown["options"] == {"weight": "2", "per_minute": "5"}
    sleuth("providers", "set", "searxng", "--unset", "engines")
    assert sleuth("providers", "show", "searxng", "--json").json["engines"] is None
    sleuth("providers", "reset", "searxng")
    assert sleuth("providers", "show", "searxng", "--json").json["name"] == "SearXNG"


def test_use_sets_the_default(sleuth: Any) -> None:
    for id in ("wikipedia", "searxng"):
        assert sleuth("providers", "use", id).exit == 0
    defaults = [item["id"] for item in sleuth("providers", "list", "--json").json["items"] if item["isDefault"]]
    assert defaults == ["searxng"]
    assert sleuth("providers", "use", "AUTO").err == "auto is now the default\n"
    assert sleuth("providers", "use", "nosuch").exit == 3
    overridden = sleuth("providers", "use", "auto", SLEUTH_WEBSEARCH_DEFAULT_PROVIDER="searxng")
    assert overridden.err == "note: SLEUTH_WEBSEARCH_DEFAULT_PROVIDER is set and overrides the file\n"
    assert not [item for item in sleuth("providers", "list", "--json").json["items"] if item["isDefault"]]


def test_default_may_be_written_in_capitals(sleuth: Any) -> None:
    sleuth("providers", "add", "work", "--adapter", "searxng", "--url", "http://127.0.0.1:1")
    assert sleuth("config", "set", "websearch.default_provider", "WORK").exit == 0
    assert [item["id"] for item in sleuth("providers", "list", "--json").json["items"] if item["isDefault"]] == ["work"]
    removed = sleuth("providers", "remove", "work")
    assert (removed.exit, removed.err.splitlines()[0]) == (2, "error: work is the default provider")


def test_second_instance_of_an_adapter(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    done = sleuth("providers", "add", "--id", "work", "--adapter", "searxng", "--api-host", httpserver.url_for(""))
    assert done.exit == 0
    assert len(sleuth("search", "-p", "work", "--json", "x").json["results"]) == 1
    assert sleuth("providers", "add", "--id", "work", "--adapter", "searxng").exit == 2
    sleuth("providers", "use", "work")
    assert "work is the default provider" in sleuth("providers", "remove", "work").err
    sleuth("providers", "use", "auto")
    assert sleuth("providers", "add", "again", "--adapter", "Work", "--api-host", httpserver.url_for("")).exit == 0
    assert len(sleuth("search", "-p", "again", "--refresh", "--json", "x").json["results"]) == 1
    assert sleuth("providers", "remove", "WORK").exit == 0
    assert sleuth("search", "-p", "work", "x").exit == 3
    assert sleuth("providers", "remove", "searxng").exit == 2


def test_custom_results_page_needs_no_code(sleuth: Any, httpserver: HTTPServer) -> None:
    rows = "".join(
        f'<li><h3><a href="https://site{n}.example/doc">Title number {n}</a></h3><p>Some words about rust.</p></li>'
        for n in range(6)
    )
    page = f"<html><nav><a href='/'>Home</a></nav><h1>Results for rust</h1><ol>{rows}</ol></html>"
    httpserver.expect_request("/find", query_string="words=rust").respond_with_data(page, content_type="text/html")
    address = httpserver.url_for("/find") + "?words=%s"
    assert sleuth("providers", "add", "--id", "mine", "--api-host", address).exit == 0
    found = sleuth("search", "-p", "mine", "--json", "-n", "10", "rust").json["results"]
    assert [hit["url"] for hit in found] == [f"https://site{n}.example/doc" for n in range(6)]
    assert sleuth("providers", "add", "--id", "bad", "--api-host", "https://host/search").exit == 2


def test_test_reports_success_and_failure(sleuth: Any, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    done = sleuth("providers", "test", "searxng", "brave", "--json", SEARXNG_URL=httpserver.url_for(""))
    assert done.exit == 1
    assert [(entry["id"], entry["success"]) for entry in done.json] == [("brave", False), ("searxng", True)]
    assert isinstance(done.json[1]["latencyMs"], int)
    assert sleuth("providers", "test", "brave").exit == 4
    assert sleuth("providers", "test", "searxng").exit == 6
    assert sleuth("providers", "test", "searxng", SEARXNG_URL=httpserver.url_for("")).out.startswith("ok\tsearxng\t")


def test_show_works_for_every_provider(sleuth: Any) -> None:
    for id in sleuth("providers", "list", "--ids").out.split():
        shown = sleuth("providers", "show", id, "--json").json
        assert shown["id"] == id
        assert json.dumps(shown)
        assert sleuth("providers", "show", id).exit == 0


def test_disabled_provider_is_skipped(sleuth: Any) -> None:
    sleuth("config", "set", "websearch.fallback", "searxng,library")
    sleuth("providers", "set", "searxng", "--disable")
    done = sleuth("search", "--json", "searxng")
    assert [attempt["state"] for attempt in done.json["attempts"]] == ["skipped", "ok"]
    sleuth("providers", "use", "searxng")
    assert "hint: enable it: sleuth providers set searxng --enable\n" in sleuth("search", "--no-fallback", "x").err


@pytest.mark.parametrize("variable", ["GOOGLE_CSE_ID", "GOOGLE_SEARCH_ENGINE_ID"])
def test_option_is_read_from_either_environment_variable(sleuth: Any, variable: str) -> None:
    environ = {"GOOGLE_API_KEY": "k", variable: "engine-1"}
    assert "needs the id of a search engine" in sleuth("search", "-p", "google", "x", GOOGLE_API_KEY="k").err
    assert "needs the id of a search engine" not in sleuth("search", "-p", "google", "x", **environ).err


@pytest.mark.parametrize(
    ("host", "warned"), [("http://vm:9801", True), ("https://vm:9801", False), ("http://127.0.0.1:9801", False)]
)
def test_key_that_travels_unencrypted_is_warned_of(sleuth: Any, host: str, warned: bool) -> None:
    done = sleuth("providers", "set", "exa", "--api-key", "-", "--api-host", host, stdin="key-12345678\n")
    assert done.exit == 0
    assert ("sent unencrypted to http://vm:9801" in done.err) is warned


def test_ids_are_listed_without_a_usable_database(sleuth: Any) -> None:
    """Shell completion calls this."""
    assert sleuth("providers", "list").exit == 0
    (sleuth.home / "data" / "sleuth.db").write_bytes(b"this is no database" * 100)
    assert "brave" in sleuth("providers", "list", "--ids").out.split()


@pytest.mark.parametrize("value", ["env:", "cmd: "])
def test_key_without_a_name_or_command_is_refused(sleuth: Any, value: str) -> None:
    done = sleuth("providers", "set", "brave", "--api-key", value)
    assert done.exit == 2
    assert "use env:NAME or cmd:COMMAND" in done.err


def test_provider_whose_package_is_gone_does_not_stop_all_others(sleuth: Any) -> None:
    sleuth("providers", "list")
    with closing(sqlite3.connect(sleuth.home / "data" / "sleuth.db")) as database, database:
        database.execute("UPDATE websearch_provider SET enabled = 0 WHERE id != 'searxng'")
        database.execute("UPDATE websearch_provider SET adapter = 'gone', enabled = 1 WHERE id = 'brave'")
    assert "SearXNG cannot be reached" in sleuth("search", "-p", "all", "x").err
    assert "no provider is usable" in sleuth("search", "-p", "all", "x", SEARXNG_URL="").err  # nobody set it up
    assert "cannot load the adapter 'gone'" in sleuth("search", "-p", "brave", "x").err
