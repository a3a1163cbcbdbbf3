"""What a search tells of the engines behind SearXNG: who answered and how fast, who failed, why, and until when."""

import re
import time
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.doctor.server.session import Session
from sleuth_providers.json import as_dict, as_list, as_text
from sleuth_providers.records import Record

TIMING = re.compile(r"(?:^|[,\s])total_\d+_([^;,]{1,80});dur=([\d.]{1,12})")
SUSPENDED = "Suspended: "
# Seconds an engine is left alone after such an error, as SearXNG does by default; others are asked again at once.
SUSPENSIONS = {
    "CAPTCHA": 3600,
    "CAPTCHA required": 3600,
    "too many requests": 180,
    "access denied": 180,
    "blocked": 180,
}
MAX_SUSPENSION = 400 * 86400


class Failure(Record):
    """One engine that did not answer."""

    engine: str
    text: str
    suspended: bool  # for an earlier failure: this time it was not asked
    seconds: int  # for which it is left alone

    def describe(self, now: float) -> str:
        """Say who failed, how, and until when it will not be asked."""
        if self.seconds < 60:
            return f"{self.engine}: {self.text}"
        template = (
            "{engine}: {text}, suspended until {until} at the latest"
            if self.suspended
            else ("{engine}: {text}, suspended until {until}")
        )
        return tr(template, engine=self.engine, text=self.text, until=_moment(now + self.seconds, now))


class EngineReport(Record):
    """The engines of one search."""

    configured: int
    enabled: int
    asked: tuple[str, ...]  # those a search of the default category should ask
    answered: dict[str, float]  # milliseconds each
    failures: tuple[Failure, ...]
    unknown: tuple[str, ...]  # set in sleuth, not configured in SearXNG

    @property
    def silent(self) -> tuple[str, ...]:
        """Return the engines nothing was heard of: triggered by certain words only, or lost when the server started."""
        failed = {failure.engine for failure in self.failures}
        return tuple(name for name in self.asked if name not in self.answered and name not in failed)


def engine_report(visit: Session) -> EngineReport:
    """Read what the search and /config say of the engines."""
    engines = [as_dict(entry) for entry in as_list(visit.config.get("engines"))]
    names = [_name(entry.get("name")) for entry in engines]
    enabled = [entry for entry in engines if entry.get("enabled") is True]
    general = tuple(_name(entry.get("name")) for entry in enabled if "general" in as_list(entry.get("categories")))
    wanted = tuple(_name(name) for name in visit.account.engines)
    failures = _failures(visit)
    failed = {failure.engine for failure in failures}
    timings = _timings(visit, engines)
    return EngineReport(
        configured=len(engines),
        enabled=len(enabled),
        asked=tuple(name for name in wanted if name in names) or general,
        answered={name: milliseconds for name, milliseconds in timings.items() if name not in failed},
        failures=failures,
        unknown=tuple(name for name in wanted if names and name not in names),
    )


def _name(value: Any) -> str:
    return clean(as_text(value), 60)


def _timings(visit: Session, engines: list[dict[str, Any]]) -> dict[str, float]:
    """Return the milliseconds of each engine that answered; searx names them by their shortcuts."""
    shortcuts = {_name(entry.get("shortcut")): _name(entry.get("name")) for entry in engines}
    old = visit.software[0] == "searx"
    found = {
        _name(name): float(number)
        for name, number in TIMING.findall(visit.search.header("server-timing"))
        if _is_number(number)
    }
    return {shortcuts.get(name, name) if old else name: milliseconds for name, milliseconds in found.items()}


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _failures(visit: Session) -> tuple[Failure, ...]:
    pairs = [
        pair for pair in as_list(visit.answer.get("unresponsive_engines")) if isinstance(pair, list) and len(pair) > 1
    ]
    memory = visit.errors if pairs else {}
    found = []
    for name, words, *_ in pairs:
        text = clean(as_text(words), 120)
        plain = text.removeprefix(SUSPENDED)
        seconds = _suspension(memory.get(as_text(name))) or SUSPENSIONS.get(plain, 0)
        found.append(Failure(_name(name), plain, text != plain, seconds))
    return tuple(found)


def _suspension(errors: Any) -> int:
    """Return the suspension that /stats/errors mentions for an engine: reCAPTCHA and Cloudflare last much longer."""
    texts = [as_text(value) for error in as_list(errors) for value in as_list(as_dict(error).get("log_parameters"))]
    found = [int(number) for text in texts for number in re.findall(r"suspended_time=(\d{1,9})\b", text)]
    return min(max(found, default=0), MAX_SUSPENSION)


def _moment(then: float, now: float) -> str:
    return time.strftime("%H:%M" if then - now < 20 * 3600 else "%Y-%m-%d %H:%M", time.localtime(then))
