"""Variables that reach the server: .env and compose files read as Docker reads them, and common mistakes."""

import os
import re
from collections.abc import Iterator, Mapping

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.files.schema import FACTS, VALKEY_SCHEMES
from sleuth.doctor.files.yaml_source import DEFAULT_SECRET, MAX_BYTES, show_line
from sleuth.doctor.finding import Check, Finding, fail, ok, skipped, warn
from sleuth_providers.records import Record

SWITCHES = ("SEARXNG_LIMITER", "SEARXNG_PUBLIC_INSTANCE", "SEARXNG_IMAGE_PROXY", "SEARXNG_DEBUG")
ON, OFF = ("1", "true", "on"), ("0", "false", "off")
LINE = re.compile(r"(?:export\s+)?([A-Za-z_]\w*)\s*(?:=|:\s)\s*(.*)")
PLACEHOLDER = re.compile(r"\$\{([A-Za-z_]\w*)(?:(:?[-+?])([^${}]*))?\}|\$([A-Za-z_]\w*)")
MAX_PASSES, MAX_CHARS = 10, 5000


class Variable(Record):
    """A variable's value and position; the value is None when the shell decides it."""

    value: str | None
    file: str
    line: int

    def at(self, name: str) -> str:
        """Return it as findings show it."""
        shown = f"{name}={self.value}" if self.value is not None else f"{name}=${{{name}}}"
        return f"{self.file}:{self.line}: {show_line(shown)}"

    @property
    def switch(self) -> bool | None:
        """Return whether it turns something on or off; None for other values."""
        lower = (self.value or "").lower()
        return True if lower in ON else False if lower in OFF else None


Variables = Mapping[str, Variable]


def read_text(path: str) -> str | Finding:
    """Return the text of a file, or the finding that it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return stream.read(MAX_BYTES + 1).decode("utf-8-sig")
    except UnicodeDecodeError:
        reason = tr("it is not UTF-8")
    except OSError as problem:
        reason = clean(problem.strerror or problem, 200)
    return skipped(f"{path}: {reason}")


def read_environment(path: str) -> tuple[dict[str, Variable], list[Finding]]:
    """Read an environment file; malformed lines are findings."""
    name, text = os.path.basename(path), read_text(path)
    if isinstance(text, Finding):
        return {}, [FILE.label(text)]
    variables: dict[str, Variable] = {}
    problems: list[Finding] = []
    for number, line in enumerate(map(str.strip, text.split("\n")), 1):
        if not line or line.startswith("#"):
            continue
        if match := LINE.fullmatch(line):
            variables[match[1]] = Variable(_unquote(match[2]), name, number)
        elif re.fullmatch(r"[A-Za-z_]\w*", line):
            variables[line] = Variable(None, name, number)
        else:
            at = f"{name}:{number}: {show_line(line)}"
            problems.append(FILE.label(fail(at, "env-line-malformed", line=number, file=name)))
    return variables, problems


def _unquote(value: str) -> str:
    if value[:1] in ("'", '"'):
        return value[1:].partition(value[0])[0]
    return re.split(r"\s#", value, maxsplit=1)[0].strip()


def interpolate(text: str, variables: Variables) -> tuple[str, bool]:
    """Fill in ${NAME} as docker compose does, and return whether every value was known."""
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
            known = False  # the shell may set it when the container is created
            return ""
        return other

    while passes < MAX_PASSES and len(text) < MAX_CHARS and PLACEHOLDER.search(text):
        text, passes = PLACEHOLDER.sub(fill, text), passes + 1
    return text.replace("\0", "$"), known


def check_variables(variables: Variables) -> Iterator[Finding]:
    """Check what reaches the container: invalid values, renamed variables, the built-in secret."""
    problems = [problem for name, variable in variables.items() for problem in _check(name, variable)]
    yield from problems
    if variables and not problems:
        names = ", ".join(sorted(name for name in variables if name.startswith(("SEARXNG_", "GRANIAN_"))))
        yield ok(clean(names, 200) or tr("none that SearXNG reads"))


def _check(name: str, variable: Variable) -> Iterator[Finding]:
    value, at = variable.value, variable.at(name)
    new = FACTS["renamed_variables"].get(name, "GRANIAN_…" if name.startswith("UWSGI_") else "")
    if name in SWITCHES and value is not None and variable.switch is None:
        yield fail(at, "variable-not-switch", name=name)
    elif name == "SEARXNG_METHOD" and value not in ("GET", "POST", None):
        yield fail(at, "variable-method", name=name)
    elif name in ("SEARXNG_PORT", "GRANIAN_PORT") and not (value or "0").isdigit():
        yield fail(at, "variable-port", name=name)
    elif name == "SEARXNG_SECRET" and value == DEFAULT_SECRET:
        yield fail(at, "secret-built-in")
    elif name == "SEARXNG_SECRET" and value == "":
        yield warn(at, "secret-empty")
    elif name == "SEARXNG_VALKEY_URL" and value and not value.lower().startswith(VALKEY_SCHEMES):
        yield fail(at, "variable-valkey-scheme", name=name)
    elif "." in new:
        section, _, key = new.partition(".")
        yield warn(at, "variable-now-setting", name=name, new=new, section=section, key=key)
    elif new:
        yield warn(at, "variable-renamed", name=name, new=new, assignments=[f"{one}=…" for one in new.split(", ")])


FILE = Check("environment.file", "Environment file is valid", "Environment file is not valid")
VARIABLES = Check("environment.variables", "Variables are valid", "Variable is not valid", check_variables)
