"""Where sentences end in Latin and CJK text, and where a text that is too long is cut."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.relevance.sentences import cut, sentences, word_end

SENTENCES = [
    ("One. Two! Three? Four", "One.|Two!|Three?|Four"),
    (
        "Dr. Smith met J. R. R. Tolkien in the U.S. in 1950. He wrote.",
        "Dr. Smith met J. R. R. Tolkien in the U.S. in 1950.|He wrote.",
    ),
    ("In the U.S. The law is old.", "In the U.S.|The law is old."),
    ("Pi is 3.14 today. Version 3.11.4 is out.", "Pi is 3.14 today.|Version 3.11.4 is out."),
    ("No. 5 won. See Fig. 3, e.g. this.", "No. 5 won.|See Fig. 3, e.g. this."),
    ("Is it no. Yes it is.", "Is it no.|Yes it is."),
    ("Yahoo! is old. Visit node.js.org now.", "Yahoo! is old.|Visit node.js.org now."),
    ('He said "go." Then (quickly.) He left.', 'He said "go."|Then (quickly.)|He left.'),
    ("Wait… Really?! Yes...", "Wait…|Really?!|Yes..."),
    ("So . OK . Fine .", "So .|OK .|Fine ."),
    ("他说：“你好。”然后走了。真的吗？是的；不是！好", "他说：“你好。”|然后走了。|真的吗？|是的；|不是！|好"),
    ("为什么呢?因为好.所以呢!用3.5版", "为什么呢?|因为好.|所以呢!|用3.5版"),
    ("「行くよ。」と言った。本当？", "「行くよ。」|と言った。|本当？"),
    ("硬盘怕摔 \u3000\u30001、盘片 \u3000\u30002、磁头", "硬盘怕摔|1、盘片|2、磁头"),
    ("यह है। वह है।", "यह है।|वह है।"),
    ("# Title\n\nText that is\nwrapped here. Next.", "# Title|Text that is\nwrapped here.|Next."),
    ("- one\n- two\n* three\n1. First thing\n2) second", "- one|- two|* three|1. First thing|2) second"),
    ("a line without end\nAnother line", "a line without end|Another line"),
    ("", ""),
    (" \n\t ", ""),
    ("...", "..."),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_text_falls_into_sentences(text: str, expected: str) -> None:
    assert [text[start:end] for start, end in sentences(text)] == [part for part in expected.split("|") if part]


def test_rows_of_a_table_are_units() -> None:
    text = "| a | b |\n|---|---|\n| 1 | 2 |"
    assert [text[start:end] for start, end in sentences(text)] == text.split("\n")


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab A.!?。；…\n\u3000 ”)中文1,#-", max_size=60))
def test_nothing_but_white_space_is_between_sentences(text: str) -> None:
    spans = sentences(text)
    edges = [0, *(edge for span in spans for edge in span), len(text)]
    assert edges == sorted(edges)
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    assert not "".join(text[end:start] for (_, end), (start, _) in pairwise([(0, 0), *spans, (len(text), 0)])).strip()


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("One two. Three four. Five", 21, "One two. Three four."),
        ("One two. Three four. Five", 100, "One two. Three four. Five"),
        ("A. Then a very long sentence follows it", 20, "A. Then a very long"),
        ("unbreakable" * 10, 15, "unbreakableunbr"),
        ("今天很好。明天下雨吗？我不知道", 8, "今天很好。"),
        ("今天很好明天下雨吗我不知道", 8, "今天很好明天下雨"),
        ("cafe\u0301 au lait", 4, "caf"),
        ("anything", 0, ""),
        ("anything", -1, ""),
        ("", 5, ""),
    ],
)
def test_a_text_is_cut_after_a_sentence_or_a_word(text: str, limit: int, expected: str) -> None:
    assert text[: cut(text, limit)] == expected


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=80), st.integers(0, 80))
def test_a_cut_keeps_within_its_limit(text: str, limit: int) -> None:
    assert 0 <= cut(text, limit) <= limit


def test_a_flag_of_an_accent_is_not_torn_off() -> None:
    assert word_end("xe\u0301", 2) == 1


def test_a_text_of_nothing_but_marks_is_cut_at_the_limit() -> None:
    assert word_end("\u093e" * 200, 100) == cut("\u093e" * 200, 100) == 100
    assert word_end("a" + "\u093e" * 200, 20) == 0


@pytest.mark.cpu_limit(10)
@pytest.mark.parametrize(
    "text", ["." * 100_000, "a. " * 50_000, "\n" * 100_000, "a\n" * 50_000, "。" * 50_000, " " * 100_000]
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    sentences(text)
