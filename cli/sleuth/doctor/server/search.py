"""A real search: whether it returns results in time, which engines answered, and which failed, by cause."""

import json
import re
import time
from typing import Any

from sleuth.base.i18n import tr, trn
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, ok, shell, skipped
from sleuth.doctor.server.access import quota
from sleuth.doctor.server.session import Session
from sleuth_providers.json import as_dict, as_list, as_text
from sleuth_providers.records import Record

CLOSE_TO_LIMIT = 0.7  # share of the timeout; slower searches will exceed it now and then
SAFE_TIMEOUT_S = 15  # longer than any engine may take by default
COMMON_ENGINES = ["duckduckgo", "brave", "startpage", "wikipedia"]
TIMING = re.compile(r"(?:^|[,\s])total_\d+_([^;,]{1,80});dur=(\d{1,9}(?:\.\d{1,9})?)(?![\d.])")
# How long SearXNG suspends an engine after an error, by default, in seconds; after others it retries at once.
SUSPENSION_S = {
    "CAPTCHA": 3600,
    "CAPTCHA required": 3600,
    "too many requests": 180,
    "access denied": 180,
    "blocked": 180,
}
MAX_SUSPENSION_S = 400 * 86400
MAX_SHOWN = 40
MAX_IN_FIX = 5
YAML_WORDS = ("on", "off", "yes", "no", "true", "false", "null")


class EngineFailure(Record):
    """One engine that did not answer."""

    engine: str
    text: str
    suspended: bool  # because of an earlier failure: it was not queried this time
    seconds: int  # of suspension

    def describe(self, now: float) -> str:
        """Return the engine, its error, and the end of its suspension."""
        if self.seconds < 60:
            return f"{self.engine}: {self.text}"
        pattern = "%H:%M" if self.seconds < 20 * 3600 else "%Y-%m-%d %H:%M"
        until = time.strftime(pattern, time.localtime(now + self.seconds))
        values = {"engine": self.engine, "text": self.text, "until": until}
        if self.suspended:
            return tr("{engine}: {text}, suspended until {until} at the latest", **values)
        return tr("{engine}: {text}, suspended until {until}", **values)


class EngineReport(Record):
    """The engines of one search."""

    configured: int
    enabled: int
    expected: tuple[str, ...]  # those a general search should query
    answered: dict[str, float]  # in milliseconds; 0 without Server-Timing, which some proxies remove
    failures: tuple[EngineFailure, ...]
    unknown: tuple[str, ...]  # set in sleuth, not configured in SearXNG

    @property
    def silent(self) -> tuple[str, ...]:
        """Return engines that neither answered nor failed: only for certain queries, or not loaded at start-up."""
        failed = {failure.engine for failure in self.failures}
        return tuple(name for name in self.expected if name not in self.answered and name not in failed)


def search_works(session: Session) -> Finding:
    """Run one real search, from here to the engines and back."""
    results, report = session.answer.get("results"), engine_report(session)
    if not isinstance(results, list):
        return session.fail(session.search.summary, _no_answer(session), **_time_limits(session))
    if results:
        return ok(trn("{count} result", "{count} results", len(results)))
    if report.answered:
        count = len(report.answered)
        text = trn("{count} engine answered without results", "{count} engines answered without results", count)
        return ok(f"{text}; {tr('this is not an error')}")
    if report.failures:
        text = trn("no results: {count} engine failed", "no results: {count} engines failed", len(report.failures))
        return session.fail(text, "no-engine-answered")
    remedy = "searx-hides-suspensions" if session.software[0] == "searx" else "engines-not-loaded"
    return session.fail(
        tr("no results, and no engine was queried"),
        "no-engine-enabled" if session.config and not report.expected else remedy,
        engines=set_disabled(COMMON_ENGINES, False),
        configured=report.configured,
        enabled=report.enabled,
        request=shell(f"{session.endpoint.url}/stats/errors"),
    )


def _no_answer(session: Session) -> str:
    """Return the remedy for a search without an answer in JSON."""
    seen = session.search
    if seen.timed_out:
        return "search-slow"
    if seen.status == 429:
        return quota(session, seen)
    return "search-fails" if seen.status >= 500 else "search-not-json"


def response_is_fast_enough(session: Session) -> Finding:
    """Compare the time the search took with sleuth's timeout."""
    seconds, limits = session.search.elapsed_ms / 1000, _time_limits(session)
    if session.search.timed_out:
        facts = {"seconds": f"{seconds:.1f}", "limit": limits["limit"]}
        evidence = tr("no response within {seconds} s; sleuth's timeout is {limit} s", **facts)
        return session.fail(evidence, "search-slow", **limits)
    if not session.answer:
        return skipped(tr("no search was timed"))
    evidence = tr("{seconds} s of {limit} s", seconds=f"{seconds:.2f}", limit=limits["limit"])
    answered = engine_report(session).answered
    if any(answered.values()):
        name = max(answered, key=lambda name: answered[name])
        evidence += tr(", slowest engine: {name} ({ms} ms)", name=name, ms=round(answered[name]))
    if seconds >= session.timeout:
        return session.fail(evidence, "search-slow", **limits)
    if seconds >= session.timeout * CLOSE_TO_LIMIT:
        return session.warn(evidence, "search-slow", title=tr("Search is close to the timeout"), **limits)
    return ok(evidence)


def _time_limits(session: Session) -> dict[str, str]:
    """Return sleuth's timeout, and the command that doubles it."""
    seconds = max(SAFE_TIMEOUT_S, round(session.timeout * 2))
    wait = f"sleuth config set searxng.timeout {seconds}"
    if session.account.options.get("timeout"):
        wait = f"sleuth providers set {session.environment.provider} --option timeout={seconds}"
    return {"limit": f"{session.timeout:g}", "wait": wait}


def engine_report(session: Session) -> EngineReport:
    """Read what the search and /config say about the engines."""
    engines = [as_dict(entry) for entry in as_list(session.config.get("engines"))]
    names = [_name(entry.get("name")) for entry in engines]
    enabled = [entry for entry in engines if entry.get("enabled") is True]
    general = tuple(_name(entry.get("name")) for entry in enabled if "general" in as_list(entry.get("categories")))
    wanted = tuple(_name(name) for name in session.account.engines)
    # searx names engines by their shortcuts.
    shortcuts = {_name(entry.get("shortcut")): _name(entry.get("name")) for entry in engines}
    names_of = shortcuts if session.software[0] == "searx" else {}
    found = ((_name(name), float(ms)) for name, ms in TIMING.findall(session.search.header("server-timing")))
    results = map(as_dict, as_list(session.answer.get("results")))
    sources = [_name(name) for result in results for name in as_list(result.get("engines"))]
    timings = {names_of.get(name, name): ms for name, ms in found} or dict.fromkeys(sources, 0.0)
    failures = _failures(session)
    failed = {failure.engine for failure in failures}
    return EngineReport(
        configured=len(engines),
        enabled=len(enabled),
        expected=tuple(name for name in wanted if name in names) or general,
        answered={name: ms for name, ms in timings.items() if name not in failed},
        failures=failures,
        unknown=tuple(name for name in wanted if names and name not in names),
    )


def _name(value: Any) -> str:
    return clean(as_text(value), 60)


def _failures(session: Session) -> tuple[EngineFailure, ...]:
    pairs = [pair for pair in as_list(session.answer.get("unresponsive_engines")) if isinstance(pair, list)]
    found = []
    for name, error, *_ in (pair for pair in pairs if len(pair) > 1):
        text = clean(as_text(error), 120)
        plain = text.removeprefix("Suspended: ")
        seconds = _recorded_suspension(session.engine_errors.get(as_text(name))) or SUSPENSION_S.get(plain, 0)
        found.append(EngineFailure(_name(name), plain, text != plain, seconds))
    return tuple(found)


def _recorded_suspension(errors: Any) -> int:
    """Return the suspension in /stats/errors, in seconds: reCAPTCHA and Cloudflare cause much longer ones."""
    texts = [as_text(value) for error in as_list(errors) for value in as_list(as_dict(error).get("log_parameters"))]
    found = [int(number) for text in texts for number in re.findall(r"suspended_time=(\d{1,9})\b", text)]
    return min(max(found, default=0), MAX_SUSPENSION_S)


def engines_answer(session: Session) -> Finding:
    """Count the engines, and list those that answered with their times."""
    report = engine_report(session)
    by_time = sorted(report.answered.items(), key=lambda pair: pair[1])
    counts = {"configured": report.configured, "enabled": report.enabled}
    lines = [
        tr("{configured} configured, {enabled} enabled", **counts) if session.config else "",
        _line(tr("answered: "), [f"{name} {ms:.0f} ms" if ms else name for name, ms in by_time]),
        _line(tr("failed: "), [failure.engine for failure in report.failures]),
        _line(tr("no results and no error: "), list(report.silent)),
        _line(tr("set in sleuth but not configured in SearXNG: "), list(report.unknown)),
    ]
    evidence = "\n".join(line for line in lines if line)
    counts = {"answered": len(report.answered), "failed": len(report.failures)}
    title = tr("Engines: {answered} answered, {failed} failed", **counts)
    remedy = "engines-unknown" if report.unknown else "engines-failed" if report.failures else ""
    return session.warn(evidence, remedy, title=title) if remedy else ok(evidence, title=title)


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
    report_as = session.fail if all_failed else session.warn
    return report_as(evidence, "engines-offline" if offline else f"engines-{problem.name}", disable=disable)


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


TLS_TEXTS = ("SSL error: certificate validation has failed",)
ENGINE_PROBLEMS = (
    EngineProblem("blocked", "Engines block the server", tuple(SUSPENSION_S)),
    EngineProblem("unreachable", "Engines are unreachable", ("HTTP connection error", "network error")),
    EngineProblem("slow", "Engines are slow", ("timeout",)),
    EngineProblem("certificate", "Engine certificates are not trusted", TLS_TEXTS),
    EngineProblem("proxy", "Engines fail behind a proxy", ("proxy error",)),
    EngineProblem("broken", "Engines are broken", ()),  # all others
)
