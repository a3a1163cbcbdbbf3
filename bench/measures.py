"""Every figure of docs/relevance.md: a function from the samples of a folder to one value for each case."""

import gzip
import hashlib
import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from bench.rouge import common, rouge, units

from sleuth.answers.citations import CitedSource
from sleuth.answers.evidence import NOT_FOUND, QUOTED, SUPPORTED, Evidence
from sleuth.answers.extractive import quote_pages
from sleuth.answers.research import FoundSource
from sleuth.relevance.bm25 import rank
from sleuth.relevance.compress import compress
from sleuth.relevance.fusion import ProviderList, fuse
from sleuth.relevance.sentences import joined
from sleuth.relevance.summary import summarise
from sleuth.relevance.tokens import count
from sleuth.relevance.urls import canonical
from sleuth_providers.base import Result

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATIN_BUDGETS, CJK_BUDGETS = (1000, 2000), (500, 1000)
LONG_PAGE_CHARS, LONG_PAGES, LONG_CASES = 100_000, 5, 40
RANKED_CASES = 100
RERANKED, RERANKED_CASES = 20, 60
ANSWER_PAGES = 5
QUESTION_WORDS = re.compile(
    r"\b(?:what|who|whom|whose|which|when|where|why|how|many|much|did|does|do|is|are|was|were)\b"
    r"|谁|誰|哪[些个個里裡位年一]?|什么|什麼|多少|几|幾|何时|何時|吗|嗎|呢|为何|怎么|如何|[?？]",
    re.IGNORECASE,
)

Data = dict[str, Any]


class Value(NamedTuple):
    """The result for one case; the hash of the id puts it into one of two halves."""

    id: str
    value: float


class Figure(NamedTuple):
    """A row of the table."""

    group: str
    name: str
    values: list[Value]
    baseline: str = ""


def figures(folder: Path) -> Iterator[Figure]:
    """Yield the figures of all samples in a folder."""
    sets = {data["name"]: data for data in map(_load, sorted(folder.glob("*.json.gz")))}
    questions = [data for data in sets.values() if data["cases"] and "evidence" in data["cases"][0]]
    for data in questions:
        yield Figure("Ranking, nDCG@10", data["name"], _ranking(data))
    for data in questions:
        for budget in CJK_BUDGETS if "_zh" in data["name"] else LATIN_BUDGETS:
            yield Figure("Evidence kept", f"{data['name']}, {budget:,} characters", _kept(data, budget))
    for data in questions:
        yield Figure("Evidence kept on pages of 100,000 characters", f"{data['name']}, 1,000 characters", _long(data))
    for data in questions:
        if data["name"].endswith("_en"):
            yield Figure("Evidence kept", f"{data['name']}, 250 tokens", _kept(data, 250, "token"))
    yield from _summaries(sets, questions)
    for data in questions:
        yield from _claims(data)
    yield from _reranked(sets, questions)
    for file in sorted(folder.glob("*.tsv")):
        pairs = [line.split("\t") for line in file.read_text("utf-8").splitlines() if line]
        values = [Value(one, (canonical(one) == canonical(two)) is (kind == "same")) for kind, one, two in pairs]
        yield Figure("URL pairs told apart", file.stem, values)


def _load(file: Path) -> Data:
    data: Data = json.loads(gzip.decompress(file.read_bytes()))
    return data


def half(value: Value) -> int:
    """Return the half that a case belongs to."""
    return int(hashlib.md5(value.id.encode(), usedforsecurity=False).hexdigest(), 16) % 2


def _ranking(data: Data) -> list[Value]:
    """Return the gain of the best passage with the evidence among all passages of a set."""
    passages = [line for page in data["pages"] for line in page.split("\n") if line.strip()]
    values = []
    for case in data["cases"][:RANKED_CASES]:
        right = [at for at, line in enumerate(passages) if case["evidence"] in line]
        if right:
            scores = rank(case["query"], passages)
            best = max(scores[at] for at in right)
            above = sum(score > best for score in scores)
            values.append(Value(case["id"], 1 / math.log2(above + 2) if best > 0 and above < 10 else 0.0))
    return values


def _kept(data: Data, budget: int, unit: str = "char") -> list[Value]:
    return [
        Value(case["id"], _keeps(case, [data["pages"][page] for page in case["pages"]], budget, unit))
        for case in data["cases"]
    ]


def _keeps(case: Data, texts: Sequence[str], budget: int, unit: str = "char") -> bool:
    found = compress(case["query"], texts, "rag", limit=budget, unit=unit)
    size = sum(count(page.content) if unit == "token" else len(page.content) for page in found.pages)
    if size > budget:
        raise AssertionError(f"{size} of {budget} {unit}s for {case['query']}")
    return any(case["evidence"] in page.content for page in found.pages)


def _long(data: Data) -> list[Value]:
    """Put the right page at a random place in one of several pages of 100,000 characters."""
    chance = random.Random(7)
    values = []
    for case in data["cases"][:LONG_CASES]:
        others = [page for at, page in enumerate(data["pages"]) if at != case["gold"]]
        texts = []
        for number in range(LONG_PAGES):
            parts = chance.sample(others, k=min(len(others), LONG_PAGE_CHARS // max(len(others[0]), 1)))
            while sum(map(len, parts)) < LONG_PAGE_CHARS:
                parts += chance.sample(others, k=min(len(others), 20))
            if number == 0:
                parts.insert(chance.randrange(len(parts)), data["pages"][case["gold"]])
            texts.append("\n\n".join(parts))
        values.append(Value(case["id"], _keeps(case, texts, 1000)))
    return values


def _summaries(sets: dict[str, Data], questions: Sequence[Data]) -> Iterator[Figure]:
    for data in sets.values():
        if data["cases"] and "refs" in data["cases"][0]:
            measure = "L" if data["name"].endswith("_zh") else "1"
            by_question = [
                _rouge(data, case, measure, lambda p, c: _extract(p, c["query"], c["budget"])) for case in data["cases"]
            ]
            start = [_rouge(data, case, measure, lambda p, c: p[0][: c["budget"]]) for case in data["cases"]]
            without = [
                _rouge(data, case, measure, lambda p, c: _extract(p[:1], "", c["budget"])) for case in data["cases"]
            ]
            first = f"{_mean(start):.3f} for the start of the first page"
            yield Figure(f"Summary for a question, ROUGE-{measure}", data["name"], by_question, first)
            yield Figure(f"Summary of a page without a question, ROUGE-{measure}", data["name"], without, first)
    for data in questions:
        budget = 150 if "_zh" in data["name"] else 400
        shown = [(case, *_five_pages(data, case)) for case in data["cases"]]
        best = [_contains(case, _extract(pages, case["query"], budget)) for case, pages, _ in shown]
        yield Figure(f"Answer in a summary of {ANSWER_PAGES} pages", f"{data['name']}, {budget} characters", best)
        quoted = [_contains(case, quote_pages(sources, case["query"])) for case, _, sources in shown]
        yield Figure("Answer in ask --extractive", data["name"], quoted)


def _five_pages(data: Data, case: Data) -> tuple[list[str], list[FoundSource]]:
    numbers = [case["gold"], *(page for page in case["pages"] if page != case["gold"])][:ANSWER_PAGES]
    numbers.sort(key=lambda page: half(Value(f"{case['id']}{page}", 0.0)) * 1000 + page % 7)
    pages = [data["pages"][number] for number in numbers]
    return pages, [FoundSource(at, "", f"https://{at}.org/", text=text) for at, text in enumerate(pages, 1)]


def _extract(pages: Sequence[str], query: str, budget: int) -> str:
    return joined(part.text for part in summarise(pages, query, budget).overall)


def _rouge(data: Data, case: Data, measure: str, make: Callable[[Sequence[str], Data], str]) -> Value:
    pages = case.get("pages") or [data["pages"][case["doc"]]]
    return Value(case["id"], rouge(make(pages, case), case["refs"], data["name"].endswith("_zh"))[measure])


def _contains(case: Data, text: str) -> Value:
    return Value(case["id"], any(answer in text for answer in case["answers"]))


def _claims(data: Data) -> Iterator[Figure]:
    """Make claims of questions: with their answer, with the answer of another question, and beside a similar page."""
    good, bad, missing = [], [], []
    for at, case in enumerate(data["cases"]):
        subject = QUESTION_WORDS.sub(" ", case["query"]).strip()
        same_page = [one for one in data["cases"] if one["gold"] == case["gold"] and one["answers"] != case["answers"]]
        wrong = (same_page or [data["cases"][at - 1]])[0]["answers"][0]
        others = [data["pages"][page] for page in case["pages"] if page != case["gold"]]
        scores = rank(case["query"], others)
        similar = others[max(range(len(others)), key=scores.__getitem__)]
        right, page = case["answers"][0], data["pages"][case["gold"]]
        verdicts = [
            _verdict(f"{subject} {answer}", text) for answer, text in ((right, page), (wrong, page), (right, similar))
        ]
        good.append(Value(case["id"], verdicts[0] in (QUOTED, SUPPORTED)))
        bad += [Value(case["id"], verdict not in (QUOTED, SUPPORTED)) for verdict in verdicts[1:]]
        missing += [Value(case["id"], verdict == NOT_FOUND) for verdict in verdicts[1:]]
    yield Figure("Citation check, supported claims unmarked", data["name"], good)
    yield Figure("Citation check, other claims marked ? or ??", data["name"], bad)
    yield Figure("Citation check, other claims marked ??", data["name"], missing)


def _verdict(claim: str, text: str) -> str:
    return Evidence([CitedSource(1, "https://a.org/", "", text)]).judge(claim, 1).support


def _reranked(sets: dict[str, Data], questions: Sequence[Data]) -> Iterator[Figure]:
    """Rerank good lists: the order by all passages, and that of Baidu."""
    for data in questions:
        passages = [page.replace("\n", " ") for page in data["pages"]]
        before, after = [], []
        for case in data["cases"][:RERANKED_CASES]:
            scores = rank(case["query"], passages)
            best = sorted(range(len(passages)), key=lambda at: -scores[at])[:RERANKED]
            grades = [float(at == case["gold"]) for at in best]
            _compare(case, [passages[at][:300] for at in best], grades, before, after)
        yield Figure("--rerank, nDCG@10", data["name"], after, f"{_mean(before):.3f} as given")
    if data := sets.get("dureader_zh", {}):
        before, after = [], []
        for case in data["cases"]:
            wanted = [units(reference, True) for reference in case["refs"]]
            found = [
                max(common(units(page[:5000], True), one) / max(len(one), 1) for one in wanted)
                for page in case["pages"]
            ]
            _compare(
                case, [page[:300] for page in case["pages"]], [float(share > 0.8) for share in found], before, after
            )
        yield Figure("--rerank, nDCG@10", "order of Baidu", after, f"{_mean(before):.3f} as given")


def _compare(
    case: Data, texts: Sequence[str], grades: Sequence[float], before: list[Value], after: list[Value]
) -> None:
    if any(grades):
        results = [Result("", f"https://{at}.org/", text) for at, text in enumerate(texts)]
        hits = fuse([ProviderList("one", 1.0, results)], now=NOW, rerank=case["query"])
        order = [int(hit.url.removeprefix("https://").partition(".")[0]) for hit in hits]
        before.append(Value(case["id"], _gain(grades)))
        after.append(Value(case["id"], _gain([grades[at] for at in order])))


def _gain(grades: Sequence[float]) -> float:
    def sum_up(ordered: Sequence[float]) -> float:
        return sum(grade / math.log2(at + 2) for at, grade in enumerate(ordered[:10]))

    return sum_up(grades) / sum_up(sorted(grades, reverse=True))


def _mean(values: Sequence[Value]) -> float:
    return sum(one.value for one in values) / max(len(values), 1)
