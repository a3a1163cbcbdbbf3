"""The line of facts below the title of a result: what matters differs between papers, pictures, videos and code."""

from __future__ import annotations

from collections.abc import Iterator

from sleuth.base.i18n import tr, trn
from sleuth.base.urls import domain
from sleuth.relevance.details import is_picture
from sleuth.relevance.hit import Hit
from sleuth_providers.records import Record

MAX_AUTHORS = 3
SEPARATOR = " · "
REDIRECTING_HOST = "news.google.com"  # says nothing about the newspaper


class Fact(Record):
    """A text, and the URL that it links to."""

    text: str
    url: str = ""


def facts(hit: Hit) -> list[Fact]:
    """Return the facts about a result that are known, most important first."""
    details = hit.details
    if details.authors or details.doi or details.arxiv or details.isbn:
        found = _work(hit)
    elif hit.length or details.channel or details.views is not None:
        found = _video(hit)
    elif details.width:
        found = _picture(hit)
    else:
        found = _page(hit)
    shown = [fact for fact in found if fact.text]
    return [*shown, Fact(", ".join(hit.providers))] if len(hit.providers) > 1 else shown


def facts_line(hit: Hit) -> str:
    """Return the facts of a result that has details, with the URL of a picture; empty for an ordinary page."""
    texts = [*(fact.text for fact in facts(hit)), *([hit.image] if is_picture(hit) else [])]
    return SEPARATOR.join(texts) if hit.details.known() else ""


def _work(hit: Hit) -> Iterator[Fact]:
    """Yield authors · year · venue · publisher · counts · DOI · PDF of a paper or book."""
    details = hit.details
    yield Fact(short_authors(details.authors))
    yield Fact(str(details.year or "") or hit.published)
    yield Fact(details.venue or details.publisher)
    if details.editions and details.editions > 1:
        yield Fact(trn("{count} edition", "{count} editions", details.editions))
    if details.cited_by:
        yield Fact(tr("cited {count}×", count=details.cited_by))
    yield Fact(tr("open access") if details.open_access and not details.pdf else "")
    if details.doi and not hit.url.lower().endswith(details.doi.lower()):
        yield Fact(details.doi, f"https://doi.org/{details.doi}")
    yield Fact(f"arXiv:{details.arxiv}" if details.arxiv and not details.doi else "")
    yield Fact(f"ISBN {details.isbn}" if details.isbn and not details.doi else "")
    yield Fact("PDF" if details.pdf else "", details.pdf)


def _picture(hit: Hit) -> Iterator[Fact]:
    """Yield size · licence · author · date of a picture."""
    details = hit.details
    yield Fact(f"{details.width} × {details.height}" if details.height else "")
    yield Fact(details.license, details.license_url)
    yield Fact(hit.author)
    yield Fact(hit.published)


def _video(hit: Hit) -> Iterator[Fact]:
    """Yield length · channel · date · views of a video."""
    yield Fact(hit.length)
    yield Fact(hit.details.channel or hit.author)
    yield Fact(hit.published)
    if hit.details.views is not None:
        yield Fact(trn("{count} view", "{count} views", hit.details.views, count=compact(hit.details.views)))
    yield Fact(hit.details.license, hit.details.license_url)


def _page(hit: Hit) -> Iterator[Fact]:
    """Yield date · author, and votes, answers, stars and language of questions and code."""
    details = hit.details
    yield Fact(hit.site_name if domain(hit.url) == REDIRECTING_HOST else "")
    yield Fact(hit.published or str(details.year or ""))
    yield Fact(hit.author)
    if details.stars is not None:
        yield Fact(f"★ {compact(details.stars)}")
    yield Fact(details.language)
    yield Fact(details.license if details.stars is not None else "", details.license_url)
    if details.points is not None:
        yield Fact(trn("{count} point", "{count} points", details.points))
    if details.answer_count is not None:
        yield Fact(trn("{count} answer", "{count} answers", details.answer_count))
    yield Fact(tr("accepted answer") if details.accepted else "")
    if details.comments:
        yield Fact(trn("{count} comment", "{count} comments", details.comments))


def compact(number: int) -> str:
    """Return 1234567 as 1.2M."""
    for size, unit in ((10**9, "B"), (10**6, "M"), (10**3, "k")):
        if number >= size:
            return f"{number / size:.1f}".removesuffix(".0") + unit
    return str(number)


def short_authors(authors: tuple[str, ...]) -> str:
    """Return the first authors; names in the form "Family, Given" are separated by semicolons."""
    separator = "; " if any("," in name for name in authors[:MAX_AUTHORS]) else ", "
    return separator.join(authors[:MAX_AUTHORS]) + (" et al." if len(authors) > MAX_AUTHORS else "")
