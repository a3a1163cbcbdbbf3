"""The lists of several providers made one: duplicates merged, ranks weighed, every step kept for those who ask why."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from functools import cache

from sleuth.base.text import clean
from sleuth.base.urls import ascii_host, clean_url, domain, registered_host
from sleuth.relevance.dates import normalise
from sleuth.relevance.hit import Hit, Vote
from sleuth.relevance.urls import canonical
from sleuth_providers.base import Result
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sleuth.relevance.rules import Rules

WEB, FILES = ("http", "https"), ("http", "https", "file")
TITLE, SNIPPET, CONTENT, LABEL = 300, 2_000, 100_000, 100  # characters that are kept

HALF_LIFE = 90  # days in which half of what --recent gives to a page of today is gone
OLDEST = 0.5  # what is left of the score of a page as old as the web

SAME_SNIPPET = 0.8  # share of common four-letter pieces
LEAST_SNIPPET = 40  # letters; shorter ones are alike by chance
SKETCHED = 500  # letters that are compared
MOST_TWINS, MOST_SNIPPETS = 10, 4  # pages, and snippets of each, that one is compared with; more would keep us busy


class ProviderList(Record):
    """What one provider found, best first, and how much its word counts."""

    provider: str
    weight: float
    results: Sequence[Result]
    files: bool = False  # files of this machine may be among them


class _Find(Record):
    """One result, cleaned, where it stood."""

    key: str
    rank: int
    order: int
    provider: str
    weight: float
    result: Result


def fuse(
    lists: Sequence[ProviderList],
    *,
    now: datetime,
    rules: Rules | None = None,
    recent: bool = False,
    rerank: str = "",
    k: int = 60,
) -> list[Hit]:
    """Merge the lists of providers into one, ranked by reciprocal rank fusion; citations count from 1."""
    # A score is the sum of the points times the factors in the adjustments; with `rerank` it is the mix named there.
    groups = sorted(_merge(_finds(lists, now)), key=lambda group: group[0][1:3])
    hits = [_hit(group, k) for group in groups]
    if recent:
        hits = [_weigh_age(hit, now.date()) for hit in hits]
    if rules is not None:
        hits = [hit for hit in (_apply(rules, hit) for hit in hits) if hit is not None]
    if rerank:
        hits = _mix(rerank, hits)
    hits.sort(key=lambda hit: -hit.score)  # stable: ties stay by best rank, then by the order of the lists
    return [hit._replace(citation=number) for number, hit in enumerate(hits, 1)]


def _finds(lists: Sequence[ProviderList], now: datetime) -> Iterable[_Find]:
    for order, (provider, weight, results, files) in enumerate(lists):
        for rank, result in enumerate(results, 1):
            url = clean_url(result.url, FILES if files else WEB)
            if url:
                yield _Find(canonical(url), rank, order, provider, weight, _cleaned(result, url, now))


def _cleaned(result: Result, url: str, now: datetime) -> Result:
    return Result(
        title=clean(result.title, TITLE),
        url=url,
        snippet=clean(result.snippet, SNIPPET),
        content=clean(result.content, CONTENT, lines=True),
        published=normalise(result.published, now) if result.published else "",
        site=clean(result.site, LABEL),
        thumbnail=clean_url(result.thumbnail),
        engines=tuple(clean(engine, LABEL) for engine in result.engines),
        author=clean(result.author, LABEL),
        length=clean(result.length, LABEL),
        image=clean_url(result.image),
    )


def _merge(finds: Iterable[_Find]) -> list[list[_Find]]:
    """Return the finds of each page together, the best-ranked first."""
    pages: dict[str, list[_Find]] = {}
    for find in finds:
        pages.setdefault(find.key, []).append(find)
    groups: list[list[_Find]] = []
    alike: dict[tuple[str, str, tuple[str, ...]], list[list[_Find]]] = {}
    sketch = cache(_sketch)
    for page in pages.values():
        known = alike.setdefault(_looks(page[0]), [])
        twin = next((group for group in known[:MOST_TWINS] if _same_text(group, page, sketch)), None)
        if twin is None:
            known.append(page)
            groups.append(page)
        else:
            twin += page
    return [sorted(group, key=lambda find: find[1:3]) for group in groups]


def _looks(find: _Find) -> tuple[str, str, tuple[str, ...]]:
    """Return what two addresses of one text have in common: the site, the title, and the numbers in the path."""
    host = ascii_host(find.key)
    numbers = re.findall(r"\d+", find.key.removeprefix(f"https://{host}"))
    return registered_host(host), _letters(find.result.title), tuple(sorted(numbers))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _same_text(group: list[_Find], page: list[_Find], sketch: Callable[[str], _Sketch]) -> bool:
    return bool(page[0].result.title) and any(
        _alike(sketch(one.result.snippet), sketch(other.result.snippet))
        for one in group[:MOST_SNIPPETS]
        for other in page[:MOST_SNIPPETS]
    )


class _Sketch(Record):
    """As much of a snippet as is compared: its letters, and the pieces of four they make."""

    letters: str
    pieces: frozenset[str]


def _sketch(snippet: str) -> _Sketch:
    letters = _letters(snippet[: 2 * SKETCHED])[:SKETCHED]
    return _Sketch(letters, frozenset(letters[start : start + 4] for start in range(len(letters) - 3)))


def _alike(one: _Sketch, other: _Sketch) -> bool:
    if min(len(one.letters), len(other.letters)) < LEAST_SNIPPET:
        return False
    if one.letters in other.letters or other.letters in one.letters:
        return True
    return len(one.pieces & other.pieces) >= SAME_SNIPPET * len(one.pieces | other.pieces)


def _hit(group: list[_Find], k: int) -> Hit:
    votes: dict[str, Vote] = {}
    for find in group:  # the best rank of each provider comes first
        points = find.weight / (k + find.rank)
        votes.setdefault(find.provider, Vote(find.provider, find.rank, find.weight, points))
    results = [find.result for find in group]
    url = min((find for find in group if find.key == group[0].key), key=_address_flaws).result.url
    return Hit(
        citation=0,
        title=max((result.title for result in results), key=_title_merits) or domain(url) or url,
        url=url,
        snippet=max((result.snippet for result in results), key=len),
        content=max((result.content for result in results), key=len) or None,
        site_name=_first(result.site for result in results) or domain(url),
        published=_first(result.published for result in results),
        score=math.fsum(vote.points for vote in votes.values()),
        providers=tuple(votes),
        engines=tuple(dict.fromkeys(engine for result in results for engine in result.engines if engine)),
        thumbnail=_first(result.thumbnail for result in results),
        author=_first(result.author for result in results),
        length=_first(result.length for result in results),
        image=_first(result.image for result in results),
        votes=tuple(votes.values()),
    )


def _first(values: Iterable[str]) -> str:
    return next(filter(None, values), "")


def _title_merits(title: str) -> tuple[bool, bool, int]:
    bare = " " not in title and ("://" in title or title.startswith("www."))
    return not bare, not title.endswith(("…", "...")), len(title)


def _address_flaws(find: _Find) -> tuple[bool, bool, int]:
    url = find.result.url
    return not url.startswith("https:"), ascii_host(url) != ascii_host(find.key), len(url)


def _weigh_age(hit: Hit, today: date) -> Hit:
    if hit.published:
        days = max((today - date.fromisoformat(hit.published)).days, 0)
        said = f"{days} days old"
    else:
        days, said = HALF_LIFE, "no date"
    factor = round(OLDEST + (1 - OLDEST) * 0.5 ** (days / HALF_LIFE), 4)
    return _multiply(hit, factor, f"recent ×{factor:g} ({said})")


def _apply(rules: Rules, hit: Hit) -> Hit | None:
    action = rules.apply(hit.url)
    if action is None:
        return hit
    if action.name == "discard":
        return None
    factor = round(action.factor, 4)
    return _multiply(hit, factor, f"rule ×{factor:g} (line {action.line}: {clean(action.text, LABEL)})")


def _multiply(hit: Hit, factor: float, said: str) -> Hit:
    return hit._replace(score=hit.score * factor, adjustments=(*hit.adjustments, said))


def _mix(query: str, hits: list[Hit]) -> list[Hit]:
    from sleuth.relevance.bm25 import rank, standardise

    by_words = standardise(rank(query, [f"{hit.title}\n{hit.snippet}" for hit in hits]))
    by_rank = standardise([hit.score for hit in hits])
    return [
        _mixed(hit, round(one, 4), round(other, 4)) for hit, one, other in zip(hits, by_words, by_rank, strict=True)
    ]


def _mixed(hit: Hit, by_words: float, by_rank: float) -> Hit:
    score = 0.5 * by_words + 0.5 * by_rank
    said = f"rerank = 0.5 × {by_words:g} (words) + 0.5 × {by_rank:g} (rank)"
    return hit._replace(score=score, adjustments=(*hit.adjustments, said))
