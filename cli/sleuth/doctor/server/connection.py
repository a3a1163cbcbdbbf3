"""Checks of the address as written, the host name, the port over IPv6 and IPv4, and TLS."""

import errno
import os
import socket
import ssl
import time
from functools import partial
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, ok, shell, skipped
from sleuth.doctor.server.address import WILDCARD_HOSTS, Endpoint, ParsedAddress
from sleuth.doctor.server.session import Session
from sleuth_providers.net.client import PROXY_VARIABLES, system_proxy
from sleuth_providers.net.connection import Address, connect_first, resolve, start_tls
from sleuth_providers.net.tls import tls_context
from sleuth_providers.threads import run_all

CONNECT_TIMEOUT_S = 2.0  # for the DNS lookup, and for each connection
MAX_ADDRESSES = 6
EXAMPLE = "http://localhost:8080"
HANDSHAKE_TIMEOUT_S = 2.0
EXPIRY_WARNING_S = 14 * 86400
# X509_V_ERR codes of OpenSSL.
UNKNOWN_ISSUER = (18, 19, 20, 21)  # self-signed, self-signed in the chain, no issuer found, chain of one
WRONG_NAME = (62, 64)  # host name, IP address
OUTDATED = (9, 10)  # not yet valid, expired
PLAIN_HTTP_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")


def address_is_valid(parsed: ParsedAddress, session: Session) -> Finding:
    """Check an address as written."""
    endpoint = parsed.endpoint
    if endpoint is None:
        return session.fail("; ".join(parsed.mistakes), "address-invalid", EXAMPLE)
    if parsed.mistakes:
        return session.fail("; ".join(parsed.mistakes), "address-corrected", endpoint.url)
    if parsed.has_login:
        return session.warn(tr("the address contains a user name"), "address-with-login", endpoint.url)
    if endpoint.host in WILDCARD_HOSTS:
        return session.warn(endpoint.url, "address-wildcard", endpoint._replace(host="127.0.0.1").url)
    return ok(_route(endpoint), title=endpoint.url)


def _route(endpoint: Endpoint) -> str:
    """Describe how requests get there: a proxy in the environment surprises people."""
    variables = ", ".join(sorted(name for name in os.environ if name.lower() in PROXY_VARIABLES and os.environ[name]))
    if not variables:
        return tr("host {host}, port {port}", host=endpoint.host, port=endpoint.port)
    if not system_proxy(endpoint.url):
        return tr("{variables} is set, but requests to this address bypass the proxy", variables=variables)
    return tr("requests go through the proxy from {variables}", variables=variables)


def name_resolves(session: Session) -> Finding:
    """Resolve the host name."""
    host = session.endpoint.host
    if session.prober.proxy:
        return skipped(tr("the proxy resolves host names"))
    try:
        found = resolve(host, session.endpoint.port, time.monotonic() + session.time_left(CONNECT_TIMEOUT_S))
    except OSError as problem:
        if isinstance(problem, TimeoutError) or problem.errno == socket.EAI_AGAIN:
            return session.fail(tr("no DNS response for {host}", host=host), "name-server-silent")
        return session.fail(tr("no such host: {host}", host=host), *_unknown_name(session))
    session.addresses = found[:MAX_ADDRESSES]
    addresses = ", ".join(str(sockaddr[0]) for _, sockaddr in session.addresses)
    return ok(addresses if addresses != host else tr("an IP address; no lookup needed"))


def _unknown_name(session: Session) -> tuple[str, str]:
    """Return the remedy for a name that does not exist, and a better address."""
    host, port = session.endpoint.host, session.endpoint.port
    if host == "host.docker.internal":
        return "name-of-docker-host", f"http://localhost:{port}"
    if "." not in host:
        return "name-of-container", f"http://localhost:{8080 if port in (80, 443) else port}"
    return "name-unknown", EXAMPLE


def port_is_open(session: Session) -> Finding:
    """Connect to every address of the host at the same time: IPv6 and IPv4 often differ."""
    if session.prober.proxy:
        return skipped(tr("the proxy makes the connection"))
    seconds = session.time_left(CONNECT_TIMEOUT_S)
    problems = run_all(partial(_connect, address, seconds) for address in session.addresses)
    tried = list(zip(session.addresses, problems, strict=True))
    seen = "; ".join(f"{address[1][0]} {_state(problem)}" for address, problem in tried)
    evidence = tr("port {port}: {seen}", port=session.endpoint.port, seen=seen)
    session.addresses = [address for address, problem in tried if problem is None]
    if session.addresses:
        return ok(evidence)
    session.no_server = True
    if any(problem is not None and problem.errno == errno.ECONNREFUSED for problem in problems):
        use_host = session.command_to_use("http://host.docker.internal:8080")
        values = {"address": session.endpoint.host, "use_host": use_host}
        return session.fail(evidence, _refused(session), "http://searxng-core:8080", **values)
    return session.fail(evidence, "port-silent", healthz=shell(f"{session.endpoint.url}/healthz"))


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


def _refused(session: Session) -> str:
    """Return the remedy for a port that refuses connections."""
    if not session.environment.expected:
        return "port-unused"
    if not session.endpoint.is_local:
        return "port-refused-elsewhere"
    return "port-refused-in-container" if session.environment.in_container else "port-refused"


def tls_is_good(session: Session) -> Finding:
    """Verify the certificate with the system's certificate authorities, and check when it expires."""
    if session.endpoint.scheme != "https":
        return skipped(tr("plain HTTP"))
    if session.prober.proxy:
        return skipped(tr("the proxy makes the connection"))
    try:
        certificate, version = _handshake(session, tls_context())
    except OSError as problem:
        detail = getattr(problem, "verify_message", "") or getattr(problem, "reason", "") or problem
        return session.fail(clean(detail, 200) or tr("no response"), *_distrust(session, problem))
    if not certificate.get("notAfter"):
        return ok(version)
    end = ssl.cert_time_to_seconds(certificate["notAfter"])
    date = time.strftime("%Y-%m-%d", time.gmtime(end))
    if end - session.now < EXPIRY_WARNING_S:
        return session.warn(tr("valid until {date}", date=date), "tls-expires-soon")
    return ok(tr("{version}, valid until {date}", version=version, date=date))


def uses_tls(session: Session) -> bool:
    """Tell whether the port uses TLS after all; nothing is sent, so that any certificate will do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        _handshake(session, context)
    except OSError:
        return False
    return True


def _handshake(session: Session, context: Any) -> tuple[dict[str, Any], str]:
    until = time.monotonic() + session.time_left(HANDSHAKE_TIMEOUT_S)
    with (
        connect_first(session.addresses[:1], until) as plain,
        start_tls(plain, session.endpoint.host, until, context) as tls,
    ):
        return tls.getpeercert() or {}, clean(tls.version(), 20)


def _distrust(session: Session, problem: OSError) -> tuple[str, str]:
    """Return the remedy for a failed TLS handshake, and a better address."""
    code = getattr(problem, "verify_code", None)
    if code in UNKNOWN_ISSUER:
        return "tls-unknown-issuer", "http://127.0.0.1:8080"
    if code in WRONG_NAME:
        return "tls-wrong-name", ""
    if code in OUTDATED:
        return "tls-outdated", ""
    if any(reason in str(problem) for reason in PLAIN_HTTP_REASONS) or _uses_plain_http(session):
        return "tls-plain-http", session.endpoint._replace(scheme="http").url
    return "tls-handshake", ""


def _uses_plain_http(session: Session) -> bool:
    seen = session.get("/healthz", session.endpoint._replace(scheme="http").url)
    return seen.reply is not None and seen.status != 400  # the answer of a TLS server to plain HTTP
