"""How cost grows: results, queries in a batch, cache entries, library pages. Linear or better is what we want."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from loopback import SENTENCE, Addresses
from measuring import race

RUNS = 3

Environ = Mapping[str, str]


def table(addresses: Addresses, environ: Environ) -> str:
    """Return how many times more it costs to have more, as a Markdown table."""
    lines = ["| what grows | from | to | times as much | time taken × |", "|---|---|---|---|---|"]
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
    return race({"search": command}, environ, RUNS)["search"].seconds


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
        own = dict(environ) | {"SLEUTH_HOME": home, "SLEUTH_CACHE_MAX_ENTRIES": "20000"}
        fill = "import sys\nfrom sleuth.store.cache.json_disk import open_cache\n"
        fill += "cache = open_cache(sys.argv[1])\nwith cache.transact():\n"
        fill += " for number in range(int(sys.argv[2])):\n  cache.set(str(number), '{}' * 2000, expire=900)\n"
        folder = Path(home) / "cache" / "answers"
        folder.mkdir(parents=True, mode=0o700)
        subprocess.run([sys.executable, "-c", fill, str(folder), str(count)], env=own, check=True)
        live = _sleuth("search", "-p", "searxng", "--refresh", "--json", "rust")
        return race({"search": live}, own, RUNS)["search"].seconds


def _library(count: int, environ: Environ) -> float:
    with tempfile.TemporaryDirectory() as home:
        own = dict(environ) | {"SLEUTH_HOME": home}
        folder = Path(home) / "pages"
        folder.mkdir()
        for number in range(count):
            words = f"Page {number}. {SENTENCE}topic{number % 97} item{number % 1009} "
            (folder / f"{number}.txt").write_text(words * 3)
        subprocess.run(_sleuth("library", "add", str(folder)), env=own, check=True, capture_output=True)
        stats = subprocess.run(_sleuth("library", "stats", "--json"), env=own, check=True, capture_output=True).stdout
        assert json.loads(stats)
        command = _sleuth("search", "-p", "library", "--no-cache", "--json", "topic5", "runtimes", "item77")
        return race({"search": command}, own, RUNS)["search"].seconds
