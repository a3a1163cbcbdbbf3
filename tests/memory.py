"""The most memory that Python objects take while a function runs, and pages that take much of it."""

import tracemalloc
from collections.abc import Callable
from itertools import islice, permutations

HAN = [chr(0x4E00 + number) for number in range(1_000)]


def peak_bytes(work: Callable[[], object]) -> int:
    """Run a function and return the peak of what it has allocated."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def chinese_page(sentences: int, length: int) -> str:
    """Return sentences of so many characters, of which no two pairs are the same for long."""
    characters = (character for pair in permutations(HAN, 2) for character in pair)
    return "".join("".join(islice(characters, length)) + "。" for _ in range(sentences))
