"""For tests of commands that answer: an answerer that says what a test tells it, and a model behind a real server."""

import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.__main__ import run
from sleuth.answers import citation_check
from sleuth.answers.answer import Answer, ProgressEvent, Question, Round
from sleuth.answers.citations import CitedSource
from sleuth.answers.llm.chat import Usage
from sleuth.runtime import Runtime

SOURCES = (
    CitedSource(
        1, "https://tokio.rs/a", "Tokio", "Tokio is a fast runtime. Its timers have a precision of 1 millisecond."
    ),
    CitedSource(2, "https://smol.org/b", "Smol", "Smol is a small runtime. Its code has 1500 lines.", 2),
)
TEXT = "Tokio is a fast runtime [1]. Its timers have a precision of 5 nanoseconds [1]. Bananas are yellow fruit [2]."


class FakeAnswerer:
    """Answers every question alike, and remembers what it was asked."""

    def __init__(self, text: str = TEXT, sources: tuple[CitedSource, ...] = SOURCES, **more: Any) -> None:
        self.text, self.sources, self.more = text, sources, more
        self.asked: list[Question] = []
        self.raises: BaseException | None = None

    def answer(self, question: Question, tell: Callable[[ProgressEvent], None], write: Callable[[str], None]) -> Answer:
        self.asked.append(question)
        tell(ProgressEvent("web_search_start", "Searching", 0, "q"))
        tell(ProgressEvent("web_search_complete", "Found", 1, "q", {"sources": len(self.sources)}, self.sources))
        for start in range(0, len(self.text), 5):
            write(self.text[start : start + 5])
        if self.raises:
            raise self.raises
        checks = tuple(citation_check.check(self.text, self.sources))
        rounds = (Round(1, "q", 5, 2, "success", "searxng"),)
        usage = Usage(3, 1000, 200, cost=0.0012)
        known = {"method": "model", "model": "m-1", "usage": usage, "rounds": rounds, "searched": True} | self.more
        return Answer(question.text, self.text, sources=self.sources, checks=checks, elapsed_ms=1234, **known)


@pytest.fixture
def answerer() -> FakeAnswerer:
    return FakeAnswerer()


class Terminal(io.StringIO):
    """A buffer that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def answered(sleuth: Any, answerer: FakeAnswerer) -> Callable[..., Any]:
    """Run a command line with that answerer."""

    def command(*arguments: str, stdin: str = "", terminal: bool = False, progress: bool = False) -> Any:
        out = Terminal() if terminal else io.StringIO()
        err = Terminal() if progress else io.StringIO()
        runtime = Runtime(sleuth.environ, io.StringIO(stdin), out, err)
        runtime.__dict__["answerer"] = answerer
        code = run(runtime, list(arguments))
        return type(sleuth("--version"))(int(code), out.getvalue(), err.getvalue())

    return command


class ModelServer:
    """An OpenAI-compatible server, a SearXNG and a page, all scripted."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.text = "Smol is a small runtime [1]. It has 9 lines [1]."
        self.support = "yes"  # of a claim by its source
        self.pause = threading.Event()  # set by a test that wants the writing to go on
        self.pause.set()
        self.prompts: list[list[dict[str, str]]] = []
        server.expect_request("/search").respond_with_handler(self._search)
        server.expect_request("/v1/chat/completions").respond_with_handler(self._complete)
        page = "<html><title>Smol</title><body><article><p>Smol is a small runtime.</p><p>Its code has 1500 lines.</p>"
        server.expect_request("/smol").respond_with_data(page, content_type="text/html")

    @property
    def environ(self) -> dict[str, str]:
        return {
            "SEARXNG_URL": self.server.url_for(""),
            "SLEUTH_LLM_BASE_URL": self.server.url_for("/v1"),
            "SLEUTH_LLM_MODEL": "scripted",
            "SLEUTH_WEBSEARCH_FALLBACK": "searxng",
            "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
            "SLEUTH_FETCH_JINA": "false",
            "SLEUTH_FETCH_ARCHIVE": "false",
            "SLEUTH_FETCH_TIMEOUT": "120",  # for busy machines
        }

    def _search(self, request: Request) -> Response:
        hit = {"url": self.server.url_for("/smol"), "title": "Smol", "content": "Smol is a small runtime."}
        return Response(json.dumps({"results": [hit]}), content_type="application/json")

    def _complete(self, request: Request) -> Response:
        asked = json.loads(request.get_data())
        self.prompts.append(asked["messages"])
        if asked.get("stream"):
            return Response(self._stream(), content_type="text/event-stream")
        system = asked["messages"][0]["content"]
        reply: dict[str, Any] = {"summary": "Small.", "keyPoints": [], "relevanceScore": 0.9, "confidence": 0.9}
        if system.startswith("You prepare"):
            reply = {"search": True, "query": "smol", "facts": []}
        elif system.startswith("You judge"):
            reply = {"sufficient": True, "support": self.support}
        message = {"role": "assistant", "content": json.dumps(reply)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return Response(json.dumps({"choices": [choice]}), content_type="application/json")

    def _stream(self) -> Iterator[str]:
        half = len(self.text) // 2
        for piece in (self.text[:half], None, self.text[half:]):
            if piece is None:
                self.pause.wait(20)
            else:
                yield f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n"
        yield f"data: {json.dumps({'choices': [{'index': 0, 'delta': {}, 'finish_reason': 'stop'}]})}\n\n"
        yield "data: [DONE]\n\n"


@pytest.fixture
def model(lone_server: HTTPServer) -> Iterator[ModelServer]:
    served = ModelServer(lone_server)
    yield served
    served.pause.set()


@pytest.fixture
def interrupt() -> Callable[[Any], None]:
    """Send Ctrl-C to a program once it waits for input: readline misses a signal that comes just before."""

    def send(child: Any) -> None:
        status = Path(f"/proc/{child.pid}/stat")
        while status.exists() and status.read_text().rpartition(")")[2].split()[0] != "S":
            time.sleep(0.01)
        child.sendintr()

    return send
