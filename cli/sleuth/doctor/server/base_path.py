"""The path under which SearXNG lives, and where else it may be when it is not there."""

from functools import partial
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.probe import ProbeResult
from sleuth.doctor.server.session import Place, Session
from sleuth.doctor.verdict import Remedy, bad, good, poor, shell, unasked
from sleuth_providers.json import as_dict
from sleuth_providers.threads import run_all

PREFIXES = ("", "/searxng", "/searx", "/search")  # where people put it
PORTS = (8080, 8888)  # in a container, and without one
PATH_LINK = "searxng.md#searxng-404-not-found-or-wrong-redirects-under-a-sub-path"
ADDRESS_LINK = "searxng.md#tell-sleuth-the-address-of-searxng"


def path_is_right(visit: Session) -> Finding:
    """See whether SearXNG's paths are where the address says; if not, look one level up and at the usual prefixes."""
    health, config = visit.first[:2]
    moved = urlsplit(health.target)
    if (health.status, config.status) != (404, 404) and not moved.path.endswith("/healthz"):
        return good(visit.place.path or "/")
    paths = [
        path for path in (moved.path.removesuffix("/healthz"), *_paths(visit.place.path)) if path != visit.place.path
    ]
    found = _look(visit, [visit.place._replace(path=path) for path in dict.fromkeys(paths)])
    if found:
        evidence = tr("{summary}; SearXNG answers at {url}", summary=health.summary, url=found.url)
        cause = tr("the address has the wrong path: it must have the prefix under which SearXNG is served, and no more")
        fix = (visit.use(found.url), f"sleuth doctor {shell(found.url)}")
        return bad(evidence, Remedy(cause, fix, PATH_LINK))
    if health.signed:
        cause = tr("SearXNG does not know this path: the proxy in front neither strips the prefix nor announces it")
        announce = (
            tr("# in the proxy, for nginx:"),
            f"proxy_set_header X-Script-Name {visit.place.path};",
            tr("# or in .env:"),
            f"SEARXNG_BASE_URL={shell(visit.place.url + '/')}",
        )
        return bad(health.summary, Remedy(cause, announce, PATH_LINK))
    return unasked(tr("nothing of SearXNG at this path or at the usual ones"))


def _paths(here: str) -> list[str]:
    parts = here.split("/")
    parents = ["/".join(parts[:number]) for number in range(1, len(parts))]
    return [*reversed(parents), *PREFIXES]


def answers_elsewhere(visit: Session) -> Finding | None:
    """When nobody answers on this machine, see whether SearXNG is at one of its usual ports, over IPv6 or IPv4."""
    place = visit.place
    if not visit.nobody or not place.is_local:
        return None
    near = [
        Place("http", host, port, path)
        for port in dict.fromkeys((place.port, *PORTS))
        for host in ("127.0.0.1", "::1")
        for path in dict.fromkeys(("", place.path))
    ]
    found = _look(visit, [other for other in near if other != place])
    if found is None:
        return None
    cause = tr("sleuth asks at the wrong port or address: SearXNG runs, but elsewhere")
    fix = (visit.use(found.url), f"sleuth doctor {shell(found.url)}")
    return poor(tr("SearXNG answers at {url}", url=found.url), Remedy(cause, fix, ADDRESS_LINK))


def _look(visit: Session, places: list[Place]) -> Place | None:
    """Return the first of several places where SearXNG answers; no password is sent there."""
    answers = run_all(partial(visit.ask, "/config", place.url) for place in places)
    return next((place for place, seen in zip(places, answers, strict=True) if _is_it(seen)), None)


def _is_it(seen: ProbeResult) -> bool:
    facts = as_dict(seen.json()) if seen.status == 200 else {}
    return (seen.signed and seen.status != 404) or ("engines" in facts and "instance_name" in facts)
