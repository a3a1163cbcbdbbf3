"""A model is asked, read and asked again as it should be, by whole replies."""

import json
import time
from typing import Any

import pytest

from sleuth.answers.llm import stream
from sleuth.answers.llm.chat import Completion, Message, Prompt, Usage
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


def test_reply_is_whole(serve: Any, wire: Any) -> None:
    server = serve(wire.reply("Hi", message={"reasoning_content": "hm"}))
    found = wire.model(server).complete(wire.ask(temperature=0.3))
    assert found == Completion("Hi", "hm", "stop", Usage(1, 9, 2))
    assert server.bodies == [{"model": "m", "messages": [{"role": "user", "content": "hello"}], "temperature": 0.3}]
    assert server.heads[0].startswith("POST /v1/chat/completions HTTP/1.1\r\n")


def test_key_travels_in_one_header(serve: Any, wire: Any) -> None:
    server = serve()
    wire.model(server, key=KEY).complete(wire.ask())
    assert server.heads[0].count(KEY) == 1
    assert f"Authorization: Bearer {KEY}" in server.heads[0]
    wire.model(server).complete(wire.ask())
    assert "authorization" not in server.heads[1].lower()


def test_text_of_any_script_arrives(serve: Any, wire: Any) -> None:
    server = serve(wire.reply("好的 🙂"))
    prompt = Prompt((Message("system", "简洁"), Message("user", "你好 \ud800")))
    assert wire.model(server).complete(prompt).text == "好的 🙂"
    assert [message["content"] for message in server.bodies[0]["messages"]] == ["简洁", "你好 ?"]


def test_thoughts_are_parted_from_the_reply(serve: Any, wire: Any) -> None:
    server = serve(wire.reply("<think>hm</think>\nHi"), wire.reply("hm</think>Hi"))
    asked = wire.model(server)
    assert [asked.complete(wire.ask())[:2] for _ in range(2)] == [("Hi", "hm")] * 2


def test_blank_lines_before_a_reply_are_passed_over(serve: Any, wire: Any) -> None:
    body = wire.reply("Hi").partition(b"\r\n\r\n")[2]
    assert wire.model(serve(wire.http(b"\n\n\n" + body))).complete(wire.ask()).text == "Hi"


def test_empty_reply_is_a_reply(serve: Any, wire: Any) -> None:
    assert wire.model(serve(wire.reply(None))).complete(wire.ask()).text == ""


def test_stream_nobody_asked_for_is_read(serve: Any, wire: Any) -> None:
    events = wire.chunk("H") + wire.chunk("i", "stop") + wire.USAGE + wire.DONE
    for kind in ("text/event-stream", "text/plain"):
        found = wire.model(serve(wire.http(events, kind=kind))).complete(wire.ask())
        assert found == Completion("Hi", "", "stop", Usage(1, 9, 1))


def test_tokens_are_estimated_where_the_server_does_not_count(serve: Any, wire: Any) -> None:
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
def test_answer_that_is_none_is_an_error(answer: Any, kind: type[ModelError], serve: Any, wire: Any) -> None:
    server = serve(wire.http(*answer))
    with pytest.raises(kind) as caught:
        wire.model(server).complete(wire.ask())
    assert type(caught.value) is kind
    assert len(server.bodies) == 1


# Time and size


def test_time_limit_holds_when_headers_drip(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b"X-Y: z\r\n", b"HTTP/1.1 200 OK\r\n")]
    ends_in_time(server, wire)


def test_time_limit_holds_when_the_body_drips(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b" ", b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")]
    ends_in_time(server, wire)


def test_time_limit_holds_when_events_drip(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [server.drip(b": keep-alive\n\n", wire.STREAM)]
    ends_in_time(server, wire)


def test_time_limit_holds_when_the_server_is_silent(serve: Any, wire: Any) -> None:
    server = serve()
    server.answers = [lambda _: server.over.wait()]
    ends_in_time(server, wire)


def ends_in_time(server: Any, wire: Any) -> None:
    started = time.monotonic()
    with pytest.raises(ModelTimeoutError, match=r"within 0\.3 s"):
        wire.model(server).complete(wire.ask(timeout=0.3))
    assert 0.25 < time.monotonic() - started < 2.0
    assert len(server.bodies) == 1


def test_reply_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch, serve: Any, wire: Any) -> None:
    monkeypatch.setattr(stream, "MAX_REPLY", 100_000)

    def flood(connection: Any) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        for _ in range(100_000):
            connection.sendall(b" " * 65536)

    server = serve(flood)
    with pytest.raises(ModelResponseError, match=r"larger than 0\.1 MB"):
        wire.model(server).complete(wire.ask())
    assert server.gone.wait(5)


# Asking again


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_asked_again(status: int, serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(status, {}), wire.refuse(status, {}), wire.reply("Hi"))
    asked = wire.model(server)
    assert asked.complete(wire.ask()).text == "Hi"
    assert len(server.bodies) == 3
    assert 0.25 <= asked.naps[0] <= 0.5 <= asked.naps[1] <= 1.0


@pytest.mark.parametrize(("status", "kind"), [(503, ModelUnavailableError), (429, ModelLimitError)])
def test_three_attempts_are_the_most(status: int, kind: type[ModelError], serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(status, {}))
    with pytest.raises(kind):
        wire.model(server).complete(wire.ask())
    assert len(server.bodies) == 3


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_refusal_is_taken_for_an_answer(status: int, serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(status, {"error": {"message": "no"}}))
    with pytest.raises(ModelError):
        wire.model(server).complete(wire.ask())
    assert len(server.bodies) == 1


def test_quota_that_is_used_up_is_not_asked_again(serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(429, {"error": {"message": "no", "code": "insufficient_quota"}}))
    with pytest.raises(ModelLimitError):
        wire.model(server).complete(wire.ask())
    assert len(server.bodies) == 1


def test_connection_that_breaks_off_is_tried_again(serve: Any, wire: Any) -> None:
    half = wire.reply("Hi")[:-5]
    server = serve(b"", half, wire.reply("Hi"))
    assert wire.model(server).complete(wire.ask()).text == "Hi"
    assert len(server.bodies) == 3


def test_connection_that_always_breaks_off_is_an_error(serve: Any, wire: Any) -> None:
    with pytest.raises(ModelBrokenOffError):
        wire.model(serve(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")).complete(wire.ask())


def test_nobody_there_is_an_answer(wire: Any) -> None:
    asked = wire.model("http://127.0.0.1:1/v1")
    with pytest.raises(ModelUnreachableError, match=r"refused at 127\.0\.0\.1:1"):
        asked.complete(wire.ask())
    assert asked.naps == []


@pytest.mark.parametrize(("headers", "nap"), [({"Retry_After": "2"}, 2.0), ({"retry_after_ms": "150"}, 0.15)])
def test_server_is_given_the_time_it_wants(headers: dict[str, str], nap: float, serve: Any, wire: Any) -> None:
    asked = wire.model(serve(wire.refuse(429, {}, **headers), wire.reply()))
    asked.complete(wire.ask())
    assert asked.naps == [nap]


def test_server_that_wants_too_much_time_is_not_asked_again(serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(429, {"error": {"message": "later"}}, Retry_After="30"))
    asked = wire.model(server)
    with pytest.raises(ModelLimitError, match="later") as caught:
        asked.complete(wire.ask(timeout=10))
    assert (asked.naps, len(server.bodies)) == ([], 1)
    assert caught.value.hint.format_map(caught.value.values) == "try again in 30 s"


def test_overload_that_deepseek_calls_an_end_is_tried_again(serve: Any, wire: Any) -> None:
    busy = [{"message": {"content": ""}, "finish_reason": "insufficient_system_resource"}]
    server = serve(wire.reply(choices=busy), wire.reply("Hi"))
    assert wire.model(server).complete(wire.ask()).text == "Hi"


# Servers that know less


def test_field_that_a_server_refuses_is_left_out_from_then_on(serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(400, {"error": {"message": "response_format is not supported"}}), wire.reply("{}"))
    asked = wire.model(server)
    asked.complete(wire.ask(json=True))
    asked.complete(wire.ask(json=True))
    assert ["response_format" in body for body in server.bodies] == [True, False, False]
    assert asked.naps == []


def test_several_fields_are_left_out_one_by_one(serve: Any, wire: Any) -> None:
    def strict(connection: Any) -> None:
        extra = [name for name in server.bodies[-1] if name not in ("model", "messages")]
        complaint = {"detail": [{"loc": ["body", name], "msg": "Extra inputs are not permitted"} for name in extra[:1]]}
        connection.sendall(wire.refuse(422, complaint) if extra else wire.reply("Hi"))

    server = serve(strict)
    prompt = wire.ask(json=True, temperature=0.1, max_tokens=5)
    assert wire.model(server).complete(prompt).text == "Hi"
    assert len(server.bodies) == 4


def test_field_that_cannot_be_left_out_stays(serve: Any, wire: Any) -> None:
    server = serve(wire.refuse(400, {"error": {"message": "messages and temperature are wrong"}}))
    with pytest.raises(ModelRequestError):
        wire.model(server).complete(wire.ask(temperature=0.1))
    assert [sorted(body) for body in server.bodies] == [["messages", "model", "temperature"], ["messages", "model"]]


# Keys


def test_key_follows_no_redirect(serve: Any, wire: Any) -> None:
    other = serve()
    for status in (301, 302, 307, 308):
        server = serve(wire.refuse(status, {}, Location=f"{other.url}/chat/completions"))
        with pytest.raises(ModelAddressError, match=other.place):
            wire.model(server, key=KEY).complete(wire.ask())
    assert other.heads == []


def test_key_that_a_server_repeats_is_hidden(serve: Any, wire: Any) -> None:
    logs.hide(KEY)
    server = serve(wire.refuse(401, {"error": {"message": f"Incorrect API key provided: {KEY}."}}))
    with pytest.raises(ModelKeyError) as caught:
        wire.model(server, key=KEY).complete(wire.ask())
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-1\r\nX-Evil: 1", "密钥-12345", "sk-1\0"])
def test_key_that_no_header_can_carry_is_not_sent(key: str, serve: Any, wire: Any) -> None:
    server = serve()
    with pytest.raises(ModelRequestError, match="characters") as caught:
        wire.model(server, key=key).complete(wire.ask())
    assert server.heads == []
    assert key not in json.dumps(str(caught.value), ensure_ascii=False)
