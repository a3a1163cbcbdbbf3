"""docs/http.md is correct: its commands run against a real server, and its tables match the code."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.serving.conftest import document
from tests.programs import needs

from sleuth.serving.http import app, auth, connection, events, models, server

PAGE = (Path(__file__).parents[4] / "docs" / "http.md").read_text(encoding="utf-8")
LINES = [line[2:] for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
CALLS = [line for line in LINES if line.startswith("curl")]


@pytest.fixture(scope="module")
def shell(serve: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Give a function that runs a command of the page against a real server."""
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


@needs("curl")
@pytest.mark.parametrize("line", CALLS, ids=lambda line: re.search(r"7373(/[^'\s]*)", line)[1])
def test_command_works(shell: Any, upstream: str, line: str) -> None:
    said = shell(line, upstream)
    if "Accept: text/event-stream" in line:
        assert "event: answer\n" in said
        return
    if "/metrics" in line:
        assert "sleuth_http_requests_total{" in said
        return
    found = json.loads(said)
    assert "error" not in found
    assert "PATCH" not in line or found["apiKey"] == "tvly…ef"


def test_every_operation_has_an_example() -> None:
    assert len(CALLS) >= 9
    paths = {path.partition("{")[0] for path in document()["paths"]}
    assert [path for path in paths if not any(f"7373{path}" in line for line in CALLS)] == []


def test_page_names_every_path_status_field_and_limit() -> None:
    for path in document()["paths"]:
        assert path in PAGE
    for status in app.ERRORS:
        assert re.search(rf"^\| {status} \|", PAGE, re.MULTILINE), status
    for model in (models.ProviderPatch, models.SearchBody, models.AskBody, models.ProviderView):
        assert [field.alias for field in model.model_fields.values() if str(field.alias) not in PAGE] == []
    assert f"{app.MAX_REQUESTS} requests run at a time and {app.MAX_QUEUED_REQUESTS} wait" in PAGE
    assert f"{app.MAX_ANSWERS} answers run at a time and {app.MAX_QUEUED_ANSWERS} wait" in PAGE
    assert f"at most {connection.MAX_CONNECTIONS} connections" in PAGE
    assert f"bodies of at most {auth.MAX_BODY_BYTES // 1_000_000} MB" in PAGE
    assert f"arrive within {connection.RECEIVE_TIMEOUT_S:g} seconds" in PAGE
    assert f"running requests get {server.SHUTDOWN_TIMEOUT_S} seconds " in PAGE
    assert f"after {events.KEEPALIVE_INTERVAL_S:g} seconds without an event" in PAGE
