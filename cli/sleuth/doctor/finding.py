"""What a check found: one type, its constructors, and the table entry that declares a check."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.remedies import Remedy
from sleuth_providers.records import Record

STATES = ("ok", "warn", "fail", "skipped")


class Edit(Record):
    """A stretch of a file to replace with other text."""

    start: int
    end: int
    text: str


class Finding(Record):
    """The result of one check: what was seen, the cause, and the fix."""

    state: str
    evidence: str = ""
    cause: str = ""
    fix: str = ""  # blocks of shell or of one file's lines; each begins with a comment that says which
    link: str = ""  # into the handbook: "searxng.md#enable-json-in-searxng-403-forbidden"
    id: str = ""  # "searxng.json", "settings.limiter", "install.database"; set by the check that ran
    title: str = ""
    elapsed_ms: int = 0
    edits: tuple[Edit, ...] = ()  # changes to settings.yml that --fix makes
    edit_first: bool = False  # apply these edits alone, then check again: other edits depend on them


def ok(evidence: str = "", *, title: str = "") -> Finding:
    """Return a passed check."""
    return Finding("ok", evidence, title=title)


def skipped(reason: str) -> Finding:
    """Return a check that was not made."""
    return Finding("skipped", reason)


def _problem(state: str, evidence: str, remedy: Remedy, **more: Any) -> Finding:
    return Finding(state, evidence, remedy.cause, remedy.fix, remedy.link, **more)


warn = partial(_problem, "warn")  # something works but not as it should
fail = partial(_problem, "fail")  # something does not work


class Check(Record):
    """One entry in the table of checks of an area."""

    id: str
    title: str  # when it passes
    problem: str  # when it does not
    look: Callable[..., Finding | Iterable[Finding] | None] = lambda: None  # None: nothing worth reporting
    needs: tuple[str, ...] = ()  # ids of checks that must pass first
    detail: bool = False  # of another check: not reported when it cannot run

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
    checks = [
        {
            "id": finding.id,
            "state": finding.state,
            "title": finding.title,
            "evidence": finding.evidence or None,
            "cause": finding.cause or None,
            "fix": finding.fix or None,
            "link": finding.link or None,
            "elapsedMs": finding.elapsed_ms,
        }
        for finding in findings
    ]
    return {"ok": not any(finding.state == "fail" for finding in findings), "checks": checks}
