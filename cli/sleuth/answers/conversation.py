"""A conversation: its questions and answers, and the switch for searching the web."""

from sleuth.answers.answer import Answer
from sleuth.answers.llm.chat import Message
from sleuth.answers.presentation import as_text
from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.base.text import clean, escape_markdown
from sleuth_providers.records import Record

AGENT, CHAT = "agent", "chat"
MODES = (CHAT, AGENT)
POSITIONS = ("on", "off", "auto")
MAX_HISTORY_TURNS = 20
MAX_HISTORY_CHARS = 40_000


class Switch(Record):
    """Whether to search: in chat mode the user decides, in agent mode the model.

    In agent mode the switch is disabled but keeps its position for the return to chat mode.
    """

    mode: str = AGENT
    position: str = "off"  # on | off

    @property
    def search(self) -> str:
        """Return the search mode of the next question: auto, on or off."""
        return "auto" if self.is_disabled else self.position

    @property
    def is_disabled(self) -> bool:
        """Tell whether the model decides."""
        return self.mode == AGENT

    def enter(self, mode: str) -> "Switch":
        """Return the switch in another mode, with its position kept."""
        if mode not in MODES:
            raise RequestError("unknown mode {name!r}", "use /mode chat or /mode agent", name=mode)
        return self._replace(mode=mode)

    def set(self, position: str) -> "Switch":
        """Return the switch in another position; `auto` enters agent mode, which only `enter` leaves."""
        if position not in POSITIONS:
            raise RequestError("invalid /search {name!r}", "use /search on, /search off or /search auto", name=position)
        if position == "auto":
            return self.enter(AGENT)
        if self.is_disabled:
            raise RequestError("in agent mode the model decides whether to search", "to decide: /mode chat")
        return self._replace(position=position)

    @property
    def state(self) -> str:
        """Return the state for display."""
        position = tr("on") if self.position == "on" else tr("off")
        if not self.is_disabled:
            return position
        return tr("{position} (in agent mode the model decides)", position=position)


def switch_for(search: str) -> Switch:
    """Return the initial switch of a conversation."""
    return Switch(AGENT) if search == "auto" else Switch(CHAT, search)


class Conversation(Record):
    """The answers so far, each with its question."""

    answers: tuple[Answer, ...] = ()

    def add(self, answer: Answer) -> "Conversation":
        """Return the conversation with one more answer."""
        return Conversation((*self.answers, answer))

    @property
    def history(self) -> tuple[Message, ...]:
        """Return the newest questions and answers as messages for the model, within the limits."""
        kept: list[Message] = []
        room = MAX_HISTORY_CHARS
        for answer in reversed(self.answers[-MAX_HISTORY_TURNS:]):
            room -= len(answer.question) + len(answer.text)
            if room < 0:
                break
            kept = [Message("user", answer.question), Message("assistant", answer.text), *kept]
        return tuple(kept)

    def as_markdown(self) -> str:
        """Return the conversation, each answer with its own references."""
        return "\n".join(
            f"## {escape_markdown(clean(answer.question))}\n\n{as_text(answer, 'markdown', level=3)}"
            for answer in self.answers
        )
