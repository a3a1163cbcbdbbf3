"""The table of docs/relevance.md, measured on the samples in bench/data; downloads nothing.

    python -m bench.relevance               measure and print the table
    python -m bench.relevance --check       fail if a figure is below the interval recorded in docs/relevance.md
    python -m bench.relevance --write       write the table into docs/relevance.md
    python -m bench.relevance FOLDER        other samples of the same form, such as further languages

Intervals are 95 % bootstrap intervals over the cases; the two halves are chosen by a hash of the case.
"""

import argparse
import random
import re
import sys
from pathlib import Path

from bench.measures import Figure, figures, half

DATA, PAGE = Path(__file__).parent / "data", Path(__file__).parents[1] / "docs" / "relevance.md"
BEGIN, END = "<!-- begin of the table -->", "<!-- end of the table -->"
HEAD = "| what | sample | cases | figure | 95 % interval | halves | compare |\n|---|---|---|---|---|---|---|"
RESAMPLES = 1000
ROW = re.compile(r"\| (.+?) \| (.+?) \| \d+ \| [\d.]+ \| ([\d.]+)–[\d.]+ \|")


def main() -> int:
    """Measure, print and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lowest = dict(recorded(PAGE.read_text("utf-8")) if PAGE.exists() else ())
    print(HEAD, flush=True)
    rows, dropped = [], []
    for figure in figures(options.folder):
        rows.append(row(figure))
        print(rows[-1], flush=True)
        value, floor = mean([one.value for one in figure.values]), lowest.get((figure.group, figure.name), 0.0)
        if round(value, 3) < floor:
            dropped.append(f"{figure.group}, {figure.name}: {value:.3f} is below {floor:.3f}")
    if options.write:
        before, rest = PAGE.read_text("utf-8").split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join([HEAD, *rows]) + f"\n\n{END}{rest.split(END)[1]}", "utf-8")
    print("\n".join(dropped), file=sys.stderr)
    return 1 if options.check and dropped else 0


def recorded(page: str) -> list[tuple[tuple[str, str], float]]:
    """Return the lower end of each interval in the table of the page."""
    return [((found[1], found[2]), float(found[3])) for found in map(ROW.match, page.splitlines()) if found]


def row(figure: Figure) -> str:
    """Return a row of the table."""
    values = [float(one.value) for one in figure.values]
    low, high = interval(values)
    halves = [mean([float(one.value) for one in figure.values if half(one) == side]) for side in (0, 1)]
    cells = (figure.group, figure.name, len(values), f"{mean(values):.3f}", f"{low:.3f}–{high:.3f}")
    return f"| {' | '.join(map(str, cells))} | {halves[0]:.3f}, {halves[1]:.3f} | {figure.baseline} |"


def interval(values: list[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    if min(values) == max(values):  # the rule of three: so many cases without an exception
        return values[0] - 3 / len(values), values[0]
    chance = random.Random(1)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES) - 1]


def mean(values: list[float]) -> float:
    """Return the mean, 0 for no values."""
    return sum(values) / max(len(values), 1)


if __name__ == "__main__":
    sys.exit(main())
