"""A team on one Redis: several `sleuth serve`, many users, a mixed load on loopback for a limited time.

    python -m bench.team --servers 4 --users 200 --seconds 60

Users repeat popular searches, search for something new, list the providers, check the health of a server, read a page
and ask a question. The upstream counts its requests: every distinct query must reach it exactly once.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from bench.loopback import Handler, Server, hits
from bench.serve import HttpConnection, request, sleuth_environment, sleuth_server

POPULAR = [f"popular topic {number}" for number in range(20)]
# Of 100 requests of a user; a question takes a model and a page, so it is rare.
MIX = {"repeated search": 60, "new search": 15, "health": 12, "providers": 8, "page": 4, "question": 1}
THINK_S = 2.0  # mean pause of a user between two requests
PAGE = f"<html><body><article>{'<p>Tokio is a runtime for Rust.</p>' * 40}</article></body></html>".encode()
REPLY = {
    "choices": [{"message": {"content": "Tokio is a runtime for Rust [1]."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 10, "completion_tokens": 10},
}


class Upstream(Handler):
    """A SearXNG that counts queries, a page, and a model."""

    asked: Counter[str] = Counter()
    lock = threading.Lock()

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
        """Return results, or a page."""
        parts = urlsplit(self.path)
        if parts.path == "/page":
            self._respond(PAGE, "text/html")
            return
        words = parse_qs(parts.query)["q"][0]
        with self.lock:
            self.asked[words] += 1
        time.sleep(0.05)  # long enough for others to ask for the same
        found = [hit | {"title": f"{words} {number}"} for number, hit in enumerate(hits(10))]
        self._respond(json.dumps({"results": found}).encode(), "application/json")

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
        """Return the answer of a model."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self._respond(json.dumps(REPLY).encode(), "application/json")


class Result(NamedTuple):
    """What happened."""

    seconds: float
    times: dict[str, list[float]]  # by kind of request
    errors: list[str]
    asked: Counter[str]  # requests that reached the upstream, by query
    queries: set[str]  # that users searched for

    @property
    def repeated(self) -> dict[str, int]:
        """Return the queries that did not reach the upstream exactly once."""
        return {query: self.asked[query] for query in self.queries if self.asked[query] != 1}


@contextmanager
def redis() -> Iterator[str]:
    """Run a Redis server on a Unix socket and give its URL."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/redis.sock"
        words = ["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--dir", folder]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
            while not os.path.exists(path) and process.poll() is None:
                time.sleep(0.02)
            try:
                yield f"unix://{path}"
            finally:
                process.terminate()


class Team:
    """The users, and what they have seen."""

    def __init__(self, ports: list[int], upstream: str, end: float, max_requests: int) -> None:
        self.ports, self.upstream, self.end, self.left = ports, upstream, end, max_requests
        self.lock = threading.Lock()
        self.times: defaultdict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []
        self.queries: set[str] = set()

    def user(self, number: int) -> None:
        """Make requests until the time is up."""
        chance = random.Random(number)
        port = self.ports[number % len(self.ports)]
        pauses = THINK_S if self.left == sys.maxsize else 0.0
        while time.monotonic() + pauses < self.end and self._take():
            if pauses:
                time.sleep(min(chance.expovariate(1 / pauses), 5 * pauses))
            kind = chance.choices(list(MIX), list(MIX.values()))[0]
            started = time.perf_counter()
            try:
                status, body = self._exchange(port, self._request(kind, number, chance, port))
                problem = "" if status == 200 else f"{kind}: {status} {body[:200]!r}"
            except (OSError, AssertionError) as error:
                problem = f"{kind}: {error!r}"
            with self.lock:
                self.times[kind].append(time.perf_counter() - started)
                self.errors += [problem] if problem else []

    def _exchange(self, port: int, sent: bytes) -> tuple[int, bytes]:
        # A pause may be longer than a server keeps a connection, as with people.
        connection = HttpConnection(port)
        try:
            return connection.exchange(sent)
        finally:
            connection.close()

    def _take(self) -> bool:
        with self.lock:
            self.left -= 1
            return self.left >= 0

    def _request(self, kind: str, number: int, chance: random.Random, port: int) -> bytes:
        if kind == "health":
            return request("GET", "/healthz", port)
        if kind == "providers":
            return request("GET", "/websearch-providers?limit=100", port)
        if kind == "question":
            body: dict[str, Any] = {"question": "What is tokio?", "search": "off"}
            return request("POST", "/ask", port, body, "application/json")
        if kind == "page":
            body = {"providerId": "searxng", "questions": ["summarize"], "links": [f"{self.upstream}/page"]}
            return request("POST", "/websearch/search", port, body)
        query = chance.choice(POPULAR) if kind == "repeated search" else f"user {number} {chance.random()}"
        with self.lock:
            self.queries.add(query)
        return request("POST", "/websearch/search", port, {"providerId": "searxng", "questions": [query]})


def run(servers: int, users: int, seconds: float, max_requests: int = sys.maxsize) -> Result:
    """Run the load; with `max_requests`, users do not pause, and stop after so many requests together."""
    Upstream.asked.clear()
    with ExitStack() as stack:
        upstream = Server(("127.0.0.1", 0), Upstream)
        stack.callback(upstream.server_close)
        stack.callback(upstream.shutdown)
        threading.Thread(target=upstream.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{upstream.server_port}"
        shared = stack.enter_context(redis())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = {"SLEUTH_LLM_BASE_URL": f"{address}/v1", "SLEUTH_LLM_MODEL": "small"}
        patient = {"SLEUTH_SEARXNG_TIMEOUT": "60", "SLEUTH_FETCH_TIMEOUT": "60"}  # on a busy machine, too
        more = {"SLEUTH_CACHE_URL": shared, "SLEUTH_FETCH_ALLOW_PRIVATE": "true"} | model | patient
        environs = [sleuth_environment(folder / f"home{number}", address, **more) for number in range(servers)]
        ports = [stack.enter_context(sleuth_server(environ)) for environ in environs]
        started = time.monotonic()
        team = Team(ports, address, started + seconds, max_requests)
        threads = [threading.Thread(target=team.user, args=(number,)) for number in range(users)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Result(time.monotonic() - started, dict(team.times), team.errors, Upstream.asked, team.queries)


def main() -> int:
    """Run the load and print the figures; exit with 1 if there was an error, a repeated request, or none at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=4)
    parser.add_argument("--users", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    chosen = parser.parse_args()
    if chosen.seconds <= THINK_S:
        parser.error(f"--seconds must be more than {THINK_S:g}: users pause for about that long before each request")
    print(f"load average before: {os.getloadavg()[0]:.1f}")
    found = run(chosen.servers, chosen.users, chosen.seconds)
    total = sum(map(len, found.times.values()))
    print(
        f"{total} requests in {found.seconds:.0f} s, {total / found.seconds:.0f} a second, {len(found.errors)} errors"
    )
    print(f"{len(found.queries)} distinct queries, {sum(found.asked.values())} requests upstream")
    for kind, times in sorted(found.times.items()):
        ordered = sorted(times)
        shares = " ".join(
            f"p{share} {ordered[int(len(ordered) * share / 100)] * 1000:.0f} ms" for share in (50, 95, 99)
        )
        print(f"  {kind}: {len(times)}, {shares}")
    for problem in found.errors[:10]:
        print(problem, file=sys.stderr)
    if found.repeated:
        print(f"not exactly one request: {dict(list(found.repeated.items())[:10])}", file=sys.stderr)
    return 1 if found.errors or found.repeated or not total else 0


if __name__ == "__main__":
    sys.exit(main())
