"""Fits a query to the limits of a provider, and says what had to be left out."""

from __future__ import annotations

from sleuth.base.i18n import tr
from sleuth_providers.base import Provider, Query

MIN_REQUESTED_RESULTS = 10  # filters and fusion need some, and they cost nothing
DATE_PREFIX = " (today is "


def fit_query(query: Query, adapter: Provider, *, date_wanted: bool = False) -> tuple[Query, tuple[str, ...]]:
    """Return a query as a provider accepts it, and what was left out; the user's words take precedence.

    A query that was fitted before is unchanged. `date_wanted` says that the user asked for today's date, so that a
    provider without it is worth a note.
    """
    notes = []
    text = " ".join(query.text[: adapter.max_query].split()[: adapter.max_words or None])
    if text != query.text:
        notes.append(tr("query (truncated to {count} characters)", count=len(text)))
    date = f"{DATE_PREFIX}{query.today})"
    can_date = query.dated and query.today and adapter.reads_language and len(text + date) <= adapter.max_query
    if can_date and not text.endswith(date):
        text += date
    if date_wanted and not text.endswith(date):
        notes.append("with-time")
    if query.count > adapter.max_results and "page" not in adapter.supports:
        notes.append(tr("--count (at most {count} results)", count=adapter.max_results))
    query = query._replace(count=min(max(query.count, MIN_REQUESTED_RESULTS), adapter.max_results), text=text)
    include, exclude = _fitting_domains(query, adapter)
    for option, sent, wanted in (("--site", include, query.include), ("--exclude", exclude, query.exclude)):
        if sent != wanted:
            facts = {"option": option, "sent": len(sent), "all": len(wanted)}
            notes.append(tr("{option} ({sent} of {all} domains sent; the rest is filtered locally)", **facts))
    return query._replace(include=include, exclude=exclude), tuple(notes)


def without_date(text: str) -> str:
    """Return the text of a query without the date that `fit_query` added."""
    return text.rpartition(DATE_PREFIX)[0] or text


def _fitting_domains(query: Query, adapter: Provider) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the domains to include, all or none, and as many of those to exclude as the provider takes."""

    def fits(include: tuple[str, ...], exclude: tuple[str, ...]) -> bool:
        whole = query._replace(include=include, exclude=exclude).with_operators()
        short = len(whole) <= adapter.max_query and (not adapter.max_words or len(whole.split()) <= adapter.max_words)
        return short or not adapter.operators

    include = query.include if len(query.include) <= adapter.max_include and fits(query.include, ()) else ()
    limit = 0 if include and adapter.one_domain_list else adapter.max_exclude
    exclude: tuple[str, ...] = ()
    for domain in query.exclude[:limit]:
        if not fits(include, (*exclude, domain)):
            break
        exclude = (*exclude, domain)
    return include, exclude
