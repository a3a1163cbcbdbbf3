"""Compares sleuth with bare Python, curl and its peers on a loopback server; writes a table to docs/performance.md.

    python bench/race.py [--runs 15] [--only WORD …] [--growth] [--no-peers] [--no-write] [--check]

Ratios are comparable between machines, milliseconds are not; the commands of one table take turns.
--growth adds how time grows with results, queries, cache entries and library pages; it takes some minutes.
--check exits with 1 if a goal is missed by more than noise; with valgrind, it counts instructions.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import growth
import parallel
from loopback import Addresses, serve
from peers import peer_runners
from timing import Figures, can_count, instructions, measure

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- Written by make bench: begin -->", "<!-- Written by make bench: end -->"
WORDS = ("rust", "async", "runtimes")
BARE = "python -c pass"
DDGR_GOALS = {"live": 0.85, "live over https": 0.65}  # time of sleuth as a multiple of the time of ddgr
NOISE = 1.1  # a goal is missed when the ratio is this many times larger


class Runner(NamedTuple):
    """A command to measure, and its goals. As in a shell, it may start with variables."""

    name: str
    command: list[str]
    goal: float | None = None  # time, as a multiple of bare Python
    megabytes: float | None = None  # memory


def main() -> int:
    """Measure, print and write the tables; with --check, compare them with the goals."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=15)
    options.add_argument("--only", nargs="*", default=[], help="only commands with one of these words in their name")
    for flag in ("--growth", "--no-peers", "--no-write", "--check"):
        options.add_argument(flag, action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve(Path(folder)) as addresses:
        environ = environment(Path(folder), addresses)
        runners = commands(addresses, Path(folder), with_peers=not chosen.no_peers)
        runners = [
            runner for runner in runners if not chosen.only or any(word in runner.name for word in (BARE, *chosen.only))
        ]
        found = measure({runner.name: runner.command for runner in runners}, environ, chosen.runs)
        tables = [table(runners, found)]
        rows = [] if chosen.only else [*ddgr_rows(found), *parallel.compare(addresses, environ, chosen.runs)]
        if rows:
            tables.append(parallel.table(rows))
        if chosen.growth:
            tables.append(growth.table(addresses, environ))
        missed = missed_goals(runners, found, rows, environ) if chosen.check else []
    print("\n\n".join(tables))
    if not chosen.only and not chosen.no_write:
        write("\n\n".join(tables))
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def environment(folder: Path, addresses: Addresses) -> dict[str, str]:
    """Return the environment of all commands."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "SLEUTH_HOME": str(folder / "sleuth"),
        "SEARXNG_URL": addresses.http,
        "SSL_CERT_DIR": str(addresses.certificates),
        "LANG": "C.UTF-8",
        "TAVILY_API_BASE_URL": addresses.http,
        "TAVILY_API_KEY": "tvly-bench",
    }


def commands(addresses: Addresses, folder: Path, *, with_peers: bool) -> list[Runner]:
    """Return the commands to compare."""
    sleuth = str(Path(sys.executable).with_name("sleuth"))
    search = [sleuth, "search", "-p", "searxng"]
    secure = [f"SEARXNG_URL={addresses.https}", *search]
    runners = [
        Runner(BARE, [sys.executable, "-c", "pass"]),
        Runner("sleuth --version", [sleuth, "--version"], 1.3),
        Runner("sleuth --help", [sleuth, "--help"], 2.0),
        Runner("sleuth search --json, cached", [*search, "--json", *WORDS], 2.0, 12),
        Runner("sleuth search on a terminal, cached", [*search, "-f", "rich", *WORDS], 7),
        Runner("sleuth search --json, live", [*search, "--no-cache", "--json", *WORDS], 6.5, 24),
        Runner("sleuth search --json, live over https", [*secure, "--no-cache", "--json", *WORDS], 7, 24),
        Runner("sleuth config get", [sleuth, "config", "get", "websearch.max_results"], 7.5),
        Runner("sleuth providers list --ids", [sleuth, "providers", "list", "--ids"], 7.5),
    ]
    if curl := shutil.which("curl"):
        runners.append(Runner("curl, live", [curl, "-s", f"{addresses.http}/search?q=rust&format=json"]))
    if with_peers:
        runners += [Runner(name, command) for name, command in peer_runners(addresses, folder, WORDS).items()]
    return runners


def table(runners: list[Runner], found: dict[str, Figures]) -> str:
    """Return the ratios as a Markdown table."""
    base = found[BARE].seconds
    lines = ["| | × bare Python | MB |", "|---|---|---|"]
    for runner in runners:
        seconds, megabytes = found[runner.name]
        lines.append(f"| {runner.name} | {seconds / base:.2f} | {megabytes:.0f} |")
    return "\n".join(lines)


def ddgr_rows(found: dict[str, Figures]) -> list[parallel.Row]:
    """Return the rows that compare live searches with ddgr."""
    rows = []
    for name, goal in DDGR_GOALS.items():
        own, other = found.get(f"sleuth search --json, {name}"), found.get(f"ddgr --json, {name}")
        if own and other:
            rows.append(parallel.Row(f"search --json, {name}", own.seconds / other.seconds, "ddgr", goal))
    return rows


def missed_goals(
    runners: list[Runner], found: dict[str, Figures], rows: list[parallel.Row], environ: dict[str, str]
) -> list[str]:
    """Return the goals missed by more than noise."""
    missed = [
        f"{row.name}: {row.ratio:.2f}, goal {row.goal:g}" for row in rows if row.goal and row.ratio > row.goal * NOISE
    ]
    base = instructions(runners[0].command, environ) if can_count() else found[BARE].seconds
    for runner in runners:
        if runner.goal:
            cost = instructions(runner.command, environ) if can_count() else found[runner.name].seconds
            if cost / base > runner.goal * NOISE:
                missed.append(f"{runner.name}: {cost / base:.2f}, goal {runner.goal:g}")
        if runner.megabytes and found[runner.name].megabytes > runner.megabytes * NOISE:
            missed.append(f"{runner.name}: {found[runner.name].megabytes:.0f} MB, goal {runner.megabytes:g}")
    return missed


def write(tables: str) -> None:
    """Write the tables into the handbook, between the two markers."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
