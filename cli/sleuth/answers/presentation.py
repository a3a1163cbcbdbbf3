"""Answers and summaries made ready to be shown: citations linked and marked, sources listed, what is to be said."""

from collections.abc import Sequence

from sleuth.answers import support
from sleuth.answers.answer import Answer
from sleuth.answers.citations import CitedSource, LinkedText, below, link, targets
from sleuth.answers.digest import Digest
from sleuth.answers.digest import DigestSource as Page
from sleuth.answers.evidence import NOT_FOUND, QUOTED, SUPPORTED, UNCHECKED, WEAK
from sleuth.base.i18n import tr
from sleuth.base.text import shorten, strip_controls
from sleuth.render.markdown import escape

COUNTED = (  # for a line that is short
    (QUOTED, "{count} quoted"),
    (SUPPORTED, "{count} found"),
    (WEAK, "{count} weak"),
    (NOT_FOUND, "{count} not found"),
    (UNCHECKED, "{count} unchecked"),
)


def safe(answer: Answer) -> Answer:
    """Return an answer whose text cannot steer a terminal; its citations are checked anew where that changed it."""
    text = strip_controls(answer.text)
    if text == answer.text:
        return answer
    return answer._replace(text=text, checks=tuple(support.check(text, answer.sources)))


def linked(answer: Answer, style: str) -> LinkedText:
    """Return the text of an answer with its citations linked, and marked where a source does not bear them out."""
    return link(answer.text, answer.sources, style, support.signs(answer.checks))


def linked_block(block: str, sources: Sequence[CitedSource]) -> str:
    """Return one block of an answer as the whole one will have it."""
    text = support.attach(block, sources).text if sources else block
    return link(text, sources, "markdown", support.signs(support.check(text, sources))).text


def as_text(answer: Answer, style: str, *, level: int = 2) -> str:
    """Return an answer with its references as Markdown or plain text."""
    found = linked(answer, style)
    label = f"{extractive_label()}\n\n" if is_extractive(answer) else ""
    if style == "plain":
        text = found.text.rstrip() + "\n"
        return label + text + below(text, answer.sources, found.cited, style)
    text = _tamed(found.text, answer.sources).rstrip() + "\n"
    listed = below(text, answer.sources, found.cited, style)
    return (f"*{label.strip()}*\n\n" if label else "") + text + listed.replace("\n## ", f"\n{'#' * level} ", 1)


def passages(answer: Answer, source: CitedSource, limit: int) -> list[str]:
    """Return what a source says, in lines: the places in which its citations were found, else its beginning."""
    spans = sorted(check.evidence for check in answer.checks if check.citation == source.citation and check.evidence)
    places: list[tuple[int, int]] = []
    for start, end in spans or [(0, len(source.text))]:
        if places and start <= places[-1][1]:
            start, end = places[-1][0], max(end, places.pop()[1])
        places.append((start, end))
    told = "\n…\n".join(source.text[start:end].strip() for start, end in places)
    return strip_controls(shorten(told, limit)).split("\n") if told else [tr("there is no text of it")]


def is_extractive(answer: Answer) -> bool:
    """Tell whether an answer is made of sentences of pages, if of any."""
    return answer.method == "extractive" and bool(answer.sources)


def extractive_label() -> str:
    """Return what is said above sentences that nobody wrote anew."""
    return tr("Extractive: sentences of the pages themselves")


def summary(answer: Answer) -> str:
    """Return who answered, from how much, at which cost, and how its citations fared: one quiet line."""
    usage, rounds, pages = answer.usage, len(answer.rounds), sum(one.pages for one in answer.rounds)
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts = [
        answer.model or tr("no model"),
        tr("1 round") if rounds == 1 else tr("{count} rounds", count=rounds) if rounds else tr("no search"),
        tr("1 page") if pages == 1 else tr("{count} pages", count=pages) if rounds else "",
        tr("{count} tokens", count=f"{'~' * usage.estimated}{tokens:,}") if tokens else "",
        f"${usage.cost:.4f}" if usage.cost else "",
        f"{answer.elapsed_ms / 1000:.1f} s",
        _fared(answer.checks),
    ]
    return " · ".join(part for part in parts if part)


def _fared(checks: Sequence[support.Support]) -> str:
    told = []
    for state, template in COUNTED:
        count = sum(check.support == state for check in checks)
        if count:
            told.append(tr(template, count=count))
    return tr("citations: {counts}", counts=", ".join(told)) if told else ""


def digest_heading(found: Digest, model: str) -> str:
    """Return what stands above a summary that a model writes."""
    count, query = len(found.read), found.query
    if query and count == 1:
        return tr("What the page says about {query!r}, written by {model}", query=query, model=model)
    if query:
        return tr("What {count} pages say about {query!r}, written by {model}", count=count, query=query, model=model)
    if count == 1:
        return tr("What the page says, written by {model}", model=model)
    return tr("What {count} pages say, written by {model}", count=count, model=model)


def digest_parts(found: Digest, style: str) -> list[str]:
    """Return what a model has written of pages: of all of them, then of each where there are several."""
    overall = _written(found.text, found.checks, found.pages, style)
    several = found.read if len(found.read) > 1 else ()
    return [overall, *(f"{_page_heading(page, found.pages, style)}\n\n{_page(page, found, style)}" for page in several)]


def digest_as_text(found: Digest, style: str) -> str:
    """Return a summary that a model has written, with its sources, as Markdown or plain text."""
    title = digest_heading(found, found.model)
    heading = f"## {escape(title)}" if style == "markdown" else title
    text = "\n\n".join([heading, *digest_parts(found, style)]) + "\n"
    return text + below(text, found.pages, (), style)


def _written(text: str, checks: Sequence[support.Support], sources: Sequence[CitedSource], style: str) -> str:
    found = link(text, sources, style, support.signs(checks)).text.strip()
    return _tamed(found, sources) if style == "markdown" else found


def _tamed(text: str, sources: Sequence[CitedSource]) -> str:
    from sleuth.answers.sanitize import tame  # brings a parser of Markdown, which plain text can do without

    return tame(text, targets(sources))


def _page_heading(page: Page, sources: Sequence[CitedSource], style: str) -> str:
    if style == "plain":
        return f"[{page.citation}] {page.title}"
    return f"### {escape(page.title)} {link(f'[{page.citation}]', sources).text}"


def _page(page: Page, found: Digest, style: str) -> str:
    """Return the summary of one page; where the model wrote none, its own sentences."""
    if page.text:
        return _written(page.text, page.checks, found.pages, style)
    quotes = " ".join(quote.text for quote in page.summary)
    return escape(quotes) if style == "markdown" else quotes
