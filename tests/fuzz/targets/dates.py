"""Dates and ages as providers write them, and freshness windows. A case is a list of lines."""

from datetime import UTC, date, datetime, timedelta

from sleuth.relevance.dates import DAYS_AHEAD, FIRST_YEAR, freshness_window, normalise

NOW = datetime(2026, 2, 28, 12, 30, tzinfo=UTC)
WORDS = (
    "ago ¦ 前 ¦ vor  ¦ il y a  ¦ a few  ¦ couple of ¦ days ¦ months ¦ 年 ¦ 月 ¦ 日 ¦ jan ¦ .. ¦ - ¦ / ¦ 9999 ¦ "
    "0001 ¦ 30"
)
ROUNDS = 500


def check(data: bytes) -> None:
    """Read every line as a date and as a window."""
    for line in data.decode("utf-8", "replace").split("\n")[:20]:
        for now in (NOW, datetime(1970, 1, 1), datetime(2024, 2, 29, 23, 59)):
            said = normalise(line, now)
            latest = now.date() + timedelta(days=DAYS_AHEAD)
            assert not said or date(FIRST_YEAR, 1, 1) <= date.fromisoformat(said) <= latest
            assert normalise(said, now) == said or now != NOW, "a date means itself"
            try:
                kind, since, until = freshness_window(line, now.date())
            except ValueError:
                continue
            assert kind in ("day", "week", "month", "year", "range")
            assert all(not day or date.fromisoformat(day) for day in (since, until))
            assert not (since and until) or since <= until
