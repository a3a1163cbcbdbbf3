"""An object is found in whatever a model writes around it, mended where it can be, and asked for once more."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from sleuth.answers.llm import json_reply
from sleuth.answers.llm.chat import Completion, Message, Piece, Prompt, Usage
from sleuth.answers.llm.errors import ModelResponseError
from sleuth.answers.llm.json_reply import ask_json, read_object

A = {"a": 1}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', A),
        ('\ufeff {"a": 1}\n', A),
        ('```json\n{"a": 1}\n```', A),
        ('```\n{"a": 1}\n```', A),
        ('```JSON {"a": 1}```', A),
        ('```json\n{"a": 1}', A),
        ('Here you are:\n\n{"a": 1}\n\nAnything else?', A),
        ('<think>{"a": 2} or so</think>{"a": 1}', A),
        ('no opening tag: {"a": 2}</think>{"a": 1}', A),
        ('[{"a": 1}]', A),
        ('{"a": 1} {"a": 2}', A),
        ('Braces like {these} first, then {"a": 1}', A),
        ('{"a": "a } in a text", "b": "\\"{"}', {"a": "a } in a text", "b": '"{'}),
        ('{"a": "</think> and ``` stay"}', {"a": "</think> and ``` stay"}),
        ('{"a": {"b": [1, {"c": null}]}}', {"a": {"b": [1, {"c": None}]}}),
        ("{}", {}),
    ],
)
def test_object_is_found_wherever_it_stands(text: str, found: Any) -> None:
    assert read_object(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1,}', A),
        ('{"a": [1, 2,], "b": {"c": 1,},}', {"a": [1, 2], "b": {"c": 1}}),
        ('{"a": True, "b": None, "c": False}', {"a": True, "b": None, "c": False}),
        ("{'a': 'it's', 'b': \"x\"}", {"a": "it's", "b": "x"}),
        ("{“a”: “x”, “b”: 1}", {"a": "x", "b": 1}),
        ("{a: 1, b_c: 'x'}", {"a": 1, "b_c": "x"}),
        ('{"a": "she said "no" twice", "b": 1}', {"a": 'she said "no" twice', "b": 1}),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}),
        ('{"a": 1, // a remark\n /* and\n another */ "b": 2}', {"a": 1, "b": 2}),
        ('{"a": -1.5e3, "b": +2, "c": NaN,}', {"a": -1500.0, "b": 2, "c": None}),
        ('{"a": "\\u4f60\\ud83d\\ude42 \\n\\q",}', {"a": "你🙂 \nq"}),
        ('{"搜索": "是",}', {"搜索": "是"}),
    ],
)
def test_object_is_mended(text: str, found: Any) -> None:
    assert read_object(text) == found
    assert read_object(f"Sure! {text} Done.") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1, "b": "half a sen', {"a": 1, "b": "half a sen"}),
        ('{"a": [1, 2, {"b": "x"', {"a": [1, 2, {"b": "x"}]}),
        ('{"a": 1, "b": tr', A),
        ('{"a": 1, "b": 12', A),
        ('{"a": 1, "b":', A),
        ('{"a": 1, "b"', A),
        ('{"a": 1, ', A),
        ('{"a": 1', None),
        ('```json\n{"a": [1, 2', {"a": [1]}),
    ],
)
def test_object_that_was_cut_off_is_closed(text: str, found: Any) -> None:
    if found is None:
        with pytest.raises(ValueError, match="no JSON object"):
            read_object(text)
    else:
        assert read_object(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot do that.",
        "{",
        "}{",
        '{"a": {"b": 1}, "c": @@}',
        "{these} are braces",
        "[1, 2]",
        '{"a" 1}',
        '{"a": 1 "b": 2}',
        "<think>{",
        '{"a": ' * 60 + "1" + "}" * 60,
        '{"a": ' + "[" * 5000,
        "{" * 100_000,
        '{"' * 50_000,
        "x" * 1_000_001,
        '{"a": ' + "9" * 5000 + "}",
    ],
    ids=lambda text: text[:12],
)
def test_what_has_no_object_is_refused_quickly(text: str) -> None:
    started = time.process_time()
    with pytest.raises(ValueError):  # noqa: PT011 - any of them
        read_object(text)
    assert time.process_time() - started < 5


documents = some.recursive(
    some.none() | some.booleans() | some.integers(-(10**9), 10**9) | some.text(max_size=20),
    lambda inner: some.lists(inner, max_size=4) | some.dictionaries(some.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(some.dictionaries(some.text(max_size=8), documents, max_size=4), some.booleans())
def test_good_objects_are_read_as_they_are(document: dict[str, Any], plain: bool) -> None:
    text = json.dumps(document, ensure_ascii=plain)
    assert read_object(text) == document
    assert read_object(f"```json\n{text}\n```") == document or "`" in text


@settings(deadline=None)
@given(some.text(alphabet="{}[]\":,'\\ntrue1 “”`<>/", max_size=60))
def test_nothing_but_an_object_or_an_error_comes_of_any_text(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(read_object(text), dict)


class Parrot:
    """A model that says what it was told to."""

    name = "parrot"

    def __init__(self, *replies: str) -> None:
        self.replies = list(replies)
        self.prompts: list[Prompt] = []

    def complete(self, prompt: Prompt) -> Completion:
        self.prompts.append(prompt)
        return Completion(self.replies.pop(0), usage=Usage(1, 10, 2))

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        raise NotImplementedError


QUESTION = Prompt((Message("user", "JSON please"),), timeout=10)


def test_good_reply_is_asked_for_once() -> None:
    parrot = Parrot('{"a": 1}')
    assert ask_json(parrot, QUESTION) == (A, Usage(1, 10, 2))
    assert parrot.prompts == [QUESTION._replace(json=True)]


def test_bad_reply_is_shown_and_asked_for_once_more() -> None:
    parrot = Parrot("Sure, here it is!", '{"a": 1}')
    assert ask_json(parrot, QUESTION) == (A, Usage(2, 20, 4))
    question, said, correction = parrot.prompts[1].messages
    assert (question, said) == (QUESTION.messages[0], Message("assistant", "Sure, here it is!"))
    assert "JSON" in correction.content
    assert parrot.prompts[1].timeout <= 10


def test_empty_reply_is_not_shown() -> None:
    parrot = Parrot(" \n", '{"a": 1}')
    ask_json(parrot, QUESTION)
    assert [message.role for message in parrot.prompts[1].messages] == ["user", "user"]


def test_two_bad_replies_are_an_error_that_knows_what_they_took() -> None:
    with pytest.raises(ModelResponseError, match="parrot sent") as caught:
        ask_json(Parrot("no", "no"), QUESTION)
    assert caught.value.usage == Usage(2, 20, 4)


def test_nothing_is_asked_again_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_reply, "LEAST_TIME", 11)
    parrot = Parrot("no", '{"a": 1}')
    with pytest.raises(ModelResponseError):
        ask_json(parrot, QUESTION)
    assert len(parrot.prompts) == 1
