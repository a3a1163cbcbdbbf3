"""A real search: does it find anything, and does it take less time than sleuth allows?"""

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.access import quota
from sleuth.doctor.server.engine_report import EngineReport, engine_report
from sleuth.doctor.server.engines import EMPTY_LINK, SLOW_LINK, switch
from sleuth.doctor.server.session import Session
from sleuth.doctor.verdict import LOG, RESTART, Remedy, bad, good, in_settings, poor, shell, unasked

CLOSE = 0.7  # of the time limit: what takes longer will miss it now and then
SAFE_TIMEOUT = 15  # seconds; longer than any engine may take by default
USUAL = ["duckduckgo", "brave", "startpage", "wikipedia"]


def search_finds(visit: Session) -> Finding:
    """Make the one real search: it proves the whole way from here to the engines and back."""
    seen, results = visit.search, visit.answer.get("results")
    if not isinstance(results, list):
        return bad(seen.summary, _no_answer(visit), elapsed_ms=seen.elapsed_ms)
    found = engine_report(visit)
    if results:
        return good(tr("{count} results", count=len(results)), elapsed_ms=seen.elapsed_ms)
    if found.answered:
        evidence = tr("no results, though {count} engines answered: not a fault", count=len(found.answered))
        return good(evidence, elapsed_ms=seen.elapsed_ms)
    if found.failures:
        evidence = tr("no results: {count} engines failed, none answered", count=len(found.failures))
        remedy = Remedy(tr("no engine answered; why is told below, by cause"), (), EMPTY_LINK)
        return bad(evidence, remedy, elapsed_ms=seen.elapsed_ms)
    return bad(tr("no results, and no engine was asked"), _nobody_asked(visit, found), elapsed_ms=seen.elapsed_ms)


def _no_answer(visit: Session) -> Remedy:
    seen = visit.search
    if seen.timed_out:
        return _patience(visit)
    if seen.status == 429:
        return quota(visit, seen)
    if seen.status >= 500:
        cause = tr("the server fails when it is searched; its log has the reason")
        return Remedy(cause, (LOG,), "searxng.md#searxng-500-internal-server-error-on-every-page")
    cause = tr("the answer is not the JSON of a search: something in front of the server changes it")
    return Remedy(cause, (LOG,), "searxng.md#searxng-returns-html-instead-of-json")


def _nobody_asked(visit: Session, found: EngineReport) -> Remedy:
    if visit.config and not found.asked:
        cause = tr(
            "no engine is enabled for general searches: {configured} are configured, {enabled} enabled",
            configured=found.configured,
            enabled=found.enabled,
        )
        return Remedy(
            cause, in_settings("use_default_settings: true", "engines:", *switch(USUAL, off=False)), EMPTY_LINK
        )
    if visit.software[0] == "searx":
        cause = tr("searx says nothing of engines that are suspended: they failed before, and come back by themselves")
        return Remedy(cause, (f"curl -s {shell(visit.place.url + '/stats/errors')}",), EMPTY_LINK)
    cause = tr(
        "the engines were lost when the server started, most often for want of a network; a restart brings them back"
    )
    return Remedy(cause, (RESTART, LOG), EMPTY_LINK)


def time_is_enough(visit: Session) -> Finding:
    """Compare the time the search took with the time sleuth allows."""
    seconds = visit.search.elapsed_ms / 1000
    limit = f"{visit.timeout:g}"
    if visit.search.timed_out:
        evidence = tr("no answer within {seconds} s; sleuth waits {limit} s", seconds=f"{seconds:.1f}", limit=limit)
        return bad(evidence, _patience(visit), elapsed_ms=visit.search.elapsed_ms)
    if not visit.answer:
        return unasked(tr("there was no search to measure"))
    slowest = max(engine_report(visit).answered.items(), key=lambda pair: pair[1], default=None)
    evidence = tr("{seconds} s of {limit} s", seconds=f"{seconds:.2f}", limit=limit)
    if slowest:
        evidence += tr(", slowest engine: {name} with {ms} ms", name=slowest[0], ms=round(slowest[1]))
    if seconds < visit.timeout * CLOSE:
        return good(evidence, elapsed_ms=visit.search.elapsed_ms)
    verdict = bad if seconds >= visit.timeout else poor
    return verdict(evidence, _patience(visit), elapsed_ms=visit.search.elapsed_ms)


def _patience(visit: Session) -> Remedy:
    cause = tr(
        "a search lasts as long as its slowest engine, and sleuth gives up after {limit} s", limit=f"{visit.timeout:g}"
    )
    seconds = max(SAFE_TIMEOUT, round(visit.timeout * 2))
    own = f"sleuth providers set {visit.around.provider} --option timeout={seconds}"
    fix = (
        own if visit.account.options.get("timeout") else f"sleuth config set searxng.timeout {seconds}",
        tr("# or let SearXNG wait less:"),
        f"sleuth providers set {visit.around.provider} --option timeout_limit=3",
        *in_settings("outgoing:", "  request_timeout: 2.0", "  max_request_timeout: 4.0"),
    )
    return Remedy(cause, fix, SLOW_LINK)
