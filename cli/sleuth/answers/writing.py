"""The answer, streamed from the model."""

from collections.abc import Callable

from sleuth.answers.citations import targets
from sleuth.answers.llm.chat import Model, Prompt
from sleuth.answers.llm.endpoint import timeout_setting
from sleuth.answers.llm.errors import ContextTooLongError, ModelError
from sleuth.answers.markdown import safe_markdown
from sleuth.answers.prompt import earlier_turns, fill, left_for, show, size
from sleuth.answers.research import Research
from sleuth.base.errors import SleuthError
from sleuth.base.i18n import tr
from sleuth.base.text import shorten, strip_controls

TEMPERATURE = 0.3  # low: the answer should say what the sources say
MAX_HISTORY_SHARE = 4  # earlier messages take at most a quarter of the prompt
CONTEXT_CHARS = 12  # before a piece, to recognise characters and control sequences that span pieces
MAX_ANSWER_CHARS = 30_000  # a model that writes more repeats itself
MAX_QUERY_CHARS = 500  # of the question, to select passages by

Write = Callable[[str], None]


class WritingError(SleuthError):
    """There is no model to write with, or it wrote nothing."""

    code = "API_KEY_MISSING"


def write_answer(research: Research, model: Model, write: Write) -> str:
    """Return the answer and pass each piece to `write`; a prompt that is too long is retried at half the size."""
    try:
        return stream(research, model, answer_prompt(research, research.max_chars), write)
    except ContextTooLongError:
        text = stream(research, model, answer_prompt(research, research.max_chars // 2), write)
        research.warn(tr("the prompt was too long for the model; half of the findings were left out"))
        return text


def answer_prompt(research: Research, room: int) -> Prompt:
    """Return the prompt for an answer, of at most `room` characters."""
    turns = earlier_turns(research.question.history, room // MAX_HISTORY_SHARE)
    places = {"today": research.today, "question": research.question_text}
    if not research.rounds:
        system, user = fill("own_knowledge", **places)
    elif not research.sources:
        system, user = fill("nothing_found", why=research.rounds[-1].outcome, **places)
    else:
        places |= {"code": research.fence_code, "missing": research.missing}
        left = left_for("found", "answer", room - size(turns), **places)
        query = " ".join([shorten(research.question_text, MAX_QUERY_CHARS), *(one.query for one in research.rounds)])
        system, user = fill("answer", found=show(research, research.ranked(), left, query), **places)
    return Prompt((system, *turns, user), TEMPERATURE, timeout=research.timeout("write"))


def stream(research: Research, model: Model, prompt: Prompt, write: Write) -> str:
    """Return what the model writes and pass each piece to `write`; a reply that is cut off is kept."""
    text = finish = ""
    try:
        for piece in model.stream(prompt):
            context = text[-CONTEXT_CHARS:]
            new = strip_controls(context + piece.text)[len(strip_controls(context)) :]
            if new:
                text += new
                write(new)
            finish = piece.finish or finish
            if len(text) > MAX_ANSWER_CHARS:
                finish = "length"
                break
            research.add_usage(piece.usage)
    except ModelError as error:
        error.values["setting"] = timeout_setting(research.settings, "write").key  # for the hint of a timeout
        if not text:
            raise
        research.warn_of("INCOMPLETE", tr("the text is incomplete: {reason}", reason=research.explain(error)))
    if not text.strip():
        raise WritingError("the model {model} wrote nothing", "try again", code="BAD_RESPONSE", model=model.name)
    if finish == "length":
        research.warn_of("INCOMPLETE", tr("the text is incomplete: the model reached its maximum reply length"))
    elif finish == "content_filter":
        research.warn_of("INCOMPLETE", tr("the text is incomplete: stopped by the server's content filter"))
    return safe_markdown(text, targets(research.sources))
