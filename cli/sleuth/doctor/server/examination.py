"""The examination of a SearXNG server: every check in order, each with what must be well before it makes sense."""

import time
from collections.abc import Callable, Iterator
from functools import partial

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.access import json_is_enabled, limiter_lets_pass
from sleuth.doctor.server.address import check_address, read_address
from sleuth.doctor.server.base_path import answers_elsewhere, path_is_right
from sleuth.doctor.server.connection import name_resolves, port_is_open
from sleuth.doctor.server.container import container_runs
from sleuth.doctor.server.engines import TROUBLES, engines_answer, trouble_with
from sleuth.doctor.server.http import answers_http, base_url_fits, clock_agrees, is_searxng, lets_in
from sleuth.doctor.server.search import search_finds, time_is_enough
from sleuth.doctor.server.session import Environment, Place, Session
from sleuth.doctor.server.tls import tls_is_good
from sleuth.doctor.verdict import unasked
from sleuth_providers.base import Account
from sleuth_providers.records import Record

ADDRESS = "searxng.address"
NOBODY, HERE = Account(), Environment()


class Check(Record):
    """One thing to look at."""

    name: str
    title: str
    look: Callable[[Session], Finding | None]  # None: nothing worth a line
    needs: tuple[str, ...] = ()  # checks without whose success this one makes no sense
    detail: bool = False  # of the check before: not worth a line when it cannot be made


CHECKS = (
    Check("name", "name lookup", name_resolves),
    Check("port", "port", port_is_open, ("name",)),
    Check("tls", "certificate", tls_is_good, ("port",)),
    Check("http", "HTTP answer", answers_http, ("tls",)),
    Check("login", "authentication", lets_in, ("http",)),
    Check("path", "path", path_is_right, ("login",)),
    Check("server", "SearXNG", is_searxng, ("path",)),
    Check("base_url", "base address", base_url_fits, ("server",)),
    Check("clock", "clock", clock_agrees, ("http",)),
    Check("json", "JSON format", json_is_enabled, ("server",)),
    Check("limiter", "limiter", limiter_lets_pass, ("server",)),
    Check("search", "search", search_finds, ("json", "limiter")),
    Check("engines", "engines", engines_answer, ("json", "limiter")),
    *(
        Check(f"engines.{trouble.name}", trouble.title, partial(trouble_with, trouble), ("json", "limiter"), True)
        for trouble in TROUBLES
    ),
    Check("time", "response time", time_is_enough, ("json", "limiter")),
    Check("elsewhere", "SearXNG at another address", answers_elsewhere),
    Check("container", "container", container_runs),
)
SOFT = ("port", "server")  # what fails there when no server was ever set up


def examine(
    address: str, account: Account = NOBODY, timeout: float = 5.0, around: Environment = HERE
) -> Iterator[Finding]:
    """Examine the SearXNG server at an address, and yield findings as they are made."""
    reading = read_address(address)
    place = reading.place or Place("http", "localhost", 8080)
    visit = Session(place, account, timeout, around)
    first = check_address(reading, visit.use, around.provider)
    yield _tidy(first._replace(id=ADDRESS, title=first.title or tr("address")))
    blocked = {"name": tr("address")} if reading.place is None else {}
    for check in CHECKS:
        yield from _run(check, visit, blocked)


def _run(check: Check, visit: Session, blocked: dict[str, str]) -> Iterator[Finding]:
    """Make one check, or say what stands in its way; `blocked` maps checks in vain to the title of the culprit."""
    started = time.monotonic()
    culprit = blocked.get(check.name) or next((blocked[name] for name in check.needs if name in blocked), "")
    if culprit and check.detail:
        return
    finding = unasked(tr("not checked, because of: {culprit}", culprit=culprit)) if culprit else check.look(visit)
    if finding is None:
        return
    title = finding.title or tr(check.title)
    if culprit or finding.state == "fail":
        blocked[check.name] = culprit or title
    if check.name in SOFT and finding.state == "fail" and not visit.around.expected:
        finding = finding._replace(state="warn")
    elapsed_ms = finding.elapsed_ms or round((time.monotonic() - started) * 1000)
    yield _tidy(finding._replace(id=f"searxng.{check.name}", title=title, elapsed_ms=elapsed_ms))


def _tidy(finding: Finding) -> Finding:
    """Let nothing of the server's own reach a terminal: titles, evidence and fixes quote it."""
    return finding._replace(
        title=clean(finding.title, 120, entities=False),
        evidence=clean(finding.evidence, 4000, lines=True, entities=False),
        cause=clean(finding.cause, 1000, entities=False),
        fix=tuple(_line(line) for line in finding.fix),
    )


def _line(text: str) -> str:
    indent = text[: len(text) - len(text.lstrip(" "))]
    return indent + clean(text, 1000, entities=False)
