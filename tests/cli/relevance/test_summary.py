"""Summaries made of the pages' own sentences: word for word, not too long, and what several pages agree on."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory import chinese_page, peak_bytes

from sleuth.relevance.summary import LENGTHS, Summary, SummarySentence, summarise

BRIDGE = """# Harbour bridge reopens

The old harbour bridge reopened on Monday after two years of repairs. Engineers replaced 4,000 rivets and repainted \
the steel of the bridge. The city paid 12 million euros for the repairs of the bridge. Mayor Anna Berg cut the ribbon.

"It is good to have the bridge back," said a baker. Buses will cross it from Tuesday. Cyclists get a lane of their own.
The repairs had been delayed twice because of high water in the harbour. Ferries ran while the bridge was closed."""
STEEPING = [
    "How long should green tea steep? A question many ask. Steep it for two to three minutes in water of 80 degrees. "
    "Our shop sells many cups.",
    "How long to steep green tea? Two to three minutes in water of 80 degrees, no longer. Pay by card.",
    "Welcome to the forum. Boiling makes it bitter, so use water of 80 degrees and wait two to three minutes.",
]
DISKS = [
    "移动硬盘摔了怎么办？移动硬盘摔了读不出来，一般是磁头损坏，需要找专业的数据恢复公司。不要反复通电。",
    "论坛首页 > 硬件\n移动硬盘摔了怎么办？楼主你好。多半是磁头损坏，建议找专业的数据恢复公司处理，不要反复通电。",
    "今天天气很好。我们去公园散步。",
]


def verbatim(found: Summary, pages: list[str]) -> bool:
    parts = [part for group in (*found.per_page, found.overall) for part in group]
    return all(pages[part.page][part.start : part.end] == part.text != "" for part in parts)


def size(part: tuple[SummarySentence, ...]) -> int:
    return sum(len(sentence.text) for sentence in part)


def text(part: tuple[SummarySentence, ...]) -> str:
    return " ".join(sentence.text for sentence in part)


def test_one_page_with_a_question_is_answered_from_around_its_words() -> None:
    found = summarise([BRIDGE], "how much did the city pay?", "short")
    assert "12 million euros" in text(found.overall)
    assert found.overall == found.per_page[0]
    assert verbatim(found, [BRIDGE])


def test_one_page_without_a_question_is_summed_up_from_its_beginning_and_its_middle() -> None:
    found = summarise([BRIDGE])
    assert found.overall[0].text.startswith("The old harbour bridge reopened")
    assert [part.start for part in found.overall] == sorted(part.start for part in found.overall)
    assert "#" not in text(found.overall)


def test_code_is_not_quoted_unless_there_is_nothing_else() -> None:
    code = "import asyncio\nasync def main():\n    await asyncio.sleep(1)\nuse tokio::Builder;\nrun(main())"
    prose = "A runtime starts like this: The sleep of the runtime is then awaited."
    assert text(summarise([f"{prose}\n\n{code}"], "asyncio sleep").overall) == prose
    assert summarise([code], "asyncio sleep").overall


def test_several_pages_are_answered_by_what_they_agree_on() -> None:
    found = summarise(STEEPING, "how long should green tea steep", 130)
    assert "two to three minutes in water of 80 degrees" in text(found.overall).lower()
    assert len(found.per_page) == 3
    assert verbatim(found, STEEPING)


def test_chinese_pages_are_answered_by_what_they_agree_on() -> None:
    found = summarise(DISKS, "移动硬盘摔了怎么办", 60)
    assert "磁头损坏" in text(found.overall)
    assert "数据恢复公司" in text(found.overall)
    assert verbatim(found, DISKS)
    assert size(found.overall) <= 60


def test_how_to_questions_are_answered_by_what_pages_agree_on_not_by_the_page_that_repeats_them() -> None:
    pages = [
        "Scrub a cast iron pan with coarse salt, rinse it with hot water and dry it on the stove. Then oil it.",
        "A pan of cast iron: use coarse salt and hot water, dry it on the stove at once, and rub in some oil.",
        "Cleaning a cast iron pan in the kitchen of a small flat. Readers often write to us about pans and kitchens.",
    ]
    assert "coarse salt" in text(summarise(pages, "how do I clean a cast iron pan", 110).overall)


def test_a_chinese_page_is_answered_from_around_its_words() -> None:
    page = (
        "茶树生长在山坡上，需要很多雨水。" * 5 + "采茶季从四月开始，到十月结束。" + "城里的人喜欢喝咖啡，也吃蛋糕。" * 5
    )
    assert "四月" in text(summarise([page], "采茶季什么时候开始", 40).overall)


def test_a_further_page_is_added_when_it_says_something_new() -> None:
    pages = [
        "The tower is 300 metres tall. It stands in the west of the town. It was built of iron by Eiffel.",
        "The tower of iron stands in the west of the town. Its lifts carry six million visitors every single year.",
        "The tower is 300 metres tall. It stands in the west of the town. It was built of iron by Eiffel.",
    ]
    found = summarise(pages, "tower", 900)
    used = {part.page for part in found.overall}
    assert 1 in used
    assert len(used) == 2  # a copy adds nothing
    assert verbatim(found, pages)


def test_without_a_question_several_pages_have_their_say() -> None:
    found = summarise([BRIDGE, STEEPING[0] * 3, DISKS[0]], length="medium")
    assert len({part.page for part in found.overall}) >= 2
    assert verbatim(found, [BRIDGE, STEEPING[0] * 3, DISKS[0]])


def test_a_long_page_without_a_question_is_summed_up_from_all_of_it() -> None:
    gossip = [f"Guest number {number} told a story {number * 7} of house {number * 13}." for number in range(1300)]
    late = "The harbour bridge and the repairs of the harbour bridge cost the city twelve million euros in three years."
    page = " ".join([*gossip[:900], *[late, "The harbour bridge is long."] * 40, *gossip[900:]])
    assert late in text(summarise([page], length="long").overall)


@pytest.mark.parametrize(("number", "length"), [(4000, "medium"), (250, 100_000)])
def test_a_page_of_many_short_sentences_takes_little_memory_without_a_question(number: int, length: str | int) -> None:
    page = "".join(f"{chr(0x4E00 + at)}{chr(0x5E00 + at)}。" for at in range(number))
    assert verbatim(summarise([page, BRIDGE], length=length), [page, BRIDGE])
    assert peak_bytes(lambda: summarise([page, BRIDGE], length=length)) < 30_000_000


@pytest.mark.parametrize(
    ("query", "number", "length", "most"),
    [("", 20_000, 3, 6_000_000), ("一丁七万丈三上下不与", 20_000, 3, 6_000_000), ("", 3_000, 25, 10_000_000)],
)
def test_the_sentences_of_a_long_page_take_little_memory(query: str, number: int, length: int, most: int) -> None:
    page = chinese_page(number, length)
    assert peak_bytes(lambda: summarise([page], query)) < most


def test_repeated_sentences_are_left_out() -> None:
    page = "The bridge is open again for all cars and buses today. " * 10 + "The ferry stops running at the end of May."
    found = summarise([page], "bridge", 300)
    assert [part.text for part in found.overall].count("The bridge is open again for all cars and buses today.") == 1


def test_a_sentence_over_the_limit_is_cut_at_a_word() -> None:
    page = "the bridge " * 60
    found = summarise([page], "bridge", 50)
    assert 30 < size(found.overall) <= 50
    assert found.overall[0].text.endswith(("the", "bridge"))


@pytest.mark.parametrize("length", LENGTHS)
def test_named_lengths_are_kept(length: str) -> None:
    pages = [BRIDGE * 5, " ".join(STEEPING) * 5]
    for query in ("", "bridge tea"):
        found = summarise(pages, query, length)
        assert all(0 < size(part) <= LENGTHS[length] for part in (*found.per_page, found.overall))


def test_chinese_takes_fewer_characters() -> None:
    assert size(summarise(["移动硬盘里面是一只普通的硬盘，最怕摔坏。" * 3 + DISKS[0] * 9], "", "medium").overall) <= 200


@pytest.mark.parametrize("pages", [[], [""], ["", " \n"], ["…", "---"]])
def test_nothing_to_say_is_an_empty_summary(pages: list[str]) -> None:
    assert summarise(pages, "query") == Summary(tuple(() for _ in pages), ())


def test_a_page_without_text_leaves_the_others() -> None:
    found = summarise(["", BRIDGE, ""], "bridge")
    assert found.overall
    assert {part.page for part in found.overall} == {1}


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.text(alphabet="ab tea. 茶树。？\n#-!A", max_size=300), max_size=4),
    st.sampled_from(["", "tea", "茶树", "?"]),
    st.integers(0, 200),
)
def test_every_sentence_is_word_for_word_and_none_is_too_long(pages: list[str], query: str, length: int) -> None:
    found = summarise(pages, query, length)
    assert verbatim(found, pages)
    assert all(size(part) <= length for part in (*found.per_page, found.overall))
