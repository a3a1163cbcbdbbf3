"""The engines behind SearXNG: how many there are, which answered, and which failed, by cause."""

import json
import re

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding, fail, ok, warn
from sleuth.doctor.server.engine_report import EngineFailure, engine_report
from sleuth.doctor.server.session import Session
from sleuth_providers.records import Record

MAX_SHOWN = 40
MAX_IN_FIX = 5
YAML_WORDS = ("on", "off", "yes", "no", "true", "false", "null")


def engines_answer(session: Session) -> Finding:
    """Count the engines, and list those that answered with their times."""
    report = engine_report(session)
    by_time = sorted(report.answered.items(), key=lambda pair: pair[1])
    counts = {"configured": report.configured, "enabled": report.enabled}
    lines = [
        tr("{configured} configured, {enabled} enabled", **counts) if session.config else "",
        _line(tr("answered: "), [f"{name} {ms:.0f} ms" for name, ms in by_time]),
        _line(tr("failed: "), [failure.engine for failure in report.failures]),
        _line(tr("no answer and no error: "), list(report.silent)),
        _line(tr("set in sleuth but not configured in SearXNG: "), list(report.unknown)),
    ]
    evidence = "\n".join(line for line in lines if line)
    counts = {"answered": len(report.answered), "failed": len(report.failures)}
    title = tr("Engines: {answered} answered, {failed} failed", **counts)
    if report.unknown:
        return warn(evidence, session.remedy("engines-unknown"), title=title)
    if report.failures:
        return warn(evidence, session.remedy("engines-failed"), title=title)
    return ok(evidence, title=title)


def _line(label: str, names: list[str]) -> str:
    if not names:
        return ""
    more = tr(" and {count} more", count=len(names) - MAX_SHOWN) if len(names) > MAX_SHOWN else ""
    return f"{label}{', '.join(names[:MAX_SHOWN])}{more}"


class EngineProblem(Record):
    """A kind of engine failure; its remedy is called engines- and its name."""

    name: str
    title: str
    texts: tuple[str, ...]  # as SearXNG reports it


def engines_with(problem: EngineProblem, session: Session) -> Finding | None:
    """Return the engines with one kind of problem, if any."""
    report = engine_report(session)
    all_failed = not report.answered
    failures = [failure for failure in report.failures if _kind(failure, all_failed) == problem.name]
    if not failures:
        return None
    evidence = "\n".join(failure.describe(session.now) for failure in failures[:MAX_SHOWN])
    offline = problem.name == "unreachable" and all_failed
    disable = set_disabled([failure.engine for failure in failures], True)
    remedy = session.remedy("engines-offline" if offline else f"engines-{problem.name}", disable=disable)
    return fail(evidence, remedy) if all_failed else warn(evidence, remedy)


def _kind(failure: EngineFailure, all_failed: bool) -> str:
    if failure.text == "timeout" and all_failed:
        return "unreachable"  # one engine may be slow; when all are, the server has no network
    return next((problem.name for problem in ENGINE_PROBLEMS if failure.text in problem.texts), "broken")


def set_disabled(names: list[str], disabled: bool) -> list[str]:
    """Return the lines of settings.yml that turn engines on or off."""
    value = str(disabled).lower()
    return [line for name in names[:MAX_IN_FIX] for line in (f"  - name: {_yaml(name)}", f"    disabled: {value}")]


def _yaml(name: str) -> str:
    """Return an engine's name as YAML; it comes from the server and may be anything."""
    is_plain = re.fullmatch(r"[a-z][a-z0-9 .]*", name) and name not in YAML_WORDS
    return name if is_plain else json.dumps(name)


BLOCKED_TEXTS = ("CAPTCHA", "too many requests", "access denied", "blocked", "CAPTCHA required")
TLS_TEXTS = ("SSL error: certificate validation has failed",)
ENGINE_PROBLEMS = (
    EngineProblem("blocked", "Engines block the server", BLOCKED_TEXTS),
    EngineProblem("unreachable", "Engines are unreachable", ("HTTP connection error", "network error")),
    EngineProblem("slow", "Engines are slow", ("timeout",)),
    EngineProblem("certificate", "Engine certificates are not trusted", TLS_TEXTS),
    EngineProblem("proxy", "Engines fail behind a proxy", ("proxy error",)),
    EngineProblem("broken", "Engines are broken", ()),  # all others
)
