"""What a question needs: a search or none, with which words, and for which facts."""

from sleuth.answers import replies
from sleuth.answers.llm.chat import Message, Model, Prompt
from sleuth.answers.llm.errors import (
    ModelAddressError,
    ModelBalanceError,
    ModelBrokenOffError,
    ModelError,
    ModelKeyError,
    ModelNotFoundError,
    ModelUnreachableError,
)
from sleuth.answers.llm.json_reply import ask_json
from sleuth.answers.prompt import earlier_turns, fill
from sleuth.answers.work import Work
from sleuth.base.i18n import tr
from sleuth_providers.records import Record

TEMPERATURE = 0.3
SECONDS = 20.0
HISTORY_SHARE = 4  # a quarter of the prompt
MAX_QUERY, MAX_FACTS, MAX_FACT = 200, 5, 120


class Analysis(Record):
    """What is to be done for a question."""

    search: bool
    query: str
    facts: tuple[str, ...] = ()


def analyse(work: Work, model: Model) -> Analysis:
    """Return what to do, as the model says in `auto`, else as the user does; raises what ails a model for good."""
    question = work.question
    if question.search == "off":
        return Analysis(search=False, query="")
    try:
        aim = _ask(work, model)
    except ModelError as problem:
        if _is_hopeless(problem):
            raise
        why = work.explain(problem)
        work.warn(tr("the question was searched for as it is, not analysed: {reason}", reason=why))
        return Analysis(search=True, query=question.text)
    return aim._replace(search=aim.search or question.search == "on")


def _ask(work: Work, model: Model) -> Analysis:
    prompt = Prompt(_messages(work), TEMPERATURE, json=True, timeout=SECONDS)
    reply, usage = ask_json(model, prompt)
    work.spend(usage)
    return Analysis(
        replies.flag_of(reply, "search", default=True),
        replies.text_of(reply, "query", MAX_QUERY) or work.question.text,
        replies.texts_of(reply, "facts", MAX_FACTS, MAX_FACT),
    )


def _messages(work: Work) -> tuple[Message, ...]:
    turns = earlier_turns(work.question.history, work.room // HISTORY_SHARE)
    history = "\n".join(f"{turn.role}: {turn.content}" for turn in turns)
    return fill("analyse", today=work.today, history=history, question=work.asked)


def _is_hopeless(problem: ModelError) -> bool:
    """Tell whether asking the model anything else would be a waste of time."""
    lasting = (ModelKeyError, ModelBalanceError, ModelNotFoundError, ModelAddressError, ModelUnreachableError)
    return isinstance(problem, lasting) and not isinstance(problem, ModelBrokenOffError)
