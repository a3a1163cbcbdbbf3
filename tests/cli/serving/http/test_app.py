"""The HTTP API of a real server: bodies, statuses, PATCH, search, and secrets that stay hidden."""

import json
import sqlite3
import subprocess
from contextlib import closing
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.cli.serving.conftest import document
from tests.programs import needs

from sleuth.base.errors import RequestError
from sleuth.runtime import Runtime
from sleuth.serving.http.models import ProviderPatch
from sleuth.serving.http.providers import change_provider

CUTOFF = '{method = "cutoff", cutoff_limit = 50}'
ONE = "/websearch-providers/tavily"
KEY, PASSWORD = "tvly-planted-secret-4711", "planted-password-0815"


@pytest.fixture
def fresh(server: Any) -> Any:
    """Give the server with a provider reset to its defaults."""
    server.call("PATCH", ONE, dict.fromkeys(("apiKey", "apiHost", "engines", "basicAuthPassword", "usingBrowser")))
    server.call("PATCH", ONE, {"name": "Tavily", "type": "api", "basicAuthUsername": None})
    return server


def stored(server: Any, id: str = "tavily") -> dict[str, Any]:
    with sqlite3.connect(server.home / "data" / "sleuth.db") as connection:
        connection.row_factory = sqlite3.Row
        return dict(connection.execute("SELECT * FROM websearch_provider WHERE id = ?", (id,)).fetchone())


def test_health_needs_no_token(server: Any) -> None:
    reply = server.call("GET", "/healthz", token="")
    assert (reply.status, reply.json["status"]) == (200, "ok")


def test_providers_come_in_pages(server: Any) -> None:
    every = server.call("GET", "/websearch-providers?limit=100").json
    first = server.call("GET", "/websearch-providers").json
    second = server.call("GET", "/websearch-providers?page=2&limit=20").json
    assert (first["page"], first["limit"], first["total"]) == (1, 20, every["total"])
    assert first["items"] + second["items"] == every["items"][:40]
    assert [one["id"] for one in every["items"]] == sorted(one["id"] for one in every["items"])
    assert server.call("GET", "/websearch-providers?page=999").json["items"] == []


@pytest.mark.parametrize("query", ["page=0", "limit=0", "limit=101", "page=x", "page=-1", "page=²"])
def test_invalid_page_is_refused(server: Any, query: str) -> None:
    reply = server.call("GET", f"/websearch-providers?{query.replace('²', '%C2%B2')}")
    assert (reply.status, reply.code) == (400, "INVALID_REQUEST")


def test_provider_has_exactly_the_published_fields(server: Any) -> None:
    shown = server.call("GET", ONE).json
    assert list(shown) == [
        *("id", "name", "type", "apiKey", "apiHost", "engines", "usingBrowser"),
        *("basicAuthUsername", "basicAuthPassword", "createdAt", "updatedAt"),
    ]
    assert 1_700_000_000 < shown["createdAt"] <= shown["updatedAt"]


def test_unknown_query_parameter_is_named(server: Any) -> None:
    for path, message in (
        ("/websearch-providers?limt=3", "unknown parameter 'limt'; did you mean limit?"),
        ("/metrics?x=1", "unknown parameter 'x'"),
    ):
        reply = server.call("GET", path)
        assert (reply.status, reply.code, reply.json["error"]["message"]) == (400, "INVALID_REQUEST", message)


def test_unknown_provider_is_404_with_a_suggestion(server: Any) -> None:
    for method, path in (("GET", "tavly"), ("PATCH", "tavly"), ("POST", "tavly/test")):
        reply = server.call(method, f"/websearch-providers/{path}", {} if method == "PATCH" else None)
        assert (reply.status, reply.code) == (404, "PROVIDER_NOT_FOUND")
        assert "tavily" in reply.json["error"]["message"]


def test_patch_changes_the_fields_sent_and_returns_the_whole_provider(fresh: Any) -> None:
    sent = {"name": "Mine", "apiHost": "https://mirror.example.org", "engines": ["a", "b"], "usingBrowser": True}
    reply = fresh.call("PATCH", ONE, sent)
    assert reply.status == 200
    assert reply.json == fresh.call("GET", ONE).json
    assert {name: reply.json[name] for name in sent} == sent
    for name in ("TAVILY", "mine"):
        assert fresh.call("PATCH", f"/websearch-providers/{name}", {"engines": [name]}).json["engines"] == [name]
        assert fresh.call("GET", ONE).json["engines"] == [name]


def test_patch_by_the_name_ends_the_cooldown(sleuth: Any) -> None:
    with closing(Runtime(sleuth.environ)) as runtime:
        runtime.health.note_outcome("tavily", "key_invalid")
        assert runtime.health.cooldown("tavily")
        change_provider(runtime, "Tavily", ProviderPatch(name="Mine"))
        assert not runtime.health.cooldown("tavily")


def test_null_clears_and_absent_keeps(fresh: Any) -> None:
    host = {"apiHost": "https://x.example"}
    fresh.call("PATCH", ONE, {"apiKey": KEY, "engines": ["a"], "usingBrowser": True, "basicAuthUsername": "me"} | host)
    assert fresh.call("PATCH", ONE, {"name": "Other"}).json["engines"] == ["a"]
    cleared = fresh.call("PATCH", ONE, {"apiKey": None, "engines": None, "usingBrowser": None}).json
    assert (cleared["apiKey"], cleared["engines"], cleared["usingBrowser"]) == (None, None, False)
    assert (cleared["apiHost"], cleared["basicAuthUsername"]) == ("https://x.example", "me")
    assert fresh.call("PATCH", ONE, {}).json["apiHost"] == "https://x.example"


def test_key_goes_to_no_other_host(fresh: Any) -> None:
    fresh.call("PATCH", ONE, {"apiKey": KEY, "apiHost": "https://x.example"})
    refused = fresh.call("PATCH", ONE, {"apiHost": "https://evil.example"})
    assert (refused.status, stored(fresh)["api_host"]) == (400, "https://x.example")
    assert fresh.call("PATCH", ONE, {"apiHost": None}).status == 400
    assert fresh.call("PATCH", ONE, {"apiHost": "https://x.example/v2"}).status == 200
    moved = fresh.call("PATCH", ONE, {"apiHost": "https://evil.example", "apiKey": "another-key-0001"})
    assert (moved.status, stored(fresh)["api_key"]) == (200, "another-key-0001")
    assert fresh.call("PATCH", ONE, {"apiHost": "https://y.example", "apiKey": None}).status == 200


@pytest.mark.parametrize("host", ["127.0.0.1:9", "0x7f.1", "nas", "wiki.corp", "[::1]", "169.254.169.254", "10.0.0.7"])
def test_private_host_cannot_be_set(host: str, sleuth: Any) -> None:
    with closing(Runtime(sleuth.environ)) as runtime:
        for hosts in (f"http://{host}/", f"https://x.example,http://{host}/"):
            with pytest.raises(RequestError, match="private address"):
                change_provider(runtime, "tavily", ProviderPatch(apiHost=hosts))
        assert runtime.table.get("tavily").api_host is None


def test_host_that_was_set_over_http_must_stay_public(sleuth: Any) -> None:
    def patch(host: str | None) -> tuple[str | None, Any]:
        change_provider(runtime, "tavily", ProviderPatch(apiHost=host))
        row = runtime.table.get("tavily")
        return row.api_host, row.options.get("public_only")

    with closing(Runtime(sleuth.environ)) as runtime:
        runtime.table.update("tavily", {"api_host": "http://127.0.0.1:9"})  # by the user
        assert patch("http://127.0.0.1:9/v2") == ("http://127.0.0.1:9/v2", None)
        assert patch("https://x.example") == ("https://x.example", True)
        assert patch("https://x.example/v2") == ("https://x.example/v2", True)
        assert patch(None) == (None, False)
    with closing(Runtime(sleuth.environ | {"SLEUTH_FETCH_ALLOW_PRIVATE": "true"})) as runtime:
        assert patch("http://127.0.0.1:9") == ("http://127.0.0.1:9", False)


def test_masked_secret_sent_back_keeps_the_real_one(fresh: Any) -> None:
    shown = fresh.call("PATCH", ONE, {"apiKey": KEY, "basicAuthPassword": PASSWORD}).json
    assert (shown["apiKey"], shown["basicAuthPassword"]) == ("tvly…11", "plan…15")
    whole = {name: shown[name] for name in ("name", "type", "apiKey", "apiHost", "engines", "usingBrowser")}
    fresh.call("PATCH", ONE, whole | {"basicAuthPassword": shown["basicAuthPassword"], "name": "Renamed"})
    row = stored(fresh)
    assert (row["api_key"], row["basic_auth_password"], row["name"]) == (KEY, PASSWORD, "Renamed")


@pytest.mark.parametrize(
    "changes",
    [
        {"apiKey": "tvly…99"},  # the mask of another key
        {"apiKey": "cmd:touch /tmp/never"},
        {"apiKey": "env:HOME"},
        {"apiKey": "keyring:other/service"},
        {"apiKey": ""},
        {"apiKey": 5},
        {"apiKey": "a\nb"},
        {"name": None},
        {"name": "  "},
        {"name": "\u202e\u200b"},
        {"type": None},
        {"type": "remote"},
        {"apiHost": "ftp://x.example"},
        {"apiHost": "https://me:secret@x.example"},
        {"apiHost": "http://[x"},
        {"type": "local", "apiHost": "https://x.example/search"},
        {"engines": "a,b"},
        {"engines": [1]},
        {"engines": [""]},
        {"usingBrowser": "yes"},
        {"usingBrowser": 1},
        {"enabled": False},
        {"id": "other"},
        {"isDefault": True},
    ],
    ids=json.dumps,
)
def test_invalid_change_is_refused_and_nothing_is_written(fresh: Any, changes: dict[str, Any]) -> None:
    before = stored(fresh)
    reply = fresh.call("PATCH", ONE, {"basicAuthUsername": "me"} | changes)
    assert (reply.status, reply.code) == (400, "INVALID_REQUEST")
    assert stored(fresh) == before


def test_control_characters_are_removed_from_a_name(fresh: Any) -> None:
    assert fresh.call("PATCH", ONE, {"name": "Ta\u202evi\u200bly"}).json["name"] == "Tavily"


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"[]", b"null", b'"x"', b"{", b'{"a": NaN}', b"\xff{}"),
        *(b'{"name": "\\ud800"}', b"[" * 100_000, b'{"name":' * 50_000, b"1" * 100_000),
    ],
    ids=lambda body: body[:20].decode("latin-1"),
)
def test_body_that_is_not_a_json_object_is_refused(server: Any, body: bytes) -> None:
    reply = server.call("PATCH", ONE, body, Content_Type="application/json")
    assert (reply.status, reply.code) == (400, "INVALID_REQUEST")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_other_content_type_is_refused(server: Any, kind: str) -> None:
    reply = server.call("POST", "/websearch/search", b"{}", Content_Type=kind)
    assert (reply.status, reply.code) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_provider_is_tested(server: Any) -> None:
    good = server.call("POST", "/websearch-providers/searxng/test").json
    assert (good["success"], good["message"]) == (True, "3 results")
    bad = server.call("POST", "/websearch-providers/brave/test")
    assert (bad.status, bad.json["success"]) == (200, False)
    assert "API key" in bad.json["message"]


def test_search_returns_the_document_of_the_command(server: Any) -> None:
    reply = server.call("POST", "/websearch/search", {"providerId": "searxng", "questions": ["tokio", "rust"]})
    assert reply.status == 200
    assert (reply.json["query"], reply.json["provider"]) == ("tokio | rust", "searxng")
    assert reply.json["status"] == {"phase": "default", "countBefore": 3, "countAfter": 3, "more": False}
    hit = reply.json["results"][0]
    assert (hit["citation"], hit["url"], hit["content"]) == (1, "https://a.example/0", "Text 0.")


def test_search_without_results_is_200(server: Any) -> None:
    reply = server.call("POST", "/websearch/search", {"providerId": "searxng", "questions": ["nothing"]})
    assert (reply.status, reply.json["outcome"], reply.json["results"]) == (200, "no_results", [])


def test_auto_searches_the_configured_providers(server: Any) -> None:
    reply = server.call("POST", "/websearch/search", {"providerId": "auto", "questions": ["tokio"]})
    assert reply.json["provider"] == "searxng"


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"providerId": "searxng"},
        {"questions": ["x"]},
        {"providerId": "", "questions": ["x"]},
        {"providerId": None, "questions": ["x"]},
        {"providerId": "searxng", "questions": []},
        {"providerId": "searxng", "questions": [""]},
        {"providerId": "searxng", "questions": [" "]},
        {"providerId": "searxng", "questions": ["\a"]},
        {"providerId": "searxng", "questions": "x"},
        {"providerId": "searxng", "questions": [["x"]]},
        {"providerId": "searxng", "questions": ["x"], "links": "https://a.example/"},
        {"providerId": "searxng", "questions": ["summarize"], "links": ["javascript:alert(1)"]},
        {"providerId": "searxng", "questions": ["x"], "tracing": {"other": "x"}},
        {"providerId": "searxng", "questions": ["x"], "number": 5},
        {"providerId": "searxng", "questions": ["x"], "count": 51},
        {"providerId": "searxng", "questions": ["x"], "language": "??"},
        {"providerId": "searxng", "questions": ["x"], "sites": ["/(a+)+$/"]},
        {"providerId": ["auto", "searxng"], "questions": ["x"]},
        {"providerId": "searxng", "questions": ["x"], "safe": "strickt"},
        {"providerId": "searxng", "questions": ["x"], "freshness": "soon"},
        {"providerId": [], "questions": ["x"]},
    ],
    ids=json.dumps,
)
def test_invalid_search_is_refused(server: Any, body: dict[str, Any]) -> None:
    reply = server.call("POST", "/websearch/search", body)
    assert (reply.status, reply.code) == (400, "INVALID_REQUEST")
    assert "constrained" not in reply.json["error"]["message"]


@pytest.mark.parametrize("id", ["searxg", "all", "searxng,wikipedia", "Auto", "\u0000"])
def test_search_with_an_unknown_provider_is_404(server: Any, id: str) -> None:
    reply = server.call("POST", "/websearch/search", {"providerId": id, "questions": ["x"]})
    assert (reply.status, reply.code) == (404, "PROVIDER_NOT_FOUND")


def test_options_of_a_search_are_those_of_the_command(server: Any, upstream: str) -> None:
    body = {"providerId": ["searxng"], "questions": ["tokio options"], "count": 2.0, "language": "de", "region": "ch"}
    reply = server.call("POST", "/websearch/search", body | {"freshness": "week", "safe": None}).json
    assert [hit["citation"] for hit in reply["results"]] == [1, 2]
    assert reply["status"]["phase"] == "default"
    read = server.call("POST", "/websearch/search", body | {"content": True, "limit": 100, "maxTokens": 50}).json
    assert read["status"]["phase"] != "default"
    assert sum(len(hit["content"]) for hit in read["results"]) <= 200


def test_search_takes_domains_engines_and_long_language_tags(server: Any) -> None:
    body = {"providerId": "searxng", "questions": ["tokio domains"], "language": "zh-Hant-TW"}
    assert server.call("POST", "/websearch/search", body | {"sites": ["*.example", "a.example"]}).json["results"]
    assert not server.call("POST", "/websearch/search", body | {"exclude": ["a.example"]}).json["results"]
    assert server.call("POST", "/websearch/search", body | {"engines": ["bing"]}).status == 200


def test_list_of_providers_names_every_one(server: Any) -> None:
    reply = server.call("POST", "/websearch/search", {"providerId": ["searxng", "nobody"], "questions": ["x"]})
    assert (reply.status, reply.code) == (404, "PROVIDER_NOT_FOUND")
    found = server.call("POST", "/websearch/search", {"providerId": ["searxng", "library"], "questions": ["searxng"]})
    assert {attempt["provider"] for attempt in found.json["attempts"]} == {"searxng", "library"}


def test_address_in_use_is_shown(server: Any) -> None:
    assert server.call("GET", "/websearch-providers/zhipu").json["apiHost"].startswith("https://")


def test_document_names_the_path_behind_a_proxy(serve: Any) -> None:
    document = serve("--root-path", "/sleuth/").call("GET", "/openapi.json").json
    assert document["servers"] == [{"url": "/sleuth"}]


def test_library_never_answers_a_web_question(serve: Any) -> None:
    alone = {"SEARXNG_URL": "http://127.0.0.1:1", "SLEUTH_WEBSEARCH_FALLBACK": "searxng,library"}
    reply = serve(**alone).call("POST", "/websearch/search", {"providerId": "auto", "questions": ["searxng json"]})
    assert (reply.status, reply.code) == (500, "UNREACHABLE")


def test_failed_search_is_500_with_code_and_hint(server: Any) -> None:
    reply = server.call("POST", "/websearch/search", {"providerId": "brave", "questions": ["x"]})
    assert (reply.status, reply.code) == (500, "API_KEY_MISSING")
    assert "sleuth providers set brave" in reply.json["error"]["hint"]


def test_links_are_summarised(server: Any, upstream: str) -> None:
    links = [f"{upstream}/page", f"{upstream}/page", "http://127.0.0.1:1/"]
    reply = server.call(
        "POST", "/websearch/search", {"providerId": "auto", "questions": ["summarize", "futures"], "links": links}
    ).json
    assert (reply["outcome"], reply["query"], reply["method"]) == ("partial", "futures", "extractive")
    assert [(hit["title"], hit["url"]) for hit in reply["results"]] == [("Tokio", f"{upstream}/page")]
    assert reply["results"][0]["content"].startswith("Tokio is an asynchronous runtime for Rust.")
    assert "futures" in reply["results"][0]["snippet"]
    assert reply["elapsedMs"] > 0
    assert reply["status"] == {"phase": "fetch_complete", "countBefore": 2, "countAfter": 1, "more": False}
    assert [bool(source["problem"]) for source in reply["sources"]] == [False, True]
    assert reply["summary"][0]["citation"] == 1


def test_text_of_links_is_compressed_as_configured(serve: Any, upstream: str) -> None:
    settings = {"SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_WEBSEARCH_COMPRESSION": CUTOFF}
    body = {"providerId": "auto", "questions": ["summarize"], "links": [f"{upstream}/page"]}
    reply = serve(**settings).call("POST", "/websearch/search", body).json
    assert (reply["query"], len(reply["results"][0]["content"]) <= 50) == ("summarize", True)
    assert reply["status"]["phase"] == "cutoff"


def test_text_of_links_is_compressed_as_the_request_says(serve: Any, upstream: str) -> None:
    settings = {"SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_WEBSEARCH_COMPRESSION": CUTOFF}
    server, body = serve(**settings), {"providerId": "auto", "questions": ["summarize"], "links": [f"{upstream}/page"]}
    options = {"compress": "cutoff", "limit": 20, "count": 3, "sites": ["a.example"], "timeout": 30}
    reply = server.call("POST", "/websearch/search", body | options).json
    assert (reply["status"]["phase"], len(reply["results"][0]["content"]) <= 20) == ("cutoff", True)
    assert reply["warnings"] == ["ignored in a summary of links: count, sites"]
    reply = server.call("POST", "/websearch/search", body | {"compress": "none"}).json
    assert (reply["status"]["phase"], len(reply["results"][0]["content"]) > 50) == ("fetch_complete", True)
    reply = server.call("POST", "/websearch/search", body | {"maxTokens": 5}).json
    assert (reply["status"]["unit"], reply["status"]["size"] <= 5, reply["warnings"]) == ("token", True, [])


def test_links_with_the_same_text_keep_their_numbers(serve: Any, upstream: str) -> None:
    settings = {"SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_WEBSEARCH_COMPRESSION": CUTOFF}
    links = [f"{upstream}/page?copy=1", f"{upstream}/page?copy=2"]
    body = {"providerId": "auto", "questions": ["summarize"], "links": links}
    reply = serve(**settings).call("POST", "/websearch/search", body).json
    assert [(hit["citation"], hit["url"]) for hit in reply["results"]] == [*enumerate(links, 1)]
    assert [(one["citation"], one["url"]) for one in reply["sources"]] == [*enumerate(links, 1)]


def test_text_of_links_is_limited_as_that_of_results(serve: Any, upstream: str) -> None:
    settings = {"SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_FETCH_MAX_CHARS": "100"}
    body = {"providerId": "auto", "questions": ["summarize"], "links": [f"{upstream}/page"]}
    reply = serve(**settings).call("POST", "/websearch/search", body).json
    assert 0 < len(reply["results"][0]["content"]) <= 100


def test_links_that_cannot_be_read_are_500(server: Any) -> None:
    body = {"providerId": "auto", "questions": ["summarize"], "links": ["http://127.0.0.1:1/"]}
    reply = server.call("POST", "/websearch/search", body)
    assert (reply.status, reply.code) == (500, "FETCH_FAILED")


def test_ignored_links_are_reported_in_a_warning(server: Any) -> None:
    body = {"providerId": "searxng", "questions": ["tokio"], "links": ["https://a.example/"]}
    assert any("summarize" in text for text in server.call("POST", "/websearch/search", body).json["warnings"])


def test_tracing_goes_to_the_log_and_nowhere_else(server: Any) -> None:
    tracing = {"topicId": "topic-4711", "parentSpanId": "span\u001b[31m-4711", "modelName": "m" * 400}
    body = {"providerId": "searxng", "questions": ["traced"], "tracing": tracing}
    assert server.call("POST", "/websearch/search", body).status == 200
    line = next(line for line in server.log.splitlines() if "topic-4711" in line)
    assert "span[31m-4711" in line
    assert len(line) < 400
    kept = [path for path in server.home.rglob("*") if path.is_file() and path.name != "sleuth.log"]
    assert len(kept) > 2
    assert [path for path in kept if b"topic-4711" in path.read_bytes()] == []


def test_no_secret_is_ever_told(fresh: Any) -> None:
    token, said = fresh.token, []

    def call(method: str, path: str, body: Any = None, **headers: str) -> None:
        reply = fresh.call(method, path, body, **headers)
        said.append(reply.text + str(reply.headers))

    call("PATCH", ONE, {"apiKey": KEY, "basicAuthUsername": "me", "basicAuthPassword": PASSWORD})
    call("PATCH", ONE, {"apiKey": KEY, "type": "nonsense"})
    call("PATCH", ONE, {"apiKey": f"{KEY}\n"})
    call("PATCH", ONE, {"apiKey": f"cmd:echo {KEY}"})
    call("PATCH", ONE, {"basicAuthPassword": [PASSWORD]})
    call("GET", ONE)
    call("GET", "/websearch-providers?limit=100")
    call("PATCH", "/websearch-providers/searxng", {"basicAuthUsername": "me", "basicAuthPassword": PASSWORD})
    call("POST", "/websearch-providers/searxng/test")
    call("POST", "/websearch/search", {"providerId": "searxng", "questions": ["secret"]})
    call("PATCH", ONE, {"apiHost": "http://127.0.0.1:1"})
    call("POST", f"{ONE}/test")
    call("POST", "/websearch/search", {"providerId": "tavily", "questions": ["x"]})
    call("POST", "/ask", {"question": "x", "providerId": "tavily", "search": "on"})
    call("GET", "/openapi.json")
    call("GET", "/nowhere")
    call("DELETE", ONE)
    call("GET", "/healthz", Origin="https://evil.example")
    fresh.call("PATCH", "/websearch-providers/searxng", {"basicAuthUsername": None, "basicAuthPassword": None})
    told = "\n".join([*said, fresh.log])
    assert len(said) > 15
    assert [secret for secret in (KEY, PASSWORD, token) if secret in told] == []


def test_command_line_and_server_see_each_others_changes(fresh: Any, make_sleuth: Any) -> None:
    sleuth = make_sleuth(SLEUTH_HOME=str(fresh.home))
    fresh.call("PATCH", ONE, {"name": "Over HTTP"})
    assert sleuth("providers", "show", "tavily", "--json").json["name"] == "Over HTTP"
    sleuth("providers", "set", "tavily", "--name", "By hand")
    assert fresh.call("GET", ONE).json["name"] == "By hand"


def test_unsupported_method_is_405_with_the_allowed_ones(server: Any) -> None:
    for method in ("DELETE", "PUT", "POST", "OPTIONS"):
        reply = server.call(method, ONE)
        assert (reply.status, reply.code) == (405, "METHOD_NOT_ALLOWED")
        assert set(reply.headers["allow"].split(", ")) == {"GET", "PATCH", "HEAD"}
    for path in ("/nowhere", "/", "/healthz/", "/websearch-providers/", "/websearch-providers/a/b/c"):
        assert server.call("GET", path).code == "NOT_FOUND"


def test_head_is_get_without_a_body(server: Any) -> None:
    for path in ("/healthz", ONE):
        reply = server.call("HEAD", path)
        assert (reply.status, reply.text) == (200, "")
        assert int(reply.headers["content-length"]) > 10


def test_responses_are_not_cached_or_sniffed(server: Any) -> None:
    headers = server.call("GET", ONE).headers
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")
    assert "server" not in headers


@needs("curl")
def test_curl_searches(server: Any) -> None:
    words = ["curl", "-sS", "--oauth2-bearer", server.token, "--json", '{"providerId": "auto", "questions": ["x"]}']
    done = subprocess.run([*words, f"{server.url}/websearch/search"], capture_output=True, timeout=30, check=True)
    assert json.loads(done.stdout)["outcome"] == "success"


def test_document_is_served_and_valid(server: Any) -> None:
    served = server.call("GET", "/openapi.json").json
    assert served["openapi"].startswith("3.1.")
    assert served == json.loads(json.dumps(document()))
    for schema in served["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    for place in find(served["components"], "examples"):
        for example in place["examples"]:
            Draft202012Validator(place).validate(example)
    references = [place["$ref"].rpartition("/")[2] for place in find(served, "$ref")]
    assert set(references) <= served["components"]["schemas"].keys()
    assert served["security"] == [{"token": []}]
    assert served["paths"]["/healthz"]["get"]["security"] == []


def find(value: Any, name: str) -> list[dict[str, Any]]:
    """Return every object that has a field."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    here = [value] if isinstance(value, dict) and name in value else []
    return here + [found for entry in inner for found in find(entry, name)]


def test_document_names_every_status_of_a_request_with_a_body() -> None:
    for path, method in (("/websearch/search", "post"), ("/websearch-providers/{id}", "patch"), ("/ask", "post")):
        responses = document()["paths"][path][method]["responses"]
        assert set(responses) == {"200", "400", "401", "403", "404", "405", "408", "413", "415", "429", "500", "503"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"questions": ["x"]}, "providerId is missing"),
        ({"providerId": "x", "questions": ["a", 5]}, "invalid questions[1]: Input should be a valid string"),
        ({"providerId": "x", "questions": ["x"], "number": 5}, "unknown field 'number'"),
        ({"providerId": "x", "questions": ["x"], "tracing": {"user": ""}}, "unknown field 'tracing.user'"),
        (b"{", "the body is not valid JSON"),
    ],
)
def test_error_names_the_field(server: Any, body: Any, message: str) -> None:
    reply = server.call("POST", "/websearch/search", body, Content_Type="application/json")
    assert (reply.status, reply.json["error"]["message"]) == (400, message)


def test_null_stands_for_an_absent_field(server: Any) -> None:
    body = {"providerId": "searxng", "questions": ["tokio"], "links": None, "tracing": None}
    assert server.call("POST", "/websearch/search", body).status == 200
