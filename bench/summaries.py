"""ROUGE of extractive answers and summaries against human ones; the baseline is the start of the first page.

    PYTHONPATH=cli:providers python bench/summaries.py FOLDER     every dev_summary_*.json.gz in it
    PYTHONPATH=cli:providers python bench/summaries.py            a few built-in pages, as a smoke test

A case has a query, pages (or the number of one), references and a budget in characters. ROUGE is F1 against the nearest
reference: by characters without white space for Chinese, by stemmed words for English.
"""

import argparse
import gzip
import json
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sleuth.relevance.summary import SummarySentence, summarise

TARGETS = {"dureader_zh": ("L", 31.0), "qmsum_en": ("1", 24.5)}
BUILT_IN = {
    "name": "built_in_en",
    "cases": [
        {
            "query": "How long should green tea steep?",
            "pages": [
                "How long should green tea steep? Steep green tea for two to three minutes in water of 80 degrees.",
                "All about tea. Green tea should steep two to three minutes, in water well below boiling.",
                "Our shop opens at nine. We sell cups.",
            ],
            "refs": ["Two to three minutes, in water below boiling."],
            "budget": 100,
        }
    ],
}


def main() -> None:
    """Print each data set's figures."""
    parser = argparse.ArgumentParser(description="ROUGE of extractive summaries")
    parser.add_argument("folder", nargs="?", type=Path)
    options = parser.parse_args()
    sets = [BUILT_IN]
    if options.folder:
        sets = [json.loads(gzip.decompress(path.read_bytes())) for path in sorted(options.folder.glob("*summary_*.gz"))]
    for data in sets:
        report(data)


def report(data: dict[str, Any]) -> None:
    """Print the scores of one data set."""
    ours, starts, wrong = Counter[str](), Counter[str](), 0
    started = time.process_time()
    for case in data["cases"]:
        pages = case.get("pages") or [data["pages"][case["doc"]]]
        found = summarise(pages, case["query"], case["budget"]).overall
        wrong += any(pages[part.page][part.start : part.end] != part.text for part in found)
        wrong += sum(len(part.text) for part in found) > case["budget"]
        for total, text in ((ours, joined(pages, found)), (starts, pages[0][: case["budget"]])):
            total.update(rouge(text, case["refs"], data["name"].endswith("_zh")))
    number = len(data["cases"])
    name, target = TARGETS.get(data["name"], ("", 0.0))
    for measure in ("1", "2", "L"):
        score, start = (100 * total[measure] / number for total in (ours, starts))
        wanted = f" (target {target})" if measure == name else ""
        print(f"{data['name']:<12} ROUGE-{measure} {score:.1f}{wanted}, first page's start {start:.1f}")
    seconds = (time.process_time() - started) / number
    print(f"{'':<12} {number} cases, not verbatim or too long: {wrong}, {seconds * 1000:.0f} ms per case")


def joined(pages: Sequence[str], found: Sequence[SummarySentence]) -> str:
    """Join sentences; those that are adjacent in their page keep the white space between them."""
    text = ""
    for before, part in zip((None, *found), found, strict=False):
        follows = before and before.page == part.page and before.end <= part.start
        between = pages[part.page][before.end : part.start] if before and follows else "\n"
        text += ("" if not text else between if not between.strip() else " ") + part.text
    return text


def rouge(text: str, references: Sequence[str], by_character: bool) -> dict[str, float]:
    """Return ROUGE-1, ROUGE-2 and ROUGE-L as F1, each against the nearest reference."""
    pairs = [(units(text, by_character), units(reference, by_character)) for reference in references]
    return {
        "1": max(f1(overlap(one, other, 1), len(one), len(other)) for one, other in pairs),
        "2": max(f1(overlap(one, other, 2), len(one) - 1, len(other) - 1) for one, other in pairs),
        "L": max(f1(common(one, other), len(one), len(other)) for one, other in pairs),
    }


def units(text: str, by_character: bool) -> list[str]:
    """Return what is compared: characters, or stemmed words."""
    if by_character:
        return [character for character in text.lower() if not character.isspace()]
    from Stemmer import Stemmer

    return list(Stemmer("porter").stemWords(re.findall(r"[a-z0-9]+", text.lower())))


def f1(hits: int, found: int, wanted: int) -> float:
    """Return the harmonic mean of precision and recall."""
    return 2 * hits / (found + wanted) if hits else 0.0


def overlap(one: Sequence[str], other: Sequence[str], size: int) -> int:
    """Return how many n-grams of this size two texts share."""
    grams = [Counter(tuple(text[at : at + size]) for at in range(len(text) - size + 1)) for text in (one, other)]
    return (grams[0] & grams[1]).total()


def common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, computed bit by bit in one long number."""
    places: dict[str, int] = {}
    for at, unit in enumerate(one):
        places[unit] = places.get(unit, 0) | 1 << at
    full = (1 << len(one)) - 1
    row = full
    for unit in other:
        hits = row & places.get(unit, 0)
        row = ((row + hits) | (row - hits)) & full
    return len(one) - row.bit_count()


if __name__ == "__main__":
    main()
