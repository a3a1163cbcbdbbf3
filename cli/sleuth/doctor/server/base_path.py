"""The path SearXNG is served under, and other places to look when it is not there."""

from functools import partial
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding, fail, ok, skipped, warn
from sleuth.doctor.server.address import Endpoint
from sleuth.doctor.server.probe import ProbeResult, side_by_side
from sleuth.doctor.server.session import Session
from sleuth_providers.json import as_dict

COMMON_PREFIXES = ("", "/searxng", "/searx", "/search")
COMMON_PORTS = (8080, 8888)  # with and without a container


def path_is_right(session: Session) -> Finding:
    """Check that SearXNG is at the path of the address; if not, try parent paths and common prefixes."""
    endpoint, (health, config, _) = session.endpoint, session.probes
    target = urlsplit(health.target)
    if (health.status, config.status) != (404, 404) and not target.path.endswith("/healthz"):
        return ok(endpoint.path or "/")
    paths = dict.fromkeys((target.path.removesuffix("/healthz"), *_parents(endpoint.path), *COMMON_PREFIXES))
    found = _find(session, [endpoint._replace(path=path) for path in paths if path != endpoint.path])
    if found:
        evidence = tr("{summary}; SearXNG answers at {url}", summary=health.summary, url=found.url)
        return fail(evidence, session.remedy("path-wrong", found.url))
    if health.signed:
        return fail(health.summary, session.remedy("path-unknown-to-server"))
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
    if found is None:
        return None
    return warn(tr("SearXNG answers at {url}", url=found.url), session.remedy("runs-elsewhere", found.url))


def _find(session: Session, endpoints: list[Endpoint]) -> Endpoint | None:
    """Return the first endpoint at which SearXNG answers; no password is sent."""
    answers = side_by_side(partial(session.get, "/config", endpoint.url) for endpoint in endpoints)
    return next((endpoint for endpoint, seen in zip(endpoints, answers, strict=True) if _is_searxng(seen)), None)


def _is_searxng(seen: ProbeResult) -> bool:
    config = as_dict(seen.json()) if seen.status == 200 else {}
    return (seen.signed and seen.status != 404) or ("engines" in config and "instance_name" in config)
