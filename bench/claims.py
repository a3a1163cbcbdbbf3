"""Figures of the citation check: on claims made from questions and answers, and on published ones with a label."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from bench.external import Claim
from bench.figure import Figure, Value

from sleuth.answers.citation_check import check
from sleuth.answers.citations import CitedSource
from sleuth.answers.evidence import NOT_FOUND, QUOTED, STATES, SUPPORTED, UNCHECKED, terms
from sleuth.base.text import splice
from sleuth.relevance.bm25 import rank
from sleuth.relevance.sentences import sentences

UNMARKED = (QUOTED, SUPPORTED)
MIN_SENTENCE_TERMS = 3  # "Yes!" and "It depends." claim nothing on their own
QUESTION_WORDS = re.compile(
    r"\b(?:what|who|whom|whose|which|when|where|why|how|many|much|did|does|do|is|are|was|were)\b"
    r"|谁|誰|哪[些个個里裡位年一]?|什么|什麼|多少|几|幾|何时|何時|吗|嗎|呢|为何|怎么|如何|[?？]",
    re.IGNORECASE,
)


def verdict(claim: str, source: str) -> str:
    """Return what the check says about a claim; of several sentences, each is cited and the worst counts."""
    spans = sentences(claim)
    telling = [span for span in spans if len(terms(claim[slice(*span)])) >= MIN_SENTENCE_TERMS] or spans
    cited = splice(claim, ((end, end, " [1]") for _, end in telling))
    checks = check(cited, [CitedSource(1, "https://a.org/", "", source)])
    return max((one.support for one in checks if one.support != UNCHECKED), key=STATES.index, default=UNCHECKED)


def labelled(name: str, claims: Sequence[Claim]) -> Iterator[Figure]:
    """Yield balanced accuracy, and precision and recall of the two signs; claims without words are left out."""
    judged = [(claim, verdict(claim.text, claim.source)) for claim in claims]
    judged = [(claim, support) for claim, support in judged if support != UNCHECKED]
    good = [(claim, support) for claim, support in judged if claim.supported]
    bad = [(claim, support) for claim, support in judged if not claim.supported]
    # Each of the two kinds counts half, so that the mean of all values is the mean of the two shares.
    half_each = {True: len(judged) / 2 / max(len(good), 1), False: len(judged) / 2 / max(len(bad), 1)}
    accuracy = [
        Value(claim.id, half_each[claim.supported] * ((support in UNMARKED) is claim.supported))
        for claim, support in judged
    ]
    missing = [(claim, support) for claim, support in judged if support == NOT_FOUND]
    shares = {
        "balanced accuracy": accuracy,
        "supported claims unmarked": [Value(claim.id, support in UNMARKED) for claim, support in good],
        "other claims marked ? or ??": [Value(claim.id, support not in UNMARKED) for claim, support in bad],
        "other claims marked ??": [Value(claim.id, support == NOT_FOUND) for claim, support in bad],
        "?? that are right": [Value(claim.id, not claim.supported) for claim, _ in missing],
    }
    for share, values in shares.items():
        if values:
            yield Figure(f"Citation check, {share}", name, values)


def made(data: dict[str, Any]) -> Iterator[Claim]:
    """Yield claims made of questions: with their answer, with that of another question, and next to a similar page."""
    for at, case in enumerate(data["cases"]):
        subject = QUESTION_WORDS.sub(" ", case["query"]).strip()
        same_page = [one for one in data["cases"] if one["gold"] == case["gold"] and one["answers"] != case["answers"]]
        wrong = (same_page or [data["cases"][at - 1]])[0]["answers"][0]
        others = [data["pages"][page] for page in case["pages"] if page != case["gold"]]
        scores = rank(case["query"], others)
        similar = others[max(range(len(others)), key=scores.__getitem__)]
        right, page = case["answers"][0], data["pages"][case["gold"]]
        yield Claim(case["id"], f"{subject} {right}", page, True)
        yield Claim(case["id"], f"{subject} {wrong}", page, False)
        yield Claim(case["id"], f"{subject} {right}", similar, False)
