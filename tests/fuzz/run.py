"""Fuzzes one target after the other for a while, and keeps the shortest case of everything it finds.

With atheris, which watches what parts of sleuth a case reaches, a run learns; without it cases are made blindly.
`python tests/fuzz/run.py [--seconds N] [TARGET…]`; findings go to .cache/fuzz/findings.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from random import Random
from typing import Any

from fuzzing import FOLDER, PATIENCE, Finding, Target, cases, examine, load, minimise, names
from mutation import mutate, swell

HOME = FOLDER.parent.parent / ".cache" / "fuzz"
SLOWED = 8  # how much longer watched code takes
SWOLLEN = 300  # one case in so many is tried swollen, too
OPTIONS = ("-max_len=20000", "-timeout=300", "-rss_limit_mb=4096", "-verbosity=0", "-report_slow_units=300")


class Hunt:
    """One run of one target: counts cases, keeps the shortest of each finding, and ends when its time is used."""

    def __init__(self, target: Target, seconds: float, patience: float) -> None:
        self.target, self.seconds, self.patience = target, seconds, patience
        self.random = Random(time.time_ns())
        self.done = 0
        self.kept: dict[str, int] = {}

    def try_case(self, data: bytes) -> None:
        """Run a case, now and then a swollen one like it; exit when the time is used."""
        self._note(data, examine(self.target.check, data, self.patience))
        self.done += 1
        if self.done % SWOLLEN == 0:
            large = swell(data, self.random, self.target.large)
            self._note(large, examine(self.target.check, large, self.patience))
        spent = time.process_time()
        if spent > self.seconds:
            print(f"{self.target.name}: {self.done} cases, {spent:.0f} s, {len(self.kept)} to look at", flush=True)
            os._exit(0)  # past libFuzzer, which has no other end

    def _note(self, data: bytes, finding: Finding | None) -> None:
        if finding is None or self.kept.get(finding.name, len(data) + 1) <= len(data):
            return
        self.kept[finding.name] = len(data)
        folder = HOME / "raw" / self.target.name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / finding.name).write_bytes(data)


def hunt_blindly(name: str, seconds: float) -> None:
    """Make cases without knowing what they reach."""
    target = load(name)
    hunt = Hunt(target, seconds, PATIENCE)
    for data in cases(target, hunt.random):
        hunt.try_case(data)


def hunt_watching(atheris: Any, name: str, seconds: float) -> None:
    """Let libFuzzer choose cases by the code they reach; half of them are made by `mutation`."""
    with atheris.instrument_imports(include=["sleuth", "sleuth_providers"]):
        target = load(name)
    hunt = Hunt(target, seconds, PATIENCE * SLOWED)
    pool = [*target.seeds, *(data for _, data in target.corpus())]

    def mutator(data: bytes, size: int, seed: int) -> bytes:
        random = Random(seed)
        made = mutate(data, pool, random, target.words) if random.random() < 0.5 else atheris.Mutate(data, size)
        return bytes(made[:size])

    learned, given = HOME / "learned" / name, HOME / "given" / name
    for folder in (learned, given):
        folder.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(pool):
        (given / str(number)).write_bytes(data)
    atheris.Setup([sys.argv[0], *OPTIONS, str(learned), str(given)], hunt.try_case, custom_mutator=mutator)
    atheris.Fuzz()


def confirm(name: str) -> int:
    """Try again, unwatched, what a run found; keep what is true in its shortest form, and return how many there are."""
    target, found = load(name), 0
    for path in sorted((HOME / "raw" / name).glob("*")):
        data = path.read_bytes()
        finding = examine(target.check, data)
        path.unlink()
        if finding is None:
            continue
        found += 1
        shortest = minimise(target, data, finding)
        kept = HOME / "findings" / name / finding.name
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(shortest)
        print(f"{name}: {finding.kind} at {finding.place}\n{kept}: {shortest[:200]!r}\n{finding.told[-700:]}")
    return found


def main() -> int:
    """Read the command line, and fuzz in processes of their own."""
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
            hunt_blindly(chosen.targets[0], chosen.seconds)
        else:
            hunt_watching(atheris, chosen.targets[0], chosen.seconds)
    found = 0
    for name in chosen.targets or names():
        command = [sys.executable, __file__, "--inside", "--seconds", str(chosen.seconds), name]
        with tempfile.TemporaryDirectory() as folder:  # it ends without tidying up
            subprocess.run(command, check=True, env=os.environ | {"TMPDIR": folder})
        found += confirm(name)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
