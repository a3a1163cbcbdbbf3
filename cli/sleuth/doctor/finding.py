"""What a check finds: plain data that renderers and scripts see."""

from typing import Any

from sleuth_providers.records import Record

STATES = ("ok", "warn", "fail", "skipped")


class Finding(Record):
    """The result of one check: what was seen, why it is so, and what to type."""

    id: str  # "searxng.json", "settings.limiter", "install.database"
    state: str
    title: str  # one calm line: what was checked
    evidence: str = ""  # what was seen, made safe to show
    cause: str = ""
    fix: tuple[str, ...] = ()  # commands to type or lines to write, one an entry
    link: str = ""  # into the handbook: "searxng.md#enable-json-in-searxng-403-forbidden"
    elapsed_ms: int = 0


def finding_as_json(findings: list[Finding]) -> dict[str, Any]:
    """Return the published form of a report."""
    checks = [
        {
            "id": finding.id,
            "state": finding.state,
            "title": finding.title,
            "evidence": finding.evidence or None,
            "cause": finding.cause or None,
            "fix": "\n".join(finding.fix) or None,
            "link": finding.link or None,
            "elapsedMs": finding.elapsed_ms,
        }
        for finding in findings
    ]
    return {"ok": not any(finding.state == "fail" for finding in findings), "checks": checks}
