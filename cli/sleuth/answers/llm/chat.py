"""Plain frozen data: what is said to a model, what it says back, and the one interface answers know a model by."""

from collections.abc import Iterator
from typing import Protocol

from sleuth_providers.records import Record


class Message(Record):
    """One turn of a conversation."""

    role: str  # system | user | assistant
    content: str


class Prompt(Record):
    """One request to a model."""

    messages: tuple[Message, ...]
    temperature: float | None = None
    thinking: bool = False
    json: bool = False  # the reply must be one JSON object
    timeout: float = 60.0  # seconds for a whole reply; for a stream, between two pieces of it
    max_tokens: int = 0  # nought leaves it to the model


class Usage(Record):
    """What requests to models took."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0  # reasoning included
    reasoning_tokens: int = 0
    cached_tokens: int = 0  # of the prompt, at the server
    cost: float = 0.0  # US dollars, estimated
    estimated: bool = False  # the server did not count; the tokens are a guess

    def plus(self, other: "Usage") -> "Usage":
        """Return both together."""
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cost + other.cost,
            self.estimated or other.estimated,
        )


class Completion(Record):
    """A whole reply."""

    text: str
    reasoning: str = ""
    finish: str = ""  # stop | length | content_filter | …
    usage: Usage = Usage()


class Piece(Record):
    """A part of a reply as it streams; the last one carries `finish` and `usage`."""

    text: str = ""
    reasoning: str = ""
    finish: str = ""
    usage: Usage | None = None


class Model(Protocol):
    """A model that can be asked."""

    @property
    def name(self) -> str:
        """Return what the server calls it."""

    def complete(self, prompt: Prompt) -> Completion:
        """Return the whole reply, or raise the ModelError that says why there is none."""

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it comes; raises ModelError, also in the middle."""


class Models(Record):
    """The models of one answer."""

    writer: Model  # analyses, extracts, writes
    reasoner: Model  # reflects
