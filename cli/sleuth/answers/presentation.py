"""Answers and digests as Markdown or plain text: citations linked and marked, sources listed."""

from collections.abc import Sequence
from itertools import groupby

from sleuth.answers import citation_check
from sleuth.answers.answer import Answer
from sleuth.answers.citations import CitedSource, LinkedText, link, reference_section, targets
from sleuth.answers.markdown import as_plain, safe_markdown
from sleuth.answers.summary import Digest, DigestSource, Quote
from sleuth.base.i18n import tr, trn
from sleuth.base.text import escape_markdown, shorten, strip_controls
from sleuth.relevance.sentences import joined


def safe(answer: Answer) -> Answer:
    """Return an answer without control characters, its citations checked again if that changed the text."""
    text = strip_controls(answer.text)
    if text == answer.text:
        return answer
    return answer._replace(text=text, checks=tuple(citation_check.check(text, answer.sources)))


def linked(answer: Answer, style: str) -> LinkedText:
    """Return the text of an answer with its citations linked, and marked if a source does not support them."""
    return link(answer.text, answer.sources, style, citation_check.signs(answer.checks))


def linked_block(block: str, sources: Sequence[CitedSource]) -> str:
    """Return a finished block of an unfinished answer, linked as in the whole answer."""
    text = citation_check.attach(block, sources) if sources else block
    return link(text, sources, "markdown", citation_check.signs(citation_check.check(text, sources))).text


def as_text(answer: Answer, style: str, *, level: int = 2) -> str:
    """Return an answer with its references as Markdown or plain text."""
    found = linked(answer, style)
    label = extractive_label() if is_extractive(answer) else ""
    if style == "plain":
        text = as_plain(found.text).rstrip() + "\n"
        return (f"{label}\n\n" if label else "") + text + reference_section(text, answer.sources, found.cited, style)
    text = safe_markdown(found.text, targets(answer.sources)).rstrip() + "\n"
    references = reference_section(text, answer.sources, found.cited, style).replace("\n## ", f"\n{'#' * level} ", 1)
    return (f"*{label}*\n\n" if label else "") + text + references


def passages(answer: Answer, source: CitedSource, limit: int) -> list[str]:
    """Return the lines of a source that support its citations, or else its beginning."""
    spans = sorted(check.evidence for check in answer.checks if check.citation == source.citation and check.evidence)
    places: list[tuple[int, int]] = []
    for start, end in spans or [(0, len(source.text))]:
        if places and start <= places[-1][1]:
            start, end = places[-1][0], max(end, places.pop()[1])
        places.append((start, end))
    text = "\n…\n".join(source.text[start:end].strip() for start, end in places)
    return strip_controls(shorten(text, limit)).split("\n") if text else [tr("this source has no text")]


def is_extractive(answer: Answer) -> bool:
    """Tell whether an answer quotes pages."""
    return answer.method == "extractive" and bool(answer.sources)


def extractive_label() -> str:
    """Return the label of an answer that quotes pages."""
    return tr("Extractive: quoted from the pages")


def summary(answer: Answer) -> str:
    """Return the model, effort, cost and checked citations of an answer in one line."""
    usage, rounds, pages = answer.usage, len(answer.rounds), sum(one.pages for one in answer.rounds)
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = [
        answer.model or tr("no model"),
        trn("{count} round", "{count} rounds", rounds) if rounds else tr("no search"),
        trn("{count} page", "{count} pages", pages) if rounds else "",
        tr("{count} tokens", count=f"{'~' * usage.estimated}{tokens:,}") if tokens else "",
        f"${usage.cost:.4f}" if usage.cost else "",
        f"{answer.elapsed_ms / 1000:.1f} s",
        citation_check.tally(answer.checks),
    ]
    return " · ".join(part for part in parts if part)


def digest_parts(found: Digest, style: str) -> list[str]:
    """Return the summary of all pages, then those of single pages if there are several."""
    overall = _written(found.text or _quoted(found.summary, style), found.checks, found.pages, style)
    several = found.read if len(found.read) > 1 else ()
    parts = [overall, *(f"{_page_heading(one, found.pages, style)}\n\n{_page(one, found, style)}" for one in several)]
    return [safe_markdown(part, targets(found.pages)) for part in parts] if style == "markdown" else parts


def digest_as_text(found: Digest, style: str) -> str:
    """Return a digest with its sources as Markdown or plain text."""
    heading = found.heading(found.model)
    heading = f"## {escape_markdown(heading)}" if style == "markdown" else heading
    text = "\n\n".join([heading, *digest_parts(found, style)]) + "\n"
    return text + reference_section(text, found.pages, (), style)


def _quoted(quotes: Sequence[Quote], style: str) -> str:
    """Return quotes with one [n] behind the consecutive sentences of a page."""
    escape = escape_markdown if style == "markdown" else str
    runs = groupby(quotes, key=lambda quote: quote.citation)
    return " ".join(f"{escape(joined(quote.text for quote in run))} [{number}]" for number, run in runs)


def _written(text: str, checks: Sequence[citation_check.Support], sources: Sequence[CitedSource], style: str) -> str:
    found = link(text, sources, style, citation_check.signs(checks)).text.strip()
    return found if style == "markdown" else as_plain(found)


def _page_heading(page: DigestSource, sources: Sequence[CitedSource], style: str) -> str:
    if style == "plain":
        return f"[{page.citation}] {page.title}"
    return f"### {escape_markdown(page.title)} {link(f'[{page.citation}]', sources).text}"


def _page(page: DigestSource, found: Digest, style: str) -> str:
    """Return the summary of one page, or its quotes if the model wrote none."""
    if page.text:
        return _written(page.text, page.checks, found.pages, style)
    quotes = joined(quote.text for quote in page.summary)
    return escape_markdown(quotes) if style == "markdown" else quotes
