"""Runs the layers that can read a page under one deadline: one after another, overlapping if one is slow."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from sleuth.base import logs, os_errors
from sleuth.base.errors import describe
from sleuth.base.i18n import tr
from sleuth.pages.errors import NOT_READ
from sleuth.pages.extract import ExtractedPage
from sleuth_providers.errors import DeadlineError, ProviderError
from sleuth_providers.threads import ThreadGroup

MIN_REMAINING_S = 0.05  # with less time left, no layer is started
POLL_S = 0.1  # how often to ask whether a second layer may start


class LayerAttempt(NamedTuple):
    """The outcome of one layer."""

    layer: str  # cache | page | browser | jina | archive
    state: str  # ok, skipped, or the state of an error: blocked, empty, timeout, refused, …
    message: str = ""
    elapsed_ms: int = 0


class Layer(NamedTuple):
    """One way to read a page."""

    name: str
    provider: str  # named in messages
    read: Callable[[float], ExtractedPage]  # takes the deadline on the monotonic clock, raises ProviderError


class Chain:
    """Runs each layer in a thread, which is abandoned at the deadline: a hostile file can stall it as well as a server.

    The next layer starts when all before it have failed, or, if `may_overlap` allows it, after half of the time left.
    """

    def __init__(self, until: float, may_overlap: Callable[[], bool]) -> None:
        self.until, self.may_overlap = until, may_overlap
        self.attempts: list[LayerAttempt] = []
        self.errors: dict[str, ProviderError] = {}
        self.arrived: set[str] = set()  # layers that are extracting a page
        self._running: dict[str, tuple[Layer, float]] = {}
        self._threads = ThreadGroup()
        self._next_start = 0.0

    def run(self, layers: Iterator[Layer]) -> tuple[str, ExtractedPage] | None:
        """Return the name and the result of the first layer that succeeds, or None at the deadline."""
        more = True
        while time.monotonic() < self.until - MIN_REMAINING_S:
            if more and (not self._running or (time.monotonic() >= self._next_start and self.may_overlap())):
                layer = next(layers, None)
                more = layer is not None
                if layer:
                    self._start(layer)
            elif not self._running:
                break
            elif found := self._wait(more):
                self._abandon("skipped", tr("another source was faster"))
                return found
        self._abandon("timeout", "")
        return None

    def _start(self, layer: Layer) -> None:
        now = time.monotonic()
        self._next_start = now + (self.until - now) / 2
        self._running[layer.name] = (layer, now)
        self._threads.start(layer, partial(layer.read, self.until))

    def _wait(self, more: bool) -> tuple[str, ExtractedPage] | None:
        now = time.monotonic()
        end = self._next_start if more and self._next_start > now else self.until
        # `may_overlap` can change any time: the guard sees the addresses of the host while the first layer runs.
        end = min(end, now + POLL_S) if more and self._next_start <= now else end
        arrived = self._threads.next_result(end - now)
        if arrived is None:
            return None
        layer, outcome = arrived
        _, started = self._running.pop(layer.name)
        elapsed = round((time.monotonic() - started) * 1000)
        state, message = "ok", ""
        if isinstance(outcome, BaseException):
            self.errors[layer.name] = error = _as_provider_error(layer, outcome)
            state, message = error.state, describe(error, provider=layer.provider)[0]
        self.attempts.append(LayerAttempt(layer.name, state, message, elapsed))
        return (layer.name, outcome) if state == "ok" else None

    def _abandon(self, state: str, message: str) -> None:
        for name, (layer, started) in self._running.items():
            reason = message or tr(NOT_READ if name in self.arrived else DeadlineError.message, provider=layer.provider)
            self.attempts.append(LayerAttempt(name, state, reason, round((time.monotonic() - started) * 1000)))
        self._running.clear()


def _as_provider_error(layer: Layer, problem: BaseException) -> ProviderError:
    if isinstance(problem, ProviderError):
        return problem
    logs.log("pages: %s: %r", layer.name, problem)  # a bug costs one layer, not the page
    cause = os_errors.explain(problem)
    message = "{provider}: the page could not be read"
    if cause:
        return ProviderError(cause.message, message=message, **cause.values)
    return ProviderError("{kind}; for details, add --debug", message=message, kind=type(problem).__name__)
