"""A key that the server repeats is redacted, however the stream is split."""

from collections.abc import Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth.answers.llm.chat import Piece, Usage
from sleuth.answers.llm.stream import MAX_HELD_CHARS, redacted
from sleuth.base.text import HIDDEN

KEY = "sk-sksk-12"


def stream(*pieces: Piece) -> Generator[Piece, None, None]:
    yield from pieces


@given(st.lists(st.sampled_from([KEY, "sk-", "s", "k", "-12", "hello ", "中文"]), max_size=8), st.data())
def test_key_is_redacted_however_it_is_split(parts: list[str], data: st.DataObject) -> None:
    said = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(said)), max_size=6)))
    pieces = [Piece(said[start:end]) for start, end in zip([0, *cuts], [*cuts, len(said)], strict=True)]
    end = Piece(finish="stop", usage=Usage(1))
    shown = list(redacted(KEY, stream(*pieces, end)))
    text = "".join(piece.text for piece in shown)
    assert KEY not in text
    assert text == said.replace(KEY, HIDDEN)
    assert (shown[-1].finish, shown[-1].usage) == ("stop", Usage(1))


SPLIT = f"{KEY[:4]}\u200b{KEY[4:]}"
ENCODED = "".join(f"%{ord(character):02X}" for character in KEY)
FORMS = [
    KEY.upper(),
    SPLIT,
    f"{KEY[:4]}%E2%80%8B{KEY[4:]}",
    ENCODED,
    f"sk{ENCODED[6:]}",
    "sk&shy;-s&#107;sk-12",
    "s\\u006b-sksk\\-12",
]
FILLER = "\u200b" * 10 * MAX_HELD_CHARS + "&shy;" * 10 * MAX_HELD_CHARS


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_key_is_redacted_however_it_is_written(form: str, size: int) -> None:
    said = f"<{form} 50% &c. {KEY}%7 {form}>"
    pieces = [Piece(said[start : start + size]) for start in range(0, len(said), size)]
    shown = "".join(piece.text for piece in redacted(KEY, stream(*pieces, Piece(finish="stop"))))
    assert shown == f"<{HIDDEN} 50% &c. {HIDDEN}%7 {HIDDEN}>"


@pytest.mark.cpu_limit(20)
def test_key_is_redacted_with_much_filler_in_it() -> None:
    said = f"<{KEY[0]}{FILLER}{KEY[1:5]}{FILLER}{KEY[5:]}>"
    pieces = [Piece(said[start : start + 7]) for start in range(0, len(said), 7)]
    shown = "".join(piece.text for piece in redacted(KEY, stream(*pieces, Piece(finish="stop"))))
    assert shown == f"<{HIDDEN}>"


def test_pieces_are_unchanged_without_a_key() -> None:
    pieces = [Piece("a"), Piece(reasoning="b"), Piece(finish="stop")]
    assert list(redacted("", stream(*pieces))) == pieces


def test_common_word_as_a_key_changes_no_reply() -> None:
    pieces = [Piece(text="Run ollama serve."), Piece(finish="stop")]
    assert list(redacted("ollama", stream(*pieces))) == pieces


def test_key_is_redacted_from_reasoning() -> None:
    shown = redacted(KEY, stream(Piece(reasoning=f"<{KEY}>"), Piece(finish="stop")))
    assert "".join(piece.reasoning for piece in shown) == "<[hidden]>"


def test_closing_the_generator_closes_the_stream() -> None:
    closed = []

    def pieces() -> Generator[Piece, None, None]:
        try:
            yield Piece("a")
            yield Piece("b")
        finally:
            closed.append(True)

    shown = redacted(KEY, pieces())
    next(shown)
    shown.close()
    assert closed
