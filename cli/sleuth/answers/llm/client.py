"""A model behind an OpenAI-compatible endpoint: asked, read as it answers, asked again where that can help."""

import json
import random
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

from sleuth import __version__
from sleuth.answers.llm.address import chat_address, place_of
from sleuth.answers.llm.chat import Completion, Piece, Prompt, Usage
from sleuth.answers.llm.connection import ReadTimeouts, post
from sleuth.answers.llm.dialect import dialect_of, make_body, refused_field
from sleuth.answers.llm.errors import (
    ModelBrokenOffError,
    ModelError,
    ModelRequestError,
    ModelResponseError,
    ModelTimeoutError,
    ModelUnreachableError,
)
from sleuth.answers.llm.http_errors import Asked
from sleuth.answers.llm.prices import Price, estimate
from sleuth.answers.llm.redaction import redacted
from sleuth.answers.llm.reply import part_unopened
from sleuth.answers.llm.stream import ReplyStream
from sleuth.base import logs
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BrokenOffError,
    DeadlineError,
    ProviderError,
    UnreachableError,
)
from sleuth_providers.net.policy import user_agent
from sleuth_providers.records import Record

AGENT = user_agent(__version__)
ATTEMPTS = 3
KINDS: tuple[tuple[type[ProviderError], type[ModelError]], ...] = (
    (BrokenOffError, ModelBrokenOffError),
    (UnreachableError, ModelUnreachableError),
    (BadRequestError, ModelRequestError),
    (BadResponseError, ModelResponseError),
)


class ModelEndpoint(Record):
    """A model as the settings name it."""

    base_url: str
    model: str
    key: str = ""
    price: Price = Price()


class ChatModel:
    """One model that can be asked, from several threads too."""

    def __init__(self, endpoint: ModelEndpoint, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint, self.sleep = endpoint, sleep
        self.asked = Asked(place_of(endpoint.base_url), endpoint.model, chat_address(endpoint.base_url))
        self.dialect = dialect_of(endpoint.base_url, endpoint.model)
        self._unwanted: set[str] = set()  # fields the server refused once

    @property
    def name(self) -> str:
        """Return what the server calls it."""
        return self.endpoint.model

    def complete(self, prompt: Prompt) -> Completion:
        """Return the whole reply within the prompt's time."""
        pieces = list(redacted(self.endpoint.key, self._ask(prompt, streamed=False)))
        text, reasoning = "".join(piece.text for piece in pieces), "".join(piece.reasoning for piece in pieces)
        if not reasoning:
            text, reasoning = part_unopened(text)
        return Completion(text, reasoning, pieces[-1].finish, pieces[-1].usage or Usage())

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it comes; no piece may take longer than the prompt's time."""
        return redacted(self.endpoint.key, self._ask(prompt, streamed=True))

    def _ask(self, prompt: Prompt, streamed: bool) -> Generator[Piece, None, None]:
        """Yield the pieces of a reply; as long as none has come, what may pass is tried again."""
        patience = ReadTimeouts(prompt.timeout)
        attempt = 1
        while True:
            body = self._body(prompt, streamed)
            begun = False
            try:
                with closing(self._attempt(prompt, body, patience)) as pieces:
                    for piece in pieces:
                        begun = True
                        yield piece
                return
            except ModelError as error:
                if begun:
                    raise
                field = refused_field(error.detail, body) if error.code == "INVALID_REQUEST" else ""
                if field:
                    logs.log("%s refuses %s; asked again without", self.asked.server, field)
                    self._unwanted.add(field)
                    continue
                pause = _pause(error, attempt)
                if attempt == ATTEMPTS or not error.retryable or time.monotonic() + pause >= patience.until:
                    raise
                logs.log("%s: %s; asked again in %.1f s", self.asked.server, error, pause)
            attempt += 1
            self.sleep(pause)

    def _body(self, prompt: Prompt, streamed: bool) -> dict[str, Any]:
        body = make_body(prompt, self.endpoint.model, self.dialect, streamed)
        return {field: value for field, value in body.items() if field not in self._unwanted}

    def _attempt(self, prompt: Prompt, body: dict[str, Any], patience: ReadTimeouts) -> Generator[Piece, None, None]:
        """Ask once and yield the pieces of the reply; the last one has how it ended and what it took."""
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": AGENT}
        if self.endpoint.key:
            headers["Authorization"] = f"Bearer {self.endpoint.key}"
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        reading = ReplyStream(self.asked)
        lost: ProviderError = BrokenOffError("the stream ended without an end")
        try:
            with post(self.asked.address, headers, data, patience) as response:
                yield from reading.pieces(response, patience, streamed="stream" in body)
        except ProviderError as problem:
            lost = problem
        yield from reading.rest()
        if not reading.finish:
            raise self._error(lost, patience) from lost
        usage = reading.usage or estimate(prompt, reading.size)
        usage = usage._replace(cost=self.endpoint.price.cost(usage))
        logs.log("%s: %s, %s tokens", self.asked.server, reading.finish, usage.prompt_tokens + usage.completion_tokens)
        yield Piece(finish=reading.finish, usage=usage)

    def _error(self, problem: ProviderError, patience: ReadTimeouts) -> ModelError:
        """Return the error of a model that one of the connection means."""
        if isinstance(problem, DeadlineError):
            return ModelTimeoutError(server=self.asked.server, seconds=patience.seconds)
        kind = next((ours for theirs, ours in KINDS if isinstance(problem, theirs)), ModelError)
        return kind(server=self.asked.server, detail=problem.detail)


def _pause(error: ModelError, attempt: int) -> float:
    if error.retry_after is not None:
        return error.retry_after
    return 0.5 * 2.0 ** (attempt - 1) * random.uniform(0.5, 1.0)
