"""Races sleuth against bare Python, curl and its peers on one loopback server; prints ratios, fastest of many runs.

    python bench/race.py [--runs 15] [--only NAME …] [--check]

Peers are installed from the package registry into a folder of their own (.cache/peers). Those whose address is fixed in
their source are started through a few lines that point them at the loopback server; nothing else of them is changed.
Ratios carry over to other machines, milliseconds do not.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
CACHE = ROOT / ".cache"
PEERS = ("ddgr", "ddgs", "tavily-cli")
WORDS = ("rust", "async", "runtimes")

HITS = [
    {
        "url": f"https://example.org/page/{number}",
        "title": f"Result {number} about async runtimes in Rust",
        "content": "Tokio and async-std are runtimes for asynchronous Rust programs. " * 2,
        "engines": ["one", "two"],
        "score": 1.0 / number,
    }
    for number in range(1, 11)
]
HTML = "".join(
    f'<div class="result results_links results_links_deep web-result">'
    f'<h2 class="result__title"><a class="result__a" href="{hit["url"]}">{hit["title"]}</a></h2>'
    f'<a class="result__snippet" href="{hit["url"]}">{hit["content"]}</a></div>'
    for hit in HITS
)
PAGE = f'<html><body><div id="links" class="results">{HTML}</div></body></html>'.encode()
SEARXNG = json.dumps({"query": "q", "results": HITS, "answers": [], "unresponsive_engines": []}).encode()
TAVILY = json.dumps({"query": "q", "results": HITS, "response_time": 0.1}).encode()


class Handler(BaseHTTPRequestHandler):
    """Speaks SearXNG, DuckDuckGo's page and Tavily, each in a millisecond."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Answer a SearXNG search."""
        self._answer(SEARXNG, "application/json")

    def do_POST(self) -> None:
        """Answer the page's form or Tavily's API."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        page = self.path.startswith("/html")
        self._answer(PAGE if page else TAVILY, "text/html; charset=utf-8" if page else "application/json")

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Runner(NamedTuple):
    """One contestant: what is typed, and the budget as a multiple of bare Python."""

    name: str
    command: list[str]
    budget: float | None = None
    goal: float | None = None


def main() -> int:
    """Run the race and print the table; with --check, fail when a budget is broken."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=15)
    options.add_argument("--only", nargs="*", default=[])
    options.add_argument("--check", action="store_true", help="exit 1 when a budget is broken by more than a tenth")
    options.add_argument("--no-peers", action="store_true", help="race without installing the peers")
    chosen = options.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        runners, environ = contestants(server.server_port, Path(home), peers=not chosen.no_peers)
        runners = [r for r in runners if not chosen.only or any(word in r.name for word in ("bare", *chosen.only))]
        times, memory = race(runners, environ, chosen.runs)
    server.shutdown()
    return report(runners, times, memory, check=chosen.check)


def contestants(port: int, home: Path, *, peers: bool) -> tuple[list[Runner], dict[str, str]]:
    """Return who runs, and in which environment."""
    address = f"http://127.0.0.1:{port}"
    sleuth = [shutil.which("sleuth", path=str(Path(sys.executable).parent)) or "sleuth"]
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "SLEUTH_HOME": str(home / "sleuth"),
        "SEARXNG_URL": address,
        "LANG": "C.UTF-8",
        "TAVILY_API_BASE_URL": address,
        "TAVILY_API_KEY": "tvly-bench",
    }
    words = list(WORDS)
    live = [*sleuth, "search", "-p", "searxng", "--no-cache"]
    runners = [
        Runner("bare python -c pass", [sys.executable, "-c", "pass"]),
        Runner("sleuth --version", [*sleuth, "--version"], 2, 1.3),
        Runner("sleuth --help", [*sleuth, "--help"], 8, 2),
        Runner("sleuth search --json, cached", [*sleuth, "search", "-p", "searxng", "--json", *words], 8, 2.0),
        Runner("sleuth search --json, live", [*live, "--json", *words], 17, 6.5),
        Runner("sleuth search rich, cached", [*sleuth, "search", "-p", "searxng", "-f", "rich", *words], 14, 7),
        Runner("sleuth config get", [*sleuth, "config", "get", "websearch.max_results"], 9, 7.5),
        Runner("sleuth providers list --ids", [*sleuth, "providers", "list", "--ids"], 9, 7.5),
    ]
    if shutil.which("curl"):
        runners.append(Runner("curl, live", ["curl", "-s", f"{address}/search?q=rust&format=json"]))
    if peers:
        runners += peer_runners(address, home)
    return runners, environ


def peer_runners(address: str, home: Path) -> list[Runner]:
    """Install the peers and return them, each pointed at the loopback server."""
    folder = CACHE / "peers"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PEERS], check=False)
    found = []
    if (ddgr := folder / "bin" / "ddgr").exists():
        copy = home / "ddgr"
        copy.write_text(ddgr.read_text().replace("https://html.duckduckgo.com/html", f"{address}/html"))
        found += [Runner("ddgr --version", [str(python), str(ddgr), "--version"])]
        found += [Runner("ddgr --json, live", [str(python), str(copy), "--json", "--noprompt", *WORDS])]
    if (folder / "bin" / "ddgs").exists():
        driver = home / "ddgs.py"
        driver.write_text(
            "import sys\nsys.path.pop(0)\nfrom ddgs.engines.duckduckgo import Duckduckgo\n"
            f"Duckduckgo.search_url = '{address}/html/'\nfrom ddgs.cli import safe_entry_point\nsafe_entry_point()\n"
        )
        found.append(Runner("ddgs --version", [str(python), str(folder / "bin" / "ddgs"), "version"]))
        command = [str(python), str(driver), "text", "-q", " ".join(WORDS), "-b", "duckduckgo", "-m", "5"]
        found.append(Runner("ddgs text, live", command))
    if (tvly := folder / "bin" / "tvly").exists():
        found.append(Runner("tvly --version", [str(tvly), "--version"]))
        found.append(Runner("tvly search --json, live", [str(tvly), "search", " ".join(WORDS), "--json"]))
    return found


def race(runners: list[Runner], environ: dict[str, str], runs: int) -> tuple[dict[str, float], dict[str, float]]:
    """Run everybody in turn, many times, and keep the fastest time and the largest memory of each."""
    best = {runner.name: float("inf") for runner in runners}
    memory = dict.fromkeys(best, 0.0)
    for number in range(runs + 2):  # the first two rounds warm up: bytecode, tables, caches
        for runner in runners:
            seconds, megabytes = measure(runner.command, environ)
            if number >= 2:
                best[runner.name] = min(best[runner.name], seconds)
                memory[runner.name] = max(memory[runner.name], megabytes)
    return best, memory


def measure(command: list[str], environ: dict[str, str]) -> tuple[float, float]:
    """Run one command and return seconds and megabytes."""
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return time.perf_counter() - started, usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)


def report(runners: list[Runner], times: dict[str, float], memory: dict[str, float], *, check: bool) -> int:
    """Print the table of ratios and judge the budgets."""
    base = times[runners[0].name]
    broken = []
    print(f"{'':34} {'ratio':>6} {'budget':>7} {'goal':>6} {'ms':>7} {'MB':>5}")
    for runner in runners:
        ratio = times[runner.name] / base
        budget, goal = (f"{value:g}" if value else "" for value in (runner.budget, runner.goal))
        line = f"{runner.name:34} {ratio:6.2f} {budget:>7} {goal:>6} {times[runner.name] * 1000:7.1f}"
        print(f"{line} {memory[runner.name]:5.0f}")
        if runner.budget and ratio > runner.budget * 1.1:
            broken.append(runner.name)
    if check and broken:
        print("over budget: " + ", ".join(broken), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
