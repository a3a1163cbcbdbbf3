"""SearXNG's limiter.toml: valid TOML, known names, valid addresses, link_token off."""

import os
import re
import tomllib
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.environment import read_text
from sleuth.doctor.files.schema import FACTS, WORDS, nearest
from sleuth.doctor.files.yaml_source import line_of, show_line
from sleuth.doctor.finding import Check, Finding, fail, ok, warn
from sleuth_providers.records import Record

NAME = "limiter.toml"
SCHEMA: dict[str, str] = FACTS["limiter"]
PYTHON_TYPES: dict[str, type] = {"mapping": dict, "integer": int, "list": list, "bool": bool}
ADDRESS_LISTS = ("botdetection.ip_lists.pass_ip", "botdetection.ip_lists.block_ip", "botdetection.trusted_proxies")
MAX_ADDRESSES = 500


class LimiterFile(Record):
    """A parsed limiter.toml. tomllib gives no positions, so lines are found by their keys."""

    text: str
    data: dict[str, Any]
    active: bool  # the limiter is on

    def get(self, name: str) -> Any:
        """Return the value at a dotted name."""
        value: Any = self.data
        for part in name.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def addresses(self, name: str) -> list[Any]:
        """Return a list of addresses."""
        value = self.get(name)
        return value[:MAX_ADDRESSES] if isinstance(value, list) else []

    def at(self, word: str) -> str:
        """Return the line with a word, as evidence."""
        number = self.text[: max(self.text.find(word), 0)].count("\n") + 1
        return f"{NAME}:{number}: {show_line(line_of(self.text, number))}"


def read_limiter(folder: str, active: bool) -> tuple[tuple[str, ...], list[Finding]]:
    """Check the limiter.toml in a folder, if any; return the addresses it exempts, and findings."""
    path = os.path.join(folder, NAME)
    if not os.path.exists(path):
        return (), []
    text = read_text(path)
    if isinstance(text, Finding):
        return (), [FILE.label(text)]
    try:
        file = LimiterFile(text, tomllib.loads(text), active)
    except (tomllib.TOMLDecodeError, RecursionError) as problem:
        return (), [FILE.label(_not_toml(problem))]
    exempt = tuple(str(entry) for entry in file.addresses(ADDRESS_LISTS[0]) if _is_network(entry))
    findings = [finding for check in CHECKS for finding in check.run(file)]
    return exempt, findings or [FILE.label(ok(f"{NAME}: {tr('all names and addresses are valid')}"))]


def _not_toml(problem: Exception) -> Finding:
    match = re.search(r"line (\d+), column (\d+)", str(problem))
    place = f"{NAME}:{match[1]}:{match[2]}" if match else f"{NAME}:1"
    return fail(f"{place}: {clean(problem, 200)}", "limiter-not-toml")


def check_names(file: LimiterFile, prefix: str = "", table: dict[str, Any] | None = None) -> Iterator[Finding]:
    """Find unknown names and values of the wrong type: the server refuses to start with either."""
    for key, value in (file.data if table is None else table).items():
        name = f"{prefix}{key}"
        if name == "real_ip":
            yield warn(file.at(key), "limiter-real-ip")
        elif name not in SCHEMA:
            near = next((known for known in SCHEMA if known.endswith(f".{key}")), "") or nearest(name, tuple(SCHEMA))
            values = {"name": clean(name, 80), "remove_or_rename": remove_or_rename(near)}
            yield fail(file.at(key), "limiter-unknown-name", **values)
        elif type(value) is not PYTHON_TYPES[SCHEMA[name]]:
            yield fail(file.at(key), "limiter-value-type", name=name, accepted=tr(WORDS[SCHEMA[name]]))
        elif isinstance(value, dict):
            yield from check_names(file, f"{name}.", value)


def remove_or_rename(near: str) -> str:
    """Return the first line of the fix for an unknown name, with the name that was probably meant."""
    return tr("# did you mean {name}? otherwise remove it, then:", name=near) if near else tr("# remove it, then:")


def check_addresses(file: LimiterFile) -> Iterator[Finding]:
    """Find invalid addresses, and networks that exempt everyone."""
    for key, address in ((name.rpartition(".")[2], one) for name in ADDRESS_LISTS for one in file.addresses(name)):
        if not _is_network(address) and key == "trusted_proxies":
            yield fail(file.at(str(address)), "limiter-invalid-proxy", key=key)
        elif not _is_network(address):
            yield warn(file.at(str(address)), "limiter-invalid-address", key=key)
        elif key == "pass_ip" and ip_network(address, strict=False).prefixlen == 0:
            yield warn(file.at(address), "limiter-exempts-everyone")


def check_link_token(file: LimiterFile) -> Iterator[Finding]:
    """Find link_token, which redirects programs to the home page."""
    if file.get("botdetection.ip_limit.link_token") is True:
        report = fail if file.active else warn
        yield report(file.at("link_token"), "limiter-link-token")


def _is_network(address: Any) -> bool:
    try:
        return isinstance(address, str) and bool(ip_network(address, strict=False))
    except ValueError:
        return False


FILE = Check("limiter.file", "limiter.toml is valid", "limiter.toml is not valid", check_names)
CHECKS = (
    FILE,
    Check("limiter.addresses", "", "limiter.toml has a wrong address", check_addresses),
    Check("limiter.link_token", "", "link_token is on", check_link_token),
)
