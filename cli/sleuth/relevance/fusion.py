"""Merges the result lists of several providers into one ranked list without duplicates.

Reciprocal rank fusion: a result gets weight ÷ (60 + rank) points from each provider that found it. Ranks are comparable
between providers, scores are not. Every step is recorded in the hit for --explain.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cache

from sleuth.base.text import clean
from sleuth.base.urls import ascii_host, clean_url, domain, registered_host
from sleuth.relevance.dates import from_url, normalise
from sleuth.relevance.details import clean_details, identities, is_picture, united_details
from sleuth.relevance.duplicates import SnippetSketch, is_similar, letters, sketch_snippet
from sleuth.relevance.hit import Hit, Vote
from sleuth.relevance.urls import canonical
from sleuth_providers.base import Result
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sleuth.relevance.rules import Rules

    ResultScorer = Callable[[str, Sequence[str]], list[float] | None]  # query and texts

# Fields of a hit that come from the best-ranked result that has them.
FIRST_KNOWN = ("site", "published", "thumbnail", "author", "length", "image")
WEB_SCHEMES, FILE_SCHEMES = ("http", "https"), ("http", "https", "file")
MAX_CONTENT_CHARS, MAX_LABEL_CHARS = 100_000, 100
MAX_TEXT_CHARS = {"title": 300, "snippet": 2_000} | dict.fromkeys(("site", "author", "length"), MAX_LABEL_CHARS)

ORDER_FACTOR = 0.85  # of the weight of each further provider in -p a,b,c
RANK_CONSTANT = 60  # hardly matters for lists of ten; weights do

# --rerank mixes the place in the list with the words of title and snippet. The first places are worth more, as in
# nDCG, so that words move what is further down; with a larger share they make good lists worse (docs/relevance.md).
WORDS_SHARE, MODEL_SHARE = 0.2, 0.8

# --recent multiplies scores by a factor that falls from 1 to OLDEST_FACTOR; half of the way takes HALF_LIFE_DAYS.
HALF_LIFE_DAYS = 90
OLDEST_FACTOR = 0.5

# Two URLs are one page if site, title and numbers in the path agree and the snippets are similar.
MAX_COMPARED_PAGES, MAX_COMPARED_SNIPPETS = 10, 4  # candidates, and snippets of each: bounds the work


class ProviderList(Record):
    """The results of one provider, best first, and its weight."""

    provider: str
    weight: float
    results: Sequence[Result]
    files: bool = False  # file: URLs are allowed


class _RankedResult(Record):
    """A sanitised result with its rank."""

    key: str
    rank: int
    order: int
    provider: str
    weight: float
    result: Result


def order_factor(provider: str, named: Sequence[str]) -> float:
    """Return the factor for the weight of a provider: users name better providers first in -p."""
    return round(ORDER_FACTOR ** named.index(provider), 4) if provider in named else 1.0


def fuse(
    lists: Sequence[ProviderList],
    *,
    now: datetime,
    rules: Rules | None = None,
    recent: bool = False,
    rerank: str = "",
    reranker: ResultScorer | None = None,
) -> list[Hit]:
    """Merge result lists into one, ranked by score; citations count from 1.

    The score is the sum of the points times the factors in `adjustments`; with `rerank`, a query, the mix named there.
    `reranker` returns scores of a model for query and texts, or None.
    """
    hits = [_hit(group) for group in sorted(_merge(_ranked_results(lists, now)), key=lambda group: group[0][1:3])]
    if recent:
        hits = [_apply_recency(hit, now.date()) for hit in hits]
    if rules is not None:
        hits = [hit for hit in (_apply_rules(rules, hit) for hit in hits) if hit is not None]
    if rerank:
        hits = _rerank(rerank, sorted(hits, key=lambda hit: -hit.score), reranker)
    hits.sort(key=lambda hit: -hit.score)  # stable: ties keep the order by best rank and list
    return [hit._replace(citation=number) for number, hit in enumerate(hits, 1)]


def _ranked_results(lists: Sequence[ProviderList], now: datetime) -> Iterable[_RankedResult]:
    for order, (provider, weight, results, files) in enumerate(lists):
        for rank, result in enumerate(results, 1):
            url = clean_url(result.url, FILE_SCHEMES if files else WEB_SCHEMES)
            if url:
                yield _RankedResult(canonical(url), rank, order, provider, weight, _cleaned(result, url, now))


def _cleaned(result: Result, url: str, now: datetime) -> Result:
    texts: dict[str, Any] = {name: clean(getattr(result, name), limit) for name, limit in MAX_TEXT_CHARS.items()}
    return Result(
        url=url,
        content=clean(result.content, MAX_CONTENT_CHARS, lines=True),
        published=published_on(result, now),
        thumbnail=clean_url(result.thumbnail),
        engines=tuple(clean(engine, MAX_LABEL_CHARS) for engine in result.engines),
        image=clean_url(result.image),
        details=clean_details(result),
        **texts,
    )


def _merge(results: Iterable[_RankedResult]) -> list[list[_RankedResult]]:
    """Group the results of each page, best rank first."""
    groups: list[list[_RankedResult]] = []
    candidates: dict[tuple[str, str, tuple[str, ...]], list[list[_RankedResult]]] = {}
    sketch = cache(sketch_snippet)
    for page in _by_identity(list(results)):
        known = candidates.setdefault(_likeness_key(page[0]), [])
        twin = next((group for group in known[:MAX_COMPARED_PAGES] if _same_text(group, page, sketch)), None)
        if twin is None:
            known.append(page)
            groups.append(page)
        else:
            twin += page
    return [sorted(group, key=lambda one: one[1:3]) for group in groups]


def _by_identity(results: list[_RankedResult]) -> list[list[_RankedResult]]:
    """Group results that share a URL, a DOI, an arXiv id or a picture, directly or through a third one."""
    pictures = Counter((one.order, one.key) for one in results if is_picture(one.result))
    group_of: dict[str, list[_RankedResult]] = {}
    names_of: dict[int, list[str]] = {}  # identities of a group, by the id of its list
    for one in results:
        # A page with several pictures in one list is not a name for any of them.
        names = identities(one.result, [] if pictures[one.order, one.key] > 1 else [one.key], canonical)
        shared = {id(group): group for name in names if (group := group_of.get(name))}
        first, *others = shared.values() or [[]]
        first += [one, *(member for group in others for member in group)]
        joined = [*names, *(name for group in (first, *others) for name in names_of.pop(id(group), []))]
        names_of[id(first)] = joined
        group_of |= dict.fromkeys(joined, first)
    return list({id(group): group for group in group_of.values()}.values())


def _likeness_key(one: _RankedResult) -> tuple[str, str, tuple[str, ...]]:
    """Return what two URLs of one page have in common: the site, the title, and the numbers in the path.

    Numbers keep apart pages that differ only by an id or a date, such as the parts of a series.
    """
    host = ascii_host(one.key)
    numbers = re.findall(r"\d+", one.key.removeprefix(f"https://{host}"))
    return registered_host(host), letters(one.result.title), tuple(sorted(numbers))


def _same_text(group: list[_RankedResult], page: list[_RankedResult], sketch: Callable[[str], SnippetSketch]) -> bool:
    return bool(page[0].result.title) and any(
        is_similar(sketch(one.result.snippet), sketch(other.result.snippet))
        for one in group[:MAX_COMPARED_SNIPPETS]
        for other in page[:MAX_COMPARED_SNIPPETS]
    )


def _hit(group: list[_RankedResult]) -> Hit:
    votes: dict[str, Vote] = {}
    for one in group:  # sorted by rank, so the best rank of each provider counts
        points = one.weight / (RANK_CONSTANT + one.rank)
        votes.setdefault(one.provider, Vote(one.provider, one.rank, one.weight, points))
    results = [one.result for one in group]
    url = results[0].url
    if len(group) > 1:
        url = min((one for one in group if one.key == group[0].key), key=_url_flaws).result.url
    first: dict[str, Any] = {name: _first(results, name) for name in FIRST_KNOWN}
    return Hit(
        citation=0,
        title=max((result.title for result in results), key=_title_quality) or domain(url) or url,
        url=url,
        snippet=max((result.snippet for result in results), key=len),
        content=max((result.content for result in results), key=len) or None,
        site_name=first.pop("site") or domain(url),
        score=math.fsum(vote.points for vote in votes.values()),
        providers=tuple(votes),
        engines=tuple(dict.fromkeys(engine for result in results for engine in result.engines if engine)),
        details=united_details([result.details for result in results]),
        votes=tuple(votes.values()),
        **first,
    )


def _first(results: list[Result], name: str) -> str:
    return next(filter(None, (getattr(result, name) for result in results)), "")


def _title_quality(title: str) -> tuple[bool, bool, int]:
    bare = " " not in title and ("://" in title or title.startswith("www."))
    return not bare, not title.endswith(("…", "...")), len(title)


def _url_flaws(one: _RankedResult) -> tuple[bool, bool, int]:
    url = one.result.url
    return not url.startswith("https:"), ascii_host(url) != ascii_host(one.key), len(url)


def published_on(result: Result, now: datetime) -> str:
    """Return the date that a provider gives for a result, or that of its URL."""
    return (normalise(result.published, now) if result.published else "") or from_url(result.url, now)


def add_dates(hits: Sequence[Hit], dates: Mapping[str, str], now: datetime, recent: bool) -> list[Hit]:
    """Return hits without a date with that of their page, by URL; with `recent`, ranked by it as well."""
    dated = [hit._replace(published=dates.get(hit.url, "")) if not hit.published else hit for hit in hits]
    if recent:
        dated = [
            new if new.published == old.published else _with_recency(new, now.date())
            for old, new in zip(hits, dated, strict=True)
        ]
        dated.sort(key=lambda hit: -hit.score)
    return dated


def _with_recency(hit: Hit, today: date) -> Hit:
    """Return a hit that had no date, with its factor replaced."""
    undated = 1 - (1 - OLDEST_FACTOR) / 2
    others = tuple(one for one in hit.adjustments if not one.startswith("recent "))
    return _apply_recency(hit._replace(score=hit.score / undated, adjustments=others), today)


def _apply_recency(hit: Hit, today: date) -> Hit:
    days, age = HALF_LIFE_DAYS, "no date"
    if hit.published:
        days = max((today - date.fromisoformat(hit.published)).days, 0)
        age = f"{days} days old"
    factor = round(OLDEST_FACTOR + (1 - OLDEST_FACTOR) * 0.5 ** (days / HALF_LIFE_DAYS), 4)
    return _multiply(hit, factor, f"recent ×{factor:g} ({age})")


def _apply_rules(rules: Rules, hit: Hit) -> Hit | None:
    rule = rules.apply(hit.url)
    if rule is None:
        return hit
    if rule.name == "discard":
        return None
    factor = round(rule.factor, 4)
    return _multiply(hit, factor, f"rule ×{factor:g} (line {rule.line}: {clean(rule.text, MAX_LABEL_CHARS)})")


def _multiply(hit: Hit, factor: float, reason: str) -> Hit:
    return hit._replace(score=hit.score * factor, adjustments=(*hit.adjustments, reason))


def _rerank(query: str, hits: list[Hit], reranker: ResultScorer | None) -> list[Hit]:
    from sleuth.relevance.bm25 import rank_found, standardise

    texts = [f"{hit.title}\n{hit.snippet}" for hit in hits]
    by_model = reranker(query, texts) if reranker else None
    name, share = ("model", MODEL_SHARE) if by_model else ("words", WORDS_SHARE)
    by_text = standardise(by_model or rank_found(query, texts))
    by_rank = standardise([1 / math.log2(place + 2) for place in range(len(hits))])
    reranked = []
    for hit, *scores in zip(hits, by_text, by_rank, strict=True):
        match, place = (round(score, 4) for score in scores)
        formula = f"rerank = {share:g} × {match:g} ({name}) + {1 - share:g} × {place:g} (rank)"
        score = share * match + (1 - share) * place
        reranked.append(hit._replace(score=score, adjustments=(*hit.adjustments, formula)))
    return reranked
