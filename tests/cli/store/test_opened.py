"""Weights from opened results: few of them change little, and no file can break a search."""

from pathlib import Path

import pytest

from sleuth.relevance.hit import Hit
from sleuth.store import opened


def hit(*providers: str) -> Hit:
    return Hit(1, "", "https://a.org/", providers=providers)


def test_share_of_opened_results_becomes_a_factor(tmp_path: Path) -> None:
    assert opened.factors(str(tmp_path)) == {}
    opened.record(str(tmp_path), [hit("good")], [hit("good"), hit("bad")])
    once = opened.factors(str(tmp_path))
    for _ in range(100):
        opened.record(str(tmp_path), [hit("good")], [hit("good"), hit("bad")])
    often = opened.factors(str(tmp_path))
    assert 0.5 <= often["bad"] < once["bad"] < 1 < once["good"] < often["good"] <= 2
    opened.forget(str(tmp_path))
    assert opened.factors(str(tmp_path)) == {}


@pytest.mark.parametrize("content", ["", "[]", '{"a": 1}', '{"a": ["x", 2]}', '{"a": [0, 5]}', "[" * 100_000])
def test_broken_file_is_no_reason_to_fail(tmp_path: Path, content: str) -> None:
    (tmp_path / "opened.json").write_text(content)
    assert opened.factors(str(tmp_path)) == {}
