"""Replies of providers become one outcome: filtered, ranked, with a verdict and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from sleuth.base.i18n import tr, trn
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.engine.job import ProviderReply
from sleuth.engine.outcome import ABANDONED, Attempt, Outcome, Status
from sleuth.store.provider_fields import number_option
from sleuth_providers.base import UNKNOWN_ENGINE, DirectAnswer, Result
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.engine.search import SearchRequest
    from sleuth.engine.selector import Candidate
    from sleuth.relevance.fusion import ProviderList, ResultScorer
    from sleuth.relevance.hit import Hit
    from sleuth.store.last_results import Rounds


# Fields of a query as the user knows them.
OPTION_NAMES = {"include": "--site", "engines": "--engine", "range": "--freshness"}
OTHER_OPTIONS = "lang region safe page freshness category exclude content with-time"
OPTION_NAMES |= {name: f"--{name}" for name in OTHER_OPTIONS.split()}
DATE_FILTERS = frozenset({"freshness", "range"})
UNDATED = "--freshness was not applied to results without a date"


class Replies(Record):
    """All replies to a request; `spare` are the providers whose answer was not needed (in a fallback chain)."""

    all: list[ProviderReply]
    notices: tuple[str, ...] = ()
    spare: frozenset[str] = frozenset()
    factors: Mapping[str, float] = {}  # of the weights of providers
    order: tuple[str, ...] = ()  # of the providers that the user named, the better ones first
    rounds: Rounds = ()  # that the list was known to be made of

    def counts(self, attempt: Attempt) -> bool:
        """Tell whether results are missing if an attempt fails."""
        is_spare = attempt.state == "skipped" and attempt.code not in ("OFFLINE", "PACED", "TIMEOUT")
        return not is_spare and attempt.provider not in self.spare


def merge(
    request: SearchRequest,
    text: str,
    replies: Replies,
    excluded: list[str],
    now: datetime,
    reranker: ResultScorer | None = None,
) -> Outcome:
    """Return the outcome of a request with all results; `excluded` are the domains that the settings drop."""
    query = request.query
    patterns = (*query.exclude, *excluded)
    dated = [_within_dates(reply, now) for reply in replies.all]
    hits = _ranked(request, text, replies, [results for results, _ in dated], now, reranker)
    kept = [hit for hit in hits if _is_allowed(hit.url, query.include, patterns)]
    attempts = tuple(_applied(reply, undated) for reply, (_, undated) in zip(replies.all, dated, strict=True))
    answered = [attempt for attempt in attempts if attempt.answered]
    used = dict.fromkeys(attempt.provider for attempt in attempts if attempt.state == "ok")
    return Outcome(
        query=text,
        provider=",".join(used or dict.fromkeys(attempt.provider for attempt in attempts)),
        results=tuple(
            hit._replace(citation=number, content=hit.content if query.content else None)
            for number, hit in enumerate(kept, 1)
        ),
        outcome=_verdict(bool(kept), replies, attempts),
        cached=bool(answered) and all(attempt.cached for attempt in answered),
        age=max((attempt.age for attempt in answered if attempt.cached), default=0.0),
        status=Status("default", len(hits), len(kept)),
        attempts=attempts,
        answers=_answers(replies.all),
        suggestions=_unique(text for reply in replies.all for text in reply.found.suggestions),
        corrections=_unique(text for reply in replies.all for text in reply.found.corrections),
        warnings=tuple(dict.fromkeys(_warnings(request, replies, attempts))),
        notices=(*replies.notices, *(() if kept else _removed(request, replies, excluded))),
        attribution=_attribution(replies.all, kept),
        # An order is kept. Without results, or if the library stood in for the web, the next search selects again.
        next_provider="+".join(used)
        if used.keys() - {"library"} and not replies.order
        else ",".join(request.providers),
    )


def _removed(request: SearchRequest, replies: Replies, excluded: list[str]) -> Iterator[str]:
    """Yield which filters dropped everything that the providers found, if they did."""
    query = request.query
    filters: dict[str, object] = {"--site": query.include, "--exclude": query.exclude, "--freshness": query.freshness}
    filters |= {"rules": request.rules, "websearch.exclude_domains": excluded}
    names = ", ".join(name for name, value in filters.items() if value)
    count = len({result.url for reply in replies.all for result in reply.found.results})
    if names and count:
        yield trn(
            "{count} result was removed by {filters}", "{count} results were removed by {filters}", count, filters=names
        )


def _attribution(replies: list[ProviderReply], hits: list[Hit]) -> tuple[str, ...]:
    """Return what the providers of these results ask to be shown, each once."""
    shown = {provider for hit in hits for provider in hit.providers}
    texts = (reply.candidate.adapter.attribution for reply in replies if reply.candidate.id in shown)
    return tuple(dict.fromkeys(text for text in texts if text))


def _ranked(
    request: SearchRequest,
    text: str,
    replies: Replies,
    results: list[list[Result]],
    now: datetime,
    reranker: ResultScorer | None,
) -> list[Hit]:
    """Rank the first replies of all providers, then add what each further round brings: what was shown stays."""
    from sleuth.relevance.details import identities, is_picture
    from sleuth.relevance.fusion import fuse
    from sleuth.relevance.urls import canonical

    lists: dict[tuple[str, str], ProviderList] = {}
    ranked: list[Hit] = []
    seen: set[str] = set()  # a result may get another URL when further pages are merged
    rounds = sorted({reply.round for reply in replies.all})
    for number in rounds:
        for reply, found in zip(replies.all, results, strict=True):
            if reply.round == number and found:
                key = reply.candidate.id, reply.query.text
                known = lists.get(key) or _empty_list(reply.candidate, replies)
                lists[key] = known._replace(results=[*known.results, *found])
        hits = fuse(
            list(lists.values()),
            now=now,
            rules=request.rules,
            recent=request.recent,
            rerank=text if request.rerank else "",
            reranker=reranker,
        )
        if len(rounds) == 1:
            return hits
        for hit in hits:
            names = identities(hit, [] if is_picture(hit) else [canonical(hit.url)], canonical)
            if seen.isdisjoint(names):
                ranked.append(hit)
            seen.update(names)
    return ranked


def _empty_list(candidate: Candidate, replies: Replies) -> ProviderList:
    """Return the list of a provider, with its weight and without results."""
    from sleuth.relevance.fusion import ProviderList, order_factor

    weight = number_option(candidate.row.options, "weight")
    weight = candidate.adapter.weight if weight is None else weight
    weight *= order_factor(candidate.id, replies.order) * replies.factors.get(candidate.id, 1.0)
    return ProviderList(candidate.id, weight, [], files=candidate.adapter.files)


def _is_allowed(url: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> bool:
    from sleuth.relevance.urls import matches_domain

    if url.startswith("file:"):
        return not include
    is_included = not include or any(matches_domain(url, pattern) for pattern in include)
    return is_included and not any(matches_domain(url, pattern) for pattern in exclude)


def _within_dates(reply: ProviderReply, now: datetime) -> tuple[list[Result], bool]:
    """Drop results with a date out of range, even if the provider should have; the flag says that some have no date."""
    results, query = list(reply.found.results), reply.query
    if not query.freshness:
        return results, False
    from sleuth.relevance.fusion import published_on

    kept, undated = [], False
    for result in results:
        date, year = published_on(result, now), result.details.year
        first, last = (date, date) if date or not year else (f"{year:04}-01-01", f"{year:04}-12-31")
        undated |= not first
        if not first or (query.since <= last and (not query.until or first <= query.until)):
            kept.append(result)
    return kept, undated


def _applied(reply: ProviderReply, undated: bool) -> Attempt:
    """Return the attempt without the options in `not_applied` that sleuth applied itself, or that were not given."""
    done = {"include", "exclude", "page"} | (set() if undated else DATE_FILTERS)
    done |= {"category"} if reply.query.category == "general" else set()
    return reply.attempt._replace(not_applied=tuple(name for name in reply.attempt.not_applied if name not in done))


def _verdict(has_hits: bool, replies: Replies, attempts: tuple[Attempt, ...]) -> str:
    """Return the outcome in one word: "no_results" only when every provider answered and found nothing."""
    answered = [attempt for attempt in attempts if attempt.answered]
    failures = [one for one in attempts if not one.answered and (one.state != "skipped" or replies.counts(one))]
    offline = {reply.candidate.id for reply in replies.all if reply.candidate.adapter.offline}
    has_failed = any(attempt.state != "skipped" for attempt in failures)
    last_resort = has_failed and all(attempt.provider in offline for attempt in answered)
    if has_hits or any(reply.found.answers for reply in replies.all):
        return "partial" if last_resort or any(map(replies.counts, failures)) else "success"
    if not answered or last_resort:
        return "failed"
    is_abandoned = any(attempt.code == ABANDONED for attempt in attempts)  # it may have found what filters keep
    return "partial" if is_abandoned or any(one.state != "key_missing" for one in failures) else "no_results"


def _answers(replies: list[ProviderReply]) -> tuple[DirectAnswer, ...]:
    found = (answer for reply in replies for answer in reply.found.answers)
    cleaned = (DirectAnswer(clean(answer.text, 2000), clean_url(answer.url)) for answer in found)
    return tuple(dict.fromkeys(answer for answer in cleaned if answer.text))


def _unique(texts: Iterator[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for line in (clean(text, 300) for text in texts) if line))


def _as_typed(option: str, attempt: Attempt) -> str:
    """Return an option as on the command line, with the engines that a server does not have."""
    unknown = [name for name, reason in attempt.engines.items() if reason == UNKNOWN_ENGINE]
    return " ".join([OPTION_NAMES.get(option, option), ",".join(unknown) if option == "engines" else ""]).strip()


def _warnings(request: SearchRequest, replies: Replies, attempts: tuple[Attempt, ...]) -> Iterator[str]:
    ignored: dict[str, list[str]] = {}  # names of providers by the options they ignore
    for reply, attempt in zip(replies.all, attempts, strict=True):
        name = reply.candidate.row.name
        # No warning for excluded domains that were not sent: their results are dropped here.
        wanted = [one for one in attempt.not_applied if one not in (*request.from_settings, *DATE_FILTERS)]
        options = [_as_typed(one, attempt) for one in wanted if not one.startswith("--exclude")]
        if attempt.answered and options:
            ignored.setdefault("; ".join(options), []).append(name)
        if attempt.answered and not request.query.content and DATE_FILTERS & set(attempt.not_applied):
            yield tr(UNDATED)  # else pages are read, and may have dates
        chosen = reply.query.engines or reply.candidate.row.engines
        failed = [engine for engine in chosen if attempt.engines.get(engine, UNKNOWN_ENGINE) != UNKNOWN_ENGINE]
        if attempt.answered and failed:
            reasons = tr(", ").join(f"{engine}: {attempt.engines[engine]}" for engine in failed)
            yield tr("engines of {provider} that failed: {engines}", provider=name, engines=reasons)
        is_further_page = reply.round > 1 and attempt.state != "skipped"  # else a notice names spare providers
        if attempt.message and (attempt.answered or replies.counts(attempt) or is_further_page):
            yield attempt.message
    for shown, names in ignored.items():
        yield tr("not applied by {provider}: {options}", provider=tr(", ").join(dict.fromkeys(names)), options=shown)
