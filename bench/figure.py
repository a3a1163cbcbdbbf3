"""A row of the table of docs/relevance.md: one value for each case, their mean and its interval."""

import hashlib
import random
from typing import NamedTuple

RESAMPLES = 1000


class Value(NamedTuple):
    """The result for one case; the hash of the id puts it into one of two halves."""

    id: str
    value: float

    @property
    def half(self) -> int:
        """Return the half that the case belongs to."""
        return hash_of(self.id) % 2


class Figure(NamedTuple):
    """A row of the table."""

    group: str
    name: str
    values: list[Value]
    baseline: str = ""

    @property
    def mean(self) -> float:
        """Return the mean over all cases."""
        return mean([one.value for one in self.values])

    def interval(self) -> tuple[float, float]:
        """Return the 95 % bootstrap interval of the mean."""
        values = [float(one.value) for one in self.values]
        if min(values) == max(values):  # the rule of three: so many cases without an exception
            return values[0] - 3 / len(values), values[0]
        chance = random.Random(1)
        means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
        return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]

    def row(self) -> str:
        """Return the row as Markdown."""
        low, high = self.interval()
        halves = [mean([one.value for one in self.values if one.half == side]) for side in (0, 1)]
        cells = (self.group, self.name, len(self.values), f"{self.mean:.3f}", f"{low:.3f}–{high:.3f}")
        return f"| {' | '.join(map(str, cells))} | {halves[0]:.3f}, {halves[1]:.3f} | {self.baseline} |"


def mean(values: list[float]) -> float:
    """Return the mean, 0 for no values."""
    return sum(values) / max(len(values), 1)


def hash_of(text: str) -> int:
    """Return a number that is the same in every run."""
    return int(hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(), 16)
