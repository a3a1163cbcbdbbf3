"""The table of docs/relevance.md, measured on the samples in bench/data; downloads nothing.

    python -m bench.relevance               measure and print the table
    python -m bench.relevance --check       fail if a figure is below the interval recorded in docs/relevance.md
    python -m bench.relevance --write       write the table into docs/relevance.md
    python -m bench.relevance --data DIR    public sets that were downloaded into a folder; see bench/external.py

Intervals are 95 % bootstrap intervals over the cases; the two halves are chosen by a hash of the case.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from bench import measures
from bench.external import read
from bench.figure import Figure

DATA, PAGE = Path(__file__).parent / "data", Path(__file__).parents[1] / "docs" / "relevance.md"
BEGIN, END = "<!-- begin of the table -->", "<!-- end of the table -->"
HEAD = "| what | sample | cases | figure | 95 % interval | halves | compare |\n|---|---|---|---|---|---|---|"
ROW = re.compile(r"\| (.+?) \| (.+?) \| \d+ \| [\d.]+ \| ([\d.]+)–[\d.]+ \|")

jobs: list[measures.Job] = []  # inherited by the worker processes, so that the data need not be sent to them


def main() -> int:
    """Measure, print and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    jobs[:] = measures.external(read(options.data, measures.known(DATA))) if options.data else measures.shipped(DATA)
    lowest = {} if options.data else dict(recorded(PAGE.read_text("utf-8")))
    print(HEAD, flush=True)
    rows, dropped = [], []
    for figure in computed():
        rows.append(figure.row())
        print(rows[-1], flush=True)
        floor = lowest.pop((figure.group, figure.name), 0.0)
        if round(figure.mean, 3) < floor:
            dropped.append(f"{figure.group}, {figure.name}: {figure.mean:.3f} is below {floor:.3f}")
    dropped += [f"{group}, {name}: not measured" for group, name in lowest]
    if options.write:
        before, rest = PAGE.read_text("utf-8").split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join([HEAD, *rows]) + f"\n\n{END}{rest.split(END)[1]}", "utf-8")
    print("\n".join(dropped), file=sys.stderr)
    return 1 if options.check and dropped else 0


def computed() -> Iterator[Figure]:
    """Yield all figures, computed on all cores, in the order of the jobs."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("fork")) as pool:
        for rows in pool.map(run, range(len(jobs))):
            yield from rows


def run(number: int) -> list[Figure]:
    """Return the figures of one job."""
    return list(jobs[number]())


def recorded(page: str) -> list[tuple[tuple[str, str], float]]:
    """Return the lower end of each interval in the table of the page."""
    table = page.partition(BEGIN)[2].partition(END)[0]  # the others are of data that is not in the repository
    return [((found[1], found[2]), float(found[3])) for found in map(ROW.match, table.splitlines()) if found]


if __name__ == "__main__":
    sys.exit(main())
