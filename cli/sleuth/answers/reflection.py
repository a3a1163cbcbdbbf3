"""After each round: are the findings sufficient, and if not, what to search for next?"""

from functools import partial

from sleuth.answers.analysis import MAX_QUERY_CHARS, Analysis
from sleuth.answers.llm.chat import Model, Prompt
from sleuth.answers.llm.json_reply import ask_json, bool_field, text_field
from sleuth.answers.prompt import as_list, fill, left_for, show
from sleuth.answers.research import Research
from sleuth.answers.sanitize import without_citations
from sleuth.base.i18n import tr, trn
from sleuth_providers.records import Record
from sleuth_providers.threads import run_parallel

TEMPERATURE = 0.3  # not sent to models that think
TIMEOUT_S = 5.0
MAX_MISSING_CHARS = 300
MAX_QUERIES = 5  # earlier queries in the prompt
NO_RESULTS = "[search results — none]"


class Reflection(Record):
    """The verdict on what was found so far."""

    sufficient: bool = True
    missing: str = ""
    query: str = ""


def reflect(research: Research, model: Model, analysis: Analysis) -> Reflection:
    """Have the model judge the findings; if it fails, they count as sufficient."""
    count = len(research.sources)
    message = trn("Judging whether {count} source is enough", "Judging whether {count} sources are enough", count)
    research.report("web_search_reflecting", message, sources=count)
    job = partial(ask_json, model, reflection_prompt(research, analysis))
    ((_, result),) = run_parallel([job], TIMEOUT_S)
    if isinstance(result, Exception):
        reason = research.explain(result)
        research.warn(tr("stopping after this round; the model could not judge the findings: {reason}", reason=reason))
        return Reflection()
    reply, usage = result
    research.add_usage(usage)
    verdict = Reflection(
        bool_field(reply, "sufficient", default=True),
        without_citations(text_field(reply, "missing", MAX_MISSING_CHARS)),
        text_field(reply, "query", MAX_QUERY_CHARS),
    )
    missing = "" if verdict.sufficient else verdict.missing
    research.rounds[-1] = research.rounds[-1]._replace(sufficient=verdict.sufficient, missing=missing)
    return verdict


def reflection_prompt(research: Research, analysis: Analysis) -> Prompt:
    """Return the prompt that asks whether the findings are sufficient."""
    places = {
        "today": research.today,
        "question": research.question_text,
        "facts": as_list(analysis.facts),
        "queries": as_list(one.query for one in research.rounds[-MAX_QUERIES:]),
        "code": research.fence_code,
    }
    room = research.max_chars * 9 // 10  # a second request quotes the first reply
    shown = show(research, research.ranked(), left_for("found", "reflect", room, **places)) or NO_RESULTS
    return Prompt(fill("reflect", found=shown, **places), TEMPERATURE, thinking=True, json=True, timeout=TIMEOUT_S)
