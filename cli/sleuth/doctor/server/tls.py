"""Checks the TLS handshake and the certificate, as a search would, and finds out why they fail."""

import ssl
import time
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding, fail, ok, skipped, warn
from sleuth.doctor.remedies import Remedy, shell
from sleuth.doctor.server.session import Session
from sleuth_providers.net.connection import connect_first, start_tls
from sleuth_providers.net.tls import tls_context

HANDSHAKE_TIMEOUT_S = 2.0
EXPIRY_WARNING_S = 14 * 86400
# X509_V_ERR codes of OpenSSL.
UNKNOWN_ISSUER = (18, 19, 20, 21)  # self-signed, self-signed in the chain, no issuer found, chain of one
WRONG_NAME = (62, 64)  # host name, IP address
OUTDATED = (9, 10)  # not yet valid, expired
PLAIN_HTTP_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")


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
        return fail(clean(detail, 200) or tr("no answer"), _distrust(session, problem))
    if not certificate.get("notAfter"):
        return ok(version)
    end = ssl.cert_time_to_seconds(certificate["notAfter"])
    date = time.strftime("%Y-%m-%d", time.gmtime(end))
    if end - session.now < EXPIRY_WARNING_S:
        return warn(tr("valid until {date}", date=date), session.remedy("tls-expires-soon"))
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


def _distrust(session: Session, problem: OSError) -> Remedy:
    endpoint, code = session.endpoint, getattr(problem, "verify_code", None)
    server = shell(f"{endpoint.host}:{endpoint.port}")
    if code in UNKNOWN_ISSUER:
        return session.remedy("tls-unknown-issuer", "http://127.0.0.1:8080")
    if code in WRONG_NAME:
        return session.remedy("tls-wrong-name", server=server)
    if code in OUTDATED:
        return session.remedy("tls-outdated")
    if any(reason in str(problem) for reason in PLAIN_HTTP_REASONS) or _uses_plain_http(session):
        return session.remedy("tls-plain-http", endpoint._replace(scheme="http").url)
    return session.remedy("tls-handshake", server=server)


def _uses_plain_http(session: Session) -> bool:
    seen = session.get("/healthz", session.endpoint._replace(scheme="http").url)
    return seen.reply is not None and seen.status != 400  # the answer of a TLS server to plain HTTP
