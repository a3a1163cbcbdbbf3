"""Compresses page text to a budget: each page truncated to its fair share, or the passages that answer the query."""

from collections import Counter
from collections.abc import Sequence

from sleuth.base.errors import SleuthError, describe
from sleuth.base.i18n import tr
from sleuth.relevance import sentences, tokens
from sleuth.relevance.passages import Passage, Scorer, best_first, score, split
from sleuth_providers.errors import ProviderError
from sleuth_providers.records import Record

DEFAULT_LIMIT_CHARS = 10_000  # of all pages together, by default
DEFAULT_PASSAGES = 5  # per page, if neither their number nor a budget is set
GAP = "\n…\n"  # between passages that are not adjacent


class CompressedPage(Record):
    """What is kept of one page."""

    content: str = ""
    passages: tuple[Passage, ...] = ()  # in reading order
    left_out: int = 0  # passages


class Compressed(Record):
    """What is kept of all pages, in their order."""

    phase: str  # default | cutoff | rag_complete
    pages: tuple[CompressedPage, ...]
    size_after: int  # in `unit`
    unit: str = "char"  # or token
    left_out: int = 0  # passages of all pages
    warnings: tuple[str, ...] = ()


class Budget(Record):
    """The maximum size of all content."""

    limit: int
    unit: str = "char"

    def measure(self, text: str) -> int:
        """Return the size of a text."""
        return tokens.count(text) if self.unit == "token" else len(text)

    def cut(self, text: str) -> str:
        """Truncate a text to the limit."""
        return tokens.cut(text, self.limit) if self.unit == "token" else text[: sentences.cut(text, self.limit)]


def compress(
    query: str,
    pages: Sequence[str],
    method: str = "none",
    *,
    limit: int = 0,
    unit: str = "char",
    document_count: int = 0,
    max_tokens: int = 0,
    dense: Scorer | None = None,
    rerank: Scorer | None = None,
) -> Compressed:
    """Compress pages by `none`, `cutoff` or `rag`; all content together fits into `max_tokens` or `limit`."""
    budget = Budget(max_tokens, "token") if max_tokens > 0 else Budget(limit, unit)
    if method == "none" and max_tokens <= 0:
        return _result("default", [_beginning(page, text, text) for page, text in enumerate(pages)], budget)
    if method == "cutoff":
        return _result("cutoff", cut_off(pages, budget), budget)
    warnings = []
    try:
        passages = score(query, pages, dense=dense, rerank=rerank)
    except Exception as problem:  # models are servers and libraries, which can fail in any way
        hint = tr(problem.hint, **problem.values) if isinstance(problem, SleuthError) else ""  # what to install
        reason = tr("; ").join(filter(None, (explain_failure(problem), hint)))
        warnings.append(tr("the model failed; passages are ranked by word matches: {reason}", reason=reason))
        passages = score(query, pages)
    chosen = _best_of_each(passages, document_count or (0 if budget.limit > 0 else DEFAULT_PASSAGES))
    if budget.limit > 0:
        chosen = _fit_budget(pages, chosen, budget)
    return _result("rag_complete", _joined(pages, passages, chosen), budget, *warnings)


def cut_off(pages: Sequence[str], budget: Budget) -> list[CompressedPage]:
    """Truncate each page to its fair share; what short pages leave goes to the longer ones.

    Pages are handled from the shortest on, so that each gets an equal part of what is left.
    """
    left = budget.limit if budget.limit > 0 else DEFAULT_LIMIT_CHARS
    cut: dict[int, str] = {}
    sizes = [budget.measure(text) for text in pages]
    for done, page in enumerate(sorted(range(len(pages)), key=sizes.__getitem__)):
        cut[page] = budget._replace(limit=left // (len(pages) - done)).cut(pages[page].strip())
        left -= budget.measure(cut[page])
    return [_beginning(page, text, cut[page]) for page, text in enumerate(pages)]


def _beginning(page: int, text: str, kept: str) -> CompressedPage:
    start = text.index(kept)
    end = start + len(kept)
    return CompressedPage(kept, (Passage(page, start, end),) if kept else (), len(split(text[end:])))


def _best_of_each(passages: Sequence[Passage], number: int) -> list[Passage]:
    """Return the passages by score, at most `number` of each page; 0 means no limit."""
    taken: Counter[int] = Counter()
    chosen: list[Passage] = []
    for passage in best_first(passages):
        taken[passage.page] += 1
        if not number or taken[passage.page] <= number:
            chosen.append(passage)
    return chosen


def _fit_budget(pages: Sequence[str], wanted: Sequence[Passage], budget: Budget) -> list[Passage]:
    """Return the best passages that fit the budget; a text that several pages have is taken once."""
    gap, left = budget.measure(GAP), budget.limit
    chosen: list[Passage] = []
    started: set[int] = set()
    seen: set[str] = set()
    for passage in wanted:
        text = passage.text(pages)
        plain = " ".join(text.split()).lower()
        size = budget.measure(text) + (gap if passage.page in started else 0)
        if size <= left and plain not in seen:
            chosen.append(passage)
            started.add(passage.page)
            seen.add(plain)
            left -= size
        if left <= gap:
            break
    while sum(budget.measure(page.content) for page in _joined(pages, chosen, chosen)) > budget.limit:
        chosen.pop()  # joined, texts may have more tokens than one by one
    if chosen or not wanted:
        return chosen
    best = wanted[0]  # too long for the budget, as are all others
    kept = budget.cut(best.text(pages))
    return [best._replace(end=best.start + len(kept))] if kept else []


def _joined(pages: Sequence[str], passages: Sequence[Passage], chosen: Sequence[Passage]) -> list[CompressedPage]:
    """Join the chosen passages of each page in reading order, with a mark where text is left out."""
    kept: list[list[Passage]] = [[] for _ in pages]
    totals = Counter(passage.page for passage in passages)
    for passage in sorted(chosen, key=lambda passage: passage.start):
        kept[passage.page].append(passage)
    return [
        CompressedPage(_joined_text(text, own), tuple(own), totals[page] - len(own))
        for page, (text, own) in enumerate(zip(pages, kept, strict=True))
    ]


def _joined_text(text: str, passages: Sequence[Passage]) -> str:
    runs: list[list[int]] = []
    for passage in passages:
        if runs and not text[runs[-1][1] : passage.start].strip():
            runs[-1][1] = max(runs[-1][1], passage.end)
        else:
            runs.append([passage.start, passage.end])
    return GAP.join(text[start:end] for start, end in runs)


def _result(phase: str, pages: Sequence[CompressedPage], budget: Budget, *warnings: str) -> Compressed:
    size = sum(budget.measure(page.content) for page in pages)
    return Compressed(phase, tuple(pages), size, budget.unit, sum(page.left_out for page in pages), warnings)


def explain_failure(problem: Exception) -> str:
    """Return why a model failed, for the user."""
    from sleuth.base.logs import without_secrets

    if isinstance(problem, ProviderError):
        return describe(problem, provider=tr("the model server"))[0]
    if isinstance(problem, TimeoutError):
        return tr("no response in time")
    reason = tr(problem.message, **problem.values) if isinstance(problem, SleuthError) else str(problem)
    return without_secrets(reason) or type(problem).__name__
