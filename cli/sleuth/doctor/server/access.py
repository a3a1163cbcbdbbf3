"""Whether programs may search: JSON output is enabled, and the limiter allows requests."""

from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, Remedy, fail, ok, skipped, warn
from sleuth.doctor.fixes import CHECK_VARIABLES, LOG, PASS_LOCAL, RESTART, in_limiter, in_settings, shell
from sleuth.doctor.links import Link
from sleuth.doctor.server.http import login_needed
from sleuth.doctor.server.probe import REDIRECTS, ProbeResult
from sleuth.doctor.server.session import Session

LINK_TOKEN_KEY = "botdetection.ip_limit.link_token"  # noqa: S105 - a key of /config
OWN_SERVER = ("sleuth searxng init ./searxng",)


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
        return fail(evidence, _format_disabled(session))
    return fail(evidence, _no_json(session, seen), title=tr("JSON output is not available"))


def _no_json(session: Session, seen: ProbeResult) -> Remedy:
    if seen.status == 401:
        return login_needed(session, seen)
    if seen.status in REDIRECTS:
        host = clean(urlsplit(seen.target).hostname, 100) or "?"
        return Remedy(tr("the search is redirected to {host}; sleuth does not follow", host=host), (), Link.HTML)
    if seen.status == 200:
        cause = tr("an HTML page came back: a reverse proxy drops `format=json`, or another program serves /search")
        return Remedy(cause, (f"curl -s {shell(session.endpoint.url + '/search?format=json')}",), Link.HTML)
    if seen.timed_out:
        cause = tr("the server does not answer in time: it hangs, or all its threads wait for slow engines")
        return Remedy(cause, (LOG, RESTART), Link.SLOW)
    if seen.status >= 500:
        return Remedy(tr("the server fails on a search; its log shows the reason"), (LOG,), Link.SERVER_ERROR)
    return Remedy(tr("SearXNG or the reverse proxy refuses the search"), (LOG,), Link.HTML)


def _format_disabled(session: Session) -> Remedy:
    enable = (
        *in_settings("use_default_settings: true", "search:", "  formats:", "    - html", "    - json"),
        tr("# no change? check the file that the container sees:"),
        "docker compose exec core cat /etc/searxng/settings.yml",
    )
    if session.is_private:
        cause = tr("`json` is not in `search.formats`: only html is enabled by default, and names are lower case")
        return Remedy(cause, enable, Link.JSON)
    cause = tr("`json` is not in `search.formats`; public servers disable it on purpose: run your own")
    return Remedy(cause, _for_owner(enable), Link.PUBLIC)


def _for_owner(fix: tuple[str, ...]) -> tuple[str, ...]:
    return (tr("# if the server is not yours, run your own:"), *OWN_SERVER, tr("# if it is yours:"), *fix)


def limiter_allows_requests(session: Session) -> Finding:
    """Check whether the limiter refuses sleuth or soon will; no request is repeated."""
    if refusal := _refusal(session):
        return fail(*refusal)
    enabled = session.limiter.get("enabled")
    if enabled is True and _expects_browser(session):
        title = tr("Limiter will block sleuth")
        return warn(tr("the limiter is on, and so is link_token or public_instance"), _link_token(), title=title)
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
        return _with_text(seen), _link_token() if _expects_browser(session) else quota(session, seen)
    if seen.status == 302 and _leads_home(session, seen):
        return tr("{summary}, redirected to the home page", summary=seen.summary), _link_token()
    if seen.status == 500 and seen.header("x-download-options") and session.limiter.get("enabled") is True:
        cause = tr("the limiter is on and has lost its valkey (or redis) server, so every search fails")
        without = (tr("# or turn the limiter off:"), *in_settings("server:", "  limiter: false"), LOG)
        return seen.summary, Remedy(cause, ("docker compose up -d valkey", *without), Link.VALKEY)
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
        cause = tr("this machine's IP address is listed in `block_ip` of the server's limiter.toml")
        return Remedy(cause, in_limiter("[botdetection.ip_lists]", "block_ip = []"), Link.LIMITED_AT_ONCE)
    if not seen.signed:
        cause = tr("a reverse proxy in front of SearXNG limits requests; wait, or change its rules")
        return Remedy(cause, (), Link.LIMITED_AT_ONCE)
    cause = tr("the limiter takes sleuth for a bot: a reverse proxy changes or drops request headers")
    return Remedy(cause, _allow_requests(session), Link.LIMITED_AT_ONCE)


def quota(session: Session, seen: ProbeResult | None = None) -> Remedy:
    """Return what to do about a request limit that was or soon will be reached."""
    if seen and ("BLOCKLIST" in seen.text or not (seen.signed or session.limiter.get("enabled") is True)):
        return _refused_at_once(session, seen)
    cause = tr("the limiter allows four JSON requests an hour per IP address, except for those in `pass_ip`")
    return Remedy(cause, _allow_requests(session), Link.QUOTA if seen else Link.LIMITER)


def _allow_requests(session: Session) -> tuple[str, ...]:
    fix = (
        tr("# a server that only you can reach needs no limiter:"),
        *in_settings("server:", "  limiter: false"),
        tr("# environment variables override settings.yml:"),
        CHECK_VARIABLES,
        tr("# or keep the limiter and exempt your own addresses:"),
        *in_limiter(*PASS_LOCAL),
    )
    return fix if session.is_private else _for_owner(fix)


def _link_token() -> Remedy:
    cause = tr("`link_token` or `public_instance` is on: it expects a browser and redirects programs to the home page")
    fix = (
        *in_settings("server:", "  public_instance: false"),
        *in_limiter("[botdetection.ip_limit]", "link_token = false"),
        tr("# environment variables override settings.yml:"),
        CHECK_VARIABLES,
    )
    return Remedy(cause, fix, Link.LINK_TOKEN)
