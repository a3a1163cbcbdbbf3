"""`sleuth doctor`: what is wrong with this installation and, above all, with a SearXNG server."""

import os
from collections.abc import Iterable, Iterator
from typing import Annotated

import typer

from sleuth import __version__
from sleuth.base.errors import Exit, RequestError, SleuthError
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.base.text import strip_controls
from sleuth.commands.terminal.typer_app import seconds
from sleuth.doctor.finding import Finding, finding_as_json
from sleuth.engine.selector import Candidate
from sleuth.runtime import Runtime
from sleuth.store.settings import SEARXNG_TIMEOUT
from sleuth_providers.base import Account
from sleuth_providers.errors import ProviderError
from sleuth_providers.net.policy import user_agent
from sleuth_providers.records import Record
from sleuth_providers.threads import iterate_in_thread

app = typer.Typer(rich_markup_mode=None)

CONTAINER_MARKS = ("/.dockerenv", "/run/.containerenv")
SPARE = 4.0  # seconds beside the search itself, when a longer time limit is asked for
EPILOG = """Examples:\n
\b
  sleuth doctor
  sleuth doctor http://192.168.1.10:8080 --verbose
  sleuth doctor --only searxng.json && echo JSON is enabled
  sleuth doctor --settings core-config/settings.yml --fix
"""


@app.command(epilog=EPILOG)
def doctor(
    ctx: typer.Context,
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="A SearXNG server; else the one in use.")] = None,
    provider: Annotated[
        str | None, typer.Option("--provider", "-p", metavar="ID", help="Examine this provider alone.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="ID", help="Only checks that begin so: searxng, searxng.json, install …")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what was seen everywhere, and times.")] = False,
    as_document: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.1, max=600, metavar="S", help="Seconds a search may take.", callback=seconds),
    ] = None,
    settings: Annotated[
        str | None, typer.Option(metavar="FILE", help="Check a settings.yml of SearXNG instead; asks nobody.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="With --settings: write a corrected file beside it.")] = False,
) -> int:
    """Diagnose this installation and a SearXNG deployment.

    Each check says what was seen, the cause, and what to type. Exit 0 when nothing failed, 1 otherwise.
    """
    runtime: Runtime = ctx.obj
    if fix and not settings:
        raise RequestError("--fix needs a file to mend", "sleuth doctor --settings settings.yml --fix")
    findings = _choose(_settings_file(settings) if settings else _examine(runtime, url, provider, only, timeout), only)
    if as_document:
        found = list(findings)
        write_json(finding_as_json(found), runtime.stdout)
    else:
        from sleuth.render.doctor import render

        found = render(findings, runtime.stdout, runtime.color, verbose=verbose)
    if only and not found:
        raise RequestError("no check begins with {only!r}", "see their names: sleuth doctor --json", only=only)
    if settings and fix:
        _mend(runtime, settings, as_document)
    return Exit.FAILED if any(finding.state == "fail" for finding in found) else Exit.DONE


def _settings_file(path: str) -> Iterable[Finding]:
    from sleuth.doctor.files.settings import check_settings

    return check_settings(path)


def _mend(runtime: Runtime, path: str, as_document: bool) -> None:
    """Write the corrected file, show what changed, and say how to put it to use."""
    from sleuth.doctor.files.settings import diff, fix_settings, replace_settings, write_fix

    mended = fix_settings(path)
    if mended is None:
        runtime.note(tr("there is nothing in {path} that sleuth can mend", path=path))
        return
    with open(path, encoding="utf-8") as stream:
        before = stream.read()
    target = write_fix(path, mended)
    out = runtime.stderr if as_document else runtime.stdout
    print(f"\n{diff(before, mended, os.path.basename(path))}", end="", file=out)
    runtime.note(tr("written: {target}; to use it:", target=target))
    print(
        "\n".join(f"    {strip_controls(command)}" for command in replace_settings(path, target)), file=runtime.stderr
    )


def _examine(
    runtime: Runtime, url: str | None, provider: str | None, only: str | None, timeout: float | None
) -> Iterator[Finding]:
    """Yield the findings that were asked for: a server, a provider, or everything."""
    if url is not None or provider is not None:
        yield from _server(runtime, url, provider, timeout)
        return
    topic = (only or "").partition(".")[0]
    asked = (only or "").startswith("searxng.")  # one check of the server: then there must be a server
    own = topic in ("install", "cache")
    server = iter(()) if own else iterate_in_thread(_server(runtime, None, None, timeout, asked=asked))
    if topic != "searxng":
        from sleuth.doctor.installation.checks import check_installation

        yield from check_installation(runtime)
    yield from server


class Target(Record):
    """The server to examine, and what is known of it."""

    address: str
    account: Account = Account()
    timeout: float = SEARXNG_TIMEOUT.default
    provider: str = "searxng"
    variable: str = ""
    expected: bool = True
    enabled: bool = True


def _server(
    runtime: Runtime, url: str | None, provider: str | None, timeout: float | None, *, asked: bool = False
) -> Iterator[Finding]:
    """Return the examination of a server; the provider table is read at once, the server later."""
    candidate = runtime.selector.candidate(provider) if provider else None
    if candidate and candidate.row.adapter != "searxng":
        return iter([_trial(runtime, candidate, timeout)])
    target = _find(runtime, url, provider or "searxng")
    if not target.enabled and url is None and provider is None:
        reason = tr("it is turned off: sleuth providers set searxng --enable")
        return iter([Finding("searxng.address", "skipped", "SearXNG", reason)])
    from sleuth.doctor.server.examination import examine
    from sleuth.doctor.server.session import PATIENCE, Environment

    around = Environment(
        agent=user_agent(__version__),
        provider=target.provider,
        variable=target.variable,
        expected=target.expected or asked or url is not None or provider is not None,
        patience=max(PATIENCE, timeout + SPARE) if timeout else PATIENCE,
        programs=runtime.environ.get("PATH", os.defpath),
        in_container=any(os.path.exists(mark) for mark in CONTAINER_MARKS),
    )
    return examine(target.address, target.account, timeout or target.timeout, around)


def _find(runtime: Runtime, url: str | None, provider: str) -> Target:
    """Return the server a row of the table leads to; a table that cannot be read must not stop the doctor."""
    from sleuth_providers.adapters.searxng import SearXNG

    try:
        target = _row(runtime, provider)
    except (SleuthError, ProviderError):
        named = next((name for name in SearXNG.host_env if runtime.environ.get(name)), "")
        target = Target(runtime.environ.get(named, SearXNG.host), variable=named, expected=bool(named))
    if url is None:
        return target
    # A password is for the server it was set for, not for whichever address is typed.
    same = url.rstrip("/") == target.address.rstrip("/")
    return target if same else target._replace(address=url, account=Account(id=provider), variable="")


def _row(runtime: Runtime, provider: str) -> Target:
    selector = runtime.selector
    candidate = selector.candidate(provider)
    row, adapter = candidate
    named = adapter.host_env if row.built_in else ()
    variable = next((name for name in named if runtime.environ.get(name)), "")
    return Target(
        address=selector.host(candidate),
        account=selector.accounts(candidate)[0],
        timeout=selector.policy(candidate, None).timeout,
        provider=row.id,
        variable=variable,
        expected=bool(variable or row.api_host),
        enabled=row.enabled,
    )


def _trial(runtime: Runtime, candidate: Candidate, timeout: float | None) -> Finding:
    """Return how one real request to a provider other than SearXNG went."""
    from sleuth.engine.trial import test_providers

    verdict = next(test_providers(runtime.selector, [candidate], timeout))
    return Finding(
        f"provider.{candidate.id}",
        "ok" if verdict.success else "fail",
        candidate.row.name,
        evidence=verdict.message if verdict.success else "",
        cause="" if verdict.success else verdict.message,
        fix=(verdict.hint,) if verdict.hint else (),
        link="troubleshooting.md",
        elapsed_ms=verdict.latency_ms,
    )


def _choose(findings: Iterable[Finding], only: str | None) -> Iterator[Finding]:
    """Keep the checks that were asked for; one that could not be made brings along what stood in its way."""
    failed: list[Finding] = []
    for finding in findings:
        if not only or _matches(finding.id, only):
            if finding.state == "skipped":
                yield from failed
                failed.clear()
            yield finding
        elif finding.state == "fail":
            failed.append(finding)


def _matches(id: str, only: str) -> bool:
    return id.startswith(only) or id.partition(".")[2].startswith(only)
