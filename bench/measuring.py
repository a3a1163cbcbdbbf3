"""Time and memory of whole commands, measured in turn; instruction counts where the clock is too noisy."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LAUNCHER = str(Path(__file__).with_name("launch.py"))
WARM_UP = 3  # rounds before it counts: bytecode, tables, caches, answers written out


class Figures(NamedTuple):
    """What a command took: the fastest time, the most memory."""

    seconds: float = float("inf")
    megabytes: float = 0.0


def _typed(command: Sequence[str], environ: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Part the variables a command begins with from its words; return the words and the whole environment."""
    words, variables = list(command), dict(environ)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    return words, variables


def measure(command: Sequence[str], environ: Mapping[str, str]) -> Figures:
    """Run a command once; one that fails is no measurement."""
    words, variables = _typed(command, environ)
    launch = [sys.executable, "-I", "-S", LAUNCHER, *words]
    told = subprocess.run(launch, env=variables, capture_output=True, text=True, check=True).stdout
    seconds, kilobytes, code = told.split()
    if code != "0":
        raise RuntimeError(f"exit code {code}: {' '.join(command)[:200]}")
    return Figures(float(seconds), int(kilobytes) / 1024)


def race(commands: Mapping[str, Sequence[str]], environ: Mapping[str, str], runs: int) -> dict[str, Figures]:
    """Run everybody in turn, many times, and keep the best time and the largest memory of each."""
    best = dict.fromkeys(commands, Figures())
    for number in range(runs + WARM_UP):
        for name, command in commands.items():
            seconds, megabytes = measure(command, environ)
            if number >= WARM_UP:
                best[name] = Figures(min(best[name].seconds, seconds), max(best[name].megabytes, megabytes))
    return best


def can_count() -> bool:
    """Tell whether instructions can be counted here."""
    return shutil.which("valgrind") is not None


def instructions(command: Sequence[str], environ: Mapping[str, str]) -> int:
    """Return how many instructions a command takes: the same number on a busy machine as on an idle one."""
    tool = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    words, variables = _typed(command, environ)
    done = subprocess.run([*tool, *words], env=variables, capture_output=True, text=True, check=False)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or not found:
        raise RuntimeError(f"not counted: {' '.join(command)[:200]}: {done.stderr[-300:]}")
    return int(found[1].replace(",", ""))
