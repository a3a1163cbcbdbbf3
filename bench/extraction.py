"""F1 of the extracted text of pages over shingles of words, computed as the public benchmark does.

The folder is a checkout of scrapinghub/article-extraction-benchmark with html/ and ground-truth.json.
Without it, the few pages beside this file are read; they are easy, and only show that nothing is broken.

    python bench/extraction.py [FOLDER]
"""

import gzip
import json
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sleuth.pages.article import from_html
from sleuth.pages.blocks import as_markdown, as_text, cut
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.extract import ExtractedPage
from sleuth.store.settings import FETCH_CHARS

PAGES = Path(__file__).parent / "pages"
SHINGLE = 4  # words
MAX_CHARS = FETCH_CHARS.default


class Sample(NamedTuple):
    """A page and its text as marked by a person."""

    name: str
    markup: str
    truth: str


class Score(NamedTuple):
    """Means over all pages."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """Return the harmonic mean of the two."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def public_benchmark(folder: Path) -> list[Sample]:
    """Read the pages of the public benchmark."""
    truths = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    samples = []
    for name, entry in truths.items():
        with gzip.open(folder / "html" / f"{name}.html.gz", "rt", encoding="utf-8") as stream:
            samples.append(Sample(name, stream.read(), entry["articleBody"]))
    return samples


def own_pages() -> list[Sample]:
    """Read the pages next to this file."""
    return [
        Sample(page.stem, page.read_text(encoding="utf-8"), page.with_suffix(".txt").read_text(encoding="utf-8"))
        for page in sorted(PAGES.glob("*.html"))
    ]


def shingles(text: str) -> Counter[tuple[str, ...]]:
    """Count the runs of four words in a text."""
    words = re.findall(r"\w+", text)
    runs = (tuple(words[start : start + SHINGLE]) for start in range(max(1, len(words) - SHINGLE + 1)))
    return Counter(run for run in runs if run)


def compare(truth: str, found: str) -> tuple[float, float]:
    """Return precision and recall of one page."""
    wanted, got = shingles(truth), shingles(found)
    both = (wanted & got).total()
    return (
        both / got.total() if got else float(not wanted),
        both / wanted.total() if wanted else float(not got),
    )


def score(samples: list[Sample], found: list[str]) -> Score:
    """Return the means over all pages; a page without extracted text counts in recall only."""
    pairs = [(compare(sample.truth, text), text) for sample, text in zip(samples, found, strict=True)]
    return Score(
        statistics.mean(precision for (precision, _), text in pairs if text.strip()),
        statistics.mean(recall for (_, recall), _ in pairs),
    )


def extract(sample: Sample) -> ExtractedPage:
    """Return what sleuth extracts from a page."""
    try:
        return from_html(sample.markup)
    except EmptyPageError:
        return ExtractedPage()


def main(arguments: list[str]) -> None:
    """Print a line for each output format."""
    samples = public_benchmark(Path(arguments[0])) if arguments else own_pages()
    started = time.process_time()
    contents = [extract(sample) for sample in samples]
    rate = len(samples) / (time.process_time() - started)
    print(f"{len(samples)} pages, {rate:.0f} per second of processor time")
    forms: dict[str, Callable[[ExtractedPage], str]] = {
        "text": lambda content: as_text(content.blocks),
        "Markdown": lambda content: as_markdown(content.blocks),
        f"Markdown, {MAX_CHARS:,} characters": lambda content: as_markdown(cut(content.blocks, MAX_CHARS)[0]),
    }
    for name, form in forms.items():
        result = score(samples, [form(content) for content in contents])
        print(f"{name:28} F1 {result.f1:.3f}  precision {result.precision:.3f}  recall {result.recall:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
