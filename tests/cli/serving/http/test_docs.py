"""The chapter on the HTTP API is true: its commands run against a real server, and its tables are those of the code."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sleuth.serving.http import app, bodies, events, forms, server
from sleuth.serving.http.openapi import STATUSES, document

CHAPTER = (Path(__file__).parents[4] / "docs" / "http.md").read_text(encoding="utf-8")
LINES = [line[2:] for block in re.findall(r"```console\n(.*?)```", CHAPTER, re.DOTALL) for line in block.splitlines()]
CALLS = [line for line in LINES if line.startswith("curl")]


@pytest.fixture(scope="module")
def shell(serve: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Give a function that runs a line of the chapter; the server stands where the chapter says it does."""
    served = serve(SLEUTH_FETCH_ALLOW_PRIVATE="true")
    folder = tmp_path_factory.mktemp("bin")
    (folder / "sleuth").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m sleuth "$@"\n')
    (folder / "sleuth").chmod(0o755)

    def run(line: str, upstream: str) -> str:
        line = line.replace("http://127.0.0.1:7373", served.url).replace(
            "https://docs.searxng.org/", f"{upstream}/page"
        )
        token = next(line for line in LINES if line.startswith("TOKEN="))
        environ = {"PATH": f"{folder}:/usr/bin:/bin", "SLEUTH_HOME": str(served.home), "HOME": str(folder)}
        done = subprocess.run(
            ["bash", "-c", f"{token}\n{line}"], env=environ, capture_output=True, text=True, timeout=60, check=True
        )
        assert done.stderr == ""
        return done.stdout

    return run


@pytest.mark.parametrize("line", CALLS, ids=lambda line: re.search(r"7373(/[^'\s]*)", line)[1])
def test_command_of_the_chapter_does_what_it_says(shell: Any, upstream: str, line: str) -> None:
    said = shell(line, upstream)
    if "/ask" in line:
        assert "event: answer\n" in said
        return
    found = json.loads(said)
    assert "error" not in found
    assert "PATCH" not in line or found["apiKey"] == "tvly…ef"


def test_chapter_has_an_example_for_every_operation() -> None:
    assert len(CALLS) >= 9
    paths = {path.partition("{")[0] for path in document()["paths"]}
    assert [path for path in paths if not any(f"7373{path}" in line for line in CALLS)] == []


def test_chapter_names_every_path_status_field_and_limit() -> None:
    for path in document()["paths"]:
        assert path in CHAPTER
    for status in STATUSES:
        assert re.search(rf"^\| {status} \|", CHAPTER, re.MULTILINE), status
    for schema in (forms.PATCH, forms.SEARCH, forms.ASK, forms.PROVIDER):
        assert [name for name in schema["properties"] if name not in CHAPTER] == []
    assert f"{app.WORKERS} requests are worked on at a time and {app.WAITING} wait" in CHAPTER
    assert f"{app.ANSWERERS} questions are answered at a time and {app.ANSWERS_WAITING} wait" in CHAPTER
    assert f"at most {bodies.MAX_BODY // 1_000_000} MB, sent within {bodies.SECONDS:g} seconds" in CHAPTER
    assert f"running requests get {server.GRACE} second," in CHAPTER
    assert f"after {events.QUIET:g} quiet seconds" in CHAPTER
