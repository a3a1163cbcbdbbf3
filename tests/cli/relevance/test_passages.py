"""Passages of whole sentences, their scores, and what other scorers add."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.relevance import sentences
from sleuth.relevance.passages import (
    PASSAGE_CHARS,
    SYLLABLE_PASSAGE_CHARS,
    Passage,
    best_first,
    latin_length,
    score,
    split,
)

TEA = "Tea is grown in hills. " * 20 + "The harvest begins in April. " + "Rain helps the leaves to grow. " * 20
COFFEE = "Coffee needs shade. " * 30 + "A tree bears fruit after four years. " + "Birds nest in it. " * 30


def best(query: str, *pages: str, **scorers: object) -> str:
    first = best_first(score(query, pages, **scorers))[0]  # type: ignore[arg-type]
    return pages[first.page][first.start : first.end]


def test_passages_are_whole_sentences_of_about_a_size() -> None:
    parts = [TEA[start:end] for start, end in split(TEA)]
    assert all(part[-1] == "." and len(part) < PASSAGE_CHARS + 10 for part in parts)
    assert sum(map(len, parts)) / len(parts) > 0.8 * PASSAGE_CHARS


def test_chinese_passages_are_shorter() -> None:
    parts = split("北京大学位于海淀区。" * 50)
    assert all(end - start <= SYLLABLE_PASSAGE_CHARS + 10 for start, end in parts)
    assert latin_length("北京") == 2 * PASSAGE_CHARS / SYLLABLE_PASSAGE_CHARS


def test_thai_passages_are_whole_phrases_as_long_as_latin_ones() -> None:
    phrase = "ชาปลูกบนเนินเขาทางภาคเหนือของประเทศ"
    passages = [" ".join([phrase] * 40)[slice(*span)] for span in split(" ".join([phrase] * 40))]
    assert all(set(passage.split(" ")) == {phrase} for passage in passages)
    assert max(map(len, passages)) > PASSAGE_CHARS // 2


def test_a_long_sentence_stays_whole_and_an_endless_one_is_cut() -> None:
    long = "Word " + "word " * 60 + "end."
    assert split(f"Short. {long} Short.") == [(0, 6), (7, 7 + len(long)), (8 + len(long), 14 + len(long))]
    endless = "alpha, beta gamma " * 100
    assert all(end - start <= PASSAGE_CHARS for start, end in split(endless))
    assert all(endless[end - 1] in ",am" for _, end in split(endless))


@pytest.mark.parametrize("mark", ["\u093e", "\U0001f3fb", "\u0301"])
def test_a_text_of_nothing_but_marks_takes_linear_time(mark: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    joins = sentences._joins
    monkeypatch.setattr(sentences, "_joins", lambda character: steps.append(character) or joins(character))
    assert split(mark * 10_000) == split("x" * 10_000)
    assert len(steps) < 10_000


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab .。\n中文,，", max_size=900))
def test_passages_cover_all_text_without_overlap(text: str) -> None:
    found = split(text)
    assert all(first[1] <= second[0] for first, second in pairwise(found))
    covered = {place for start, end in found for place in range(start, end)}
    assert not "".join(character for place, character in enumerate(text) if place not in covered).strip()


def test_the_passage_that_answers_comes_first() -> None:
    assert "begins in April" in best("When does the tea harvest begin?", COFFEE, TEA)
    assert "four years" in best("coffee tree fruit", TEA, COFFEE)


def test_a_passage_gains_from_its_page_and_its_neighbours() -> None:
    bananas = "Bananas are sweet. " * 15 + "The harvest begins in May. " + "Figs are soft. " * 30
    tea = "Leaves are dried in the sun. " * 15 + "The harvest begins in April. " + "Some drink tea at noon. " * 10
    assert "April" in best("harvest of tea", bananas, tea)


def test_nothing_in_common_puts_beginnings_first() -> None:
    order = best_first(score("", [TEA, COFFEE]))
    assert [(passage.page, passage.start) for passage in order[:2]] == [(0, 0), (1, 0)]


def test_nothing_to_cut_is_nothing_scored() -> None:
    assert score("query", []) == score("query", ["", " \n"]) == []
    assert score("query", ["", "one query"]) == [Passage(1, 0, 9, pytest.approx(1.0))]


def marks(word: str) -> object:
    return lambda query, texts: [float(word in text) for text in texts]


def test_a_dense_score_moves_what_words_have_found() -> None:
    pages = ["Cars need fuel. ", "Cars are red. ", "Cars are old. "]
    assert best("cars", *pages, dense=marks("old")) == "Cars are old."


def test_only_the_best_hundred_passages_are_embedded() -> None:
    asked: list[int] = []

    def dense(query: str, texts: Sequence[str]) -> list[float]:
        asked.append(len(texts))
        return [0.0 for _ in texts]

    pages = [f"{'tea ' * (1 + number % 3)} leaf number {number}." for number in range(150)]
    plain, mixed = score("tea", pages), score("tea", pages, dense=dense)
    assert asked == [100]
    order = [(passage.page, passage.start) for passage in best_first(plain)]
    assert {(passage.page, passage.start) for passage in best_first(mixed)[:100]} == set(order[:100])


def test_a_reranker_has_the_last_word() -> None:
    pages = ["Tea, tea, tea and tea. ", "A tea of mint. "]
    assert best("tea", *pages, rerank=marks("mint")) == "A tea of mint."


@pytest.mark.parametrize("wrong", [[], [1.0], [float("nan"), 1.0]])
def test_scores_that_do_not_fit_are_refused(wrong: list[float]) -> None:
    with pytest.raises(ValueError, match="scores"):
        score("tea", ["Tea one.", "Tea two."], dense=lambda query, texts: wrong)
