"""A key that the server repeats is redacted, however the stream is split."""

from collections.abc import Generator

from hypothesis import given
from hypothesis import strategies as st

from sleuth.answers.llm.chat import Piece, Usage
from sleuth.answers.llm.stream import HIDDEN, redacted

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


def test_pieces_are_unchanged_without_a_key() -> None:
    pieces = [Piece("a"), Piece(reasoning="b"), Piece(finish="stop")]
    assert list(redacted("", stream(*pieces))) == pieces


def test_common_word_as_a_key_changes_no_reply() -> None:
    pieces = [Piece(text="Run ollama serve."), Piece(finish="stop")]
    assert list(redacted("ollama", stream(*pieces))) == pieces


def test_key_is_redacted_from_reasoning() -> None:
    shown = redacted(KEY, stream(Piece(reasoning=f"<{KEY}>"), Piece(finish="stop")))
    assert "".join(piece.reasoning for piece in shown) == "<…>"


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
