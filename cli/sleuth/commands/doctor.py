"""`sleuth doctor`: diagnose this installation and a SearXNG server or its files."""

import os
from collections.abc import Iterator
from itertools import tee
from typing import Annotated

import typer

from sleuth.base import process
from sleuth.base.errors import Exit, RequestError, SettingsError
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.base.text import strip_controls
from sleuth.commands.terminal.typer_app import make_app
from sleuth.doctor.finding import Finding, findings_as_json
from sleuth.doctor.report import end_cooldown, examine_all, examine_server, select
from sleuth.runtime import Runtime

app = make_app()

EPILOG = """Examples:\n
\b
  sleuth doctor
  sleuth doctor http://192.168.1.10:8080 --verbose
  sleuth doctor --only searxng.json && echo JSON is enabled
  sleuth doctor core-config/settings.yml --fix
"""


@app.command(epilog=EPILOG, options=("timeout",))
def doctor(
    runtime: Runtime,
    url: Annotated[
        str | None,
        typer.Argument(metavar="[URL|FILE]", help="SearXNG URL or settings.yml; default: the server in use."),
    ] = None,
    provider: Annotated[
        str | None, typer.Option("--provider", "-p", metavar="ID", help="Check only this provider.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(metavar="ID", help="Run only checks whose id starts with ID: searxng.json, install …")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show evidence and times of all checks.")] = False,
    as_document: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    settings: Annotated[
        str | None, typer.Option(metavar="FILE", help="Check a SearXNG settings.yml, without a request to the server.")
    ] = None,
    fix: Annotated[bool, typer.Option("--fix", help="With a settings.yml: write a corrected copy next to it.")] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Repair a damaged database; a copy is kept.")] = False,
    *,
    timeout: float | None,
) -> int:
    """Diagnose this installation and a SearXNG deployment.

    Each failed check shows the evidence, the cause and the fix. The exit code is 0 if no check failed, else 1.
    """
    if repair:
        return _repair(runtime, as_document)
    if settings is None and url and "://" not in url:
        is_path = (url[0] in "./" and url[:2] != "//") or url.endswith((".yml", ".yaml")) or os.path.isfile(url)
        settings = url if is_path else None
    if fix and not settings:
        raise RequestError("--fix needs a settings file", "sleuth doctor settings.yml --fix")
    if settings:
        from sleuth.doctor.files.settings import check_settings

        findings = iter(check_settings(settings))
    elif url or provider:
        findings = examine_server(runtime, url, provider or "", timeout)
    else:
        findings = examine_all(runtime, only or "", timeout)
    found = _show(runtime, select(findings, only or ""), as_document, verbose)
    if only and not found:
        raise RequestError("no check id starts with {only!r}", "to list them: sleuth doctor --json", only=only)
    if url is None and any(finding.id == "searxng.search" and finding.state == "ok" for finding in found):
        end_cooldown(runtime, provider or "searxng")
    if fix and settings and os.path.isfile(settings):
        _write_fix(runtime, settings, as_document)
    return Exit.FAILED if any(finding.state == "fail" for finding in found) else Exit.DONE


def _show(runtime: Runtime, findings: Iterator[Finding], as_document: bool, verbose: bool) -> list[Finding]:
    """Write findings and return all of them, even if the reader of the output closes it: the exit code needs them."""
    shown, every = tee(findings)
    try:
        if as_document:
            write_json(findings_as_json(list(shown)), runtime.stdout)
        else:
            from sleuth.render.doctor import render

            render(shown, runtime.stdout, runtime.color, verbose=verbose)
        runtime.stdout.flush()
    except (BrokenPipeError, SystemExit):  # Rich raises the latter
        process.silence(runtime.stdout)
    return list(every)


def _write_fix(runtime: Runtime, path: str, as_document: bool) -> None:
    """Write the corrected copy, show the diff, and print the commands that apply it."""
    from sleuth.doctor.files.environment import read_text
    from sleuth.doctor.files.settings import diff, fix_settings, write_fix
    from sleuth.doctor.finding import RESTART, shell

    if (fixed := fix_settings(path)) is None:
        runtime.note(tr("nothing to correct in {path}", path=path))
        return
    target = write_fix(path, fixed)
    out = runtime.stderr if as_document else runtime.stdout
    print(f"\n{diff(str(read_text(path)), fixed, os.path.basename(path))}", end="", file=out)
    runtime.note(tr("wrote {target}; to use it:", target=target))
    # cp keeps the owner, which is the container's user. It would follow a link, so the real file is named.
    command = strip_controls(f"cp {shell(target)} {shell(os.path.realpath(path))}")
    print(f"    {command}\n    {RESTART}", file=runtime.stderr)


def _repair(runtime: Runtime, as_document: bool) -> int:
    from sleuth.doctor.installation.stores import check_database, check_library, is_damaged
    from sleuth.store.migrations import MIGRATIONS
    from sleuth.store.repair import repair

    if as_document:
        message = "{one} and {other} cannot be combined"
        raise RequestError(message, "use only one of them", one="--repair", other="--json")
    path = runtime.paths.database
    if not is_damaged(path):
        for finding in (check_database(runtime, runtime.settings), *check_library(runtime, runtime.settings)):
            if finding.state == "fail":
                values = {"evidence": finding.evidence, "cause": finding.cause}
                raise SettingsError("{evidence}: {cause}", "see the commands for this: sleuth doctor", **values)
        print(tr("nothing to repair: {path} is not damaged", path=path), file=runtime.stdout)
        return Exit.DONE
    done = repair(path, MIGRATIONS)
    kept = ", ".join(f"{table}{tr(': ')}{count}" for table, count in done.rows.items() if count)
    print(tr("repaired {path}; rows kept: {kept}", path=path, kept=kept or 0), file=runtime.stdout)
    print(tr("the damaged file is kept as {copy}", copy=done.copy), file=runtime.stdout)
    if done.cleared:
        runtime.warn(tr("cleared the keys of {ids}, because the hosts they belong to are lost", ids=done.cleared))
    if not done.rows["websearch_provider"]:
        runtime.warn(tr("no provider could be read; keys and hosts that you had set are lost unless the copy has them"))
    if done.cleared or not done.rows["websearch_provider"]:
        runtime.hint(tr("set both again: sleuth providers set ID --api-host URL --api-key -"))
    return Exit.DONE
