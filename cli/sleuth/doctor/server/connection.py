"""Checks that the server's name resolves and that its port is open, over IPv6 and IPv4."""

import errno
import socket
import time
from functools import partial

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, Remedy, fail, ok, skipped
from sleuth.doctor.fixes import LOG, RECREATE, shell
from sleuth.doctor.links import Link
from sleuth.doctor.server.address import EXAMPLE
from sleuth.doctor.server.probe import side_by_side
from sleuth.doctor.server.session import Session
from sleuth_providers.net.connection import Address, connect_first, resolve

CONNECT_TIMEOUT_S = 2.0  # for the DNS lookup, and for each connection
MAX_ADDRESSES = 6


def name_resolves(session: Session) -> Finding:
    """Resolve the host name."""
    endpoint = session.endpoint
    if session.prober.proxy:
        return skipped(tr("the proxy looks names up"))
    started = time.monotonic()
    found = _resolve(endpoint.host, endpoint.port, session.time_left(CONNECT_TIMEOUT_S))
    elapsed_ms = round((time.monotonic() - started) * 1000)
    if isinstance(found, list):
        session.addresses = found[:MAX_ADDRESSES]
        addresses = ", ".join(str(sockaddr[0]) for _, sockaddr in session.addresses)
        evidence = addresses if addresses != endpoint.host else tr("an address, nothing to look up")
        return ok(evidence, elapsed_ms=elapsed_ms)
    if isinstance(found, TimeoutError) or found.errno == socket.EAI_AGAIN:
        cause = tr("the name server of this machine does not answer: no network, a VPN, or a wrong DNS setting")
        remedy = Remedy(cause, (f"getent hosts {shell(endpoint.host)}", "cat /etc/resolv.conf"), Link.ADDRESS)
        return fail(tr("no answer about {host}", host=endpoint.host), remedy, elapsed_ms=elapsed_ms)
    return fail(tr("no such host: {host}", host=endpoint.host), _unknown_name(session), elapsed_ms=elapsed_ms)


def _resolve(host: str, port: int, seconds: float) -> list[Address] | OSError:
    try:
        return resolve(host, port, time.monotonic() + seconds)
    except OSError as problem:
        return problem


def _unknown_name(session: Session) -> Remedy:
    endpoint = session.endpoint
    if endpoint.host == "host.docker.internal":
        cause = tr("on Linux this name must be added to the container; outside of containers use localhost")
        fix = (
            tr("# in docker-compose.yml, at the service that runs sleuth:"),
            "extra_hosts:",
            '  - "host.docker.internal:host-gateway"',
            tr("# or, outside of containers:"),
            session.command_to_use(f"http://localhost:{endpoint.port}"),
        )
        return Remedy(cause, fix, Link.OTHER_CONTAINER)
    if "." not in endpoint.host:
        local = f"http://localhost:{8080 if endpoint.port in (80, 443) else endpoint.port}"
        cause = tr(
            "the name of a container is known only to containers on its network; from the host use {url}", url=local
        )
        return Remedy(cause, (session.command_to_use(local), "docker port searxng-core"), Link.OTHER_CONTAINER)
    cause = tr("the name is misspelt, or known only in another network (VPN, local DNS)")
    return Remedy(cause, (f"getent hosts {shell(endpoint.host)}", session.command_to_use(EXAMPLE)), Link.ADDRESS)


def port_is_open(session: Session) -> Finding:
    """Connect to every address of the host at the same time: IPv6 and IPv4 often differ."""
    if session.prober.proxy:
        return skipped(tr("the proxy makes the connection"))
    started = time.monotonic()
    seconds = session.time_left(CONNECT_TIMEOUT_S)
    problems = side_by_side(partial(_connect, address, seconds) for address in session.addresses)
    elapsed_ms = round((time.monotonic() - started) * 1000)
    tried = list(zip(session.addresses, problems, strict=True))
    seen = "; ".join(f"{address[1][0]} {_state(problem)}" for address, problem in tried)
    evidence = tr("port {port}: {seen}", port=session.endpoint.port, seen=seen)
    session.addresses = [address for address, problem in tried if problem is None]
    if session.addresses:
        return ok(evidence, elapsed_ms=elapsed_ms)
    session.no_server = True
    refused = any(problem is not None and problem.errno == errno.ECONNREFUSED for problem in problems)
    return fail(evidence, _refused(session) if refused else _silent(session), elapsed_ms=elapsed_ms)


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


def _silent(session: Session) -> Remedy:
    endpoint = session.endpoint
    cause = tr("the machine is off, the address is wrong, or a firewall drops the connection")
    fix = (f"ping -c 1 {shell(endpoint.host)}", f"curl -sv --max-time 5 {shell(endpoint.url + '/healthz')}")
    return Remedy(cause, fix, Link.OTHER_MACHINE)


def _refused(session: Session) -> Remedy:
    endpoint, environment = session.endpoint, session.environment
    if not environment.expected:
        cause = tr("no SearXNG is set up here; without one, searches go to the other providers")
        return Remedy(cause, ("sleuth searxng init ./searxng", f"cd searxng && {RECREATE}"), Link.START)
    if not endpoint.is_local:
        return _refused_elsewhere(session)
    if environment.in_container:
        cause = tr("inside a container, localhost is that container itself; SearXNG is in another one, or nowhere")
        fix = (
            session.command_to_use("http://searxng-core:8080"),
            session.command_to_use("http://host.docker.internal:8080"),
        )
        return Remedy(cause, fix, Link.OTHER_CONTAINER)
    cause = tr(
        "no server is listening: SearXNG is stopped, exits on startup (default secret_key, an error in "
        "settings.yml), or uses another port (8888 without a container)"
    )
    look = ("docker ps -a --filter name=searxng", RECREATE, LOG, "docker port searxng-core")
    return Remedy(cause, look, Link.REFUSED)


def _refused_elsewhere(session: Session) -> Remedy:
    endpoint = session.endpoint
    cause = tr("SearXNG does not run on that machine, or its port is published on 127.0.0.1 only")
    fix = (
        tr("# on that machine:"),
        f"curl -fsS http://127.0.0.1:{endpoint.port}/healthz",
        "docker port searxng-core",
        tr("# published on 127.0.0.1 only? in docker-compose.yml, at the service:"),
        "ports:",
        f'  - "{endpoint.host}:{endpoint.port}:8080"',
        tr("# or from here, through a tunnel:"),
        f"ssh -N -L {endpoint.port}:127.0.0.1:{endpoint.port} {shell(endpoint.host)}",
    )
    return Remedy(cause, fix, Link.OTHER_MACHINE)
