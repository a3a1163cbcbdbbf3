"""Why the shared server cannot be used, in our words: what it says itself may quote a password."""

import socket
import ssl

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.store.cache.redis.connection import ErrorReply, NotRedisError, RedisReplyError


def reason(problem: Exception) -> str:
    """Say in a few words what went wrong."""
    if isinstance(problem, RedisReplyError):
        return refused(problem.refusal)
    if isinstance(problem, NotRedisError):
        return tr("what answers there is no Redis or Valkey")
    if isinstance(problem, TimeoutError):
        return tr("no answer in time")
    if isinstance(problem, socket.gaierror):
        return tr("no such host")
    if isinstance(problem, ConnectionRefusedError):
        return tr("connection refused")
    if isinstance(problem, FileNotFoundError):
        return tr("there is no such socket")
    if isinstance(problem, ssl.SSLCertVerificationError):
        return tr("bad certificate: {detail}", detail=clean(problem.verify_message, 200))
    if isinstance(problem, ssl.SSLError):
        return tr("it does not speak TLS")
    if isinstance(problem, ConnectionError):
        return tr("it closed the connection")
    return clean(getattr(problem, "strerror", None) or type(problem).__name__, 200, entities=False)


def refused(refusal: ErrorReply) -> str:
    """Say what an error of the server means."""
    text = refusal.text
    match refusal.code:
        case "NOAUTH":
            return tr("it wants a password")
        case "WRONGPASS":
            return tr("it rejects the name or the password")
        case "NOPERM":
            return tr("this user may not do there what sleuth does")
        case "READONLY":
            return tr("it is a replica that can only be read")
        case "OOM":
            return tr("its memory is full")
        case "LOADING":
            return tr("it is still loading its data")
        case "MISCONF" | "NOREPLICAS":
            return tr("it takes no writes now")
        case "DENIED":
            return tr("it answers to its own machine alone")
        case "MOVED" | "ASK" | "CLUSTERDOWN" | "CROSSSLOT":
            return tr("it is part of a cluster, and sleuth knows single servers only")
        case _ if "max number of clients" in text:
            return tr("it takes no more connections")
        case _ if "DB index" in text:
            return tr("it has no database of that number")
        case _ if "AUTH" in text or "password" in text:
            return tr("it rejects the name or the password")
    return tr("it answers with the error {code}", code=clean(refusal.code, 40, entities=False))
