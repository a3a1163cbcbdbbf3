"""What providers call a date, as ISO 8601; and the windows of time a search is limited to."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.relevance.dates import freshness_window, from_url, normalise

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)

WRITTEN = [
    ("2026-11-03", "2026-11-03"),
    ("2026-11-03T23:59:59", "2026-11-03"),
    ("2026-11-03T23:59:59Z", "2026-11-03"),
    ("2026-11-03T23:59:59.123+08:00", "2026-11-03"),
    ("2026-11-03 10:00:00", "2026-11-03"),
    ("2026-1-3", "2026-01-03"),
    ("20261103", "2026-11-03"),
    ("20261103T101500Z", "2026-11-03"),
    ("20261103101500", "2026-11-03"),
    ("Tue, 03 Nov 2026 10:00:00 GMT", "2026-11-03"),
    ("Tue, 3 Nov 2026 10:00:00 +0800", "2026-11-03"),
    ("Tuesday, 03-Nov-26 2026/11/03", "2026-11-03"),
    ("Tue Nov  3 10:00:00 2026", "2026-11-03"),
    ("1793700000", "2026-11-03"),
    ("1793700000000", "2026-11-03"),
    ("1793700000.25", "2026-11-03"),
    ("Nov 3, 2026", "2026-11-03"),
    ("Nov. 3, 2026", "2026-11-03"),
    ("November 3rd, 2026", "2026-11-03"),
    ("3 Nov 2026", "2026-11-03"),
    ("3rd of November 2026", "2026-11-03"),
    ("03-Nov-2026", "2026-11-03"),
    ("2026 Nov 3", "2026-11-03"),
    ("Sept 3, 2026 at 5:00 PM", "2026-09-03"),
    ("Published: May 3, 2026 · 5 min read", "2026-05-03"),
    ("11/3/2026", "2026-11-03"),
    ("13/11/2026", "2026-11-13"),
    ("3.11.2026", "2026-11-03"),
    ("03-11-2026", "2026-11-03"),
    ("2026/11/03", "2026-11-03"),
    ("2026.11.3", "2026-11-03"),
    ("2026年11月3日", "2026-11-03"),
    ("2026 年 11 月 3 日 10:00", "2026-11-03"),
    ("２０２６年１１月３日", "2026-11-03"),
    ("11月3日", "2026-11-03"),
    ("12月3日", "2025-12-03"),
    ("Nov 3", "2026-11-03"),
    ("Dec 24", "2025-12-24"),
    ("3. November 2026", "2026-11-03"),
    ("3. März 2026", "2026-03-03"),
    ("1er août 2026", "2026-08-01"),
    ("3 févr. 2026", "2026-02-03"),
    ("3 de noviembre de 2026", "2026-11-03"),
    ("3 ago 2026", "2026-08-03"),
    ("2026-11-17", "2026-11-17"),
]

AGES = [
    ("3 days ago", "2026-11-13"),
    ("1 day ago", "2026-11-15"),
    ("1 hour ago", "2026-11-16"),
    ("an hour ago", "2026-11-16"),
    ("13 hours ago", "2026-11-15"),
    ("2h", "2026-11-16"),
    ("14h", "2026-11-15"),
    ("3d", "2026-11-13"),
    ("3d ago", "2026-11-13"),
    ("2w", "2026-11-02"),
    ("5 min ago", "2026-11-16"),
    ("30 seconds ago", "2026-11-16"),
    ("2 weeks ago", "2026-11-02"),
    ("3 mo ago", "2026-08-16"),
    ("3 months ago", "2026-08-16"),
    ("a year ago", "2025-11-16"),
    ("10 years ago", "2016-11-16"),
    ("about 2 weeks ago", "2026-11-02"),
    ("a few days ago", "2026-11-13"),
    ("a couple of days ago", "2026-11-14"),
    ("2 days ago · Someone", "2026-11-14"),
    ("Updated 3 days ago", "2026-11-13"),
    ("发布于3天前", "2026-11-13"),
    ("3 hours, 5 minutes ago", "2026-11-16"),
    ("yesterday", "2026-11-15"),
    ("Yesterday at 5 PM", "2026-11-15"),
    ("today", "2026-11-16"),
    ("just now", "2026-11-16"),
    ("last week", "2026-11-09"),
    ("last month", "2026-10-16"),
    ("last year", "2025-11-16"),
    ("3天前", "2026-11-13"),
    ("三天前", "2026-11-13"),
    ("昨天", "2026-11-15"),
    ("昨天 12:30", "2026-11-15"),
    ("前天", "2026-11-14"),
    ("今天08:00", "2026-11-16"),
    ("刚刚", "2026-11-16"),
    ("2小时前", "2026-11-16"),
    ("2个小时前", "2026-11-16"),
    ("2小時前", "2026-11-16"),
    ("30分钟前", "2026-11-16"),
    ("上周", "2026-11-09"),
    ("上周五", "2026-11-09"),
    ("2周前", "2026-11-02"),
    ("两个星期前", "2026-11-02"),
    ("3个月前", "2026-08-16"),
    ("半年前", "2026-05-16"),
    ("半小时前", "2026-11-16"),
    ("上个月", "2026-10-16"),
    ("去年", "2025-11-16"),
    ("1年前", "2025-11-16"),
    ("vor 3 Tagen", "2026-11-13"),
    ("vor einem Monat", "2026-10-16"),
    ("vor 2 Stunden", "2026-11-16"),
    ("gestern", "2026-11-15"),
    ("il y a 3 jours", "2026-11-13"),
    ("il y a une semaine", "2026-11-09"),
    ("hier", "2026-11-15"),
    ("hace 3 días", "2026-11-13"),
    ("hace un año", "2025-11-16"),
    ("3 giorni fa", "2026-11-13"),
    ("3日前", "2026-11-13"),
    ("3時間前", "2026-11-16"),
    ("3週間前", "2026-10-26"),
    ("3か月前", "2026-08-16"),
]

NONSENSE = [
    *("", " ", "soon", "n/a", "null", "-", "0", "2026", "2026-11", "Nov 2026", "12345", "99999999999999999999"),
    *("0000-00-00", "1970-01-01T00:00:00Z", "1989-12-31", "9999-12-31", "2026-02-30", "2026-13-01", "31 Nov 2026"),
    *("2026-11-18", "2027-05-01", "2000000000"),
    *("5 min read", "3 apples", "9999 years ago", "2月30日", "3日", "hierarchy", "marketing 3, 2026", "ago"),
    *("10:30", "1.2.3", "version 3.11.4", "\ud800", "三", "12 monkeys", "just for you", "about 3 apples"),
]


@pytest.mark.parametrize(("text", "expected"), WRITTEN + AGES)
def test_a_date_becomes_iso(text: str, expected: str) -> None:
    assert normalise(text, NOW) == expected


@pytest.mark.parametrize("text", NONSENSE)
def test_text_without_a_date_gives_nothing(text: str) -> None:
    assert normalise(text, NOW) == ""


def test_months_end_where_the_shorter_one_does() -> None:
    assert normalise("1 month ago", datetime(2026, 3, 31)) == "2026-02-28"
    assert normalise("2月29日", datetime(2025, 1, 1)) == "2024-02-29"


def test_ages_are_counted_in_the_zone_of_now() -> None:
    morning = datetime(2026, 11, 16, 1, 0, tzinfo=timezone(timedelta(hours=8)))
    assert normalise("2 hours ago", morning) == "2026-11-15"


@given(st.text(max_size=60))
def test_any_text_is_a_good_date_or_nothing(text: str) -> None:
    found = normalise(text, NOW)
    assert not found or date.fromisoformat(found).year >= 1990
    assert normalise(found, NOW) == found


FORMS = ["%Y-%m-%d", "%Y/%m/%d", "%d %b %Y", "%B %d, %Y", "%m/%d/%Y", "%d.%m.%Y", "%Y年%m月%d日"]


@given(st.dates(date(1990, 1, 1), NOW.date()), st.sampled_from(FORMS))
def test_every_day_is_read_in_every_form(day: date, form: str) -> None:
    assert normalise(day.strftime(form), NOW) == day.isoformat()


TODAY = date(2026, 3, 31)


@pytest.mark.parametrize(
    ("value", "window"),
    [
        ("day", ("day", "2026-03-30", "")),
        ("Week ", ("week", "2026-03-24", "")),
        ("month", ("month", "2026-02-28", "")),
        ("year", ("year", "2025-03-31", "")),
        ("2026-01-01..2026-02-01", ("range", "2026-01-01", "2026-02-01")),
        ("2026-01-01..2026-01-01", ("range", "2026-01-01", "2026-01-01")),
        ("2026-01-01..", ("range", "2026-01-01", "")),
        ("..2026-02-01", ("range", "", "2026-02-01")),
    ],
)
def test_a_window_of_time(value: str, window: tuple[str, str, str]) -> None:
    assert freshness_window(value, TODAY) == window


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("", "is not day, week, month, year or a range"),
        ("decade", "is not day, week, month, year or a range"),
        ("2026-01-01", "is not day, week, month, year or a range"),
        ("..", "is not day, week, month, year or a range"),
        ("2026-1-1..2026-02-01", "'2026-1-1' is not a date"),
        ("2026-02-30..", "'2026-02-30' is not a date"),
        ("a..b", "'a' is not a date"),
        ("2026-02-01..2026-01-01", "ends before it starts"),
    ],
)
def test_invalid_window_gives_a_reason(value: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        freshness_window(value, TODAY)


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://a.org/2025/03/04/title/", "2025-03-04"),
        ("https://a.org/news/2025-03-04-title", "2025-03-04"),
        ("https://a.org/20250304/title.html", "2025-03-04"),
        ("https://a.org/2025/13/04/", ""),
        ("https://a.org/2025/03/", ""),
        ("https://a.org/p/1234567890", ""),
        ("https://a.org/2999/01/01/", ""),
    ],
)
def test_a_url_can_have_a_date(url: str, day: str) -> None:
    assert from_url(url, NOW) == day
