"""Whether claims are found in their sources: by quotation, by words, by numbers, in Latin and Chinese."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory import chinese_page, peak_bytes

from sleuth.answers import evidence
from sleuth.answers.citation_check import Support, as_json, attach, check, signs
from sleuth.answers.citations import CitedSource, find, link
from sleuth.answers.evidence import NOT_FOUND, QUOTED, STATES, SUPPORTED, UNCHECKED, WEAK

ENGLISH = (
    "Tokio is the most used runtime. It schedules many tasks on a few threads. Its timers have a precision of 1 "
    "millisecond. Releases come every month. The community has 1,200 people, and three companies pay for it.\n\n"
    "Version 1.40.2 came in August 2024. “It’s quick,” says the manual."
)
CHINESE = (
    "这是一个小型的异步运行时。它在少量线程上调度大量任务。它的定时器很精确。社区很大，文档也很完整。"
    "每个月都会发布新版本，共有三种模式。"
)
SOURCES = [
    CitedSource(1, "https://tokio.org/", "Tokio", ENGLISH),
    CitedSource(2, "https://xiao.cn/", "小", CHINESE),
    CitedSource(3, "https://empty.org/", "Empty"),
]

CLAIMS = {
    "Tokio is the most used runtime [1].": QUOTED,
    "**Tokio** is the most used runtime. [1]": QUOTED,
    "1. It schedules many tasks on a\n   few threads [1].": QUOTED,
    'The page says "schedules many tasks on a few threads" [1].': QUOTED,
    "它在少量线程上调度大量任务[2]。": QUOTED,
    "文中说“在少量线程上调度大量任务”【2】。": QUOTED,
    "Tokio runs many tasks on few threads [1].": SUPPORTED,
    "The community counts 1200 people [1].": SUPPORTED,
    "3 companies pay the community [1].": SUPPORTED,
    "Version 1.40 came in August [1].": SUPPORTED,
    "该运行时在少量的线程上调度任务[2]。": SUPPORTED,
    "它共有 3 种模式，每个月发布版本[2]。": SUPPORTED,
    "The community has 1,300 people [1].": WEAK,
    "Releases of version 1.40.2 came in August 2023 [1].": WEAK,
    'The page says "schedules few tasks on many threads" [1].': WEAK,
    "它共有 5 种模式，每个月发布版本[2]。": WEAK,
    "Bananas are a yellow fruit [1].": NOT_FOUND,
    "Tokio is the most used runtime [2].": NOT_FOUND,
    "香蕉是一种黄颜色水果[2]。": NOT_FOUND,
    "Bananas are a yellow fruit [3].": UNCHECKED,
    "[1]": UNCHECKED,
    "… [1]": UNCHECKED,
}


PAPER = [
    CitedSource(
        1,
        "https://arxiv.org/abs/2304.03442",
        "Generative Agents",
        'The paper "Generative Agents: Interactive Simulacra of Human Behavior" was written by Joon Sung Park and '
        "colleagues. It was published in 2023. The agents remember what they saw. 该论文由朴俊成等人撰写。",
    )
]


@pytest.mark.parametrize(
    ("text", "support"),
    {
        'Christopher Manning stole the money and wrote "Generative Agents: Interactive Simulacra of Human Behavior" '
        "in prison [1].": WEAK,
        'The paper "Generative Agents: Interactive Simulacra of Human Behavior" was written by Park [1].': QUOTED,
        "The paper was written by Joon Sung Park and his colleagues [1].": SUPPORTED,
        "The paper was not written by Joon Sung Park and colleagues [1].": WEAK,
        "The paper wasn’t written by Joon Sung Park and colleagues [1].": WEAK,
        "该论文不是由朴俊成等人撰写的[1]。": WEAK,
        "该论文由朴俊成等人撰写[1]。": QUOTED,
        "Joon Sung Park was written by the paper [1].": WEAK,
        "It was published in 1999 [1].": WEAK,
        "Bananas grow in Antarctica [1].": NOT_FOUND,
    }.items(),
)
def test_words_in_common_do_not_excuse_a_different_claim(text: str, support: str) -> None:
    assert [found.support for found in check(text, PAPER)] == [support]


@pytest.mark.parametrize(
    ("source", "claim", "support"),
    [
        ("In 1990 Smith founded Acme in Ohio.", "Acme was founded by Smith in 1990 [1].", SUPPORTED),
        ("In 1990 Smith founded Acme in Ohio.", "Acme founded Smith in 1990 [1].", WEAK),
        ("Acme, founded by Smith in 1990, sells anvils.", "Smith founded Acme in 1990 [1].", SUPPORTED),
        ("Spain defeated Italy in the final of 2012.", "Italy defeated Spain in the 2012 final [1].", WEAK),
        ("No rain fell in the valley for years.", "The valley had no rain for years [1].", SUPPORTED),
        ("这种药物非常有效，未来会推广。", "这种药物非常有效，未来将推广[1]。", SUPPORTED),
    ],
)
def test_doer_and_object_must_not_change_places(source: str, claim: str, support: str) -> None:
    assert check(claim, [CitedSource(1, "https://a.org/", "A", source)])[0].support == support


@pytest.mark.parametrize(("text", "support"), CLAIMS.items())
def test_claim_is_compared_with_its_source(text: str, support: str) -> None:
    (found,) = check(text, SOURCES)
    assert found.support == support
    assert (found.evidence is not None) == (support in (QUOTED, SUPPORTED, WEAK))


def test_evidence_has_offsets_in_the_source() -> None:
    (found,) = check("Its timers are precise to the millisecond [1].", SOURCES)
    assert found.evidence is not None
    assert ENGLISH[slice(*found.evidence)] == "Its timers have a precision of 1 millisecond."
    (quoted,) = check("Tokio is THE MOST used runtime [1]", SOURCES)
    assert quoted.evidence is not None
    assert ENGLISH[slice(*quoted.evidence)] == "Tokio is the most used runtime"


def spans(text: str) -> list[tuple[int, str]]:
    return [(one.citation, text[one.start : one.end]) for one in check(text, SOURCES)]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("First claim here [1]. Second claim here [2].", [(1, "First claim here [1]."), (2, "Second claim here [2].")]),
        ("First claim. [1] Second claim. [2]", [(1, "First claim."), (2, "Second claim.")]),
        ("第一句。[1]第二句[2]。", [(1, "第一句。"), (2, "第二句[2]。")]),
        ("Both of them [1][2].", [(1, "Both of them [1][2]."), (2, "Both of them [1][2].")]),
        ("[1] A title of a page\n[2] Another title", [(1, "A title of a page"), (2, "Another title")]),
        ("Text [9].", []),
        ("`[1]` is code.", []),
    ],
)
def test_citation_belongs_to_its_sentence_or_clause(text: str, claims: list[tuple[int, str]]) -> None:
    found = spans(text)
    assert [(number, bare(claim)) for number, claim in found] == [(number, bare(claim)) for number, claim in claims]


def bare(claim: str) -> str:
    return claim.partition("[")[0].rstrip(" .。")


def test_clause_is_judged_by_itself() -> None:
    text = "Tokio schedules tasks on few threads [1], whereas bananas are a yellow fruit of the tropics [1]."
    first, second = check(text, SOURCES)
    assert (first.support, second.support) == (SUPPORTED, NOT_FOUND)
    assert text[first.start : first.end] == "Tokio schedules tasks on few threads"


def test_whole_sentence_counts_if_the_claim_follows_the_citation() -> None:
    (found,) = check("According to those who wrote it [1], Tokio schedules many tasks on few threads.", SOURCES)
    assert found.support == SUPPORTED


def test_unsupported_citations_are_marked() -> None:
    text = "Bananas are a yellow fruit [1]. The community has 1,300 people [1]. Tokio is the most used runtime [1]."
    linked = link(text, SOURCES, "plain", signs(check(text, SOURCES))).text
    assert linked == text.replace("fruit [1]", "fruit [1??]").replace("people [1]", "people [1?]")


def test_json_quotes_the_evidence() -> None:
    (found,) = check("Tokio is the most used runtime [1].", SOURCES)
    assert as_json(found, SOURCES) == {
        "citation": 1,
        "mark": 31,
        "sentence": {"start": 0, "end": 30},
        "support": "quote_found",
        "score": 1.0,
        "evidence": {"start": 0, "end": 30, "text": "Tokio is the most used runtime"},
    }
    assert as_json(Support(3, 0, 0, 3, UNCHECKED), SOURCES)["evidence"] is None


def test_uncited_sentence_gets_a_citation() -> None:
    text = (
        "# Tokio schedules many tasks on few threads\n\n"
        "Tokio schedules many tasks on few threads. Bananas are a yellow fruit of the tropics. "
        "它的定时器很精确，社区很大。"
        "Does Tokio schedule many tasks on few threads? Tokio is the most used runtime [2].\n\n"
        "```\nTokio schedules many tasks on few threads.\n```\n"
    )
    found = attach(text, SOURCES)
    assert found == text.replace("few threads. ", "few threads [1+]. ").replace("社区很大。", "社区很大[2+]。")
    assert attach(found, SOURCES) == found
    assert "[[1+]](https://tokio.org/)" in link(found, SOURCES).text


def test_no_citation_is_checked_in_or_attached_to_a_formula() -> None:
    text = "$$\n\\text{Tokio schedules many tasks on few threads.}^{[1]}\n$$\n"
    assert attach(text, SOURCES) == text
    assert check(text, SOURCES) == []


def test_attached_citation_follows_a_closing_quote() -> None:
    text = "“It schedules many tasks on a few threads.”"
    assert attach(text, SOURCES) == f"{text} [1+]"


def test_attached_citation_stays_in_its_table_cell() -> None:
    text = "| Name | About |\n|---|---|\n| Tokio | It schedules many tasks on a few threads |\n"
    assert attach(text, SOURCES) == text.replace("threads", "threads [1+]")
    text = "It schedules many tasks on a few threads, written as |n|"
    assert attach(text, SOURCES) == f"{text} [1+]"


def test_best_source_is_attached() -> None:
    better = CitedSource(4, "https://x.org/", "", "Tokio schedules many tasks, as good runtimes always do.")
    text = "Tokio schedules many tasks, as good runtimes do."
    assert attach(text, [*SOURCES, better]) == "Tokio schedules many tasks, as good runtimes do [4+]."


@settings(deadline=None, max_examples=150)
@given(
    st.lists(
        st.sampled_from(["[1]", "[2]", "[1, 2]", "Tokio ", "任务", ". ", "。", "\n", '"', "1,2 ", "`", "5"]),
        max_size=25,
    ),
    st.text(max_size=40),
)
def test_any_text_can_be_checked(pieces: list[str], source: str) -> None:
    text, sources = "".join(pieces), [CitedSource(1, "", "", source), CitedSource(2, "", "", ENGLISH + source)]
    for one in check(text, sources):
        assert one.support in STATES
        assert 0 <= one.score <= 1.001
        assert 0 <= one.start <= one.end <= len(text)
    attached = attach(text, sources)
    assert len(find(attached)) >= len(find(text))


@pytest.mark.parametrize(("number", "length"), [(20_000, 3), (3_000, 25), (1, 80_000)])
def test_a_long_page_takes_little_memory(number: int, length: int) -> None:
    """Of its sentences only the terms of the claims are kept; all terms of three such pages take 40 MB and more."""
    page = chinese_page(number, length)
    sources = [CitedSource(number, f"https://a{number}.cn/", "", page) for number in (1, 2, 3)]
    claim = f"这里说：{page[:20]}，而不是别的什么"
    assert peak_bytes(lambda: check(f"{claim}[1]。{claim}[2]。{claim}[3]。", sources)) < 4_000_000
    assert peak_bytes(lambda: attach(f"{claim}。", sources)) < 4_000_000


def test_a_page_of_one_endless_sentence_is_checked_once() -> None:
    """Whether subject and object are swapped is not asked: each verb would take a pass over the page."""
    page = "the robot walked home and painted the house " * 20_000
    claim = "The robot walked to its home and also painted its house [1]."
    assert [found.support for found in check(claim, [CitedSource(1, "https://a.org/", "", page)])] == [SUPPORTED]


def calls(work: Callable[[], object]) -> int:
    """Return how many functions are called."""
    total = 0

    def count(*_: object) -> None:
        nonlocal total
        total += 1

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return total


def test_a_page_of_many_sentences_is_not_walked_for_each_claim() -> None:
    sources = [CitedSource(1, "https://a.org/", "", "Item. " * 2_000)]
    claims = [f"Item {number} is one of many in a long list [1]. " for number in range(40)]
    assert calls(lambda: check("".join(claims), sources)) < 2 * calls(lambda: check(claims[0], sources))


def test_only_so_many_different_runs_of_sentences_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "MAX_RUNS", 8)
    page = f"{ENGLISH} {' '.join(f'Word{first} word{second}.' for first in range(20) for second in range(20))}"
    claims = "".join(f"Word{number} is here [1]. " for number in range(20))
    found = evidence._Evidence(page, [claims, *CLAIMS], evidence.ENGLISH)
    assert len(found._runs) == 8
    assert found.judge("The runtime Tokio is used").support == SUPPORTED
