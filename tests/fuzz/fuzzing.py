"""Fuzz targets, their cases, and what one case comes to: a target is a module with `check`, which takes any bytes."""

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

from mutation import mutate, split_words, swell

FOLDER = Path(__file__).parent
CORPUS = FOLDER / "corpus"
PATIENCE = 2.0  # seconds of processor time for one case, be it a megabyte
LARGE = 1_000_000  # bytes of a swollen case, unless the target says otherwise
OURS = {"sleuth", "sleuth_providers", "targets"}  # folders


class TooSlowError(BaseException):
    """A case took more time than any may; no `except Exception` on its way holds it up."""


class Finding(NamedTuple):
    """What was wrong with one case; the same place and kind is the same finding."""

    kind: str
    place: str
    told: str

    @property
    def name(self) -> str:
        """Return a short name for files."""
        return hashlib.sha256(f"{self.kind} {self.place}".encode()).hexdigest()[:12]


class Target(NamedTuple):
    """A parser under test: `check` raises nothing for any bytes, or there is a finding."""

    name: str
    check: Callable[[bytes], None]
    seeds: tuple[bytes, ...]  # whole cases to begin with
    words: tuple[str, ...]  # of its language
    rounds: int  # of the short run
    large: int  # bytes of a swollen case

    def corpus(self) -> list[tuple[str, bytes]]:
        """Return the kept cases by name."""
        return [(path.stem, path.read_bytes()) for path in sorted((CORPUS / self.name).glob("*"))]


def names() -> list[str]:
    """Return what can be fuzzed."""
    return sorted(path.stem for path in (FOLDER / "targets").glob("*.py"))


def load(name: str) -> Target:
    """Import one target."""
    spec = importlib.util.spec_from_file_location(f"fuzz_{name}", FOLDER / "targets" / f"{name}.py")
    assert spec
    assert spec.loader
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    seeds = tuple(seed.encode() if isinstance(seed, str) else seed for seed in getattr(module, "SEEDS", ()))
    return Target(name, module.check, seeds, split_words(module.WORDS), module.ROUNDS, getattr(module, "LARGE", LARGE))


def examine(check: Callable[[bytes], None], data: bytes, patience: float = PATIENCE) -> Finding | None:
    """Run one case; what it raises, or that it takes too long, is a finding."""
    started = time.process_time()
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, patience)
    try:
        check(data)
    except (Exception, TooSlowError) as problem:
        return _finding(problem)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    spent = time.process_time() - started
    return Finding("slow", "whole", f"{spent:.1f} s") if spent > patience else None


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TooSlowError


def _finding(problem: BaseException) -> Finding:
    """Name a finding by the last line of ours that it passed through, or by the assertion that failed."""
    frames = traceback.extract_tb(problem.__traceback__)
    ours = [frame for frame in frames if OURS & set(Path(frame.filename).parts)]
    last = (ours or list(frames))[-1]
    place = f"{Path(last.filename).stem}:{last.name}: {last.line}"
    kind = "slow" if isinstance(problem, TooSlowError) else type(problem).__name__
    told = "".join(traceback.format_exception(problem)) if sys.stderr else ""
    return Finding(kind, place, told)


def cases(target: Target, random: Random, size: int = 0) -> Iterator[bytes]:
    """Yield cases without end, each like a kept one or a seed; with `size` some are swollen to so many bytes."""
    pool = [*target.seeds, *(data for _, data in target.corpus())]
    while True:
        data = mutate(random.choice(pool), pool, random, target.words)
        yield swell(data, random, size) if size and random.random() < 0.01 else data


def minimise(target: Target, data: bytes, finding: Finding, seconds: float = 20.0) -> bytes:
    """Return a shorter case with the same finding."""
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
    """Run every seed and as many other cases as the target says, the same ones each time; return what was found."""
    end = time.process_time() + seconds
    found = [(data, finding) for data in target.seeds if (finding := examine(target.check, data))]
    made = cases(target, Random(target.name), min(target.large, 20_000))
    for _, data in zip(range(target.rounds), made, strict=False):
        if finding := examine(target.check, data):
            found.append((data, finding))
        if time.process_time() > end:
            break
    return found
