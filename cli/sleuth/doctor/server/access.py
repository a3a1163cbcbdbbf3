"""Whether programs may search: JSON output is enabled, and the limiter allows requests."""

from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, ok, shell, skipped
from sleuth.doctor.server.http import LOCAL_SERVER, login_needed
from sleuth.doctor.server.probe import REDIRECTS, ProbeResult
from sleuth.doctor.server.session import Session

LINK_TOKEN_KEY = "botdetection.ip_limit.link_token"  # noqa: S105 - a key of /config


def json_is_enabled(session: Session) -> Finding:
    """Request JSON without a query: SearXNG answers with an error in JSON, or refuses the format."""
    if _refusal(session):
        return skipped(tr("blocked by the limiter"))
    seen = session.json_probe
    if isinstance(seen.json(), dict) and seen.status in (200, 400):
        return ok(seen.summary)
    kind = clean(seen.header("content-type"), 60)
    evidence = f"{seen.summary}, {kind}" if kind else seen.summary
    if seen.status == 403 and not seen.is_bot_check and (seen.signed or session.software[0]):
        return session.fail(evidence, "json-disabled" if session.is_private else "json-disabled-on-public-server")
    return session.fail(
        evidence,
        _no_json(session, seen),
        LOCAL_SERVER,
        title=tr("JSON output is not available"),
        target=clean(urlsplit(seen.target).hostname, 100) or "?",
        request=shell(f"{session.endpoint.url}/search?format=json"),
    )


def _no_json(session: Session, seen: ProbeResult) -> str:
    """Return the remedy for a search that does not answer in JSON."""
    if seen.is_bot_check:
        return "access-denied"
    if seen.status == 401:
        return login_needed(session, seen)
    if seen.status in REDIRECTS:
        return "search-redirected"
    if seen.status == 200:
        return "search-returns-html"
    if seen.timed_out:
        return "search-hangs"
    return "search-fails" if seen.status >= 500 else "search-refused"


def limiter_allows(session: Session) -> Finding:
    """Check whether the limiter refuses sleuth or soon will; no request is repeated."""
    if refusal := _refusal(session):
        return session.fail(*refusal)
    enabled = session.limiter.get("enabled")
    if enabled is True and _expects_browser(session):
        evidence = tr("the limiter is on, and so is link_token or public_instance")
        return session.warn(evidence, "link-token", title=tr("Limiter will block sleuth"))
    if enabled is True:
        evidence = tr("the limiter is on; this check used one of the four JSON requests that it allows per hour")
        return session.warn(evidence, "limiter-quota", title=tr("Limiter allows four requests an hour"))
    if not session.config:
        return skipped(tr("{summary}: limiter state unknown", summary=session.probes[1].summary))
    if enabled is None:
        return ok(tr("this version has no limiter"))
    return ok(tr("off (an enabled limiter also stays off if valkey was missing at start-up)"))


def _refusal(session: Session) -> tuple[str, str] | None:
    """Return evidence and remedy when the limiter refuses sleuth."""
    config = session.probes[1]
    if config.status == 429:
        return _with_text(config), _refused_at_once(config)
    seen = session.json_probe
    if seen.status == 429:
        return _with_text(seen), "link-token" if _expects_browser(session) else quota(session, seen)
    if seen.status == 302 and _leads_home(session, seen):
        return tr("{summary}, redirected to the home page", summary=seen.summary), "link-token"
    if seen.status == 500 and seen.header("x-download-options") and session.limiter.get("enabled") is True:
        return seen.summary, "limiter-lost-valkey"
    return None


def _expects_browser(session: Session) -> bool:
    return session.limiter.get(LINK_TOKEN_KEY) is True or session.config.get("public_instance") is True


def _leads_home(session: Session, seen: ProbeResult) -> bool:
    target = urlsplit(seen.target)
    return target.hostname == session.endpoint.host and target.path == f"{session.endpoint.path}/"


def _with_text(seen: ProbeResult) -> str:
    return seen.summary if seen.text.lstrip().startswith("<") else f"{seen.summary}: {clean(seen.text, 200)}"


def _refused_at_once(seen: ProbeResult) -> str:
    """Return the remedy where every path but /healthz is refused: by IP address, by headers, or by a reverse proxy."""
    if "BLOCKLIST" in seen.text:
        return "limiter-blocks-address"
    return "limiter-sees-bot" if seen.signed else "limited-by-proxy"


def quota(session: Session, seen: ProbeResult) -> str:
    """Return the remedy for a search that a request limit refused."""
    if "BLOCKLIST" in seen.text or not (seen.signed or session.limiter.get("enabled") is True):
        return _refused_at_once(seen)
    return "limiter-quota"
