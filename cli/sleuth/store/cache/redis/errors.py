"""Why the shared server is unusable. Its own messages are not shown: they may quote a password."""

import socket
import ssl

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.store.cache.redis.connection import ErrorReply, NotRedisError, RedisReplyError


def reason(problem: Exception) -> str:
    """Return a short description of a failure."""
    if isinstance(problem, RedisReplyError):
        return refused(problem.refusal)
    if isinstance(problem, NotRedisError):
        return tr("not a Redis or Valkey server")
    if isinstance(problem, TimeoutError):
        return tr("timed out")
    if isinstance(problem, socket.gaierror):
        return tr("no such host")
    if isinstance(problem, ConnectionRefusedError):
        return tr("connection refused")
    if isinstance(problem, FileNotFoundError):
        return tr("no such socket")
    if isinstance(problem, ssl.SSLCertVerificationError):
        return tr("bad certificate: {detail}", detail=clean(problem.verify_message, 200))
    if isinstance(problem, ssl.SSLError):
        return tr("the server does not use TLS")
    if isinstance(problem, ConnectionError):
        return tr("the server closed the connection")
    return clean(getattr(problem, "strerror", None) or type(problem).__name__, 200, entities=False)


def refused(refusal: ErrorReply) -> str:
    """Return what an error reply means."""
    text = refusal.text
    match refusal.code:
        case "NOAUTH":
            return tr("password required")
        case "WRONGPASS":
            return tr("wrong user name or password")
        case "NOPERM":
            return tr("this user lacks permission for the commands that sleuth needs")
        case "READONLY":
            return tr("the server is a read-only replica")
        case "OOM":
            return tr("the server is out of memory")
        case "LOADING":
            return tr("the server is still loading its data")
        case "MISCONF" | "NOREPLICAS":
            return tr("the server does not accept writes at the moment")
        case "DENIED":
            return tr("the server accepts local connections only (protected mode)")
        case "MOVED" | "ASK" | "CLUSTERDOWN" | "CROSSSLOT":
            return tr("the server is part of a cluster; sleuth supports single servers only")
        case _ if "max number of clients" in text:
            return tr("the server has reached its connection limit")
        case _ if "DB index" in text:
            return tr("the server has no database with that number")
        case _ if "AUTH" in text or "password" in text:
            return tr("wrong user name or password")
    return tr("the server returned the error {code}", code=clean(refusal.code, 40, entities=False))
