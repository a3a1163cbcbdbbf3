"""The checks of a SearXNG server, in order, each with the checks it depends on."""

from collections.abc import Iterator
from functools import partial

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Check, Finding, skipped
from sleuth.doctor.server.access import json_is_enabled, limiter_allows
from sleuth.doctor.server.address import Endpoint, parse_address
from sleuth.doctor.server.connection import address_is_valid, name_resolves, port_is_open, tls_is_good
from sleuth.doctor.server.container import container_runs
from sleuth.doctor.server.http import (
    access_is_allowed,
    answers_elsewhere,
    answers_http,
    base_url_matches,
    clock_agrees,
    is_searxng,
    path_is_right,
)
from sleuth.doctor.server.search import (
    ENGINE_PROBLEMS,
    engines_answer,
    engines_with,
    response_is_fast_enough,
    search_works,
)
from sleuth.doctor.server.session import Environment, Session
from sleuth_providers.base import Account

ADDRESS = Check("searxng.address", "Address is valid", "Address is not valid", address_is_valid)
SEARCHABLE = ("searxng.json", "searxng.limiter")
CHECKS = (
    Check("searxng.name", "Host name resolves", "Host name does not resolve", name_resolves, ("searxng.address",)),
    Check("searxng.port", "Port is open", "Port does not accept connections", port_is_open, ("searxng.name",)),
    Check("searxng.tls", "TLS certificate is valid", "TLS connection fails", tls_is_good, ("searxng.port",)),
    Check("searxng.http", "Server answers HTTP requests", "No usable HTTP response", answers_http, ("searxng.tls",)),
    Check("searxng.login", "Access is allowed", "Access is denied", access_is_allowed, ("searxng.http",)),
    Check("searxng.path", "Base path is right", "Base path is wrong", path_is_right, ("searxng.login",)),
    Check("searxng.server", "SearXNG", "Not a working SearXNG server", is_searxng, ("searxng.path",)),
    Check("searxng.base_url", "Base URL matches", "Base URL does not match", base_url_matches, ("searxng.server",)),
    Check("searxng.clock", "Clocks agree", "Clocks disagree", clock_agrees, ("searxng.http",)),
    Check("searxng.json", "JSON output is enabled", "JSON output is disabled", json_is_enabled, ("searxng.server",)),
    Check("searxng.limiter", "Limiter allows sleuth", "Limiter blocks sleuth", limiter_allows, ("searxng.server",)),
    Check("searxng.search", "Search works", "Search does not work", search_works, SEARCHABLE),
    Check("searxng.engines", "Engines respond", "Engines fail", engines_answer, SEARCHABLE),
    *(
        Check(f"searxng.engines.{kind.name}", "", kind.title, partial(engines_with, kind), SEARCHABLE, detail=True)
        for kind in ENGINE_PROBLEMS
    ),
    Check("searxng.time", "Search is fast enough", "Search is too slow", response_is_fast_enough, SEARCHABLE),
    Check("searxng.elsewhere", "", "SearXNG runs at another address", answers_elsewhere),
    Check("searxng.container", "", "SearXNG container is not ready", container_runs),
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
    reason = next((blocked[id] for id in check.needs if id in blocked), "")
    if reason:
        blocked[check.id] = reason
        if not check.detail:
            yield check.label(skipped(tr("not checked: {reason}", reason=reason)))
        return
    for finding in check.run(session):
        if finding.state == "fail":
            blocked[check.id] = finding.title
            is_absent = check.id == "searxng.port" or (check.id == "searxng.server" and not session.software[0])
            if is_absent and not session.environment.expected:  # no server was configured, so none is missing
                finding = finding._replace(state="warn")
        yield finding
