"""Who answers, and how: HTTP at all, a gateway, a login; SearXNG itself, which version, and where it believes to be."""

import html
import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.address import read_address
from sleuth.doctor.server.probe import ProbeResult
from sleuth.doctor.server.session import Place, Session
from sleuth.doctor.server.tls import uses_tls
from sleuth.doctor.verdict import LOG, RECREATE, RESTART, Remedy, bad, good, in_settings, poor, shell, unasked

GATEWAY = (502, 503, 504, *range(520, 527))  # the last ones are Cloudflare's own
TO_TLS = ("plain HTTP request was sent to HTTPS port", "HTTP request to an HTTPS server")  # nginx, Go and Caddy
OLD = 365  # days after which a server has lost many engines
MAX_SKEW = 60  # seconds
TEMPLATE = re.compile(r"template=\"([^\"?]{1,500})/search\?")
TLS_LINK = "searxng.md#searxng-with-a-self-signed-certificate-or-internal-ca"
GATEWAY_LINK = "searxng.md#searxng-502-bad-gateway-or-504-gateway-timeout"
REFUSED_LINK = "searxng.md#connection-refused-on-localhost8080-is-the-searxng-container-running"
LOGIN_LINK = "searxng.md#searxng-401-unauthorized-user-name-and-password"
PORT_LINK = "searxng.md#port-8080-is-already-in-use-by-another-program"
BROKEN_LINK = "searxng.md#searxng-500-internal-server-error-on-every-page"
PATH_LINK = "searxng.md#searxng-404-not-found-or-wrong-redirects-under-a-sub-path"
PROXY_LINK = "troubleshooting.md#proxy-settings-http_proxy-https_proxy-socks-no_proxy"
UPDATE_LINK = "searxng.md#update-searxng"


def answers_http(visit: Session) -> Finding:
    """See whether anything speaks HTTP, and whether it is the door itself or a gateway with nobody behind it."""
    answered = [seen for seen in visit.first if seen.reply]
    if not answered:
        visit.nobody = True
        return bad(visit.health.summary, _mute(visit), elapsed_ms=visit.health.elapsed_ms)
    seen = answered[0]
    if seen.status == 400 and any(sign in seen.text for sign in TO_TLS):
        return bad(seen.summary, _speak_tls(visit), elapsed_ms=seen.elapsed_ms)
    if moved := _moved_to_https(visit, seen):
        return moved
    if seen.status in GATEWAY and not seen.signed:
        return bad(seen.summary, _gateway(visit, seen.status), elapsed_ms=seen.elapsed_ms)
    return good(seen.summary, elapsed_ms=seen.elapsed_ms)


def _mute(visit: Session) -> Remedy:
    if visit.prober.proxy:
        cause = tr("the proxy in the environment (http_proxy and the like) does not lead to this address")
        return Remedy(cause, (f"export no_proxy={shell(visit.place.host)}",), PROXY_LINK)
    if visit.health.timed_out:
        cause = tr(
            "the port is open but nothing answers: the server hangs, all its threads are busy, or it is no web server"
        )
        return Remedy(cause, (RESTART, LOG, *_listener(visit)), REFUSED_LINK)
    if visit.place.scheme == "http" and visit.health.broke_off and uses_tls(visit):
        return _speak_tls(visit)
    cause = tr(
        "the connection is closed without an answer: typical of a port that Docker publishes with no program behind "
        "it, because SearXNG exited or listens on another port inside; or of a program that is no web server"
    )
    return Remedy(cause, ("docker ps -a --filter name=searxng", LOG, *_listener(visit)), REFUSED_LINK)


def _listener(visit: Session) -> tuple[str, ...]:
    return (f"ss -ltnp 'sport = :{visit.place.port}'",) if visit.place.is_local else ()


def _speak_tls(visit: Session) -> Remedy:
    cause = tr("the port speaks TLS: the address must begin with https://")
    return Remedy(cause, (visit.use(visit.place._replace(scheme="https").url),), TLS_LINK)


def _moved_to_https(visit: Session, seen: ProbeResult) -> Finding | None:
    """Report a redirect of the same host to https; a search follows one from port 80 to 443, and so do later checks."""
    target = read_address(seen.target.removesuffix("/healthz")).place
    here = visit.place
    if not target or (here.scheme, target.scheme) != ("http", "https") or target.host != here.host:
        return None
    better = here._replace(scheme="https", port=target.port)
    evidence = tr("{summary}, redirects to {url}", summary=seen.summary, url=target.url)
    fix = (visit.use(better.url), f"sleuth doctor {shell(better.url)}")
    remedy = Remedy(tr("the server wants https; sleuth must be given that address"), fix, TLS_LINK)
    if (here.port, target.port) != (80, 443):
        return bad(evidence, remedy, elapsed_ms=seen.elapsed_ms)
    visit.move(better)
    verdict = poor if any(after.reply for after in visit.first) else bad
    return verdict(evidence, remedy, elapsed_ms=seen.elapsed_ms)


def _gateway(visit: Session, status: int) -> Remedy:
    if status == 504:
        cause = tr(
            "the proxy in front waits for SearXNG in vain: it hangs, or its engines are slower than the proxy allows"
        )
        fix = (
            "curl -fsS http://127.0.0.1:8080/healthz",
            LOG,
            tr("# in the proxy, for nginx:"),
            "proxy_read_timeout 30s;",
        )
        return Remedy(cause, fix, GATEWAY_LINK)
    cause = tr(
        "the proxy in front cannot reach SearXNG: it is stopped, exits at the start, or the proxy has the wrong port"
    )
    return Remedy(cause, ("curl -fsS http://127.0.0.1:8080/healthz", "docker compose ps", RECREATE, LOG), GATEWAY_LINK)


def lets_in(visit: Session) -> Finding:
    """See whether something in front asks for a password, sends us to a login page, or forbids access."""
    refused = next((seen for seen in visit.first if seen.status in (401, 407)), None)
    if refused:
        return bad(_challenge(refused), _login(visit, refused), elapsed_ms=refused.elapsed_ms)
    away = urlsplit(visit.health.target)
    if away.hostname and away.hostname != visit.place.host:
        cause = tr(
            "requests are sent to another site, most often a login page in front; sleuth can only give a password"
        )
        fix = (
            tr("# let this path pass without a login page, or go past the proxy on the server itself:"),
            visit.use("http://127.0.0.1:8080"),
        )
        return bad(tr("redirected to {host}", host=away.hostname), Remedy(cause, fix, LOGIN_LINK))
    if all(seen.status == 403 and not seen.signed for seen in visit.first):
        cause = tr("what stands in front of the server forbids access: a firewall, a bot check, or an address list")
        return bad(visit.health.summary, Remedy(cause, (visit.use("http://127.0.0.1:8080"),), LOGIN_LINK))
    return good(tr("user name and password are accepted") if visit.account.username else tr("none needed"))


def _challenge(seen: ProbeResult) -> str:
    return tr(
        "{summary}, asks for {challenge}", summary=seen.summary, challenge=clean(seen.header("www-authenticate"), 100)
    )


def _login(visit: Session, seen: ProbeResult) -> Remedy:
    provider = visit.around.provider
    if not seen.header("www-authenticate").lower().startswith("basic"):
        cause = tr("the server in front wants a kind of login that sleuth does not know; it knows HTTP Basic")
        return Remedy(cause, (), LOGIN_LINK)
    cause = (
        tr("the server in front rejects the user name or the password that sleuth has for it")
        if visit.account.username
        else tr("the server in front of SearXNG asks for a user name and a password; SearXNG itself has no login")
    )
    set_login = f"sleuth providers set {provider} --basic-auth-username NAME --basic-auth-password -"
    return Remedy(cause, (set_login, f"sleuth providers test {provider}"), LOGIN_LINK)


def is_searxng(visit: Session) -> Finding:
    """Recognise SearXNG by its own signs, and its version."""
    name, version = visit.software
    elapsed_ms = visit.first[1].elapsed_ms
    if not name:
        visit.nobody = True
        return bad(visit.index.summary, _stranger(visit), elapsed_ms=elapsed_ms)
    if visit.health.status == 500 and visit.first[1].status == 500:
        return bad(tr("HTTP 500 on every path, /healthz too"), _unusable(visit), elapsed_ms=elapsed_ms)
    version = clean(version, 60)
    if name == "searx":
        return poor(f"searx {version}", _predecessor(), title=f"searx {version}", elapsed_ms=elapsed_ms)
    title = f"SearXNG {version}".strip()
    age = _age(version, visit.now)
    if age > OLD:
        cause = tr("search engines change their pages often; a server that is {days} days old has lost some", days=age)
        fix = ("docker compose pull", RECREATE)
        return poor(title, Remedy(cause, fix, UPDATE_LINK), title=title, elapsed_ms=elapsed_ms)
    return good(clean(visit.config.get("instance_name"), 80), title=title, elapsed_ms=elapsed_ms)


def _stranger(visit: Session) -> Remedy:
    cause = tr(
        "another program answers at this address: none of SearXNG's signs is there (/config, Server-Timing, generator)"
    )
    if not visit.place.is_local:
        return Remedy(cause, (f"sleuth providers show {visit.around.provider}",), PORT_LINK)
    fix = (
        *_listener(visit),
        tr("# give SearXNG another port, in docker-compose.yml at the service:"),
        "ports:",
        '  - "127.0.0.1:8888:8080"',
        tr("# then:"),
        RECREATE,
        visit.use("http://localhost:8888"),
    )
    return Remedy(cause, fix, PORT_LINK)


def _unusable(visit: Session) -> Remedy:
    if visit.health.header("x-download-options"):
        return Remedy(tr("the server fails on every request; its log has the reason"), (LOG, RESTART), BROKEN_LINK)
    cause = tr("settings.yml lacks `use_default_settings: true`, so that almost every setting is missing")
    return Remedy(cause, (*in_settings("use_default_settings: true"), LOG), BROKEN_LINK)


def _predecessor() -> Remedy:
    cause = tr(
        "this is searx, the predecessor of SearXNG, no longer developed: it works with sleuth, but engines that are "
        "suspended vanish without a word and many no longer work"
    )
    return Remedy(cause, ("sleuth searxng init ./searxng",), "searxng.md#start-searxng-with-docker-compose")


def _age(version: str, now: float) -> int:
    """Return how many days old a version is; SearXNG's are dates."""
    found = re.match(r"(20\d\d)\.(\d{1,2})\.(\d{1,2})\b", version)
    try:
        year, month, day = (int(part) for part in found.groups()) if found else (0, 0, 0)
        made = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return 0
    return int((now - made.timestamp()) // 86400)


def base_url_fits(visit: Session) -> Finding:
    """Compare where the server believes to be with where it is; its JSON does not care, its pages do."""
    seen = visit.first[2]
    found = TEMPLATE.search(seen.text)
    there = read_address(html.unescape(found[1])).place if found else None
    if there is None:
        return unasked(tr("{summary}: it does not tell", summary=seen.summary))
    here = visit.place
    if _same_server(here, there) and here.path in ("", there.path):
        return good(there.url, elapsed_ms=seen.elapsed_ms)
    evidence = tr("it believes to be at {there}, and is asked at {here}", there=there.url, here=here.url)
    public = f"{here.url}/"
    fix = (
        tr("# in .env:"),
        f"SEARXNG_BASE_URL={shell(public)}",
        tr("# then:"),
        RECREATE,
        tr("# or in the proxy, for nginx:"),
        "proxy_set_header Host $http_host;",
        f"proxy_set_header X-Script-Name {here.path or '/'};",
    )
    cause = tr("SEARXNG_BASE_URL or the headers of a proxy name another address; JSON does not care, links in pages do")
    return poor(evidence, Remedy(cause, fix, PATH_LINK), elapsed_ms=seen.elapsed_ms)


def _same_server(one: Place, two: Place) -> bool:
    hosts = one.host == two.host or (one.is_local and two.is_local)
    return hosts and (one.scheme, one.port) == (two.scheme, two.port)


def clock_agrees(visit: Session) -> Finding:
    """Compare the server's clock with this machine's."""
    header = next((seen.header("date") for seen in visit.first if seen.reply), "")
    try:
        skew = parsedate_to_datetime(header).timestamp() - visit.now
    except (ValueError, OverflowError, TypeError, IndexError):  # all of which odd dates raise
        return unasked(tr("the server tells no time"))
    if abs(skew) <= MAX_SKEW:
        return good(tr("{seconds} s apart", seconds=abs(round(skew))))
    here = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(visit.now))
    evidence = tr("server: {header}; here: {here} GMT", header=clean(header, 40), here=here)
    cause = tr("one of the two clocks is wrong; certificates and the ends of suspensions depend on them")
    fix = ("date -u", "timedatectl", "sudo timedatectl set-ntp true")
    return poor(evidence, Remedy(cause, fix, TLS_LINK))
