"""Whether what was found is enough, and what to search for next if it is not."""

from functools import partial

from sleuth.answers import replies
from sleuth.answers.analysis import Analysis
from sleuth.answers.context import show
from sleuth.answers.fence import defused
from sleuth.answers.findings import Findings
from sleuth.answers.llm.chat import Model, Prompt
from sleuth.answers.llm.json_reply import ask_json
from sleuth.answers.prompt import as_list, fill, left_for
from sleuth.answers.work import Work
from sleuth.base.i18n import tr
from sleuth_providers.records import Record
from sleuth_providers.threads import run_parallel

TEMPERATURE = 0.3  # models that think take none
SECONDS = 5.0
MAX_QUERY, MAX_MISSING = 200, 300
LAST = 5  # queries that it is told of
NOTHING = "[search results — none]"


class Reflection(Record):
    """What reflection says."""

    sufficient: bool = True
    missing: str = ""
    query: str = ""


def reflect(work: Work, model: Model, found: Findings, aim: Analysis) -> Reflection:
    """Ask the reasoner whether it is enough; where it does not say, it is."""
    query = found.rounds[-1].query
    message = tr("Judging whether {count} sources are enough", count=len(found.sources))
    work.tell("web_search_reflecting", message, len(found.rounds), query, sources=len(found.sources))
    job = partial(ask_json, model, reflect_prompt(work, found, aim))
    ((_, result),) = run_parallel([job], SECONDS)
    if isinstance(result, Exception):
        why = work.explain(result)
        work.warn(tr("what was found could not be judged and is taken as enough: {reason}", reason=why))
        return Reflection()
    reply, usage = result
    work.spend(usage)
    verdict = Reflection(
        replies.flag_of(reply, "sufficient", default=True),
        defused(replies.text_of(reply, "missing", MAX_MISSING)),
        replies.text_of(reply, "query", MAX_QUERY),
    )
    found.judge(sufficient=verdict.sufficient, missing="" if verdict.sufficient else verdict.missing)
    return verdict


def reflect_prompt(work: Work, found: Findings, aim: Analysis) -> Prompt:
    """Return the prompt that asks whether it is enough."""
    places = {
        "today": work.today,
        "question": work.asked,
        "facts": as_list(aim.facts),
        "queries": as_list(one.query for one in found.rounds[-LAST:]),
        "code": work.code,
    }
    left = left_for("found", "reflect", work.room * 9 // 10, **places)  # a second attempt quotes the first
    shown = show(work, found.ranked(), found.provider, left) or NOTHING
    return Prompt(fill("reflect", found=shown, **places), TEMPERATURE, thinking=True, json=True, timeout=SECONDS)
