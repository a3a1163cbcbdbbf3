"""A conversation: the switch in every state, what the next question knows, and what is saved."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.answers import conversation
from sleuth.answers.answer import Answer
from sleuth.answers.citations import CitedSource
from sleuth.answers.conversation import Conversation, Switch, switch_for
from sleuth.base.errors import RequestError

EVERY = [Switch(mode, position) for mode, position in product(("agent", "chat"), ("on", "off"))]


@pytest.mark.parametrize(
    ("before", "command", "after", "search"),
    [
        (Switch("agent", "on"), ("enter", "agent"), Switch("agent", "on"), "auto"),
        (Switch("agent", "on"), ("enter", "chat"), Switch("chat", "on"), "on"),
        (Switch("agent", "off"), ("enter", "agent"), Switch("agent", "off"), "auto"),
        (Switch("agent", "off"), ("enter", "chat"), Switch("chat", "off"), "off"),
        (Switch("chat", "on"), ("enter", "agent"), Switch("agent", "on"), "auto"),
        (Switch("chat", "on"), ("enter", "chat"), Switch("chat", "on"), "on"),
        (Switch("chat", "off"), ("enter", "agent"), Switch("agent", "off"), "auto"),
        (Switch("chat", "off"), ("enter", "chat"), Switch("chat", "off"), "off"),
        (Switch("agent", "on"), ("set", "auto"), Switch("agent", "on"), "auto"),
        (Switch("agent", "off"), ("set", "auto"), Switch("agent", "off"), "auto"),
        (Switch("chat", "on"), ("set", "auto"), Switch("agent", "on"), "auto"),
        (Switch("chat", "off"), ("set", "auto"), Switch("agent", "off"), "auto"),
        (Switch("chat", "on"), ("set", "on"), Switch("chat", "on"), "on"),
        (Switch("chat", "on"), ("set", "off"), Switch("chat", "off"), "off"),
        (Switch("chat", "off"), ("set", "on"), Switch("chat", "on"), "on"),
        (Switch("chat", "off"), ("set", "off"), Switch("chat", "off"), "off"),
    ],
)
def test_each_command_in_each_state(before: Switch, command: tuple[str, str], after: Switch, search: str) -> None:
    done = getattr(before, command[0])(command[1])
    assert done == after
    assert done.search == search


@pytest.mark.parametrize(("switch", "position"), [*product(EVERY[:2], ("on", "off"))])
def test_disabled_switch_cannot_be_set(switch: Switch, position: str) -> None:
    assert switch.is_disabled
    with pytest.raises(RequestError, match="in agent mode the model decides"):
        switch.set(position)


@pytest.mark.parametrize("switch", EVERY)
def test_invalid_modes_and_positions_are_errors(switch: Switch) -> None:
    with pytest.raises(RequestError, match="unknown mode"):
        switch.enter("robot")
    with pytest.raises(RequestError, match="invalid /search"):
        switch.set("maybe")


@given(st.sampled_from(["on", "off"]), st.lists(st.sampled_from(["agent", "auto"]), min_size=1))
def test_leaving_agent_mode_restores_the_position(position: str, ways: list[str]) -> None:
    switch = Switch("chat", position)
    for way in ways:
        switch = switch.set("auto") if way == "auto" else switch.enter("agent")
        assert switch.search == "auto"
    assert switch.enter("chat").search == position


def test_state_explains_why_it_is_disabled() -> None:
    assert Switch("chat", "off").state == "off"
    assert Switch("agent", "off").state == "off (in agent mode the model decides)"
    assert [switch_for(search).search for search in ("auto", "on", "off")] == ["auto", "on", "off"]


def answered(question: str, text: str) -> Answer:
    return Answer(question, text, "model", (CitedSource(1, "https://tokio.rs/a", "Tokio"),))


def test_history_contains_whole_turns_newest_last(monkeypatch: pytest.MonkeyPatch) -> None:
    talk = Conversation()
    for number in range(5):
        talk = talk.add(answered(f"q{number}", f"a{number}"))
    assert [message.content for message in talk.history] == [f"{who}{turn}" for turn in range(5) for who in "qa"]
    assert [message.role for message in talk.history[:2]] == ["user", "assistant"]
    monkeypatch.setattr(conversation, "MAX_HISTORY_TURNS", 2)
    assert [message.content for message in talk.history] == ["q3", "a3", "q4", "a4"]


@given(st.lists(st.integers(1, 30_000), max_size=40))
def test_history_stays_within_its_limits(lengths: list[int]) -> None:
    talk = Conversation()
    for length in lengths:
        talk = talk.add(answered("q", "x" * length))
    history = talk.history
    assert sum(len(message.content) for message in history) <= conversation.MAX_HISTORY_CHARS
    assert len(history) % 2 == 0
    assert len(history) <= 2 * conversation.MAX_HISTORY_TURNS
    assert [len(message.content) for message in history[1::2]] == lengths[len(lengths) - len(history) // 2 :]


def test_saved_conversation_has_links_and_references_of_each_answer() -> None:
    talk = Conversation().add(answered("what is *tokio*?", "A runtime [1].")).add(answered("and smol", "Small."))
    text = talk.as_markdown()
    assert text == (
        "## what is \\*tokio\\*?\n\nA runtime [[1]](https://tokio.rs/a).\n\n"
        "### References\n\n- \\[1\\] [Tokio](https://tokio.rs/a) — tokio.rs\n\n"
        "## and smol\n\nSmall.\n\n### Sources\n\n- \\[1\\] [Tokio](https://tokio.rs/a) — tokio.rs\n"
    )
