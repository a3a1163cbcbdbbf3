"""What answers at the address: HTTP, a gateway, a login, SearXNG and its version, its base URL and clock."""

import html
import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, Remedy, fail, ok, skipped, warn
from sleuth.doctor.fixes import LOG, RECREATE, RESTART, in_compose, in_env, in_settings, shell
from sleuth.doctor.links import Link
from sleuth.doctor.server.address import Endpoint, parse_address
from sleuth.doctor.server.probe import ProbeResult
from sleuth.doctor.server.session import Session
from sleuth.doctor.server.tls import uses_tls

GATEWAY_STATUSES = (502, 503, 504, *range(520, 527))  # 520 to 526 are Cloudflare's
HTTP_ON_TLS_PORT = ("plain HTTP request was sent to HTTPS port", "HTTP request to an HTTPS server")  # nginx; Go, Caddy
LOCAL_SERVER = "http://127.0.0.1:8080"
MAX_AGE_DAYS = 365
MAX_SKEW_S = 60
SEARCH_TEMPLATE = re.compile(r"template=\"([^\"?]{1,500})/search\?")


def answers_http(session: Session) -> Finding:
    """Check that something answers HTTP, and that it is not a gateway without SearXNG behind it."""
    seen = next((seen for seen in session.probes if seen.reply), None)
    if seen is None:
        session.no_server = True
        return fail(session.health.summary, _no_answer(session))
    if seen.status == 400 and any(sign in seen.text for sign in HTTP_ON_TLS_PORT):
        return fail(seen.summary, _use_https(session))
    if moved := _redirect_to_https(session, seen):
        return moved
    if seen.status in GATEWAY_STATUSES and not seen.signed:
        return fail(seen.summary, _gateway(seen.status))
    return ok(seen.summary)


def _no_answer(session: Session) -> Remedy:
    if session.prober.proxy:
        cause = tr("the proxy from the environment (http_proxy and similar) does not reach this address")
        return Remedy(cause, (f"export no_proxy={shell(session.endpoint.host)}",), Link.PROXY)
    if session.health.timed_out:
        cause = tr("the port is open but nothing answers: the server hangs, is overloaded, or is not a web server")
        return Remedy(cause, (RESTART, LOG, *_list_listeners(session)), Link.REFUSED)
    if session.endpoint.scheme == "http" and session.health.broke_off and uses_tls(session):
        return _use_https(session)
    cause = tr(
        "the connection is closed without an answer: SearXNG in the container has exited or listens on another port, "
        "or the program there is not a web server"
    )
    return Remedy(cause, ("docker ps -a --filter name=searxng", LOG, *_list_listeners(session)), Link.REFUSED)


def _list_listeners(session: Session) -> tuple[str, ...]:
    return (f"ss -ltnp 'sport = :{session.endpoint.port}'",) if session.endpoint.is_local else ()


def _use_https(session: Session) -> Remedy:
    url = session.endpoint._replace(scheme="https").url
    return Remedy(tr("the port expects TLS: use https://"), (session.command_to_use(url),), Link.CERTIFICATE)


def _redirect_to_https(session: Session, seen: ProbeResult) -> Finding | None:
    """Report a redirect to https on the same host; a search follows it from port 80 to 443, and so do later checks."""
    target, here = parse_address(seen.target.removesuffix("/healthz")).endpoint, session.endpoint
    if not target or (here.scheme, target.scheme) != ("http", "https") or target.host != here.host:
        return None
    better = here._replace(scheme="https", port=target.port)
    evidence = tr("{summary}, redirects to {url}", summary=seen.summary, url=target.url)
    fix = (session.command_to_use(better.url), f"sleuth doctor {shell(better.url)}")
    remedy = Remedy(tr("the server redirects to https; configure that address"), fix, Link.CERTIFICATE)
    if (here.port, target.port) != (80, 443):
        return fail(evidence, remedy)
    session.switch_to(better)
    return warn(evidence, remedy) if any(after.reply for after in session.probes) else fail(evidence, remedy)


def _gateway(status: int) -> Remedy:
    check = f"curl -fsS {LOCAL_SERVER}/healthz"
    if status == 504:
        cause = tr("the reverse proxy gets no answer from SearXNG in time: it hangs, or its engines are too slow")
        fix = (check, LOG, tr("# in the reverse proxy, for nginx:"), "proxy_read_timeout 30s;")
        return Remedy(cause, fix, Link.GATEWAY)
    cause = tr("the reverse proxy cannot reach SearXNG: it is not running, or the proxy uses the wrong port")
    return Remedy(cause, (check, "docker compose ps", RECREATE, LOG), Link.GATEWAY)


def access_is_allowed(session: Session) -> Finding:
    """Check whether a reverse proxy asks for a password, redirects to a login page, or denies access."""
    if refused := next((seen for seen in session.probes if seen.status in (401, 407)), None):
        challenge = clean(refused.header("www-authenticate"), 100)
        evidence = tr("{summary}, asks for {challenge}", summary=refused.summary, challenge=challenge)
        return fail(evidence, login_needed(session, refused))
    direct = (tr("# on the server itself, bypass the reverse proxy:"), session.command_to_use(LOCAL_SERVER))
    target = urlsplit(session.health.target)
    if target.hostname and target.hostname != session.endpoint.host:
        cause = tr("requests are redirected to another site, usually a login page; sleuth supports only HTTP Basic")
        return fail(tr("redirected to {host}", host=target.hostname), Remedy(cause, direct, Link.LOGIN))
    if all(seen.status == 403 and not seen.signed for seen in session.probes):
        cause = tr("something in front of SearXNG denies access: a firewall, a bot check or an IP allowlist")
        return fail(session.health.summary, Remedy(cause, direct, Link.LOGIN))
    return ok(tr("user name and password are accepted") if session.account.username else tr("no login needed"))


def login_needed(session: Session, seen: ProbeResult) -> Remedy:
    """Return how to log in at a reverse proxy."""
    provider = session.environment.provider
    if not seen.header("www-authenticate").lower().startswith("basic"):
        cause = tr("the reverse proxy wants a login that sleuth does not support; sleuth supports HTTP Basic")
        return Remedy(cause, (), Link.LOGIN)
    cause = tr("the reverse proxy asks for a user name and password; SearXNG itself has no login")
    if session.account.username:
        cause = tr("the reverse proxy rejects the user name or password")
    set_login = f"sleuth providers set {provider} --basic-auth-username NAME --basic-auth-password -"
    return Remedy(cause, (set_login, f"sleuth providers test {provider}"), Link.LOGIN)


def is_searxng(session: Session) -> Finding:
    """Check that the server is SearXNG, that it works, and that it is not too old."""
    name, version = session.software
    if not name:
        session.no_server = True
        return fail(session.index.summary, _other_program(session))
    if session.health.status == 500 and session.probes[1].status == 500:
        return fail(tr("HTTP 500 on every path, including /healthz"), _always_fails(session))
    title = f"{'SearXNG' if name == 'searxng' else name} {clean(version, 60)}".strip()
    if name == "searx":
        cause = tr(
            "searx is the unmaintained predecessor of SearXNG: it works with sleuth, but many engines are broken and "
            "suspended ones are not reported"
        )
        return warn(title, Remedy(cause, ("sleuth searxng init ./searxng",), Link.START), title=title)
    if (age := _age_in_days(version, session.now)) > MAX_AGE_DAYS:
        cause = tr("the server is {days} days old; search engines change, and old versions lose them", days=age)
        return warn(title, Remedy(cause, ("docker compose pull", RECREATE), Link.UPDATE), title=title)
    return ok(clean(session.config.get("instance_name"), 80), title=title)


def _other_program(session: Session) -> Remedy:
    cause = tr("another program answers at this address: /config, Server-Timing and generator do not look like SearXNG")
    if not session.endpoint.is_local:
        return Remedy(cause, (f"sleuth providers show {session.environment.provider}",), Link.PORT_IN_USE)
    another_port = in_compose("ports:", '  - "127.0.0.1:8888:8080"')
    fix = (*_list_listeners(session), *another_port, session.command_to_use("http://localhost:8888"))
    return Remedy(cause, fix, Link.PORT_IN_USE)


def _always_fails(session: Session) -> Remedy:
    if session.health.header("x-download-options"):
        return Remedy(tr("every request fails; the log shows the reason"), (LOG, RESTART), Link.SERVER_ERROR)
    cause = tr("settings.yml lacks `use_default_settings: true`, so almost every setting is missing")
    return Remedy(cause, (*in_settings("use_default_settings: true"), LOG), Link.SERVER_ERROR)


def _age_in_days(version: str, now: float) -> int:
    """Return the age of a version; SearXNG versions are dates."""
    found = re.match(r"(20\d\d)\.(\d{1,2})\.(\d{1,2})\b", version)
    try:
        year, month, day = (int(part) for part in found.groups()) if found else (0, 0, 0)
        released = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return 0
    return int((now - released.timestamp()) // 86400)


def base_url_matches(session: Session) -> Finding:
    """Compare the base URL in the server's pages with the address; JSON works without, links in pages do not."""
    seen, here = session.probes[2], session.endpoint
    found = SEARCH_TEMPLATE.search(seen.text)
    there = parse_address(html.unescape(found[1])).endpoint if found else None
    if there is None:
        return skipped(tr("{summary}: no base URL given", summary=seen.summary))
    if _same_server(here, there) and here.path in ("", there.path):
        return ok(there.url)
    evidence = tr("it is configured for {there} but was reached at {here}", there=there.url, here=here.url)
    nginx = ("proxy_set_header Host $http_host;", f"proxy_set_header X-Script-Name {here.path or '/'};")
    url = shell(f"{here.url}/")
    fix = (*in_env(f"SEARXNG_BASE_URL={url}"), tr("# or in the reverse proxy, for nginx:"), *nginx)
    cause = tr("SEARXNG_BASE_URL or a proxy header names another address: JSON works, but links in pages are wrong")
    return warn(evidence, Remedy(cause, fix, Link.PATH))


def _same_server(one: Endpoint, two: Endpoint) -> bool:
    hosts = one.host == two.host or (one.is_local and two.is_local)
    return hosts and (one.scheme, one.port) == (two.scheme, two.port)


def clock_agrees(session: Session) -> Finding:
    """Compare the server's clock with this machine's."""
    header = next((seen.header("date") for seen in session.probes if seen.reply), "")
    try:
        skew = parsedate_to_datetime(header).timestamp() - session.now
    except (ValueError, OverflowError, TypeError, IndexError):  # all of which malformed dates raise
        return skipped(tr("the server sent no valid Date header"))
    if abs(skew) <= MAX_SKEW_S:
        return ok(tr("{seconds} s apart", seconds=abs(round(skew))))
    here = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(session.now))
    evidence = tr("server: {header}; here: {here} GMT", header=clean(header, 40), here=here)
    cause = tr("one of the two clocks is wrong; TLS certificates and engine suspensions depend on them")
    return warn(evidence, Remedy(cause, ("date -u", "sudo timedatectl set-ntp true"), Link.CERTIFICATE))
