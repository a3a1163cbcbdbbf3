"""What becomes a token, what a full-text index makes of it, and what is highlighted."""

import sqlite3
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memory import chinese_page, peak_bytes

from sleuth.relevance.words import TokenCounter, index_text, match_expression, spans, words

TOKENS = [
    ("Running runners", "run runner"),
    ("the cats of the world", "cat world"),
    ("What is Python's syntax?", "python syntax"),
    ("", ""),
    ("!?… — ___", ""),
    ("the who", "the who"),
    ("to be or not to be", "to be or not to be"),
    ("C++ and C# beat C", "c++ c# beat c"),
    ("c++17", "c++ 17"),
    (".NET on ASP.NET", ".net net asp.net asp net"),
    ("Python 3.11.4, v1.2", "python 3.11.4 3.11 1.2"),
    ("node.js", "node.js node js"),
    ("snake_case __init__", "snake_case snake case __init__ init"),
    ("1,000,000 people", "1000000 peopl"),
    ("one,two", "one two"),
    ("U.S.A. and USA", "usa usa"),
    ("Café Zürich", "cafe zurich"),
    ("Ｆｕｌｌ ｗｉｄｔｈ １２", "full width 12"),
    ("ﬁne", "fine"),
    ("gpt-4", "gpt 4"),
    ("北京", "北 京 北京"),
    ("北京大学2026年", "北 京 大 学 北京 京大 大学 2026 年"),
    ("用Python写", "用 python 写"),
    ("ﾃｽﾄ", "テ ス ト テス スト"),
    ("서울", "서 울 서울"),
    ("东京 タワー", "东 京 东京 タ ワ ー タワ ワー"),
    ("什么是量子力学", "是 量 子 力 学 是量 量子 子力 力学"),
    ("什么", "什 么 什么"),
    ("हिन्दी", "हिन्द"),
    ("москва", "москв"),
]


@pytest.mark.parametrize(("text", "tokens"), TOKENS)
def test_text_becomes_tokens(text: str, tokens: str) -> None:
    assert words(text) == tokens.split()


@pytest.fixture
def index() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE page USING fts5(tokens, tokenize = 'unicode61')")
    yield connection
    connection.close()


def find(index: sqlite3.Connection, query: str, *pages: str) -> list[str]:
    index.executemany(
        "INSERT INTO page (rowid, tokens) VALUES (?, ?)", [(n, index_text(p)) for n, p in enumerate(pages)]
    )
    found = index.execute("SELECT rowid FROM page WHERE page MATCH ? ORDER BY rank", (match_expression(query),))
    return [pages[row] for (row,) in found]


@pytest.mark.parametrize(
    ("query", "page", "other"),
    [
        ("c++ templates", "Modern C++ in depth", "Vitamin C in depth"),
        ("c#", "C# for beginners", "C for beginners"),
        (".net", "the .NET runtime", "the Java runtime"),
        ("3.11", "What is new in 3.11", "What is new in 3.12"),
        ("libraries", "a library of sounds", "a book of sounds"),
        ("北京大学", "他在北京大学读书", "他在南京工作"),
        ("猫", "一只猫", "一只狗"),
        ("the who", "The Who played live", "A band played live"),
        ("हिन्दी", "हिन्दी भाषा", "हम भाषा"),
        ("東京タワー", "東京タワーの高さ", "大阪の城"),
        ("สวัสดี", "สวัสดีครับ", "ขอบคุณ"),
    ],
)
def test_a_full_text_index_finds_what_is_meant(index: sqlite3.Connection, query: str, page: str, other: str) -> None:
    assert find(index, query, other, page)[0] == page


def test_an_index_distinguishes_c_plus_plus_from_c(index: sqlite3.Connection) -> None:
    assert find(index, "c++", "Vitamin C", "C++") == ["C++"]


@pytest.mark.parametrize("query", ["", "   ", "?!", '"', "___", "\ud800"])
def test_nothing_to_match_is_an_empty_expression(query: str) -> None:
    assert match_expression(query) == ""


def test_an_expression_prefers_pairs_of_characters() -> None:
    assert match_expression("北京 C 猫") == '"北京" OR "c" OR "猫"'


@pytest.mark.parametrize(
    "query", ['a" OR b', "NEAR(a b)", "col:a", "a* ^b -c", "AND OR NOT", "x" * 5000, "我们去看电影" * 70]
)
def test_no_query_breaks_an_index(index: sqlite3.Connection, query: str) -> None:
    assert find(index, query, "nothing of the kind 零") == []


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_found_by_itself(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE page USING fts5(tokens, tokenize = 'unicode61')")
    clean = text.encode("utf-8", "replace").decode()
    if match_expression(clean):
        assert find(connection, clean, clean) == [clean]
    connection.close()


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab C+#.,_'1 é哈哈你好タ한ﾃ\u0301ก", max_size=40))
def test_counting_agrees_with_tokens(text: str) -> None:
    tokens = index_tokens(text)
    counts, _ = TokenCounter(tokens).of(text)
    assert counts == Counter(tokens)


def index_tokens(text: str) -> list[str]:
    return [token for token in words(f"zz {text}") if token != "zz"]


def test_the_length_of_a_text_is_its_tokens() -> None:
    for text in ("the cats sleep", "北京大学 has C++", "1,000 x"):
        assert TokenCounter(["x"]).of(text)[1] == len(words(text))


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in spans(text, query)]


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("Runners were running fast", "run", ["running"]),
        ("Read node.js docs", "node", ["node"]),
        ("Read Node.js docs", "node.js", ["Node.js"]),
        ("Learn C++ or C", "c++", ["C++"]),
        ("他在北京大学读书", "北京大学在哪里", ["北京大学"]),
        ("大学北京", "北京大学", ["大学北京"]),
        ("猫和狗", "猫", ["猫"]),
        ("大学的大门", "大学", ["大学"]),
        ("京都的大事", "北京大学", ["京", "大"]),
        ("他的书", "我的", []),
        ("用Python写北京", "python 北京", ["Python", "北京"]),
        ("The CAFÉ is open", "cafe", ["CAFÉ"]),
        ("the of and", "the", ["the"]),
        ("İstanbul and Istanbul", "istanbul", ["İstanbul", "Istanbul"]),
        ("nothing here", "absent", []),
        ("", "absent", []),
    ],
)
def test_what_a_query_marks(text: str, query: str, found: list[str]) -> None:
    assert marked(text, query) == found


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60), st.one_of(st.text(max_size=20), st.text(alphabet="大学ก 0a.", max_size=12)))
def test_spans_are_in_order_and_inside(text: str, query: str) -> None:
    for marked_text in (text, query):
        edges = [edge for span in spans(marked_text, query) for edge in span]
        assert edges == sorted(edges)
        assert all(0 <= edge <= len(marked_text) for edge in edges)


@pytest.mark.cpu_limit(10)
@pytest.mark.parametrize(
    "text", ["a." * 50_000, "a," * 50_000, "\u0905" * 50_000, "\u0301" * 50_000, "+" * 50_000, "1,000" * 20_000]
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    words(text)


@pytest.mark.parametrize(("number", "length"), [(20_000, 3), (3_000, 25), (1, 80_000)])
def test_indexing_a_long_page_takes_little_memory(number: int, length: int) -> None:
    page = chinese_page(number, length)
    assert peak_bytes(lambda: index_text(page)) < 4_000_000
