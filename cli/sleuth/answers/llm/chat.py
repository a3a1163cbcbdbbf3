"""The data of a model call, and the interface of a model."""

from collections.abc import Iterator
from operator import add
from typing import Protocol

from sleuth_providers.records import Record


class Message(Record):
    """One message of a conversation."""

    role: str  # system | user | assistant
    content: str


class Prompt(Record):
    """One request to a model."""

    messages: tuple[Message, ...]
    temperature: float | None = None
    thinking: bool = False
    json: bool = False  # the reply must be one JSON object
    timeout: float = 60.0  # seconds for a whole reply; in a stream, between two events
    max_tokens: int = 0  # 0: no limit


class Usage(Record):
    """Tokens and cost of model calls."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0  # including reasoning
    reasoning_tokens: int = 0
    cached_tokens: int = 0  # prompt tokens found in the server's cache
    cost: float = 0.0  # US dollars, estimated
    estimated: bool = False  # guessed: the server reported no usage

    def plus(self, other: "Usage") -> "Usage":
        """Return the sum of both."""
        return Usage._make([*map(add, self[:-1], other[:-1]), self.estimated or other.estimated])


class Piece(Record):
    """A complete reply, or a part of a streamed one; the last part carries `finish` and `usage`."""

    text: str = ""
    reasoning: str = ""
    finish: str = ""  # stop | length | content_filter | …
    usage: Usage = Usage()


class Model(Protocol):
    """A language model."""

    @property
    def name(self) -> str:
        """Return the server's name for the model."""

    def complete(self, prompt: Prompt) -> Piece:
        """Return the complete reply; raises ModelError."""

    def stream(self, prompt: Prompt) -> Iterator[Piece]:
        """Yield the reply as it arrives; may raise ModelError at any point."""


class Models(Record):
    """The models behind an answer."""

    writer: Model  # analyses the question, takes notes, writes
    reasoner: Model  # judges whether the findings suffice
