"""Complete replies: requests, errors, retries and keys."""

import json
from typing import Any

import pytest

from sleuth.answers.llm import stream
from sleuth.answers.llm.chat import Message, Piece, Prompt, Usage
from sleuth.answers.llm.errors import (
    ContextTooLongError,
    ModelAddressError,
    ModelBrokenOffError,
    ModelError,
    ModelKeyError,
    ModelLimitError,
    ModelRequestError,
    ModelResponseError,
    ModelTimeoutError,
    ModelUnavailableError,
    ModelUnreachableError,
)
from sleuth.base import logs

KEY = "sk-secret-0123456789"


def test_reply_has_text_reasoning_and_usage(serve: Any, wire: Any) -> None:
    server = serve(wire.reply("Hi", message={"reasoning_content": "hm"}))
    found = wire.model(server).complete(wire.ask(temperature=0.3))
    assert found == Piece("Hi", "hm", "stop", Usage(1, 9, 2))
    assert server.bodies == [{"model": "m", "messages": [{"role": "user", "content": "hello"}], "temperature": 0.3}]
    assert server.heads[0].startswith("POST /v1/chat/completions HTTP/1.1\r\n")


def test_key_is_sent_in_one_header(serve: Any, wire: Any) -> None:
    server = serve()
    wire.model(server, key=KEY).complete(wire.ask())
    assert server.heads[0].count(KEY) == 1
    assert f"Authorization: Bearer {KEY}" in server.heads[0]
    wire.model(server).complete(wire.ask())
    assert "authorization" not in server.heads[1].lower()


def test_key_in_the_url_is_redacted(serve: Any, wire: Any) -> None:
    server = serve(wire.reply(f"your key: {KEY}"), wire.reply(f"your key: {KEY}"))
    asked = wire.model(f"{server.url}?api-key={KEY}")
    assert asked.complete(wire.ask()).text == "your key: [hidden]"
    assert "".join(piece.text for piece in asked.stream(wire.ask())) == "your key: [hidden]"


def test_text_of_any_script_arrives(serve: Any, wire: Any) -> None:
    server = serve(wire.reply("好的 🙂"))
    prompt = Prompt((Message("system", "简洁"), Message("user", "你好 \ud800")))
    assert wire.model(server).complete(prompt).text == "好的 🙂"
    assert [message["content"] for message in server.bodies[0]["messages"]] == ["简洁", "你好 ?"]


def test_reasoning_is_separated_from_the_reply(serve: Any, wire: Any) -> None:
    server = serve(wire.reply("<think>hm</think>\nHi"), wire.reply("hm</think>Hi"))
    asked = wire.model(server)
    assert [asked.complete(wire.ask())[:2] for _ in range(2)] == [("Hi", "hm")] * 2


def test_blank_lines_before_a_reply_are_skipped(serve: Any, wire: Any) -> None:
    body = wire.reply("Hi").partition(b"\r\n\r\n")[2]
    assert wire.model(serve(wire.http(b"\n\n\n" + body))).complete(wire.ask()).text == "Hi"


def test_empty_reply_is_a_reply(serve: Any, wire: Any) -> None:
    assert wire.model(serve(wire.reply(None))).complete(wire.ask()).text == ""


def test_unrequested_stream_is_read(serve: Any, wire: Any) -> None:
    events = wire.chunk("H") + wire.chunk("i", "stop") + wire.USAGE + wire.DONE
    for kind in ("text/event-stream", "text/plain"):
        found = wire.model(serve(wire.http(events, kind=kind))).complete(wire.ask())
        assert found == Piece("Hi", "", "stop", Usage(1, 9, 1))


def test_usage_is_estimated_if_the_server_reports_none(serve: Any, wire: Any) -> None:
    usage = wire.model(serve(wire.reply("x" * 460, usage=None))).complete(wire.ask("y" * 4600)).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.estimated) == (1004, 100, True)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (("{", "200 OK"), ModelResponseError),
        (("[]", "200 OK"), ModelResponseError),
        (('{"choices": []}', "200 OK"), ModelResponseError),
        (("", "200 OK"), ModelResponseError),
        (("<html>Open WebUI</html>", "200 OK", "text/html"), ModelAddressError),
        (("<html>404</html>", "404 Not Found", "text/html"), ModelAddressError),
        (('{"error": {"message": "bad key"}}', "401 No"), ModelKeyError),
        (('{"error": {"message": "maximum context length is 8"}}', "400 No"), ContextTooLongError),
        (('{"error": {"message": "boom"}}', "200 OK"), ModelError),
    ],
)
def test_invalid_response_is_an_error(answer: Any, kind: type[ModelError], serve: Any, wire: Any) -> None:
    server = serve(wire.http(*answer))
    with pytest.raises(kind) as caught:
        wire.model(server).complete(wire.ask())
    assert type(caught.value) is kind
    assert len(server.bodies) == 1


# Time and size


def test_dripping_headers_time_out(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b"X-Y: z\r\n", b"HTTP/1.1 200 OK\r\n")]
    assert_times_out(server, wire)


def test_dripping_body_times_out(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b" ", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")]
    assert_times_out(server, wire)


def test_dripping_events_time_out(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b": keep-alive\n\n", wire.STREAM)]
    assert_times_out(server, wire)


def test_silent_server_times_out(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [lambda _: server.over.wait()]
    assert_times_out(server, wire)


def assert_times_out(server: Any, wire: Any) -> None:
    with pytest.raises(ModelTimeoutError, match=r"within 0\.3 s"):
        wire.model(server).complete(wire.ask(timeout=0.3))
    assert len(server.bodies) == 1


def test_endless_reply_is_an_error(monkeypatch: pytest.MonkeyPatch, serve: Any, wire: Any) -> None:
    monkeypatch.setattr(stream, "MAX_BODY_BYTES", 100_000)

    def flood(connection: Any) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        for _ in range(100_000):
            connection.sendall(b" " * 65536)

    server = serve(flood)
    with pytest.raises(ModelResponseError, match=r"larger than 0\.1 MB"):
        wire.model(server).complete(wire.ask())
    assert server.gone.wait(300)


# Retries


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_transient_errors_are_retried(status: int, serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(status, {}), wire.refuse(status, {}), wire.reply("Hi"))
    asked = wire.model(server)
    assert asked.complete(wire.ask()).text == "Hi"
    assert len(server.bodies) == 3
    assert 0.25 <= asked.naps[0] <= 0.5 <= asked.naps[1] <= 1.0


@pytest.mark.parametrize(("status", "kind"), [(503, ModelUnavailableError), (429, ModelLimitError)])
def test_there_are_at_most_three_attempts(status: int, kind: type[ModelError], serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(status, {}))
    with pytest.raises(kind):
        wire.model(server).complete(wire.ask())
    assert len(server.bodies) == 3


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_other_errors_are_not_retried(status: int, serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(status, {"error": {"message": "no"}}))
    with pytest.raises(ModelError):
        wire.model(server).complete(wire.ask())
    assert len(server.bodies) == 1


def test_exhausted_quota_is_not_retried(serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(429, {"error": {"message": "no", "code": "insufficient_quota"}}))
    with pytest.raises(ModelLimitError):
        wire.model(server).complete(wire.ask())
    assert len(server.bodies) == 1


def test_lost_connection_is_retried(serve: Any, wire: Any) -> None:
    half = wire.reply("Hi")[:-5]
    server = serve(b"", half, wire.reply("Hi"))
    assert wire.model(server).complete(wire.ask()).text == "Hi"
    assert len(server.bodies) == 3


def test_connection_that_is_always_lost_is_an_error(serve: Any, wire: Any) -> None:
    with pytest.raises(ModelBrokenOffError):
        wire.model(serve(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")).complete(wire.ask())


def test_refused_connection_is_not_retried(wire: Any) -> None:
    asked = wire.model("http://127.0.0.1:1/v1")
    with pytest.raises(ModelUnreachableError, match=r"refused at 127\.0\.0\.1:1"):
        asked.complete(wire.ask())
    assert asked.naps == []


def test_retry_after_is_respected(serve: Any, wire: Any) -> None:
    asked = wire.model(serve(wire.refuse(429, {}, Retry_After="2"), wire.reply()))
    asked.complete(wire.ask())
    assert asked.naps == [2.0]


def test_retry_after_beyond_the_timeout_is_not_awaited(serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(429, {"error": {"message": "later"}}, Retry_After="30"))
    asked = wire.model(server)
    with pytest.raises(ModelLimitError, match="later") as caught:
        asked.complete(wire.ask(timeout=10))
    assert (asked.naps, len(server.bodies)) == ([], 1)
    assert caught.value.hint.format_map(caught.value.values) == "try again in 30 s"


def test_finish_reason_for_overload_is_retried(serve: Any, wire: Any) -> None:
    busy = [{"message": {"content": ""}, "finish_reason": "insufficient_system_resource"}]
    server = serve(wire.reply(choices=busy), wire.reply("Hi"))
    assert wire.model(server).complete(wire.ask()).text == "Hi"


# Rejected fields


def test_rejected_field_is_left_out_from_then_on(serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(400, {"error": {"message": "response_format is not supported"}}), wire.reply("{}"))
    asked = wire.model(server)
    asked.complete(wire.ask(json=True))
    asked.complete(wire.ask(json=True))
    assert ["response_format" in body for body in server.bodies] == [True, False, False]
    assert asked.naps == []


def test_several_rejected_fields_are_left_out_one_by_one(serve: Any, wire: Any) -> None:
    def strict(connection: Any) -> None:
        extra = [name for name in server.bodies[-1] if name not in ("model", "messages")]
        complaint = {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"} for name in extra[:1]]}
        connection.sendall(wire.refuse(422, complaint) if extra else wire.reply("Hi"))

    server = serve(strict)
    prompt = wire.ask(json=True, temperature=0.1, max_tokens=5)
    assert wire.model(server).complete(prompt).text == "Hi"
    assert len(server.bodies) == 4


def test_required_fields_are_never_left_out(serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(400, {"error": {"message": "messages and temperature are wrong"}}))
    with pytest.raises(ModelRequestError):
        wire.model(server).complete(wire.ask(temperature=0.1))
    assert [sorted(body) for body in server.bodies] == [["messages", "model", "temperature"], ["messages", "model"]]


# Keys


def test_redirects_are_not_followed(serve: Any, wire: Any) -> None:
    other = serve()
    for status in (301, 302, 307, 308):
        server = serve(wire.refuse(status, {}, Location=f"{other.url}/chat/completions"))
        with pytest.raises(ModelAddressError, match=other.place):
            wire.model(server, key=KEY).complete(wire.ask())
    assert other.heads == []


def test_repeated_key_is_redacted_from_errors(serve: Any, wire: Any) -> None:
    logs.hide(KEY)
    server = serve(wire.refuse(401, {"error": {"message": f"Incorrect API key provided: {KEY}."}}))
    with pytest.raises(ModelKeyError) as caught:
        wire.model(server, key=KEY).complete(wire.ask())
    assert KEY not in str(caught.value)


def test_error_that_is_retried_is_logged_without_its_text(
    serve: Any, wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[str] = []
    monkeypatch.setattr("sleuth.base.logs.log", lambda text, *values: lines.append(text % values))
    server = serve(wire.refuse(503, {"error": {"message": "cannot answer 'Who is my uncle?'"}}), wire.reply("Hi"))
    wire.model(server).complete(wire.ask())
    assert lines[0].startswith(f"{server.place}: ('PROVIDER_UNAVAILABLE', 503); retrying")


@pytest.mark.parametrize("key", ["sk-1\r\nX-Evil: 1", "密钥-12345", "sk-1\0"])
def test_key_with_invalid_characters_is_not_sent(key: str, serve: Any, wire: Any) -> None:
    server = serve()
    with pytest.raises(ModelRequestError, match="characters") as caught:
        wire.model(server, key=key).complete(wire.ask())
    assert server.heads == []
    assert key not in json.dumps(str(caught.value), ensure_ascii=False)
