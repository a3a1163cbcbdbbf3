"""A client for chat models behind an OpenAI-compatible endpoint, with retries."""

import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, closing
from typing import Any

from sleuth import __version__
from sleuth.answers.llm.chat import Piece, Prompt
from sleuth.answers.llm.dialect import dialect_of, make_body, rejected_field
from sleuth.answers.llm.endpoint import chat_url, server_name
from sleuth.answers.llm.errors import ModelError, RequestTarget, connection_error
from sleuth.answers.llm.prices import Price, estimate_usage
from sleuth.answers.llm.stream import ReadTimeouts, ReplyStream, redacted, split_unopened
from sleuth.base import logs, tracing
from sleuth_providers.errors import BrokenOffError, ProviderError
from sleuth_providers.exchange import secrets_in
from sleuth_providers.net.client import retry_pause, system_proxy
from sleuth_providers.net.httpx_transport import Deadline, stream
from sleuth_providers.net.identity import user_agent
from sleuth_providers.records import Record

USER_AGENT = user_agent(__version__)
CONNECT_TIMEOUT_S = 10.0  # TLS included
MAX_ATTEMPTS = 3
RETRY_PAUSE_S = 0.5  # at most, before the first retry; doubles with each


class ModelEndpoint(Record):
    """Where a model is, its key and its price."""

    base_url: str
    model: str
    key: str = ""
    price: Price = Price()


class ChatModel:
    """A model at an endpoint; safe to use from several threads."""

    def __init__(self, endpoint: ModelEndpoint, sleep: Callable[[float], None] = time.sleep) -> None:
        self.endpoint, self.sleep = endpoint, sleep
        self.target = RequestTarget(server_name(endpoint.base_url), endpoint.model, chat_url(endpoint.base_url))
        self.dialect = dialect_of(endpoint.base_url, endpoint.model)
        self._rejected: set[str] = set()  # fields the server does not accept

    @property
    def name(self) -> str:
        """Return the server's name for the model."""
        return self.endpoint.model

    def complete(self, prompt: Prompt) -> Piece:
        """Return the complete reply within the prompt's timeout."""
        pieces = list(self._redacted(self._send(prompt, streamed=False)))
        text, reasoning = "".join(piece.text for piece in pieces), "".join(piece.reasoning for piece in pieces)
        if not reasoning:
            text, reasoning = split_unopened(text)
        return pieces[-1]._replace(text=text, reasoning=reasoning)

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it arrives; the prompt's timeout applies between two events."""
        return self._redacted(self._send(prompt, streamed=True))

    def _redacted(self, pieces: Generator[Piece, None, None]) -> Generator[Piece, None, None]:
        for secret in (self.endpoint.key, *secrets_in(self.endpoint.base_url)):
            pieces = redacted(secret, pieces)
        return pieces

    def _send(self, prompt: Prompt, streamed: bool) -> Generator[Piece, None, None]:
        """Yield the pieces of a reply, retrying transient errors until the first piece has arrived."""
        timeouts = ReadTimeouts(prompt.timeout)
        attempt = 1
        while True:
            body = self._body(prompt, streamed)
            started = False
            try:
                with self._span() as span, closing(self._attempt(prompt, body, timeouts)) as pieces:
                    for piece in pieces:
                        started = True
                        if piece.finish:
                            span.set_attributes({"gen_ai.usage.input_tokens": piece.usage.prompt_tokens})
                            span.set_attributes({"gen_ai.usage.output_tokens": piece.usage.completion_tokens})
                        yield piece
                return
            except ModelError as error:
                if started:
                    raise
                field = rejected_field(error.detail, body) if error.code == "INVALID_REQUEST" else ""
                if field:
                    logs.log("%s rejects %s; retrying without it", self.target.server, field)
                    self._rejected.add(field)
                    continue
                pause = retry_pause(error.retry_after, attempt, RETRY_PAUSE_S)
                if attempt == MAX_ATTEMPTS or not error.retryable or time.monotonic() + pause >= timeouts.until:
                    raise
                # Its text may quote a private question.
                logs.log("%s: %s; retrying in %.1f s", self.target.server, (error.code, error.status), pause)
            attempt += 1
            self.sleep(pause)

    def _span(self) -> AbstractContextManager[Any]:
        operation = {"gen_ai.operation.name": "chat", "gen_ai.request.model": self.name}
        return tracing.span("model call", operation | {"server.address": self.target.server}, client=True)

    def _body(self, prompt: Prompt, streamed: bool) -> dict[str, Any]:
        body = make_body(prompt, self.endpoint.model, self.dialect, streamed)
        return {field: value for field, value in body.items() if field not in self._rejected}

    def _attempt(self, prompt: Prompt, body: dict[str, Any], timeouts: ReadTimeouts) -> Generator[Piece, None, None]:
        """Send the request once and yield the reply; the last piece has the finish reason and usage."""
        headers = {
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": USER_AGENT,
            "Connection": "close",
        }
        if self.endpoint.key:
            headers["Authorization"] = f"Bearer {self.endpoint.key}"
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        deadline = Deadline(lambda: timeouts.until, CONNECT_TIMEOUT_S)
        reply = ReplyStream(self.target)
        lost: ProviderError = BrokenOffError("the stream ended early")
        try:
            # Redirects are not followed, so that the key is sent to the configured host only.
            with stream("POST", self.target.url, headers, data, deadline, system_proxy(self.target.url)) as response:
                yield from reply.pieces(response, timeouts, streamed="stream" in body)
        except ProviderError as error:
            lost = error
        yield from reply.rest()
        if not reply.finish:
            raise connection_error(self.target, lost, timeouts.seconds) from lost
        usage = reply.usage if reply.usage.calls else estimate_usage(prompt, reply.size)
        usage = usage._replace(cost=self.endpoint.price.cost(usage))
        logs.log("%s: %s, %s tokens", self.target.server, reply.finish, usage.prompt_tokens + usage.completion_tokens)
        yield Piece(finish=reply.finish, usage=usage)
