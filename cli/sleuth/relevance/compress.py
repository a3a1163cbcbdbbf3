"""Page text squeezed to what a reader or a model has room for: cut fairly, or the passages that answer the query."""

from collections.abc import Sequence

from sleuth.base.i18n import tr
from sleuth.relevance import sentences, tokens
from sleuth.relevance.passages import SIZE, Passage, Scorer, best_first, score, split
from sleuth_providers.errors import ProviderError
from sleuth_providers.records import Record

LIMIT = 10_000  # characters of all pages together, where none is set
DOCUMENTS = 5  # passages of a page, where neither their number nor a budget is set
GAP = "\n…\n"  # between passages that do not follow each other


class Kept(Record):
    """A passage that was kept, by its character offsets in the page."""

    start: int
    end: int
    score: float = 0.0


class CompressedPage(Record):
    """What is left of one page."""

    content: str = ""
    passages: tuple[Kept, ...] = ()  # in reading order
    left_out: int = 0  # passages


class Compressed(Record):
    """What is left of all pages, in the order they were given."""

    phase: str  # default | cutoff | rag_complete | rag_failed
    pages: tuple[CompressedPage, ...]
    count_before: int  # pages with text
    count_after: int
    size_before: int  # in `unit`
    size_after: int
    unit: str = "char"  # or token
    estimated: bool = False  # tokens are not counted by a tokenizer
    left_out: int = 0  # passages of all pages
    warnings: tuple[str, ...] = ()


class Budget(Record):
    """How much there is room for."""

    limit: int
    unit: str = "char"

    def measure(self, text: str) -> int:
        """Return what a text takes of the room, never too little."""
        return tokens.upper_bound(text) if self.unit == "token" else len(text)

    def cut(self, text: str) -> str:
        """Return the beginning of a text that fits."""
        if self.unit == "token":
            return tokens.cut(text, self.limit)
        return text[: sentences.cut(text, self.limit)]


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
    """Squeeze pages by `none`, `cutoff` or `rag`; with `max_tokens` or a limit all content together keeps within it."""
    budget = Budget(max_tokens, "token") if max_tokens > 0 else Budget(limit, unit)
    if method == "none" and max_tokens <= 0:
        return _told("default", pages, [_whole(text) for text in pages], budget)
    if method == "cutoff":
        return _told("cutoff", pages, cut_off(pages, budget), budget)
    try:
        passages = score(query, pages, dense=dense, rerank=rerank)
    except Exception as problem:  # a scorer is a server or a model of somebody's: whatever it does, there is an answer
        if budget.limit <= 0:
            budget = Budget(SIZE * (document_count or DOCUMENTS) * len(pages))
        warning = tr("passages could not be scored, pages are cut off instead: {reason}", reason=_reason(problem))
        return _told("rag_failed", pages, cut_off(pages, budget), budget, warning)
    chosen = _best_of_each(passages, document_count or (0 if budget.limit > 0 else DOCUMENTS))
    if budget.limit > 0:
        chosen = _within(pages, chosen, budget)
    return _told("rag_complete", pages, _merged(pages, passages, chosen), budget)


def cut_off(pages: Sequence[str], budget: Budget) -> list[CompressedPage]:
    """Cut each page to its fair share; what short pages do not need, and what cutting at a sentence saves, goes on."""
    left = budget.limit if budget.limit > 0 else LIMIT
    cut: dict[int, str] = {}
    sizes = [budget.measure(text) for text in pages]
    for done, page in enumerate(sorted(range(len(pages)), key=sizes.__getitem__)):
        cut[page] = budget._replace(limit=left // (len(pages) - done)).cut(pages[page].strip())
        left -= budget.measure(cut[page])
    return [_beginning(pages[page], cut[page]) for page in range(len(pages))]


def _beginning(text: str, kept: str) -> CompressedPage:
    start = len(text) - len(text.lstrip())
    end = start + len(kept)
    spans = (Kept(start, end),) if kept else ()
    return CompressedPage(kept, spans, len(split(text[end:])))


def _whole(text: str) -> CompressedPage:
    return CompressedPage(text, (Kept(0, len(text)),) if text else ())


def _best_of_each(passages: Sequence[Passage], number: int) -> list[Passage]:
    """Return the best passages first, of each page at most so many; nought is no limit."""
    taken: dict[int, int] = {}
    chosen: list[Passage] = []
    for passage in best_first(passages):
        taken[passage.page] = taken.get(passage.page, 0) + 1
        if not number or taken[passage.page] <= number:
            chosen.append(passage)
    return chosen


def _within(pages: Sequence[str], wanted: Sequence[Passage], budget: Budget) -> list[Passage]:
    """Return as many of the passages, best first, as fit together; the same text is taken from one page only."""
    gap, left = budget.measure(GAP), budget.limit
    chosen: list[Passage] = []
    begun: set[int] = set()
    seen: set[str] = set()
    for passage in wanted:
        text = pages[passage.page][passage.start : passage.end]
        plain = " ".join(text.split()).lower()
        size = budget.measure(text) + (gap if passage.page in begun else 0)
        if size <= left and plain not in seen:
            chosen.append(passage)
            begun.add(passage.page)
            seen.add(plain)
            left -= size
        if left <= gap:
            break
    while chosen and _size(pages, chosen, budget) > budget.limit:  # together they may take more than one by one
        chosen.pop()
    return chosen or _shortened(pages, wanted, budget)


def _shortened(pages: Sequence[str], wanted: Sequence[Passage], budget: Budget) -> list[Passage]:
    """Return the beginning of the best passage, for a budget that holds no whole one."""
    for passage in wanted[:1]:
        kept = budget.cut(pages[passage.page][passage.start : passage.end])
        if kept:
            return [passage._replace(end=passage.start + len(kept))]
    return []


def _size(pages: Sequence[str], chosen: Sequence[Passage], budget: Budget) -> int:
    return sum(budget.measure(page.content) for page in _merged(pages, chosen, chosen))


def _merged(pages: Sequence[str], passages: Sequence[Passage], chosen: Sequence[Passage]) -> list[CompressedPage]:
    """Put chosen passages back together in reading order, page by page, with a mark where something is left out."""
    kept: list[list[Passage]] = [[] for _ in pages]
    all_of = [0] * len(pages)
    for passage in sorted(chosen, key=lambda passage: passage.start):
        kept[passage.page].append(passage)
    for passage in passages:
        all_of[passage.page] += 1
    return [
        CompressedPage(
            _joined(text, own), tuple(Kept(p.start, p.end, round(p.score, 4)) for p in own), all_of[page] - len(own)
        )
        for page, (text, own) in enumerate(zip(pages, kept, strict=True))
    ]


def _joined(text: str, passages: Sequence[Passage]) -> str:
    runs: list[list[int]] = []
    for passage in passages:
        if runs and not text[runs[-1][1] : passage.start].strip():
            runs[-1][1] = max(runs[-1][1], passage.end)
        else:
            runs.append([passage.start, passage.end])
    return GAP.join(text[start:end] for start, end in runs)


def _told(
    phase: str, before: Sequence[str], pages: Sequence[CompressedPage], budget: Budget, *warnings: str
) -> Compressed:
    in_tokens = budget.unit == "token"
    measure = tokens.count if in_tokens else len
    after = sum(measure(page.content) for page in pages)
    return Compressed(
        phase=phase,
        pages=tuple(pages),
        count_before=sum(bool(text.strip()) for text in before),
        count_after=sum(bool(page.content) for page in pages),
        size_before=sum(map(measure, before)),
        size_after=min(after, sum(budget.measure(page.content) for page in pages)),  # an estimate can be too high
        unit="token" if in_tokens else "char",
        estimated=in_tokens and not tokens.exact(),
        left_out=sum(page.left_out for page in pages),
        warnings=warnings,
    )


def _reason(problem: Exception) -> str:
    if isinstance(problem, ProviderError):
        message = tr(problem.message, **{"provider": tr("the model's server"), "id": ""} | problem.values)
        return tr("{message} ({detail})", message=message, detail=problem.detail) if problem.detail else message
    return str(problem) or type(problem).__name__
