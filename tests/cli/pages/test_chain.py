"""Layers run one after another, overlap if one is slow, and end at the deadline."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from sleuth.pages.chain import Chain, Layer
from sleuth.pages.extract import ExtractedPage
from sleuth_providers.errors import BlockedError, ProviderError


@pytest.fixture
def stuck() -> Iterator[Layer]:
    """A layer that does not return before the end of the test."""
    end = threading.Event()

    def read(until: float) -> ExtractedPage:
        end.wait()
        return ExtractedPage("too late")

    yield Layer("stuck", "Stuck", read)
    end.set()


def layer(name: str, problem: BaseException | None = None) -> Layer:
    def read(until: float) -> ExtractedPage:
        if problem:
            raise problem
        return ExtractedPage(f"from {name}")

    return Layer(name, name.title(), read)


def run(*layers: Layer, timeout: float = 60, overlap: bool = True) -> tuple[Any, list[tuple[str, str]]]:
    chain = Chain(time.monotonic() + timeout, lambda: overlap)
    found = chain.run(iter(layers))
    return found, [(attempt.layer, attempt.state) for attempt in chain.attempts]


def test_the_first_success_wins_and_no_other_layer_starts() -> None:
    assert run(layer("one"), layer("two")) == (("one", ExtractedPage("from one")), [("one", "ok")])


def test_a_failure_starts_the_next_layer() -> None:
    found, attempts = run(layer("one", BlockedError()), layer("two"))
    assert (found, attempts) == (("two", ExtractedPage("from two")), [("one", "blocked"), ("two", "ok")])


def test_a_slow_layer_is_overtaken_by_the_next(stuck: Layer) -> None:
    found, attempts = run(stuck, layer("two"), timeout=0.6)
    assert (found, attempts) == (("two", ExtractedPage("from two")), [("two", "ok"), ("stuck", "skipped")])


def test_a_slow_layer_wins_if_it_is_first_to_finish(stuck: Layer) -> None:
    second_started = threading.Event()

    def read_slowly(until: float) -> str:
        second_started.wait()
        return ExtractedPage("from slow")

    def start_second(until: float) -> str:
        second_started.set()
        return stuck.read(until)

    found, attempts = run(Layer("slow", "Slow", read_slowly), Layer("slower", "Slower", start_second), timeout=2)
    assert (found, attempts) == (("slow", ExtractedPage("from slow")), [("slow", "ok"), ("slower", "skipped")])


def test_layers_overlap_only_if_allowed(stuck: Layer) -> None:
    assert run(stuck, layer("two"), timeout=0.3, overlap=False) == (None, [("stuck", "timeout")])


def test_all_layers_end_at_the_deadline(stuck: Layer) -> None:
    layers = [stuck._replace(name=name) for name in ("one", "two", "three")]
    found, attempts = run(*layers, timeout=0.6)
    assert (found, {state for _, state in attempts}) == (None, {"timeout"})


def test_a_bug_is_a_failed_attempt() -> None:
    found, attempts = run(layer("one", RuntimeError("bug")), layer("two", ProviderError()))
    assert (found, attempts) == (None, [("one", "bad_response"), ("two", "bad_response")])


def test_without_layers_there_is_no_page() -> None:
    assert run() == (None, [])


def test_messages_name_the_layer_that_failed() -> None:
    chain = Chain(time.monotonic() + 60, lambda: False)
    chain.run(iter([layer("one", BlockedError("bot check", message="{provider} is shy"))]))
    assert chain.attempts[0].message == "One is shy (bot check)"
