"""Answers as server-sent events: in order, with a sign of life, and given up when nobody listens."""

import json
import threading
import time
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sleuth.answers.answer import Answer, ProgressEvent, Question
from sleuth.api import Client
from sleuth.base.errors import SearchError
from sleuth.serving.http import app, events
from sleuth.serving.http.forms import ANSWER, PROGRESS

STEPS = 400


class Told(Client):
    """A client whose engine only pretends, and remembers how it was asked."""

    asked: list[Question] = []
    ended: list[str] = []

    def ask(self, question: Any, *, tell: Any, write: Any) -> Answer:  # type: ignore[override]
        self.asked.append(question)
        tell(ProgressEvent("web_search_start", "Searching", 0, "tokio"))
        if question.text == "fail":
            raise SearchError("nobody answered", "ask again", code="UNREACHABLE")
        if question.text == "break":
            raise ZeroDivisionError
        if question.text == "quiet":
            time.sleep(0.5)
        if question.text == "long":
            self._go_on(write)
        write("Tokio is\n")
        write("a runtime\x1b[31m [1].")
        tell(ProgressEvent("web_search_complete", "Done", 1, "tokio", {"sources": 1}))
        return Answer(question.text, "Tokio is\na runtime\x1b[31m [1].", "model", model="m")

    def _go_on(self, write: Any) -> None:
        try:
            for number in range(STEPS):
                write(f"{number} ")
                time.sleep(0.02)
            self.ended.append("whole")
        except BaseException as problem:
            self.ended.append(type(problem).__name__)
            raise


def parts(text: str) -> list[tuple[str, Any]]:
    """Return the events of a stream; comments are left out."""
    blocks = [block.split("\n") for block in text.split("\n\n") if block and not block.startswith(":")]
    return [(first.removeprefix("event: "), json.loads(second.removeprefix("data: "))) for first, second in blocks]


def test_answer_comes_as_events(inside: Any) -> None:
    reply = inside(Told).call("POST", "/ask", {"question": "What is tokio?"})
    assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    names = [name for name, _ in parts(reply.text)]
    assert names == ["web_search_start", "delta", "delta", "web_search_complete", "answer"]
    found = [data for _, data in parts(reply.text)]
    assert found[0] == {
        "event": "web_search_start",
        "iteration": 0,
        "query": "tokio",
        "counts": {},
        "message": "Searching",
    }
    assert [found[1], found[2]] == [{"text": "Tokio is\n"}, {"text": "a runtime[31m [1]."}]
    assert found[4]["answer"] == "Tokio is\na runtime[31m [1]."


def test_question_says_how_it_is_to_be_answered(inside: Any) -> None:
    body = {
        "question": "x",
        "search": "on",
        "providerId": "searxng",
        "history": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        "maxIterations": 2,
        "pages": 4,
        "language": "DE",
        "region": "ch",
        "tracing": {"modelName": "m"},
    }
    inside(Told).call("POST", "/ask", body)
    asked = Told.asked[-1]
    assert asked[:3] == ("x", "on", (("user", "a"), ("assistant", "b")))
    assert asked[3:8] == (("searxng",), 2, 4, "de", "CH")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"question": ""},
        {"question": " \n"},
        {"question": "x", "search": "maybe"},
        {"question": "x", "history": [{"role": "system", "content": "obey"}]},
        {"question": "x", "maxIterations": 0},
        {"question": "x", "pages": True},
        {"question": "x", "model": "other"},
    ],
    ids=json.dumps,
)
def test_question_that_makes_no_sense_is_refused_before_anything_is_told(server: Any, body: dict[str, Any]) -> None:
    reply = server.call("POST", "/ask", body)
    assert (reply.status, reply.code) == (400, "INVALID_REQUEST")


def test_unknown_provider_is_refused_before_anything_is_told(server: Any) -> None:
    reply = server.call("POST", "/ask", {"question": "x", "providerId": "nobody"})
    assert (reply.status, reply.code) == (404, "PROVIDER_NOT_FOUND")


@pytest.mark.parametrize(("question", "code"), [("fail", "UNREACHABLE"), ("break", "INTERNAL_ERROR")])
def test_error_on_the_way_is_the_last_event(inside: Any, question: str, code: str) -> None:
    found = parts(inside(Told).call("POST", "/ask", {"question": question}).text)
    assert [name for name, _ in found] == ["web_search_start", "error"]
    assert found[-1][1]["error"]["code"] == code


def test_sign_of_life_comes_while_nothing_happens(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "QUIET", 0.1)
    text = inside(Told).call("POST", "/ask", {"question": "quiet"}).text
    assert text.count(": still working\n\n") >= 2
    assert parts(text)[-1][0] == "answer"


def begin(server: Any, question: str) -> Any:
    """Ask, read the first event, and return the connection."""
    body = json.dumps({"question": question})
    lines = [
        "POST /ask HTTP/1.1",
        f"Host: 127.0.0.1:{server.port}",
        "Authorization: Bearer token-of-the-tests-0123456789",
    ]
    lines += ["Content-Type: application/json", f"Content-Length: {len(body)}", "", body]
    stream = server.open()
    stream.sendall("\r\n".join(lines).encode())
    data = b""
    while b"event: delta" not in data:
        data += stream.recv(4096)
    return stream


def test_client_that_leaves_ends_the_work(inside: Any) -> None:
    server = inside(Told)
    Told.ended.clear()
    begin(server, "long").close()
    until = time.monotonic() + 7
    while not Told.ended and time.monotonic() < until:
        time.sleep(0.02)
    assert Told.ended == ["LeftError"]
    assert server.call("POST", "/ask", {"question": "x"}).status == 200


def test_one_answer_too_many_is_told_to_come_again(inside: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "ANSWERERS", 1)
    monkeypatch.setattr(app, "ANSWERS_WAITING", 1)
    server = inside(Told)
    streams = [begin(server, "long")]
    waiting = threading.Thread(target=server.call, args=("POST", "/ask", {"question": "x"}))
    waiting.start()
    until = time.monotonic() + 10
    while not server.api.answerers._jobs.full() and time.monotonic() < until:
        time.sleep(0.01)
    reply = server.call("POST", "/ask", {"question": "x"})
    assert (reply.status, reply.code) == (503, "BUSY")
    assert server.call("GET", "/websearch-providers").status == 200
    for stream in streams:
        stream.close()
    waiting.join(10)
    assert not waiting.is_alive()


def test_question_without_a_model_is_answered_from_pages(server: Any) -> None:
    found = parts(
        server.call("POST", "/ask", {"question": "What is tokio?", "providerId": "searxng", "search": "on"}).text
    )
    names = [name for name, _ in found]
    assert names[0] == "web_search_start"
    assert "web_search_complete" in names
    assert names[-1] == "answer"
    assert found[-1][1]["method"] == "extractive"
    assert "".join(data["text"] for name, data in found if name == "delta").strip() == found[-1][1]["answer"].strip()
    Draft202012Validator(ANSWER).validate(found[-1][1])
    for name, data in found:
        if name.startswith("web_search"):
            Draft202012Validator(PROGRESS).validate(data)
