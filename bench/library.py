"""How fast the library adds pages, and how long a query takes in a small and in a large one.

    PYTHONPATH=cli:providers python bench/library.py            1,000 and 20,000 pages of 2 kB
    PYTHONPATH=cli:providers python bench/library.py 1000 100000

Word frequencies follow Zipf's law, as in real text. Times are the best of several, in this process and with an open
connection; the last column is the ratio to the smallest library.
"""

import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import accumulate

from sleuth.library.library import Document, Library

Name = Callable[[int], str]

VOCABULARY = 30_000
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
HAN = [chr(0x4E00 + number) for number in range(3_000)]
QUERIES: dict[str, Callable[[Name, Name], str]] = {
    "a rare word": lambda word, han: word(9_000),
    "three rare words": lambda word, han: f"{word(5_000)} {word(7_000)} {word(11_000)}",
    "three words of medium frequency": lambda word, han: f"{word(100)} {word(300)} {word(500)}",
    "a word of half the pages": lambda word, han: word(40),
    "two common, one rare word": lambda word, han: f"{word(3)} {word(50)} {word(9_000)}",
    "a question of ten words": lambda word, han: " ".join(
        map(word, (5, 20, 60, 150, 400, 900, 1_500, 3_000, 8_000, 20_000))
    ),
    "only common words": lambda word, han: " ".join(map(word, range(5))),
    "Chinese": lambda word, han: "".join(map(han, (2, 0, 1, 3, 4))),
}


def main() -> None:
    """Fill a library step by step and measure at each size."""
    sizes = [int(argument) for argument in sys.argv[1:]] or [1_000, 20_000]
    small: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        library, done, pages = Library(os.path.join(folder, "library.db")), 0, synthetic()
        library.stats()  # seeds the handbook
        for size in sizes:
            started = time.perf_counter()
            library.add(page for _, page in zip(range(size - done), pages, strict=False))
            rate = (size - done) / (time.perf_counter() - started)
            done = size
            print(f"{size:>7,} pages: {rate:,.0f} pages/s added, {library.stats().bytes / 1e6:,.0f} MB")
            for name, make in QUERIES.items():
                seconds = measure(library, make(vocabulary, lambda number: HAN[number]))
                ratio = seconds / small.setdefault(name, seconds)
                print(f"        {name:<28} {seconds * 1000:7.2f} ms   × {ratio:.2f}")
        library.close()


def measure(library: Library, query: str) -> float:
    """Return the seconds that the best of several equal searches took."""
    times = []
    for _ in range(9):
        started = time.perf_counter()
        library.search(query, 10)
        times.append(time.perf_counter() - started)
    return min(times)


def synthetic() -> Iterator[Document]:
    """Yield pages of about 2 kB without end, one in ten of them Chinese."""
    source = random.Random(1)
    ranks = range(VOCABULARY)
    latin = list(accumulate(1 / (rank + 10) for rank in ranks))
    chinese = list(accumulate(1 / (rank + 20) for rank in range(len(HAN))))
    for number in range(10**9):
        if number % 10 == 9:
            title, text = ("".join(source.choices(HAN, cum_weights=chinese, k=length)) for length in (12, 650))
        else:
            title, text = (
                " ".join(map(vocabulary, source.choices(ranks, cum_weights=latin, k=length))) for length in (6, 320)
            )
        yield Document(f"https://example.org/{number}", title, text, "example.org", 1.0, len(text), source="page")


def vocabulary(rank: int) -> str:
    """Return the word of a rank; common words are short."""
    word = ""
    rank += len(SYLLABLES)
    while rank:
        rank, rest = divmod(rank, len(SYLLABLES))
        word += SYLLABLES[rest]
    return word


if __name__ == "__main__":
    main()
