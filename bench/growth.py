"""How time grows with results, queries in a batch, cache entries and library pages; it should be linear or better."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from loopback import SENTENCE, Addresses
from timing import measure

RUNS = 3

Environ = Mapping[str, str]


def table(addresses: Addresses, environ: Environ) -> str:
    """Return the growth of time for larger inputs as a Markdown table."""
    lines = ["| input | from | to | times larger | times slower |", "|---|---|---|---|---|"]
    rows: tuple[tuple[str, int, int, Callable[[int, Environ], float]], ...] = (
        ("results of a provider", 10, 1000, _results),
        ("queries of a batch", 10, 10_000, _batch),
        ("entries in the cache", 100, 10_000, _cache),
        ("pages in the library, one query", 1000, 100_000, _library),
    )
    for name, few, many, cost in rows:
        before, after = cost(few, environ), cost(many, environ)
        lines.append(f"| {name} | {few:,} | {many:,} | {many // few} | {after / before:.2f} |")
    return "\n".join(lines)


def _sleuth(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("sleuth")), *arguments]


def _results(count: int, environ: Environ) -> float:
    command = _sleuth("search", "-p", "searxng", "--no-cache", "-n", "50", "--json", "results", str(count))
    return measure({"search": command}, environ, RUNS)["search"].seconds


def _batch(count: int, environ: Environ) -> float:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as queries:
        queries.writelines(f"question {number}\n" for number in range(count))
        queries.flush()
        command = _sleuth("search", "-p", "searxng", "--no-cache", "--batch", queries.name)
        started = time.perf_counter()
        subprocess.run(command, env=dict(environ), check=True, stdout=subprocess.DEVNULL)
        return time.perf_counter() - started


def _cache(count: int, environ: Environ) -> float:
    with tempfile.TemporaryDirectory() as home:
        variables = dict(environ) | {"SLEUTH_HOME": home, "SLEUTH_CACHE_MAX_ENTRIES": "20000"}
        fill = "import sys\nfrom sleuth.store.cache.json_disk import open_cache\n"
        fill += "cache = open_cache(sys.argv[1])\nwith cache.transact():\n"
        fill += " for number in range(int(sys.argv[2])):\n  cache.set(str(number), '{}' * 2000, expire=900)\n"
        folder = Path(home) / "cache" / "answers"
        folder.mkdir(parents=True, mode=0o700)
        subprocess.run([sys.executable, "-c", fill, str(folder), str(count)], env=variables, check=True)
        live = _sleuth("search", "-p", "searxng", "--refresh", "--json", "rust")
        return measure({"search": live}, variables, RUNS)["search"].seconds


def _library(count: int, environ: Environ) -> float:
    with tempfile.TemporaryDirectory() as home:
        variables = dict(environ) | {"SLEUTH_HOME": home}
        folder = Path(home) / "pages"
        folder.mkdir()
        for number in range(count):
            words = f"Page {number}. {SENTENCE}topic{number % 97} item{number % 1009} "
            (folder / f"{number}.txt").write_text(words * 3)
        subprocess.run(_sleuth("library", "add", str(folder)), env=variables, check=True, capture_output=True)
        stats = subprocess.run(_sleuth("library", "stats", "--json"), env=variables, check=True, capture_output=True)
        assert json.loads(stats.stdout)
        command = _sleuth("search", "-p", "library", "--no-cache", "--json", "topic5", "runtimes", "item77")
        return measure({"search": command}, variables, RUNS)["search"].seconds
