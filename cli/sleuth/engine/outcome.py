"""The outcome of a search as immutable data, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping

from sleuth.base.json_output import camel_case, record_as_json
from sleuth.relevance.hit import Hit
from sleuth.store.health import FAILURES
from sleuth_providers.base import DirectAnswer
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth.store.last_results import Rounds

ANSWERED_STATES = ("ok", "empty")
STATES = (*ANSWERED_STATES, *FAILURES, "key_missing", "cooldown", "skipped")
NOT_QUERIED_STATES = ("key_missing", "cooldown", "skipped")
ABANDONED = "ABANDONED"  # code of an attempt that was given up because another provider answered; not an error code
PHASES = ("default", "fetch_complete", "rag", "rag_complete", "rag_failed", "cutoff")


class Attempt(Record):
    """One provider that was queried or skipped, and the result."""

    provider: str
    state: str
    count: int = 0  # type: ignore[assignment]  # hides tuple.count, which is not used here
    elapsed_ms: int = 0
    cached: bool = False
    cost: float = 0.0
    not_applied: tuple[str, ...] = ()
    engines: Mapping[str, str] = {}
    message: str = ""
    hint: str = ""
    code: str = ""
    status: int | None = None
    age: float = 0.0  # seconds since a cached answer was fetched
    fresh_s: float = 0.0  # until a cached answer expires

    @property
    def answered(self) -> bool:
        """Tell whether the provider answered, even without results."""
        return self.state in ANSWERED_STATES


class Status(Record):
    """How the text of the results was processed."""

    phase: str = "default"
    count_before: int = 0
    count_after: int = 0
    more: bool = False  # the next page may have results
    left_out: int = 0  # passages that did not fit
    size: int | None = None  # of all content together, in `unit`
    unit: str = "char"
    estimated: bool = False  # the size is an estimate, not counted by a tokenizer


class Outcome(Record):
    """The complete outcome of a search."""

    query: str
    provider: str
    results: tuple[Hit, ...] = ()
    outcome: str = "success"
    elapsed_ms: int = 0
    cached: bool = False
    age: float = 0.0
    status: Status = Status()
    attempts: tuple[Attempt, ...] = ()
    answers: tuple[DirectAnswer, ...] = ()
    suggestions: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()  # something failed or is missing
    notices: tuple[str, ...] = ()  # for information, such as which provider was used instead
    attribution: tuple[str, ...] = ()  # what providers ask to be shown with their results
    pages: tuple[Mapping[str, Any], ...] = ()  # how each page was read, with --content
    next_provider: str = ""  # what -p takes for more of the same
    questions: tuple[str, ...] = ()
    page_size: int = 0  # results that were wanted
    rounds: Rounds = ()  # the requests whose answers the list was merged from

    @property
    def fresh_s(self) -> float:
        """Return for how long the same search has the same outcome; 0 unless all of it came from the cache."""
        return min((attempt.fresh_s for attempt in self.attempts), default=0.0)

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        """Return the published JSON form, as printed by `sleuth search --json`."""
        document: dict[str, Any] = {
            "query": self.query,
            "provider": self.provider,
            "elapsedMs": self.elapsed_ms,
            "cached": self.cached,
            "ageSeconds": round(self.age) if self.cached else None,
            "results": [hit_as_json(hit, explain=explain) for hit in self.results],
            "outcome": self.outcome,
            "status": record_as_json(self.status, *Status._fields[: 4 if self.status.size is None else None]),
            "attempts": [_attempt_as_json(attempt) for attempt in self.attempts],
            "answers": [{"text": answer.text, "url": answer.url or None} for answer in self.answers],
            "suggestions": list(self.suggestions),
            "corrections": list(self.corrections),
            "warnings": [*self.notices, *self.warnings],
        }
        optional = {"attribution": list(self.attribution), "pages": [dict(page) for page in self.pages]}
        return document | {name: value for name, value in optional.items() if value}


def hit_as_json(hit: Hit, *, explain: bool = False) -> dict[str, Any]:
    """Return the JSON form of one result."""
    fields = hit._asdict() | {
        "content": hit.text,
        "score": round(hit.score, 6),
        "passages": [{"start": start, "end": end, "score": score} for start, end, score in hit.passages],
        "votes": [vote._asdict() for vote in hit.votes],
    }
    fields |= {name: list(fields[name]) for name in ("providers", "engines", "adjustments")}
    fields |= {name: fields[name] or None for name in ("site_name", "published", "thumbnail")}
    left_out = ["details"] if explain else ["details", "votes", "adjustments"]
    left_out += [name for name in ("author", "length", "image", "passages") if not fields[name]]
    fields |= {name: list(value) if isinstance(value, tuple) else value for name, value in hit.details.known().items()}
    return camel_case({name: value for name, value in fields.items() if name not in left_out})


def _attempt_as_json(attempt: Attempt) -> dict[str, Any]:
    lists = {"not_applied": list(attempt.not_applied), "engines": dict(attempt.engines)}
    return record_as_json(attempt, *Attempt._fields[:9], **lists)  # hint, code and the like are not published
