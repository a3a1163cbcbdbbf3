"""The checks of a SearXNG server, in order, each with the checks it depends on."""

from collections.abc import Iterator
from functools import partial

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Check, Finding, skipped
from sleuth.doctor.server import access, connection, container, http, search
from sleuth.doctor.server.address import Endpoint, parse_address
from sleuth.doctor.server.session import Environment, Session
from sleuth_providers.base import Account

ADDRESS = Check("searxng.address", "Address is valid", "Address is not valid", connection.address_is_valid)
SEARCHABLE = ("json", "limiter")
CHECKS = (
    Check("searxng.name", "Host name resolves", "Host name does not resolve", connection.name_resolves, ("address",)),
    Check("searxng.port", "Port is open", "Port does not accept connections", connection.port_is_open, ("name",)),
    Check("searxng.tls", "TLS certificate is valid", "TLS connection fails", connection.tls_is_good, ("port",)),
    Check("searxng.http", "Server answers HTTP requests", "No usable HTTP response", http.answers_http, ("tls",)),
    Check("searxng.login", "Access is allowed", "Access is denied", http.access_is_allowed, ("http",)),
    Check("searxng.path", "Base path is right", "Base path is wrong", http.path_is_right, ("login",)),
    Check("searxng.server", "SearXNG", "Not a working SearXNG server", http.is_searxng, ("path",)),
    Check("searxng.base_url", "Base URL matches", "Base URL does not match", http.base_url_matches, ("server",)),
    Check("searxng.clock", "Clocks agree", "Clocks disagree", http.clock_agrees, ("http",)),
    Check("searxng.json", "JSON output is enabled", "JSON output is disabled", access.json_is_enabled, ("server",)),
    Check("searxng.limiter", "Limiter allows sleuth", "Limiter blocks sleuth", access.limiter_allows, ("server",)),
    Check("searxng.search", "Search works", "Search does not work", search.search_works, SEARCHABLE),
    Check("searxng.engines", "Engines respond", "Engines fail", search.engines_answer, SEARCHABLE),
    *(
        Check(f"searxng.engines.{one.name}", "", one.title, partial(search.engines_with, one), SEARCHABLE, detail=True)
        for one in search.ENGINE_PROBLEMS
    ),
    Check("searxng.time", "Search is fast enough", "Search is too slow", search.response_is_fast_enough, SEARCHABLE),
    Check("searxng.elsewhere", "", "SearXNG runs at another address", http.answers_elsewhere),
    Check("searxng.container", "", "SearXNG container is not ready", container.container_runs),
)


def examine(address: str, account: Account, timeout: float, environment: Environment) -> Iterator[Finding]:
    """Examine the SearXNG server at an address, and yield findings as they are made."""
    parsed = parse_address(address)
    session = Session(parsed.endpoint or Endpoint("http", "localhost", 8080), account, timeout, environment)
    blocked: dict[str, str] = {}  # check id → title of the failed check it depends on, directly or not
    for finding in ADDRESS.run(parsed, session):
        if parsed.endpoint is None:
            blocked[finding.id] = finding.title
        yield finding
    for check in CHECKS:
        yield from _run(check, session, blocked)


def _run(check: Check, session: Session, blocked: dict[str, str]) -> Iterator[Finding]:
    reason = next((blocked[f"searxng.{name}"] for name in check.needs if f"searxng.{name}" in blocked), "")
    if reason:
        blocked[check.id] = reason
        if not check.detail:
            yield check.label(skipped(tr("not checked: {reason}", reason=reason)))
        return
    for finding in check.run(session):
        if finding.state == "fail":
            blocked[check.id] = finding.title
            is_absent = check.id == "searxng.port" or (check.id == "searxng.server" and session.no_server)
            if is_absent and not session.environment.expected:  # no server was configured, so none is missing
                finding = finding._replace(state="warn")
        yield finding
