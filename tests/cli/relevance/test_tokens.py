"""Token counts, and texts truncated to a number of tokens."""

import random

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


def test_tokens_are_those_of_o200k() -> None:
    assert tokens.count("hello world") == 2
    assert tokens.count("你好，世界！") == 4
    assert tokens.count("") == 0
    assert tokens.count("<|endoftext|>") > 1  # what a page writes is text


def test_lone_surrogates_are_counted_too() -> None:
    assert tokens.count("\ud800") >= 1


@pytest.mark.parametrize("name", TEXTS)
def test_a_cut_fits(name: str) -> None:
    text, chance = TEXTS[name], random.Random(2)
    for limit in (0, 1, 2, chance.randint(3, 40), 10_000):
        kept = tokens.cut(text, limit)
        assert text.startswith(kept)
        assert tokens.count(kept) <= limit


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=100), st.integers(0, 30))
def test_a_cut_of_any_characters_fits(text: str, limit: int) -> None:
    assert tokens.count(tokens.cut(text, limit)) <= limit


def test_a_cut_ends_after_a_sentence() -> None:
    assert tokens.cut("One two three. Four five six. Seven eight nine ten.", 10) == "One two three. Four five six."
