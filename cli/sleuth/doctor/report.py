"""What `sleuth doctor` examines: this installation, a server, a provider, or files."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.doctor.finding import Check, Finding, as_fix, ok, skipped
from sleuth.store.settings import SEARXNG_TIMEOUT
from sleuth_providers.base import Account
from sleuth_providers.errors import ProviderError
from sleuth_providers.threads import iterate_in_thread

if TYPE_CHECKING:
    from sleuth.engine.selector import Candidate
    from sleuth.runtime import Runtime

CONTAINER_MARKERS = ("/.dockerenv", "/run/.containerenv")
OVERHEAD_S = 4.0  # for everything but the search, when --timeout allows a longer one


def examine_all(runtime: "Runtime", only: str, timeout: float | None) -> Iterator[Finding]:
    """Yield the findings on this installation and on the SearXNG server in use."""
    from sleuth.doctor.installation.checks import check_installation

    topic = only.partition(".")[0]
    server: Iterator[Finding] = iter(())
    if topic not in ("install", "cache"):
        # Naming one check of the server means that there should be a server.
        findings = examine_server(runtime, None, "", timeout, expected=only.startswith("searxng."))
        server = iterate_in_thread(findings)  # meanwhile the installation is checked
    if topic != "searxng":
        yield from check_installation(runtime)
    yield from server


def examine_server(
    runtime: "Runtime", url: str | None, provider: str, timeout: float | None, *, expected: bool = True
) -> Iterator[Finding]:
    """Return the findings on a SearXNG server, or on any other provider; the provider table is read at once."""
    candidate = runtime.selector.candidate(provider) if provider else None
    if candidate and candidate.row.adapter != "searxng":
        return iter([_test_provider(runtime, candidate, timeout)])
    from sleuth.doctor.server.examination import examine
    from sleuth.doctor.server.session import TIME_LIMIT_S, Environment
    from sleuth_providers.adapters.searxng import SearXNG

    names: tuple[str, ...] = SearXNG.host_env
    address, account = SearXNG.host, Account(id=provider)
    limit, configured, enabled = SEARXNG_TIMEOUT.default, False, True
    with suppress(SleuthError, ProviderError):  # without a readable table, the environment decides
        selector = runtime.selector
        candidate = candidate or selector.candidate("searxng")
        names = names if candidate.row.built_in else ()
        address, account = selector.host(candidate), selector.accounts(candidate)[0]
        limit = selector.policy(candidate, None).timeout
        configured, enabled = bool(candidate.row.api_host), candidate.row.enabled
    variable = next((name for name in names if runtime.environ.get(name)), "")
    address = runtime.environ.get(variable, address)
    if not enabled and url is None and not provider:
        reason = tr("it is disabled; to enable it: sleuth providers set searxng --enable")
        return iter([Check("searxng.address", "", "").label(skipped(reason))])
    addresses = [part.strip() for part in address.split(",")]
    if url and url.rstrip("/") in [each.rstrip("/") for each in addresses]:
        addresses = [url]
    elif url:
        # The password belongs to the configured server, not to whichever address is typed.
        addresses, account, variable = [url], Account(id=provider), ""
    environment = Environment(
        provider=provider or "searxng",
        variable=variable,
        expected=bool(variable) or configured or expected,
        time_limit=max(TIME_LIMIT_S, (timeout or 0) + OVERHEAD_S),
        search_path=runtime.environ.get("PATH", os.defpath),
        in_container=any(os.path.exists(marker) for marker in CONTAINER_MARKERS),
    )
    return chain.from_iterable(examine(each, account, timeout or limit, environment) for each in addresses)


def _test_provider(runtime: "Runtime", candidate: "Candidate", timeout: float | None) -> Finding:
    """Return how one real request to a provider other than SearXNG went."""
    from sleuth.engine.trial import run_trials

    result = next(run_trials(runtime.selector, [candidate], timeout))
    name = candidate.row.name
    found = ok(result.message, title=name)
    if not result.success:
        found = Finding("fail", "", result.message, as_fix(result.hint), "troubleshooting.md", title=name)
    return Check(f"provider.{candidate.id}", "", "").label(found._replace(elapsed_ms=result.latency_ms))


def select(findings: Iterable[Finding], only: str) -> Iterator[Finding]:
    """Keep the checks whose id starts with `only`; a skipped one brings along the failures before it."""
    failed: list[Finding] = []
    for finding in findings:
        if finding.id.startswith(only) or finding.id.partition(".")[2].startswith(only):
            if finding.state == "skipped":
                yield from failed
                failed.clear()
            yield finding
        elif finding.state == "fail":
            failed.append(finding)


def end_cooldown(runtime: "Runtime", provider: str) -> None:
    """Let searches use a provider again after it failed: its search has just worked."""
    import sqlite3

    with suppress(SleuthError, sqlite3.Error):  # a broken database is reported by its own check
        runtime.health.forget(provider)
        runtime.health.record(provider, "ok", None, 0.0, reserved=False)  # from now on, searches use it by default
