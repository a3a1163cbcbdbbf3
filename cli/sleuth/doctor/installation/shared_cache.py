"""The shared cache: reachable, writable, and configured to drop old entries when its memory is full."""

import os
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding, Remedy, fail, ok, skipped, warn
from sleuth.doctor.fixes import shell
from sleuth.doctor.links import Link
from sleuth.store.cache.redis.address import RedisAddress, find_address
from sleuth.store.cache.redis.connection import NotRedisError, RedisReplyError
from sleuth.store.cache.redis.contents import ServerInfo, inspect_server
from sleuth.store.cache.redis.errors import refused
from sleuth.store.cache.redis.server import PREFIX, RedisServer, RedisUnavailableError
from sleuth.store.settings import CACHE_URL, Settings

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

SET_ADDRESS = "sleuth config set cache.url -"
MIN_VERSION = 6  # the oldest version that is tested
MAX_LATENCY_MS = 50.0  # a search makes four or more round trips
COMMANDS = "+@read +@write +@connection +@scripting +scan +time +info"


def check_shared_cache(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check the server at `cache.url`."""
    where = settings[CACHE_URL].partition(":")[0]
    if where in ("cmd", "keyring"):
        yield skipped(tr("its address is in {where} and is not fetched here", where=where))
        return
    try:
        address = find_address(settings[CACHE_URL], runtime.environ)
    except SleuthError as problem:
        remedy = Remedy(tr(problem.hint, **problem.values), (SET_ADDRESS,), Link.SHARED_ACCESS)
        yield fail(tr(problem.message, **problem.values), remedy)
        return
    server = RedisServer(address, warn=lambda _: None)  # problems are reported here, once
    try:
        yield from _examine(server)
    finally:
        server.close()


def _examine(server: RedisServer) -> Iterator[Finding]:
    address = server.address
    name = f"{PREFIX}probe:{os.urandom(8).hex()}"
    try:
        info = inspect_server(server)
        remove = ("EVAL", "return redis.call('DEL', KEYS[1])", 1, name)
        replies = server.execute_raw(("SET", name, "1", "PX", 1000), remove)
    except RedisUnavailableError as gone:
        problem = gone.problem or TimeoutError()
        if isinstance(problem, RedisReplyError):
            yield fail(f"{address.shown}: {gone}", _refused(address, problem))
        else:
            yield fail(f"{address.shown}: {gone}", _unreachable(address, problem))
        return
    if refusal := next((reply for reply in replies if isinstance(reply, RedisReplyError)), None):
        yield fail(f"{address.shown}: {refused(refusal)}", _refused(address, refusal))
        return
    yield from _judge(address, info)


def _judge(address: RedisAddress, info: ServerInfo) -> Iterator[Finding]:
    """Check whether a working server will keep working, and is fast enough."""
    software = f"{info.software or 'Redis'} {info.version or tr('(unknown version)')}"
    evidence = f"{address.shown}: {software}, {info.latency_ms} ms"
    remedies = []
    if info.limit and info.policy == "noeviction":
        evidence = f"{evidence}, {info.policy}"
        cause = tr("when its memory is full it rejects new entries; a cache should drop old ones")
        fix = (_client(address, "CONFIG SET maxmemory-policy allkeys-lru"), _client(address, "CONFIG REWRITE"))
        remedies.append(Remedy(cause, fix, Link.SHARED_MEMORY))
    if (info.latency_ms or 0) > MAX_LATENCY_MS:
        cause = tr("it is far away or busy: a search waits for it four times or more")
        remedies.append(Remedy(cause, (_client(address, "--latency"),), Link.SHARED_CACHE))
    major = info.version.partition(".")[0]
    if major.isdecimal() and int(major) < MIN_VERSION:
        cause = tr("sleuth is not tested with a version this old")
        remedies.append(Remedy(cause, ("sudo apt install redis-server",), Link.SHARED_CACHE))
    yield from (warn(evidence, remedy) for remedy in remedies) if remedies else [ok(evidence)]


def _unreachable(address: RedisAddress, problem: Exception) -> Remedy:
    """Return why no connection came about."""
    ping = _client(address, "PING")
    if address.path and isinstance(problem, FileNotFoundError | PermissionError | ConnectionRefusedError):
        cause = tr("no server listens on this socket, or you may not open it")
        return Remedy(cause, (f"ls -l {shell(address.path)}", ping), Link.SHARED_CACHE)
    match problem:
        case socket.gaierror():
            cause = tr("the name is misspelt or cannot be resolved from here")
            return Remedy(cause, (f"getent hosts {shell(address.host)}", SET_ADDRESS), Link.SHARED_CACHE)
        case ConnectionRefusedError():
            cause = tr("no server listens there; by default Redis listens only on its own machine (bind)")
            return Remedy(cause, (ping, "sudo systemctl status redis-server", "sudo ss -ltnp"), Link.SHARED_CACHE)
        case TimeoutError():
            cause = tr("a firewall drops the connection, or the server hangs, is overloaded or does not use TLS")
            return Remedy(cause, (ping, _client(address, "--latency")), Link.SHARED_CACHE)
        case ssl.SSLCertVerificationError():
            show = f"openssl s_client -connect {shell(address.place)} -showcerts </dev/null"
            cause = tr("this machine does not trust the server's certificate")
            return Remedy(cause, (show, "export SSL_CERT_FILE=/path/to/ca.pem"), Link.SHARED_ACCESS)
        case ssl.SSLError():
            cause = tr("this port does not use TLS: write redis:// instead of rediss://")
            return Remedy(cause, (SET_ADDRESS,), Link.SHARED_ACCESS)
        case ConnectionError():
            cause = tr("it closes the connection: another program uses this port, or it needs TLS (rediss://)")
            return Remedy(cause, (SET_ADDRESS, ping), Link.SHARED_ACCESS)
        case NotRedisError():
            return Remedy(tr("another program uses this port"), ("sudo ss -ltnp", SET_ADDRESS), Link.SHARED_CACHE)
    return Remedy(tr("it cannot be reached from here"), (ping,), Link.SHARED_CACHE)


def _refused(address: RedisAddress, refusal: RedisReplyError) -> Remedy:
    """Return why a server that answers refuses a command."""
    if refusal.code in ("NOAUTH", "WRONGPASS") or "AUTH" in refusal.text:
        cause = tr("put the user name and password into the address: redis://name:password@host:6379/0")
        return Remedy(cause, (SET_ADDRESS, _client(address, "ACL WHOAMI")), Link.SHARED_ACCESS)
    if "DB index" in refusal.text:
        cause = tr("the database number at the end of the address is too high; most servers have 0 to 15")
        return Remedy(cause, (SET_ADDRESS, _client(address, "CONFIG GET databases")), Link.SHARED_CACHE)
    match refusal.code:
        case "NOPERM":
            cause = tr("the user lacks permissions; an administrator can grant them")
            grant = f"redis-cli ACL SETUSER {shell(address.user or 'default')} '~sleuth:*' {COMMANDS}"
            return Remedy(cause, (grant,), Link.SHARED_ACCESS)
        case "READONLY":
            cause = tr("this is a read-only replica: use the address of the primary")
            return Remedy(cause, (_client(address, "INFO replication"), SET_ADDRESS), Link.SHARED_CACHE)
        case "OOM":
            cause = tr("its memory is full, and it may not drop old entries")
            fix = (_client(address, "INFO memory"), _client(address, "CONFIG SET maxmemory-policy allkeys-lru"))
            return Remedy(cause, fix, Link.SHARED_MEMORY)
        case "MISCONF":
            cause = tr("it cannot save to disk and therefore accepts no writes: the disk may be full")
            return Remedy(cause, ("df -h", _client(address, "LASTSAVE")), Link.SHARED_CACHE)
        case "LOADING" | "MASTERDOWN" | "NOREPLICAS":
            cause = tr("it is starting or waits for other servers: try again in a moment")
            fix = (_client(address, "INFO replication"), "sleuth doctor --only cache")
            return Remedy(cause, fix, Link.SHARED_CACHE)
        case "DENIED":
            cause = tr("protected mode: without a password it accepts only its own machine; set one, or a bind address")
            return Remedy(cause, ("redis-cli CONFIG SET requirepass PASSWORD", SET_ADDRESS), Link.SHARED_ACCESS)
    return Remedy(tr("see the server's log, or ask its administrator"), (_client(address, "PING"),), Link.SHARED_CACHE)


def _client(address: RedisAddress, words: str) -> str:
    """Return a redis-cli command for this server; it prompts for the password."""
    where = f"-s {shell(address.path)}" if address.path else f"-h {shell(address.host)} -p {address.port}"
    secure = " --tls" if address.secure else ""
    login = f" --user {shell(address.user)}" if address.user else ""
    return f"redis-cli {where}{secure}{login}{' --askpass' if address.password else ''} {words}"
