"""The user's rules for sites and pages in the syntax of Brave's Goggles: boost, downrank, discard."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from sleuth.base.urls import ascii_host
from sleuth_providers.records import Record
from sleuth_providers.translatable import Translatable

MAX_RULES = 100_000
MAX_LINE = 500
MAX_STRENGTH = 10
MAX_URL_CHARS = 2_000  # that patterns are matched against

SEPARATOR = r"(?:[^\w.%-]|\Z)"  # the meaning of ^ in a pattern
ACTIONS = ("downrank", "boost", "discard")  # later ones take precedence
UNSUPPORTED = ("intitle", "indescription", "incontent")


class Rule(Record):
    """One line: an action for a site, a pattern, or both."""

    name: str  # one of ACTIONS
    strength: int
    line: int
    text: str
    site: str = ""
    pattern: str = ""
    literal: str = ""  # a part of the pattern, in lower case, without which no URL matches

    @property
    def factor(self) -> float:
        """Return the factor for the score: 1 + strength to boost, its inverse to downrank, 0 to discard."""
        if self.name == "discard":
            return 0.0
        return 1.0 + self.strength if self.name == "boost" else 1.0 / (1 + self.strength)


class Rules(Record):
    """Parsed rules, and the lines that are invalid.

    If several rules match, `discard` wins, then the strongest boost, then the mildest downrank, as Brave documents.
    `$discard` without pattern and site applies to pages that no other rule matches.
    """

    by_site: Mapping[str, Sequence[Rule]] = {}  # "" has the rules for all sites
    otherwise: Rule | None = None  # if no other rule matches
    problems: Sequence[tuple[int, str]] = ()

    @classmethod
    def parse(cls, text: str) -> "Rules":
        """Parse rules, one per line; an invalid line goes to `problems`, with its number."""
        by_site: dict[str, list[Rule]] = {}
        problems: list[tuple[int, str]] = []
        otherwise = None
        lines = text.splitlines()
        if len(lines) > MAX_RULES:
            problems.append((MAX_RULES + 1, Translatable("only the first {count} lines are read", count=MAX_RULES)))
        for number, line in enumerate(map(str.strip, lines[:MAX_RULES]), 1):
            if not line or line.startswith("!"):  # comments, and the metadata of a goggle
                continue
            try:
                rule = _rule(line, number)
            except ValueError as problem:
                problems.append((number, problem.args[0]))
                continue
            if rule.name == "discard" and not rule.site and not rule.pattern:
                otherwise = rule
            else:
                by_site.setdefault(rule.site, []).append(rule)
        return cls(by_site, otherwise, problems)

    def apply(self, url: str) -> Rule | None:
        """Return the rule that decides about a URL, or None if none matches."""
        text, lower = url[:MAX_URL_CHARS], url[:MAX_URL_CHARS].lower()
        likely = (rule for rule in self._candidates(text) if rule.literal in lower)  # most patterns are never compiled
        matching = [rule for rule in likely if _matches(rule.pattern, text)]
        return max(matching, key=_precedence, default=self.otherwise)

    def _candidates(self, url: str) -> Iterator[Rule]:
        labels = ascii_host(url).split(".")
        for start in range(len(labels)):
            yield from self.by_site.get(".".join(labels[start:]), ())
        if labels != [""]:
            yield from self.by_site.get("", ())


def _precedence(rule: Rule) -> tuple[int, int, int]:
    strength = -rule.strength if rule.name == "downrank" else rule.strength
    return ACTIONS.index(rule.name), strength, -rule.line


def _rule(line: str, number: int) -> Rule:
    if len(line) > MAX_LINE:
        raise ValueError(Translatable("the line is longer than {count} characters", count=MAX_LINE))
    pattern, dollar, listed = line.rpartition("$")
    if not dollar:
        pattern, listed = line, ""
    if re.search(r"\s", pattern):
        raise ValueError(Translatable("a pattern must not contain spaces"))
    action, strength, site = _options(listed)
    if not (pattern.strip("*|^") or site or action == "discard"):
        raise ValueError(Translatable("neither a pattern nor a site; the rule would match every page"))
    literal = max(re.split(r"[*^|\x80-\U0010ffff]", pattern), key=len).lower()
    return Rule(action, strength, number, line, site, pattern if pattern.strip("*") else "", literal)


def _options(listed: str) -> tuple[str, int, str]:
    actions: list[tuple[str, int]] = []
    site = ""
    for option in (part.strip() for part in listed.split(",") if part.strip()):
        name, equals, value = option.partition("=")
        if name in ACTIONS:
            actions.append((name, _strength(name, value) if equals else 1))
        elif name == "site" and ascii_host(value):
            site = ascii_host(value.removeprefix("*."))
        elif name in UNSUPPORTED:
            raise ValueError(Translatable("{name} is not supported: rules match URLs only", name=name))
        elif name != "inurl":
            reason = Translatable("unknown option {option!r}: use boost, downrank, discard or site=", option=option)
            raise ValueError(reason)
    if len(actions) > 1:
        raise ValueError(Translatable("more than one action; use boost, downrank or discard"))
    name, strength = actions[0] if actions else ("boost", 1)
    return name, strength, site


def _strength(name: str, value: str) -> int:
    strength = int(value) if value.isascii() and value.isdigit() else 0
    if name == "discard" or not 1 <= strength <= MAX_STRENGTH:
        raise ValueError(
            Translatable("{option}: the strength must be from 1 to {max}", option=f"{name}={value}", max=MAX_STRENGTH)
        )
    return strength


def _matches(pattern: str, url: str) -> bool:
    """Tell whether the parts of a pattern occur in a URL in order; each is searched once, from the left."""
    pieces = pattern.removeprefix("|").removesuffix("|").split("*")
    position = 0
    for index, piece in enumerate(pieces):
        first, last = index == 0 and pattern.startswith("|"), index == len(pieces) - 1 and pattern.endswith("|")
        compiled = _piece(piece, last)
        found = compiled.match(url, position) if first else compiled.search(url, position)
        if found is None:
            return False
        position = found.end()
    return True


@lru_cache(maxsize=4096)
def _piece(piece: str, last: bool) -> re.Pattern[str]:
    source = SEPARATOR.join(re.escape(part) for part in piece.split("^"))
    return re.compile(source + (r"\Z" if last else ""), re.IGNORECASE)
