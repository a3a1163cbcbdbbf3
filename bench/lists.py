"""Figures of --rerank and of fusion on ranked lists: those of bench/data, and runs of TREC systems with their texts."""

import math
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from bench.external import RankedList
from bench.figure import Figure, Value, mean
from bench.rouge import common, units

from sleuth.relevance.bm25 import rank
from sleuth.relevance.fusion import ProviderList, fuse, order_factor
from sleuth_providers.base import Result

NOW = datetime(2026, 1, 1, tzinfo=UTC)
RERANKED, RERANKED_CASES = 20, 60  # passages of a list, questions of a set
TREC_RERANKED, TREC_FUSED = 50, 10  # passages of a run
SNIPPET_CHARS = 300


def gain(grades: Sequence[float], ideal: Sequence[float] = ()) -> float:
    """Return nDCG@10 of a list of grades; `ideal` are those of all documents, if there are more."""

    def total(ordered: Sequence[float]) -> float:
        return math.fsum(grade / math.log2(at + 2) for at, grade in enumerate(ordered[:10]))

    return total(grades) / (total(sorted(ideal or grades, reverse=True)) or 1.0)


def reranked(query: str, texts: Sequence[str], grades: Sequence[float]) -> list[float]:
    """Return the grades in the order of --rerank."""
    results = [Result("", f"https://{at}.org/", text) for at, text in enumerate(texts)]
    hits = fuse([ProviderList("one", 1.0, results)], now=NOW, rerank=query)
    return [grades[int(hit.url.removeprefix("https://").partition(".")[0])] for hit in hits]


def rerank_questions(data: dict[str, Any]) -> Iterator[Figure]:
    """Rerank a good list: the order by whole passages."""
    passages = [page.replace("\n", " ") for page in data["pages"]]
    before, after = [], []
    for case in data["cases"][:RERANKED_CASES]:
        scores = rank(case["query"], passages)
        best = sorted(range(len(passages)), key=lambda at: -scores[at])[:RERANKED]
        grades = [float(at == case["gold"]) for at in best]
        if any(grades):
            texts = [passages[at][:SNIPPET_CHARS] for at in best]
            before.append(gain(grades))
            after.append(Value(case["id"], gain(reranked(case["query"], texts, grades))))
    yield Figure("--rerank, nDCG@10", data["name"], after, f"{mean(before):.3f} as given")


def rerank_pages(data: dict[str, Any]) -> Iterator[Figure]:
    """Rerank the order of Baidu; a page is right if it has most of a human answer."""
    before, after = [], []
    for case in data["cases"]:
        wanted = [units(reference, True) for reference in case["refs"]]
        shares = [
            max(common(units(page[:5000], True), one) / max(len(one), 1) for one in wanted) for page in case["pages"]
        ]
        grades = [float(share > 0.8) for share in shares]
        if any(grades):
            before.append(gain(grades))
            texts = [page[:SNIPPET_CHARS] for page in case["pages"]]
            after.append(Value(case["id"], gain(reranked(case["query"], texts, grades))))
    yield Figure("--rerank, nDCG@10", f"{data['name']}, order of Baidu", after, f"{mean(before):.3f} as given")


def rerank_runs(name: str, lists: Sequence[RankedList]) -> Iterator[Figure]:
    """Rerank a run of a TREC system."""
    before = [gain(one.grades, one.ideal) for one in lists]
    after = [
        Value(
            one.topic,
            gain(reranked(one.query, one.texts[:TREC_RERANKED], one.grades[:TREC_RERANKED]), one.ideal),
        )
        for one in lists
    ]
    yield Figure("--rerank, nDCG@10", name, after, f"{mean(before):.3f} as given")


def fuse_pairs(runs: dict[str, Sequence[RankedList]]) -> Iterator[Figure]:
    """Fuse every two runs over the same topics, the better one first in `-p`, and with equal weights."""
    for (one, lists), (other, others) in combinations(runs.items(), 2):
        second = {found.topic: found for found in others}
        pairs = [(found, second[found.topic]) for found in lists if found.topic in second]
        if not pairs:
            continue
        alone = [mean([gain(pair[side].grades, pair[side].ideal) for pair in pairs]) for side in (0, 1)]
        best = alone.index(max(alone))
        names = f"{one} + {other}" if not best else f"{other} + {one}"
        for how, named in (("-p with the better one first", ["a", "b"]), ("equal weights", [])):
            values = [Value(pair[0].topic, fused((pair[best], pair[1 - best]), named)) for pair in pairs]
            yield Figure(f"Fusion, nDCG@10, {how}", names, values, f"{alone[best]:.3f} and {alone[1 - best]:.3f} alone")


def fused(lists: Sequence[RankedList], named: Sequence[str]) -> float:
    """Return nDCG@10 of merged lists; `named` are the ids in the order of `-p`."""
    grades: dict[str, float] = {}
    given = []
    for name, found in zip("abcdefgh", lists, strict=False):
        urls = [f"https://document.example/{document}" for document in found.documents[:TREC_FUSED]]
        grades |= dict(zip(urls, found.grades, strict=False))
        given.append(ProviderList(name, order_factor(name, named), [Result("", url) for url in urls]))
    return gain([grades[hit.url] for hit in fuse(given, now=NOW)], lists[0].ideal)
