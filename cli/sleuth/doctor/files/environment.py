"""Variables that reach the server: .env and compose files read as Docker reads them, and the names people get wrong."""

import os
import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.schema import DEFAULT_SECRET, VALKEY_SCHEMES
from sleuth.doctor.files.yaml_source import MAX_BYTES, show_line
from sleuth.doctor.finding import Finding
from sleuth.doctor.issue import fine, issue
from sleuth.doctor.verdict import RECREATE, Remedy
from sleuth_providers.records import Record

SWITCHES = ("SEARXNG_LIMITER", "SEARXNG_PUBLIC_INSTANCE", "SEARXNG_IMAGE_PROXY", "SEARXNG_DEBUG")
ON, OFF = ("1", "true", "on"), ("0", "false", "off")
OLD = {
    "BASE_URL": "SEARXNG_BASE_URL",
    "BIND_ADDRESS": "GRANIAN_HOST, GRANIAN_PORT",
    "INSTANCE_NAME": "general.instance_name",
    "SEARXNG_BIND_ADDRESS": "GRANIAN_HOST, GRANIAN_PORT",
    "SEARXNG_REDIS_URL": "SEARXNG_VALKEY_URL",
    "SEARXNG_SECRET_KEY": "SEARXNG_SECRET",
    "SEARX_SECRET_KEY": "SEARXNG_SECRET",
    "SEARXNG_URL": "SEARXNG_BASE_URL",
    "SEARXNG_FORMATS": "search.formats",
    "UWSGI_WORKERS": "GRANIAN_BLOCKING_THREADS",
    "UWSGI_THREADS": "GRANIAN_BLOCKING_THREADS",
    "SEARXNG_UWSGI_WORKERS": "GRANIAN_BLOCKING_THREADS",
    "SEARXNG_UWSGI_THREADS": "GRANIAN_BLOCKING_THREADS",
}
LINE = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)\s*(?:=|:\s)\s*(.*)")
PLACE = re.compile(r"\$\{([A-Za-z_]\w*)(?:(:?[-+?])([^${}]*))?\}|\$([A-Za-z_]\w*)")
MAX_PASSES = 10
LINK = "searxng.md#environment-variables-of-the-searxng-container"
OLD_LINK = "searxng.md#searxng-broken-after-an-update-uwsgi-redis-base_url"
SECRET_LINK = "searxng.md#searxng-does-not-start-serversecret_key-is-not-changed"  # noqa: S105 - an address
EXIT_LINK = "searxng.md#searxng-exits-invalid-settingsyml-yaml-error"
FRESH = "printf 'SEARXNG_SECRET=%s\\n' \"$(openssl rand -hex 32)\" >> .env"


class Variable(Record):
    """What a variable is set to and where; None when that is decided elsewhere, such as in the shell."""

    value: str | None
    file: str
    line: int

    def at(self, name: str) -> str:
        """Return it the way findings show it."""
        shown = f"{name}={self.value}" if self.value is not None else f"{name}=${{{name}}}"
        return f"{self.file}:{self.line}: {show_line(shown)}"

    @property
    def switch(self) -> bool | None:
        """Return whether it turns something on or off; None when it does neither."""
        lower = (self.value or "").lower()
        return True if lower in ON else False if lower in OFF else None


Variables = Mapping[str, Variable]


def read_environment(path: str) -> tuple[dict[str, Variable], list[Finding]]:
    """Read an environment file; lines that mean nothing are findings."""
    name = os.path.basename(path)
    try:
        with open(path, "rb") as stream:
            text = stream.read(MAX_BYTES).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else problem
        return {}, [issue("environment.file", "skipped", f"{name}: {clean(reason, 200)}").finding]
    found: dict[str, Variable] = {}
    problems: list[Finding] = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if match := LINE.fullmatch(line):
            found[match[1]] = Variable(_unquoted(match[2]), name, number)
        elif re.fullmatch(r"[A-Za-z_]\w*", line):
            found[line] = Variable(None, name, number)
        else:
            remedy = Remedy(tr("Docker refuses a line that is not NAME=value"), ("SEARXNG_…=…", RECREATE), LINK)
            problems.append(issue("environment.file", "fail", f"{name}:{number}: {show_line(line)}", remedy).finding)
    return found, problems


def _unquoted(value: str) -> str:
    if value[:1] in ("'", '"'):
        return value[1:].partition(value[0])[0]
    return re.split(r"\s#", value, maxsplit=1)[0].strip()


def interpolate(text: str, variables: Variables) -> tuple[str, bool]:
    """Fill ${NAME} in a compose file from .env, and tell whether every value was known. Nothing else is expanded."""
    known, passes = True, 0
    text = text.replace("$$", "\0")

    def fill(match: re.Match[str]) -> str:
        nonlocal known
        name, sign, other = match[1] or match[4], match[2] or "", match[3] or ""
        variable = variables.get(name)
        value = variable.value if variable else None
        if sign.endswith("+"):
            return other if value else ""
        if value or (value is not None and not sign.startswith(":")):
            return value
        if not sign.endswith("-"):
            known = False  # the shell may set it when the container is made
            return ""
        return other

    while passes < MAX_PASSES and len(text) < 5000 and PLACE.search(text):
        text, passes = PLACE.sub(fill, text), passes + 1
    return text.replace("\0", "$"), known


def check_variables(variables: Variables) -> Iterator[Finding]:
    """Check what reaches the container: switches it cannot read, old names, a secret everybody knows."""
    troubles = [trouble for name, variable in variables.items() for trouble in _check(name, variable)]
    yield from troubles
    if variables and not troubles:
        names = ", ".join(sorted(name for name in variables if name.startswith(("SEARXNG_", "GRANIAN_"))))
        yield fine("environment.variables", clean(names, 200) or tr("none that SearXNG reads")).finding


def _check(name: str, variable: Variable) -> Iterator[Finding]:
    if name in SWITCHES and variable.value is not None and variable.switch is None:
        cause = tr("a switch is true or false, on or off, 1 or 0; anything else stops the server")
        yield _found("fail", name, variable, Remedy(cause, (f"{name}=false", RECREATE), EXIT_LINK))
    elif name == "SEARXNG_METHOD" and variable.value not in ("GET", "POST", None):
        cause = tr("it must be GET or POST, in capitals; anything else stops the server")
        yield _found("fail", name, variable, Remedy(cause, ("SEARXNG_METHOD=GET", RECREATE), EXIT_LINK))
    elif name in ("SEARXNG_PORT", "GRANIAN_PORT") and not (variable.value or "0").isdigit():
        cause = tr("a port is a number; the container ignores this one or exits")
        yield _found("fail", name, variable, Remedy(cause, (f"{name}=8080", RECREATE), LINK))
    elif name == "SEARXNG_SECRET" and variable.value is not None:
        yield from _check_secret(name, variable)
    elif name == "SEARXNG_VALKEY_URL" and variable.value and _scheme(variable.value) not in VALKEY_SCHEMES:
        cause = tr("the address must begin with valkey://; this one stops the server")
        yield _found("fail", name, variable, Remedy(cause, (f"{name}=valkey://searxng-valkey:6379/0", RECREATE), LINK))
    elif name in OLD or name.startswith("UWSGI_"):
        new = OLD.get(name, "GRANIAN_…")
        where = tr("settings.yml, key {key}", key=new) if "." in new else new
        cause = tr("the container does not read {name}; use {new}", name=name, new=where)
        yield _found("warn", name, variable, Remedy(cause, (new, RECREATE), OLD_LINK))


def _check_secret(name: str, variable: Variable) -> Iterator[Finding]:
    if variable.value == DEFAULT_SECRET:
        cause = tr("this is the key everybody knows; the server refuses to start with it")
        yield _found("fail", name, variable, Remedy(cause, (FRESH, RECREATE), SECRET_LINK))
    elif not variable.value:
        cause = tr("an empty key lets anybody forge the addresses that the server signs")
        yield _found("warn", name, variable, Remedy(cause, (FRESH, RECREATE), SECRET_LINK))


def _found(state: str, name: str, variable: Variable, remedy: Remedy) -> Finding:
    return issue("environment.variables", state, variable.at(name), remedy).finding


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""
