"""Processes under siege: crowds, signals, closed streams, strange terminals, no memory, no files, no threads.

A new command line is a line in LINES, a new condition one in CONDITIONS: each meets some of the others in every run of
the tests, and all of them with SLEUTH_LONG_TESTS=long. One judge, `sound`, decides how each may end.
"""

import fcntl
import json
import os
import pty
import random
import re
import resource
import select
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
from harness import EXITS, LONG, Ended, Home, Word, good, limited, sound

pytestmark = pytest.mark.adversarial

DONE = (0,)
NOT_TEXT = b"\xff\xfe \x80"
STOPS = 40 if LONG else 6  # interrupts of each command
SOONEST = 1.5  # seconds after an interrupt; a quiet machine needs a fifth of that
MEETINGS = 2  # command lines that a condition meets in a short siege


@pytest.fixture(scope="module")
def server(serve_all: Any) -> Any:
    return serve_all(good)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, server: Any) -> Home:
    """A home that has been used, shared by all tests here: none of them may harm it."""
    home = Home(tmp_path_factory.mktemp("processes"), server.url)
    home.file("queries", "one\n二\nthree\n")
    home.file("notes.md", "# Notes\n\nOf async runtimes 内容.\n")
    home.file("settings.yml", "use_default_settings: true\nserver:\n  secret_key: ultrasecretkey\n")
    home.ask("library", "add", str(home.work / "notes.md"))
    home.file("sources.json", home.ask("search", "-p", "searxng", "--json", "kept").out)
    for _ in range(2):
        home.run("search", "-p", "searxng", "kept")
    return home


# The table: any command line in any condition

LINES: tuple[tuple[str, ...], ...] = (
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
    """What a process has to live with."""

    environ: dict[str, Any] = {}
    before: Callable[[], None] | None = None
    flags: tuple[str, ...] = ()
    streams: dict[str, Any] = {}
    deaf: bool = False  # nothing can be read of what it says
    may: tuple[int, ...] = ()  # ends this line may come to beside its usual one


def closed(*streams: int) -> Callable[[], None]:
    return lambda: [os.close(stream) for stream in streams] and None


def nowhere() -> None:
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    os.rmdir(folder)


def no_threads() -> None:
    """Leave no room for the stack of a thread; root may start as many processes as it likes."""
    resource.setrlimit(resource.RLIMIT_STACK, (2**31, 2**31))
    resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))


CONDITIONS: dict[str, Condition] = {
    "nothing special": Condition(),
    "no stdin": Condition(before=closed(0)),
    "no stdout": Condition(before=closed(1)),
    "no stderr": Condition(before=closed(2), deaf=True),
    "no stdin and no stdout": Condition(before=closed(0, 1)),
    "no stdin and no stderr": Condition(before=closed(0, 2), deaf=True),
    "no stdout and no stderr": Condition(before=closed(1, 2), deaf=True),
    "no streams at all": Condition(before=closed(0, 1, 2), deaf=True),
    "a full disk behind stdout": Condition(streams={"stdout": "/dev/full"}, may=(1,)),
    "a full disk behind stderr": Condition(streams={"stderr": "/dev/full"}, deaf=True),
    "a dumb terminal": Condition({"TERM": "dumb"}),
    "no name of a terminal": Condition({"TERM": None}),
    "a terminal nobody knows": Condition({"TERM": "no-such-ü", "COLORTERM": "x", "FORCE_COLOR": "1"}),
    "the locale C": Condition({"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    "a locale nobody knows": Condition({"LC_ALL": "xx_YY.nonsense"}),
    "streams in ASCII": Condition({"PYTHONIOENCODING": "ascii:strict"}),
    "warnings as errors": Condition({"PYTHONWARNINGS": "error"}),
    "the mode for developers": Condition(flags=("-W", "error", "-X", "dev")),
    "no docstrings and no asserts": Condition(flags=("-OO",)),
    "columns that are none": Condition({"COLUMNS": "-5", "LINES": "x"}),
    "one column": Condition({"COLUMNS": "1", "FORCE_COLOR": "1"}),
    "odd bytes in variables": Condition(
        {"BRAVE_API_KEY": NOT_TEXT, "EDITOR": NOT_TEXT, "SLEUTH_WEBSEARCH_REGION": NOT_TEXT, "NO_PROXY": NOT_TEXT},
        may=(2,),
    ),
    "sixteen files": Condition(before=limited(resource.RLIMIT_NOFILE, 16)),
    "six files": Condition(before=limited(resource.RLIMIT_NOFILE, 6), may=(1, 2)),
    "200 MB of memory": Condition(before=limited(resource.RLIMIT_AS, 200_000_000), may=(1,)),
    # Not more: where memory ends in the first steps of a thread, Python waits for ever for it to begin.
    "40 MB of memory": Condition(before=limited(resource.RLIMIT_AS, 40_000_000), may=(1, 2)),
    "no threads": Condition(before=no_threads, may=(1,)),
    "a folder that is gone": Condition(before=nowhere),
    "little time": Condition(before=lambda: os.nice(10) and None),
}


def meetings() -> Iterator[Any]:
    """Pair conditions with command lines: all with all, or some with some, and every one at least once."""
    order = list(LINES)
    random.Random("siege").shuffle(order)
    for number, name in enumerate(CONDITIONS):
        some = [order[(number * MEETINGS + place) % len(order)] for place in range(MEETINGS)]
        for line in LINES if LONG else some:
            yield pytest.param(name, line, id=f"{name}: {' '.join(line)}")


@pytest.fixture(scope="module")
def usual(home: Home) -> Callable[[tuple[str, ...]], int]:
    """Return how a command line ends when nothing is in its way."""
    known: dict[tuple[str, ...], int] = {}

    def find(line: tuple[str, ...]) -> int:
        if line not in known:
            known[line] = home.ask(*spelled(home, line), exits=EXITS).exit
        return known[line]

    return find


def spelled(home: Home, line: tuple[str, ...]) -> list[str]:
    return [word.format(work=home.work, url=home.url) for word in line]


@pytest.mark.parametrize(("name", "line"), list(meetings()))
def test_command_ends_as_it_should_with(name: str, line: tuple[str, ...], home: Home, usual: Any) -> None:
    condition = CONDITIONS[name]
    streams = {stream: open(path, "wb") for stream, path in condition.streams.items()}  # noqa: SIM115 - closed below
    try:
        ended = home.run(
            *spelled(home, line),
            environ=condition.environ,
            before=condition.before,
            flags=condition.flags,
            **streams,
        )
    finally:
        for stream in streams.values():
            stream.close()
    unheard = "no stdout" in name and ended.exit == usual(line)  # what it had to say was for there
    sound(ended, exits=(usual(line), *condition.may), deaf=condition.deaf or unheard)
    if "full disk behind stdout" in name and usual(line) == 0 and line not in SILENT:
        assert ended.exit == 1
        assert "cannot write the output (No space left on device)" in ended.said


SILENT = {line for line in LINES if line[:2] in (("config", "set"), ("providers", "set"), ("chat",), ("mcp",))}


# What is typed

TYPED: dict[str, tuple[Word, ...]] = {
    "a query of 100 kB": ("search", "-p", "searxng", "q" * 100_000),
    "twenty thousand words": ("search", "-p", "searxng", *["word"] * 20_000),
    "a query that is no text": ("search", "-p", "searxng", NOT_TEXT),
    "a query of which half is no text": ("search", "-p", "searxng", "", b"caf\xe9", NOT_TEXT, ""),
    "a provider that is no text": ("search", "-p", NOT_TEXT, "x"),
    "a file that is no text": ("search", "-p", "searxng", "-o", NOT_TEXT, "x"),
    "a setting that is no text": ("config", "set", "websearch.region", NOT_TEXT),
    "a name that is no text": ("providers", "set", "brave", "--name", NOT_TEXT),
    "a file to add that is no text": ("library", "add", NOT_TEXT),
    "an address that is no text": ("summarize", NOT_TEXT),
    "a command that is no text": (NOT_TEXT,),
    "an empty command": ("",),
    "an empty query": ("search", ""),
    "an empty name to remove": ("library", "remove", ""),
    "a time limit that is no number": ("search", "--timeout", "nan", "x"),
}


@pytest.mark.parametrize("name", TYPED)
def test_what_is_typed_is_answered_or_refused_when_it_is(name: str, home: Home, tmp_path: Path) -> None:
    fine = name.startswith(("a query of", "twenty thousand", "a file that"))
    sound(home.run(*TYPED[name], cwd=tmp_path), exits=DONE if fine else (2,))


# Terminals


def on_terminal(home: Home, *words: str, columns: int, typed: bytes = b"") -> Ended:
    """Run a command line on a terminal of so many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", *words],
        env=home.environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            shown += os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
    os.close(ours)
    return Ended(process.wait(10), shown, b"", time.monotonic() - started)


@pytest.mark.parametrize("columns", [1, 20])
@pytest.mark.parametrize(
    "line",
    [
        ("search", "-p", "searxng", "--refresh", "live"),
        ("search", "-p", "searxng", "-i", "live"),
        ("search", "--help"),
        ("providers", "list"),
        ("doctor",),
    ],
    ids=" ".join,
)
def test_narrow_terminal_is_written_to(line: tuple[str, ...], columns: int, home: Home, usual: Any) -> None:
    ended = on_terminal(home, *line, columns=columns, typed=b"q\n" if "-i" in line else b"")
    assert ended.exit == usual(line)
    assert ended.out
    sound(Ended(0, b"", ended.out))


def test_answer_looks_the_same_live_kept_and_written_out(home: Home) -> None:
    words = ("search", "-p", "searxng", "-n", "2", "looks")
    shown = [on_terminal(home, *words, columns=80).out for _ in range(3)]
    live, kept, again = (re.sub(rb"id=\d+;", b"", text) for text in shown)
    assert b"\x1b[1m" in live
    assert b"\x1b]8;" in live
    results = live.split(b"2 of 10 results")[0]
    assert kept.startswith(results)
    assert again.startswith(results)


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
def test_pipe_that_nobody_reads_is_no_accident(line: str, home: Home) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        ended = home.run(*line.split(), stdout=pipe)
    assert sound(ended, exits=(0, 141)).err == b""


def test_pipe_that_is_closed_after_a_line_is_no_accident(home: Home) -> None:
    queries = home.file("many", "\n".join(f"query {number}" for number in range(60)))
    run = f'"{sys.executable}" -m sleuth search -p searxng --batch {queries} | head -n 1'
    done = subprocess.run(["sh", "-c", run], env=home.environ, capture_output=True, timeout=60)
    assert json.loads(done.stdout)["results"]
    assert done.stderr == b""


# Signals

INTERRUPTED = (130, -signal.SIGINT)  # the system itself ends it when all is done and Python puts things away
STOPPED: dict[str, tuple[str, ...]] = {
    "a live search": ("search", "-p", "searxng", "--refresh", "live"),
    "a search of what is kept": ("search", "-p", "searxng", "--json", "-n", "3", "kept"),
    "a batch": ("search", "-p", "searxng", "--no-cache", "--batch", "{work}/queries"),
    "a summary": ("summarize", "--refresh", "{url}/page"),
    "an answer": ("ask", "-p", "searxng", "--extractive", "--refresh", "live"),
    "a doctor": ("doctor",),
    "a test of a provider": ("providers", "test", "searxng"),
    "pages being added": ("library", "add", "{work}/pages"),
    "a prompt": ("search", "-p", "searxng", "-i", "live"),
    "a setting": ("config", "set", "websearch.snippet_length", "200"),
    "an offline search": ("search", "--offline", "searxng"),
}


@pytest.mark.parametrize("name", STOPPED)
def test_interrupt_ends_at_any_instant_in_time_and_in_two_lines(
    name: str, home: Home, record_property: Callable[[str, object], None]
) -> None:
    words = spelled(home, STOPPED[name])
    chance, usual, took = random.Random(name), 0.3, []
    for number in range(-1, STOPS):
        if name == "pages being added":
            make_pages(home.work / "pages", number)
        running = home.start(*words)
        if number < 0:
            ended = running.end()
            usual = ended.seconds
            continue
        time.sleep(usual * chance.random())
        struck = time.monotonic()
        running.process.send_signal(signal.SIGINT)
        running.process.wait(30)
        took.append(time.monotonic() - struck)
        judge_interrupted(name, running.end())
    record_property("median", sorted(took)[len(took) // 2])
    record_property("longest", max(took))
    print(f"{name}: median {sorted(took)[len(took) // 2]:.3f} s, longest {max(took):.3f} s")
    assert max(took) < SOONEST


def judge_interrupted(name: str, ended: Ended) -> None:
    at_the_end = (0, 1) if name == "a doctor" else (0,)  # its work was done, or a prompt was left
    sound(ended, exits=(*INTERRUPTED, *at_the_end))
    if ended.exit == 130:
        told = [line for line in ended.said.splitlines() if line and not line.startswith(("warning:", "note:"))]
        assert told in ([], ["error: interrupted"]), ended


def make_pages(folder: Path, number: int) -> None:
    folder.mkdir(exist_ok=True)
    for page in range(25):
        (folder / f"{page}.md").write_text(f"# Page {page}\n\n" + f"words{number} in a row " * 100)


STALLED: dict[str, tuple[str, ...]] = {
    "a search": ("search", "-p", "searxng", "--no-cache", "x"),
    "a summary": ("summarize", "{url}/page"),
    "a doctor": ("doctor", "--only", "searxng"),
    "a test": ("providers", "test", "searxng"),
    "embeddings": ("search", "-p", "searxng", "--no-cache", "--content", "--compress", "rag", "x"),
    "an answer": ("ask", "-p", "searxng", "--search", "on", "why"),
    "an answer of a model": ("ask", "-p", "searxng", "--search", "on", "why"),
    "a chat": ("chat", "-p", "searxng", "--search", "on"),
    "a chat with a model": ("chat", "-p", "searxng", "--search", "on"),
}


@pytest.mark.parametrize("name", STALLED)
def test_interrupt_waits_for_no_server(name: str, home: Home, serve: Any) -> None:
    reached = threading.Event()

    def stall(caller: Any) -> None:
        if name == "embeddings" and caller.path.startswith("/search"):
            results = [{"url": f"{caller.origin}/page{number}", "title": "A page"} for number in range(3)]
            caller.answer(json.dumps({"results": results}).encode())
        elif name == "embeddings" and caller.path.startswith("/page"):
            good(caller)
        else:
            reached.set()
            caller.over.wait(60)

    silent = serve(stall)
    models = {"embeddings": {"SLEUTH_EMBEDDING_BASE_URL": silent.url, "SLEUTH_EMBEDDING_MODEL": "m"}}
    models |= {kind: {"SLEUTH_LLM_BASE_URL": silent.url} for kind in STALLED if kind.endswith(" model")}
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", *(word.format(url=silent.url) for word in STALLED[name])],
        env=home.environ | {"SEARXNG_URL": silent.url} | models.get(name, {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    process.stdin.write(b"why\n")  # where it is a prompt that asks
    process.stdin.flush()
    assert reached.wait(30)
    struck = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    sound(Ended(process.returncode, out, err, time.monotonic() - struck), exits=(130,), slowest=SOONEST)


def test_interrupt_waits_for_no_reader(home: Home) -> None:
    """A pipe is full and nobody reads on: the interrupt ends it all the same."""
    queries = home.file("many", "\n".join(f"query {number}" for number in range(200)))
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", "search", "-p", "searxng", "--no-cache", "--batch", queries],
        env=home.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.read(1) == b"{"
    time.sleep(1.0)  # until the pipe is full
    struck = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait(30)
    took = time.monotonic() - struck
    _, err = process.communicate()
    sound(Ended(process.returncode, b"", err, took), exits=INTERRUPTED, slowest=SOONEST)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_other_signals_end_it_without_a_word(number: signal.Signals, home: Home) -> None:
    for pause in (0.02, 0.1):
        running = home.start("search", "-p", "searxng", "--refresh", "live")
        time.sleep(pause)
        running.process.send_signal(number)
        ended = running.end()
        assert (ended.exit, ended.err) in ((-number, b""), (0, b"")), ended
    home.ask("search", "-p", "searxng", "--refresh", "live")


def test_interrupt_that_is_ignored_stays_ignored(home: Home) -> None:
    """As of what a shell runs in the background."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", "search", "-p", "searxng", "--refresh", "live"],
        env=home.environ,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN) and None,
        stdout=subprocess.PIPE,
    )
    for _ in range(10):
        time.sleep(0.02)
        process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert (process.returncode, out.count(b"https://")) == (0, 5)


# Crowds


def test_64_at_once_all_succeed_lose_nothing_and_ask_once(tmp_path: Path, serve: Any) -> None:
    """On a home nobody has used: one query and many, settings, rows, pages and the history, all at the same time."""
    server = serve(good)
    home = Home(tmp_path, server.url)
    keys = ("websearch.snippet_length", "cache.max_entries", "fetch.concurrency", "websearch.max_results")
    lines: list[list[str]] = []
    for number in range(16):
        lines.append(["search", "-p", "searxng", "--json", "the same"])
        lines.append(["search", "-p", "searxng", "--json", f"another {number}"])
        lines.append(["providers", "set", "brave", "--option", f"o{number}={number}"])
        lines.append(
            ["config", "set", keys[number // 4], str(20 + number)]
            if number % 4 == 0
            else ["library", "add", home.file(f"page{number}.md", f"# Page {number}\n\nOf runtimes.\n")]
            if number % 4 == 1
            else ["history"]
        )
    running = [start(home, line) for line in lines]
    ended = [Ended(process.wait(), *told) for process in running for told in [process.communicate(timeout=110)]]
    for line, end in zip(lines, ended, strict=True):
        assert b"locked" not in sound(end, exits=DONE).err, line
        if line[0] == "search":
            assert len(json.loads(end.out)["results"]) == 5
    asked = [request.split(b" ")[1] for request in server.requests]
    assert len([path for path in asked if b"the+same" in path or b"the%20same" in path]) == 1, (
        "one request for one query"
    )
    assert len(asked) == 17
    options = json.loads(home.ask("providers", "show", "brave", "--json").out)["options"]
    assert options == {f"o{number}": str(number) for number in range(16)}
    values = json.loads(home.ask("config", "show", "--json").out)
    assert [values[key] for key in keys] == [20, 24, 28, 32]
    assert json.loads(home.ask("library", "list", "--source", "file", "--json").out)["total"] == 4
    assert len(home.ask("history", "-n", "100").out.splitlines()) == 32, "and every search is remembered"


def start(home: Home, line: list[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "sleuth", *line],
        env=home.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
