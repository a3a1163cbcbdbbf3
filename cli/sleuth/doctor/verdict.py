"""How checks speak: verdicts that get their id later, remedies, and the lines that fixes are made of."""

import shlex

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding
from sleuth_providers.records import Record

RESTART = "docker compose restart core"
RECREATE = "docker compose up -d"
LOG = "docker compose logs --tail 50 core"


class Remedy(Record):
    """Why something is so, and what to do about it."""

    cause: str
    fix: tuple[str, ...] = ()
    link: str = ""


def good(evidence: str = "", *, title: str = "", elapsed_ms: int = 0) -> Finding:
    """All is well."""
    return Finding("", "ok", title, evidence, elapsed_ms=elapsed_ms)


def poor(evidence: str, remedy: Remedy, *, title: str = "", elapsed_ms: int = 0) -> Finding:
    """It works, but not as it should."""
    return Finding("", "warn", title, evidence, *remedy, elapsed_ms)


def bad(evidence: str, remedy: Remedy, *, title: str = "", elapsed_ms: int = 0) -> Finding:
    """It does not work."""
    return Finding("", "fail", title, evidence, *remedy, elapsed_ms)


def unasked(reason: str) -> Finding:
    """There was no sense in looking."""
    return Finding("", "skipped", "", reason)


def in_settings(*lines: str) -> tuple[str, ...]:
    """Return lines to put into the server's settings, and how to make them count."""
    return (tr("# in settings.yml, in the folder mounted at /etc/searxng:"), *lines, tr("# then:"), RESTART)


def in_limiter(*lines: str) -> tuple[str, ...]:
    """Return lines to put into the limiter's own file, and how to make them count."""
    return (tr("# in limiter.toml, beside settings.yml:"), *lines, tr("# then:"), RESTART)


def in_compose(*lines: str) -> tuple[str, ...]:
    """Return lines to put into the compose file, and how to make them count."""
    return (tr("# in docker-compose.yml, at the service:"), *lines, tr("# then:"), RECREATE)


def shell(word: str) -> str:
    """Return a word that can be pasted into a shell, wherever it comes from."""
    return shlex.quote(word)
