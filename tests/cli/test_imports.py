"""What a command must not import: start-up is part of every use."""

import subprocess
import sys
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

HEAVY = {
    "httpx",
    "httpcore",
    "rich",
    "tomlkit",
    "diskcache",
    "lxml",
    "asyncio",
    "selectolax",
    "trafilatura",
    "dataclasses",
    "mcp",
    "opentelemetry",
    "pydantic",
}
# Not needed by a plain search; each takes a tenth of its time or more.
SLOW = {"http.client", "email", "ssl", "hashlib", "random", "html", "difflib", "encodings.idna"}
SLOW |= {"importlib.metadata", "logging", "typing"}
SCRIPT = """
import sys
sys.argv = ["sleuth", *{arguments!r}]
from sleuth.__main__ import main
code = main()
sys.stderr.write("\\nMODULES " + " ".join(sorted(sys.modules)) + "\\n")
sys.exit(code)
"""


def modules(environ: dict[str, str], *arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(arguments=list(arguments))],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    found = set(done.stderr.rpartition("MODULES ")[2].split())
    return found - {"dataclasses"} if "_colorize" in found else found  # traceback needs it since Python 3.14


@pytest.fixture
def environ(sleuth: Any, httpserver: HTTPServer) -> dict[str, str]:
    httpserver.expect_request("/search").respond_with_json({"results": [{"url": "https://a.example/", "title": "A"}]})
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    assert sleuth("search", "-p", "searxng", "--json", "x").exit == 0
    environ: dict[str, str] = sleuth.environ
    return environ


@pytest.mark.parametrize(
    ("arguments", "forbidden"),
    [
        (("--version",), HEAVY | {"typer", "sqlite3", "json", "typing"}),
        (("--help",), HEAVY | {"typer", "sqlite3", "json", "typing", "sleuth.engine.search_options"}),
        (("--complete", "zsh", "--", "search", "--pro"), HEAVY | {"typer", "sqlite3", "json", "typing"}),
        (("--complete", "zsh", "--", "search", "-p", "tav"), HEAVY | {"typer", "json", "sleuth.runtime"}),
        (
            ("search", "-p", "searxng", "--json", "x"),
            HEAVY | {"http.client", "ssl", "email", "logging", "importlib.metadata"},
        ),
        (("search", "-p", "searxng", "--json", "--no-cache", "x"), HEAVY | SLOW),
        (("config", "get", "websearch.max_results"), HEAVY | {"sqlite3", "sleuth.engine.search"}),
        (("providers", "list", "--ids"), HEAVY | {"http.client", "importlib.metadata"}),
        (
            ("search", "-p", "searxng", "-f", "rich", "x"),
            (HEAVY - {"rich", "dataclasses"}) | {"http.client", "rich.markdown", "rich.table"},
        ),
    ],
)
def test_command_imports_nothing_heavy(
    environ: dict[str, str], arguments: tuple[str, ...], forbidden: set[str]
) -> None:
    assert modules(environ, *arguments) & forbidden == set()


def test_tls_imports_nothing_heavy(environ: dict[str, str]) -> None:
    script = "import sys, sleuth_providers.net.tls; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & ((HEAVY | SLOW) - {"ssl"}) == set()


PATTERNS = """
import sys, re._compiler as compiler, re._parser as parser
compile, RANGE = compiler.compile, compiler.RANGE

def wide_ranges(part):
    if isinstance(part, tuple) and len(part) == 2 and part[0] is RANGE:
        yield part[1][1] - part[1][0] > 1000
    elif isinstance(part, tuple | list | parser.SubPattern):
        for inner in part:
            yield from wide_ranges(inner)

def record(pattern, flags=0):
    if any(wide_ranges(parser.parse(pattern, flags))):
        sys.stderr.write(f"SLOW {pattern!r}\\n")
    return compile(pattern, flags)

compiler.compile = record
"""


def test_search_compiles_no_pattern_with_a_wide_range_of_characters(environ: dict[str, str]) -> None:
    script = PATTERNS + SCRIPT.format(arguments=["search", "-p", "searxng", "--json", "--no-cache", "x"])
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert [line for line in done.stderr.splitlines() if line.startswith("SLOW")] == []
