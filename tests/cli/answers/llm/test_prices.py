"""The estimated cost of calls, from list prices and from the settings."""

import calendar

import pytest

from sleuth.answers.llm.chat import Message, Prompt, Usage
from sleuth.answers.llm.prices import USD_PER_CNY, Price, estimate_usage, find_price

MILLIONS = Usage(1, 2_000_000, 1_000_000, cached_tokens=1_000_000)


def at(text: str) -> float:
    """Return the Unix time of a date and hour in UTC."""
    date, _, hour = text.partition(" ")
    return calendar.timegm((*map(int, date.split("-")), int(hour), 30, 0))


@pytest.mark.parametrize(
    ("model", "yuan"),
    [
        ("deepseek-flash", 1 + 0.02 + 4),
        ("deepseek-v4-flash", 1 + 0.02 + 4),
        ("deepseek-v4-pro", 4.5 + 0.15 + 13.5),
        ("some-other", 0),
    ],
)
def test_known_models_have_a_list_price(model: str, yuan: float) -> None:
    sunday = at("2026-11-15 3")
    assert find_price(model).cost(MILLIONS, sunday) == pytest.approx(yuan * USD_PER_CNY)


@pytest.mark.parametrize(
    ("moment", "times"),
    [
        ("2026-11-16 0", 1),  # Monday, half past eight in Beijing
        ("2026-11-16 1", 2),
        ("2026-11-16 3", 2),
        ("2026-11-16 4", 1),
        ("2026-11-16 6", 2),
        ("2026-11-16 9", 2),
        ("2026-11-16 10", 1),
        ("2026-11-15 3", 1),  # Sunday
        ("2026-11-20 9", 2),  # Friday
    ],
)
def test_price_doubles_at_peak_hours_in_beijing(moment: str, times: int) -> None:
    price = find_price("deepseek-flash")
    assert price.cost(MILLIONS, at(moment)) == pytest.approx(times * 5.02 * USD_PER_CNY)


def test_prices_in_the_settings_override_list_prices() -> None:
    assert find_price("deepseek-flash", 1.0, 2.0).cost(MILLIONS) == pytest.approx(4.0)
    assert find_price("m", 0.5).cost(MILLIONS) == pytest.approx(1.0)
    assert find_price("m", None, 3.0).cost(MILLIONS) == pytest.approx(3.0)


def test_cost_is_never_negative() -> None:
    assert Price(1.0, 0.0, 0.0).cost(Usage(1, 10, 0, 0, 99)) == 0


def test_usage_is_estimated_from_bytes() -> None:
    found = estimate_usage(Prompt((Message("user", "搜索" * 23),)), 46)
    assert found == Usage(1, 34, 10, estimated=True)
