"""Whether programs may search at all: JSON among the formats, and a limiter that lets sleuth pass."""

from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.probe import REDIRECTS, ProbeResult
from sleuth.doctor.server.session import Session
from sleuth.doctor.verdict import LOG, RECREATE, Remedy, bad, good, in_limiter, in_settings, poor, shell, unasked

PASS = ("[botdetection.ip_lists]", "pass_ip = ['127.0.0.0/8', '172.16.0.0/12']")
LINK_TOKEN = "botdetection.ip_limit.link_token"  # noqa: S105 - a key of /config
JSON_LINK = "searxng.md#enable-json-in-searxng-403-forbidden"
HTML_LINK = "searxng.md#searxng-returns-html-instead-of-json"
PUBLIC_LINK = "searxng.md#public-searxng-instances-do-not-work-with-sleuth"
BROKEN_LINK = "searxng.md#searxng-500-internal-server-error-on-every-page"
SLOW_LINK = "searxng.md#searxng-is-slow-timeout-in-sleuth"
LIMITER_LINK = "searxng.md#the-searxng-limiter-turn-it-off-or-pass-your-address-pass_ip"
FIRST_LINK = "searxng.md#searxng-429-too-many-requests-on-the-first-request"
QUOTA_LINK = "searxng.md#searxng-429-after-four-requests-api-limit-per-hour"
HOME_LINK = "searxng.md#searxng-redirects-to-its-home-page-302-instead-of-results"


def json_is_enabled(visit: Session) -> Finding:
    """Ask for JSON without saying what to search: SearXNG complains about that in JSON, or refuses the format."""
    if _refusal(visit):
        return unasked(tr("the limiter answered first"))
    seen = visit.trial
    if isinstance(seen.json(), dict) and seen.status in (200, 400):
        return good(seen.summary, elapsed_ms=seen.elapsed_ms)
    return bad(_described(seen), _without_json(visit, seen), elapsed_ms=seen.elapsed_ms)


def _described(seen: ProbeResult) -> str:
    kind = clean(seen.header("content-type"), 60)
    return f"{seen.summary}, {kind}" if kind else seen.summary


def _without_json(visit: Session, seen: ProbeResult) -> Remedy:
    if seen.status == 403 and (seen.signed or visit.software[0]):
        return _format_off(visit)
    if seen.status == 401:
        cause = tr("only the search itself asks for a user name and a password")
        login = f"sleuth providers set {visit.around.provider} --basic-auth-username NAME --basic-auth-password -"
        return Remedy(cause, (login,), "searxng.md#searxng-401-unauthorized-user-name-and-password")
    if seen.status in REDIRECTS:
        where = clean(urlsplit(seen.target).hostname, 100) or "?"
        return Remedy(tr("the search is redirected to {where}; sleuth does not follow", where=where), (), HTML_LINK)
    if seen.status == 200:
        cause = tr(
            "a page came instead of JSON: what stands in front drops `format=json`, or another program answers /search"
        )
        return Remedy(cause, (f"curl -s {shell(visit.place.url + '/search?format=json')}",), HTML_LINK)
    if seen.timed_out:
        cause = tr("the server does not answer in time: it hangs, or all its threads wait for slow engines")
        return Remedy(cause, (LOG, "docker compose restart core"), SLOW_LINK)
    if seen.status >= 500:
        return Remedy(tr("the server fails when it is searched; its log has the reason"), (LOG,), BROKEN_LINK)
    return Remedy(tr("the search is refused by the server or by what stands in front of it"), (LOG,), HTML_LINK)


def _format_off(visit: Session) -> Remedy:
    own = (
        *in_settings("use_default_settings: true", "search:", "  formats:", "    - html", "    - json"),
        tr("# no change? look at the file with the container's eyes:"),
        "docker compose exec core cat /etc/searxng/settings.yml",
    )
    if visit.is_own:
        cause = tr("`json` is not in `search.formats`: only html is there by default, and capital letters do not count")
        return Remedy(cause, own, JSON_LINK)
    cause = tr(
        "`json` is not in `search.formats`; on servers of other people that is on purpose, and sleuth does not try "
        "to get round it: run your own"
    )
    fix = (tr("# somebody else's server:"), "sleuth searxng init ./searxng", tr("# your own server:"), *own)
    return Remedy(cause, fix, PUBLIC_LINK)


def limiter_lets_pass(visit: Session) -> Finding:
    """See whether the limiter refuses sleuth or will do so soon; nothing is asked twice."""
    if refusal := _refusal(visit):
        return bad(*refusal)
    enabled = visit.limiter.get("enabled")
    if enabled is True and _expects_browser(visit):
        return poor(tr("it is on, and so is link_token or public_instance"), _token())
    if enabled is True:
        evidence = tr("it is on; this examination used one of the four JSON requests an hour that it allows an address")
        return poor(evidence, quota(visit))
    if not visit.config:
        return unasked(tr("{summary}: it does not tell", summary=visit.first[1].summary))
    if enabled is None:
        return good(tr("this version has none"))
    return good(tr("off; one that is turned on is off in silence when valkey was missing at the start"))


def _refusal(visit: Session) -> tuple[str, Remedy] | None:
    """Return how the limiter refuses sleuth, and what to do; None when it does not."""
    config = visit.first[1]
    if config.status == 429:
        return _summary(config), _barred(visit, config)
    seen = visit.trial
    if seen.status == 429:
        return _summary(seen), _token() if _expects_browser(visit) else quota(visit, seen)
    if seen.status == 302 and _leads_home(visit, seen):
        return tr("{summary}, sent to the home page", summary=seen.summary), _token()
    if seen.status == 500 and seen.header("x-download-options") and visit.limiter.get("enabled") is True:
        return seen.summary, _no_valkey()
    return None


def _expects_browser(visit: Session) -> bool:
    return visit.limiter.get(LINK_TOKEN) is True or visit.config.get("public_instance") is True


def _leads_home(visit: Session, seen: ProbeResult) -> bool:
    target = urlsplit(seen.target)
    return target.hostname == visit.place.host and target.path == f"{visit.place.path}/"


def _summary(seen: ProbeResult) -> str:
    return f"{seen.summary}: {clean(seen.text, 200)}" if not seen.text.lstrip().startswith("<") else seen.summary


def _barred(visit: Session, seen: ProbeResult) -> Remedy:
    """Every path but /healthz is refused: by address, by headers, or not by SearXNG at all."""
    if "BLOCKLIST" in seen.text:
        cause = tr("the address of this machine is listed in `block_ip` of the server's limiter.toml")
        return Remedy(cause, in_limiter("[botdetection.ip_lists]", "block_ip = []"), FIRST_LINK)
    if not seen.signed:
        return _front()
    cause = tr(
        "the limiter takes sleuth for a bot, though its headers are good: a proxy in front changes or drops them"
    )
    return Remedy(cause, _open_up(visit), FIRST_LINK)


def _front() -> Remedy:
    cause = tr("a proxy or service in front of SearXNG limits how often it may be asked; wait, or change its rules")
    return Remedy(cause, (), FIRST_LINK)


def quota(visit: Session, seen: ProbeResult | None = None) -> Remedy:
    """Return what to do about a limit on requests that was, or soon will be, reached."""
    if seen and ("BLOCKLIST" in seen.text or not (seen.signed or visit.limiter.get("enabled") is True)):
        return _barred(visit, seen)
    cause = tr("the limiter allows four JSON requests an hour and address; addresses in `pass_ip` have no limit")
    return Remedy(cause, _open_up(visit), QUOTA_LINK if seen else LIMITER_LINK)


def _open_up(visit: Session) -> tuple[str, ...]:
    own = (
        tr("# nobody else can reach the server? turn the limiter off:"),
        *in_settings("server:", "  limiter: false"),
        tr("# the environment wins over settings.yml:"),
        "grep -E 'SEARXNG_(LIMITER|PUBLIC_INSTANCE)' .env docker-compose.yml",
        tr("# or keep it, and let your own addresses pass:"),
        *in_limiter(*PASS),
    )
    if visit.is_own:
        return own
    return (
        tr("# somebody else's server: respect its limit, or run your own:"),
        "sleuth searxng init ./searxng",
        tr("# your own server:"),
        *own,
    )


def _token() -> Remedy:
    cause = tr(
        "`link_token` or `public_instance` is on: it expects a browser, and sends programs to the home page for days"
    )
    fix = (
        *in_settings("server:", "  public_instance: false"),
        *in_limiter("[botdetection.ip_limit]", "link_token = false"),
        tr("# the environment wins over settings.yml:"),
        "grep SEARXNG_PUBLIC_INSTANCE .env docker-compose.yml",
    )
    return Remedy(cause, fix, HOME_LINK)


def _no_valkey() -> Remedy:
    cause = tr("the limiter is on and has lost its valkey (or redis) server, so that every search fails")
    fix = (
        "docker compose up -d valkey",
        tr("# or do without the limiter:"),
        *in_settings("server:", "  limiter: false"),
        LOG,
        RECREATE,
    )
    return Remedy(cause, fix, "searxng.md#searxng-log-cant-connect-valkey-db-redis")
