"""Fuzzes one target after the other and saves the shortest case of each finding to .cache/fuzz/findings.

    PYTHONPATH=. python tests/fuzz/run.py [--seconds N] [TARGET…]

With atheris, cases are chosen by coverage; without it, they are mutated at random.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from random import Random
from typing import Any

from fuzzing import CASE_TIMEOUT_S, FOLDER, Finding, Target, cases, examine, load, minimise, names
from mutation import inflate, mutate

FUZZ_FOLDER = FOLDER.parent.parent / ".cache" / "fuzz"
COVERAGE_SLOWDOWN = 8  # instrumented code takes this much longer
INFLATE_EVERY = 300  # cases
OPTIONS = ("-max_len=20000", "-timeout=300", "-rss_limit_mb=4096", "-verbosity=0", "-report_slow_units=300")


class Session:
    """One run of one target: counts cases, saves the shortest of each finding and exits when the time is up."""

    def __init__(self, target: Target, seconds: float, timeout: float) -> None:
        self.target, self.seconds, self.timeout = target, seconds, timeout
        self.random = Random(time.time_ns())
        self.done = 0
        self.saved: dict[str, int] = {}

    def try_case(self, data: bytes) -> None:
        """Run a case, and sometimes an inflated copy; exit when the time is up."""
        self._save(data, examine(self.target.check, data, self.timeout))
        self.done += 1
        if self.done % INFLATE_EVERY == 0:
            large = inflate(data, self.random, self.target.max_bytes)
            self._save(large, examine(self.target.check, large, self.timeout))
        spent = time.process_time()
        if spent > self.seconds:
            print(
                f"{self.target.name}: {self.done} cases, {spent:.0f} s, {len(self.saved)} findings to confirm",
                flush=True,
            )
            os._exit(0)  # libFuzzer cannot be stopped otherwise

    def _save(self, data: bytes, finding: Finding | None) -> None:
        if finding is None or self.saved.get(finding.name, len(data) + 1) <= len(data):
            return
        self.saved[finding.name] = len(data)
        folder = FUZZ_FOLDER / "raw" / self.target.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / finding.name).write_bytes(data)


def fuzz_at_random(name: str, seconds: float) -> None:
    """Run mutated cases without coverage feedback."""
    target = load(name)
    session = Session(target, seconds, CASE_TIMEOUT_S)
    for data in cases(target, session.random):
        session.try_case(data)


def fuzz_with_coverage(atheris: Any, name: str, seconds: float) -> None:
    """Let libFuzzer choose cases by coverage; half of the mutations are our own."""
    with atheris.instrument_imports(include=["sleuth", "sleuth_providers"]):
        target = load(name)
    session = Session(target, seconds, CASE_TIMEOUT_S * COVERAGE_SLOWDOWN)
    pool = [*target.seeds, *(data for _, data in target.corpus())]

    def mutator(data: bytes, size: int, seed: int) -> bytes:
        random = Random(seed)
        mutated = mutate(data, pool, random, target.words) if random.random() < 0.5 else atheris.Mutate(data, size)
        return bytes(mutated[:size])

    learned, initial = FUZZ_FOLDER / "learned" / name, FUZZ_FOLDER / "initial" / name
    for folder in (learned, initial):
        folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(pool):
        (initial / str(number)).write_bytes(data)
    atheris.Setup([sys.argv[0], *OPTIONS, str(learned), str(initial)], session.try_case, custom_mutator=mutator)
    atheris.Fuzz()


def confirm(name: str) -> int:
    """Repeat the findings of a run without coverage, minimise and save those that fail again; return their number."""
    target, found = load(name), 0
    for raw in sorted((FUZZ_FOLDER / "raw" / name).glob("*")):
        data = raw.read_bytes()
        finding = examine(target.check, data)
        raw.unlink()
        if finding is None:
            continue
        found += 1
        shortest = minimise(target, data, finding)
        path = FUZZ_FOLDER / "findings" / name / finding.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(shortest)
        print(f"{name}: {finding.kind} at {finding.place}\n{path}: {shortest[:200]!r}\n{finding.message[-700:]}")
    return found


def main() -> int:
    """Fuzz each target in a separate process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(names()))
    parser.add_argument("--seconds", type=float, default=300.0, help="processor time for each")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if unknown := set(chosen.targets) - set(names()):
        parser.error(f"no such target: {', '.join(unknown)}; there are {', '.join(names())}")
    if chosen.inside:
        try:
            import atheris
        except ImportError:
            fuzz_at_random(chosen.targets[0], chosen.seconds)
        else:
            fuzz_with_coverage(atheris, chosen.targets[0], chosen.seconds)
    found = 0
    for name in chosen.targets or names():
        command = [sys.executable, __file__, "--inside", "--seconds", str(chosen.seconds), name]
        with tempfile.TemporaryDirectory() as folder:  # the process exits without cleaning up
            subprocess.run(command, check=True, env=os.environ | {"TMPDIR": folder})
        found += confirm(name)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
