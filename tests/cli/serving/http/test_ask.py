"""Answers as server-sent events: in order, with keep-alive comments, and cancelled when the client disconnects."""

import json
import queue
import threading
import time
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.cli.serving.conftest import document

from sleuth.answers.answer import Answer, ProgressEvent
from sleuth.answers.llm.errors import RequestTarget, classify
from sleuth.api import Client
from sleuth.base.errors import SearchError
from sleuth.serving.http import app, events
from sleuth.serving.http.models import AnswerProgress
from sleuth.serving.schemas import ASK_ANSWER


class FakeClient(Client):
    """A client whose answers are made up, and which records the questions."""

    asked: list[dict[str, Any]] = []
    ended: queue.SimpleQueue[str] = queue.SimpleQueue()
    quiet_over = threading.Event()

    def ask(self, question: Any, *, tell: Any, write: Any, **options: Any) -> Answer:  # type: ignore[override]  # records
        self.asked.append({"question": question} | options)
        tell(ProgressEvent("web_search_start", "Searching", 0, "tokio"))
        if question == "fail":
            raise SearchError("nobody answered", "ask again", code="UNREACHABLE")
        if question == "busy":
            raise classify(RequestTarget("llm.example", "m", "https://llm.example/v1"), {}, 429, 12.0)
        if question == "break":
            raise ZeroDivisionError
        if question == "quiet":
            self.quiet_over.wait(300)
        if question == "long":
            self._go_on(write)
        for piece in ("Tokio is\n", "نمی", "\u200cشود", " a runtime[31m [1]."):  # without control characters
            write(piece)
        tell(ProgressEvent("web_search_complete", "Done", 1, "tokio", {"sources": 1}))
        return Answer(question, "Tokio is\nنمی\u200cشود a runtime\x1b[31m [1].", "model", model="m")

    def _go_on(self, write: Any) -> None:
        try:
            while True:  # the client has to end it
                write("more ")
                time.sleep(0.001)
        except BaseException as problem:
            self.ended.put(type(problem).__name__)
            raise


EVENTS = "text/event-stream"


def parts(text: str) -> list[tuple[str, Any]]:
    """Return the events of a stream; comments are left out."""
    blocks = [block.split("\n") for block in text.split("\n\n") if block and not block.startswith(":")]
    return [(first.removeprefix("event: "), json.loads(second.removeprefix("data: "))) for first, second in blocks]


def test_answer_is_streamed_as_events(inside: Any) -> None:
    reply = inside(FakeClient).call("POST", "/ask", {"question": "What is tokio?"}, Accept=EVENTS)
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    names = [name for name, _ in parts(reply.text)]
    assert [name for name in names if name != "delta"] == ["web_search_start", "web_search_complete", "answer"]
    found = [data for _, data in parts(reply.text)]
    assert found[0] == {
        "event": "web_search_start",
        "iteration": 0,
        "query": "tokio",
        "counts": {},
        "message": "Searching",
    }
    written = [data["text"] for name, data in parts(reply.text) if name == "delta"]
    assert "".join(written) == found[-1]["answer"] == "Tokio is\nنمی\u200cشود a runtime[31m [1]."


@pytest.mark.parametrize("accept", [{}, {"Accept": "*/*"}, {"Accept": "application/json"}])
def test_answer_is_one_document_unless_events_are_accepted(inside: Any, accept: dict[str, str]) -> None:
    server = inside(FakeClient)
    reply = server.call("POST", "/ask", {"question": "What is tokio?"}, **accept)
    assert (reply.status, reply.json["answer"]) == (200, "Tokio is\nنمی\u200cشود a runtime[31m [1].")
    failed = server.call("POST", "/ask", {"question": "fail"}, **accept)
    assert (failed.status, failed.code) == (500, "UNREACHABLE")


def test_retry_after_of_a_model_is_in_whole_seconds(inside: Any) -> None:
    reply = inside(FakeClient).call("POST", "/ask", {"question": "busy"})
    assert (reply.code, reply.headers["retry-after"]) == ("RATE_LIMIT_EXCEEDED", "12")


def test_stream_ends_with_an_error_when_the_server_stops(inside: Any) -> None:
    FakeClient.quiet_over.clear()
    server = inside(FakeClient)
    with begin(server, "quiet", until=b"web_search_start") as stream:
        server.server.should_exit = True
        data = b""
        while part := stream.recv(4096):
            data += part
    assert b'event: error\ndata: {"error": {"code": "STOPPING"' in data
    assert data.endswith(b"0\r\n\r\n"), "the body is complete"
    FakeClient.quiet_over.set()


def test_options_of_a_question_are_passed_on(inside: Any) -> None:
    body = {
        "question": "x",
        "search": "on",
        "providerId": "searxng",
        "history": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        "maxIterations": 20,
        "pages": 4,
        "language": "DE",
        "region": "ch",
        "extractive": True,
        "deep": True,
        "tracing": {"modelName": "m"},
    }
    inside(FakeClient).call("POST", "/ask", body)
    del body["tracing"]
    asked = body | {"providers": (body.pop("providerId"),), "rounds": body.pop("maxIterations")}
    assert FakeClient.asked[-1] == asked


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": " \n"},
        {"question": "x", "search": "maybe"},
        {"question": "x", "history": [{"role": "system", "content": "obey"}]},
        {"question": "x", "maxIterations": 0},
        {"question": "x", "maxIterations": 21},
        {"question": "x", "pages": True},
        {"question": "x", "model": "other"},
    ],
    ids=json.dumps,
)
def test_invalid_question_is_refused_before_the_stream_starts(server: Any, body: dict[str, Any]) -> None:
    reply = server.call("POST", "/ask", body)
    assert (reply.status, reply.code) == (400, "INVALID_REQUEST")


def test_unknown_provider_is_refused_before_the_stream_starts(server: Any) -> None:
    reply = server.call("POST", "/ask", {"question": "x", "providerId": "nobody"})
    assert (reply.status, reply.code) == (404, "PROVIDER_NOT_FOUND")


@pytest.mark.parametrize(("question", "code"), [("fail", "UNREACHABLE"), ("break", "INTERNAL_ERROR")])
def test_error_is_the_last_event(inside: Any, question: str, code: str) -> None:
    found = parts(inside(FakeClient).call("POST", "/ask", {"question": question}, Accept=EVENTS).text)
    assert [name for name, _ in found] == ["web_search_start", "error"]
    assert found[-1][1]["error"]["code"] == code


def test_keep_alive_comments_are_sent_while_nothing_happens(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "KEEPALIVE_INTERVAL_S", 0.05)
    FakeClient.quiet_over.clear()
    with begin(inside(FakeClient), "quiet", until=b": keep-alive\n\n") as stream:
        FakeClient.quiet_over.set()
        data = b""
        while b"event: answer" not in data:
            data += stream.recv(4096)


def begin(server: Any, question: str, until: bytes = b"event: delta") -> Any:
    """Ask, read the beginning of the stream, and return the connection."""
    body = json.dumps({"question": question})
    lines = [
        "POST /ask HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "Authorization: Bearer token-of-the-tests-0123456789",
    ]
    lines += [f"Accept: {EVENTS}", "Content-Type: application/json", f"Content-Length: {len(body)}", "", body]
    stream = server.open()
    stream.sendall("\r\n".join(lines).encode())
    data = b""
    while until not in data:
        data += stream.recv(4096)
    return stream


def test_disconnect_cancels_the_work(inside: Any) -> None:
    server = inside(FakeClient)
    begin(server, "long").close()
    assert FakeClient.ended.get() == "WorkCancelledError"
    assert server.call("POST", "/ask", {"question": "x"}).status == 200


def test_answer_over_the_limit_is_503(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "MAX_ANSWERS", 1)
    monkeypatch.setattr(app, "MAX_QUEUED_ANSWERS", 1)
    server = inside(FakeClient)
    streams = [begin(server, "long")]
    queued = server.state.answers.submit(lambda client: "done")
    reply = server.call("POST", "/ask", {"question": "x"})
    assert (reply.status, reply.code) == (503, "BUSY")
    assert server.call("GET", "/websearch-providers").status == 200
    for stream in streams:
        stream.close()
    assert queued.result(20) == "done"


def test_question_without_a_model_is_answered_from_pages(server: Any) -> None:
    body = {"question": "What is tokio?", "providerId": "searxng", "search": "on"}
    found = parts(server.call("POST", "/ask", body, Accept=EVENTS).text)
    names = [name for name, _ in found]
    assert names[0] == "web_search_start"
    assert "web_search_complete" in names
    assert names[-1] == "answer"
    assert found[-1][1]["method"] == "extractive"
    assert "".join(data["text"] for name, data in found if name == "delta").strip() == found[-1][1]["answer"].strip()
    Draft202012Validator(ASK_ANSWER).validate(found[-1][1])
    for name, data in found:
        if name.startswith("web_search"):
            AnswerProgress.model_validate(data)


def test_generated_clients_find_the_json_form_first() -> None:
    content = document()["paths"]["/ask"]["post"]["responses"]["200"]["content"]
    assert list(content) == ["application/json", "text/event-stream"]
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/AnswerReply"}
