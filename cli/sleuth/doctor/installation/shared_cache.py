"""The shared cache: there, open to us, writable, and set up so that it goes on working when its memory is full."""

import os
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding
from sleuth.doctor.verdict import Remedy, bad, good, poor, shell, unasked
from sleuth.store.cache.redis.address import RedisAddress, find_address
from sleuth.store.cache.redis.connection import ErrorReply, NotRedisError, RedisReplyError
from sleuth.store.cache.redis.contents import ServerInfo, inspect_server
from sleuth.store.cache.redis.errors import refused
from sleuth.store.cache.redis.server import PREFIX, RedisServer, RedisUnavailableError
from sleuth.store.settings import CACHE_URL, Settings

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

LINK = "sharing.md#the-shared-cache-does-not-answer"
MEMORY_LINK = "sharing.md#how-much-memory-the-shared-cache-takes"
ACCESS_LINK = "sharing.md#passwords-users-and-tls-of-the-shared-cache"
SET_ADDRESS = "sleuth config set cache.url -"
OLDEST = 6  # the first version that is tried out
SLOW = 50.0  # milliseconds; a search asks four times or more
COMMANDS = "+@read +@write +@connection +@scripting +scan +time +info"


def check_shared(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check the server that `cache.url` names, as far as it can be reached."""
    where = settings[CACHE_URL].partition(":")[0]
    if where in ("cmd", "keyring"):
        yield unasked(tr("its address is kept elsewhere ({where}) and not fetched here", where=where))
        return
    try:
        address = find_address(settings[CACHE_URL], runtime.environ)
    except SleuthError as problem:
        remedy = Remedy(tr(problem.hint, **problem.values), (SET_ADDRESS,), ACCESS_LINK)
        yield bad(tr(problem.message, **problem.values), remedy)
        return
    server = RedisServer(address, warn=lambda _: None)  # what is wrong is said here, once
    try:
        yield from _examine(server)
    finally:
        server.close()


def _examine(server: RedisServer) -> Iterator[Finding]:
    address = server.address
    name = f"{PREFIX}probe:{os.urandom(8).hex()}"
    try:
        facts = inspect_server(server)
        remove = ("EVAL", "return redis.call('DEL', KEYS[1])", 1, name)
        replies = server.execute_raw(("SET", name, "1", "PX", 1000), remove)
    except RedisUnavailableError as gone:
        problem = gone.problem or TimeoutError()
        remedy = _refused(address, problem.refusal) if isinstance(problem, RedisReplyError) else _cut(address, problem)
        yield bad(f"{address.shown}: {gone}", remedy)
        return
    refusal = next((reply for reply in replies if isinstance(reply, ErrorReply)), None)
    if refusal:
        yield bad(f"{address.shown}: {refused(refusal)}", _refused(address, refusal))
        return
    evidence = tr("{address}: {software} {version}, {latency} ms", address=address.shown, **_shown(facts))
    yield from _judged(address, facts, evidence)


def _shown(facts: ServerInfo) -> dict[str, object]:
    return {
        "software": facts.software or "Redis",
        "version": facts.version or tr("(version not told)"),
        "latency": facts.latency_ms,
    }


def _judged(address: RedisAddress, facts: ServerInfo, evidence: str) -> Iterator[Finding]:
    """Judge a server that works: will it go on, and is it quick enough?"""
    poorly = []
    if facts.limit and facts.policy == "noeviction":
        cause = tr("when its memory is full it takes nothing more; a cache should rather forget what is old")
        fix = (_client(address, "CONFIG SET maxmemory-policy allkeys-lru"), _client(address, "CONFIG REWRITE"))
        poorly.append(poor(f"{evidence}, {facts.policy}", Remedy(cause, fix, MEMORY_LINK)))
    if (facts.latency_ms or 0) > SLOW:
        cause = tr("it is far away or busy: a search asks it four times or more, and waits each time")
        poorly.append(poor(evidence, Remedy(cause, (_client(address, "--latency"),), LINK)))
    number = facts.version.partition(".")[0]
    if number.isdecimal() and int(number) < OLDEST:
        cause = tr("this version is older than any that sleuth is tried with")
        poorly.append(poor(evidence, Remedy(cause, ("sudo apt install redis-server",), LINK)))
    yield from poorly or [good(evidence)]


def _cut(address: RedisAddress, problem: Exception) -> Remedy:
    """Say why there was no conversation."""
    ping = _client(address, "PING")
    if address.path and isinstance(problem, FileNotFoundError | PermissionError | ConnectionRefusedError):
        cause = tr("no server listens at this socket, or it may not be opened by you")
        return Remedy(cause, (f"ls -l {shell(address.path)}", ping), LINK)
    if isinstance(problem, socket.gaierror):
        cause = tr("the name is misspelt, or cannot be looked up from here")
        return Remedy(cause, (f"getent hosts {shell(address.host)}", SET_ADDRESS), LINK)
    if isinstance(problem, ConnectionRefusedError):
        cause = tr("no server listens there; one that was just installed listens to its own machine alone (bind)")
        return Remedy(cause, (ping, "sudo systemctl status redis-server", "sudo ss -ltnp"), LINK)
    if isinstance(problem, TimeoutError):
        cause = tr("a firewall swallows the connection, or the server hangs or is overloaded")
        if address.secure:
            cause = tr("the server hangs, a firewall swallows the connection, or this port speaks no TLS")
        return Remedy(cause, (ping, _client(address, "--latency")), LINK)
    if isinstance(problem, ssl.SSLCertVerificationError):
        cause = tr("this machine does not trust the certificate of the server")
        shown = f"openssl s_client -connect {shell(address.place)} -showcerts </dev/null"
        return Remedy(cause, (shown, "export SSL_CERT_FILE=/path/to/ca.pem"), ACCESS_LINK)
    if isinstance(problem, ssl.SSLError):
        return Remedy(tr("this port speaks no TLS: write redis:// for rediss://"), (SET_ADDRESS,), ACCESS_LINK)
    if isinstance(problem, ConnectionError):
        cause = tr("it hangs up: another program has this port, or it speaks TLS, then write rediss:// for redis://")
        return Remedy(cause, (SET_ADDRESS, ping), ACCESS_LINK)
    if isinstance(problem, NotRedisError):
        return Remedy(tr("another program has this port"), ("sudo ss -ltnp", SET_ADDRESS), LINK)
    return Remedy(tr("there is no way to it from here"), (ping,), LINK)


def _refused(address: RedisAddress, refusal: ErrorReply) -> Remedy:
    """Say why a server that answers does not do what it is asked to."""
    if refusal.code in ("NOAUTH", "WRONGPASS") or "AUTH" in refusal.text:
        cause = tr("write the address with name and password, such as redis://name:password@host:6379/0")
        return Remedy(cause, (SET_ADDRESS, _client(address, "ACL WHOAMI")), ACCESS_LINK)
    if "DB index" in refusal.text:
        cause = tr("the number at the end of the address is too high: most servers have the databases 0 to 15")
        return Remedy(cause, (SET_ADDRESS, _client(address, "CONFIG GET databases")), LINK)
    match refusal.code:
        case "NOPERM":
            cause = tr("an administrator of the server can allow this user what sleuth needs")
            user = shell(address.user or "default")
            return Remedy(cause, (f"redis-cli ACL SETUSER {user} '~sleuth:*' {COMMANDS}",), ACCESS_LINK)
        case "READONLY":
            cause = tr("this is a copy of another server: write the address of that one")
            return Remedy(cause, (_client(address, "INFO replication"), SET_ADDRESS), LINK)
        case "OOM":
            cause = tr("its memory is full, and it is not allowed to forget anything")
            fix = (_client(address, "INFO memory"), _client(address, "CONFIG SET maxmemory-policy allkeys-lru"))
            return Remedy(cause, fix, MEMORY_LINK)
        case "MISCONF":
            cause = tr("it cannot write its own file, so it takes nothing: its disk may be full")
            return Remedy(cause, ("df -h", _client(address, "LASTSAVE")), LINK)
        case "LOADING" | "MASTERDOWN" | "NOREPLICAS":
            cause = tr("it is starting, or waits for other servers: look again in a moment")
            return Remedy(cause, (_client(address, "INFO replication"), "sleuth doctor --only cache"), LINK)
        case "DENIED":
            cause = tr("it has no password and is therefore closed to other machines: give it one, or a bind address")
            return Remedy(cause, ("redis-cli CONFIG SET requirepass …", SET_ADDRESS), ACCESS_LINK)
    return Remedy(tr("its administrator or its log can tell more"), (_client(address, "PING"),), LINK)


def _client(address: RedisAddress, words: str) -> str:
    """Return a command line that asks the server by hand; it prompts for the password."""
    where = f"-s {shell(address.path)}" if address.path else f"-h {shell(address.host)} -p {address.port}"
    secure = " --tls" if address.secure else ""
    login = f" --user {shell(address.user)}" if address.user else ""
    return f"redis-cli {where}{secure}{login}{' --askpass' if address.password else ''} {words}"
