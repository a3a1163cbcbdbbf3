"""The first step: does the question need a search, with which query, and for which facts?"""

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
from sleuth.answers.llm.json_reply import ask_json, bool_field, text_field, texts_field
from sleuth.answers.prompt import earlier_turns, fill
from sleuth.answers.research import Research
from sleuth.base.i18n import tr
from sleuth_providers.records import Record

TEMPERATURE = 0.3
TIMEOUT_S = 20.0
MAX_HISTORY_SHARE = 4  # earlier messages take at most a quarter of the prompt
MAX_QUERY_CHARS, MAX_FACTS, MAX_FACT_CHARS = 200, 5, 120
# Errors that every further call to the model would meet as well.
PERMANENT = (ModelKeyError, ModelBalanceError, ModelNotFoundError, ModelAddressError, ModelUnreachableError)


class Analysis(Record):
    """What a question needs."""

    search: bool
    query: str
    facts: tuple[str, ...] = ()


def analyse(research: Research, model: Model) -> Analysis:
    """Return what the question needs; raises errors that make the model unusable."""
    question = research.question
    if question.search == "off":
        return Analysis(search=False, query="")
    try:
        reply, usage = ask_json(model, Prompt(_messages(research), TEMPERATURE, json=True, timeout=TIMEOUT_S))
    except ModelError as error:
        if isinstance(error, PERMANENT) and not isinstance(error, ModelBrokenOffError):
            raise
        reason = research.explain(error)
        research.warn(tr("searching for the question itself; the model could not analyse it: {reason}", reason=reason))
        return Analysis(search=True, query=question.text)
    research.add_usage(usage)
    return Analysis(
        bool_field(reply, "search", default=True) or question.search == "on",
        text_field(reply, "query", MAX_QUERY_CHARS) or question.text,
        texts_field(reply, "facts", MAX_FACTS, MAX_FACT_CHARS),
    )


def _messages(research: Research) -> tuple[Message, ...]:
    turns = earlier_turns(research.question.history, research.max_chars // MAX_HISTORY_SHARE)
    history = "\n".join(f"{turn.role}: {turn.content}" for turn in turns)
    return fill("analyse", today=research.today, history=history, question=research.question_text)
