"""Checks that the server's name resolves and that its port is open, over IPv6 and IPv4."""

import errno
import socket
import time
from functools import partial

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.address import EXAMPLE
from sleuth.doctor.server.probe import side_by_side
from sleuth.doctor.server.session import Session
from sleuth.doctor.verdict import LOG, RECREATE, Remedy, bad, good, shell, unasked
from sleuth_providers.net.connection import Address, connect_first, resolve

CONNECT_TIMEOUT_S = 2.0  # for the DNS lookup, and for each connection
MAX_ADDRESSES = 6
ADDRESS_LINK = "searxng.md#tell-sleuth-the-address-of-searxng"
START_LINK = "searxng.md#start-searxng-with-docker-compose"
REFUSED_LINK = "searxng.md#connection-refused-on-localhost8080-is-the-searxng-container-running"
NETWORK_LINK = "searxng.md#connection-refused-from-another-machine-in-the-network"
CONTAINER_LINK = "searxng.md#connection-refused-from-another-container-localhost-in-docker"


def name_resolves(visit: Session) -> Finding:
    """Resolve the host name."""
    place = visit.place
    if visit.prober.proxy:
        return unasked(tr("the proxy resolves names"))
    started = time.monotonic()
    found = _resolve(place.host, place.port, visit.left(CONNECT_TIMEOUT_S))
    elapsed_ms = round((time.monotonic() - started) * 1000)
    if isinstance(found, list):
        visit.addresses = found[:MAX_ADDRESSES]
        addresses = ", ".join(str(sockaddr[0]) for _, sockaddr in visit.addresses)
        evidence = addresses if addresses != place.host else tr("an IP address; no DNS lookup needed")
        return good(evidence, elapsed_ms=elapsed_ms)
    if isinstance(found, TimeoutError) or found.errno == socket.EAI_AGAIN:
        cause = tr("DNS does not respond: no network, a VPN, or a wrong DNS setting")
        remedy = Remedy(cause, (f"getent hosts {shell(place.host)}", "cat /etc/resolv.conf"), ADDRESS_LINK)
        return bad(tr("no DNS response for {host}", host=place.host), remedy, elapsed_ms=elapsed_ms)
    return bad(tr("no such host: {host}", host=place.host), _unknown_name(visit), elapsed_ms=elapsed_ms)


def _resolve(host: str, port: int, seconds: float) -> list[Address] | OSError:
    try:
        return resolve(host, port, time.monotonic() + seconds)
    except OSError as problem:
        return problem


def _unknown_name(visit: Session) -> Remedy:
    place = visit.place
    if place.host == "host.docker.internal":
        cause = tr("on Linux this name must be added to the container; outside of containers use localhost")
        fix = (
            tr("# in docker-compose.yml, at the service that runs sleuth:"),
            "extra_hosts:",
            '  - "host.docker.internal:host-gateway"',
            tr("# or, outside of containers:"),
            visit.use(f"http://localhost:{place.port}"),
        )
        return Remedy(cause, fix, CONTAINER_LINK)
    if "." not in place.host:
        local = f"http://localhost:{8080 if place.port in (80, 443) else place.port}"
        cause = tr("container names resolve only on the container network; from the host use {url}", url=local)
        return Remedy(cause, (visit.use(local), "docker port searxng-core"), CONTAINER_LINK)
    cause = tr("the name is misspelled, or resolves only on another network (VPN, local DNS)")
    return Remedy(cause, (f"getent hosts {shell(place.host)}", visit.use(EXAMPLE)), ADDRESS_LINK)


def port_is_open(visit: Session) -> Finding:
    """Connect to every address of the host at the same time: IPv6 and IPv4 often differ."""
    if visit.prober.proxy:
        return unasked(tr("the proxy makes the connection"))
    started = time.monotonic()
    seconds = visit.left(CONNECT_TIMEOUT_S)
    problems = side_by_side(partial(_connect, address, seconds) for address in visit.addresses)
    elapsed_ms = round((time.monotonic() - started) * 1000)
    tried = list(zip(visit.addresses, problems, strict=True))
    seen = "; ".join(f"{address[1][0]} {_state(problem)}" for address, problem in tried)
    evidence = tr("port {port}: {seen}", port=visit.place.port, seen=seen)
    visit.addresses = [address for address, problem in tried if problem is None]
    if visit.addresses:
        return good(evidence, elapsed_ms=elapsed_ms)
    visit.nobody = True
    refused = any(problem is not None and problem.errno == errno.ECONNREFUSED for problem in problems)
    return bad(evidence, _refused(visit) if refused else _silent(visit), elapsed_ms=elapsed_ms)


def _connect(address: Address, seconds: float) -> OSError | None:
    try:
        connect_first([address], time.monotonic() + seconds).close()
    except OSError as problem:
        return problem
    return None


def _state(problem: OSError | None) -> str:
    if problem is None:
        return tr("open")
    if isinstance(problem, TimeoutError):
        return tr("timed out")
    return tr("refused") if problem.errno == errno.ECONNREFUSED else clean(problem.strerror or problem, 80)


def _silent(visit: Session) -> Remedy:
    place = visit.place
    cause = tr("the machine is off, the address is wrong, or a firewall drops the connection")
    fix = (f"ping -c 1 {shell(place.host)}", f"curl -sv --max-time 5 {shell(place.url + '/healthz')}")
    return Remedy(cause, fix, NETWORK_LINK)


def _refused(visit: Session) -> Remedy:
    place, around = visit.place, visit.around
    if not around.expected:
        cause = tr("no SearXNG is set up here; without one, searches go to the other providers")
        return Remedy(cause, ("sleuth searxng init ./searxng", f"cd searxng && {RECREATE}"), START_LINK)
    if not place.is_local:
        return _refused_elsewhere(visit)
    if around.in_container:
        cause = tr("inside a container, localhost is the container itself; SearXNG runs in another one, or not at all")
        fix = (visit.use("http://searxng-core:8080"), visit.use("http://host.docker.internal:8080"))
        return Remedy(cause, fix, CONTAINER_LINK)
    cause = tr(
        "no server is listening: SearXNG is stopped, exits on startup (default secret_key, an error in "
        "settings.yml), or uses another port (8888 without a container)"
    )
    look = ("docker ps -a --filter name=searxng", RECREATE, LOG, "docker port searxng-core")
    return Remedy(cause, look, REFUSED_LINK)


def _refused_elsewhere(visit: Session) -> Remedy:
    place = visit.place
    cause = tr("SearXNG is not running on that machine, or its port is published on 127.0.0.1 only")
    fix = (
        tr("# on that machine:"),
        f"curl -fsS http://127.0.0.1:{place.port}/healthz",
        "docker port searxng-core",
        tr("# published on 127.0.0.1 only? in docker-compose.yml, at the service:"),
        "ports:",
        f'  - "{place.host}:{place.port}:8080"',
        tr("# or from here, through a tunnel:"),
        f"ssh -N -L {place.port}:127.0.0.1:{place.port} {shell(place.host)}",
    )
    return Remedy(cause, fix, NETWORK_LINK)
