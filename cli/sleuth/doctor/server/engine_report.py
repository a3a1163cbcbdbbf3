"""What a search says about the engines behind SearXNG: which answered, which failed, and why."""

import re
import time
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.server.session import Session
from sleuth_providers.json import as_dict, as_list, as_text
from sleuth_providers.records import Record

TIMING = re.compile(r"(?:^|[,\s])total_\d+_([^;,]{1,80});dur=(\d{1,9}(?:\.\d{1,9})?)(?![\d.])")
SUSPENDED = "Suspended: "
# How long SearXNG suspends an engine after an error, by default, in seconds; after others it retries at once.
SUSPENSION_S = {
    "CAPTCHA": 3600,
    "CAPTCHA required": 3600,
    "too many requests": 180,
    "access denied": 180,
    "blocked": 180,
}
MAX_SUSPENSION_S = 400 * 86400


class EngineFailure(Record):
    """One engine that did not answer."""

    engine: str
    text: str
    suspended: bool  # because of an earlier failure: it was not queried this time
    seconds: int  # of suspension

    def describe(self, now: float) -> str:
        """Return the engine, its error, and the end of its suspension."""
        if self.seconds < 60:
            return f"{self.engine}: {self.text}"
        values = {"engine": self.engine, "text": self.text, "until": _format_time(now + self.seconds, now)}
        if self.suspended:
            return tr("{engine}: {text}, suspended until {until} at the latest", **values)
        return tr("{engine}: {text}, suspended until {until}", **values)


class EngineReport(Record):
    """The engines of one search."""

    configured: int
    enabled: int
    expected: tuple[str, ...]  # those a general search should query
    answered: dict[str, float]  # in milliseconds
    failures: tuple[EngineFailure, ...]
    unknown: tuple[str, ...]  # set in sleuth, not configured in SearXNG

    @property
    def silent(self) -> tuple[str, ...]:
        """Return engines that neither answered nor failed: only for certain queries, or not loaded at start-up."""
        failed = {failure.engine for failure in self.failures}
        return tuple(name for name in self.expected if name not in self.answered and name not in failed)


def engine_report(session: Session) -> EngineReport:
    """Read what the search and /config say about the engines."""
    engines = [as_dict(entry) for entry in as_list(session.config.get("engines"))]
    names = [_name(entry.get("name")) for entry in engines]
    enabled = [entry for entry in engines if entry.get("enabled") is True]
    general = tuple(_name(entry.get("name")) for entry in enabled if "general" in as_list(entry.get("categories")))
    wanted = tuple(_name(name) for name in session.account.engines)
    failures = _failures(session)
    failed = {failure.engine for failure in failures}
    return EngineReport(
        configured=len(engines),
        enabled=len(enabled),
        expected=tuple(name for name in wanted if name in names) or general,
        answered={name: ms for name, ms in _timings(session, engines).items() if name not in failed},
        failures=failures,
        unknown=tuple(name for name in wanted if names and name not in names),
    )


def _name(value: Any) -> str:
    return clean(as_text(value), 60)


def _timings(session: Session, engines: list[dict[str, Any]]) -> dict[str, float]:
    """Return the milliseconds of each engine that answered; searx names engines by shortcut."""
    found = {_name(name): float(ms) for name, ms in TIMING.findall(session.search.header("server-timing"))}
    if session.software[0] != "searx":
        return found
    shortcuts = {_name(entry.get("shortcut")): _name(entry.get("name")) for entry in engines}
    return {shortcuts.get(name, name): ms for name, ms in found.items()}


def _failures(session: Session) -> tuple[EngineFailure, ...]:
    pairs = [pair for pair in as_list(session.answer.get("unresponsive_engines")) if isinstance(pair, list)]
    found = []
    for name, error, *_ in (pair for pair in pairs if len(pair) > 1):
        text = clean(as_text(error), 120)
        plain = text.removeprefix(SUSPENDED)
        seconds = _recorded_suspension(session.engine_errors.get(as_text(name))) or SUSPENSION_S.get(plain, 0)
        found.append(EngineFailure(_name(name), plain, text != plain, seconds))
    return tuple(found)


def _recorded_suspension(errors: Any) -> int:
    """Return the suspension in /stats/errors, in seconds: reCAPTCHA and Cloudflare cause much longer ones."""
    texts = [as_text(value) for error in as_list(errors) for value in as_list(as_dict(error).get("log_parameters"))]
    found = [int(number) for text in texts for number in re.findall(r"suspended_time=(\d{1,9})\b", text)]
    return min(max(found, default=0), MAX_SUSPENSION_S)


def _format_time(then: float, now: float) -> str:
    return time.strftime("%H:%M" if then - now < 20 * 3600 else "%Y-%m-%d %H:%M", time.localtime(then))
