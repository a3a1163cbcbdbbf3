"""Every parser on the corpus, and on mutated cases that are the same in each run."""

from functools import cache
from pathlib import Path

import pytest
from fuzzing import CORPUS, examine, load, names, short_run

MAX_CORPUS_BYTES = 200_000
CASES = sorted(CORPUS.glob("*/*"))
MAX_CPU_S = 1.5  # for each target; the run ends early on slow machines

pytestmark = pytest.mark.fuzz

loaded = cache(load)


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_corpus_case_passes(path: Path) -> None:
    target = loaded(path.parent.name)
    finding = examine(target.check, path.read_bytes())
    assert finding is None, finding.message


@pytest.mark.parametrize("name", names())
def test_mutated_cases_pass(name: str) -> None:
    target = loaded(name)
    for data, finding in short_run(target, MAX_CPU_S):
        pytest.fail(f"{finding.message}\nmake fuzz TARGET={name} finds a shorter case than {data[:2000]!r}")


def test_corpus_is_small_and_has_targets() -> None:
    assert sum(path.stat().st_size for path in CASES) <= MAX_CORPUS_BYTES
    assert {path.parent.name for path in CASES} <= set(names())


def test_exception_or_endless_loop_is_a_finding() -> None:
    def raises(data: bytes) -> None:
        raise KeyError(data)

    def stalls(_data: bytes) -> None:
        while True:
            pass

    found = examine(raises, b"x")
    assert found
    assert found.kind == "KeyError"
    slow = examine(stalls, b"x", timeout=0.05)
    assert slow
    assert slow.kind == "slow"
    assert examine(lambda _data: None, b"x") is None
