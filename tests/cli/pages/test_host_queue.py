"""One request at a time to a host, with a pause; measured on a fake clock."""

import pytest

from sleuth.pages import host_queue
from sleuth.pages.host_queue import HostQueue


class Clock:
    """A clock that advances only while the queue waits."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(host_queue, "time", clock)
    return clock


@pytest.fixture
def hosts(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> HostQueue:
    queue = HostQueue(pause=0.25)
    monkeypatch.setattr(queue._changed, "wait", clock.wait)
    return queue


def test_next_request_waits_for_the_pause(hosts: HostQueue, clock: Clock) -> None:
    hosts.acquire("a.example", 60)
    hosts.release("a.example")
    hosts.acquire("a.example", 60)
    assert clock.now == 100.25


def test_host_that_is_never_released_is_reserved_until_its_timeout(hosts: HostQueue, clock: Clock) -> None:
    hosts.acquire("a.example", 8)
    hosts.acquire("a.example", 60)
    assert clock.now == 108


@pytest.mark.parametrize("names", [("a.example", "b.example"), ("127.0.0.1",) * 2, ("localhost",) * 2])
def test_other_hosts_and_this_machine_do_not_wait(hosts: HostQueue, clock: Clock, names: tuple[str, ...]) -> None:
    for name in names:
        hosts.acquire(name, 60)
    assert clock.now == 100


def test_name_that_looks_like_a_loopback_address_waits(hosts: HostQueue, clock: Clock) -> None:
    for _ in range(2):
        hosts.acquire("127.0.0.1.example", 8)
    assert clock.now == 108


def test_hosts_of_the_past_are_dropped(hosts: HostQueue, clock: Clock) -> None:
    for number in range(1500):
        hosts.acquire(f"{number}.example", 60)
        hosts.release(f"{number}.example")
        clock.now += 1
    assert len(hosts._free_at) < 1100
