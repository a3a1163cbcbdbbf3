"""A search over HTTP, and its other form: links to be summarised."""

from typing import Any

from sleuth.answers import digest
from sleuth.api import Client
from sleuth.base import logs
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import clean_url, domain
from sleuth.engine.outcome import Outcome, Status, outcome_as_json
from sleuth.relevance.hit import Hit
from sleuth.serving.http.forms import SUMMARISED
from sleuth.store.settings import COMPRESSION_METHOD

SUMMARIZE = "summarize"
AUTO = "auto"


def search(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a search request; raises where there is no such provider, or nobody could answer."""
    check_provider(client, body["providerId"])
    note_tracing(body)
    questions, links = body["questions"], body.get("links", [])
    if questions[0] == SUMMARIZE and links:
        return _summarise(client, " ".join(questions[1:]), links)
    squeezed = client.runtime.settings[COMPRESSION_METHOD].get("method", "none") != "none"
    outcome = client.search(questions, providers=(body["providerId"],), content=squeezed)
    if links:
        told = tr("links are only read when the first question is {word}", word=SUMMARIZE)
        outcome = outcome._replace(warnings=(*outcome.warnings, told))
    return outcome_as_json(outcome)


def check_provider(client: Client, id: str) -> None:
    """Refuse an id that no provider has."""
    if id != AUTO:
        client.runtime.selector.candidate(id)


def note_tracing(body: dict[str, Any]) -> None:
    """Write who asks to the log; nothing else ever sees it."""
    if told := body.get("tracing"):
        logs.log("serve: trace %s", " ".join(f"{name}={clean(value, 100)}" for name, value in sorted(told.items())))


def _summarise(client: Client, query: str, links: list[str]) -> dict[str, Any]:
    pages = dict.fromkeys(clean_url(link) or link for link in links)  # one given twice is one page
    found = client.summarize(list(pages), query)
    outcome = Outcome(
        query=query,
        provider="",
        results=tuple(_hit(source) for source in found.read),
        outcome="partial" if len(found.read) < len(found.sources) else "success",
        status=Status("fetch_complete", len(found.sources), len(found.read)),
        warnings=found.warnings,
    )
    told = digest.digest_as_json(found)
    return outcome_as_json(outcome) | {name: told[name] for name in SUMMARISED}


def _hit(source: digest.DigestSource) -> Hit:
    """Return a page that was read as a result: its content is the summary of it."""
    text = source.text or " ".join(quote.text for quote in source.summary)
    return Hit(
        source.citation,
        source.title,
        source.url,
        snippet=text,
        content=text,
        site_name=domain(source.url),
        published=source.published,
        author=source.author,
    )
