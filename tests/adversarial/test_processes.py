"""Processes under bad conditions: signals, closed streams, odd terminals, little memory, no files or threads, crowds.

A new command belongs in COMMANDS, a new condition in CONDITIONS. Each condition is tested with some of the commands,
and with all of them when SLEUTH_LONG_TESTS=long. `assert_clean` decides how each may end.
"""

import fcntl
import json
import os
import pty
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from harness import EXIT_CODES, LONG, Home, ProcessResult, Word, assert_clean, limit_resource, well_behaved

pytestmark = pytest.mark.adversarial

NOT_UTF8 = b"\xff\xfe \x80"
INTERRUPTS = 40 if LONG else 5  # of each command
COMMANDS_PER_CONDITION = 2
PIPE_SIZE = 4096


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, serve_module: Any) -> Home:
    """A home in use, shared by all tests of this file."""
    home = Home(tmp_path_factory.mktemp("processes"), serve_module(well_behaved).url)
    home.file("queries", "one\n二\nthree\n")
    home.file("notes.md", "# Notes\n\nOf async runtimes 内容.\n")
    home.file("settings.yml", "use_default_settings: true\nserver:\n  secret_key: ultrasecretkey\n")
    home.main("library", "add", str(home.work / "notes.md"))
    home.file("sources.json", home.main("search", "-p", "searxng", "--json", "kept").out)
    for _ in range(2):
        home.run("search", "-p", "searxng", "kept")
    return home


# Every command under every condition

COMMANDS: tuple[tuple[str, ...], ...] = (
    ("--version",),
    ("--help",),
    ("search", "--help"),
    ("search", "-p", "searxng", "kept"),
    ("search", "-p", "searxng", "--no-cache", "live"),
    ("search", "-p", "searxng", "--refresh", "--json", "live"),
    ("search", "-p", "searxng", "--format", "csv", "live"),
    ("search", "-p", "searxng", "--format", "rich", "live"),
    ("search", "-p", "searxng", "--content", "-n", "1", "live"),
    ("search", "--offline", "searxng"),
    ("search", "-p", "searxng", "--batch", "{work}/queries"),
    ("search", "-p", "searxng", "-i", "live"),
    ("search", "-p", "nosuch", "x"),
    ("search",),
    ("search", "--nosuch"),
    ("nosuch",),
    ("config", "show"),
    ("config", "set", "websearch.snippet_length", "200"),
    ("config", "validate"),
    ("providers", "list"),
    ("providers", "set", "brave", "--name", "Mine"),
    ("providers", "test", "searxng"),
    ("library", "add", "{work}/notes.md"),
    ("library", "search", "runtimes"),
    ("summarize", "{url}/page"),
    ("read", "{work}/notes.md"),
    ("read", "--links", "{url}/page"),
    ("again",),
    ("open", "--print"),
    ("watch", "list"),
    ("handbook",),
    ("handbook", "cron"),
    ("providers", "compare", "-p", "searxng,library", "live"),
    ("ask", "-p", "searxng", "--extractive", "live"),
    ("ask",),
    ("chat",),
    ("mcp",),
    ("mcp", "--provider", "nosuch"),
    ("serve", "--port", "65536"),
    ("doctor",),
    ("doctor", "--settings", "{work}/settings.yml"),
    ("cite", "--sources", "{work}/sources.json"),
    ("usage",),
    ("history",),
    ("cache", "stats"),
    ("completions", "bash"),
    ("tool-schema",),
)


class Condition(NamedTuple):
    """The environment of a process, and how it may end there."""

    environ: dict[str, Any] = {}
    before: Callable[[], None] | None = None
    flags: tuple[str, ...] = ()
    streams: dict[str, Any] = {}
    stderr_lost: bool = False
    may: tuple[int, ...] = ()  # exit codes allowed besides the usual one


def closed(*streams: int) -> Callable[[], None]:
    return lambda: [os.close(stream) for stream in streams] and None


def enter_deleted_folder() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def forbid_threads() -> None:
    """Leave no room for the stack of a thread: limits on their number do not apply to root."""
    resource.setrlimit(resource.RLIMIT_STACK, (2**31, 2**31))
    resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))


CONDITIONS: dict[str, Condition] = {
    "normal conditions": Condition(),
    "no stdin": Condition(before=closed(0)),
    "no stdout": Condition(before=closed(1)),
    "no stderr": Condition(before=closed(2), stderr_lost=True),
    "no stdin and no stdout": Condition(before=closed(0, 1)),
    "no stdin and no stderr": Condition(before=closed(0, 2), stderr_lost=True),
    "no stdout and no stderr": Condition(before=closed(1, 2), stderr_lost=True),
    "no streams at all": Condition(before=closed(0, 1, 2), stderr_lost=True),
    "a full disk behind stdout": Condition(streams={"stdout": "/dev/full"}, may=(1,)),
    "a full disk behind stderr": Condition(streams={"stderr": "/dev/full"}, stderr_lost=True),
    "a dumb terminal": Condition({"TERM": "dumb"}),
    "no TERM": Condition({"TERM": None}),
    "an unknown terminal": Condition({"TERM": "no-such-ü", "COLORTERM": "x", "FORCE_COLOR": "1"}),
    "the locale C": Condition({"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "an unknown locale": Condition({"LC_ALL": "xx_YY.nonsense"}),
    "streams in ASCII": Condition({"PYTHONIOENCODING": "ascii:strict"}),
    "warnings as errors": Condition({"PYTHONWARNINGS": "error"}),
    "development mode": Condition(flags=("-W", "error", "-X", "dev")),
    "no docstrings and no asserts": Condition(flags=("-OO",)),
    "invalid COLUMNS": Condition({"COLUMNS": "-5", "COMMANDS": "x"}),
    "one column": Condition({"COLUMNS": "1", "FORCE_COLOR": "1"}),
    "variables that are not UTF-8": Condition(
        {"BRAVE_API_KEY": NOT_UTF8, "EDITOR": NOT_UTF8, "SLEUTH_WEBSEARCH_REGION": NOT_UTF8, "NO_PROXY": NOT_UTF8},
        may=(2,),
    ),
    "sixteen open files": Condition(before=limit_resource(resource.RLIMIT_NOFILE, 16)),
    "six open files": Condition(before=limit_resource(resource.RLIMIT_NOFILE, 6), may=(1, 2)),
    "200 MB of memory": Condition(before=limit_resource(resource.RLIMIT_AS, 200_000_000), may=(1,)),
    # Nothing in between: if memory runs out while a thread starts, Python waits for that thread forever.
    "40 MB of memory": Condition(before=limit_resource(resource.RLIMIT_AS, 40_000_000), may=(1, 2)),
    "no threads": Condition(before=forbid_threads, may=(1,)),
    "a deleted working folder": Condition(before=enter_deleted_folder),
    "a low priority": Condition(before=lambda: os.nice(10) and None),
}


def cases() -> Iterator[Any]:
    """Pair conditions with commands: all with all, or a few so that each occurs at least once."""
    order = list(COMMANDS)
    random.Random("conditions").shuffle(order)
    for number, name in enumerate(CONDITIONS):
        first = number * COMMANDS_PER_CONDITION
        some = [order[(first + place) % len(order)] for place in range(COMMANDS_PER_CONDITION)]
        for command in COMMANDS if LONG else some:
            yield pytest.param(name, command, id=f"{name}: {' '.join(command)}")


@pytest.fixture(scope="module")
def usual(home: Home) -> Callable[[tuple[str, ...]], int]:
    """Return the exit code of a command under normal conditions."""
    known: dict[tuple[str, ...], int] = {}

    def find(command: tuple[str, ...]) -> int:
        if command not in known:
            words = filled(home, command)
            in_process = command[0] != "mcp"  # the MCP server needs real streams
            result = home.main(*words, exits=EXIT_CODES) if in_process else home.run(*words)
            known[command] = result.exit
        return known[command]

    return find


def filled(home: Home, command: tuple[str, ...]) -> list[str]:
    return [word.format(work=home.work, url=home.url) for word in command]


@pytest.mark.parametrize(("name", "command"), list(cases()))
def test_command_exits_cleanly_with(name: str, command: tuple[str, ...], home: Home, usual: Any) -> None:
    condition = CONDITIONS[name]
    streams = {stream: open(path, "wb") for stream, path in condition.streams.items()}  # noqa: SIM115 - closed below
    try:
        result = home.run(
            *filled(home, command),
            environ=condition.environ,
            before=condition.before,
            flags=condition.flags,
            **streams,
        )
    finally:
        for stream in streams.values():
            stream.close()
    in_stdout = "no stdout" in name and result.exit == usual(command)  # its message was for there
    stderr_lost = condition.stderr_lost or in_stdout
    assert_clean(result, exits=(usual(command), *condition.may), stderr_lost=stderr_lost)
    if "full disk behind stdout" in name and usual(command) == 0 and command not in SILENT:
        assert result.exit == 1
        assert "cannot write the output (No space left on device)" in result.message


SILENT = {words for words in COMMANDS if words[:2] in (("config", "set"), ("providers", "set"), ("chat",), ("mcp",))}


# Arguments

ARGUMENTS: dict[str, tuple[Word, ...]] = {
    "a query of 100 kB": ("search", "-p", "searxng", "q" * 100_000),
    "twenty thousand words": ("search", "-p", "searxng", *["word"] * 20_000),
    "a query that is not UTF-8": ("search", "-p", "searxng", NOT_UTF8),
    "a query partly in UTF-8": ("search", "-p", "searxng", "", b"caf\xe9", NOT_UTF8, ""),
    "a provider that is not UTF-8": ("search", "-p", NOT_UTF8, "x"),
    "a file name that is not UTF-8": ("search", "-p", "searxng", "-o", NOT_UTF8, "x"),
    "a setting that is not UTF-8": ("config", "set", "websearch.region", NOT_UTF8),
    "a name that is not UTF-8": ("providers", "set", "brave", "--name", NOT_UTF8),
    "a file to add that is not UTF-8": ("library", "add", NOT_UTF8),
    "a URL that is not UTF-8": ("summarize", NOT_UTF8),
    "a command that is not UTF-8": (NOT_UTF8,),
    "an empty command": ("",),
    "an empty query": ("search", ""),
    "an empty name to remove": ("library", "remove", ""),
    "a timeout that is not a number": ("search", "--timeout", "nan", "x"),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_are_used_or_rejected(name: str, home: Home, tmp_path: Path) -> None:
    valid = name.startswith(("a query of", "a query partly", "twenty thousand", "a file name"))
    assert_clean(home.run(*ARGUMENTS[name], cwd=tmp_path), exits=(0,) if valid else (2,))


# Terminals


def on_terminal(home: Home, *words: str, columns: int, typed: bytes = b"") -> ProcessResult:
    """Run a command on a terminal with so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = home.popen("--no-pager", *words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:  # how Linux reports the end of a terminal
        pass
    os.close(ours)
    return ProcessResult(process.wait(), shown, b"")


@pytest.mark.parametrize("columns", [1, 20])
@pytest.mark.parametrize(
    "command",
    [
        ("search", "-p", "searxng", "--refresh", "live"),
        ("search", "-p", "searxng", "-i", "live"),
        ("search", "--help"),
        ("providers", "list"),
        ("doctor",),
    ],
    ids=" ".join,
)
def test_command_works_on_a_narrow_terminal(command: tuple[str, ...], columns: int, home: Home, usual: Any) -> None:
    result = on_terminal(home, *command, columns=columns, typed=b"q\n" if "-i" in command else b"")
    assert result.exit == usual(command)
    assert result.out
    assert_clean(ProcessResult(0, b"", result.out))


def test_live_cached_and_rendered_results_look_the_same(home: Home) -> None:
    words = ("search", "-p", "searxng", "-n", "2", "looks")
    shown = [on_terminal(home, *words, columns=80).out for _ in range(3)]
    # Without link ids, and without the progress line, which a slow search shows.
    live, cached, rendered = (re.sub(rb"id=\d+;|\r\x1b\[K[^\r\n]*(?=\r\x1b\[K)|\r\x1b\[K", b"", text) for text in shown)
    assert b"\x1b[1m" in live
    assert b"\x1b]8;" in live
    results = live.split(b"2 of 10 results")[0]
    assert cached.startswith(results)
    assert rendered.startswith(results)


# Pipes


@pytest.mark.parametrize(
    "line",
    [
        "search -p searxng -n 50 kept",
        "search -p searxng --refresh --json kept",
        "--help",
        "config show",
        "completions bash",
    ],
)
def test_closed_pipe_is_no_error(line: str, home: Home) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        result = home.run(*line.split(), stdout=pipe)
    assert assert_clean(result, exits=(0, 141)).err == b""


def test_pipe_closed_after_one_line_is_no_error(home: Home) -> None:
    queries = home.file("many", "\n".join(f"query {number}" for number in range(60)))
    run = f'"{sys.executable}" -m sleuth search -p searxng --batch {queries} | head -n 1'
    done = subprocess.run(["sh", "-c", run], env=home.environ, capture_output=True)
    assert json.loads(done.stdout)["results"]
    assert done.stderr == b""


# Signals

INTERRUPTED = (130, -signal.SIGINT)  # the latter when all is done and Python is shutting down
INTERRUPTIBLE: dict[str, tuple[str, ...]] = {
    "live search": ("search", "-p", "searxng", "--refresh", "live"),
    "cached search": ("search", "-p", "searxng", "--json", "-n", "3", "kept"),
    "batch": ("search", "-p", "searxng", "--no-cache", "--batch", "{work}/queries"),
    "summary": ("summarize", "--refresh", "{url}/page"),
    "answer": ("ask", "-p", "searxng", "--extractive", "--refresh", "live"),
    "doctor": ("doctor",),
    "provider test": ("providers", "test", "searxng"),
    "adding pages": ("library", "add", "{work}/pages"),
    "prompt": ("search", "-p", "searxng", "-i", "live"),
    "setting": ("config", "set", "websearch.snippet_length", "200"),
    "offline search": ("search", "--offline", "searxng"),
}


@pytest.mark.parametrize("name", INTERRUPTIBLE)
def test_interrupt_at_any_point_ends_with_one_line(name: str, home: Home) -> None:
    words = filled(home, INTERRUPTIBLE[name])
    chance, ticks = random.Random(name), 0
    for number in range(-1, INTERRUPTS):
        if name == "adding pages":
            make_pages(home.work / "pages", number)
        running = home.start(*words)
        if number < 0:
            running.process.stdin.close()  # the end of the prompt
            running.process.stdin = None
            ticks = running.wait_for_ticks(10**9)
        else:
            running.wait_for_ticks(chance.randint(0, ticks))
            running.process.send_signal(signal.SIGINT)
        result = running.end()
        finished = (0, 1) if name == "doctor" else (0,)  # before the interrupt
        assert_clean(result, exits=(*INTERRUPTED, *finished))
        if result.exit == 130:
            lines = [line for line in result.message.splitlines() if line]
            errors = [line for line in lines if not line.startswith(("warning:", "note:"))]
            assert errors in ([], ["error: interrupted"])


def make_pages(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    for page in range(25):
        (folder / f"{page}.md").write_text(f"# Page {page}\n\n" + f"words{number} in a row " * 100)


class StalledServer:
    """Holds a request until it is released; the test knows when the request has arrived."""

    def __init__(self, serve: Any) -> None:
        self.reached, self.released = threading.Event(), threading.Event()
        self.url = serve(self._respond).url

    def _respond(self, exchange: Any) -> None:
        self.reached.set()
        self.released.wait()
        well_behaved(exchange)


@pytest.fixture
def stalled(serve: Any) -> Iterator[StalledServer]:
    server = StalledServer(serve)
    yield server
    server.released.set()


NO_TIMEOUTS = {f"SLEUTH_{name}_TIMEOUT": "600" for name in ("SEARXNG", "WEBSEARCH", "FETCH")}
WAITING: dict[str, tuple[str, ...]] = {
    "search": ("search", "-p", "searxng", "--no-cache", "x"),
    "summary": ("summarize", "{url}/page"),
    "doctor": ("doctor", "--only", "searxng"),
    "provider test": ("providers", "test", "searxng"),
    "embeddings": ("search", "-p", "searxng", "--no-cache", "--content", "--compress", "rag", "x"),
    "answer": ("ask", "-p", "searxng", "--search", "on", "why"),
    "answer of a model": ("ask", "-p", "searxng", "--search", "on", "why"),
    "chat": ("chat", "-p", "searxng", "--search", "on"),
    "chat with a model": ("chat", "-p", "searxng", "--search", "on"),
}


@pytest.mark.parametrize("name", WAITING)
def test_interrupt_does_not_wait_for_the_server(name: str, home: Home, stalled: StalledServer, serve: Any) -> None:
    """The server holds the request until the process has exited."""
    environ = NO_TIMEOUTS | {"SEARXNG_URL": stalled.url}
    if name == "embeddings":
        environ |= {"SLEUTH_EMBEDDING_BASE_URL": stalled.url, "SLEUTH_EMBEDDING_MODEL": "m"}
        environ |= {"SEARXNG_URL": serve(results_with_pages).url}
    if name.endswith(" model"):
        environ |= {"SLEUTH_LLM_BASE_URL": stalled.url}
    process = home.popen(*(word.format(url=stalled.url) for word in WAITING[name]), environ=environ)
    assert process.stdin
    process.stdin.write(b"why\n")  # for the prompts
    process.stdin.flush()
    stalled.reached.wait()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert_clean(ProcessResult(process.returncode, out, err), exits=(130,))


def results_with_pages(exchange: Any) -> None:
    """Answer searches with results whose pages are on this server."""
    if exchange.path.startswith("/page"):
        well_behaved(exchange)
        return
    results = [{"url": f"{exchange.origin}/page{number}", "title": "A page"} for number in range(3)]
    exchange.respond(json.dumps({"results": results}).encode())


def test_interrupt_does_not_wait_for_the_reader_of_a_full_pipe(home: Home) -> None:
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    process = home.popen("search", "-p", "searxng", "--no-cache", "-n", "10", "--json", "x", stdout=writer)
    os.close(writer)
    while struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD, b"    "))[0] < PIPE_SIZE:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    os.close(reader)
    assert_clean(ProcessResult(process.returncode, b"", err), exits=INTERRUPTED)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_other_signals_end_it_without_a_message(number: signal.Signals, home: Home, stalled: StalledServer) -> None:
    process = home.popen("search", "-p", "searxng", "--refresh", "live", environ={"SEARXNG_URL": stalled.url})
    stalled.reached.wait()
    process.send_signal(number)
    _, err = process.communicate()
    assert (process.returncode, err) == (-number, b"")
    home.main("search", "-p", "searxng", "--refresh", "live")


def test_ignored_interrupt_stays_ignored(home: Home, stalled: StalledServer) -> None:
    """Shells let background jobs ignore interrupts."""
    process = home.popen(
        *("search", "-p", "searxng", "--refresh", "live"),
        environ={"SEARXNG_URL": stalled.url},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN) and None,
    )
    stalled.reached.wait()
    process.send_signal(signal.SIGINT)
    stalled.released.set()
    out, _ = process.communicate()
    assert (process.returncode, out.count(b"https://")) == (0, 5)


# Many processes


def test_64_processes_succeed_lose_nothing_and_send_one_request_per_query(tmp_path: Path, serve: Any) -> None:
    """In a new home, with searches, settings, providers, pages and the history at the same time."""
    server = serve(well_behaved)
    home = Home(tmp_path, server.url)
    keys = ("websearch.snippet_length", "cache.max_entries", "fetch.concurrency", "cache.ttl_minutes")
    lines: list[list[str]] = []
    for number in range(16):
        lines.append(["search", "-p", "searxng", "--json", "the same"])
        lines.append(["search", "-p", "searxng", "--json", f"another {number}"])
        lines.append(["providers", "add", f"own{number}", "--url", f"https://own{number}.example/?q=%s"])
        lines.append(
            ["config", "set", keys[number // 4], str(20 + number)]
            if number % 4 == 0
            else ["library", "add", home.file(f"page{number}.md", f"# Page {number}\n\nOf runtimes.\n")]
            if number % 4 == 1
            else ["history"]
        )
    running = [home.popen(*line, stdin=subprocess.DEVNULL) for line in lines]
    for line, process in zip(lines, running, strict=True):
        out, err = process.communicate()
        result = assert_clean(ProcessResult(process.returncode, out, err), exits=(0,))
        assert b"locked" not in result.err, line
        if line[0] == "search":
            assert len(json.loads(result.out)["results"]) == 5
    paths = [request.split(b" ")[1] for request in server.requests]
    assert len([path for path in paths if b"the+same" in path or b"the%20same" in path]) == 1
    assert len(paths) == 17
    listed = home.main("providers", "list", "--ids").out.decode().split()
    assert {f"own{number}" for number in range(16)} <= set(listed)
    values = json.loads(home.main("config", "show", "--json").out)
    assert [values[key] for key in keys] == [20, 24, 28, 32]
    assert json.loads(home.main("library", "list", "--source", "file", "--json").out)["total"] == 4
    assert len(home.main("history", "-n", "100").out.splitlines()) == 32, "a search is missing"
