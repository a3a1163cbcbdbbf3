"""The address in `cache.url`: parsed, and shown without its password.

Several hosts, with commas, are nodes of a cluster, or with `+sentinel` the sentinels that know the primary server.
"""

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote, urlsplit

from sleuth.base import logs
from sleuth.base.errors import SettingsError
from sleuth.base.text import clean
from sleuth.store.keys import resolve
from sleuth_providers.records import Record

USES_TLS = {"redis": False, "valkey": False, "rediss": True, "valkeys": True, "unix": False}
SENTINEL = "+sentinel"
DEFAULT_PORT, SENTINEL_PORT = 6379, 26379
MAX_DATABASE = 1_000_000


class RedisAddress(Record):
    """A server and the login for it."""

    host: str = ""
    port: int = DEFAULT_PORT
    path: str = ""  # of a Unix socket, instead of a host
    database: int = 0
    user: str = ""
    password: str = ""
    secure: bool = False
    others: tuple[tuple[str, int], ...] = ()  # further nodes or sentinels: host and port
    service: str = ""  # name of the primary server that the sentinels know
    certificate: str = ""  # file of the client certificate
    key: str = ""  # file of its key, if it is not in the same file
    authority: str = ""  # file of the certificates to trust, instead of those of the system

    @property
    def nodes(self) -> tuple[tuple[str, int], ...]:
        """Return all hosts and ports."""
        return ((self.host, self.port), *self.others)

    @property
    def place(self) -> str:
        """Return host and port, or the path of the socket, for messages."""
        shown = (f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.nodes)
        return clean(self.path or ",".join(shown), 200, entities=False)

    @property
    def shown(self) -> str:
        """Return the URL without user name and password."""
        if self.path:
            return f"unix://{self.place}" + (f"?db={self.database}" if self.database else "")
        scheme = f"{'rediss' if self.secure else 'redis'}{SENTINEL if self.service else ''}"
        return f"{scheme}://{self.place}/{f'{self.service}/' if self.service else ''}{self.database}"

    @property
    def greeting(self) -> list[tuple[str, ...]]:
        """Return the commands that start a new connection."""
        commands: list[tuple[str, ...]] = []
        if self.password:
            commands.append(("AUTH", self.user, self.password) if self.user else ("AUTH", self.password))
        if self.database:
            commands.append(("SELECT", str(self.database)))
        return commands


def find_address(setting: str, environ: Mapping[str, str]) -> RedisAddress:
    """Return the server that `cache.url` names, as a URL or through env:, cmd: or keyring:."""
    text = resolve(setting, environ, "sleuth/cache").strip()
    if not text:
        where = setting if setting.startswith("env:") else setting.partition(":")[0]
        hint = "set {where}, or give the address itself: sleuth config set cache.url -"
        raise SettingsError("cache.url refers to {where}, which is empty", hint, where=where)
    try:
        address = _parse(text)
    except (ValueError, KeyError):  # their messages may quote the password
        logs.hide(text)
        hint = "use the form redis://user:password@host:6379/0, and percent-encode the password (%2F for /, %40 for @)"
        raise SettingsError("cache.url is not a valid Redis or Valkey URL", hint) from None
    logs.hide(address.password)
    return address


def _parse(text: str) -> RedisAddress:
    scheme, _, rest = text.partition("://")
    scheme, authority = scheme.lower(), re.split("[/?#]", rest, maxsplit=1)[0]
    parts = urlsplit(f"//host{rest.removeprefix(authority)}")  # which accepts a single host only
    socket, sentinel = scheme == "unix", scheme.endswith(SENTINEL)
    login, _, places = authority.rpartition("@")
    nodes = [_host_and_port(place, SENTINEL_PORT if sentinel else DEFAULT_PORT) for place in places.split(",") if place]
    if bool(nodes) == socket or (socket and not parts.path):
        raise ValueError("a socket has a path and no host; everything else has a host")
    service, _, path = parts.path.strip("/").partition("/") if sentinel else ("", "", parts.path.strip("/"))
    if sentinel and not service:
        raise ValueError("sentinels need the name of a primary server")
    options = {name: values[0] for name, values in parse_qs(parts.query).items()}
    database = options.get("db") or ("" if socket else path)
    if not 0 <= int(database or 0) <= MAX_DATABASE:
        raise ValueError("no such database")
    (host, port), *others = nodes or [("", DEFAULT_PORT)]
    user, _, password = login.partition(":")
    return RedisAddress(
        host=host,
        port=port,
        path=unquote(parts.path) if socket else "",
        database=int(database or 0),
        user=unquote(user),
        password=unquote(password),
        secure=USES_TLS[scheme.removesuffix(SENTINEL)],
        others=tuple(others),
        service=unquote(service),
        certificate=options.get("ssl_certfile", ""),
        key=options.get("ssl_keyfile", ""),
        authority=options.get("ssl_ca_certs", ""),
    )


def _host_and_port(place: str, default: int) -> tuple[str, int]:
    parts = urlsplit(f"//{place}")
    if not parts.hostname or parts.port == 0:
        raise ValueError("no host, or an invalid port")
    return parts.hostname, parts.port or default
