"""A conversation: its turns, what the next question knows of them, and the switch that says whether to search."""

from sleuth.answers.answer import Answer
from sleuth.answers.llm.chat import Message
from sleuth.answers.presentation import as_text
from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.render.markdown import escape
from sleuth_providers.records import Record

AGENT, CHAT = "agent", "chat"
MODES = (CHAT, AGENT)
POSITIONS = ("on", "off", "auto")
MOST_TURNS = 20  # that the next question knows of
MOST_CHARACTERS = 40_000  # of them all together


class Switch(Record):
    """Whether the web is searched: in chat mode as the switch says, in agent mode as the model decides.

    In agent mode the switch is disabled and keeps its position, so that leaving the mode restores it.
    """

    mode: str = AGENT
    position: str = "on"  # on | off

    @property
    def search(self) -> str:
        """Return what a question is told: auto, on or off."""
        return "auto" if self.is_disabled else self.position

    @property
    def is_disabled(self) -> bool:
        """Tell whether the switch has no say."""
        return self.mode == AGENT

    def enter(self, mode: str) -> "Switch":
        """Return the switch in another mode, in the position it had."""
        if mode not in MODES:
            raise RequestError("there is no mode {name!r}", "/mode chat or /mode agent", name=mode)
        return self._replace(mode=mode)

    def turn(self, position: str) -> "Switch":
        """Return the switch turned; `auto` gives it to the model, and only leaving agent mode takes it back."""
        if position not in POSITIONS:
            raise RequestError("the switch has no position {name!r}", "/search on, off or auto", name=position)
        if position == "auto":
            return self.enter(AGENT)
        if self.is_disabled:
            raise RequestError("the switch is disabled: in agent mode the model decides", "take it back: /mode chat")
        return self._replace(position=position)

    @property
    def state(self) -> str:
        """Return how the switch is shown."""
        position = tr("on") if self.position == "on" else tr("off")
        if not self.is_disabled:
            return position
        return tr("{position}, disabled: in agent mode the model decides", position=position)


def switch_for(search: str) -> Switch:
    """Return the switch with which a conversation begins."""
    return Switch(AGENT) if search == "auto" else Switch(CHAT, search)


class Turn(Record):
    """A question and its answer."""

    question: str
    answer: Answer


class Conversation(Record):
    """What was said so far."""

    turns: tuple[Turn, ...] = ()

    def add(self, answer: Answer) -> "Conversation":
        """Return the conversation with one more turn."""
        return Conversation((*self.turns, Turn(answer.question, answer)))

    @property
    def history(self) -> tuple[Message, ...]:
        """Return the newest turns as a model takes them; whole turns, and no more than it has use for."""
        kept: list[Message] = []
        room = MOST_CHARACTERS
        for turn in reversed(self.turns[-MOST_TURNS:]):
            room -= len(turn.question) + len(turn.answer.text)
            if room < 0:
                break
            kept = [Message("user", turn.question), Message("assistant", turn.answer.text), *kept]
        return tuple(kept)

    def as_markdown(self) -> str:
        """Return all of it, each answer with its own references."""
        return "\n".join(
            f"## {escape(clean(turn.question))}\n\n{as_text(turn.answer, 'markdown', level=3)}" for turn in self.turns
        )
