"""Quality of ranking passages (nDCG@10) and of canonical URLs (pairs), on a folder of data or on a few samples.

    python bench/relevance.py [FOLDER] [--cases N]

A folder may hold `*.json.gz` files ({"name", "pages": [text], "cases": [{"query", "evidence", "gold": page}]}) and
`*.tsv` files of URL pairs (`same` or `diff`, one, other). Each line of a page is a passage; the lines that hold the
evidence are the right ones, and all passages of a file compete.
"""

import argparse
import gzip
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sleuth.relevance.bm25 import rank
from sleuth.relevance.urls import canonical

SAMPLE: dict[str, Any] = {
    "name": "built-in samples",
    "pages": [
        "The lighthouse was built in 1874 by two brothers.\nIts lamp burned whale oil until electricity came.",
        "Bread rises because yeast turns sugar into gas.\nA slow rise in the cold gives more taste.",
        "长江全长约六千三百公里，是亚洲最长的河流。\n黄河因河水含沙量大而得名。",
        "Asynchronous code in Python 3.11 gained task groups.\nC++ got coroutines in C++20.",
    ],
    "cases": [
        {"query": "Who built the lighthouse?", "evidence": "two brothers", "gold": 0},
        {"query": "why does bread rise", "evidence": "yeast", "gold": 1},
        {"query": "how to make bread tastier", "evidence": "more taste", "gold": 1},
        {"query": "亚洲最长的河是什么？", "evidence": "长江", "gold": 2},
        {"query": "黄河为什么叫黄河", "evidence": "黄河因", "gold": 2},
        {"query": "coroutine c++", "evidence": "coroutines", "gold": 3},
        {"query": "python 3.11 task groups", "evidence": "task groups", "gold": 3},
    ],
}
PAIRS: list[tuple[str, ...]] = [
    ("same", "http://www.example.com/a/?utm_source=x", "https://example.com/a"),
    ("diff", "https://example.com/a?id=5", "https://example.com/a?id=6"),
]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the ranking of passages and the canonical form of URLs.")
    parser.add_argument("folder", nargs="?", type=Path, help="folder of data; default: a few samples")
    parser.add_argument("--cases", type=int, default=None, help="questions per file; default: all")
    arguments = parser.parse_args()
    for data in _sets(arguments.folder):
        _report_ranking(data, arguments.cases)
    for name, pairs in _pair_files(arguments.folder):
        _report_pairs(name, pairs)


def _sets(folder: Path | None) -> Iterator[dict[str, Any]]:
    if folder is None:
        yield SAMPLE
        return
    for path in sorted(folder.glob("*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            data = json.load(stream)
        if data.get("cases") and "gold" in data["cases"][0]:
            yield data


def _pair_files(folder: Path | None) -> Iterator[tuple[str, list[tuple[str, ...]]]]:
    if folder is None:
        yield "built-in samples", PAIRS
        return
    for path in sorted(folder.glob("*.tsv")):
        yield path.stem, [tuple(line.split("\t")) for line in path.read_text("utf-8").splitlines() if line]


def _report_ranking(data: dict[str, Any], limit: int | None) -> None:
    passages = [(page, line) for page, text in enumerate(data["pages"]) for line in text.split("\n") if line.strip()]
    texts = [line for _, line in passages]
    cases = data["cases"][:limit]
    total, slowest = 0.0, 0.0
    for case in cases:
        right = [place for place, (_, line) in enumerate(passages) if case["evidence"] in line]
        right = right or [place for place, (page, _) in enumerate(passages) if page == case["gold"]]
        started = time.perf_counter()
        scores = rank(case["query"], texts)
        slowest = max(slowest, time.perf_counter() - started)
        total += _gain(scores, right)
    measured = f"nDCG@10 {total / len(cases):.4f}"
    size = f"{len(cases)} questions, {len(texts)} passages, {sum(map(len, texts))} characters"
    print(f"{data['name']}: {measured} ({size}; slowest {slowest * 1000:.0f} ms)")


def _gain(scores: list[float], right: list[int]) -> float:
    """Return the discounted gain of the best right passage; ties count as ranked before it."""
    best = max(scores[place] for place in right)
    rank_of_best = (
        sum(score > best for score in scores)
        + sum(score == best for score in scores)
        - sum(scores[place] == best for place in right)
    )
    return 1 / math.log2(rank_of_best + 2) if best > 0 and rank_of_best < 10 else 0.0


def _report_pairs(name: str, pairs: list[tuple[str, ...]]) -> None:
    for kind in ("same", "diff"):
        chosen = [(one, other) for label, one, other in pairs if label == kind]
        good = sum((canonical(one) == canonical(other)) is (kind == "same") for one, other in chosen)
        print(f"{name}: {kind} {good}/{len(chosen)}")


if __name__ == "__main__":
    main()
