"""Rules about sites and pages: what matches, what wins, what is wrong with a line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.relevance.rules import Rules, _piece

GOGGLE = """! name: My rules
! description: what I like
! public: false

$boost=2,site=docs.python.org
$downrank,site=example.com
$discard,site=spam.example
/posts/$boost=3
"""


def verdict(text: str, url: str) -> str:
    action = Rules.parse(text).apply(url)
    return "" if action is None else f"{action.name} {action.strength}"


def test_metadata_and_comments_are_no_rules() -> None:
    assert Rules.parse(GOGGLE).problems == []


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://docs.python.org/3/", "boost 2"),
        ("https://www.example.com/a", "downrank 1"),
        ("https://sub.example.com/a", "downrank 1"),
        ("https://notexample.com/a", ""),
        ("https://a.spam.example/posts/1", "discard 1"),
        ("https://example.com/posts/hello.html", "boost 3"),
        ("https://elsewhere.org/", ""),
    ],
)
def test_what_the_rules_say_of_a_page(url: str, expected: str) -> None:
    assert verdict(GOGGLE, url) == expected


@pytest.mark.parametrize(
    ("url", "factor", "line"),
    [("https://docs.python.org/", 3.0, 5), ("https://example.com/", 0.5, 6), ("https://spam.example/", 0.0, 7)],
)
def test_an_action_has_its_factor_and_line(url: str, factor: float, line: int) -> None:
    action = Rules.parse(GOGGLE).apply(url)
    assert action is not None
    assert (action.factor, action.line, action.text) == (factor, line, GOGGLE.splitlines()[line - 1])


PATTERNS = [
    ("/docs/*$boost=3", "https://a.org/docs/x", True),
    ("/docs/*$boost=3", "https://a.org/doc/x", False),
    ("/this/is/*/pattern", "https://a.org/this/is/some/pattern", True),
    ("/this/is/*/pattern", "https://a.org/this/is/pattern", False),
    ("*rust*$site=rs", "https://docs.rs/rust-thing", True),
    ("*rust*$site=rs", "https://docs.com/rust-thing", False),
    ("|https://example.org^", "https://example.org", True),
    ("|https://example.org^", "https://example.org/path", True),
    ("|https://example.org^", "https://example.org.ac/", False),
    ("|https://example.org^", "https://a.org/?u=https://example.org", False),
    ("/foo.js^", "https://a.org/foo.js?param=42", True),
    ("/foo.js^", "https://a.org/foo.jsx", False),
    ("/some/path.html|", "https://a.org/some/path.html", True),
    ("/some/path.html|", "https://a.org/some/path.html?x", False),
    ("|https://brave.com|", "https://brave.com", True),
    ("|https://brave.com|", "https://brave.com/", False),
    ("|https://*/wiki/*.png|", "https://a.org/wiki/x.png/b.png", True),
    ("a*b|", "https://x.org/a/b/bc", False),
    ("/blog/$site=brave.com", "https://brave.com/blog/1", True),
    ("/blog/$site=brave.com", "https://brave.com/shop", False),
    ("/blog/$inurl", "https://brave.com/blog/1", True),
    ("/Docs/", "https://a.org/docs/", True),
    ("/a.b/", "https://a.org/axb/", False),
    ("$site=*.brave.com", "https://search.brave.com/", True),
    ("/price$/$boost", "https://a.org/price$/1", True),
]


@pytest.mark.parametrize(("rule", "url", "matches"), PATTERNS)
def test_what_a_pattern_matches(rule: str, url: str, matches: bool) -> None:
    rules = Rules.parse(rule)
    assert rules.problems == []
    assert (rules.apply(url) is not None) is matches


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$boost=3,site=a.org\n$boost=1,site=a.org", "boost 3"),
        ("$boost=1,site=a.org\n$boost=3,site=a.org", "boost 3"),
        ("$downrank=3,site=a.org\n/posts/$boost=1", "boost 1"),
        ("$downrank=3,site=a.org\n$downrank=2,site=a.org", "downrank 2"),
        ("$boost=10,site=a.org\n/posts/$discard", "discard 1"),
        ("$discard\n$downrank,site=a.org", "downrank 1"),
        ("$discard\n$boost,site=b.org", "discard 1"),
    ],
)
def test_precedence_if_several_rules_match(text: str, expected: str) -> None:
    assert verdict(text, "https://a.org/posts/1") == expected


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("$boost=0,site=a.org", "the strength must be"),
        ("$boost=11,site=a.org", "the strength must be"),
        ("$boost=two,site=a.org", "the strength must be"),
        ("$discard=2,site=a.org", "the strength must be"),
        ("$boost,discard,site=a.org", "one action"),
        ("$promote,site=a.org", "unknown option"),
        ("$site=", "unknown option"),
        ("word$intitle", "not supported"),
        ("$boost", "every page"),
        ("*$downrank", "every page"),
        ("some words", "must not contain spaces"),
        ("/a" * 300, "longer than"),
    ],
)
def test_a_bad_line_is_a_problem_and_the_others_hold(line: str, problem: str) -> None:
    rules = Rules.parse(f"! a comment\n{line}\n$boost,site=b.org")
    assert [number for number, _ in rules.problems] == [2]
    assert problem in rules.problems[0][1]
    assert rules.apply("https://b.org/")


def test_without_rules_there_is_no_action() -> None:
    assert Rules.parse("").apply("https://a.org/") is None
    assert Rules().apply("https://a.org/") is None


def test_files_without_a_host_have_patterns_too() -> None:
    assert verdict("/notes/$boost=2", "file:///home/notes/a.md") == "boost 2"


@pytest.mark.cpu_limit(10)
def test_no_pattern_and_url_stall() -> None:
    rules = Rules.parse("*a*a*a*a*a*a*a*a*a*a*b$boost\n" + "a^" * 200 + "$boost\n|*^*^*^*^*^*x|$boost")
    rules.apply("https://example.com/" + "a/" * 50_000)


def test_ten_thousand_rules_are_applied() -> None:
    rules = Rules.parse("\n".join(f"$boost=2,site=site{number}.org" for number in range(10_000)))
    assert all(rules.apply(f"https://www.site{number}.org/") for number in range(50))


def test_only_patterns_that_may_match_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    piece = _piece.__wrapped__
    monkeypatch.setattr("sleuth.relevance.rules._piece", lambda part, last: compiled.append(part) or piece(part, last))
    rules = Rules.parse("\n".join(f"/Posts/{number:05}^*x$boost=2" for number in range(10_000)))
    assert all(rules.apply(f"https://a.org/posts/{number:05}/x") for number in range(50))
    assert len(compiled) == 2 * 50


@pytest.mark.parametrize("url", ["https://a.org/CAFÉ/Menu", "https://a.org/café/menu"])
def test_patterns_ignore_case_in_any_script(url: str) -> None:
    assert verdict("/Café/mENU$boost=2", url) == "boost 2"


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="ab/.*^|$!=,: \nbostdicrank1_%[(+\\é", max_size=80), st.text(max_size=60))
def test_any_rules_and_url_are_accepted(text: str, url: str) -> None:
    rules = Rules.parse(f"{text}\n$boost,site=a.org\n{text}*$discard")
    for address in (url, f"https://a.org/{url}", "https://a.org/"):
        rules.apply(address)
