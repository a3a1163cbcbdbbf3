"""A reply that streams is given piece by piece, however its bytes come and however it ends."""

import threading
import time
from typing import Any

import pytest

from sleuth.answers.llm import stream
from sleuth.answers.llm.chat import Piece, Usage
from sleuth.answers.llm.errors import (
    ModelBrokenOffError,
    ModelError,
    ModelLimitError,
    ModelResponseError,
    ModelTimeoutError,
    ModelUnavailableError,
)


def texts(pieces: list[Piece]) -> list[str]:
    return [piece.text for piece in pieces if piece.text]


def collect(pieces: Any) -> tuple[list[str], ModelError | None]:
    """Return the texts of a stream and the error it ended in."""
    found: list[str] = []
    try:
        for piece in pieces:
            found += [piece.text] if piece.text else []
    except ModelError as error:
        return found, error
    return found, None


def test_pieces_come_one_by_one(serve: Any, wire: Any) -> None:
    first = wire.chunk("", delta={"role": "assistant"})
    events = first + wire.chunk("H") + wire.chunk("i") + wire.chunk(None, "stop") + wire.USAGE + wire.DONE
    server = serve(wire.STREAM + events)
    found = list(wire.model(server).stream(wire.ask()))
    assert found == [Piece("H"), Piece("i"), Piece(finish="stop", usage=Usage(1, 9, 1))]
    assert server.bodies[0]["stream"] is True


def test_piece_is_there_before_the_next_is_sent(serve: Any, wire: Any) -> None:
    go_on = threading.Event()

    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM + wire.chunk("H"))
        go_on.wait(5)
        connection.sendall(wire.chunk("i", "stop") + wire.DONE)

    pieces = wire.model(serve(answer)).stream(wire.ask())
    assert next(pieces).text == "H"
    go_on.set()
    assert texts(list(pieces)) == ["i"]


def test_cuts_in_the_middle_of_characters_and_chunks_change_nothing(serve: Any, wire: Any) -> None:
    events = b": keep-alive\r\n\r\n" + wire.chunk("你好") + wire.chunk("🙂", "stop") + wire.USAGE + wire.DONE

    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"))
        for start in range(0, len(events), 7):
            part = events[start : start + 7]
            connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        connection.sendall(b"0\r\n\r\n")

    assert texts(list(wire.model(serve(answer)).stream(wire.ask()))) == ["你好", "🙂"]


def test_reasoning_comes_apart_from_text(serve: Any, wire: Any) -> None:
    thoughts = [wire.chunk(None, delta={"content": None, name: "hm"}) for name in ("reasoning_content", "reasoning")]
    inline = [wire.chunk(part) for part in ("<th", "ink>h", "m</thi", "nk>\n", "Hi")]
    for parts in ([*thoughts, wire.chunk("Hi")], inline):
        server = serve(wire.STREAM + b"".join(parts) + wire.chunk(None, "stop") + wire.DONE)
        found = list(wire.model(server).stream(wire.ask()))
        assert "".join(piece.reasoning for piece in found) in ("hmhm", "hm")
        assert texts(found) == ["Hi"]


def test_end_of_body_is_an_end_when_the_model_said_so(serve: Any, wire: Any) -> None:
    found = list(wire.model(serve(wire.STREAM + wire.chunk("Hi") + wire.chunk(None, "length"))).stream(wire.ask()))
    assert (texts(found), found[-1].finish) == (["Hi"], "length")
    assert found[-1].usage
    assert found[-1].usage.estimated


def test_done_is_an_end_too(serve: Any, wire: Any) -> None:
    found = list(wire.model(serve(wire.STREAM + wire.chunk("Hi") + wire.DONE)).stream(wire.ask()))
    assert (texts(found), found[-1].finish) == (["Hi"], "stop")


def test_done_is_not_waited_for_when_the_model_has_ended(serve: Any, wire: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(stream, "LINGER", 0.2)
    server = serve()

    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM + wire.chunk("Hi", "stop"))
        server.over.wait()

    server.answers = [answer]
    found = list(wire.model(server).stream(wire.ask(timeout=60)))
    assert (texts(found), found[-1].finish) == (["Hi"], "stop")


@pytest.mark.parametrize("framing", ["", "\r\nTransfer-Encoding: chunked", "\r\nContent-Length: 9999"])
def test_stream_that_breaks_off_is_an_error_after_its_text(framing: str, serve: Any, wire: Any) -> None:
    event = wire.chunk("Half a <thi")
    body = f"{len(event):x}\r\n".encode() + event + b"\r\n" if "chunked" in framing else event
    head = wire.STREAM.replace(b"\r\n\r\n", f"{framing}\r\n\r\n".encode())
    server = serve(head + body)
    found, error = collect(wire.model(server).stream(wire.ask()))
    assert found == ["Half a <thi"]
    assert type(error) is ModelBrokenOffError
    assert len(server.bodies) == 1


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (b'data: {"error": {"message": "Overloaded", "type": "server_error"}}\n\n', ModelUnavailableError),
        (b'data: {"error": {"message": "no", "code": 429}, "choices": []}\n\n', ModelLimitError),
        (b'event: error\ndata: {"message": "boom"}\n\n', ModelError),
        (b"data: {broken\n\n", ModelResponseError),
        (b"data: []\n\n", ModelResponseError),
    ],
)
def test_error_in_the_middle_is_an_error_after_the_text(event: bytes, kind: type, serve: Any, wire: Any) -> None:
    server = serve(wire.STREAM + wire.chunk("Hi") + event + wire.chunk("no more") + wire.DONE)
    found, error = collect(wire.model(server).stream(wire.ask()))
    assert (found, type(error)) == (["Hi"], kind)
    assert len(server.bodies) == 1


def test_stream_that_fails_before_its_first_piece_is_asked_again(serve: Any, wire: Any) -> None:
    good = wire.STREAM + wire.chunk("Hi", "stop") + wire.DONE
    busy = wire.STREAM + b'data: {"error": {"message": "Overloaded"}}\n\n'
    server = serve(wire.refuse(503, {}), busy, good)
    assert texts(list(wire.model(server).stream(wire.ask()))) == ["Hi"]
    assert len(server.bodies) == 3


def test_server_that_does_not_stream_is_read(serve: Any, wire: Any) -> None:
    found = list(wire.model(serve(wire.reply("Hi"))).stream(wire.ask()))
    assert found == [Piece("Hi"), Piece(finish="stop", usage=Usage(1, 9, 2))]


def test_events_of_odd_shapes_say_nothing(serve: Any, wire: Any) -> None:
    odd = b'data: {"choices": []}\n\ndata:\n\ndata: {"choices": [{"index": 0}]}\n\ndata: {"type": "ping"}\n\n'
    server = serve(wire.STREAM + odd + wire.chunk("Hi", "stop") + wire.DONE)
    assert texts(list(wire.model(server).stream(wire.ask()))) == ["Hi"]


def test_field_that_a_server_refuses_is_left_out_of_a_stream(serve: Any, wire: Any) -> None:
    refusal = wire.refuse(400, {"error": {"message": "Unrecognized request argument supplied: stream_options"}})
    server = serve(refusal, wire.STREAM + wire.chunk("Hi", "stop") + wire.DONE)
    assert texts(list(wire.model(server).stream(wire.ask()))) == ["Hi"]
    assert ["stream_options" in body for body in server.bodies] == [True, False]


# Time


def test_keep_alive_comments_keep_a_stream_alive(serve: Any, wire: Any) -> None:
    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM)
        for _ in range(8):
            time.sleep(0.1)
            connection.sendall(b": keep-alive\n\n")
        connection.sendall(wire.chunk("Hi", "stop") + wire.DONE)

    assert texts(list(wire.model(serve(answer)).stream(wire.ask(timeout=0.5)))) == ["Hi"]


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nX: "])
def test_stream_that_does_not_begin_ends_in_time(begun: bytes, serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b"x", begun) if begun else lambda _: server.over.wait()]
    found, error = collect(wire.model(server).stream(wire.ask(timeout=0.3)))
    assert (found, type(error), len(server.bodies)) == ([], ModelTimeoutError, 1)


def test_stream_that_falls_silent_ends_in_time_after_its_text(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b"x", wire.STREAM + wire.chunk("Hi") + b"data: ")]
    started = time.monotonic()
    found, error = collect(wire.model(server).stream(wire.ask(timeout=0.3)))
    assert (found, type(error)) == (["Hi"], ModelTimeoutError)
    assert time.monotonic() - started < 3


def test_reader_may_take_its_time(serve: Any, wire: Any) -> None:
    server = serve(wire.STREAM + wire.chunk("H") + wire.chunk("i", "stop") + wire.DONE)
    pieces = wire.model(server).stream(wire.ask(timeout=0.2))
    assert next(pieces).text == "H"
    time.sleep(0.4)
    assert texts(list(pieces)) == ["i"]


# Ends


def test_connection_is_closed_when_the_reader_leaves(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(wire.chunk("x"), wire.STREAM, 0.0)]
    pieces = wire.model(server).stream(wire.ask())
    next(pieces)
    pieces.close()
    assert server.gone.wait(5)


def test_nothing_is_asked_until_the_first_piece_is_wanted(serve: Any, wire: Any) -> None:
    server = serve()
    wire.model(server).stream(wire.ask())
    assert server.heads == []


@pytest.mark.parametrize("flood", [b"x" * 65536, b": x\n" * 10_000, b"data: y\n" * 10_000])
def test_stream_without_an_end_is_refused(flood: bytes, serve: Any, wire: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(stream, "MAX_STREAM", 1_000_000)

    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM)
        for _ in range(10_000):
            connection.sendall(flood)

    server = serve(answer)
    found, error = collect(wire.model(server).stream(wire.ask()))
    assert (found, type(error)) == ([], ModelResponseError)
    assert server.gone.wait(5)


def test_compressed_stream_is_refused(serve: Any, wire: Any) -> None:
    head = wire.STREAM.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    _, error = collect(wire.model(serve(head + b"\x1f\x8b")).stream(wire.ask()))
    assert "compressed" in str(error)
