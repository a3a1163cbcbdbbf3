"""What a model says is found wherever a server puts it, and parted from what it thinks."""

from typing import Any

import pytest

from sleuth.answers.llm.chat import Piece, Usage
from sleuth.answers.llm.reply import Thoughts, part_unopened, read_document, read_piece, read_usage


def part(*pieces: str) -> tuple[str, str]:
    thoughts = Thoughts()
    said = [thoughts.feed(piece) for piece in pieces] + [thoughts.finish()]
    return "".join(piece.text for piece in said), "".join(piece.reasoning for piece in said)


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("<think>hm</think>\n\nHi", ("Hi", "hm")),
        ("\n <think>hm</think>Hi", ("Hi", "hm")),
        ("<think></think>Hi", ("Hi", "")),
        ("<think>a < b </ c</think>Hi", ("Hi", "a < b </ c")),
        ("<think>never closed </thi", ("", "never closed </thi")),
        ("Hi", ("Hi", "")),
        ("  Hi there ", ("  Hi there ", "")),
        ("<thin", ("<thin", "")),
        ("<b>Hi</b>", ("<b>Hi</b>", "")),
        ("The tag <think>x</think> is old.", ("The tag <think>x</think> is old.", "")),
        ("<think>a</think>b</think>c", ("b</think>c", "a")),
        ("", ("", "")),
    ],
)
def test_thoughts_are_parted_however_they_are_cut(text: str, parted: tuple[str, str]) -> None:
    assert part(text) == parted
    assert part(*text) == parted
    for place in range(len(text)):
        assert part(text[:place], text[place:]) == parted


def test_text_is_given_at_once_when_no_tag_can_begin() -> None:
    thoughts = Thoughts()
    assert thoughts.feed("<") == Piece()
    assert thoughts.feed("b>") == Piece("<b>")
    assert thoughts.feed("<think>") == Piece("<think>")


def test_blanks_without_an_end_are_not_held_for_ever() -> None:
    thoughts = Thoughts()
    given = sum(len(thoughts.feed(" " * 100).text) for _ in range(20))
    assert given == 2000


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("hm</think>\nHi", ("Hi", "hm")),
        ("Hi", ("Hi", "")),
        ("a <think>b</think>", ("a <think>b</think>", "")),
    ],
)
def test_thoughts_that_are_only_closed_are_parted(text: str, parted: tuple[str, str]) -> None:
    assert part_unopened(text) == parted


@pytest.mark.parametrize(
    ("choice", "piece"),
    [
        ({"message": {"content": "Hi"}, "finish_reason": "stop"}, Piece("Hi", finish="stop")),
        ({"delta": {"content": "Hi"}, "finish_reason": None}, Piece("Hi")),
        ({"delta": {"content": None, "reasoning_content": "hm"}}, Piece(reasoning="hm")),
        ({"delta": {"content": "", "reasoning": "hm"}}, Piece(reasoning="hm")),
        ({"message": {"content": [{"type": "text", "text": "H"}, {"type": "text", "text": "i"}]}}, Piece("Hi")),
        ({"message": {"content": None, "refusal": "No."}}, Piece("No.")),
        ({"delta": {}, "finish_reason": "length"}, Piece(finish="length")),
        ({"finish_reason": "stop"}, Piece(finish="stop")),
        ({"delta": {"content": 7}}, Piece()),
        ({"delta": "Hi"}, Piece()),
        (None, Piece()),
        ("Hi", Piece()),
    ],
)
def test_pieces_are_read(choice: Any, piece: Piece) -> None:
    assert read_piece({"choices": [choice]}) == piece


@pytest.mark.parametrize("document", [{}, {"choices": []}, {"choices": None}, {"choices": "x"}, {"choices": {}}])
def test_document_without_choices_says_nothing(document: dict[str, Any]) -> None:
    assert read_piece(document) == Piece()


@pytest.mark.parametrize(
    ("usage", "found"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(1, 9, 2)),
        (
            {
                "prompt_tokens": 180,
                "completion_tokens": 22,
                "prompt_cache_hit_tokens": 128,
                "completion_tokens_details": {"reasoning_tokens": 5},
            },
            Usage(1, 180, 22, 5, 128),
        ),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 4}}, Usage(1, 9, 0, 0, 4)),
        ({"prompt_tokens": -9, "completion_tokens": 1e99}, Usage(1, 0, 10**9)),
        ({"prompt_tokens": "9", "completion_tokens": None, "prompt_tokens_details": []}, Usage(1)),
    ],
)
def test_usage_is_read_by_any_name(usage: dict[str, Any], found: Usage) -> None:
    assert read_usage(usage) == found


def test_usage_inside_of_a_choice_is_found() -> None:
    choice = {"delta": {}, "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    assert read_piece({"choices": [choice]}).usage == Usage(1, 3, 4)


@pytest.mark.parametrize("text", ["", "x", "[]", "7", '{"a":', "[" * 100_000])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are of json
        read_document(text)
