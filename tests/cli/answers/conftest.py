"""A small web behind a SearXNG, a scripted model, and an answerer."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sleuth.answers.answer import Answer, ProgressEvent, Question
from sleuth.answers.llm.chat import Models, Piece, Prompt, Usage
from sleuth.answers.pipeline import Answerer
from sleuth.runtime import Runtime

STEPS = {
    "You prepare a web search": "analyse",
    "You take notes": "extract",
    "You judge": "reflect",
    "You answer a question from search results": "write",
    "You answer a question from your own knowledge": "write_without_results",
    "You answer from your own knowledge": "write_without_search",
    "You summarise": "summarise",
}
COST = Usage(calls=1, prompt_tokens=100, completion_tokens=10)


def step_of(prompt: Prompt) -> str:
    return next(step for words, step in STEPS.items() if prompt.messages[0].content.startswith(words))


class ScriptedModel:
    """Replies to each step as scripted: a text, a dictionary sent as JSON, an error, or a list of those in turn.

    Answers are streamed word by word, or in pieces of `piece_size` characters.
    """

    name = "scripted"

    def __init__(self, **script: Any) -> None:
        self.script = {
            "analyse": {"search": True, "query": "tokio timers", "facts": ["precision"]},
            "extract": {"summary": "Timers.", "keyPoints": ["1 ms"], "relevanceScore": 0.9, "confidence": 0.8},
            "reflect": {"sufficient": True},
            "write": "Its timers have a precision of 1 millisecond [1].",
        } | script
        self.asked: list[tuple[str, Prompt]] = []

    def reply(self, prompt: Prompt) -> str:
        step = step_of(prompt)
        self.asked.append((step, prompt))
        reply = self.script[step]
        if isinstance(reply, list):
            reply = reply.pop(0) if len(reply) > 1 else reply[0]
        if callable(reply):
            reply = reply(prompt)
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, str) else json.dumps(reply)

    def complete(self, prompt: Prompt) -> Piece:
        return Piece(self.reply(prompt), finish="stop", usage=COST)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        text, size = self.reply(prompt), self.script.get("piece_size")
        words = [f"{word} " for word in text.split(" ")]
        for piece in [text[at : at + size] for at in range(0, len(text), size)] if size else words:
            if piece == "BREAK ":
                raise self.script["breaks"]
            yield Piece(piece)
        yield Piece(finish=self.script.get("finish", "stop"), usage=COST)

    def prompts(self, step: str) -> list[Prompt]:
        return [prompt for name, prompt in self.asked if name == step]

    @property
    def steps(self) -> list[str]:
        return [name for name, _ in self.asked]


@pytest.fixture
def model() -> type[ScriptedModel]:
    return ScriptedModel


class Web:
    """A search engine with results by query, and their pages."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.results: dict[str, list[str]] = {}
        self.queries: list[str] = []
        self.status = 200
        server.expect_request("/search").respond_with_handler(self._search)

    def _search(self, request: Request) -> Response:
        self.queries.append(request.args["q"])
        names = self.results.get(request.args["q"], self.results.get("*", []))
        hits = [{"url": self.url(name), "title": f"About {name}", "content": f"A snippet on {name}."} for name in names]
        return Response(json.dumps({"results": hits}), self.status, content_type="application/json")

    def url(self, name: str) -> str:
        return self.server.url_for(f"/{name}")

    def page(self, name: str, *paragraphs: str) -> None:
        text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
        page = f"<html><title>About {name}</title><body><article><h1>About {name}</h1>{text}</article></body></html>"
        self.server.expect_request(f"/{name}").respond_with_data(page, content_type="text/html; charset=utf-8")


TOKIO = (
    "Tokio is the most used runtime for Rust. It schedules tasks on a few threads, and steals work where one idles.",
    "Its timers have a precision of 1 millisecond. Sleeping for less than that rounds up to the next tick of a wheel.",
    "Releases come every month, and every few of them are supported for a year with fixes for what was found.",
)
SMOL = (
    "Smol is a small runtime. It schedules many tasks on a few threads as well, and its code fits in one evening.",
    "Its timers are as precise as the system allows, which is mostly well below 1 millisecond on a desktop machine.",
    "It can run crates that were made for Tokio through a bridge, at the price of a second set of threads.",
)


@pytest.fixture
def web(httpserver: HTTPServer) -> Web:
    found = Web(httpserver)
    found.page("tokio", *TOKIO)
    found.page("smol", *SMOL)
    found.results["*"] = ["tokio", "smol"]
    return found


class Answered(NamedTuple):
    """An answer with its events and streamed text."""

    answer: Answer
    events: list[ProgressEvent]
    written: str


Ask = Callable[..., Answered]


@pytest.fixture
def runtime(web: Web, tmp_path: Path) -> Iterator[Runtime]:
    environ = {
        "SLEUTH_HOME": str(tmp_path / "home"),
        "SEARXNG_URL": web.server.url_for(""),
        "SLEUTH_WEBSEARCH_FALLBACK": "searxng",
        "SLEUTH_WEBSEARCH_RETRIES": "1",
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "SLEUTH_FETCH_JINA": "false",
        "SLEUTH_FETCH_ARCHIVE": "false",
        "SLEUTH_FETCH_TIMEOUT": "120",  # for busy machines
        "LANG": "C.UTF-8",
        "NO_PROXY": "*",
    }
    made = Runtime(environ)
    yield made
    made.close()


@pytest.fixture
def ask(runtime: Runtime) -> Ask:
    """Ask a question of a scripted model, or of none."""

    def ask(model: Any, text: str = "How precise are Tokio's timers?", **how: Any) -> Answered:
        models = Models(model, model) if model else None
        answerer = Answerer(runtime.settings, runtime.searcher, runtime.content_reader, models)
        events: list[ProgressEvent] = []
        written: list[str] = []
        answer = answerer.answer(Question(text, **how), events.append, written.append)
        return Answered(answer, events, "".join(written))

    return ask
