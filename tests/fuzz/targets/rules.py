"""Goggles: any rules are parsed, and at most one action applies to a URL. The last line is the URL."""

from sleuth.relevance.patterns import expression
from sleuth.relevance.rules import ACTIONS, Rules
from sleuth.relevance.urls import matches_domain

URL = "https://docs.python.org/3/library/re.html?q=a&b#x"
WORDS = "$boost= ¦ $downrank= ¦ $discard ¦ site= ¦ , ¦ ^ ¦ * ¦ | ¦ || ¦ $ ¦ !  ¦ inurl ¦ python.org ¦ / ¦ (a+)+ ¦ {,9}"
ROUNDS = 800


def check(data: bytes) -> None:
    """Read rules, apply them to an address, and try each as a pattern of domains."""
    text, _, url = data.decode("utf-8", "replace").rpartition("\n")
    rules = Rules.parse(text)
    lines = len(text.splitlines())
    assert all(1 <= number <= lines + 1 and said for number, said in rules.problems)
    for address in (url, URL):
        action = rules.apply(address)
        if action:
            assert action.name in ACTIONS
            assert 1 <= action.strength <= 10
            assert (action.factor == 0) == (action.name == "discard")
            assert text.splitlines()[action.line - 1].strip() == action.text, "the line that says so"
    for pattern in text.splitlines()[:20]:
        assert type(matches_domain(url, pattern)) is bool
        expression(pattern[:600])
