"""What answers at the address: HTTP, a gateway, a login, the path, SearXNG and its version, base URL and clock."""

import html
import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, ok, skipped
from sleuth.doctor.server.address import Endpoint, parse_address
from sleuth.doctor.server.connection import uses_tls
from sleuth.doctor.server.probe import ProbeResult
from sleuth.doctor.server.session import Session
from sleuth_providers.errors import BrokenOffError
from sleuth_providers.json import as_dict
from sleuth_providers.threads import run_all

GATEWAY_STATUSES = (502, 503, 504, *range(520, 527))  # 520 to 526 are used by Cloudflare
HTTP_ON_TLS_PORT = ("plain HTTP request was sent to HTTPS port", "HTTP request to an HTTPS server")  # nginx; Go, Caddy
LOCAL_SERVER = "http://127.0.0.1:8080"
MAX_AGE_DAYS = 365
MAX_SKEW_S = 60
SEARCH_TEMPLATE = re.compile(r"template=\"([^\"?]{1,500})/search\?")
COMMON_PREFIXES = ("", "/searxng", "/searx", "/search")
COMMON_PORTS = (8080, 8888)  # with and without a container


def answers_http(session: Session) -> Finding:
    """Check that something answers HTTP, and that it is not a gateway without SearXNG behind it."""
    seen = next((seen for seen in session.probes if seen.reply), None)
    https = session.endpoint._replace(scheme="https").url
    if seen is None:
        session.no_server = True
        return session.fail(session.health.summary, _no_answer(session), https)
    if seen.status == 400 and any(sign in seen.text for sign in HTTP_ON_TLS_PORT):
        return session.fail(seen.summary, "http-needs-tls", https)
    if moved := _redirect_to_https(session, seen):
        return moved
    if seen.status in GATEWAY_STATUSES and not seen.signed:
        return session.fail(seen.summary, "gateway-timeout" if seen.status == 504 else "gateway-unreachable")
    return ok(seen.summary)


def _no_answer(session: Session) -> str:
    """Return the remedy where the port is open and nothing answers HTTP."""
    if session.prober.proxy:
        return "http-proxy"
    if session.health.timed_out:
        return "http-hangs"
    if session.endpoint.scheme == "http" and isinstance(session.health.error, BrokenOffError) and uses_tls(session):
        return "http-needs-tls"
    return "http-closed"


def _redirect_to_https(session: Session, seen: ProbeResult) -> Finding | None:
    """Report a redirect to https on the same host; a search follows it from port 80 to 443, and so do later checks."""
    target, here = parse_address(seen.target.removesuffix("/healthz")).endpoint, session.endpoint
    if not target or (here.scheme, target.scheme) != ("http", "https") or target.host != here.host:
        return None
    better = here._replace(scheme="https", port=target.port)
    evidence = tr("{summary}, redirects to {url}", summary=seen.summary, url=target.url)
    remedy = ("http-redirects-to-https", better.url)
    if (here.port, target.port) == (80, 443):
        session.switch_to(better)
        if any(after.reply for after in session.probes):
            return session.warn(evidence, *remedy)
    return session.fail(evidence, *remedy)


def access_is_allowed(session: Session) -> Finding:
    """Check whether a reverse proxy asks for a password, redirects to a login page, or denies access."""
    if refused := next((seen for seen in session.probes if seen.status in (401, 407)), None):
        challenge = clean(refused.header("www-authenticate"), 100)
        evidence = tr("{summary}, asks for {challenge}", summary=refused.summary, challenge=challenge)
        return session.fail(evidence, login_needed(session, refused))
    target = urlsplit(session.health.target)
    if target.hostname and target.hostname != session.endpoint.host:
        return session.fail(tr("redirected to {host}", host=target.hostname), "login-page", LOCAL_SERVER)
    if all(seen.is_bot_check or (seen.status == 403 and not seen.signed) for seen in session.probes):
        return session.fail(session.health.summary, "access-denied", LOCAL_SERVER)
    return ok(tr("user name and password are accepted") if session.account.username else tr("no login needed"))


def login_needed(session: Session, seen: ProbeResult) -> str:
    """Return the remedy for a reverse proxy that asks for a login."""
    if not seen.header("www-authenticate").lower().startswith("basic"):
        return "login-unsupported"
    return "login-rejected" if session.account.username else "login-needed"


def is_searxng(session: Session) -> Finding:
    """Check that the server is SearXNG, that it works, and that it is not too old."""
    name, version = session.software
    if not name and all(seen.status == 429 or seen.status >= 500 for seen in (*session.probes, session.index)):
        return session.fail(session.index.summary, "server-refuses-everything", session.endpoint.url)
    if not name:
        session.no_server = True
        other = "other-program-here" if session.endpoint.is_local else "other-program"
        return session.fail(session.index.summary, other, "http://localhost:8888")
    if session.health.status == 500 and session.probes[1].status == 500:
        has_settings = session.health.header("x-download-options")
        remedy = "every-request-fails" if has_settings else "no-default-settings"
        return session.fail(tr("HTTP 500 on every path, including /healthz"), remedy)
    title = f"{'SearXNG' if name == 'searxng' else name} {clean(version, 60)}".strip()
    if name == "searx":
        return session.warn(title, "server-is-searx", title=title)
    if (age := _age_in_days(version, session.now)) > MAX_AGE_DAYS:
        return session.warn(title, "server-is-old", days=age, title=title)
    return ok(clean(session.config.get("instance_name"), 80), title=title)


def _age_in_days(version: str, now: float) -> int:
    """Return the age of a version; SearXNG versions are dates."""
    found = re.match(r"20\d\d\.\d{1,2}\.\d{1,2}\b", version)
    try:
        released = datetime.strptime(found[0] if found else "", "%Y.%m.%d").replace(tzinfo=UTC)
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
    same_host = here.host == there.host or (here.is_local and there.is_local)
    if same_host and (here.scheme, here.port) == (there.scheme, there.port) and here.path in ("", there.path):
        return ok(there.url)
    evidence = tr("it is configured for {there} but was reached at {here}", there=there.url, here=here.url)
    return session.warn(evidence, "base-url-differs")


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
    return session.warn(tr("server: {header}; here: {here} GMT", header=clean(header, 40), here=here), "clock-wrong")


def path_is_right(session: Session) -> Finding:
    """Check that SearXNG is at the path of the address; if not, try parent paths and common prefixes."""
    endpoint, (health, config, _) = session.endpoint, session.probes
    target = urlsplit(health.target)
    if (health.status, config.status) != (404, 404) and not target.path.endswith("/healthz"):
        return ok(endpoint.path or "/")
    paths = dict.fromkeys((target.path.removesuffix("/healthz"), *_parents(endpoint.path), *COMMON_PREFIXES))
    if found := _find(session, [endpoint._replace(path=path) for path in paths if path != endpoint.path]):
        evidence = tr("{summary}; SearXNG is at {url}", summary=health.summary, url=found.url)
        return session.fail(evidence, "path-wrong", found.url)
    if health.signed:
        return session.fail(health.summary, "path-unknown-to-server")
    return skipped(tr("no SearXNG at this path or at common prefixes"))


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:number]) for number in range(len(parts) - 1, 0, -1)]


def answers_elsewhere(session: Session) -> Finding | None:
    """When no SearXNG answers on this machine, try its usual ports over IPv4 and IPv6."""
    endpoint = session.endpoint
    if not session.no_server or not endpoint.is_local:
        return None
    candidates = [
        Endpoint("http", host, port, path)
        for port in dict.fromkeys((endpoint.port, *COMMON_PORTS))
        for host in ("127.0.0.1", "::1")
        for path in dict.fromkeys(("", endpoint.path))
    ]
    found = _find(session, [candidate for candidate in candidates if candidate != endpoint])
    return session.warn(tr("SearXNG is at {url}", url=found.url), "runs-elsewhere", found.url) if found else None


def _find(session: Session, endpoints: list[Endpoint]) -> Endpoint | None:
    """Return the first endpoint at which SearXNG answers; no password is sent."""
    answers = run_all(partial(session.get, "/config", endpoint.url) for endpoint in endpoints)
    return next((endpoint for endpoint, seen in zip(endpoints, answers, strict=True) if _is_searxng(seen)), None)


def _is_searxng(seen: ProbeResult) -> bool:
    config = as_dict(seen.json()) if seen.status == 200 else {}
    return (seen.signed and seen.status != 404) or ("engines" in config and "instance_name" in config)
