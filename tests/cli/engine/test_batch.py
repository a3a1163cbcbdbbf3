"""`sleuth search --batch`: thousands of queries, one line each."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from tests.conftest import Terminal
from werkzeug import Request, Response

from sleuth.__main__ import run
from sleuth.runtime import Runtime


def reply(request: Request) -> Response:
    hit = {"url": f"https://a.example/{request.args['q']}", "title": request.args["q"], "content": "x" * 200}
    return Response(json.dumps({"results": [hit]}), content_type="application/json")


@pytest.fixture
def searxng(httpserver: HTTPServer, sleuth: Any) -> HTTPServer:
    httpserver.expect_request("/search").respond_with_handler(reply)
    sleuth.environ["SEARXNG_URL"] = httpserver.url_for("")
    return httpserver


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_one_object_a_line_in_order(sleuth: Any, searxng: HTTPServer) -> None:
    done = sleuth("search", "-p", "searxng", "--batch", "-", "--ordered", stdin="one\n\n two \nthree\n")
    assert done.exit == 0
    assert [line["input"] for line in lines(done.out)] == ["one", "two", "three"]
    assert lines(done.out)[1]["results"][0]["url"] == "https://a.example/two"


def test_failure_is_a_line_too(sleuth: Any, searxng: HTTPServer) -> None:
    searxng.clear()
    searxng.expect_request("/search", query_string=None).respond_with_handler(
        lambda r: Response("no", 400) if r.args["q"] == "bad" else reply(r)
    )
    done = sleuth("search", "-p", "searxng", "--batch", "-", "--ordered", stdin="good\nbad\n\x00\nfine\n")
    assert done.exit == 1
    found = lines(done.out)
    assert [line.get("outcome") for line in found] == ["success", "failed", None, "success"]
    assert found[2]["error"]["code"] == "INVALID_REQUEST"


def test_resume_continues_where_the_file_ends(sleuth: Any, searxng: HTTPServer, tmp_path: Path) -> None:
    queries, output = tmp_path / "queries.txt", tmp_path / "answers.ndjson"
    queries.write_text("a\nb\nb\nc\n")
    assert sleuth("search", "-p", "searxng", "--batch", str(queries), "-o", str(output)).exit == 0
    whole = output.read_text()
    assert Counter(line["input"] for line in lines(whole)) == {"a": 1, "b": 2, "c": 1}
    kept = [line for line in whole.splitlines(True) if '"input": "b"' in line][:1]
    compact = [json.dumps(json.loads(line), separators=(",", ":")) + "\n" for line in kept]  # as jq -c writes them
    output.write_text("".join(compact) + '{"input": "c", "unfinis')
    assert sleuth("search", "-p", "searxng", "--batch", str(queries), "-o", str(output)).exit == 2, "not overwritten"
    assert sleuth("search", "-p", "searxng", "--batch", str(queries), "-o", str(output), "--resume").exit == 0
    assert Counter(line["input"] for line in lines(output.read_text())) == {"a": 1, "b": 2, "c": 1}


def test_file_that_is_not_the_output_of_a_batch_is_refused(sleuth: Any, tmp_path: Path) -> None:
    output = tmp_path / "notes.txt"
    output.write_text("notes\n")
    done = sleuth("search", "--batch", "-", "-o", str(output), "--resume", stdin="x\n")
    assert done.exit == 2
    assert done.err == f"error: {output} is not the output of a batch\nhint: choose another file with -o\n"
    assert output.read_text() == "notes\n"


@pytest.mark.parametrize("words", [("--batch", "/no/such/file"), ("--batch", "-", "--resume")])
def test_invalid_batches_are_refused(sleuth: Any, words: tuple[str, ...]) -> None:
    done = sleuth("search", *words)
    assert done.exit == 2
    assert "hint: " in done.err


def test_line_that_does_not_end_is_refused(sleuth: Any) -> None:
    done = sleuth("search", "--batch", "-", stdin="x" * 2_000_000)
    assert (done.exit, done.out) == (2, "")
    assert "longer than 1000000 characters" in done.err


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="there is no process substitution")
def test_pipe_with_a_name_is_read_once(sleuth: Any, searxng: HTTPServer) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a\nb\n")
    os.close(writer)
    runtime = Runtime(sleuth.environ, io.StringIO(), io.StringIO(), Terminal())  # which shows how many are left
    assert run(runtime, ["search", "-p", "searxng", "--batch", f"/dev/fd/{reader}", "--ordered"]) == 0
    os.close(reader)
    assert [line["input"] for line in lines(runtime.stdout.getvalue())] == ["a", "b"]


@pytest.mark.slow
def test_interrupted_batch_is_resumed_without_loss(sleuth: Any, searxng: HTTPServer, tmp_path: Path) -> None:
    """None is lost, none doubled, and memory stays flat."""
    queries, output = tmp_path / "queries.txt", tmp_path / "answers.ndjson"
    queries.write_text("".join(f"query number {n}\n" for n in range(2000)))
    command = [
        sys.executable,
        "-m",
        "sleuth",
        "search",
        "-p",
        "searxng",
        "--no-cache",
        "--batch",
        str(queries),
        "-o",
        str(output),
    ]
    process = subprocess.Popen(command, env=sleuth.environ, stderr=subprocess.PIPE)
    while not output.exists() or output.stat().st_size < 100_000:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert (process.returncode, b"Traceback" in err) == (130, False)
    assert len(lines(output.read_text())) < 2000
    process = subprocess.Popen([*command, "--resume"], env=sleuth.environ, stderr=subprocess.PIPE)
    early = largest_memory(process.pid, output, 600)
    late = largest_memory(process.pid, output, 1900)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    counted = Counter(line["input"] for line in lines(output.read_text()))
    assert len(counted) == 2000
    assert set(counted.values()) == {1}
    assert late - early < 8_000, "kilobytes: memory does not grow with the number of queries"


def largest_memory(pid: int, output: Path, answers: int) -> int:
    """Return the most memory a process has taken by the time so many answers are there, in kilobytes."""
    size = answers * (output.stat().st_size // max(1, output.read_text().count("\n")))
    taken = 0
    while output.stat().st_size < size:
        try:
            taken = int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])  # type: ignore[index]
        except (OSError, TypeError):
            break
        time.sleep(0.02)
    return taken
