"""How often the sentence that answers a question survives compression, and how long 3,000 passages take.

    PYTHONPATH=cli:providers python bench/compression.py FOLDER     every dev_compress_*.json.gz in it
    PYTHONPATH=cli:providers python bench/compression.py            a few built-in pages, as a smoke test

A file holds `pages` and `cases`: a query, the numbers of its pages, and the evidence, a sentence of one of them, which
is kept if it is complete. Budgets are characters; with --tokens they are tokens, a quarter of them for Latin text.
"""

import argparse
import gzip
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from sleuth.relevance.compress import compress
from sleuth.relevance.passages import score

LATIN, CJK = (500, 1000, 2000), (250, 500, 1000)
TARGETS = {
    "xquad_en": {1000: 0.94, 2000: 0.975},
    "xquad_zh": {500: 0.96, 1000: 0.98},
    "cmrc_zh": {500: 0.96, 1000: 0.98},
}
BUILT_IN = {
    "name": "built_in_en",
    "pages": [
        "Tea is grown in hills. " * 30
        + "The harvest begins in April, when the first leaves open. "
        + "Rain helps. " * 60,
        "Coffee needs shade. " * 40 + "A coffee tree bears fruit after four years. " + "Birds nest in it. " * 40,
    ],
    "cases": [
        {"query": "When does the tea harvest begin?", "pages": [0, 1], "evidence": "The harvest begins in April"},
        {"query": "How old is a coffee tree when it bears fruit?", "pages": [1, 0], "evidence": "after four years."},
    ],
}


class Kept(NamedTuple):
    """Results for one data set and budget."""

    share: float
    over: int  # must be 0
    seconds: float  # per case


def main() -> None:
    """Print a table of data sets and budgets."""
    parser = argparse.ArgumentParser(description="evidence kept by rag and by cutoff")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--cases", type=int, default=200, help="at most N of each set")
    parser.add_argument("--tokens", action="store_true", help="budgets in tokens")
    options = parser.parse_args()
    sets = [BUILT_IN]
    if options.folder:
        sets = [
            json.loads(gzip.decompress(path.read_bytes())) for path in sorted(options.folder.glob("*compress_*.gz"))
        ]
    for data in sets:
        report(data, options.cases, options.tokens)
    print(f"3,000 passages: {max(map(timed, sets)):.3f} s of processor time")


def report(data: dict[str, Any], cases: int, in_tokens: bool) -> None:
    """Print the share of evidence kept at each budget."""
    latin = data["name"].endswith("_en")
    for size in LATIN if latin else CJK:
        limit = size // 4 if in_tokens and latin else size
        rag, cutoff = (measured(data, method, limit, in_tokens, cases) for method in ("rag", "cutoff"))
        target = "" if in_tokens else TARGETS.get(data["name"], {}).get(size, "")
        print(
            f"{data['name']:<10} @{limit:<5} rag {rag.share:.3f} (target {target or '–'}), cutoff {cutoff.share:.3f}, "
            f"over budget {rag.over + cutoff.over}, {rag.seconds * 1000:.0f} ms per query"
        )


def measured(data: dict[str, Any], method: str, limit: int, in_tokens: bool, number: int) -> Kept:
    """Compress every case and look for its evidence."""
    cases = data["cases"][:number]
    kept = over = 0
    started = time.process_time()
    for case in cases:
        texts = [data["pages"][page] for page in case["pages"]]
        found = compress(case["query"], texts, method, limit=limit, unit="token" if in_tokens else "char")
        kept += any(case["evidence"] in page.content for page in found.pages)
        over += found.size_after > limit
    return Kept(kept / len(cases), over, (time.process_time() - started) / len(cases))


def timed(data: dict[str, Any]) -> float:
    """Return the best of three times that scoring three thousand passages takes."""
    text = "\n".join(data["pages"])
    number = len(score("", [text]))
    pages = [text] * (3000 // number) + [text[: len(text) * (3000 % number) // number]]
    times = []
    for _ in range(3):
        started = time.process_time()
        score(data["cases"][0]["query"], pages)
        times.append(time.process_time() - started)
    return min(times)


if __name__ == "__main__":
    main()
