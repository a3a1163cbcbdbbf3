"""Every state of a SearXNG server is recognised, with its cause and fix."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from sleuth_providers.base import Account

JSON = {"Content-Type": "application/json"}
LOCALIZED = "search_unresponsive_localized_de"


class State(NamedTuple):
    """A server that differs from a healthy one by some answers, and the finding that must tell so."""

    name: str
    routes: dict[str, Any]
    id: str
    state: str
    cause: str = ""
    fix: str = ""
    evidence: str = ""
    path: str = ""
    account: Account = Account()


def elements(name: str, *more: str) -> str:
    pairs = ", ".join(f'["{engine}", "{text}"]' for engine, text in zip(more[::2], more[1::2], strict=True))
    return f'{{"query": "{name}", "results": [], "unresponsive_engines": [{pairs}]}}'


BLOCKING = [f"searxng.{name}" for name in ("http", "login", "path", "server", "limiter", "json")]
ALICE = Account(username="alice", password="wrong-horse")
ANUBIS = "<title>Making sure you&#39;re not a bot!</title>"

STATES = [
    State("healthy", {}, "searxng.search", "ok", evidence="results"),
    State("engines by time", {}, "searxng.engines", "ok", evidence="answered: alpha 103 ms, beta 105 ms, meta 106 ms"),
    State(
        "some engines down",
        {"search": "search_partial"},
        "searxng.engines.slow",
        "warn",
        "exceeded SearXNG's timeout",
        "request_timeout: 6.0",
        "slow: timeout",
    ),
    State(
        "some engines broken",
        {"search": "search_partial"},
        "searxng.engines.broken",
        "warn",
        "not as this version of SearXNG expects",
        "docker compose pull",
        "err500: HTTP error",
    ),
    State(
        "engines suspended",
        {"search": "search_partial_suspended"},
        "searxng.engines.slow",
        "warn",
        "exceeded SearXNG's timeout",
        "- name: slow",
        "slow: timeout",
    ),
    State(
        "all engines down",
        {"search": "search_all_failed"},
        "searxng.search",
        "fail",
        "no engine answered",
        evidence="8 engines failed",
    ),
    State(
        "engines that block, with the end of the suspension",
        {"search": "search_all_failed"},
        "searxng.engines.blocked",
        "fail",
        "take the server for a bot",
        "- name: captcha",
        "captcha: CAPTCHA, suspended until 2026-11-23",  # seven days: /stats/errors says reCAPTCHA
    ),
    State(
        "engines that were suspended before",
        {"search": "search_all_suspended"},
        "searxng.engines.blocked",
        "fail",
        "take the server for a bot",
        "disabled: true",
        "at the latest",
    ),
    State(
        "no way out to the engines",
        {"search": "engines_no_dns", "/stats/errors": "engines_no_dns_stats_errors"},
        "searxng.engines.unreachable",
        "fail",
        "no internet or no DNS in the container",
        "dns:",
        "alpha: HTTP connection error",
    ),
    State(
        "a dead proxy behind SearXNG",
        {"search": "engines_proxy_down", "/stats/errors": "stats_errors_metrics_off"},
        "searxng.engines.unreachable",
        "fail",
        "outgoing.proxies",
        "urlopen('https://example.org')",
    ),
    State(
        "all engines time out",
        {"search": ("searxng", "200 OK", elements("q", "alpha", "timeout", "beta", "timeout"), JSON)},
        "searxng.engines.unreachable",
        "fail",
        "no internet or no DNS",
        "1.1.1.1",
    ),
    State(
        "certificates of engines",
        {"search": ("searxng", "200 OK", elements("q", "alpha", "SSL error: certificate validation has failed"), JSON)},
        "searxng.engines.certificate",
        "fail",
        "inspects TLS",
        "company-ca.crt",
    ),
    State(
        "a proxy that fails",
        {"search": ("searxng", "200 OK", elements("q", "alpha", "proxy error"), JSON)},
        "searxng.engines.proxy",
        "fail",
        "names a proxy that fails",
        "all://:",
    ),
    State(
        "texts in another language",
        {"search": LOCALIZED},
        "searxng.engines.broken",
        "fail",
        "not as this version",
        "docker compose pull",
    ),
    State(
        "nothing enabled",
        {"search": "all_engines_disabled", "/config": "all_engines_disabled_config"},
        "searxng.search",
        "fail",
        "no general engine is enabled",
        "disabled: false",
    ),
    State(
        "engines lost at the start",
        {"search": "no_engines"},
        "searxng.search",
        "fail",
        "not loaded at start-up",
        "docker compose restart core",
    ),
    State(
        "some engines down, in the report",
        {"search": "search_partial"},
        "searxng.engines",
        "warn",
        "left out of the results",
        evidence="failed: err500, slow",
    ),
    State(
        "a proxy that hides /config",
        {"/config": ("nginx", "404 Not Found")},
        "searxng.limiter",
        "skipped",
        evidence="limiter state unknown",
    ),
    State("a search past a proxy that hides /config", {"/config": ("nginx", "403 Forbidden")}, "searxng.search", "ok"),
    State("an engine without hits", {"search": "search_empty"}, "searxng.search", "ok", evidence="not an error"),
    State(
        "JSON not enabled",
        {"probe": ("searxng", "403 Forbidden")},
        "searxng.json",
        "fail",
        "`json` is not in `search.formats`",
        "    - json",
        "HTTP 403",
    ),
    State(
        "a page instead of JSON",
        {"probe": ("searxng", "200 OK")},
        "searxng.json",
        "fail",
        "drops `format=json`",
        "curl -s",
        "text/html",
    ),
    State(
        "JSON forbidden by a proxy",
        {
            "probe": ("nginx", "403 Forbidden"),
            "/config": ("nginx", "403 Forbidden"),
            "/healthz": ("nginx", "403 Forbidden"),
            "/opensearch.xml": ("nginx", "403 Forbidden"),
        },
        "searxng.login",
        "fail",
        "denies access",
        "http://127.0.0.1:8080",
    ),
    State(
        "a search that is sent elsewhere",
        {"probe": ("searxng", "302 Found", "", {"Location": "https://elsewhere.example/?q=x"})},
        "searxng.json",
        "fail",
        "redirected to elsewhere.example",
    ),
    State(
        "limiter, bad headers",
        {"/config": "limiter_config_curl_ua_429", "probe": "limiter_config_curl_ua_429"},
        "searxng.limiter",
        "fail",
        "takes sleuth for a bot",
        "limiter: false",
        "429",
    ),
    State(
        "limiter, API quota",
        {"/config": "config_limiter_on", "search": "limiter_429_api_window"},
        "searxng.limiter",
        "fail",
        "four JSON requests an hour",
        "pass_ip",
        "Too Many Requests",
    ),
    State(
        "limiter, on and not yet in the way",
        {"/config": "config_limiter_on"},
        "searxng.limiter",
        "warn",
        "four JSON requests an hour",
        "limiter: false",
        "used one of the four",
    ),
    State(
        "limiter, link_token",
        {"/config": "config_limiter_on", "search": ("searxng", "302 Found", "", {"Location": "/"})},
        "searxng.limiter",
        "fail",
        "`link_token` or `public_instance`",
        "link_token = false",
        "redirected to the home page",
    ),
    State(
        "address on the block list",
        {"/config": "limiter_block_ip_429", "probe": "limiter_block_ip_429"},
        "searxng.limiter",
        "fail",
        "`block_ip`",
        "block_ip = []",
        "IP is on BLOCKLIST",
    ),
    State(
        "a limit of the reverse proxy",
        {"probe": ("nginx", "429 Too Many Requests")},
        "searxng.limiter",
        "fail",
        "in front of SearXNG limits",
    ),
    State("limiter off", {}, "searxng.limiter", "ok", evidence="valkey was missing at start-up"),
    State(
        "valkey lost while running",
        {"/config": "config_limiter_on", "search": ("searxng", "500 Internal Server Error")},
        "searxng.limiter",
        "fail",
        "has lost its valkey",
        "docker compose up -d valkey",
    ),
    State(
        "a server that fails when searched",
        {"search": ("searxng", "500 Internal Server Error", '{"error": "search error"}', JSON)},
        "searxng.search",
        "fail",
        "its log shows the reason",
        "docker compose logs",
    ),
    State(
        "settings without defaults",
        dict.fromkeys(("/healthz", "/config", "probe", "search", "*"), ("bare", "500 Internal Server Error")),
        "searxng.server",
        "fail",
        "lacks `use_default_settings: true`",
        "use_default_settings: true",
        "including /healthz",
    ),
    State(
        "every request fails for another reason",
        dict.fromkeys(("/healthz", "/config", "probe", "search", "*"), ("searxng", "500 Internal Server Error")),
        "searxng.server",
        "fail",
        "every request fails",
        "docker compose logs",
    ),
    State(
        "proxy, SearXNG down",
        dict.fromkeys(("/healthz", "/config", "*"), ("nginx", "502 Bad Gateway")),
        "searxng.http",
        "fail",
        "cannot reach SearXNG",
        "docker compose up -d",
        "502 from nginx",
    ),
    State(
        "Cloudflare, SearXNG down",
        dict.fromkeys(("/healthz", "/config", "*"), ("nginx", "522 Connection timed out")),
        "searxng.http",
        "fail",
        "cannot reach SearXNG",
        "docker compose ps",
    ),
    State(
        "proxy, SearXNG slow",
        dict.fromkeys(("/healthz", "/config", "*"), ("nginx", "504 Gateway Time-out")),
        "searxng.http",
        "fail",
        "gets no answer from SearXNG in time",
        "proxy_read_timeout 30s;",
    ),
    State(
        "a password is needed",
        dict.fromkeys(
            ("/healthz", "/config", "*"),
            ("nginx", "401 Unauthorized", None, {"WWW-Authenticate": 'Basic realm="SearXNG"'}),
        ),
        "searxng.login",
        "fail",
        "SearXNG itself has no login",
        "--basic-auth-username NAME --basic-auth-password -",
        "Basic realm",
    ),
    State(
        "a password is wrong",
        dict.fromkeys(
            ("/healthz", "/config", "*"),
            ("nginx", "401 Unauthorized", None, {"WWW-Authenticate": 'Basic realm="SearXNG"'}),
        ),
        "searxng.login",
        "fail",
        "rejects the user name or password",
        "sleuth providers test searxng",
        account=ALICE,
    ),
    State(
        "another kind of login",
        dict.fromkeys(
            ("/healthz", "/config", "*"), ("nginx", "401 Unauthorized", None, {"WWW-Authenticate": "Bearer"})
        ),
        "searxng.login",
        "fail",
        "a login that sleuth does not support",
    ),
    State(
        "a login page",
        dict.fromkeys(
            ("/healthz", "/config", "*"), ("nginx", "302 Found", None, {"Location": "https://login.example/"})
        ),
        "searxng.login",
        "fail",
        "usually a login page",
        evidence="redirected to login.example",
    ),
    State(
        "a bot check with status 200",
        dict.fromkeys(("/healthz", "/config", "/opensearch.xml", "*"), ("nginx", "200 OK", ANUBIS)),
        "searxng.login",
        "fail",
        "a bot check",
        "http://127.0.0.1:8080",
        "not a bot",
    ),
    State(
        "a bot check of searches only",
        {"probe": ("nginx", "403 Forbidden", "<title>Just a moment...</title>")},
        "searxng.json",
        "fail",
        "a bot check",
        "http://127.0.0.1:8080",
        "Just a moment",
    ),
    State("a password is right", {}, "searxng.login", "ok", evidence="accepted", account=ALICE),
    State(
        "a prefix too many",
        {},
        "searxng.path",
        "fail",
        "wrong path",
        "sleuth providers set searxng --api-host http://127.0.0.1:",
        path="/searxng",
    ),
    State(
        "a prefix too few",
        {"/searxng/config": "config", "/healthz": None, "/config": None, "*": ("nginx", "404 Not Found")},
        "searxng.path",
        "fail",
        "wrong path",
        "/searxng",
        "SearXNG is at",
    ),
    State(
        "a prefix that is redirected to",
        {
            "/healthz": ("nginx", "301 Moved Permanently", None, {"Location": "/find/healthz"}),
            "/config": ("nginx", "301 Moved Permanently", None, {"Location": "/find/config"}),
            "/find/config": "config",
        },
        "searxng.path",
        "fail",
        "wrong path",
        "/find",
        "SearXNG is at",
    ),
    State(
        "an unknown prefix",
        {"*": ("searxng", "404 Not Found"), "/healthz": None, "/config": None},
        "searxng.path",
        "fail",
        "does not serve this path",
        "X-Script-Name /find",
        path="/find",
    ),
    State(
        "base_url of another host",
        {"/opensearch.xml": ("searxng", "200 OK", '<Url template="https://search.example.org/search?q={x}"/>')},
        "searxng.base_url",
        "warn",
        "JSON works",
        "SEARXNG_BASE_URL=",
        "it is configured for https://search.example.org",
    ),
    State(
        "plain HTTP to a TLS port",
        {
            "*": ("nginx", "400 Bad Request", "The plain HTTP request was sent to HTTPS port"),
            "/healthz": None,
            "/config": None,
        },
        "searxng.http",
        "fail",
        "expects TLS",
        "--api-host https://127.0.0.1:",
    ),
    State(
        "moved to https",
        dict.fromkeys(
            ("/healthz", "/config", "*"),
            ("nginx", "301 Moved Permanently", None, {"Location": "https://127.0.0.1:9443/healthz"}),
        ),
        "searxng.http",
        "fail",
        "redirects to https",
        "--api-host https://127.0.0.1:9443",
    ),
    State(
        "something else on the port",
        {
            "*": ("nginx", "404 Not Found"),
            "/healthz": None,
            "/config": None,
            "/": ("nginx", "200 OK", "<title>Welcome to nginx!</title>"),
        },
        "searxng.server",
        "fail",
        "another program answers",
        "ss -ltnp 'sport = :",
        "Welcome to nginx!",
    ),
    State(
        "something else with a page for everything",
        dict.fromkeys(("/healthz", "/config", "*"), ("python", "200 OK", "<title>Open WebUI</title>")),
        "searxng.server",
        "fail",
        "another program answers",
        "127.0.0.1:8888:8080",
        "Open WebUI",
    ),
    State(
        "a limit in front of every path",
        dict.fromkeys(("/healthz", "/config", "*"), ("nginx", "429 Too Many Requests")),
        "searxng.server",
        "fail",
        "cannot tell whether this is SearXNG",
        "docker compose logs",
        "429",
    ),
    State(
        "an error at every path",
        dict.fromkeys(("/healthz", "/config", "*"), ("nginx", "500 Internal Server Error")),
        "searxng.server",
        "fail",
        "cannot tell whether this is SearXNG",
        "sleuth doctor http://127.0.0.1:",
        "500",
    ),
    State(
        "engines set in sleuth that the server lacks",
        {},
        "searxng.engines",
        "warn",
        "engines that this server does not have",
        "--unset engines",
        "not configured in SearXNG: lycos",
        account=Account(engines=("alpha", "lycos")),
    ),
    State(
        "searx, the predecessor",
        {
            "/healthz": "searx-1.1.0/healthz",
            "/config": "searx-1.1.0/config",
            "probe": "searx-1.1.0/no_query_probe",
            "search": "searx-1.1.0/search_partial",
            "/stats/errors": "searx-1.1.0/stats_errors",
            "*": ("python", "404 Not Found"),
        },
        "searxng.server",
        "warn",
        "predecessor of SearXNG",
        "sleuth searxng init",
        "searx 1.1.0",
    ),
    State(
        "searx names engines by their shortcuts",
        {
            "/healthz": "searx-1.1.0/healthz",
            "/config": "searx-1.1.0/config",
            "probe": "searx-1.1.0/no_query_probe",
            "search": "searx-1.1.0/search_ok",
            "*": ("python", "404 Not Found"),
        },
        "searxng.engines",
        "ok",
        evidence="alpha 12 ms",
    ),
    State(
        "searx, engines suspended in silence",
        {
            "/healthz": "searx-1.1.0/healthz",
            "/config": "searx-1.1.0/config",
            "probe": "searx-1.1.0/no_query_probe",
            "search": "no_engines",
            "*": ("python", "404 Not Found"),
        },
        "searxng.search",
        "fail",
        "searx does not report suspended engines",
        "/stats/errors",
    ),
]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state.name.replace(" ", "-"))
def test_state_is_reported_with_cause_and_fix(
    state: State, replay: Callable[..., Any], healthy: dict[str, Any], examined: Callable[..., Any]
) -> None:
    server = replay({path: answer for path, answer in (healthy | state.routes).items() if answer})
    found = examined(server.url + state.path, state.account)
    finding = found[state.id]
    assert finding.state == state.state, finding
    assert state.cause in finding.cause
    assert state.fix in finding.fix
    assert "X-Script-Name /;" not in finding.fix  # the root needs no prefix
    assert state.evidence in finding.evidence
    assert bool(finding.cause) == (finding.state in ("warn", "fail"))
    assert all(entry.link for entry in found.values() if entry.state in ("warn", "fail"))
    assert all(entry.evidence for entry in found.values() if entry.state == "skipped")
    first = next((id for id in found.failed), "")
    if first in BLOCKING:
        assert found["searxng.search"].state == "skipped"
        assert found.failed == [first]
