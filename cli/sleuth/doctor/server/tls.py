"""The certificate: shaking hands as a search would, and why that may fail."""

import socket
import ssl
import time
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.finding import Finding
from sleuth.doctor.server.session import Session
from sleuth.doctor.verdict import Remedy, bad, good, poor, shell, unasked
from sleuth_providers.net.connection import tls_context

SECONDS = 2.0
SOON = 14 * 86400  # a certificate that ends within so many seconds is worth a word
LINK = "searxng.md#searxng-with-a-self-signed-certificate-or-internal-ca"
# What OpenSSL calls them: self-signed, in a chain, no issuer known; another name or address; too early, too late.
UNKNOWN, MISMATCH, OUTDATED = (18, 19, 20, 21), (62, 64), (9, 10)
PLAIN = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST")  # what OpenSSL says of plain HTTP


def tls_is_good(visit: Session) -> Finding:
    """Check the certificate against this machine's authorities, and how long it is still good."""
    if visit.place.scheme != "https":
        return unasked(tr("plain HTTP"))
    if visit.prober.proxy:
        return unasked(tr("the proxy makes the connection"))
    started = time.monotonic()
    try:
        certificate, version = _shake_hands(visit, tls_context())
    except OSError as problem:
        words = getattr(problem, "verify_message", "") or getattr(problem, "reason", "") or problem
        return bad(clean(words, 200) or tr("no answer"), _distrust(visit, problem))
    elapsed_ms = round((time.monotonic() - started) * 1000)
    end = ssl.cert_time_to_seconds(certificate["notAfter"]) if certificate.get("notAfter") else visit.now + 2 * SOON
    date = time.strftime("%Y-%m-%d", time.gmtime(end))
    if end - visit.now < SOON:
        remedy = Remedy(tr("the certificate ends soon: is it renewed by itself?"), ("sudo certbot renew",), LINK)
        return poor(tr("good until {date}", date=date), remedy, elapsed_ms=elapsed_ms)
    return good(tr("{version}, good until {date}", version=version, date=date), elapsed_ms=elapsed_ms)


def speaks_tls(visit: Session) -> bool:
    """Tell whether the port speaks TLS after all; nothing is sent, so any certificate will do."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        _shake_hands(visit, context)
    except OSError:
        return False
    return True


def _shake_hands(visit: Session, context: Any) -> tuple[dict[str, Any], str]:
    family, sockaddr = visit.addresses[0]
    with socket.socket(family, socket.SOCK_STREAM) as plain:
        plain.settimeout(visit.left(SECONDS))
        plain.connect(sockaddr)
        with context.wrap_socket(plain, server_hostname=visit.place.host) as secure:
            return secure.getpeercert() or {}, clean(secure.version(), 20)


def _distrust(visit: Session, problem: OSError) -> Remedy:
    place, code = visit.place, getattr(problem, "verify_code", None)
    peer = f"openssl s_client -connect {shell(f'{place.host}:{place.port}')} -servername {shell(place.host)} </dev/null"
    if code in UNKNOWN:
        return Remedy(
            tr("the certificate is self-signed, or of an authority this machine does not know"), _trust(visit), LINK
        )
    if code in MISMATCH:
        cause = tr("the certificate belongs to another name; the address must have a name that is in it")
        return Remedy(cause, (f"{peer} | openssl x509 -noout -subject -ext subjectAltName",), LINK)
    if code in OUTDATED:
        cause = tr("the certificate has expired or is not good yet, or the clock of this machine is wrong")
        return Remedy(cause, ("date", "sudo certbot renew"), LINK)
    if any(sign in str(problem) for sign in PLAIN) or _speaks_plain(visit):
        cause = tr("the port speaks plain HTTP, not TLS: the address must begin with http://")
        return Remedy(cause, (visit.use(place._replace(scheme="http").url),), LINK)
    return Remedy(tr("the TLS handshake failed: is this port one for https at all?"), (peer,), LINK)


def _speaks_plain(visit: Session) -> bool:
    seen = visit.ask("/healthz", visit.place._replace(scheme="http").url)
    return seen.reply is not None and seen.status != 400  # which is what servers of TLS say to plain HTTP


def _trust(visit: Session) -> tuple[str, ...]:
    return (
        tr("# make its authority known, on Debian and Ubuntu:"),
        "sudo cp root.crt /usr/local/share/ca-certificates/searxng-ca.crt",
        "sudo update-ca-certificates",
        tr("# or, on the same machine, use the plain port:"),
        visit.use("http://127.0.0.1:8080"),
    )
