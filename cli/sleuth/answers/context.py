"""What prompts carry of the findings: number, title, source, and notes, passages of the page or the snippet."""

from collections.abc import Iterator, Sequence

from sleuth.answers.fence import fence_length, fenced
from sleuth.answers.findings import Note, SourceFinding
from sleuth.answers.prompt import as_list
from sleuth.answers.work import Work
from sleuth.base.text import shorten
from sleuth.relevance.compress import compress
from sleuth.store.settings import SNIPPET_LENGTH

MAX_TITLE, MAX_SITE = 150, 100
PASSAGES = "\nFrom the page:\n"
WORTHWHILE = 200  # characters; with less room no passage says anything
GAP = "\n\n"


def show(work: Work, findings: Sequence[SourceFinding], provider: str, room: int, query: str | None = None) -> str:
    """Return findings behind a fence, as many as fit into so many characters; with a query the pages speak too."""
    left = room - fence_length(provider, work.code)
    briefs = _that_fit(work, findings, left)
    left -= sum(len(brief) + len(GAP) for brief in briefs.values())
    pages = [finding for finding in findings if finding.text and finding.citation in briefs]
    passages = {} if query is None else _passages(pages, query, left)
    texts = [brief + passages.get(number, "") for number, brief in briefs.items()]
    return fenced(GAP.join(texts), provider, work.code) if texts else ""


def show_page(work: Work, finding: SourceFinding, provider: str, query: str, room: int) -> str:
    """Return one page behind a fence, squeezed to what the query asks for."""
    heading = _heading(finding)
    left = room - fence_length(provider, work.code) - len(heading) - len("\n")
    (page,) = compress(query, [finding.text], "rag", limit=max(left, 1)).pages
    return fenced(f"{heading}\n{page.content}", provider, work.code)


def _that_fit(work: Work, findings: Sequence[SourceFinding], room: int) -> dict[int, str]:
    """Return findings in brief by their numbers; where there is no room for notes, the snippet may fit still."""
    briefs: dict[int, str] = {}
    for finding in findings:
        fitting = (text for text in _briefs(work, finding) if len(text) + len(GAP) <= room)
        if text := next(fitting, ""):
            briefs[finding.citation] = text
            room -= len(text) + len(GAP)
    return briefs


def _briefs(work: Work, finding: SourceFinding) -> Iterator[str]:
    """Yield a finding in brief, in fewer and fewer words."""
    heading = f"[{finding.citation}] {_heading(finding)}"
    snippet = shorten(finding.snippet, work.settings[SNIPPET_LENGTH])
    if finding.note and (noted := _noted(finding.note)):
        yield f"{heading}\n{noted}"
    yield f"{heading}\n{snippet}" if snippet else heading


def _noted(note: Note) -> str:
    return "\n".join(part for part in (note.summary, as_list(note.key_points)) if part)


def _heading(finding: SourceFinding) -> str:
    title = finding.title or (finding.note.title if finding.note else "")
    about = ", ".join(part for part in (shorten(finding.site, MAX_SITE), finding.published) if part)
    return " — ".join(part for part in (shorten(title, MAX_TITLE), about) if part)


def _passages(pages: Sequence[SourceFinding], query: str, room: int) -> dict[int, str]:
    """Return the passages of the pages that answer the query best, all together within the room."""
    limit = room - len(PASSAGES) * len(pages)
    if limit < WORTHWHILE:
        return {}
    kept = compress(query, [finding.text for finding in pages], "rag", limit=limit).pages
    return {
        finding.citation: PASSAGES + page.content
        for finding, page in zip(pages, kept, strict=True)
        if page.content.strip()
    }
