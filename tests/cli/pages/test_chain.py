"""Several ways to a page: in turn, overlapping when one is slow, all of them in time."""

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from sleuth.pages.chain import Chain, Layer
from sleuth.pages.politeness import HostQueue
from sleuth_providers.errors import BlockedError, ProviderError


def layer(name: str, seconds: float = 0.0, problem: BaseException | None = None) -> Layer[str]:
    def read(until: float) -> str:
        time.sleep(seconds)
        if problem:
            raise problem
        return f"from {name}"

    return Layer(name, name.title(), read)


def run(*layers: Layer[str], timeout: float = 0.6, overlap: bool = True) -> tuple[Any, list[tuple[str, str]], float]:
    started = time.monotonic()
    chain: Chain[str] = Chain(started + timeout, lambda: overlap)
    found = chain.run(iter(layers))
    return found, [(attempt.layer, attempt.state) for attempt in chain.attempts], time.monotonic() - started


def test_the_first_success_wins_and_nobody_else_is_asked() -> None:
    assert run(layer("one"), layer("two"))[:2] == (("one", "from one"), [("one", "ok")])


def test_a_failure_moves_on_at_once() -> None:
    found, attempts, seconds = run(layer("one", problem=BlockedError()), layer("two"))
    assert (found, attempts) == (("two", "from two"), [("one", "blocked"), ("two", "ok")])
    assert seconds < 0.2


def test_a_slow_way_is_overtaken() -> None:
    found, attempts, seconds = run(layer("slow", 5), layer("two"))
    assert (found, attempts) == (("two", "from two"), [("two", "ok"), ("slow", "skipped")])
    assert 0.25 < seconds < 0.5


def test_a_slow_way_still_wins_when_it_comes_first() -> None:
    found, attempts, _ = run(layer("slow", 0.4), layer("slower", 5))
    assert (found, attempts) == (("slow", "from slow"), [("slow", "ok"), ("slower", "skipped")])


def test_nothing_overlaps_that_must_not() -> None:
    found, attempts, seconds = run(layer("slow", 5), layer("two"), overlap=False)
    assert (found, attempts) == (None, [("slow", "timeout")])
    assert 0.5 < seconds < 0.8


def test_all_ways_together_end_in_time() -> None:
    found, attempts, seconds = run(layer("one", 5), layer("two", 5), layer("three", 5))
    assert (found, attempts) == (None, [("one", "timeout"), ("two", "timeout"), ("three", "timeout")])
    assert seconds < 0.8


def test_a_fault_of_ours_is_an_attempt_like_others() -> None:
    found, attempts, _ = run(layer("one", problem=RuntimeError("bug")), layer("two", problem=ProviderError()))
    assert (found, attempts) == (None, [("one", "bad_response"), ("two", "bad_response")])


def test_no_way_at_all_is_no_page() -> None:
    assert run()[:2] == (None, [])


def test_messages_name_who_failed() -> None:
    chain: Chain[str] = Chain(time.monotonic() + 1, lambda: False)
    chain.run(iter([layer("one", problem=BlockedError("bot check", message="{provider} is shy"))]))
    assert chain.attempts[0].message == "One is shy (bot check)"


def times(turns: HostQueue, *sites: str) -> list[float]:
    """Return when each of several threads got its turn."""
    started = time.monotonic()
    got: list[float] = []

    def ask(site: str) -> None:
        turns.take(site, 60)
        got.append(time.monotonic() - started)
        time.sleep(0.1)
        turns.give(site)

    threads = [threading.Thread(target=ask, args=(site,)) for site in sites]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(got)


@pytest.mark.parametrize(
    ("sites", "fits"),
    [
        (("a.example",) * 3, lambda got: got[1] >= 0.15 and got[2] >= 0.3),
        (("a.example", "b.example", "c.example"), lambda got: got[2] < 0.1),
        (("127.0.0.1",) * 3, lambda got: got[2] < 0.1),
        (("localhost",) * 3, lambda got: got[2] < 0.1),
    ],
)
def test_a_site_is_asked_by_one_at_a_time_with_a_pause(
    sites: tuple[str, ...], fits: Callable[[list[float]], bool]
) -> None:
    assert fits(times(HostQueue(pause=0.05), *sites))


def test_turn_that_is_never_given_back_holds_up_others_only_so_long() -> None:
    turns = HostQueue()
    turns.take("a.example", 0.2)
    started = time.monotonic()
    turns.take("a.example", 60)
    assert 0.15 < time.monotonic() - started < 5


def test_sites_of_long_ago_are_forgotten() -> None:
    turns = HostQueue(pause=0.0)
    for number in range(1500):
        turns.take(f"{number}.example", 60)
        turns.give(f"{number}.example")
    assert len(turns._free) < 1100
