"""A request becomes an outcome: choose providers, ask them, merge and rank, and say honestly what went wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from sleuth.base import logs
from sleuth.base.errors import RequestError, SearchError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.engine.dispatch import Dispatcher, DispatchPlan, Job, ProviderReply
from sleuth.engine.outcome import Attempt, Outcome, Status
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth.relevance.hit import Hit
from sleuth.store.cache.disk import Cache
from sleuth.store.health import Health
from sleuth.store.journal import append_search, journal_line
from sleuth.store.provider_table import number_option
from sleuth.store.settings import CACHE_TTL, EXCLUDE_DOMAINS, HISTORY, Settings
from sleuth_providers.base import Answer, Query, Result
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.engine.recording import Recorder, Replayer
    from sleuth.relevance.rules import Rules

HEDGE = 2.5  # seconds before the next provider is started beside one whose usual time is not known
MAX_QUERY = 400
NOT_ASKED = ("key_missing", "cooldown", "skipped")


class SearchRequest(Record):
    """What a command, a server or a program asks of the engine."""

    questions: tuple[str, ...]
    query: Query  # everything but the words
    providers: tuple[str, ...] = ("auto",)
    fallback: bool | None = None  # None: only where no provider was named
    cache: str = "use"
    offline: bool = False
    timeout: float | None = None
    recording: Recorder | Replayer | None = None
    rules: Rules | None = None
    recent: bool = False
    rerank: bool = False


class Searcher:
    """The engine: everything it needs is handed in."""

    def __init__(
        self, settings: Settings, selector: ProviderSelector, health: Health, cache: Cache, journal: str = ""
    ) -> None:
        self.settings, self.selector, self.health, self.cache = settings, selector, health, cache
        self.journal = journal  # the file in which searches are noted; none where that is empty
        self._askers: list[Dispatcher] = []

    def search(self, request: SearchRequest, meanwhile: Callable[[], object] | None = None) -> Outcome:
        """Run one request, and `meanwhile` while somebody is being asked; raises only when it makes no sense."""
        started = time.monotonic()
        questions = tuple(clean_query(text) for text in request.questions)
        if not self.settings[HISTORY]:
            logs.keep_out(*questions)
        today = (request.recording.now if request.recording else datetime.now(UTC)).date().isoformat()
        queries = [self._complete(request.query, text)._replace(today=today) for text in questions]
        cache = "off" if request.recording else request.cache
        plan = DispatchPlan(cache, request.offline, request.timeout, self.settings[CACHE_TTL] * 60)
        asker = Dispatcher(self.selector, self.health, self.cache, plan, request.recording, lambda: _load(meanwhile))
        self._askers.append(asker)
        asked = self._ask(request, asker, queries)
        outcome = self._merge(request, " | ".join(questions), asked)
        if more := self._next_page(request, asker, asked, outcome):
            asked = asked._replace(replies=asked.replies + more)
            outcome = self._merge(request, " | ".join(questions), asked)
        outcome = outcome._replace(elapsed_ms=max(1, round((time.monotonic() - started) * 1000)))
        if self.journal and not asker.replays:
            self._note(outcome, asked.replies)
        return outcome

    def finish(self) -> None:
        """Let what is still being written be written."""
        while self._askers:
            self._askers.pop().finish()

    def _note(self, outcome: Outcome, replies: Sequence[ProviderReply]) -> None:
        """Count the search, and what was answered without a request; the words are noted where a history is kept."""
        here = [r.attempt for r in replies if r.attempt.cached or r.candidate.adapter.offline]
        uncounted = [attempt for attempt in here if attempt.state not in NOT_ASKED]
        if append_search(self.journal, journal_line(outcome, uncounted, with_query=self.settings[HISTORY])):
            from sleuth.store.journal_import import import_full_journal

            import_full_journal(self.health.connection, self.journal)

    def _complete(self, query: Query, text: str) -> Query:
        """Return the query for providers: only plain domains are theirs to know, patterns are applied to what comes."""
        exclude = [domain for domain in (*query.exclude, *self.settings[EXCLUDE_DOMAINS]) if _is_plain(domain)]
        include = query.include if all(map(_is_plain, query.include)) else ()
        return query._replace(text=text, include=include, exclude=tuple(dict.fromkeys(exclude)))

    def _ask(self, request: SearchRequest, asker: Dispatcher, queries: list[Query]) -> _Asked:
        chosen = request.providers
        if request.offline and chosen == ("auto",):
            chosen = ("library",)
        if chosen == ("auto",):
            chain = self.selector.chain()
            return self._chain(asker, chain[:1] if request.fallback is False else chain, queries)
        candidates = self.selector.named(chosen)
        if not candidates:
            raise RequestError("no provider is ready", "see what they need: sleuth providers list")
        if request.fallback and len(candidates) == 1:
            return self._chain(asker, self.selector.chain(candidates[0].id), queries)
        replies = list(_everybody(asker, candidates, queries))
        if request.fallback and not any(reply.attempt.answered for reply in replies):
            more = self._chain(asker, [c for c in self.selector.chain() if c not in candidates], queries)
            return more._replace(replies=replies + more.replies)
        return _Asked(replies)

    def _chain(self, asker: Dispatcher, candidates: Sequence[Candidate], queries: list[Query]) -> _Asked:
        """Ask one after the other until one answers; the next one starts early when one takes unusually long."""
        race = _Race(asker, queries, lambda c: self.health.usual_time(c.id) or HEDGE)
        for candidate in candidates:
            if not asker.replays and (passed := self.selector.passed_over(candidate)):
                race.pass_over(candidate, passed)
                continue
            if race.run(candidate):
                break
        winner = race.finish()
        return _Asked(race.replies, tuple(race.notices(winner)), chained=True)

    def _next_page(
        self, request: SearchRequest, asker: Dispatcher, asked: _Asked, outcome: Outcome
    ) -> list[ProviderReply]:
        """Ask for one more page where filters left fewer results than were wanted."""
        status, wanted = outcome.status, request.query.count
        if status.count_after >= min(wanted, status.count_before):
            return []
        good = [r for r in asked.replies if r.attempt.state == "ok" and "page" in r.candidate.adapter.supports]
        started = [asker.start(r.candidate, r.query._replace(page=r.query.page + 1)) for r in good]
        replies = list(_collect(asker, started))
        return [reply for reply in replies if reply.attempt.answered] if asker.replays else replies

    def _merge(self, request: SearchRequest, text: str, asked: _Asked) -> Outcome:
        from sleuth.relevance.fusion import ProviderList, fuse

        now, replies = request.recording.now if request.recording else datetime.now(UTC), asked.replies
        kept = [(reply, *_within_dates(reply, now)) for reply in replies]
        pages: dict[tuple[str, str], ProviderList] = {}
        for reply, results, _ in kept:
            list_of = (reply.candidate.id, reply.query.text)
            candidate = reply.candidate
            known = pages.get(list_of) or ProviderList(
                candidate.id, _weight(candidate), [], files=candidate.adapter.files
            )
            pages[list_of] = known._replace(results=[*known.results, *results])
        rerank = text if request.rerank else ""
        lists = [entry for entry in pages.values() if entry.results]
        hits = fuse(lists, now=now, rules=request.rules, recent=request.recent, rerank=rerank)
        before = len(hits)
        hits = [hit for hit in hits if self._allowed(hit.url, request.query)][: request.query.count]
        attempts = tuple(_finished(reply, missing) for reply, _, missing in kept)
        answering = list(dict.fromkeys(a.provider for a in attempts if a.state == "ok" and not _is_loser(a)))
        cached = [a for a in attempts if a.answered]
        return Outcome(
            query=text,
            provider=",".join(answering) or ",".join(dict.fromkeys(a.provider for a in attempts)),
            results=tuple(_placed(hit, place, request.query.content) for place, hit in enumerate(hits, 1)),
            outcome=_verdict(bool(hits), asked, attempts),
            cached=bool(cached) and all(a.cached for a in cached),
            age=max((a.age for a in cached if a.cached), default=0.0),
            status=Status("default", before, len(hits)),
            attempts=attempts,
            answers=_answers(replies),
            suggestions=_lines(text for reply in replies for text in reply.found.suggestions),
            corrections=_lines(text for reply in replies for text in reply.found.corrections),
            warnings=(*_warnings(asked, attempts), *self._bad_patterns(request.query)),
            notices=asked.notices,
        )

    def _bad_patterns(self, query: Query) -> Iterator[str]:
        from sleuth.relevance.patterns import expression

        for pattern in (*query.include, *query.exclude, *self.settings[EXCLUDE_DOMAINS]):
            if pattern.startswith("/") and (len(pattern) < 3 or expression(pattern.strip("/")) is None):
                yield tr("the pattern {pattern} is broken or could take for ever, and is not used", pattern=pattern)

    def _allowed(self, url: str, query: Query) -> bool:
        from sleuth.relevance.urls import matches_domain

        if url.startswith("file:"):
            return not query.include
        if query.include and not any(matches_domain(url, pattern) for pattern in query.include):
            return False
        refused = (*query.exclude, *self.settings[EXCLUDE_DOMAINS])
        return not any(matches_domain(url, pattern) for pattern in refused)


class _Asked(Record):
    """What came back, and whether one answer was wanted (a chain) or everybody's."""

    replies: list[ProviderReply]
    notices: tuple[str, ...] = ()
    chained: bool = False


class _Race:
    """A chain of providers in progress: who was asked, who is still working, who failed and why."""

    def __init__(self, asker: Dispatcher, queries: list[Query], usual: Usual) -> None:
        self.asker, self.queries, self.usual = asker, queries, usual
        self.replies: list[ProviderReply] = []
        self.running: list[Job] = []
        self.names: dict[str, str] = {}

    def pass_over(self, candidate: Candidate, attempt: Attempt) -> None:
        """Record somebody who is not asked."""
        self.names[candidate.id] = candidate.row.name
        self.replies.append(ProviderReply(candidate, self.queries[0], attempt))

    def run(self, candidate: Candidate) -> bool:
        """Ask one more provider and tell whether there is an answer; False lets the next one start."""
        self.names[candidate.id] = candidate.row.name
        if candidate.adapter.offline:  # the last resort: only when nobody else can answer any more
            self._wait(None)
            if self._has_answer():
                return True
        for query in self.queries:
            started = self.asker.start(candidate, query)
            if isinstance(started, ProviderReply):
                self.replies.append(started)
            else:
                self.running.append(started)
        self._wait(None if candidate.adapter.offline else self.usual(candidate))
        return self._has_answer()

    def finish(self) -> Candidate | None:
        """Wait for who is left if nobody answered yet, drop the losers, and return the winner."""
        if not self._has_answer():
            self._wait(None)
        winner = next((reply.candidate for reply in self.replies if reply.attempt.answered), None)
        for job in self.running:
            if winner and job.candidate.id == winner.id:
                continue
            message = tr("{winner} was faster", winner=winner.row.name if winner else "")
            self.replies.append(self.asker.abandon(job, message))
        self.running = [job for job in self.running if winner and job.candidate.id == winner.id]
        while self.running and (arrived := self.asker.next_reply(60.0)):
            self._arrive(*arrived)
        return winner

    def notices(self, winner: Candidate | None) -> list[str]:
        """Say in one line who could not answer and who was asked instead."""
        failed = [r.attempt for r in self.replies if not r.attempt.answered and r.attempt.message]
        if winner is None or not failed:
            return []
        reasons = "; ".join(dict.fromkeys(attempt.message for attempt in failed if not _is_loser(attempt)))
        if not reasons:
            return []
        return [tr("{reasons}; {winner} answered instead", reasons=reasons, winner=winner.row.name)]

    def _wait(self, seconds: float | None) -> None:
        """Take in replies until there is an answer, everybody has failed, or the time is over."""
        end = time.monotonic() + (seconds if seconds is not None else 3600.0)
        while self.running and not self._has_answer():
            arrived = self.asker.next_reply(end - time.monotonic())
            if arrived is None:
                return
            self._arrive(*arrived)

    def _arrive(self, job: Job, reply: ProviderReply) -> None:
        self.running.remove(job)
        self.replies.append(reply)

    def _has_answer(self) -> bool:
        return any(reply.attempt.answered for reply in self.replies)


if TYPE_CHECKING:
    from collections.abc import Callable

    Usual = Callable[[Candidate], float]


def clean_query(text: str) -> str:
    """Return the words to search for: one line, no control characters or angle brackets, not too long."""
    question = clean(text, entities=False).replace("<", " ").replace(">", " ")
    question = " ".join(question.split())[:MAX_QUERY].strip()
    if not question:
        raise RequestError("there is nothing to search for", "say what: sleuth search rust async runtimes")
    return question


def search_error(outcome: Outcome) -> SearchError:
    """Return the error that says why nobody could answer: the first reason, with its hint and exit code."""
    told = [a for a in outcome.attempts if not a.answered and a.code] or [a for a in outcome.attempts if not a.answered]
    first = told[0] if told else Attempt("", "bad_response", message=tr("nobody answered"))
    others = [attempt.message for attempt in told[1:] if attempt.message]
    message = tr("; ").join(dict.fromkeys([first.message, *others]))
    error = SearchError("{why}", first.hint, code=first.code, provider=first.provider, why=message)
    error.status = first.status
    return error


def _everybody(asker: Dispatcher, candidates: list[Candidate], queries: list[Query]) -> Iterator[ProviderReply]:
    """Ask all at the same time; replies come back in the order asked, whoever was first."""
    yield from _collect(asker, [asker.start(candidate, query) for candidate in candidates for query in queries])


def _collect(asker: Dispatcher, started: list[Job | ProviderReply]) -> Iterator[ProviderReply]:
    replies: dict[Job, ProviderReply] = {}
    while arrived := asker.next_reply(3600.0):
        replies[arrived[0]] = arrived[1]
    for item in started:
        yield item if isinstance(item, ProviderReply) else replies[item]


def _load(more: Callable[[], object] | None) -> None:
    """Load what merging takes, and whatever else will be needed."""
    import sleuth.relevance.fusion  # noqa: F401 - wanted in memory, not by name

    if more:
        more()


def _placed(hit: Hit, place: int, with_content: bool) -> Hit:
    return hit._replace(citation=place, content=hit.content if with_content else None)


def _is_plain(pattern: str) -> bool:
    return bool(pattern) and not pattern.startswith(("/", "*"))


def _weight(candidate: Candidate) -> float:
    chosen = number_option(candidate.row.options, "weight")
    return candidate.adapter.weight if chosen is None else chosen


def _within_dates(reply: ProviderReply, now: datetime) -> tuple[list[Result], bool]:
    """Do by date what a provider cannot: drop what is known to be too old; tell whether something was undated."""
    results, query = list(reply.found.results), reply.query
    wanted = "range" if query.freshness == "range" else "freshness"
    if not query.freshness or wanted in reply.candidate.adapter.supports:
        return results, False
    from sleuth.relevance.dates import normalise

    dates = [normalise(result.published, now) for result in results]
    kept = [
        result
        for result, date in zip(results, dates, strict=True)
        if not date or (query.since <= date[:10] and (not query.until or date[:10] <= query.until))
    ]
    return kept, any(not date for date in dates) or not results


def _finished(reply: ProviderReply, undated: bool) -> Attempt:
    """Return the attempt with what was done for the provider taken off its list of things not applied."""
    done = {"include", "exclude"} | (set() if undated else {"freshness", "range"})
    return reply.attempt._replace(not_applied=tuple(name for name in reply.attempt.not_applied if name not in done))


def _is_loser(attempt: Attempt) -> bool:
    return attempt.state == "skipped"


def _verdict(has_hits: bool, asked: _Asked, attempts: tuple[Attempt, ...]) -> str:
    """Judge the whole: "no results" is said only when everybody who was asked answered, and was empty."""
    answered = [attempt for attempt in attempts if attempt.answered]
    troubled = [attempt for attempt in attempts if not attempt.answered and not _is_loser(attempt)]
    offline = {reply.candidate.id for reply in asked.replies if reply.candidate.adapter.offline}
    last_resort = bool(troubled) and all(attempt.provider in offline for attempt in answered)
    if has_hits or any(reply.found.answers for reply in asked.replies):
        lacking = last_resort or any(attempt.engines for attempt in answered)
        return "partial" if lacking or (troubled and not asked.chained) else "success"
    if not answered or last_resort:
        return "failed"
    return "partial" if any(attempt.state not in NOT_ASKED for attempt in troubled) else "no_results"


def _answers(replies: list[ProviderReply]) -> tuple[Answer, ...]:
    found = (answer for reply in replies for answer in reply.found.answers)
    cleaned = (Answer(clean(answer.text, 2000), clean_url(answer.url)) for answer in found)
    return tuple(dict.fromkeys(answer for answer in cleaned if answer.text))


def _lines(texts: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for line in (clean(text, 300) for text in texts) if line))


def _warnings(asked: _Asked, attempts: tuple[Attempt, ...]) -> Iterator[str]:
    for reply, attempt in zip(asked.replies, attempts, strict=True):
        name = reply.candidate.row.name
        if attempt.answered and attempt.not_applied:
            yield tr("{provider} cannot do this: {options}", provider=name, options=", ".join(attempt.not_applied))
        if attempt.answered and attempt.engines:
            failing = ", ".join(f"{engine} ({reason})" for engine, reason in sorted(attempt.engines.items()))
            yield tr("engines of {provider} that failed: {engines}", provider=name, engines=failing)
        if not attempt.answered and not _is_loser(attempt) and attempt.message and not asked.chained:
            yield attempt.message
