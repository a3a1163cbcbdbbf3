"""Loads fuzz targets and runs them on single cases; a target is a module with `check`, which takes any bytes."""

import hashlib
import importlib.util
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from types import FrameType, ModuleType
from typing import NamedTuple

from mutation import inflate, mutate, split_words

FOLDER = Path(__file__).parent
CORPUS = FOLDER / "corpus"
CASE_TIMEOUT_S = 2.0  # processor time for one case, even of a megabyte
MAX_CASE_BYTES = 1_000_000  # of an inflated case, unless the target has its own limit
OWN_FOLDERS = {"sleuth", "sleuth_providers", "targets"}


class TooSlowError(BaseException):
    """A case took too long. Not an Exception, so that no parser catches it."""


class Finding(NamedTuple):
    """A failed case; failures of one kind at one place are the same finding."""

    kind: str
    place: str
    message: str

    @property
    def name(self) -> str:
        """Return a file name."""
        return hashlib.sha256(f"{self.kind} {self.place}".encode()).hexdigest()[:12]


class Target(NamedTuple):
    """A parser under test; whatever `check` raises is a finding."""

    name: str
    check: Callable[[bytes], None]
    seeds: tuple[bytes, ...]  # initial cases
    words: tuple[str, ...]  # typical tokens of its input
    rounds: int  # cases of the short run
    max_bytes: int  # of an inflated case

    def corpus(self) -> list[tuple[str, bytes]]:
        """Return the cases of the corpus by name."""
        return [(path.stem, path.read_bytes()) for path in sorted((CORPUS / self.name).glob("*"))]


def names() -> list[str]:
    """Return the names of all targets."""
    return sorted(path.stem for path in (FOLDER / "targets").glob("*.py"))


def load(name: str) -> Target:
    """Import one target."""
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FOLDER / "targets" / f"{name}.py")
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seeds = tuple(seed.encode() if isinstance(seed, str) else seed for seed in getattr(module, "SEEDS", ()))
    return Target(
        name, module.check, seeds, split_words(module.WORDS), module.ROUNDS, getattr(module, "LARGE", MAX_CASE_BYTES)
    )


def examine(check: Callable[[bytes], None], data: bytes, timeout: float = CASE_TIMEOUT_S) -> Finding | None:
    """Run one case; an exception or too much processor time is a finding."""
    started = time.process_time()
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, timeout)
    try:
        check(data)
    except (Exception, TooSlowError) as problem:
        return _finding(problem)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    spent = time.process_time() - started
    return Finding("slow", "whole", f"{spent:.1f} s") if spent > timeout else None


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TooSlowError


def _finding(problem: BaseException) -> Finding:
    """Name a finding by the innermost line of our own code, or by the failed assertion."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if OWN_FOLDERS & set(Path(frame.filename).parts)]
    last = (own or list(frames))[-1]
    place = f"{Path(last.filename).stem}:{last.name}: {last.line}"
    kind = "slow" if isinstance(problem, TooSlowError) else type(problem).__name__
    message = "".join(traceback.format_exception(problem)) if sys.stderr else ""
    return Finding(kind, place, message)


def cases(target: Target, random: Random, size: int = 0) -> Iterator[bytes]:
    """Yield mutated seeds and corpus cases without end; with `size`, some are inflated to so many bytes."""
    pool = [*target.seeds, *(data for _, data in target.corpus())]
    while True:
        data = mutate(random.choice(pool), pool, random, target.words)
        yield inflate(data, random, size) if size and random.random() < 0.01 else data


def minimise(target: Target, data: bytes, finding: Finding, seconds: float = 20.0) -> bytes:
    """Return a shorter case with the same finding, searched for so many seconds."""
    end = time.monotonic() + seconds
    size = len(data) // 2
    while size and time.monotonic() < end:
        place = 0
        while place < len(data) and time.monotonic() < end:
            shorter = data[:place] + data[place + size :]
            found = examine(target.check, shorter)
            if found and found[:2] == finding[:2]:
                data = shorter
            else:
                place += size
        size //= 2
    return data


def short_run(target: Target, seconds: float) -> Sequence[tuple[bytes, Finding]]:
    """Run the seeds and the first `rounds` mutated cases, always the same ones; return the failures."""
    end = time.process_time() + seconds
    found = [(data, finding) for data in target.seeds if (finding := examine(target.check, data))]
    made = cases(target, Random(target.name), min(target.max_bytes, 20_000))
    for _, data in zip(range(target.rounds), made, strict=False):
        if finding := examine(target.check, data):
            found.append((data, finding))
        if time.process_time() > end:
            break
    return found
