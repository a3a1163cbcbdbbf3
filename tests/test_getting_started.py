"""Every command of the first chapter, typed line by line as a new user would, in one home and without the internet."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from pytest_httpserver import HTTPServer
from tests.conftest import ROOT
from tests.test_docs import shell_lines
from werkzeug import Request, Response

# These leave this machine, which the test does not allow: they may fail, but must say so properly.
OUTSIDE = ("wikipedia", "duckduckgo", "-p all", "providers test", "doctor", "https://", "providers use brave")
INSTALLERS = ("pip", "uv ", "man ", ".venv", "python3")


def page(request: Request) -> Response:
    return Response(f"<html><title>T</title><p>{'Tokio is a runtime for Rust. ' * 20}</p>", content_type="text/html")


def test_commands_of_the_first_chapter_work(sleuth: Any, httpserver: HTTPServer, tmp_path: Path) -> None:
    hits = [{"url": httpserver.url_for(f"/page/{n}"), "title": f"Rust {n}", "content": "A runtime."} for n in range(12)]
    httpserver.expect_request("/search").respond_with_json({"results": hits})
    httpserver.expect_request("/config").respond_with_json({})
    for number in range(12):
        httpserver.expect_request(f"/page/{number}").respond_with_handler(page)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, body in (("sleuth", f'exec "{sys.executable}" -m sleuth "$@"'), ("pass", "echo sk-example-key")):
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    (sleuth.home / "notes").mkdir(parents=True)
    (sleuth.home / "notes" / "backup.md").write_text("# Backup plan\n\nCopy everything twice.\n")
    environ = sleuth.environ | {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "SEARXNG_URL": httpserver.url_for(""),
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "HTTPS_PROXY": "http://127.0.0.1:1",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    ran = 0
    for line in shell_lines(ROOT / "docs" / "getting-started.md"):
        if line.startswith(INSTALLERS):
            continue
        command = ["bash", "-c", f"set -o pipefail; {line}"]
        done = subprocess.run(
            command, env=environ, input="sk-example-key\n", capture_output=True, text=True, cwd=tmp_path
        )
        ran += 1
        assert "Traceback" not in done.stderr, line
        if any(text in line for text in OUTSIDE):
            assert done.returncode != 2, f"{line}\n{done.stderr}"
        else:
            assert done.returncode == 0, f"{line}\n{done.stderr}"
    assert ran > 40
