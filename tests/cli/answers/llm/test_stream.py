"""Replies are parsed piece by piece, however their bytes arrive and however they end."""

import threading
from typing import Any

import httpx
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
    RequestTarget,
)
from sleuth.answers.llm.stream import (
    ReadTimeouts,
    ReplyStream,
    ThinkTagParser,
    parse_object,
    read_piece,
    read_usage,
    split_unopened,
)
from sleuth.base import logs


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


def test_pieces_arrive_before_the_next_is_sent(serve: Any, wire: Any) -> None:
    go_on = threading.Event()

    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM + wire.chunk("H"))
        go_on.wait(300)
        connection.sendall(wire.chunk("i", "stop") + wire.DONE)

    pieces = wire.model(serve(answer)).stream(wire.ask())
    assert next(pieces).text == "H"
    go_on.set()
    assert texts(list(pieces)) == ["i"]


def test_characters_may_be_split_over_chunks(serve: Any, wire: Any) -> None:
    events = b": keep-alive\r\n\r\n" + wire.chunk("你好") + wire.chunk("🙂", "stop") + wire.USAGE + wire.DONE

    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"))
        for start in range(0, len(events), 7):
            part = events[start : start + 7]
            connection.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        connection.sendall(b"0\r\n\r\n")

    assert texts(list(wire.model(serve(answer)).stream(wire.ask()))) == ["你好", "🙂"]


def test_reasoning_is_separated_from_text(serve: Any, wire: Any) -> None:
    thoughts = [wire.chunk(None, delta={"content": None, name: "hm"}) for name in ("reasoning_content", "reasoning")]
    inline = [wire.chunk(part) for part in ("<th", "ink>h", "m</thi", "nk>\n", "Hi")]
    for parts in ([*thoughts, wire.chunk("Hi")], inline):
        server = serve(wire.STREAM + b"".join(parts) + wire.chunk(None, "stop") + wire.DONE)
        found = list(wire.model(server).stream(wire.ask()))
        assert "".join(piece.reasoning for piece in found) in ("hmhm", "hm")
        assert texts(found) == ["Hi"]


def test_end_of_body_is_fine_after_a_finish_reason(serve: Any, wire: Any) -> None:
    found = list(wire.model(serve(wire.STREAM + wire.chunk("Hi") + wire.chunk(None, "length"))).stream(wire.ask()))
    assert (texts(found), found[-1].finish) == (["Hi"], "length")
    assert found[-1].usage
    assert found[-1].usage.estimated


def test_done_is_an_end_without_a_finish_reason(serve: Any, wire: Any) -> None:
    found = list(wire.model(serve(wire.STREAM + wire.chunk("Hi") + wire.DONE)).stream(wire.ask()))
    assert (texts(found), found[-1].finish) == (["Hi"], "stop")


def test_usage_is_not_awaited_for_long_after_a_finish_reason(serve: Any, wire: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(stream, "USAGE_TIMEOUT_S", 0.2)
    server = serve()

    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM + wire.chunk("Hi", "stop"))
        server.over.wait()

    server.answers = [answer]
    found = list(wire.model(server).stream(wire.ask(timeout=60)))
    assert (texts(found), found[-1].finish) == (["Hi"], "stop")


@pytest.mark.parametrize("framing", ["", "\r\nTransfer-Encoding: chunked", "\r\nContent-Length: 9999"])
def test_stream_that_is_cut_off_is_an_error_after_its_text(framing: str, serve: Any, wire: Any) -> None:
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


def test_stream_that_fails_before_its_first_piece_is_retried(serve: Any, wire: Any) -> None:
    good = wire.STREAM + wire.chunk("Hi", "stop") + wire.DONE
    busy = wire.STREAM + b'data: {"error": {"message": "Overloaded"}}\n\n'
    server = serve(wire.refuse(503, {}), busy, good)
    assert texts(list(wire.model(server).stream(wire.ask()))) == ["Hi"]
    assert len(server.bodies) == 3


def test_reply_may_come_whole_although_a_stream_was_requested(serve: Any, wire: Any) -> None:
    found = list(wire.model(serve(wire.reply("Hi"))).stream(wire.ask()))
    assert found == [Piece("Hi"), Piece(finish="stop", usage=Usage(1, 9, 2))]


def test_events_without_content_are_skipped(serve: Any, wire: Any) -> None:
    odd = b'data: {"choices": []}\n\ndata:\n\ndata: {"choices": [{"index": 0}]}\n\ndata: {"type": "ping"}\n\n'
    server = serve(wire.STREAM + odd + wire.chunk("Hi", "stop") + wire.DONE)
    assert texts(list(wire.model(server).stream(wire.ask()))) == ["Hi"]


def test_rejected_field_is_left_out_of_a_stream(serve: Any, wire: Any) -> None:
    refusal = wire.refuse(400, {"error": {"message": "Unrecognized request argument supplied: stream_options"}})
    server = serve(refusal, wire.STREAM + wire.chunk("Hi", "stop") + wire.DONE)
    assert texts(list(wire.model(server).stream(wire.ask()))) == ["Hi"]
    assert ["stream_options" in body for body in server.bodies] == [True, False]


# Time


class CountingTimeouts:
    """Counts renewals of the read timeout."""

    seconds, renewals, restarts = 60.0, 0, 0

    def renew(self) -> None:
        self.renewals += 1

    def restart(self) -> None:
        self.restarts += 1


def test_keep_alive_comments_renew_the_timeout(wire: Any) -> None:
    chunks = [b": keep-alive\n\n", b": keep-", b"alive\n\n", wire.chunk("Hi", "stop"), wire.DONE]
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=iter(chunks))
    timeouts: Any = CountingTimeouts()
    pieces = ReplyStream(RequestTarget("h", "m", "u")).pieces(response, timeouts, streamed=True)
    assert texts(list(pieces)) == ["Hi"]
    assert timeouts.renewals == 3  # not for half a line, and not after the end
    assert timeouts.restarts == 1


def test_keep_alive_comments_renew_the_timeout_ten_times_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    timeouts = ReadTimeouts(5.0)
    for now in (1004.0, 1008.0, 1049.0):  # noqa: B007 - the clock
        timeouts.renew()
    assert timeouts.until == 1050.0
    timeouts.restart()
    assert timeouts.until == 1054.0


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nX: "])
def test_stream_that_does_not_start_times_out(begun: bytes, serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b"x", begun) if begun else lambda _: server.over.wait()]
    found, error = collect(wire.model(server).stream(wire.ask(timeout=0.3)))
    assert (found, type(error), len(server.bodies)) == ([], ModelTimeoutError, 1)


def test_stream_that_stalls_times_out_after_its_text(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b"x", wire.STREAM + wire.chunk("Hi") + b"data: ")]
    found, error = collect(wire.model(server).stream(wire.ask(timeout=0.3)))
    assert (found, type(error)) == (["Hi"], ModelTimeoutError)


# Ends


def test_connection_is_closed_with_the_generator(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(wire.chunk("x"), wire.STREAM, 0.0)]
    pieces = wire.model(server).stream(wire.ask())
    next(pieces)
    pieces.close()
    assert server.gone.wait(300)


def test_request_is_sent_with_the_first_piece(serve: Any, wire: Any) -> None:
    server = serve()
    wire.model(server).stream(wire.ask())
    assert server.heads == []


@pytest.mark.parametrize("flood", [b"x" * 65536, b": x\n" * 10_000, b"data: y\n" * 10_000])
def test_endless_stream_is_an_error(flood: bytes, serve: Any, wire: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(stream, "MAX_STREAM_CHARS", 1_000_000)

    def answer(connection: Any) -> None:
        connection.sendall(wire.STREAM)
        for _ in range(10_000):
            connection.sendall(flood)

    server = serve(answer)
    found, error = collect(wire.model(server).stream(wire.ask()))
    assert (found, type(error)) == ([], ModelResponseError)
    assert server.gone.wait(300)


def test_compressed_stream_is_an_error(serve: Any, wire: Any) -> None:
    head = wire.STREAM.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    _, error = collect(wire.model(serve(head + b"\x1f\x8b")).stream(wire.ask()))
    assert "Content-Encoding" in str(error)


def test_key_as_an_encoding_is_not_shown(serve: Any, wire: Any) -> None:
    key = "sk-Very-Secret-0123456789"
    logs.hide(key)
    server = serve(wire.STREAM.replace(b"\r\n\r\n", f"\r\nContent-Encoding: {key}\r\n\r\n".encode()))
    _, error = collect(wire.model(server, key=key).stream(wire.ask()))
    assert "unexpected Content-Encoding: '[hidden]'" in str(error)


# Parsing


def parse(*pieces: str) -> tuple[str, str]:
    parser = ThinkTagParser()
    said = [parser.feed(piece) for piece in pieces] + [parser.finish()]
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
def test_think_tags_are_parsed_however_they_are_split(text: str, parted: tuple[str, str]) -> None:
    assert parse(text) == parted
    assert parse(*text) == parted
    for place in range(len(text)):
        assert parse(text[:place], text[place:]) == parted


def test_text_is_passed_on_once_no_tag_can_begin() -> None:
    parser = ThinkTagParser()
    assert parser.feed("<") == Piece()
    assert parser.feed("b>") == Piece("<b>")
    assert parser.feed("<think>") == Piece("<think>")


def test_leading_blanks_are_not_held_back_forever() -> None:
    parser = ThinkTagParser()
    given = sum(len(parser.feed(" " * 100).text) for _ in range(20))
    assert given == 2000


@pytest.mark.parametrize(
    ("text", "parted"),
    [
        ("hm</think>\nHi", ("Hi", "hm")),
        ("Hi", ("Hi", "")),
        ("a <think>b</think>", ("a <think>b</think>", "")),
    ],
)
def test_reasoning_without_an_opening_tag_is_separated(text: str, parted: tuple[str, str]) -> None:
    assert split_unopened(text) == parted


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
def test_document_without_choices_is_empty(document: dict[str, Any]) -> None:
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
def test_usage_is_read_under_any_name(usage: dict[str, Any], found: Usage) -> None:
    assert read_usage(usage) == found


def test_usage_inside_a_choice_is_found() -> None:
    choice = {"delta": {}, "usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    assert read_piece({"choices": [choice]}).usage == Usage(1, 3, 4)


@pytest.mark.parametrize("text", ["", "x", "[]", "7", '{"a":', "[" * 100_000])
def test_anything_but_an_object_is_an_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are of json
        parse_object(text)
