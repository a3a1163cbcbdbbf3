"""SearXNG's limiter.toml: is it TOML, are its names known, do its addresses mean something, is link_token off?"""

import os
import re
import tomllib
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.schema import nearest
from sleuth.doctor.files.yaml_source import MAX_BYTES, line_of, show_line
from sleuth.doctor.finding import Finding
from sleuth.doctor.issue import fine, issue
from sleuth.doctor.verdict import RESTART, Remedy, in_limiter
from sleuth_providers.records import Record

NAME = "limiter.toml"
SCHEMA: dict[str, type] = {
    "botdetection": dict,
    "botdetection.ipv4_prefix": int,
    "botdetection.ipv6_prefix": int,
    "botdetection.trusted_proxies": list,
    "botdetection.ip_limit": dict,
    "botdetection.ip_limit.filter_link_local": bool,
    "botdetection.ip_limit.link_token": bool,
    "botdetection.ip_lists": dict,
    "botdetection.ip_lists.block_ip": list,
    "botdetection.ip_lists.pass_ip": list,
    "botdetection.ip_lists.pass_searxng_org": bool,
}
WORDS = {dict: "a table", int: "a whole number", list: "a list", bool: "true or false"}
PASS = ("[botdetection.ip_lists]", 'pass_ip = ["127.0.0.0/8", "172.16.0.0/12"]')
LINK = "searxng.md#the-searxng-limiter-turn-it-off-or-pass-your-address-pass_ip"
TOKEN_LINK = "searxng.md#searxng-redirects-to-its-home-page-302-instead-of-results"  # noqa: S105 - an address
OLD_LINK = "searxng.md#searxng-broken-after-an-update-uwsgi-redis-base_url"


class Limiter(Record):
    """What limiter.toml says, as far as programs feel it."""

    passes: tuple[str, ...] = ()  # networks without a limit
    link_token: bool = False


def read_limiter(folder: str, active: bool) -> tuple[Limiter, list[Finding]]:
    """Read and check limiter.toml in a folder; a missing one is fine. `active` says whether the limiter is on."""
    path = os.path.join(folder, NAME)
    if not os.path.exists(path):
        return Limiter(), []
    try:
        with open(path, "rb") as stream:
            text = stream.read(MAX_BYTES).decode("utf-8")
        data = tomllib.loads(text)
    except OSError as problem:
        return Limiter(), [issue("limiter.file", "skipped", f"{NAME}: {clean(problem.strerror, 200)}").finding]
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Limiter(), [_not_toml(problem)]
    file = _File(text, data, active)
    findings = [*file.names("", data), *file.addresses(), *file.token()]
    if not findings:
        findings = [fine("limiter.file", f"{NAME}: " + tr("every name and address is understood")).finding]
    return file.summary(), findings


def _not_toml(problem: Exception) -> Finding:
    match = re.search(r"line (\d+), column (\d+)", str(problem))
    place = f"{NAME}:{match[1]}:{match[2]}" if match else f"{NAME}:1"
    cause = tr("the server exits when limiter.toml is not TOML")
    fix = (tr("# correct that line, then:"), RESTART)
    return issue("limiter.file", "fail", f"{place}: {clean(problem, 200)}", Remedy(cause, fix, LINK)).finding


class _File:
    """One limiter.toml; the standard library tells no places, so lines are found by their keys."""

    def __init__(self, text: str, data: dict[str, Any], active: bool) -> None:
        self.text, self.data, self.active = text, data, active

    def names(self, prefix: str, table: dict[str, Any]) -> Iterator[Finding]:
        """Find names nobody knows and values of the wrong type: both stop the server."""
        for key, value in table.items():
            name = f"{prefix}{key}"
            if name == "real_ip":
                cause = tr("real_ip is gone: x_for became trusted_proxies, the prefixes moved to [botdetection]")
                fix = in_limiter("[botdetection]", 'trusted_proxies = ["127.0.0.0/8"]')
                yield self._found("limiter.file", "warn", key, Remedy(cause, fix, OLD_LINK))
            elif name not in SCHEMA:
                home = next((known for known in SCHEMA if known.endswith(f".{key}")), "")
                near = home or nearest(name, tuple(SCHEMA))
                cause = tr("the server exits at a name it does not know: {name}", name=clean(name, 80))
                meant = tr("# did you mean {name}? Otherwise remove it, then:", name=near)
                fix = (meant if near else tr("# remove it, then:"), RESTART)
                yield self._found("limiter.file", "fail", key, Remedy(cause, fix, LINK))
            elif type(value) is not SCHEMA[name]:
                kind = tr(WORDS[SCHEMA[name]])
                cause = tr("{name} takes {kind}; anything else stops the server", name=name, kind=kind)
                yield self._found("limiter.file", "fail", key, Remedy(cause, in_limiter(*PASS), LINK))
            elif isinstance(value, dict):
                yield from self.names(f"{name}.", value)

    def addresses(self) -> Iterator[Finding]:
        """Find addresses that are none, and networks that let everybody pass."""
        for name in ("botdetection.ip_lists.pass_ip", "botdetection.ip_lists.block_ip", "botdetection.trusted_proxies"):
            for address in self._list(name):
                yield from self._check_address(name, address)

    def token(self) -> Iterator[Finding]:
        """Find link_token: it sends programs away."""
        if not self.summary().link_token:
            return
        cause = tr("link_token expects a browser that loads the style sheet; programs are redirected to the home page")
        fix = in_limiter("[botdetection.ip_limit]", "link_token = false")
        state = "fail" if self.active else "warn"
        yield self._found("limiter.link_token", state, "link_token", Remedy(cause, fix, TOKEN_LINK))

    def summary(self) -> Limiter:
        """Return what matters to programs."""
        passes = tuple(str(entry) for entry in self._list("botdetection.ip_lists.pass_ip") if _is_network(entry))
        return Limiter(passes, self._dig("botdetection.ip_limit.link_token") is True)

    def _check_address(self, name: str, address: Any) -> Iterator[Finding]:
        key = name.rpartition(".")[2]
        if not _is_network(address):
            fatal = key == "trusted_proxies"
            cause = (
                tr("this is no address, and every request is answered with 500 because of it")
                if fatal
                else tr("this is no address; the server leaves it out")
            )
            fix = in_limiter(f'{key} = ["127.0.0.0/8", "172.16.0.0/12"]')
            yield self._found("limiter.addresses", "fail" if fatal else "warn", str(address), Remedy(cause, fix, LINK))
        elif key == "pass_ip" and ip_network(address, strict=False).prefixlen == 0:
            cause = tr("this network is the whole internet: the limiter limits nobody")
            yield self._found("limiter.addresses", "warn", address, Remedy(cause, in_limiter(*PASS), LINK))

    def _found(self, id: str, state: str, word: str, remedy: Remedy) -> Finding:
        number = self.text[: max(self.text.find(word), 0)].count("\n") + 1
        return issue(id, state, f"{NAME}:{number}: {show_line(line_of(self.text, number))}", remedy).finding

    def _list(self, name: str) -> list[Any]:
        value = self._dig(name)
        return value[:500] if isinstance(value, list) else []

    def _dig(self, name: str) -> Any:
        place: Any = self.data
        for part in name.split("."):
            place = place.get(part) if isinstance(place, dict) else None
        return place


def _is_network(address: Any) -> bool:
    if not isinstance(address, str):
        return False
    try:
        ip_network(address, strict=False)
    except ValueError:
        return False
    return True
