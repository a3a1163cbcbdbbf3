"""Checks the TLS handshake and the certificate, as a search would, and finds out why they fail."""

import ssl
import time
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.session import Session
from sleuth.doctor.verdict import Remedy, bad, good, poor, shell, unasked
from sleuth_providers.net.connection import connect_first, start_tls
from sleuth_providers.net.tls import tls_context

HANDSHAKE_TIMEOUT_S = 2.0
EXPIRY_WARNING_S = 14 * 86400
CERTIFICATE_LINK = "searxng.md#searxng-with-a-self-signed-certificate-or-internal-ca"
# X509_V_ERR codes of OpenSSL.
UNKNOWN_ISSUER = (18, 19, 20, 21)  # self-signed, self-signed in the chain, no issuer found, chain of one
WRONG_NAME = (62, 64)  # host name, IP address
OUTDATED = (9, 10)  # not yet valid, expired
PLAIN_HTTP_REASONS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")


def tls_is_good(visit: Session) -> Finding:
    """Verify the certificate with the system's certificate authorities, and check when it expires."""
    if visit.place.scheme != "https":
        return unasked(tr("plain HTTP"))
    if visit.prober.proxy:
        return unasked(tr("the proxy makes the connection"))
    started = time.monotonic()
    try:
        certificate, version = _handshake(visit, tls_context())
    except OSError as problem:
        detail = getattr(problem, "verify_message", "") or getattr(problem, "reason", "") or problem
        return bad(clean(detail, 200) or tr("no answer"), _distrust(visit, problem))
    elapsed_ms = round((time.monotonic() - started) * 1000)
    end = (
        ssl.cert_time_to_seconds(certificate["notAfter"])
        if certificate.get("notAfter")
        else visit.now + 2 * EXPIRY_WARNING_S
    )
    date = time.strftime("%Y-%m-%d", time.gmtime(end))
    if end - visit.now < EXPIRY_WARNING_S:
        remedy = Remedy(
            tr("the certificate expires soon; is automatic renewal set up?"), ("sudo certbot renew",), CERTIFICATE_LINK
        )
        return poor(tr("valid until {date}", date=date), remedy, elapsed_ms=elapsed_ms)
    return good(tr("{version}, valid until {date}", version=version, date=date), elapsed_ms=elapsed_ms)


def uses_tls(visit: Session) -> bool:
    """Tell whether the port uses TLS after all; nothing is sent, so that any certificate will do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        _handshake(visit, context)
    except OSError:
        return False
    return True


def _handshake(visit: Session, context: Any) -> tuple[dict[str, Any], str]:
    until = time.monotonic() + visit.left(HANDSHAKE_TIMEOUT_S)
    with connect_first(visit.addresses[:1], until) as plain, start_tls(plain, visit.place.host, until, context) as tls:
        return tls.getpeercert() or {}, clean(tls.version(), 20)


def _distrust(visit: Session, problem: OSError) -> Remedy:
    place, code = visit.place, getattr(problem, "verify_code", None)
    peer = f"openssl s_client -connect {shell(f'{place.host}:{place.port}')} -servername {shell(place.host)} </dev/null"
    if code in UNKNOWN_ISSUER:
        return Remedy(
            tr("the certificate is self-signed, or its authority is unknown to this machine"),
            _trust(visit),
            CERTIFICATE_LINK,
        )
    if code in WRONG_NAME:
        cause = tr("the certificate is for another name; use an address with a name that is in the certificate")
        return Remedy(cause, (f"{peer} | openssl x509 -noout -subject -ext subjectAltName",), CERTIFICATE_LINK)
    if code in OUTDATED:
        cause = tr("the certificate has expired or is not yet valid, or the clock of this machine is wrong")
        return Remedy(cause, ("date", "sudo certbot renew"), CERTIFICATE_LINK)
    if any(reason in str(problem) for reason in PLAIN_HTTP_REASONS) or _uses_plain_http(visit):
        cause = tr("the port serves plain HTTP, not TLS: the address must begin with http://")
        return Remedy(cause, (visit.use(place._replace(scheme="http").url),), CERTIFICATE_LINK)
    return Remedy(tr("the TLS handshake failed; does this port serve https?"), (peer,), CERTIFICATE_LINK)


def _uses_plain_http(visit: Session) -> bool:
    seen = visit.ask("/healthz", visit.place._replace(scheme="http").url)
    return seen.reply is not None and seen.status != 400  # the answer of a TLS server to plain HTTP


def _trust(visit: Session) -> tuple[str, ...]:
    return (
        tr("# trust its certificate authority, on Debian and Ubuntu:"),
        "sudo cp root.crt /usr/local/share/ca-certificates/searxng-ca.crt",
        "sudo update-ca-certificates",
        tr("# or, on the same machine, use the plain port:"),
        visit.use("http://127.0.0.1:8080"),
    )
