"""Races sleuth against bare Python, curl and its peers on one loopback server; the table goes to docs/performance.md.

    python bench/race.py [--runs 15] [--only WORD …] [--growth] [--no-peers] [--no-write] [--check]

Ratios carry over to other machines, milliseconds do not; all that is compared was measured in turn, in one run.
--growth adds how cost grows with results, queries, cache entries and library pages, which takes some minutes.
--check exits with 1 when a goal is missed by more than noise; where valgrind is installed it counts instructions.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import growth
import together
from loopback import Addresses, serving
from measuring import Figures, can_count, instructions, race
from peers import peer_runners

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- Written by make bench: begin -->", "<!-- Written by make bench: end -->"
WORDS = ("rust", "async", "runtimes")
BARE = "python -c pass"
DUELS = {"live": 0.85, "live over https": 0.65}  # what sleuth may take of what ddgr takes, standard library only
NOISE = 1.1  # how far above its goal a ratio may be before that is a failure


class Runner(NamedTuple):
    """One command line to measure, with its goals. As in a shell, the command may start with variables."""

    name: str
    command: list[str]
    goal: float | None = None  # time, as a multiple of bare Python
    megabytes: float | None = None  # memory


def main() -> int:
    """Run the races, print and write the tables; with --check, judge them."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=15)
    options.add_argument("--only", nargs="*", default=[], help="race only those whose name has one of the words")
    for flag in ("--growth", "--no-peers", "--no-write", "--check"):
        options.add_argument(flag, action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as addresses:
        environ = environment(Path(folder), addresses)
        runners = contestants(addresses, Path(folder), with_peers=not chosen.no_peers)
        runners = [one for one in runners if not chosen.only or any(word in one.name for word in (BARE, *chosen.only))]
        found = race({one.name: one.command for one in runners}, environ, chosen.runs)
        tables = [table(runners, found)]
        rows = [] if chosen.only else [*duels(found), *together.compare(addresses, environ, chosen.runs)]
        if rows:
            tables.append(together.table(rows))
        if chosen.growth:
            tables.append(growth.table(addresses, environ))
        missed = judge(runners, found, rows, environ) if chosen.check else []
    print("\n\n".join(tables))
    if not chosen.only and not chosen.no_write:
        write("\n\n".join(tables))
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


def environment(folder: Path, addresses: Addresses) -> dict[str, str]:
    """Return the environment everybody runs in."""
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


def contestants(addresses: Addresses, folder: Path, *, with_peers: bool) -> list[Runner]:
    """Return who runs."""
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
    for one in runners:
        seconds, megabytes = found[one.name]
        lines.append(f"| {one.name} | {seconds / base:.2f} | {megabytes:.0f} |")
    return "\n".join(lines)


def duels(found: dict[str, Figures]) -> list[together.Row]:
    """Return the rows that compare a live search with ddgr's."""
    rows = []
    for name, goal in DUELS.items():
        ours, theirs = found.get(f"sleuth search --json, {name}"), found.get(f"ddgr --json, {name}")
        if ours and theirs:
            rows.append(together.Row(f"search --json, {name}", ours.seconds / theirs.seconds, "ddgr", goal))
    return rows


def judge(
    runners: list[Runner], found: dict[str, Figures], rows: list[together.Row], environ: dict[str, str]
) -> list[str]:
    """Return the goals that are missed by more than noise."""
    missed = [
        f"{row.name}: {row.ratio:.2f}, goal {row.goal:g}" for row in rows if row.goal and row.ratio > row.goal * NOISE
    ]
    base = instructions(runners[0].command, environ) if can_count() else found[BARE].seconds
    for one in runners:
        if one.goal:
            cost = instructions(one.command, environ) if can_count() else found[one.name].seconds
            if cost / base > one.goal * NOISE:
                missed.append(f"{one.name}: {cost / base:.2f}, goal {one.goal:g}")
        if one.megabytes and found[one.name].megabytes > one.megabytes * NOISE:
            missed.append(f"{one.name}: {found[one.name].megabytes:.0f} MB, goal {one.megabytes:g}")
    return missed


def write(tables: str) -> None:
    """Put the tables into the handbook, between their marks."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
