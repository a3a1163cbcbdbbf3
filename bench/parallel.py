"""Parallel work compared with its lower bound: the slowest provider, curl, extraction alone."""

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from loopback import SLOWEST_S, Addresses
from timing import measure

PROVIDERS = 8
FETCH = """
import sys
from threading import Thread
from sleuth_providers.base import Request
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy
urls, sizes = sys.argv[1:], []
def work():
    while urls:
        sizes.append(len(HttpClient(Policy()).send(Request(urls.pop())).body))
workers = [Thread(target=work) for _ in range(2)]
for worker in workers: worker.start()
for worker in workers: worker.join()
assert len(sizes) == len(sys.argv) - 1 and min(sizes) > 90_000
"""
READ = "import sleuth, sys; assert all(page.ok for page in sleuth.read(sys.argv[1:], cache='off'))"
EXTRACT = """
import sys
sys.path.insert(0, sys.argv[1])
from loopback import ARTICLE_PAGE
from sleuth.pages.extract import extract
from sleuth.pages.fetch import Fetched
for number in range(int(sys.argv[2])):
    extract(Fetched("http://x.example/", "html", "utf-8", ARTICLE_PAGE))
"""


class Row(NamedTuple):
    """One comparison: the time of sleuth as a multiple of another time, and the goal."""

    name: str
    ratio: float
    against: str
    goal: float | None = None


def table(rows: Sequence[Row]) -> str:
    """Return the ratios as a Markdown table."""
    lines = [f"| {row.name} | {row.ratio:.2f} | {row.against} |" for row in rows]
    return "\n".join(["| | ratio | against |", "|---|---|---|", *lines])


def compare(addresses: Addresses, environ: Mapping[str, str], runs: int) -> list[Row]:
    """Measure all parallel work."""
    reading = {
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "SLEUTH_LIBRARY_REMEMBER": "false",
        "SLEUTH_FETCH_CONCURRENCY": "8",
    }
    rows = [_providers(addresses, environ, runs)]
    if shutil.which("curl"):
        rows += [*_fetching(addresses, dict(environ) | reading, runs), _extracting(addresses, dict(environ) | reading)]
    return rows


def _providers(addresses: Addresses, environ: Mapping[str, str], runs: int) -> Row:
    sleuth = str(Path(sys.executable).with_name("sleuth"))
    names = [f"slow-{number}" for number in range(1, PROVIDERS + 1)]
    for number, name in enumerate(names, 1):
        host = ["--adapter", "searxng", "--id", name, "--api-host", f"{addresses.http}/slow/{number}"]
        subprocess.run([sleuth, "providers", "add", *host], env=dict(environ), check=True, capture_output=True)
    command = [sleuth, "search", "-p", ",".join(names), "--no-cache", "--json", "rust"]
    took = measure({"eight": command}, environ, max(10, runs))["eight"].seconds
    against = f"the slowest of them, {SLOWEST_S * 1000:.0f} ms"
    return Row(f"{PROVIDERS} providers at once", took / SLOWEST_S, against, 1.10)


def _fetching(addresses: Addresses, environ: Mapping[str, str], runs: int) -> list[Row]:
    urls = [f"{addresses.http}/text/{number}" for number in range(50)]
    ways = {"fetched": FETCH, "fetched and extracted": READ}
    commands = {name: [sys.executable, "-c", code, *urls] for name, code in ways.items()}
    found = measure({"curl": _curl(urls)} | commands, environ, max(5, runs))
    goals = {"fetched": 4.0}
    return [
        Row(
            f"50 pages of 100 kB, {name}",
            found[name].seconds / found["curl"].seconds,
            "`curl --parallel`",
            goals.get(name),
        )
        for name in ways
    ]


def _extracting(addresses: Addresses, environ: Mapping[str, str]) -> Row:
    urls = [f"{addresses.http}/article/{number}" for number in range(5)]
    commands = {
        "curl": _curl(urls),
        "extraction": [sys.executable, "-c", EXTRACT, str(Path(__file__).parent), "5"],
        "sleuth": [sys.executable, "-c", READ, *urls],
    }
    found = measure(commands, environ, 8)
    ratio = found["sleuth"].seconds / (found["curl"].seconds + found["extraction"].seconds)
    return Row("5 pages of 100 kB, read and extracted", ratio, "`curl --parallel` and extraction alone", 1.5)


def _curl(urls: list[str]) -> list[str]:
    curl = shutil.which("curl") or "curl"
    return [
        curl,
        "-s",
        "--parallel",
        "--parallel-max",
        "8",
        *(part for url in urls for part in ("-o", "/dev/null", url)),
    ]
