"""Every parser holds what it promises of every kept case, and of a short run of new ones that is the same each time."""

from functools import cache
from pathlib import Path

import pytest
from fuzzing import CORPUS, examine, load, names, short_run

MOST = 200_000  # bytes of all kept cases
KEPT = sorted(CORPUS.glob("*/*"))
SECONDS = 1.5

pytestmark = pytest.mark.fuzz

loaded = cache(load)


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_kept_case_is_still_well(path: Path) -> None:
    target = loaded(path.parent.name)
    finding = examine(target.check, path.read_bytes())
    assert finding is None, finding.told


@pytest.mark.parametrize("name", names())
def test_new_cases_find_nothing(name: str) -> None:
    target = loaded(name)
    for data, finding in short_run(target, SECONDS):
        pytest.fail(f"{finding.told}\nmake fuzz TARGET={name} finds a shorter case than {data[:2000]!r}")


def test_kept_cases_are_small_and_have_a_target() -> None:
    assert sum(path.stat().st_size for path in KEPT) <= MOST
    assert {path.parent.name for path in KEPT} <= set(names())


def test_a_target_that_raises_or_stalls_is_a_finding() -> None:
    def raises(data: bytes) -> None:
        raise KeyError(data)

    def stalls(_data: bytes) -> None:
        while True:
            pass

    found = examine(raises, b"x")
    assert found
    assert found.kind == "KeyError"
    slow = examine(stalls, b"x", patience=0.05)
    assert slow
    assert slow.kind == "slow"
    assert examine(lambda _data: None, b"x") is None
