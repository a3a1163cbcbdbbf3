"""A real search: whether it returns results, and in time."""

from sleuth.base.i18n import tr, trn
from sleuth.doctor.finding import Finding, Remedy, fail, ok, skipped, warn
from sleuth.doctor.fixes import LOG, RESTART, in_settings, shell
from sleuth.doctor.links import Link
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
        remedy = Remedy(tr("no engine answered; the causes are listed below"), (), Link.NO_RESULTS)
        text = trn("no results: {count} engine failed", "no results: {count} engines failed", len(report.failures))
        return fail(text, remedy)
    return fail(tr("no results, and no engine was queried"), _none_queried(session, report))


def _no_answer(session: Session) -> Remedy:
    seen = session.search
    if seen.timed_out:
        return _more_time(session)
    if seen.status == 429:
        return quota(session, seen)
    if seen.status >= 500:
        return Remedy(tr("the server fails on a search; its log shows the reason"), (LOG,), Link.SERVER_ERROR)
    return Remedy(tr("the answer is not search results in JSON: a reverse proxy changes it"), (LOG,), Link.HTML)


def _none_queried(session: Session, report: EngineReport) -> Remedy:
    if session.config and not report.expected:
        counts = {"configured": report.configured, "enabled": report.enabled}
        cause = tr("no general engine is enabled: {configured} configured, {enabled} enabled", **counts)
        enable = ("use_default_settings: true", "engines:", *set_disabled(COMMON_ENGINES, False))
        return Remedy(cause, in_settings(*enable), Link.NO_RESULTS)
    if session.software[0] == "searx":
        cause = tr("searx does not report suspended engines: they failed before and return by themselves")
        return Remedy(cause, (f"curl -s {shell(session.endpoint.url + '/stats/errors')}",), Link.NO_RESULTS)
    cause = tr("the engines were not loaded at start-up, usually because there was no network; a restart loads them")
    return Remedy(cause, (RESTART, LOG), Link.NO_RESULTS)


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
    limit = f"{session.timeout:g}"
    cause = tr("a search takes as long as its slowest engine, and sleuth gives up after {limit} s", limit=limit)
    seconds, provider = max(SAFE_TIMEOUT_S, round(session.timeout * 2)), session.environment.provider
    fix = (
        f"sleuth providers set {provider} --option timeout={seconds}"
        if session.account.options.get("timeout")
        else f"sleuth config set searxng.timeout {seconds}",
        tr("# or make SearXNG wait less:"),
        f"sleuth providers set {provider} --option timeout_limit=3",
        *in_settings("outgoing:", "  request_timeout: 2.0", "  max_request_timeout: 4.0"),
    )
    return Remedy(cause, fix, Link.SLOW)
