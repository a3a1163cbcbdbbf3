"""A real search: whether it returns results, and in time."""

from sleuth.base.i18n import tr, trn
from sleuth.doctor.finding import Finding, fail, ok, skipped, warn
from sleuth.doctor.remedies import Remedy, shell
from sleuth.doctor.server.access import quota
from sleuth.doctor.server.engine_report import EngineReport, engine_report
from sleuth.doctor.server.engines import set_disabled
from sleuth.doctor.server.session import Session

CLOSE_TO_LIMIT = 0.7  # share of the timeout; slower searches will exceed it now and then
SAFE_TIMEOUT_S = 15  # longer than any engine may take by default
COMMON_ENGINES = ["duckduckgo", "brave", "startpage", "wikipedia"]


def search_works(session: Session) -> Finding:
    """Run one real search, from here to the engines and back."""
    results, report = session.answer.get("results"), engine_report(session)
    if not isinstance(results, list):
        return fail(session.search.summary, _no_answer(session))
    if results:
        return ok(trn("{count} result", "{count} results", len(results)))
    if report.answered:
        count = len(report.answered)
        text = trn("{count} engine answered without results", "{count} engines answered without results", count)
        return ok(f"{text}; {tr('this is not an error')}")
    if report.failures:
        text = trn("no results: {count} engine failed", "no results: {count} engines failed", len(report.failures))
        return fail(text, session.remedy("no-engine-answered"))
    return fail(tr("no results, and no engine was queried"), _none_queried(session, report))


def _no_answer(session: Session) -> Remedy:
    seen = session.search
    if seen.timed_out:
        return _more_time(session)
    if seen.status == 429:
        return quota(session, seen)
    return session.remedy("search-fails" if seen.status >= 500 else "search-not-json")


def _none_queried(session: Session, report: EngineReport) -> Remedy:
    if session.config and not report.expected:
        engines = set_disabled(COMMON_ENGINES, False)
        counts = {"configured": report.configured, "enabled": report.enabled}
        return session.remedy("no-engine-enabled", engines=engines, **counts)
    if session.software[0] == "searx":
        return session.remedy("searx-hides-suspensions", request=shell(f"{session.endpoint.url}/stats/errors"))
    return session.remedy("engines-not-loaded")


def response_is_fast_enough(session: Session) -> Finding:
    """Compare the time the search took with sleuth's timeout."""
    seconds, limit = session.search.elapsed_ms / 1000, f"{session.timeout:g}"
    if session.search.timed_out:
        facts = {"seconds": f"{seconds:.1f}", "limit": limit}
        return fail(tr("no answer within {seconds} s; sleuth's timeout is {limit} s", **facts), _more_time(session))
    if not session.answer:
        return skipped(tr("no search to measure"))
    evidence = tr("{seconds} s of {limit} s", seconds=f"{seconds:.2f}", limit=limit)
    if answered := engine_report(session).answered:
        name = max(answered, key=lambda name: answered[name])
        evidence += tr(", slowest engine: {name} ({ms} ms)", name=name, ms=round(answered[name]))
    if seconds >= session.timeout:
        return fail(evidence, _more_time(session))
    if seconds >= session.timeout * CLOSE_TO_LIMIT:
        return warn(evidence, _more_time(session), title=tr("Search is close to the timeout"))
    return ok(evidence)


def _more_time(session: Session) -> Remedy:
    seconds = max(SAFE_TIMEOUT_S, round(session.timeout * 2))
    wait = f"sleuth config set searxng.timeout {seconds}"
    if session.account.options.get("timeout"):
        wait = f"sleuth providers set {session.environment.provider} --option timeout={seconds}"
    return session.remedy("search-slow", limit=f"{session.timeout:g}", wait=wait)
