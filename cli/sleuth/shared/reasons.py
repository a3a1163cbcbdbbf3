"""Why the shared server cannot be used, in our words: what it says itself may quote a password."""

import socket
import ssl

from sleuth.language import say
from sleuth.shared.connection import NotRedisError, Refusal, RefusalError
from sleuth.text import clean


def reason(problem: Exception) -> str:
    """Say in a few words what went wrong."""
    if isinstance(problem, RefusalError):
        return refused(problem.refusal)
    if isinstance(problem, NotRedisError):
        return say("what answers there is no Redis or Valkey")
    if isinstance(problem, TimeoutError):
        return say("no answer in time")
    if isinstance(problem, socket.gaierror):
        return say("no such host")
    if isinstance(problem, ConnectionRefusedError):
        return say("connection refused")
    if isinstance(problem, FileNotFoundError):
        return say("there is no such socket")
    if isinstance(problem, ssl.SSLCertVerificationError):
        return say("bad certificate: {detail}", detail=clean(problem.verify_message, 200))
    if isinstance(problem, ssl.SSLError):
        return say("it does not speak TLS")
    if isinstance(problem, ConnectionError):
        return say("it closed the connection")
    return clean(getattr(problem, "strerror", None) or type(problem).__name__, 200, entities=False)


def refused(refusal: Refusal) -> str:
    """Say what an error of the server means."""
    text = refusal.text
    match refusal.code:
        case "NOAUTH":
            return say("it wants a password")
        case "WRONGPASS":
            return say("it rejects the name or the password")
        case "NOPERM":
            return say("this user may not do there what sleuth does")
        case "READONLY":
            return say("it is a replica that can only be read")
        case "OOM":
            return say("its memory is full")
        case "LOADING":
            return say("it is still loading its data")
        case "MISCONF" | "NOREPLICAS":
            return say("it takes no writes now")
        case "DENIED":
            return say("it answers to its own machine alone")
        case "MOVED" | "ASK" | "CLUSTERDOWN" | "CROSSSLOT":
            return say("it is part of a cluster, and sleuth knows single servers only")
        case _ if "max number of clients" in text:
            return say("it takes no more connections")
        case _ if "DB index" in text:
            return say("it has no database of that number")
        case _ if "AUTH" in text or "password" in text:
            return say("it rejects the name or the password")
    return say("it answers with the error {code}", code=clean(refusal.code, 40, entities=False))
