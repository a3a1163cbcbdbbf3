"""The answer, written by the model from what was found, piece by piece."""

from collections.abc import Callable

from sleuth.answers.context import show
from sleuth.answers.errors import UnwrittenError
from sleuth.answers.findings import Findings
from sleuth.answers.llm.chat import Model, Prompt, Usage
from sleuth.answers.llm.errors import ContextTooLongError, ModelError
from sleuth.answers.prompt import earlier_turns, fill, left_for, size
from sleuth.answers.work import Work
from sleuth.base.i18n import tr
from sleuth.base.text import shorten, strip_controls

TEMPERATURE = 0.3  # low: the answer is to say what the sources say, in fluent sentences
SECONDS = 60.0  # between two pieces
HISTORY_SHARE = 4  # a quarter of the prompt
CONTEXT = 12  # characters before a piece that decide whether it does harm
LONGEST = 30_000  # characters of an answer; a model that writes more goes round in circles
MAX_QUERY = 500  # characters of the question that passages are chosen by

Write = Callable[[str], None]


def write_answer(work: Work, model: Model, found: Findings, write: Write) -> str:
    """Return the answer as the model writes it; raises ModelError when it writes nothing."""
    try:
        return stream(work, model, answer_prompt(work, found, work.room), write)
    except ContextTooLongError:
        work.warn(tr("the model takes no prompt that long; half of what was found was left out"))
        return stream(work, model, answer_prompt(work, found, work.room // 2), write)


def answer_prompt(work: Work, found: Findings, room: int) -> Prompt:
    """Return the prompt for an answer, in so many characters at the most."""
    turns = earlier_turns(work.question.history, room // HISTORY_SHARE)
    places = {"today": work.today, "question": work.asked}
    if not found.rounds:
        system, user = fill("own_knowledge", **places)
    elif not found.sources:
        system, user = fill("nothing_found", why=found.rounds[-1].outcome, **places)
    else:
        places |= {"code": work.code, "missing": found.missing}
        left = left_for("found", "answer", room - size(turns), **places)
        query = " ".join([shorten(work.asked, MAX_QUERY), *(one.query for one in found.rounds)])
        shown = show(work, found.ranked(), found.provider, left, query)
        system, user = fill("answer", found=shown, **places)
    return Prompt((system, *turns, user), TEMPERATURE, timeout=SECONDS)


def stream(work: Work, model: Model, prompt: Prompt, write: Write) -> str:
    """Return what the model writes, handing every piece on; what breaks off in the middle is kept."""
    pieces: list[str] = []
    size, finish, before = 0, "", ""
    try:
        for piece in model.stream(prompt):
            text = strip_controls(before + piece.text)[len(before) :]  # marks may be piled up over several pieces
            before = (before + text)[-CONTEXT:]
            if text:
                pieces.append(text)
                write(text)
            finish = piece.finish or finish
            size += len(text)
            if size > LONGEST:
                finish = "length"
                break
            work.spend(piece.usage or Usage())
    except ModelError as problem:
        if not pieces:
            raise
        work.warn(tr("the answer breaks off: {reason}", reason=work.explain(problem)))
    if not "".join(pieces).strip():
        raise UnwrittenError("the model {model} wrote nothing", "try again", code="BAD_RESPONSE", model=model.name)
    if finish == "length":
        work.warn(tr("the answer breaks off: the model has reached its longest reply"))
    elif finish == "content_filter":
        work.warn(tr("the answer breaks off: a filter of the model's server stopped it"))
    return "".join(pieces)
