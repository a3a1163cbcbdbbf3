"""Time, memory and instruction counts of commands."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LAUNCHER = str(Path(__file__).with_name("launch.py"))
WARM_UP_ROUNDS = 3  # rounds that do not count: they fill bytecode, tables and caches


class Figures(NamedTuple):
    """The shortest time and the peak memory of a command."""

    seconds: float = float("inf")
    megabytes: float = 0.0


def _split_variables(command: Sequence[str], environ: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the words of a command, and the environment with the variables it starts with."""
    words, variables = list(command), dict(environ)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    return words, variables


def _run(command: Sequence[str], environ: Mapping[str, str]) -> Figures:
    """Run a command once; it must succeed."""
    words, variables = _split_variables(command, environ)
    launch = [sys.executable, "-I", "-S", LAUNCHER, *words]
    printed = subprocess.run(launch, env=variables, capture_output=True, text=True, check=True).stdout
    seconds, kilobytes, code = printed.split()
    if code != "0":
        raise RuntimeError(f"exit code {code}: {' '.join(command)[:200]}")
    return Figures(float(seconds), int(kilobytes) / 1024)


def measure(commands: Mapping[str, Sequence[str]], environ: Mapping[str, str], runs: int) -> dict[str, Figures]:
    """Run the commands in turn, many times, and return the best time and the peak memory of each."""
    best = dict.fromkeys(commands, Figures())
    for number in range(runs + WARM_UP_ROUNDS):
        for name, command in commands.items():
            seconds, megabytes = _run(command, environ)
            if number >= WARM_UP_ROUNDS:
                best[name] = Figures(min(best[name].seconds, seconds), max(best[name].megabytes, megabytes))
    return best


def can_count() -> bool:
    """Tell whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def instructions(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Return the number of instructions of a command, which does not depend on the load."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    words, variables = _split_variables(command, environ)
    subprocess.run(words, env=variables, capture_output=True, check=False)  # other rows may have changed the cache
    done = subprocess.run([*tool, *words], env=variables, capture_output=True, text=True, check=False)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or not found:
        raise RuntimeError(f"valgrind failed: {' '.join(command)[:200]}: {done.stderr[-300:]}")
    return int(found[1].replace(",", ""))
