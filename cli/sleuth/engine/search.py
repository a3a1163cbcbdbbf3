"""A request becomes an outcome: select providers, query them, merge and rank, and report what failed."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from math import inf

from sleuth.base import logs, tracing
from sleuth.base.errors import RequestError, SearchError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import without_path
from sleuth.engine.chain import chain_entries
from sleuth.engine.continuation import list_key, next_queries, replay_rounds, rounds_of, store_rounds, stored_rounds
from sleuth.engine.dispatch import Dispatcher
from sleuth.engine.fallback_chain import FallbackChain
from sleuth.engine.job import ProviderReply
from sleuth.engine.merge import Replies, merge
from sleuth.engine.outcome import NOT_QUERIED_STATES, Attempt, Outcome
from sleuth.engine.selector import Candidate, ProviderSelector
from sleuth.store.cache.disk import Cache
from sleuth.store.journal import QUESTION_SEPARATOR, append_search, journal_line
from sleuth.store.settings import EXCLUDE_DOMAINS, HISTORY, LEARN_WEIGHTS, TRACE_QUERIES
from sleuth_providers.base import Query
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sleuth.engine.recording import Recorder, Replayer
    from sleuth.engine.scorers import ResultReranker
    from sleuth.relevance.rules import Rules
    from sleuth.store.last_results import Rounds

UNNAMED = ((), ("auto",))
UNSENT_STATES = ("cooldown", "skipped")
MIN_EMPTY_ANSWERS = 3  # providers of a default chain that must find nothing before sleuth reports no results
HEDGE_S = 2.5  # until the next provider is started, if the usual response time of the current one is unknown
CHAIN_TIME_SHARE = 2 / 3  # of what is left of --timeout, for each provider: a chain must not end with the first
MAX_QUERY_CHARS = 400


class SearchRequest(Record):
    """A search with all its options."""

    questions: tuple[str, ...]
    query: Query  # everything but the text
    providers: tuple[str, ...] = ()  # none named: the default provider, then the chain; auto: only the chain
    fallback: bool | None = None  # None: only if no provider was named
    cache: str = "use"  # use | refresh | off
    offline: bool = False
    timeout: float | None = None  # seconds for all of it
    provider_timeout: float | None = None  # seconds for each provider, without `timeout`; None: as configured
    recording: Recorder | Replayer | None = None
    rules: Rules | None = None
    continued: bool = False  # another page of a list that was shown, so the providers of the first one are used
    shown: Rounds = ()  # what that list is made of, if the caller knows
    start: int | None = None  # results before the page, if an earlier page was short; None: only full pages
    fill: bool = False  # request further pages of providers until there are as many results as `query.count`
    recent: bool = False
    rerank: bool = False
    date_wanted: bool = False  # today's date was asked for, so that a provider without it is reported
    library: bool = False  # whether the library may answer when no provider does
    from_settings: tuple[str, ...] = ()  # fields of the query that no option set: no warning if a provider lacks them

    @property
    def results_before(self) -> int:
        """Return the number of results on earlier pages."""
        return (self.query.page - 1) * self.query.count if self.start is None else self.start


class JobState(Record):
    """A provider that was started, for display while it works."""

    provider: str
    seconds: float  # since the start
    is_running: bool
    has_failed: bool = False


class Searcher:
    """The search engine of sleuth."""

    def __init__(self, selector: ProviderSelector, cache: Cache, journal: str = "") -> None:
        self.settings, self.selector, self.health, self.cache = selector.settings, selector, selector.health, cache
        self.journal = journal  # the file that records searches; empty for none
        self._dispatchers: list[Dispatcher] = []

    def search(self, request: SearchRequest, while_waiting: Callable[[], object] | None = None) -> Outcome:
        """Run a request, and `while_waiting` while providers work; failures of providers are part of the outcome."""
        words, category = QUESTION_SEPARATOR.join(request.questions), request.query.category
        return self._traced(words, category, lambda: self._run(request, while_waiting))

    def repeat(self, outcome: Outcome, category: str, seconds: float) -> Outcome:
        """Return an outcome that came from the cache `seconds` ago, and record it as a search of its own."""
        again = outcome._replace(age=outcome.age + seconds, elapsed_ms=1)
        return self._traced(outcome.query, category, lambda: self._recorded(again, outcome.attempts, self.journal))

    def _traced(self, words: str, category: str, work: Callable[[], Outcome]) -> Outcome:
        about = {"sleuth.category": category} | ({"sleuth.query": words} if self.settings[TRACE_QUERIES] else {})
        with tracing.span("search", about) as span:
            outcome = work()
            found = {"outcome": outcome.outcome, "provider": outcome.provider, "cached": outcome.cached}
            facts = found | {"results": len(outcome.results)}
            span.set_attributes({f"sleuth.{name}": value for name, value in facts.items()})
            return outcome

    def _run(self, request: SearchRequest, while_waiting: Callable[[], object] | None) -> Outcome:
        started = time.monotonic()
        now = request.recording.now if request.recording else datetime.now(UTC)
        questions = tuple(clean_query(text) for text in request.questions)
        if not self.settings[HISTORY]:
            logs.keep_out(*questions)
        queries = [self._provider_query(request.query._replace(page=1), text, now) for text in questions]

        def prepare() -> None:
            import sleuth.relevance.fusion  # noqa: F401 - loaded while the network is slow, needed after it

            if while_waiting:
                while_waiting()

        dispatcher = Dispatcher(self.selector, self.cache, request, prepare)
        self._dispatchers.append(dispatcher)
        replies = self._query_providers(request, dispatcher, queries)
        if self.settings[LEARN_WEIGHTS]:
            from sleuth.store import opened

            replies = replies._replace(factors=opened.factors(os.path.dirname(self.journal)))
        text, excluded = QUESTION_SEPARATOR.join(questions), self.settings[EXCLUDE_DOMAINS]
        reranker = self._reranker(request, dispatcher.time_left())
        outcome = merge(request, text, replies, excluded, now, reranker)
        while more := _next_pages(dispatcher, replies, outcome):
            before = len(outcome.results)
            replies = replies._replace(all=[*replies.all, *more])
            outcome = merge(request, text, replies, excluded, now, reranker)
            if len(outcome.results) == before:  # the provider repeats itself, or filters drop everything
                break
        outcome = _window(outcome, request, replies.all)._replace(
            elapsed_ms=max(1, round((time.monotonic() - started) * 1000)),
            warnings=(*outcome.warnings, *(reranker.warnings if reranker else ())),
            questions=questions,
            page_size=request.query.count,
            rounds=rounds_of(replies, queries),
        )
        if any(len(" ".join(text.split())) > MAX_QUERY_CHARS for text in request.questions):
            warning = tr("the query was truncated to {count} characters", count=MAX_QUERY_CHARS)
            outcome = outcome._replace(warnings=(warning, *outcome.warnings))
        if (
            dispatcher.cache_use != "off" and not request.offline and not request.shown
        ):  # writes remove what has expired
            dispatcher.at_end = partial(store_rounds, dispatcher, replies, outcome.rounds, queries)
        local = [r.attempt for r in replies.all if r.attempt.cached or r.candidate.adapter.offline]
        return self._recorded(outcome, local, "" if dispatcher.replays else self.journal)

    def jobs(self) -> list[JobState]:
        """Return the providers of the current search; another thread may call this."""
        now, latest = time.monotonic(), self._dispatchers[-1:]  # a copy: `finish` empties the list
        started = [(job, job in dispatcher.running) for dispatcher in latest for job in [*dispatcher.jobs]]
        return [JobState(job.candidate.id, now - job.started, running, bool(job.error)) for job, running in started]

    def _reranker(self, request: SearchRequest, time_left: float) -> ResultReranker | None:
        """Return the configured reranker for --rerank; a recording is replayed without it."""
        if not request.rerank or request.recording:
            return None
        from sleuth.engine.scorers import ResultReranker

        return ResultReranker(self.settings, offline=request.offline, time_left=time_left)

    def finish(self) -> None:
        """Wait for pending cache writes."""
        while self._dispatchers:
            self._dispatchers.pop().finish()

    def _recorded(self, outcome: Outcome, local: Sequence[Attempt], journal: str) -> Outcome:
        """Log a search and add it to the journal, with the attempts that made no request: no other log has them."""
        _log(outcome)
        uncounted = [attempt for attempt in local if attempt.state not in NOT_QUERIED_STATES]
        line = journal_line(outcome, uncounted, with_query=self.settings[HISTORY])
        if journal and append_search(journal, line):
            from sleuth.store.journal_import import import_full_journal

            import_full_journal(self.health.connection, journal)
        return outcome

    def _provider_query(self, query: Query, text: str, now: datetime) -> Query:
        """Return the query for providers. They get plain domains only; patterns are applied to the results."""
        excluded = (*query.exclude, *(without_path(pattern) for pattern in self.settings[EXCLUDE_DOMAINS]))
        exclude = dict.fromkeys(filter(_is_plain, excluded))
        include = query.include if all(map(_is_plain, query.include)) else ()
        return query._replace(text=text, include=include, exclude=tuple(exclude), today=now.date().isoformat())

    def _query_providers(self, request: SearchRequest, dispatcher: Dispatcher, queries: list[Query]) -> Replies:
        ids = request.providers
        named = self.selector.named(ids, request.query.category) if ids not in UNNAMED else []
        order = () if any(id == "all" or "+" in id for id in ids) else tuple(candidate.id for candidate in named)
        if request.continued and (shown := self._shown_before(request, dispatcher, named, queries)):
            is_named = {reply.candidate.id for reply in shown.all} <= {*order}  # not those of a chain behind them
            return shown._replace(order=order if is_named else ())
        if ids in UNNAMED:
            found = self._run_chain(request, dispatcher, "" if ids else self.selector.default(), queries)
            if not request.offline or any(reply.attempt.answered for reply in found.all):
                return found
            library = FallbackChain(dispatcher, queries, 1, chosen=False)
            library.query(self.selector.named(("library",)), {}, 0.0)
            instead = library.finish()
            return instead if any(reply.attempt.answered for reply in instead.all) or not found.all else found
        if not named:
            raise RequestError("no provider is usable", "see what they need: sleuth providers list")
        if request.fallback and len(named) == 1:
            return self._run_chain(request, dispatcher, named[0].id, queries)
        share = self._time_share(request, named) if request.fallback else 1.0
        replies = dispatcher.run([(candidate, query) for candidate in named for query in queries], share)
        if request.fallback and not any(reply.attempt.answered for reply in replies):
            return self._run_chain(request, dispatcher, "", queries, replies)
        return Replies(replies, order=order)

    def _shown_before(
        self, request: SearchRequest, dispatcher: Dispatcher, named: list[Candidate], queries: list[Query]
    ) -> Replies | None:
        """Return the replies that the first page was made of, if that is known.

        Those that failed or were left out do not join later, else pages would repeat and lose results.
        """
        if dispatcher.cache_use != "use" and not request.shown:
            return None
        groups: Iterable[list[Candidate]] = []
        if request.fallback or not named:
            first = "" if named or request.providers else self.selector.default()
            chain = self.selector.groups(queries[0], first, library=bool(request.shown))
            groups = itertools.islice(chain, 1 if request.fallback is False else None)
        if rounds := request.shown or stored_rounds(dispatcher, list_key(queries, request)):
            candidates = [one for group in (named, *groups) for one in group if one.row.enabled]
            found = replay_rounds(dispatcher, rounds, candidates, queries)
            return Replies(found, rounds=rounds) if found else None
        group = next(iter(groups), []) if not named else []
        cached = [] if any(_skipped(one, dispatcher, queries) for one in group) else dispatcher.cached(group, queries)
        is_whole = cached and all(reply.attempt.state == "ok" for reply in cached)
        return Replies(cached) if is_whole and len(cached) == len(group) * len(queries) else None

    def _run_chain(
        self,
        request: SearchRequest,
        dispatcher: Dispatcher,
        first: str,
        queries: list[Query],
        earlier: Sequence[ProviderReply] = (),
    ) -> Replies:
        """Query one group of providers after another until one answers; if one is slow, the next is started as well."""
        written = chain_entries(self.settings, queries[0])[1]
        self.selector.unloadable.clear()  # of earlier searches
        enough, chosen = 1 if written else MIN_EMPTY_ANSWERS, bool(written or first)
        chain = FallbackChain(dispatcher, queries, enough, chosen=chosen, earlier=earlier)
        wanted = queries[0]._replace(page=request.query.page)
        library = request.library and not (request.offline and not request.fallback)
        groups = self.selector.groups(wanted, first, library=library, tried=chain.places)
        for group in itertools.islice(groups, 1 if request.fallback is False else None):
            skipped = {one.id: attempt for one in group if (attempt := _skipped(one, dispatcher, queries))}
            delay = self._hedge_delay(group, dispatcher)
            share = self._time_share(request, group, chain.places) if delay == inf else 1.0
            if chain.query(group, skipped, delay, share):
                break
        replies = chain.finish()
        if not any(reply.attempt.answered for reply in replies.all):  # the error is about what the user set up
            named = {first, *(reply.candidate.id for reply in earlier)}
            own = {one.id for one, *_ in replies.all if one.id in named or self.selector.is_own(one)}
            order = sorted(replies.all, key=lambda r: (r.candidate.id not in own, r.attempt.state in UNSENT_STATES))
            replies = replies._replace(all=order)
        unknown = [tr("unknown provider {id!r} in the fallback chain", id=id) for id in self.selector.unknown(wanted)]
        return replies._replace(notices=(*replies.notices, *unknown, *self.selector.unloadable.values()))

    def _time_share(self, request: SearchRequest, group: list[Candidate], tried: Iterable[str] = ()) -> float:
        """Return the part of --timeout that a group may take: all of it if no other provider can follow."""
        if not request.timeout or request.fallback is False:
            return 1.0
        tried = [*tried, *(one.id for one in group)]
        later = self.selector.groups(request.query, "", library=False, tried=tried)
        follows = any(self.selector.skipped(one) is None for others in later for one in others)
        return CHAIN_TIME_SHARE if follows else 1.0

    def _hedge_delay(self, group: list[Candidate], dispatcher: Dispatcher) -> float:
        """Return the seconds until the next provider competes with a group.

        Queries to the user's own server go elsewhere only when it has failed, unless the user wrote the chain.
        """
        own = not all(map(self.selector.is_third_party, group))
        if len(group) > 1 or (own and not chain_entries(self.settings, dispatcher.request.query)[1]):
            return inf
        return min(self.health.usual_time(group[0].id) or HEDGE_S, dispatcher.time_left() / 2)


def _skipped(candidate: Candidate, dispatcher: Dispatcher, queries: list[Query]) -> Attempt | None:
    """Return why a chain skips a provider now; a cooldown is no reason offline, or if all answers are in the cache."""
    attempt = None if dispatcher.replays else dispatcher.selector.skipped(candidate)
    if not attempt or attempt.state != "cooldown":
        return attempt
    needs_request = not dispatcher.request.offline and len(dispatcher.cached([candidate], queries)) < len(queries)
    return attempt if needs_request else None


def page_start(shown: int, page: int, size: int) -> int:
    """Return the number of results before a page; the page before it may have ended early, with result `shown`."""
    return shown if -(-shown // size) == page - 1 else (page - 1) * size


def clean_query(text: str) -> str:
    """Return the text to search for: one line without control characters, truncated."""
    query = " ".join(clean(text, entities=False).split())[:MAX_QUERY_CHARS].strip()
    if not query:
        raise RequestError("the query is empty", "for example: sleuth search rust async runtimes")
    return query


def search_error(outcome: Outcome) -> SearchError:
    """Return the error for a failed search, with the reason and the hint of the first failure.

    The exit code is that of the first request. Providers that were not asked decide only if no other one failed.
    """
    failures = [attempt for attempt in outcome.attempts if not attempt.answered]
    failures = [attempt for attempt in failures if attempt.code] or failures
    unsent = [attempt for attempt in failures if (attempt.state, attempt.code) == ("skipped", "TIMEOUT")]
    failures = [attempt for attempt in failures if attempt not in unsent] or failures
    messages = list(dict.fromkeys(attempt.message for attempt in failures if attempt.message))
    if not messages:
        hint = "choose one: sleuth providers use ID, or look at the chain: sleuth config show websearch"
        return SearchError("{why}", hint, why=tr("; ").join(outcome.notices) or tr("no provider is selected"))
    asked = [attempt for attempt in failures if attempt.state not in UNSENT_STATES] or failures
    first, hint, message = asked[0], failures[0].hint or asked[0].hint, tr("; ").join(messages)
    if len(messages) > 2:
        names = tr(", ").join(dict.fromkeys(attempt.provider for attempt in failures))
        message = tr("no provider answered ({names}): {first}", names=names, first=messages[0])
    hints = {one.hint for one in asked}
    if len(hints) > 1 and all(one.code in ("UNREACHABLE", "TIMEOUT") for one in asked):
        hint = "check the network connection; without a network: sleuth search --offline …"
        if tr("check the server: sleuth doctor") in hints:  # the user's own
            hint = "check the server: sleuth doctor"
    error = SearchError("{why}", hint, code=first.code, provider=first.provider, why=message)
    error.status = first.status
    return error


def _next_pages(dispatcher: Dispatcher, replies: Replies, outcome: Outcome) -> list[ProviderReply]:
    """Request the next page of each provider if the results do not fill the page of the request."""
    wanted = dispatcher.request.results_before + dispatcher.request.query.count
    if not dispatcher.request.fill:  # then only what filters have dropped is replaced
        wanted = min(wanted, outcome.status.count_before)
    more = dispatcher.run(next_queries(replies.all) if len(outcome.results) < wanted else [])
    number = max((reply.round for reply in replies.all), default=0) + 1
    return [reply._replace(round=number) for reply in more if reply.attempt.answered or not dispatcher.replays]


def _log(outcome: Outcome) -> None:
    """Log one line per search, without the query; print one per attempt with --debug."""
    for attempt in outcome.attempts:
        facts = attempt.state, attempt.count, " from the cache" if attempt.cached else "", attempt.message or ""
        logs.debug("%s: %s, %s results%s %s", attempt.provider, *facts)
    found = (outcome.outcome, len(outcome.results), outcome.provider or "no provider", outcome.elapsed_ms)
    logs.log_facts("search: %s, %d results from %s in %d ms", *found)


def _window(outcome: Outcome, request: SearchRequest, replies: Sequence[ProviderReply]) -> Outcome:
    """Return the page of the results that was requested; numbers continue from the previous page."""
    count, start = request.query.count, request.results_before
    shown = outcome.results[start : start + count]
    page_failed = any(reply.round > 1 and not reply.attempt.answered for reply in replies)
    exhausted = request.fill and len(shown) < count and not page_failed
    more = len(outcome.results) > start + count or page_failed or (bool(next_queries(replies)) and not exhausted)
    verdict = outcome.outcome
    if outcome.results and not shown:
        verdict = "failed" if page_failed else "no_results" if verdict == "success" else verdict
    status = outcome.status._replace(count_after=len(shown), more=more)
    return outcome._replace(results=shown, outcome=verdict, status=status)


def _is_plain(pattern: str) -> bool:
    return bool(pattern) and not pattern.startswith(("/", "*"))
