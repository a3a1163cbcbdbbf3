"""Every command of a chapter, typed line by line as a new user would, in one home and without the internet."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pytest_httpserver import HTTPServer
from tests.conftest import ROOT, Done, Sleuth
from tests.test_docs import shell_lines
from werkzeug import Request, Response

# These leave this machine, which the test does not allow: they may fail, but must say so properly.
OUTSIDE = ("wikipedia", "duckduckgo", "-p all", "providers test", "doctor", "https://", "use brave", "-p brave")
# Installers, and what needs a terminal, another server, or the default folders.
SKIPPED = ("pip", "uv ", "man ", ".venv", "python3", "tail ~", "sleuth usage --team", "OTEL_", "sleuth history --clear")
# Chapters, the text in the lines to run, and the least number of them.
CHAPTERS = [("getting-started", "", 40), ("usage", "", 18), ("scripting", "fzf", 3)]
PROGRAMS = {
    "sleuth": f'exec "{sys.executable}" -m sleuth "$@"',
    "pass": "echo sk-example-key",
    "fzf": "head -n 1",  # picks the first line
}


# Lines of one command and nothing that a shell expands run in this process; `open` reads the process's own BROWSER.
PLAIN = re.compile(r"sleuth (?!open )[^|&;<>()$`*?#~]*")


def page(request: Request) -> Response:
    return Response(f"<html><title>T</title><p>{'Tokio is a runtime for Rust. ' * 20}</p>", content_type="text/html")


def run_line(line: str, sleuth: Sleuth, folder: Path) -> Done:
    if PLAIN.fullmatch(line):
        return sleuth(*shlex.split(line)[1:], stdin="sk-example-key\n")
    command = ["bash", "-c", f"set -o pipefail; {line}"]
    done = subprocess.run(
        command, env=sleuth.environ, input="sk-example-key\n", capture_output=True, text=True, cwd=folder
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(("chapter", "text", "least"), CHAPTERS)
def test_commands_of_the_chapter_work(
    sleuth: Sleuth, httpserver: HTTPServer, tmp_path: Path, chapter: str, text: str, least: int
) -> None:
    hits = [{"url": httpserver.url_for(f"/page/{n}"), "title": f"Rust {n}", "content": "A runtime."} for n in range(12)]
    httpserver.expect_request("/search").respond_with_json({"results": hits})
    httpserver.expect_request("/config").respond_with_json({})
    for number in range(12):
        httpserver.expect_request(f"/page/{number}").respond_with_handler(page)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, body in PROGRAMS.items():
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    (sleuth.home / "notes").mkdir(parents=True)
    (sleuth.home / "notes" / "backup.md").write_text("# Backup plan\n\nCopy everything twice.\n")
    sleuth.environ |= {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "SEARXNG_URL": httpserver.url_for(""),
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "SLEUTH_FETCH_TIMEOUT": "120",  # for busy machines
        "BROWSER": "true",
        "HTTP_PROXY": "http://127.0.0.1:1",
        "HTTPS_PROXY": "http://127.0.0.1:1",
        "NO_PROXY": "127.0.0.1,localhost",
    }
    ran = 0
    for line in ["sleuth search rust", *shell_lines(ROOT / "docs" / f"{chapter}.md")]:
        if line.startswith(SKIPPED) or (ran and text not in line):
            continue
        if "| jq " in line and not shutil.which("jq"):
            pytest.skip("jq is not installed")
        done = run_line(line, sleuth, tmp_path)
        ran += 1
        assert "Traceback" not in done.err, line
        if any(place in line for place in OUTSIDE):
            assert done.exit != 2, f"{line}\n{done.err}"
        else:
            assert done.exit == 0, f"{line}\n{done.err}"
    assert ran > least
