"""Every regular expression runs in linear time: one that backtracks freezes the process, since `re` holds the GIL."""

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from tests import patterns


@pytest.mark.adversarial  # half a minute
def test_every_pattern_takes_linear_time() -> None:
    def limit_cpu() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (600, 600))

    program = [sys.executable, "-W", "ignore", "-m", "tests.patterns"]
    done = subprocess.run(
        program, capture_output=True, text=True, cwd=Path(__file__).parents[1], preexec_fn=limit_cpu, check=False
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "is_slow"),
    [
        (r"(?:<!--.*?-->\s*)*<html", True),
        (r"\[((?:\\.|[^\[\]\\])*)\]", True),
        (r"\[a\]:[ \t]*\n?[ \t]*<", True),
        (r"(?:a|a)*b", True),
        (r"x*y", True),
        (r"[A-Z]+:", True),
        (r'"(?:[^"\\]|\\.)*"|[^"]', True),
        (r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[^"]', False),
        (r"(?<!x)x*+y", False),
        (r"\s+", False),
    ],
)
def test_patterns_that_backtrack_are_found(text: str, is_slow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "CPU_LIMIT_S", 0.3)  # ten times FAST_S
    place = patterns.Pattern("here", text, re.DOTALL, ("finditer",))
    with patterns.cpu_limit():
        assert bool(patterns.slow(place)) == is_slow


def test_patterns_are_collected_from_both_packages() -> None:
    places = {pattern.place.partition(":")[0] for pattern in patterns.patterns()}
    assert {"sleuth.pages.fetch", "sleuth.base.logs", "sleuth_providers.html.limits"} <= places
    assert {"sleuth.relevance.sites", "brave", "sleuth.serving.http.models"} <= places


def test_patterns_that_are_not_collected_are_known() -> None:
    assert set(patterns.dynamic_calls()) == set(patterns.DYNAMIC)


def test_patterns_are_applied_with_re_alone() -> None:
    """`from re import match`, or another module, would hide a pattern from the check."""
    hidden = re.compile(r"^\s*(?:from re import|import (?:regex|re2|re as)|from (?:regex|re2) import)", re.MULTILINE)
    assert [name for name in patterns.modules() if hidden.search(patterns.source(name))] == []
