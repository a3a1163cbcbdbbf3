"""The figures of docs/relevance.md, each a function from one set of samples to rows of the table."""

import gzip
import json
import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench.claims import labelled, made
from bench.external import External, similar
from bench.figure import Figure, Value, hash_of, mean
from bench.lists import fuse_pairs, rerank_pages, rerank_questions, rerank_runs
from bench.rouge import rouge

from sleuth.answers.extractive import quote_pages
from sleuth.answers.research import FoundSource
from sleuth.relevance.bm25 import rank
from sleuth.relevance.compress import compress
from sleuth.relevance.sentences import joined
from sleuth.relevance.summary import summarise
from sleuth.relevance.tokens import count
from sleuth.relevance.urls import canonical

LATIN_BUDGETS, CJK_BUDGETS = (1000, 2000), (500, 1000)
LONG_PAGE_CHARS, LONG_PAGES, LONG_CASES = 100_000, 5, 20
RANKED_CASES = 100
ANSWER_PAGES = 5

Data = dict[str, Any]
Job = Callable[[], Iterator[Figure]]


def shipped(folder: Path) -> list[Job]:
    """Return the figures of the samples in a folder, to be computed in any order."""
    sets = {data["name"]: data for data in map(_load, sorted(folder.glob("*.json.gz")))}
    addresses = [partial(_addresses, file) for file in sorted(folder.glob("*.tsv"))]
    return [*_jobs(sets), *addresses]


def external(found: External) -> list[Job]:
    """Return the figures of public sets as they are published."""
    sets, lists = found.sets.values(), found.lists
    return [
        *(partial(_kept, data) for data in sets if "evidence" in data["cases"][0]),
        *(partial(_summaries, data) for data in sets if "refs" in data["cases"][0]),
        *(partial(_answers, data) for data in sets if "passages" in data["cases"][0]),
        *(partial(rerank_pages, data) for data in sets if "refs" in data["cases"][0] and "pages" in data["cases"][0]),
        *(partial(labelled, name, claims) for name, claims in found.claims.items()),
        *(partial(rerank_runs, name, found) for name, found in lists.items()),
        *([partial(fuse_pairs, lists)] if lists else []),
    ]


def known(folder: Path) -> frozenset[str]:
    """Return the ids and questions of all cases in a folder."""
    cases = [case for data in map(_load, folder.glob("*.json.gz")) for case in data["cases"]]
    return frozenset(case[name] for case in cases for name in ("id", "query"))


def _jobs(sets: dict[str, Data]) -> Iterator[Job]:
    questions = [data for data in sets.values() if "evidence" in data["cases"][0]]
    answered = [data for data in sets.values() if "answers" in data["cases"][0]]
    references = [data for data in sets.values() if "refs" in data["cases"][0]]
    for measure in (_ranking, _kept, _long, _kept_tokens):
        yield from (partial(measure, data) for data in questions)
    yield from (partial(_summaries, data) for data in references)
    yield from (partial(_answers, data) for data in answered)
    yield from (partial(_claims, data) for data in questions)
    yield from (partial(rerank_questions, data) for data in questions)
    yield from (partial(rerank_pages, data) for data in references if "pages" in data["cases"][0])


def _load(file: Path) -> Data:
    data: Data = json.loads(gzip.decompress(file.read_bytes()))
    return data


def _is_chinese(data: Data) -> bool:
    return "_zh" in data["name"]


def _addresses(file: Path) -> Iterator[Figure]:
    pairs = [line.split("\t") for line in file.read_text("utf-8").splitlines() if line]
    values = [Value(one, (canonical(one) == canonical(two)) is (kind == "same")) for kind, one, two in pairs]
    yield Figure("URL pairs told apart", file.stem, values)


def _ranking(data: Data) -> Iterator[Figure]:
    """Yield the gain of the best passage with the evidence among all passages of a set."""
    passages = [line for page in data["pages"] for line in page.split("\n") if line.strip()]
    values = []
    for case in data["cases"][:RANKED_CASES]:
        right = [at for at, line in enumerate(passages) if case["evidence"] in line]
        if right:
            scores = rank(case["query"], passages)
            best = max(scores[at] for at in right)
            above = sum(score > best for score in scores)
            values.append(Value(case["id"], 1 / math.log2(above + 2) if best > 0 and above < 10 else 0.0))
    yield Figure("Ranking, nDCG@10", data["name"], values)


def _kept(data: Data) -> Iterator[Figure]:
    for budget in CJK_BUDGETS if _is_chinese(data) else LATIN_BUDGETS:
        values = [Value(case["id"], _keeps(case, _pages(data, case), budget)) for case in data["cases"]]
        yield Figure("Evidence kept", f"{data['name']}, {budget:,} characters", values)


def _kept_tokens(data: Data) -> Iterator[Figure]:
    if data["name"].endswith("en"):
        values = [Value(case["id"], _keeps(case, _pages(data, case), 250, "token")) for case in data["cases"]]
        yield Figure("Evidence kept", f"{data['name']}, 250 tokens", values)


def _pages(data: Data, case: Data) -> list[str]:
    if "pages" not in case:
        case["pages"] = similar(data, case)
    return [data["pages"][page] for page in case["pages"]]


def _keeps(case: Data, texts: Sequence[str], budget: int, unit: str = "char") -> bool:
    found = compress(case["query"], texts, "rag", limit=budget, unit=unit)
    size = sum(count(page.content) if unit == "token" else len(page.content) for page in found.pages)
    if size > budget:
        raise AssertionError(f"{size} of {budget} {unit}s for {case['query']}")
    return any(case["evidence"] in page.content for page in found.pages)


def _long(data: Data) -> Iterator[Figure]:
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
    yield Figure("Evidence kept on pages of 100,000 characters", f"{data['name']}, 1,000 characters", values)


def _summaries(data: Data) -> Iterator[Figure]:
    """Yield ROUGE of summaries for a question and of the first page alone, and of the start of that page."""
    measure = "L" if _is_chinese(data) else "1"
    rows = [_summarised(data, case, measure) for case in data["cases"]]
    start = f"{mean([row[2].value for row in rows]):.3f} for the start of the first page"
    for at, what in enumerate(("Summary for a question", "Summary of a page without a question")):
        yield Figure(f"{what}, ROUGE-{measure}", data["name"], [row[at] for row in rows], start)


def _summarised(data: Data, case: Data, measure: str) -> list[Value]:
    pages, budget = case.get("pages") or [data["pages"][case["doc"]]], case["budget"]
    texts = (_extract(pages, case["query"], budget), _extract(pages[:1], "", budget), pages[0][:budget])
    return [Value(case["id"], rouge(text, case["refs"], _is_chinese(data))[measure]) for text in texts]


def _answers(data: Data) -> Iterator[Figure]:
    """Yield how often the answer is in what is quoted from five pages."""
    budget = 150 if _is_chinese(data) else 400
    best, quoted = [], []
    for case in data["cases"]:
        pages = [data["pages"][number] for number in case.get("passages") or _five(case)]
        sources = [FoundSource(at, "", f"https://{at}.org/", text=text) for at, text in enumerate(pages, 1)]
        for values, text in (
            (best, _extract(pages, case["query"], budget)),
            (quoted, quote_pages(sources, case["query"])),
        ):
            values.append(Value(case["id"], any(answer in text for answer in case["answers"])))
    yield Figure(f"Answer in a summary of {ANSWER_PAGES} pages", f"{data['name']}, {budget} characters", best)
    yield Figure("Answer in ask --extractive", data["name"], quoted)


def _five(case: Data) -> list[int]:
    """Return the right page and four others, in an order that reveals nothing."""
    numbers = [case["gold"], *(page for page in case["pages"] if page != case["gold"])][:ANSWER_PAGES]
    return sorted(numbers, key=lambda page: hash_of(f"{case['id']}{page}") % 2 * 1000 + page % 7)


def _extract(pages: Sequence[str], query: str, budget: int) -> str:
    return joined(part.text for part in summarise(pages, query, budget).overall)


def _claims(data: Data) -> Iterator[Figure]:
    yield from labelled(data["name"], list(made(data)))
