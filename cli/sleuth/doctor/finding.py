"""What a check found, what to do about it (remedies.toml), and the table entry that declares a check."""

import re
import shlex
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth_providers.records import Record

RESTART = "docker compose restart core"
RECREATE = "docker compose up -d"
shell = shlex.quote  # for a word of a command
PLACEHOLDER = re.compile(r"\{(\w+)\}")
MAX_LINE_CHARS = 1000


class Edit(Record):
    """A stretch of a file to replace with other text."""

    start: int
    end: int
    text: str


class Finding(Record):
    """The result of one check: what was seen, the cause, and the fix."""

    state: str  # ok, warn, fail or skipped
    evidence: str = ""
    cause: str = ""
    fix: str = ""  # blocks of shell or of one file's lines; each begins with a comment that says which
    link: str = ""  # into the handbook: "searxng.md#enable-json-in-searxng-403-forbidden"
    id: str = ""  # "searxng.json", "settings.limiter", "install.database"; set by the check that ran
    title: str = ""
    elapsed_ms: int = 0
    edits: tuple[Edit, ...] = ()  # changes to settings.yml that --fix makes
    edit_first: bool = False  # apply these edits alone, then check again: other edits depend on them


@cache
def catalogue() -> dict[str, Any]:
    """Return the contents of remedies.toml."""
    return tomllib.loads(Path(__file__).with_name("remedies.toml").read_text("utf-8"))


def _problem(state: str, evidence: str, remedy: str, /, **values: Any) -> Finding:
    """Return a finding with the cause, fix and link of a remedy in remedies.toml, in which `values` are filled in.

    Values named `title`, `edits` and `edit_first` are fields of the finding.
    """
    entry = catalogue()["remedies"][remedy]
    fields = {name: values.pop(name) for name in ("title", "edits", "edit_first") if name in values}
    cause, fix = tr(entry["cause"], **values), _filled_in(entry.get("fix", ""), values)
    return Finding(state, evidence, cause, fix, catalogue()["links"][entry["link"]], **fields)


warn = partial(_problem, "warn")  # something works but not as it should
fail = partial(_problem, "fail")  # something does not work


def _filled_in(fix: str, values: dict[str, Any]) -> str:
    """Return a fix with its values: a list fills several lines, and an empty line is left out."""
    lines: list[str] = []
    for block in fix.strip("\n").split("\n\n"):
        filled = [line for fix_line in block.split("\n") for line in _fill(fix_line, values)]
        for line in _in_file(filled):
            if line.startswith("#") and lines and not lines[-1].startswith("#"):
                lines.append("")  # a comment begins a block that can be pasted as a whole
            lines.append(line[: len(line) - len(line.lstrip(" "))] + clean(line, MAX_LINE_CHARS, entities=False))
    return "\n".join(lines)


def _fill(line: str, values: dict[str, Any]) -> list[str]:
    whole = PLACEHOLDER.fullmatch(line)
    value = values.get(whole[1], "") if whole else None
    if isinstance(value, list | tuple):
        return list(value)
    if line.startswith("#"):
        return [tr(line, **values)]
    filled = PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), line)
    return [filled] if filled else []


def _in_file(lines: list[str]) -> list[str]:
    """Return the lines of a block that begins with @ and a file: where they go, and the command that applies them."""
    match lines:
        case ["@settings", *inside]:
            sections = ", ".join(line for line in inside if line.endswith(":") and not line.startswith(" "))
            merge = tr("# in settings.yml (merge into an existing {sections} section):", sections=sections)
            where = merge if sections else tr("# in settings.yml:")
            return [where, *inside, tr("# then restart SearXNG:"), RESTART]
        case ["@limiter", *inside]:
            return [tr("# in limiter.toml, next to settings.yml:"), *inside, tr("# then restart SearXNG:"), RESTART]
        case ["@compose", *inside]:
            where = tr("# in docker-compose.yml (merge into the SearXNG service):")
            return [where, *inside, tr("# then recreate the container:"), RECREATE]
        case ["@env", *inside]:
            return [tr("# in .env:"), *inside, tr("# then recreate the container:"), RECREATE]
    return lines


def as_fix(hint: str) -> str:
    """Return the hint of an error as a fix that can be pasted: everything but a command becomes a comment."""
    hint = clean(hint, MAX_LINE_CHARS, entities=False)
    words, command = hint[: hint.rfind("sleuth ")].rstrip(), hint[hint.rfind("sleuth ") :]
    if not hint.startswith("sleuth ") and (not words.endswith((":", "：")) or set(command) & set(",;…，；")):
        return f"# {hint}" if hint else ""
    return f"# {words}\n{command}" if words else command


def ok(evidence: str = "", *, title: str = "") -> Finding:
    """Return a passed check."""
    return Finding("ok", evidence, title=title)


def skipped(reason: str) -> Finding:
    """Return a check that was not made."""
    return Finding("skipped", reason)


class Check(Record):
    """One entry in the table of checks of an area."""

    id: str
    title: str  # when it passes
    problem: str  # when it does not
    look: Callable[..., Finding | Iterable[Finding] | None] = lambda: None  # None: nothing worth reporting
    needs: tuple[str, ...] = ()  # names of checks of the same topic that must pass first
    detail: bool = False  # part of another check: not reported when it cannot run

    def run(self, *subject: Any) -> Iterator[Finding]:
        """Make the check and yield what it found, labelled, timed and safe to print."""
        started = time.monotonic()
        found = self.look(*subject)
        for finding in [found] if isinstance(found, Finding) else found or ():
            elapsed_ms = finding.elapsed_ms or round((time.monotonic() - started) * 1000)
            yield self.label(finding._replace(elapsed_ms=elapsed_ms))

    def label(self, finding: Finding) -> Finding:
        """Add id and title, and clean whatever came from a server or a file."""
        title = tr(self.title) if finding.state == "ok" else tr(self.problem)
        if finding.state == "skipped":
            title = self.id.partition(".")[2].replace("_", " ")
        return finding._replace(
            id=self.id,
            title=clean(finding.title or title, 120, entities=False),
            evidence=clean(finding.evidence, 4000, lines=True, entities=False),
            cause=clean(finding.cause, 1000, entities=False),
        )


def findings_as_json(findings: list[Finding]) -> dict[str, Any]:
    """Return the published form of a report."""
    fields = ("id", "state", "title", "evidence", "cause", "fix", "link")
    checks = [
        {field: getattr(finding, field) or None for field in fields} | {"elapsedMs": finding.elapsed_ms}
        for finding in findings
    ]
    return {"ok": bool(findings) and not any(finding.state == "fail" for finding in findings), "checks": checks}
