"""The shared cache: reachable, writable, and configured to drop old entries when its memory is full."""

import os
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from sleuth.base.errors import SleuthError, describe
from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding, catalogue, fail, ok, shell, skipped, warn
from sleuth.store.cache.redis.address import RedisAddress, find_address
from sleuth.store.cache.redis.connection import RedisReplyError
from sleuth.store.cache.redis.contents import ServerInfo, inspect_server
from sleuth.store.cache.redis.errors import refused
from sleuth.store.cache.redis.server import PREFIX, RedisServer, RedisUnavailableError
from sleuth.store.settings import CACHE_URL, Settings

if TYPE_CHECKING:
    from sleuth.runtime import Runtime

MIN_VERSION = 6  # the oldest version that is tested
MAX_LATENCY_MS = 50.0  # a search makes four or more round trips


def check_shared_cache(runtime: "Runtime", settings: Settings) -> Iterator[Finding]:
    """Check the server at `cache.url`."""
    where = settings[CACHE_URL].partition(":")[0]
    if where in ("cmd", "keyring"):
        yield skipped(tr("the address comes from {where}:, which this check does not run", where=where))
        return
    try:
        address = find_address(settings[CACHE_URL], runtime.environ)
    except SleuthError as problem:
        link = catalogue()["links"]["shared-access"]
        yield Finding("fail", *describe(problem), "sleuth config set cache.url -", link)
        return
    with closing(RedisServer(address, warn=lambda _: None)) as server:  # problems are reported here, once
        yield from _examine(server)


def _examine(server: RedisServer) -> Iterator[Finding]:
    address = server.address
    name = f"{PREFIX}probe:{os.urandom(8).hex()}"
    try:
        info = inspect_server(server)
        remove = ("EVAL", "return redis.call('DEL', KEYS[1])", 1, name)
        replies = server.execute_raw(("SET", name, "1", "PX", 1000), remove)
    except RedisUnavailableError as gone:
        yield fail(f"{address.shown}: {gone}", _explain(address, gone.problem or TimeoutError()), **_commands(address))
        return
    if refusal := next((reply for reply in replies if isinstance(reply, RedisReplyError)), None):
        yield fail(f"{address.shown}: {refused(refusal)}", _refused(refusal), **_commands(address))
        return
    yield from _judge(address, info)


def _judge(address: RedisAddress, info: ServerInfo) -> Iterator[Finding]:
    """Check whether a working server will keep working, and is fast enough."""
    software = f"{info.software or 'Redis'} {info.version or tr('(unknown version)')}"
    evidence = f"{address.shown}: {software}, {info.latency_ms} ms"
    names = []
    if info.limit and info.policy == "noeviction":
        evidence = f"{evidence}, {info.policy}"
        names.append("redis-no-eviction")
    if (info.latency_ms or 0) > MAX_LATENCY_MS:
        names.append("redis-slow")
    major = info.version.partition(".")[0]
    if major.isdecimal() and int(major) < MIN_VERSION:
        names.append("redis-too-old")
    yield from (warn(evidence, name, **_commands(address)) for name in names) if names else [ok(evidence)]


def _explain(address: RedisAddress, problem: Exception) -> str:
    """Return the remedy for a connection that failed."""
    if isinstance(problem, RedisReplyError):
        return _refused(problem)
    if address.path and isinstance(problem, FileNotFoundError | PermissionError | ConnectionRefusedError):
        return "redis-socket"
    kinds = (f"redis-{kind.__name__}" for kind in type(problem).__mro__)  # the most specific one with a remedy
    return next((kind for kind in kinds if kind in catalogue()["remedies"]), "redis-unreachable")


def _refused(refusal: RedisReplyError) -> str:
    """Return the remedy for a server that answers and refuses a command."""
    if refusal.code in ("NOAUTH", "WRONGPASS") or "AUTH" in refusal.text:
        return "redis-NOAUTH"
    if "DB index" in refusal.text:
        return "redis-database-number"
    code = "LOADING" if refusal.code in ("MASTERDOWN", "NOREPLICAS") else refusal.code
    return f"redis-{code}" if f"redis-{code}" in catalogue()["remedies"] else "redis-refused"


def _commands(address: RedisAddress) -> dict[str, str]:
    """Return the values of remedies, with the redis-cli command for this server; it prompts for the password."""
    where = f"-s {shell(address.path)}" if address.path else f"-h {shell(address.host)} -p {address.port}"
    secure = " --tls" if address.secure else ""
    login = f" --user {shell(address.user)}" if address.user else ""
    return {
        "redis": f"redis-cli {where}{secure}{login}{' --askpass' if address.password else ''}",
        "path": shell(address.path),
        "host": shell(address.host),
        "place": shell(address.place),
        "user": shell(address.user or "default"),
    }
