"""nDCG@10 of each run and of their fusion, which should be at least as good as the best run.

    python bench/fusion.py RUNS QRELS

RUNS is a folder of TREC run files (topic Q0 document rank score tag), one for each engine; QRELS holds the relevance
judgements (topic 0 document grade). The fusion is that of sleuth, with equal weights and with weights by quality.
"""

import argparse
import math
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from sleuth.relevance.fusion import ProviderList, fuse
from sleuth_providers.base import Result

Runs = dict[str, dict[str, list[str]]]  # engine → topic → documents, best first
Judged = dict[str, dict[str, int]]  # topic → document → grade
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DEPTH = 10


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("runs", type=Path)
    options.add_argument("qrels", type=Path)
    chosen = options.parse_args()
    report(read_runs(chosen.runs), read_qrels(chosen.qrels))


def read_runs(folder: Path) -> Runs:
    """Read every file of a folder as one engine's run."""
    runs: Runs = {}
    for file in sorted(path for path in folder.iterdir() if path.is_file()):
        topics: dict[str, list[tuple[float, str]]] = defaultdict(list)
        for line in file.read_text().splitlines():
            topic, _, document, _, score, *_ = line.split()
            topics[topic].append((-float(score), document))
        runs[file.stem] = {topic: [name for _, name in sorted(found)[:DEPTH]] for topic, found in topics.items()}
    return runs


def read_qrels(file: Path) -> Judged:
    """Read judgements."""
    judged: Judged = defaultdict(dict)
    for line in file.read_text().splitlines():
        topic, _, document, grade = line.split()
        judged[topic][document] = int(grade)
    return judged


def report(runs: Runs, judged: Judged) -> None:
    """Print each run and three fusions: equal weights, weights by quality, and the best single run to beat."""
    single = {name: mean(runs[name], judged) for name in runs}
    best = max(single.values())
    equal = mean(fused(runs, judged, dict.fromkeys(runs, 1.0)), judged)
    weighted = mean(fused(runs, judged, {name: score**2 for name, score in single.items()}), judged)
    for name, score in single.items():
        print(f"  {name:20} {score:.4f}")
    print(f"  fused, equal weights {equal:.4f} ({equal - best:+.4f} against the best single run)")
    print(f"  fused, by quality    {weighted:.4f} ({weighted - best:+.4f})")


def fused(runs: Runs, judged: Judged, weights: dict[str, float]) -> dict[str, list[str]]:
    """Merge the runs topic by topic."""
    merged = {}
    for topic in judged:
        lists = [
            ProviderList(name, weights[name], [Result(document, _address(document)) for document in run.get(topic, [])])
            for name, run in runs.items()
        ]
        names = {_address(document): document for run in runs.values() for document in run.get(topic, [])}
        merged[topic] = [names[hit.url] for hit in fuse(lists, now=NOW) if hit.url in names]
    return merged


def mean(run: dict[str, list[str]], judged: Judged) -> float:
    """Return the mean nDCG@10 of a run."""
    return sum(ndcg(run.get(topic, []), grades) for topic, grades in judged.items()) / len(judged)


def ndcg(documents: list[str], grades: dict[str, int]) -> float:
    """Return nDCG@10 of one list."""
    gain = sum(grades.get(name, 0) / math.log2(place + 2) for place, name in enumerate(documents[:DEPTH]))
    ideal = sum(
        grade / math.log2(place + 2) for place, grade in enumerate(sorted(grades.values(), reverse=True)[:DEPTH])
    )
    return gain / ideal if ideal else 0.0


def _address(document: str) -> str:
    return document if "://" in document else f"https://document.example/{document}"


if __name__ == "__main__":
    main()
