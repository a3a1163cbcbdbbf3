"""The last step to an answer: citations are checked, and sentences without one get the source that bears them out."""

from sleuth.answers import support
from sleuth.answers.answer import Answer
from sleuth.answers.citations import find, without_source
from sleuth.answers.findings import Findings
from sleuth.answers.work import Work
from sleuth.base import logs


def finished(work: Work, found: Findings, text: str, method: str, model: str = "") -> Answer:
    """Return the answer with everything one may want to know of it."""
    sources = found.sources
    attached = support.attach(text, sources) if sources and method == "model" else support.Attached(text, ())
    known = {source.citation for source in sources}
    numbers = dict.fromkeys(number for mark in find(text) for number in mark.numbers)
    out_of_range = tuple(number for number in numbers if number not in known)
    if out_of_range:
        logs.log("answer: %s", without_source(out_of_range))
    return Answer(
        question=work.question.text,
        text=attached.text,
        method=method,
        sources=sources,
        rounds=tuple(found.rounds),
        searched=bool(found.rounds),
        checks=tuple(support.check(attached.text, sources)),
        out_of_range=out_of_range,
        attached=attached.added,
        model=model,
        usage=work.usage,
        warnings=tuple(work.warnings),
        elapsed_ms=work.elapsed_ms,
    )
