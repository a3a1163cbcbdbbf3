"""Server-sent events and think tags: the result does not depend on how the bytes are split."""

from contextlib import suppress
from random import Random

from sleuth.answers.llm.stream import ThinkTagParser, parse_object, read_events, read_piece
from sleuth_providers.errors import BadResponseError

WORDS = 'data:  ¦ data: ¦ \r\n ¦ \r ¦ \n ¦ \n\n ¦ :  ¦ [DONE] ¦ <think> ¦ </think> ¦ event: ¦ {"choices": '
ROUNDS = 600
LARGE = 100_000  # bytes: a stream is read byte by byte here


def check(data: bytes) -> None:
    """Parse a stream whole, byte by byte, and split at random."""
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
    assert _events(pieces) == whole, "split anywhere"
    for event in whole[:50]:
        with suppress(ValueError):
            piece = read_piece(parse_object(event))
            assert type(piece.text) is str
            assert type(piece.reasoning) is str
            assert piece.usage is None or all(count >= 0 for count in piece.usage[:5])
            _check_think_tags(piece.text)
    _check_think_tags(data.decode("utf-8", "replace")[:2000])


def _events(pieces: list[bytes]) -> list[str]:
    found: list[str] = []
    with suppress(BadResponseError):
        found.extend(read_events(pieces, lambda: None))
    return found


def _check_think_tags(text: str) -> None:
    whole = _parse([text])
    assert _parse(list(text)) == whole, "tags split anywhere"


def _parse(pieces: list[str]) -> tuple[str, str]:
    parser = ThinkTagParser()
    parsed = [*(parser.feed(piece) for piece in pieces), parser.finish()]
    return "".join(piece.text for piece in parsed), "".join(piece.reasoning for piece in parsed)
