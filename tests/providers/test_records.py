"""A Record behaves as a NamedTuple does: whatever is done with one is done with both, and must come out alike."""

import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth_providers.records import Record


class Point(Record):
    """Somewhere."""

    x: int
    y: Any = 0
    name: str = "origin"

    @property
    def far(self) -> bool:
        return self.x > 10

    def moved(self, by: int) -> "Point":
        return self._replace(x=self.x + by)


class Model(NamedTuple):
    """Somewhere."""

    x: int
    y: Any = 0
    name: str = "origin"

    @property
    def far(self) -> bool:
        return self.x > 10

    def moved(self, by: int) -> "Model":
        return self._replace(x=self.x + by)


def outcome(action: Callable[[Any], Any], kind: Any) -> Any:
    """Return what came of it, as something both kinds share; a refusal is its type."""
    try:
        found = action(kind)
    except Exception as problem:
        return type(problem)
    return tuple(found) if isinstance(found, tuple) else found


ACTIONS: dict[str, Callable[[Any], Any]] = {
    "by place": lambda kind: kind(1, 2, "a"),
    "by name": lambda kind: kind(name="a", x=1),
    "by both": lambda kind: kind(1, name="a"),
    "defaults": lambda kind: kind(1),
    "too few": lambda kind: kind(),
    "too few by name": lambda kind: kind(y=1),
    "too many": lambda kind: kind(1, 2, "a", 4),
    "twice": lambda kind: kind(1, x=2),
    "a name nobody knows": lambda kind: kind(1, z=2),
    "a name of ours": lambda kind: kind(1, cls=2),
    "fields": lambda kind: kind._fields,
    "patterns": lambda kind: kind.__match_args__,
    "default values": lambda kind: kind._field_defaults,
    "what it is for": lambda kind: kind.__doc__,
    "made of a list": lambda kind: kind._make([1, 2, "a"]),
    "made of too much": lambda kind: kind._make([1, 2, "a", 4]),
    "a dictionary": lambda kind: kind(1)._asdict(),
    "another value": lambda kind: kind(1)._replace(y=5, name="b"),
    "its words": lambda kind: repr(kind(1, "two")).replace("Point", "Model"),
    "a property": lambda kind: (kind(1).far, kind(11).far),
    "a method": lambda kind: kind(1).moved(3),
    "unpacked": lambda kind: [*kind(1)],
    "compared": lambda kind: (kind(1) == (1, 0, "origin"), kind(1) < kind(2), kind(1) != kind(1)),
    "hashed": lambda kind: hash(kind(1)),
    "set": lambda kind: setattr(kind(1), "x", 2),
    "something else set": lambda kind: setattr(kind(1), "other", 2),
    "room": lambda kind: hasattr(kind(1), "__dict__"),
    "pickled": lambda kind: pickle.loads(pickle.dumps(kind(1))),
    "copied": lambda kind: copy.deepcopy(kind([1])),
    "a kind of tuple": lambda kind: isinstance(kind(1), tuple),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_record_behaves_like_a_named_tuple(name: str) -> None:
    assert outcome(ACTIONS[name], Point) == outcome(ACTIONS[name], Model)


@given(st.lists(st.integers(), max_size=4), st.dictionaries(st.sampled_from(["x", "y", "name", "z"]), st.integers()))
def test_record_takes_the_arguments_of_a_named_tuple(values: list[int], named: dict[str, int]) -> None:
    assert outcome(lambda kind: kind(*values, **named), Point) == outcome(lambda kind: kind(*values, **named), Model)


def test_record_matches_patterns() -> None:
    match Point(3, 4):
        case Point(x, y, name=name):
            assert (x, y, name) == (3, 4, "origin")


def test_wrong_arguments_are_reported() -> None:
    with pytest.raises(TypeError, match="Point takes x, y, name; wrong: x"):
        Point(y=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Point has no z"):
        Point(1)._replace(z=2)  # type: ignore[call-arg]


class Nearby(Point):
    """A kind of Point."""

    def moved(self, by: int) -> "Point":
        return super().moved(-by)


def test_record_can_be_subclassed() -> None:
    assert Nearby(1).moved(1) == Nearby(0)
