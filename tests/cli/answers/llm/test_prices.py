"""What replies cost, in dollars, by known prices and by prices that were set."""

import calendar

import pytest

from sleuth.answers.llm.chat import Message, Prompt, Usage
from sleuth.answers.llm.prices import YUAN, Price, estimate, find_price

DEEPSEEK = "https://api.deepseek.com"
MILLIONS = Usage(1, 2_000_000, 1_000_000, cached_tokens=1_000_000)


def at(text: str) -> float:
    """Return a moment that is written in UTC."""
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
def test_known_models_have_their_price(model: str, yuan: float) -> None:
    sunday = at("2026-11-15 3")
    assert find_price(DEEPSEEK, model).cost(MILLIONS, sunday) == pytest.approx(yuan * YUAN)


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
def test_price_doubles_when_beijing_works(moment: str, times: int) -> None:
    price = find_price(DEEPSEEK, "deepseek-flash")
    assert price.cost(MILLIONS, at(moment)) == pytest.approx(times * 5.02 * YUAN)


def test_machines_of_one_s_own_cost_nothing() -> None:
    assert find_price("http://localhost:11434", "deepseek-flash") == Price()
    assert find_price("http://10.0.0.7/v1", "deepseek-v4-pro").cost(MILLIONS) == 0


def test_prices_that_were_set_win() -> None:
    assert find_price(DEEPSEEK, "deepseek-flash", 1.0, 2.0).cost(MILLIONS) == pytest.approx(4.0)
    assert find_price("http://localhost:1", "m", 0.5).cost(MILLIONS) == pytest.approx(1.0)
    assert find_price(DEEPSEEK, "m", None, 3.0).cost(MILLIONS) == pytest.approx(3.0)


def test_more_cached_than_there_was_costs_no_less_than_nothing() -> None:
    assert Price(1.0, 0.0, 0.0).cost(Usage(1, 10, 0, 0, 99)) == 0


def test_estimate_goes_by_bytes() -> None:
    found = estimate(Prompt((Message("user", "搜索" * 23),)), 46)
    assert found == Usage(1, 34, 10, estimated=True)
