"""Tokens counted, estimated and bounded, with the tokenizer and without."""

import base64
import random
import string
import sys
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.relevance import tokens

TEXTS = {
    "English": "The council approved the new harbour bridge on Tuesday, after two years of debate about its cost. " * 3,
    "German": "Alle Menschen sind frei und gleich an Würde und Rechten geboren, begabt mit Vernunft und Gewissen. " * 3,
    "Finnish": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan, veljeyden hengessä. " * 3,
    "Polish": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw, obdarzeni rozumem. " * 3,
    "Zulu": "Bonke abantu bazalwa bekhululekile belingana ngesithunzi nangamalungelo futhi kufanele baphathane. " * 3,
    "names": "Caenorhabditis elegans, Ornithorhynchus anatinus, Szczebrzeszyn, Thiruvananthapuram, Reykjavik.",
    "chemistry": "dichlorodiphenyltrichloroethane methylenedioxymethamphetamine polytetrafluoroethylene",
    "Russian": "Все люди рождаются свободными и равными в своем достоинстве и правах.",
    "Chinese": "国务院今日召开常务会议，研究部署下一阶段的经济工作，并决定继续扩大对外开放。",
    "Traditional": "漢諾瓦全能運動隊是德國頂尖的龍舟隊，訓練地為馬斯湖。",
    "rare Han": "龘靐齉爩麤龗灪吁",
    "Japanese": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "Korean": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "Thai": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "emoji": "👩‍👩‍👧‍👦 🎉🎉 🏳️‍🌈 ok",
    "code": "def f(self, x): return [i**2 for i in range(x)] if x > 0 else None  # noqa\n\tself.__dict__['_x'] += 1\n",
    "address": "https://www.example.com/a/b?utm_source=x&id=98a7sd98f7&q=%E4%BD%A0%E5%A5%BD#frag",
    "capitals": "NASA AND ESA SAY QXZJ KVWQ TO THE URXJ",
    "blanks": "a   b\n\n\n\tc\r\n\r\n  " + " " * 300 + "d",
}


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take the tokenizer away, as if the extra was not installed."""
    monkeypatch.setitem(sys.modules, "splintr", None)
    tokens._tokenizer.cache_clear()
    yield
    tokens._tokenizer.cache_clear()


@pytest.fixture
def counted() -> None:
    pytest.importorskip("splintr")


@pytest.mark.usefixtures("counted")
def test_with_the_extra_tokens_are_those_of_o200k() -> None:
    assert tokens.exact()
    assert tokens.count("hello world") == 2
    assert tokens.count("你好，世界！") == 4
    assert tokens.count("") == 0
    assert tokens.count("<|endoftext|>") > 1  # what a page writes is text
    assert tokens.upper_bound("hello world") == 2


@pytest.mark.usefixtures("without")
def test_without_it_bytes_are_the_estimate() -> None:
    assert not tokens.exact()
    assert tokens.count("a" * 46) == 10
    assert tokens.count("中" * 46) == 30
    assert tokens.count("") == tokens.upper_bound("") == 0


def test_lone_surrogates_are_counted_too() -> None:
    assert tokens.count("\ud800") >= 1
    assert tokens._bound("\ud800") >= 1


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("name", TEXTS)
def test_the_bound_is_above_the_count(name: str) -> None:
    assert tokens.count(TEXTS[name]) <= tokens._bound(TEXTS[name])


@pytest.mark.usefixtures("counted")
@pytest.mark.parametrize("alphabet", [string.ascii_lowercase, string.ascii_letters, string.hexdigits, string.printable])
def test_the_bound_holds_for_random_letters(alphabet: str) -> None:
    chance = random.Random(5)
    for _ in range(50):
        text = " ".join("".join(chance.choices(alphabet, k=chance.randint(2, 12))) for _ in range(40))
        assert tokens.count(text) <= tokens._bound(text)
        encoded = base64.b64encode(text.encode()).decode()
        assert tokens.count(encoded) <= tokens._bound(encoded)


@pytest.mark.usefixtures("counted")
@settings(max_examples=300, deadline=None)
@given(st.text(max_size=100))
def test_the_bound_holds_for_any_characters(text: str) -> None:
    assert tokens.count(text) <= tokens._bound(text)


def test_the_bound_is_not_far_above() -> None:
    assert tokens._bound(TEXTS["English"]) < 0.55 * len(
        TEXTS["English"]
    )  # bytes would be the bound that needs no knowledge
    assert tokens._bound(TEXTS["Chinese"]) <= 1.1 * len(TEXTS["Chinese"])


def cuts_fit() -> None:
    chance = random.Random(2)
    for text in TEXTS.values():
        for limit in (0, 1, 2, chance.randint(3, 40), 10_000):
            kept = tokens.cut(text, limit)
            assert text.startswith(kept)
            assert tokens.upper_bound(kept) <= limit


def test_a_cut_fits() -> None:
    cuts_fit()


@pytest.mark.usefixtures("without")
def test_a_cut_fits_without_the_tokenizer() -> None:
    cuts_fit()


@pytest.mark.usefixtures("counted")
def test_a_cut_ends_after_a_sentence() -> None:
    assert tokens.cut("One two three. Four five six. Seven eight nine ten.", 10) == "One two three. Four five six."
