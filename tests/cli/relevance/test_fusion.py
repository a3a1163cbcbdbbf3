"""One list out of several: who votes, what is merged, what comes first, and why."""

import random
import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.base.text import clean
from sleuth.relevance.fusion import ProviderList, fuse, order_factor
from sleuth.relevance.hit import Hit
from sleuth.relevance.rules import Rules
from sleuth_providers.base import Details, Result

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
LONG = "A snippet that is long enough to tell one page from another, word by word, on any site."


def result(name: str, title: str = "", **fields: str) -> Result:
    url = name if "://" in name else f"https://{name}.example/page"
    return Result(title=title or f"Title {name}", url=url)._replace(**fields)  # type: ignore[arg-type]


def ranked(provider: str, *names: str | Result, weight: float = 1.0) -> ProviderList:
    return ProviderList(provider, weight, [result(name) if isinstance(name, str) else name for name in names])


def order(hits: list[Hit]) -> list[str]:
    return [hit.url.removeprefix("https://").removesuffix(".example/page") for hit in hits]


def test_one_provider_keeps_its_order() -> None:
    hits = fuse([ranked("one", "c", "a", "b")], now=NOW)
    assert order(hits) == ["c", "a", "b"]
    assert [hit.citation for hit in hits] == [1, 2, 3]


def test_a_page_of_two_providers_ranks_above_a_page_of_one() -> None:
    assert order(fuse([ranked("one", "a", "b"), ranked("two", "c", "b")], now=NOW)) == ["b", "a", "c"]


def test_a_score_is_the_sum_of_the_votes() -> None:
    (hit,) = fuse([ranked("one", "a", weight=2.0), ranked("two", "a")], now=NOW)
    assert [vote._asdict() for vote in hit.votes] == [
        {"provider": "one", "rank": 1, "weight": 2.0, "points": 2 / 61},
        {"provider": "two", "rank": 1, "weight": 1.0, "points": 1 / 61},
    ]
    assert hit.score == pytest.approx(3 / 61)
    assert hit.providers == ("one", "two")


def test_a_provider_with_more_weight_ranks_first() -> None:
    assert order(fuse([ranked("light", "a"), ranked("heavy", "b", weight=3.0)], now=NOW)) == ["b", "a"]


def test_a_page_listed_twice_is_one_vote_at_its_best_rank() -> None:
    hits = fuse([ranked("one", "a", "https://www.b.example/page?utm_source=x", "b")], now=NOW)
    assert [(vote.provider, vote.rank) for vote in hits[1].votes] == [("one", 2)]
    assert len(hits) == 2


def test_two_lists_of_one_provider_are_one_vote() -> None:
    (hit,) = fuse([ranked("one", "a"), ranked("one", "a")], now=NOW)
    assert len(hit.votes) == 1


def test_ties_go_by_best_rank_then_by_the_order_of_the_lists() -> None:
    assert order(fuse([ranked("one", "a", "b"), ranked("two", "c", "d")], now=NOW)) == ["a", "c", "b", "d"]
    assert order(fuse([ranked("one", "a", "b", weight=0), ranked("two", "c", weight=0)], now=NOW)) == ["a", "c", "b"]


def test_duplicates_keep_the_best_of_each() -> None:
    url = "https://a.example/page"
    one = result(url, "How to do it, expl…", snippet="short", engines=("bing",), published="2 days ago")  # type: ignore[arg-type]
    two = result(url, "How to do it", snippet="rather longer", engines=("bing", "google"), author="Ann")  # type: ignore[arg-type]
    three = result(url, "https://a.example/page/with/a/very/long/address", thumbnail="https://a.example/t.png")
    (hit,) = fuse([ranked("one", one), ranked("two", two), ranked("three", three)], now=NOW)
    assert (hit.title, hit.snippet, hit.published, hit.author) == ("How to do it", "rather longer", "2026-11-14", "Ann")
    assert (hit.engines, hit.thumbnail) == (("bing", "google"), "https://a.example/t.png")


def test_of_several_addresses_the_plain_one_is_shown() -> None:
    addresses = [
        "http://m.a.example/page?utm_source=x",
        "https://amp.a.example/page",
        "https://a.example/page?fbclid=1",
    ]
    (hit,) = fuse([ranked(address[:12], address) for address in addresses], now=NOW)
    assert hit.url == "https://a.example/page?fbclid=1"


def test_a_title_is_never_empty() -> None:
    (hit,) = fuse([ranked("one", Result(" \u200b", "https://www.a.example/page"))], now=NOW)
    assert (hit.title, hit.site_name) == ("a.example", "a.example")


def test_only_web_urls_are_kept() -> None:
    bad = [Result("x", url) for url in ("javascript:alert(1)", "", "ftp://a.example/", "http://", "words")]
    found = ranked("one", *bad, "a", result("file:///home/a.md"))
    assert order(fuse([found], now=NOW)) == ["a"]
    assert order(fuse([found._replace(files=True)], now=NOW)) == ["a", "file:///home/a.md"]


def test_text_is_safe_and_short() -> None:
    rude = Result("a\x1b[31m\u202eb" + "c" * 999, "https://a.example/\x1b", "s\x07" * 3000, engines=("e\x1b",))
    (hit,) = fuse([ranked("one", rude)], now=NOW)
    assert "\x1b" not in repr(hit)
    assert len(hit.title) <= 300
    assert len(hit.snippet) <= 2000


NEAR = [
    ("https://a.example/story/one", "https://www2.a.example/print/one", LONG, LONG, True),
    ("https://a.example/story/one", "https://a.example/other/one", LONG, LONG[:60], True),
    ("https://a.example/story/one", "https://a.example/other/one", LONG, LONG.replace("tell", "know"), True),
    ("https://a.example/story/one", "https://a.example/other/one", LONG, LONG.upper() + "!", True),
    ("https://a.example/story/one", "https://b.example/story/one", LONG, LONG, False),
    ("https://a.example/3.11/re.html", "https://a.example/3.12/re.html", LONG, LONG, False),
    ("https://a.example/?id=1", "https://a.example/?id=2", LONG, LONG, False),
    ("https://a.example/list?page=1", "https://a.example/list", LONG, LONG, False),
    ("https://a.example/story/one", "https://a.example/other/one", LONG, "Something else altogether, " * 4, False),
    ("https://a.example/story/one", "https://a.example/other/one", "short", "short", False),
    ("https://a.example/story/one", "https://a.example/other/one", "", "", False),
]


@pytest.mark.parametrize(("one", "two", "snippet", "other", "merged"), NEAR)
def test_the_same_text_on_one_site_is_one_result(one: str, two: str, snippet: str, other: str, merged: bool) -> None:
    first, second = result(one, "The Same: Title", snippet=snippet), result(two, "The same title", snippet=other)
    hits = fuse([ranked("one", first), ranked("two", second)], now=NOW)
    assert len(hits) == (1 if merged else 2)
    assert hits[0].url == one


def test_another_title_is_another_result() -> None:
    first = result("https://a.example/x", "One title", snippet=LONG)
    second = result("https://a.example/y", "Another title", snippet=LONG)
    assert len(fuse([ranked("one", first, second)], now=NOW)) == 2


def test_recent_pages_are_weighed_up() -> None:
    pages = [result("old", published="2016-01-01"), result("undated"), result("new", published="today")]
    hits = fuse([ranked("one", *pages)], now=NOW, recent=True)
    assert order(hits) == ["new", "undated", "old"]
    assert [hit.adjustments for hit in hits] == [
        ("recent ×1 (0 days old)",),
        ("recent ×0.75 (no date)",),
        ("recent ×0.5 (3972 days old)",),
    ]


def test_a_page_of_tomorrow_is_as_new_as_one_of_today() -> None:
    (hit,) = fuse([ranked("one", result("a", published="2026-11-17"))], now=NOW, recent=True)
    assert hit.adjustments == ("recent ×1 (0 days old)",)


def test_rules_hold_after_fusion() -> None:
    rules = Rules.parse("$boost=2,site=c.example\n$downrank=2,site=a.example\n$discard,site=b.example")
    hits = fuse([ranked("one", "a", "b", "c")], now=NOW, rules=rules)
    assert order(hits) == ["c", "a"]
    assert hits[0].adjustments == ("rule ×3 (line 1: $boost=2,site=c.example)",)
    assert hits[1].adjustments == ("rule ×0.3333 (line 2: $downrank=2,site=a.example)",)
    assert [hit.citation for hit in hits] == [1, 2]


def test_reranking_looks_at_the_words() -> None:
    pages = [result(name, "Growing trees") for name in "abdefg"]
    pages.insert(4, result("c", "Python asyncio guide"))
    hits = fuse([ranked("one", *pages)], now=NOW, rerank="python asyncio")
    assert order(hits) == ["a", "b", "c", "d", "e", "f", "g"]  # from the fifth place
    assert hits[2].adjustments == ("rerank = 0.2 × 2.4495 (words) + 0.8 × -0.6115 (rank)",)


def test_providers_named_first_count_more() -> None:
    assert [order_factor(name, ("a", "b", "c")) for name in "abcd"] == [1.0, 0.85, 0.7225, 1.0]
    assert order_factor("a", ("auto",)) == 1.0


def test_words_do_not_overturn_a_good_order() -> None:
    names = [f"Python asyncio guide, part {number}" for number in range(10)]
    hits = fuse([ranked("one", *map(result, "abcdefghij", names))], now=NOW, rerank="python asyncio guide")
    assert order(hits) == list("abcdefghij")


def test_every_score_can_be_worked_out_by_hand() -> None:
    rules = Rules.parse("$boost=3,site=b.example\n$downrank=6,site=c.example")
    lists = [
        ranked("one", result("a", published="3 weeks ago"), "b", "c", weight=1.3),
        ranked("two", "c", "a", result("d", published="2020-02-02")),
    ]
    for hit in fuse(lists, now=NOW, rules=rules, recent=True):
        score = sum(vote.weight / (60 + vote.rank) for vote in hit.votes)
        for factor in re.findall(r"×(\S+)", " ".join(hit.adjustments)):
            score *= float(factor)
        assert hit.score == pytest.approx(score, rel=1e-9)
    for hit in fuse(lists, now=NOW, rules=rules, recent=True, rerank="title c"):
        half, words, other, rank = re.findall(r"-?\d+(?:\.\d+)?", hit.adjustments[-1])
        assert hit.score == pytest.approx(float(half) * float(words) + float(other) * float(rank))


def test_nothing_found_is_nothing() -> None:
    assert fuse([], now=NOW) == []
    assert fuse([ranked("one")], now=NOW, rerank="words", recent=True, rules=Rules.parse("$discard")) == []


names = st.lists(st.sampled_from("abcdefgh"), max_size=8)
weights = st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.0])


@given(st.lists(st.tuples(names, weights), max_size=5), st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_order_of_the_lists(
    found: list[tuple[list[str], float]], chance: random.Random
) -> None:
    lists = [ranked(str(number), *urls, weight=weight) for number, (urls, weight) in enumerate(found)]
    shuffled = chance.sample(lists, len(lists))
    one, other = fuse(lists, now=NOW), fuse(shuffled, now=NOW)
    assert {hit.url: hit.score for hit in one} == {hit.url: hit.score for hit in other}
    assert [hit.score for hit in one] == sorted((hit.score for hit in one), reverse=True)


@given(st.lists(names, max_size=4))
def test_ties_are_always_broken_the_same_way(found: list[list[str]]) -> None:
    lists = [ranked(str(number), *urls) for number, urls in enumerate(found)]
    hits = fuse(lists, now=NOW)
    assert hits == fuse(lists, now=NOW)
    places = {hit.url: min((vote.rank, int(vote.provider)) for vote in hit.votes) for hit in hits}
    for better, worse in pairwise(hits):
        assert better.score > worse.score or places[better.url] < places[worse.url]


anything = st.text(max_size=40)
results = st.builds(
    Result, title=anything, url=st.one_of(anything, anything.map("https://a.example/{}".format)), snippet=anything,
    content=anything, published=anything, site=anything, thumbnail=anything, engines=st.tuples(anything),
    author=anything, length=anything, image=anything,
    details=st.builds(Details, authors=st.tuples(anything), doi=anything, venue=anything, pdf=anything),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(results, max_size=6), anything, st.booleans())
def test_results_are_sanitised(found: list[Result], query: str, recent: bool) -> None:
    for hit in fuse([ProviderList("one", 1.0, found)], now=NOW, recent=recent, rerank=query, rules=Rules.parse(query)):
        assert hit.url.startswith(("http://", "https://", "file:"))
        assert hit.title == clean(hit.title, entities=False)
        assert hit.snippet == clean(hit.snippet, entities=False)
        assert not hit.published or re.fullmatch(r"\d{4}-\d\d-\d\d", hit.published)
        assert hit.score == hit.score
        assert hit.details.venue == clean(hit.details.venue, entities=False)
        assert hit.details.pdf.startswith(("http://", "https://")) or not hit.details.pdf


@pytest.mark.cpu_limit(20)
def test_similar_pages_take_linear_time() -> None:
    chance = random.Random(1)
    texts = ["".join(chance.choices("abcdefghij ", k=2000)) for _ in range(200)]
    names = ["".join(chance.choices("abcdefghij", k=12)) for _ in texts]
    rivals = [Result("one title", f"https://a.example/{name}", text) for name, text in zip(names, texts, strict=True)]
    assert len(fuse([ProviderList("one", 1.0, rivals)], now=NOW)) == 200
