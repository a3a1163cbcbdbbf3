"""Why the shared server is unusable. Its own messages are not shown: they may quote a password."""

import socket
import ssl

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.store.cache.redis import connection

REASONS: dict[type[Exception], str] = {  # the first type that matches
    connection.CertificateRequiredError: "the server requires a client certificate",
    connection.UnknownServiceError: "Sentinel has no primary with that name",
    connection.NotRedisError: "not a Redis or Valkey server",
    TimeoutError: "timed out",
    socket.gaierror: "no such host",
    ConnectionRefusedError: "connection refused",
    FileNotFoundError: "no such socket",
    ssl.SSLError: "the server does not use TLS",
    ConnectionError: "the server closed the connection",
}
REFUSALS = {  # the first word that an error reply contains
    "NOAUTH": "password required",
    "NOPERM": "this user lacks permission for the commands that sleuth needs",
    "READONLY": "the server is a read-only replica",
    "OOM": "the server is out of memory",
    "LOADING": "the server is still loading its data",
    "MISCONF": "the server does not accept writes at the moment",
    "NOREPLICAS": "the server does not accept writes at the moment",
    "DENIED": "the server accepts local connections only (protected mode)",
    "CLUSTERDOWN": "the cluster is down",
    "unknown command `SENTINEL`": "not a Redis Sentinel server",
    "max number of clients": "the server has reached its connection limit",
    "DB index": "the server has no database with that number",
    "WRONGPASS": "wrong user name or password",
    "AUTH": "wrong user name or password",
    "password": "wrong user name or password",
}


def reason(problem: Exception) -> str:
    """Return a short description of a failure."""
    if isinstance(problem, connection.RedisReplyError):
        return refused(problem)
    if isinstance(problem, ssl.SSLCertVerificationError):
        return tr("bad certificate: {detail}", detail=clean(problem.verify_message, 200))
    for kind in REASONS:
        if isinstance(problem, kind):
            return tr(REASONS[kind])
    return clean(getattr(problem, "strerror", None) or type(problem).__name__, 200, entities=False)


def refused(refusal: connection.RedisReplyError) -> str:
    """Return what an error reply means."""
    for word in REFUSALS:
        if word in refusal.text:
            return tr(REFUSALS[word])
    return tr("the server returned the error {code}", code=clean(refusal.code, 40, entities=False))
