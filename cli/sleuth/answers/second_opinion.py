"""A model's verdict on citations that a word comparison cannot judge: contradictions and paraphrases."""

import secrets
from collections.abc import Sequence
from functools import partial

from sleuth.answers.citation_check import Support
from sleuth.answers.citations import CitedSource, by_number
from sleuth.answers.evidence import NOT_FOUND, QUOTED, SUPPORTED, UNCHECKED, WEAK
from sleuth.answers.llm.chat import Model, Prompt, Usage
from sleuth.answers.llm.json_reply import ask_json, text_field
from sleuth.answers.prompt import fill
from sleuth.answers.sanitize import fenced, without_citations
from sleuth.base.i18n import trn
from sleuth.relevance.compress import compress, explain_failure
from sleuth_providers.threads import run_parallel

MAX_PASSAGE_CHARS = 3_000  # of a source, selected by the claim
MAX_PARALLEL = 4  # requests
TIMEOUT_S = 30.0
MAX_SUPPORT_CHARS = 20
OPINIONS = {"yes": SUPPORTED, "partly": WEAK, "no": NOT_FOUND}


def second_opinion(
    checks: Sequence[Support], text: str, sources: Sequence[CitedSource], model: Model
) -> tuple[list[Support], Usage, str]:
    """Return the checks with the model's verdicts, the usage, and a warning if any failed; those keep their verdict.

    Claims quoted verbatim from their source are not sent.
    """
    known = by_number(sources)
    judged, usage = list(checks), Usage()
    failures: list[Exception] = []
    places = [at for at, one in enumerate(checks) if one.support not in (QUOTED, UNCHECKED)]
    for first in range(0, len(places), MAX_PARALLEL):
        batch = places[first : first + MAX_PARALLEL]
        prompts = [_prompt(text[checks[at].start : checks[at].end], known[checks[at].citation]) for at in batch]
        for place, result in run_parallel([partial(ask_json, model, prompt) for prompt in prompts], TIMEOUT_S):
            if isinstance(result, Exception):
                failures.append(result)
                continue
            usage = usage.plus(result[1])
            opinion = text_field(result[0], "support", MAX_SUPPORT_CHARS).lower()
            check = judged[batch[place]]
            judged[batch[place]] = check._replace(support=OPINIONS.get(opinion, check.support))
    return judged, usage, _warning(failures)


def _warning(failures: Sequence[Exception]) -> str:
    if not failures:
        return ""
    return trn(
        "{count} citation was checked by words only; the model failed: {reason}",
        "{count} citations were checked by words only; the model failed: {reason}",
        len(failures),
        reason=explain_failure(failures[0]),
    )


def _prompt(claim: str, source: CitedSource) -> Prompt:
    code = secrets.token_hex(8)
    (kept,) = compress(claim, [without_citations(source.text)], "rag", limit=MAX_PASSAGE_CHARS).pages
    page = fenced(kept.content, source.url, code)
    return Prompt(fill("check", code, claim=without_citations(claim), page=page), 0.0, timeout=TIMEOUT_S)
