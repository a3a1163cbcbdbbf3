"""Several ways to the same page under one time limit: in turn, overlapping when one is slow, first success wins."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Generic, NamedTuple, TypeVar

from sleuth.base import logs, os_errors
from sleuth.base.errors import describe
from sleuth.base.i18n import tr
from sleuth_providers.errors import ProviderError
from sleuth_providers.threads import ThreadGroup

T = TypeVar("T")
TOO_LATE = 0.05  # seconds left with which nothing is begun any more


class LayerAttempt(NamedTuple):
    """One way that was tried, and how that went."""

    layer: str  # cache | page | browser | jina | archive
    state: str  # ok, or a state of an error: blocked, empty, timeout, refused, …
    message: str = ""
    elapsed_ms: int = 0


class Layer(NamedTuple, Generic[T]):
    """One way to a page."""

    name: str
    who: str  # whom messages are about
    read: Callable[[float], T]  # takes the deadline on the monotonic clock; raises ProviderError


class Chain(Generic[T]):
    """Runs each layer in a thread that is left behind when time is up, be it in the network or in a hostile file."""

    def __init__(self, until: float, may_overlap: Callable[[], bool]) -> None:
        self.until, self.may_overlap = until, may_overlap
        self.attempts: list[LayerAttempt] = []
        self.errors: dict[str, ProviderError] = {}
        self._running: dict[str, tuple[Layer[T], float]] = {}
        self._threads = ThreadGroup()
        self._next_start = 0.0

    def run(self, layers: Iterator[Layer[T]]) -> tuple[str, T] | None:
        """Return the name and the result of the first layer that has one; None when none has in time."""
        more = True
        while time.monotonic() < self.until - TOO_LATE:
            if more and self._is_time_for_next():
                layer = next(layers, None)
                more = layer is not None
                if layer:
                    self._start(layer)
            elif not self._running:
                break
            elif found := self._wait(more):
                self._abandon("skipped", tr("another way was quicker"))
                return found
        self._abandon("timeout", "")
        return None

    def _is_time_for_next(self) -> bool:
        return not self._running or (time.monotonic() >= self._next_start and self.may_overlap())

    def _start(self, layer: Layer[T]) -> None:
        now = time.monotonic()
        self._next_start = now + (self.until - now) / 2
        self._running[layer.name] = (layer, now)
        self._threads.start(layer, partial(layer.read, self.until))

    def _wait(self, more: bool) -> tuple[str, T] | None:
        now = time.monotonic()
        end = self._next_start if more and self._next_start > now else self.until
        # While a second way would be welcome and is not yet allowed, look again soon.
        end = min(end, now + 0.1) if more and self._next_start <= now else end
        arrived = self._threads.next_result(end - now)
        if arrived is None:
            return None
        layer, outcome = arrived
        _, started = self._running.pop(layer.name)
        elapsed = round((time.monotonic() - started) * 1000)
        if not isinstance(outcome, BaseException):
            self.attempts.append(LayerAttempt(layer.name, "ok", "", elapsed))
            return layer.name, outcome
        error = _as_provider_error(layer, outcome)
        self.errors[layer.name] = error
        self.attempts.append(LayerAttempt(layer.name, error.state, describe(error, provider=layer.who)[0], elapsed))
        return None

    def _abandon(self, state: str, message: str) -> None:
        for name, (layer, started) in self._running.items():
            said = message or tr("{provider} did not answer in time", provider=layer.who)
            self.attempts.append(LayerAttempt(name, state, said, round((time.monotonic() - started) * 1000)))
        self._running.clear()


def _as_provider_error(layer: Layer[T], problem: BaseException) -> ProviderError:
    if isinstance(problem, ProviderError):
        return problem
    logs.log("pages: %s: %r", layer.name, problem)  # a fault of ours costs one way to the page, not the page
    accident = os_errors.explain(problem)
    detail = str(accident) if accident else f"{type(problem).__name__}; --debug tells more"
    return ProviderError(detail, message="{provider}: the page could not be read")
