"""Scores of passages, their scale, and how long three thousand take."""

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.relevance.bm25 import rank, standardise


def best(query: str, *texts: str) -> str:
    scores = rank(query, texts)
    return texts[scores.index(max(scores))]


def test_the_passage_with_the_rare_word_comes_first() -> None:
    assert best("python asyncio", "python is a language", "asyncio in python", "java threads") == "asyncio in python"


def test_a_short_passage_beats_a_long_one_that_says_the_same() -> None:
    assert best("lemon", "lemon " + "filler " * 50, "lemon tea") == "lemon tea"


def test_chinese_needs_no_spaces() -> None:
    assert (
        best("北京大学在哪里", "上海交通大学位于上海。", "北京大学位于海淀区。", "北方的京剧很大")
        == "北京大学位于海淀区。"
    )


def test_scores_are_those_of_the_formula() -> None:
    (score, other) = rank("lemon", ["lemon tea", "green tea"])
    rarity = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert score == pytest.approx(rarity * 1 * 2.2 / (1 + 1.2))
    assert other == 0


@pytest.mark.parametrize("query", ["", "?!", "absent"])
def test_nothing_in_common_is_nought(query: str) -> None:
    assert rank(query, ["some text", ""]) == [0, 0]
    assert rank(query, []) == []


def test_z_scores_have_mean_zero_and_unit_deviation() -> None:
    scores = standardise([1, 2, 3, 6])
    assert sum(scores) == pytest.approx(0)
    assert sum(score**2 for score in scores) / 4 == pytest.approx(1)


@pytest.mark.parametrize("scores", [[], [5.0], [0.1] * 7, [1 / 61] * 3])
def test_equal_scores_become_zeros(scores: list[float]) -> None:
    assert standardise(scores) == [0.0] * len(scores)


@given(st.lists(st.floats(0, 1e6), max_size=20))
def test_z_scores_keep_the_order(scores: list[float]) -> None:
    standard = standardise(scores)
    order = sorted(range(len(scores)), key=scores.__getitem__)
    assert all(standard[low] <= standard[high] for low, high in pairwise(order))


LATIN = ["".join(random.Random(number).choices("abcdefghijklmnopqrst", k=6)) for number in range(4000)]
HAN = [chr(0x4E00 + number) for number in range(800)]
