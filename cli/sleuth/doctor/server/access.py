"""Whether programs may search: JSON output is enabled, and the limiter allows requests."""

from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, Remedy, fail, ok, shell, skipped, warn
from sleuth.doctor.server.http import login_needed
from sleuth.doctor.server.probe import REDIRECTS, ProbeResult
from sleuth.doctor.server.session import Session

LINK_TOKEN_KEY = "botdetection.ip_limit.link_token"  # noqa: S105 - a key of /config


def json_is_enabled(session: Session) -> Finding:
    """Request JSON without a query: SearXNG answers with an error in JSON, or refuses the format."""
    if _refusal(session):
        return skipped(tr("the limiter answered first"))
    seen = session.json_probe
    if isinstance(seen.json(), dict) and seen.status in (200, 400):
        return ok(seen.summary)
    kind = clean(seen.header("content-type"), 60)
    evidence = f"{seen.summary}, {kind}" if kind else seen.summary
    if seen.status == 403 and (seen.signed or session.software[0]):
        disabled = "json-disabled" if session.is_private else "json-disabled-on-public-server"
        return fail(evidence, session.remedy(disabled))
    return fail(evidence, _no_json(session, seen), title=tr("JSON output is not available"))


def _no_json(session: Session, seen: ProbeResult) -> Remedy:
    if seen.status == 401:
        return login_needed(session, seen)
    if seen.status in REDIRECTS:
        return session.remedy("search-redirected", host=clean(urlsplit(seen.target).hostname, 100) or "?")
    if seen.status == 200:
        return session.remedy("search-returns-html", request=shell(f"{session.endpoint.url}/search?format=json"))
    if seen.timed_out:
        return session.remedy("search-hangs")
    return session.remedy("search-fails" if seen.status >= 500 else "search-refused")


def limiter_allows(session: Session) -> Finding:
    """Check whether the limiter refuses sleuth or soon will; no request is repeated."""
    if refusal := _refusal(session):
        return fail(*refusal)
    enabled = session.limiter.get("enabled")
    if enabled is True and _expects_browser(session):
        evidence = tr("the limiter is on, and so is link_token or public_instance")
        return warn(evidence, session.remedy("link-token"), title=tr("Limiter will block sleuth"))
    if enabled is True:
        evidence = tr("the limiter is on; this examination used one of the four JSON requests it allows an hour")
        return warn(evidence, quota(session), title=tr("Limiter allows four requests an hour"))
    if not session.config:
        return skipped(tr("{summary}: limiter state unknown", summary=session.probes[1].summary))
    if enabled is None:
        return ok(tr("this version has no limiter"))
    return ok(tr("off (a limiter that is turned on stays off when valkey was missing at the start)"))


def _refusal(session: Session) -> tuple[str, Remedy] | None:
    """Return evidence and remedy when the limiter refuses sleuth."""
    config = session.probes[1]
    if config.status == 429:
        return _with_text(config), _refused_at_once(session, config)
    seen = session.json_probe
    if seen.status == 429:
        return _with_text(seen), session.remedy("link-token") if _expects_browser(session) else quota(session, seen)
    if seen.status == 302 and _leads_home(session, seen):
        return tr("{summary}, redirected to the home page", summary=seen.summary), session.remedy("link-token")
    if seen.status == 500 and seen.header("x-download-options") and session.limiter.get("enabled") is True:
        return seen.summary, session.remedy("limiter-lost-valkey")
    return None


def _expects_browser(session: Session) -> bool:
    return session.limiter.get(LINK_TOKEN_KEY) is True or session.config.get("public_instance") is True


def _leads_home(session: Session, seen: ProbeResult) -> bool:
    target = urlsplit(seen.target)
    return target.hostname == session.endpoint.host and target.path == f"{session.endpoint.path}/"


def _with_text(seen: ProbeResult) -> str:
    return seen.summary if seen.text.lstrip().startswith("<") else f"{seen.summary}: {clean(seen.text, 200)}"


def _refused_at_once(session: Session, seen: ProbeResult) -> Remedy:
    """Every path but /healthz is refused: by IP address, by headers, or by a reverse proxy."""
    if "BLOCKLIST" in seen.text:
        return session.remedy("limiter-blocks-address")
    if not seen.signed:
        return session.remedy("limited-by-proxy")
    return session.remedy("limiter-sees-bot", owner=_for_owner(session))


def quota(session: Session, seen: ProbeResult | None = None) -> Remedy:
    """Return what to do about a request limit that was or soon will be reached."""
    if seen and ("BLOCKLIST" in seen.text or not (seen.signed or session.limiter.get("enabled") is True)):
        return _refused_at_once(session, seen)
    return session.remedy("limiter-quota", owner=_for_owner(session))


def _for_owner(session: Session) -> list[str]:
    """Return the lines before a fix that only the owner of a server can apply."""
    if session.is_private:
        return []
    alternative = tr("# if the server is not yours, run your own:")
    return [alternative, "sleuth searxng init ./searxng", tr("# if it is yours:")]
