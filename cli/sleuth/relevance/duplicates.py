"""Pages with almost the same text under different URLs: mirrors, AMP versions, syndicated articles."""

import unicodedata
import zlib
from collections import Counter
from collections.abc import Sequence

SHINGLE_CHARS = 40  # letters and digits in a row: pages made from one template differ in most of them, copies do not
MAX_COMPARED_CHARS = 50_000  # of a page
KEPT_SHARE = 8  # one of so many shingles is compared, chosen by its hash
MIN_SHINGLES = 30  # about 250 letters; shorter pages are similar by chance
MIN_COMMON_SHARE = 0.7  # of the shingles of two pages: the rest is what each site puts around an article


def find_duplicates(texts: Sequence[str]) -> dict[int, int]:
    """Return the places of texts that repeat an earlier one, with the place of that."""
    sketches: dict[int, Counter[int]] = {}  # of texts that repeat no other
    found: dict[int, int] = {}
    for place, text in enumerate(texts):
        sketch = _sketch(text)
        first = next((at for at, other in sketches.items() if _is_same(sketch, other)), None)
        if first is None:
            sketches[place] = sketch
        else:
            found[place] = first
    return found


def _sketch(text: str) -> Counter[int]:
    """Return how often each shingle occurs: what a template repeats counts as often as it does."""
    letters = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text[:MAX_COMPARED_CHARS]).casefold()))
    shingles = (letters[at : at + SHINGLE_CHARS].encode() for at in range(len(letters) - SHINGLE_CHARS + 1))
    return Counter(number for number in map(zlib.crc32, shingles) if number % KEPT_SHARE == 0)


def _is_same(one: Counter[int], other: Counter[int]) -> bool:
    shared, total = (one & other).total(), (one | other).total()
    return min(one.total(), other.total()) >= MIN_SHINGLES and shared >= MIN_COMMON_SHARE * total
