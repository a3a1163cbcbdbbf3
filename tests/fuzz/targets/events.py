"""Server-sent events of models: the same events wherever the bytes are cut, and reasoning parted the same way."""

from contextlib import suppress
from random import Random

from sleuth.answers.llm.reply import Thoughts, read_document, read_piece
from sleuth.answers.llm.sse import EventReader, EventTooLongError

WORDS = 'data:  ¦ data: ¦ \r\n ¦ \r ¦ \n ¦ \n\n ¦ :  ¦ [DONE] ¦ <think> ¦ </think> ¦ event: ¦ {"choices": '
ROUNDS = 600
LARGE = 100_000  # bytes: a stream is read byte by byte here


def check(data: bytes) -> None:
    """Read a stream whole, byte by byte, and cut at random."""
    whole = _events([data])
    assert _events([data[place : place + 1] for place in range(len(data))]) == whole, "byte by byte"
    random = Random(len(data))
    pieces, rest = [], data
    while rest:
        size = random.randint(0, 1 + len(rest) // 2)
        pieces.append(rest[:size])
        rest = rest[size:]
        if not size:
            pieces.append(b"")
    assert _events(pieces) == whole, "cut anywhere"
    for event in whole[:50]:
        with suppress(ValueError):
            piece = read_piece(read_document(event))
            assert type(piece.text) is str
            assert type(piece.reasoning) is str
            assert piece.usage is None or all(count >= 0 for count in piece.usage[:5])
            _check_thoughts(piece.text)
    _check_thoughts(data.decode("utf-8", "replace")[:2000])


def _events(pieces: list[bytes]) -> list[str]:
    reader, found = EventReader(), []
    with suppress(EventTooLongError):
        for piece in pieces:
            found += reader.feed(piece)
        found += reader.finish()
    return found


def _check_thoughts(text: str) -> None:
    whole = _parted([text])
    assert _parted(list(text)) == whole, "tags cut anywhere"


def _parted(pieces: list[str]) -> tuple[str, str]:
    thoughts = Thoughts()
    said = [*(thoughts.feed(piece) for piece in pieces), thoughts.finish()]
    return "".join(piece.text for piece in said), "".join(piece.reasoning for piece in said)
