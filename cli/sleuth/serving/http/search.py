"""Searches and summaries over HTTP."""

import time
from typing import Any

from pydantic.alias_generators import to_camel

from sleuth.answers.summary import DigestSource, digest_as_json
from sleuth.api import Client
from sleuth.base import logs
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import domain
from sleuth.engine.content import compression_options
from sleuth.engine.outcome import Outcome, Status
from sleuth.engine.search_options import SearchOptions
from sleuth.relevance.hit import Hit
from sleuth.serving.http.models import SUMMARY_FIELDS, SearchBody, Tracing
from sleuth.store.settings import COMPRESSION_METHOD, FETCH_CHARS

SUMMARIZE = "summarize"
AUTO = "auto"
COMPRESSING = {"compress", "limit", "unit", "max_tokens"}  # search options that also apply to summaries


def run_search(client: Client, body: SearchBody) -> dict[str, Any]:
    """Return the published form of a search, or of a summary of links."""
    check_providers(client, body.provider_id)
    log_tracing(body.tracing)
    if body.questions[0] == SUMMARIZE and body.links:
        return _summarize(client, body, body.links)
    compresses = client.runtime.settings[COMPRESSION_METHOD].get("method", "none") != "none"
    options = {"content": compresses} | body.options()
    outcome = client.search(body.questions, providers=named(body.provider_id), **options)
    if body.links:
        warning = tr("links are ignored unless the first question is {word}", word=SUMMARIZE)
        outcome = outcome._replace(warnings=(*outcome.warnings, warning))
    return outcome.as_json()


def check_providers(client: Client, ids: str | list[str]) -> None:
    """Raise UnknownProviderError unless each id is `auto` or that of a provider."""
    for id in [ids] if isinstance(ids, str) else ids:
        if id != AUTO:
            client.runtime.selector.candidate(id)


def named(ids: str | list[str]) -> tuple[str, ...]:
    """Return the providers to search; none for `auto`, which is the default provider and then the chain."""
    return () if ids == AUTO else (ids,) if isinstance(ids, str) else tuple(ids)


def log_tracing(tracing: Tracing | None) -> None:
    """Write the tracing fields to the log, the only place they reach."""
    if tracing and (fields := tracing.model_dump(by_alias=True, exclude_none=True)):
        logs.log("serve: trace %s", " ".join(f"{name}={clean(value, 100)}" for name, value in sorted(fields.items())))


def _summarize(client: Client, body: SearchBody, links: list[str]) -> dict[str, Any]:
    started = time.monotonic()
    query, given = " ".join(body.questions[1:]), body.options()
    summary = client.summarize(links, query, timeout=body.timeout)
    settings = client.runtime.settings
    compression = compression_options(settings, SearchOptions(**{key: given[key] for key in COMPRESSING & {*given}}))
    unused = [to_camel(name) for name in given if name not in {*COMPRESSING, "content", "timeout"}]
    ignored = tr("ignored in a summary of links: {fields}", fields=", ".join(unused))
    limit = settings[FETCH_CHARS] if compression.method == "none" else None  # else the whole page is compressed below
    hits = [_hit(source, page.text[:limit].rstrip()) for source, page in zip(summary.read, summary.pages, strict=True)]
    outcome = Outcome(
        query=query or body.questions[0],
        provider="",
        results=tuple(hits),
        outcome="partial" if len(summary.read) < len(summary.sources) else "success",
        status=Status("fetch_complete", len(summary.sources), len(summary.read)),
        warnings=(*summary.warnings, *([ignored] if unused else [])),
    )
    if compression.method != "none":
        outcome = client.runtime.content_reader.compress(outcome, compression, {})
    outcome = outcome._replace(elapsed_ms=max(1, round((time.monotonic() - started) * 1000)))
    document = digest_as_json(summary)
    return outcome.as_json() | {name: document[name] for name in SUMMARY_FIELDS}


def _hit(source: DigestSource, text: str) -> Hit:
    """Return a page as a result: its text as the content, the summary of it as the snippet."""
    summary = source.text or " ".join(quote.text for quote in source.summary)
    hit = Hit(source.citation, source.title, source.url, snippet=summary, content=text, site_name=domain(source.url))
    return hit._replace(published=source.published, author=source.author)
