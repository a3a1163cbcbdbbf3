"""The certificate: shaking hands as a search would, and why that may fail."""

import socket
import ssl
import time
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, Remedy, fail, ok, skipped, warn
from sleuth.doctor.fixes import shell
from sleuth.doctor.links import Link
from sleuth.doctor.server.session import Session
from sleuth_providers.net.connection import tls_context

SECONDS = 2.0
SOON = 14 * 86400  # a certificate that ends within so many seconds is worth a word
# What OpenSSL calls them: self-signed, in a chain, no issuer known; another name or address; too early, too late.
UNKNOWN, MISMATCH, OUTDATED = (18, 19, 20, 21), (62, 64), (9, 10)
PLAIN = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")  # what OpenSSL says of plain HTTP


def tls_is_good(session: Session) -> Finding:
    """Check the certificate against this machine's authorities, and how long it is still good."""
    if session.endpoint.scheme != "https":
        return skipped(tr("plain HTTP"))
    if session.prober.proxy:
        return skipped(tr("the proxy makes the connection"))
    started = time.monotonic()
    try:
        certificate, version = _shake_hands(session, tls_context())
    except OSError as problem:
        words = getattr(problem, "verify_message", "") or getattr(problem, "reason", "") or problem
        return fail(clean(words, 200) or tr("no answer"), _distrust(session, problem))
    elapsed_ms = round((time.monotonic() - started) * 1000)
    end = ssl.cert_time_to_seconds(certificate["notAfter"]) if certificate.get("notAfter") else session.now + 2 * SOON
    date = time.strftime("%Y-%m-%d", time.gmtime(end))
    if end - session.now < SOON:
        remedy = Remedy(
            tr("the certificate ends soon: is it renewed by itself?"), ("sudo certbot renew",), Link.CERTIFICATE
        )
        return warn(tr("good until {date}", date=date), remedy, elapsed_ms=elapsed_ms)
    return ok(tr("{version}, good until {date}", version=version, date=date), elapsed_ms=elapsed_ms)


def speaks_tls(session: Session) -> bool:
    """Tell whether the port speaks TLS after all; nothing is sent, so any certificate will do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        _shake_hands(session, context)
    except OSError:
        return False
    return True


def _shake_hands(session: Session, context: Any) -> tuple[dict[str, Any], str]:
    family, sockaddr = session.addresses[0]
    with socket.socket(family, socket.SOCK_STREAM) as plain:
        plain.settimeout(session.time_left(SECONDS))
        plain.connect(sockaddr)
        with context.wrap_socket(plain, server_hostname=session.endpoint.host) as secure:
            return secure.getpeercert() or {}, clean(secure.version(), 20)


def _distrust(session: Session, problem: OSError) -> Remedy:
    endpoint, code = session.endpoint, getattr(problem, "verify_code", None)
    host, server = shell(endpoint.host), shell(f"{endpoint.host}:{endpoint.port}")
    peer = f"openssl s_client -connect {server} -servername {host} </dev/null"
    if code in UNKNOWN:
        return Remedy(
            tr("the certificate is self-signed, or of an authority this machine does not know"),
            _trust(session),
            Link.CERTIFICATE,
        )
    if code in MISMATCH:
        cause = tr("the certificate belongs to another name; the address must have a name that is in it")
        return Remedy(cause, (f"{peer} | openssl x509 -noout -subject -ext subjectAltName",), Link.CERTIFICATE)
    if code in OUTDATED:
        cause = tr("the certificate has expired or is not good yet, or the clock of this machine is wrong")
        return Remedy(cause, ("date", "sudo certbot renew"), Link.CERTIFICATE)
    if any(sign in str(problem) for sign in PLAIN) or _speaks_plain(session):
        cause = tr("the port speaks plain HTTP, not TLS: the address must begin with http://")
        return Remedy(cause, (session.command_to_use(endpoint._replace(scheme="http").url),), Link.CERTIFICATE)
    return Remedy(tr("the TLS handshake failed: is this port one for https at all?"), (peer,), Link.CERTIFICATE)


def _speaks_plain(session: Session) -> bool:
    seen = session.get("/healthz", session.endpoint._replace(scheme="http").url)
    return seen.reply is not None and seen.status != 400  # which is what servers of TLS say to plain HTTP


def _trust(session: Session) -> tuple[str, ...]:
    return (
        tr("# make its authority known, on Debian and Ubuntu:"),
        "sudo cp root.crt /usr/local/share/ca-certificates/searxng-ca.crt",
        "sudo update-ca-certificates",
        tr("# or, on the same machine, use the plain port:"),
        session.command_to_use("http://127.0.0.1:8080"),
    )
