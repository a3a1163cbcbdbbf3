"""What comes after the results so far: the next page of each provider, in the order in which the list was made.

The cached answers usually determine what a list was built from. Where they do not (a provider failed, or a page came
late), a cache entry records which provider answered which question in each round, so that the next page of the list
neither repeats nor loses a result.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice

from sleuth.engine.dispatch import Dispatcher
from sleuth.engine.job import ProviderReply, hashed
from sleuth.engine.merge import Replies
from sleuth.engine.query_fit import fit_query
from sleuth.engine.selector import Candidate
from sleuth.store.settings import CACHE_TTL
from sleuth_providers.base import Query

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.engine.search import SearchRequest
    from sleuth.store.last_results import Rounds

MAX_PROVIDER_PAGES = 10  # that one search requests
MAX_ROUNDS = 100  # more were not stored by sleuth
FULL_PAGE = 5  # a page with fewer results is the last one; the number per page varies between providers


def next_queries(replies: Sequence[ProviderReply]) -> list[tuple[Candidate, Query]]:
    """Return the query for what each provider may have after its last reply."""
    last = {(reply.candidate.id, reply.query.text): reply for reply in replies}.values()
    return [(reply.candidate, query) for reply in last if (query := _next_query(reply))]


def _next_query(reply: ProviderReply) -> Query | None:
    """Return the query for the next page, or for a longer list if the provider has no pages.

    A short page is taken for the last one; a paid provider is queried again only after a full page.
    """
    adapter, query, found = reply.candidate.adapter, reply.query, len(reply.found.results)
    full = min(query.count, adapter.page_size or query.count) if adapter.cost else min(query.count, FULL_PAGE)
    if not found or found < full or query.page == MAX_PROVIDER_PAGES:
        return None
    following = query._replace(page=query.page + 1, dated=False)  # the text has the date already, if it needs one
    if "page" not in adapter.not_applied(following):
        return following
    longer = following._replace(count=min(2 * query.count, adapter.max_results))
    return longer if longer.count > query.count else None


def list_key(queries: Sequence[Query], request: SearchRequest) -> str:
    """Return the key of a list: its page, and the number of results on a page, do not matter."""
    return hashed([*request.providers, request.fallback], *(query._replace(page=1, count=0) for query in queries))


def stored_rounds(dispatcher: Dispatcher, key: str) -> Rounds:
    """Return what a list was made of; nothing if the cached answers tell, or the entry is damaged."""
    entry = dispatcher.cache.get(key)
    ttl_s = dispatcher.selector.settings[CACHE_TTL] * 60
    if entry and (dispatcher.request.offline or entry.fresh_for(ttl_s) > 0):
        with suppress(TypeError, ValueError):
            return [{(id, number) for id, number in pairs} for pairs in islice(entry.value, MAX_ROUNDS)]
    return []


def replay_rounds(
    dispatcher: Dispatcher, rounds: Rounds, candidates: list[Candidate], queries: list[Query]
) -> list[ProviderReply]:
    """Return the replies to the requests of these rounds; nothing if a provider cannot be used any more.

    Others may write to the cache, so the rounds only select among requests that a search could make without them.
    """
    numbers = _numbers(candidates, queries)
    requests = [(one, query) for one in candidates for at, query in enumerate(queries) if (one.id, at) in rounds[0]]
    if len(requests) < len(rounds[0]):
        return []
    replies = dispatcher.run(requests)
    for round, pairs in enumerate(rounds[1:], 2):
        requests = [
            (one, query) for one, query in next_queries(replies) if (one.id, numbers[one.id, query.text]) in pairs
        ]
        replies += [reply._replace(round=round) for reply in dispatcher.run(requests)]
    return replies


def rounds_of(replies: Replies, queries: list[Query]) -> Rounds:
    """Return what a list is made of; a part that failed this time stays in it."""
    numbers = _numbers([reply.candidate for reply in replies.all], queries)
    rounds: dict[int, list[tuple[str, int]]] = {}
    for reply in replies.all:
        if reply.attempt.state == "ok":
            pair = reply.candidate.id, numbers[reply.candidate.id, reply.query.text]
            rounds.setdefault(reply.round, []).append(pair)
    made, known = [*rounds.values()], replies.rounds
    return made if [*map(set, made)][: len(known)] == [*map(set, known)] else known


def store_rounds(dispatcher: Dispatcher, replies: Replies, made: Rounds, queries: list[Query]) -> None:
    """Store what a list is made of if the cached answers do not tell."""
    known = replies.rounds
    if not made or (known and len(made) == len(known)):
        return  # nothing to continue, or nothing new
    is_late = bool(known) or any(reply.round > 1 and not reply.attempt.answered for reply in replies.all)
    needed = made if is_late or len(made[0]) < sum(reply.round == 1 for reply in replies.all) else []
    key = list_key(queries, dispatcher.request)
    if needed or stored_rounds(dispatcher, key):  # of an earlier search that went otherwise
        dispatcher.cache.put(key, needed, dispatcher.selector.settings[CACHE_TTL] * 60)


def _numbers(candidates: list[Candidate], queries: list[Query]) -> dict[tuple[str, str], int]:
    """Return the numbers of the questions by provider and text, which may differ between providers."""
    ids = {candidate.id: candidate.adapter for candidate in candidates}.items()
    return {(id, fit_query(query, adapter)[0].text): at for id, adapter in ids for at, query in enumerate(queries)}
