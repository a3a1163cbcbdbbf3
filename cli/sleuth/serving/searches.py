"""A search over HTTP, and its other form: links to be summarised."""

from typing import Any

from sleuth import logs
from sleuth.answers import digest
from sleuth.api import Client
from sleuth.language import say
from sleuth.outcome import Hit, Outcome, Status, as_json
from sleuth.serving.forms import SUMMARISED
from sleuth.settings import COMPRESSION_METHOD
from sleuth.text import clean, clean_url, domain

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
        told = say("links are only read when the first question is {word}", word=SUMMARIZE)
        outcome = outcome._replace(warnings=(*outcome.warnings, told))
    return as_json(outcome)


def check_provider(client: Client, id: str) -> None:
    """Refuse an id that no provider has."""
    if id != AUTO:
        client.runtime.chooser.candidate(id)


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
    told = digest.as_json(found)
    return as_json(outcome) | {name: told[name] for name in SUMMARISED}


def _hit(source: digest.Source) -> Hit:
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
