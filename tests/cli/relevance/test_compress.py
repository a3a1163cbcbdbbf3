"""Pages compressed: as they are, cut fairly, or the passages that answer; and budgets that are never exceeded."""

import random

import pytest

from sleuth.relevance import tokens
from sleuth.relevance.compress import GAP, Compressed, compress
from sleuth_providers.errors import DeadlineError, KeyInvalidError

TEA = "Tea is grown in hills. " * 20 + "The harvest begins in April. " + "Rain helps the leaves to grow. " * 20
COFFEE = "Coffee needs shade. " * 30 + "A tree bears fruit after four years. " + "Birds nest in it. " * 30
CHINESE = "茶树生长在山坡上。" * 20 + "采茶季从四月开始。" + "雨水让茶叶长得更好；" * 20
WORDS = (
    *("tea", "harvest", "april", "leaf", "the", "of", "and", "Zürich", "3.14", "arid", "rove", "naïve", "qzxv", "OK-2"),
    *("茶树", "四月", "采茶季。", "。", "！", "👩‍🌾", ".", "?", "\n\n", "\u3000\u3000"),
)


def whole(found: Compressed, pages: list[str]) -> bool:
    """Tell whether all offsets lead to what is in the content."""
    return all(
        page.content.count(text[kept.start : kept.end])
        for page, text in zip(found.pages, pages, strict=True)
        for kept in page.passages
    )


def test_none_leaves_pages_as_they_are() -> None:
    found = compress("tea", [TEA, "", COFFEE])
    assert [page.content for page in found.pages] == [TEA, "", COFFEE]
    assert (found.phase, found.size_after, found.left_out) == ("default", len(TEA + COFFEE), 0)


def test_cutoff_gives_each_page_a_fair_share() -> None:
    found = compress("", [TEA, COFFEE, CHINESE * 3], "cutoff", limit=900)
    assert found.phase == "cutoff"
    assert all(280 <= len(page.content) <= 320 for page in found.pages)
    assert all(page.content[-1] in ".。；" for page in found.pages)
    assert found.size_after <= 900
    assert found.left_out == sum(page.left_out for page in found.pages) > 0
    assert whole(found, [TEA, COFFEE, CHINESE * 3])


def test_cutoff_hands_on_what_short_pages_leave() -> None:
    found = compress("", ["Short.", TEA, ""], "cutoff", limit=600)
    assert found.pages[0].content == "Short."
    assert 560 <= len(found.pages[1].content) <= 594


def test_cutoff_keeps_offsets_of_pages_that_begin_blank() -> None:
    text = "\n\n  One two. Three four. Five six."
    found = compress("", [text], "cutoff", limit=22)
    assert found.pages[0].content == "One two. Three four."
    [passage] = found.pages[0].passages
    assert text[passage.start : passage.end] == "One two. Three four."


def test_cutoff_in_tokens_keeps_within_them() -> None:
    found = compress("", [TEA, COFFEE, CHINESE], "cutoff", limit=120, unit="token")
    assert sum(tokens.count(page.content) for page in found.pages) <= 120
    assert found.size_after <= 120
    assert found.unit == "token"


def test_rag_keeps_the_best_passages_of_each_page_in_reading_order() -> None:
    pages = [TEA, COFFEE, CHINESE]
    found = compress("When does the tea harvest begin? 采茶季从几月开始", pages, "rag", document_count=2)
    assert found.phase == "rag_complete"
    assert [len(page.passages) for page in found.pages] == [2, 2, 2]
    assert "begins in April" in found.pages[0].content
    assert "采茶季从四月开始" in found.pages[2].content
    assert all(page.passages == tuple(sorted(page.passages)) for page in found.pages)
    assert whole(found, pages)
    assert found.left_out == sum(page.left_out for page in found.pages) > 0


def test_passages_that_follow_each_other_are_joined_as_they_were() -> None:
    found = compress("tea", [TEA], "rag", document_count=100)
    assert found.pages[0].content == TEA.strip()
    assert found.left_out == 0


def test_what_is_left_out_between_passages_is_marked() -> None:
    page = "Tea first. " + "Nothing of note happens here. " * 30 + "Tea last."
    assert GAP in compress("tea", [page], "rag", document_count=2).pages[0].content


def test_a_budget_takes_the_best_passages_of_all_pages() -> None:
    found = compress("When does the tea harvest begin?", [COFFEE, TEA], "rag", limit=250)
    assert "begins in April" in found.pages[1].content
    assert found.pages[0].content == ""
    assert found.size_after <= 250


def test_a_budget_with_a_count_keeps_both() -> None:
    found = compress("tea", [TEA, COFFEE], "rag", limit=5000, document_count=1)
    assert [len(page.passages) for page in found.pages] == [1, 1]


def test_the_same_text_on_two_pages_is_paid_for_once() -> None:
    found = compress("tea harvest", [TEA, TEA, COFFEE], "rag", limit=600)
    assert not found.pages[1].content
    assert found.pages[0].content


def test_a_budget_too_small_for_a_passage_holds_its_beginning() -> None:
    found = compress("When does the tea harvest begin?", [COFFEE, TEA], "rag", limit=60)
    assert 0 < found.size_after <= 60
    assert whole(found, [COFFEE, TEA])


def test_tokens_alone_mean_the_best_passages() -> None:
    found = compress("When does the tea harvest begin?", [COFFEE, TEA], max_tokens=100)
    assert found.phase == "rag_complete"
    assert "begins in April" in found.pages[1].content


def random_page(chance: random.Random) -> str:
    blank = chance.choice([" ", " ", "", "\n"])
    return blank.join(chance.choices(WORDS, k=chance.choice([0, 1, 30, 300])))


def test_no_budget_is_ever_exceeded() -> None:
    chance = random.Random(11)
    for case in range(500):
        pages = [random_page(chance) for _ in range(chance.randint(0, 5))]
        limit = chance.choice([1, 2, 7, 30, 100, 400])
        method, unit = chance.choice(["rag", "rag", "cutoff"]), chance.choice(["token", "token", "char"])
        found = compress("tea harvest 茶树", pages, method, limit=limit, unit=unit)
        measure = tokens.count if unit == "token" else len
        assert sum(measure(page.content) for page in found.pages) <= limit, case
        assert found.size_after <= limit
        assert whole(found, pages), case


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (DeadlineError(), "the model server did not answer in time"),
        (KeyInvalidError("HTTP 401", status=401), "rejected the API key (HTTP 401)"),
        (RuntimeError("no such model"), "no such model"),
        (MemoryError(), "MemoryError"),
    ],
)
def test_a_model_that_fails_leaves_the_order_by_words_and_a_warning(problem: Exception, said: str) -> None:
    def fails(query: str, texts: object) -> list[float]:
        raise problem

    found = compress("tea", [TEA, COFFEE], "rag", limit=300, dense=fails)
    assert found.phase == "rag_complete"
    assert said in found.warnings[0]
    assert found.size_after <= 300
    assert "tea" in found.pages[0].content.lower()


def test_without_pages_nothing_is_compressed() -> None:
    for method in ("none", "cutoff", "rag"):
        assert compress("tea", [], method).pages == ()
        assert [page.content for page in compress("tea", ["", " "], method, limit=10).pages] in (["", ""], ["", " "])
