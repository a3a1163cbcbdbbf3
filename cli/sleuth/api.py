"""sleuth in a program: search, read, summarise and ask. `sleuth mcp` and `sleuth serve` stand on it too.

    import sleuth
    for hit in sleuth.search("rust async runtimes", count=3).results:
        print(hit.citation, hit.title, hit.url)

Everything a command can go wrong with is a `SleuthError` here: its text says what happened, `advice` what to do about
it, and `code` is for programs.
"""

import functools
import io
import logging
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from sleuth.base.errors import RequestError
from sleuth.base.logs import safe
from sleuth.base.text import clean
from sleuth.base.urls import clean_url
from sleuth.engine.content import compression_options
from sleuth.engine.options import SearchOptions
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import search_error
from sleuth.runtime import Runtime
from sleuth.store.cache.memory import MemoryCache
from sleuth.store.setting_types import SettingType, choice, number, whole

if TYPE_CHECKING:
    from sleuth.answers.answer import Answer, ProgressEvent, Question
    from sleuth.answers.digest import Digest
    from sleuth.answers.llm.chat import Message
    from sleuth.pages.page import Page, PageEvent
    from sleuth.store.cache.redis.server import RedisServer

CACHE = choice("use", "refresh", "off")
SAFE = choice("off", "moderate", "strict")
CATEGORY = choice("general", "news", "images", "videos", "science", "it")
COMPRESSION = choice("none", "cutoff", "rag")
UNIT = choice("char", "token")
LENGTH = choice("short", "medium", "long")
SIZE = whole(1, 10_000_000)
SECONDS = number(0.1, 600)
LOGGER = logging.getLogger("sleuth")
LOGGER.addHandler(logging.NullHandler())  # or Python would print where a program has not said what to do

P = ParamSpec("P")
T = TypeVar("T")
Texts = str | Sequence[str]
Stamp = tuple[int, ...]  # of the settings file: which it is, when it was written, how long it is


def _aside(
    work: Callable[Concatenate["Client", P], T],
) -> Callable[Concatenate["Client", P], Coroutine[Any, Any, T]]:
    """Return a method that does the same in a thread, for an event loop to wait for."""

    @functools.wraps(work)
    async def run(client: "Client", /, *args: P.args, **options: P.kwargs) -> T:
        import asyncio

        return await asyncio.to_thread(work, client, *args, **options)

    run.__name__ = f"a{work.__name__}"
    run.__doc__ = f"Do as `{work.__name__}` does, without holding up an event loop."
    return run


class Client:
    """One user of sleuth, safe to use from many threads: each has connections of its own, the last answers are shared.

    `environ` stands for the environment variables (None: those of the process): `SLEUTH_HOME` moves everything. The
    settings file is read again when it has changed.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ = environ
        self._own = threading.local()
        self._lock = threading.Lock()
        self._recent: tuple[Stamp, MemoryCache, RedisServer | None] | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def runtime(self) -> Runtime:
        """Return the engine room of this thread."""
        known: tuple[Stamp, Runtime] | None = getattr(self._own, "known", None)
        if known and known[0] == _stamp(known[1]):
            return known[1]
        self.close()
        runtime = Runtime(self.environ, io.StringIO(), io.StringIO(), _Log())
        stamp = _stamp(runtime)
        cache = runtime.cache
        with self._lock:
            if self._recent is None or self._recent[0] != stamp:
                self._recent = stamp, MemoryCache(cache), runtime.shared
            _, runtime.cache, runtime.shared = self._recent  # one thread's trouble with it spares the others theirs
        self._own.known = stamp, runtime
        return runtime

    def close(self) -> None:
        """Finish what this thread has begun; it can begin again."""
        known: tuple[Stamp, Runtime] | None = self._own.__dict__.pop("known", None)
        if known:
            known[1].close()

    def search(
        self,
        query: Texts,
        *,
        providers: Texts = (),
        count: int | None = None,
        page: int = 1,
        lang: str | None = None,
        region: str | None = None,
        freshness: str | None = None,
        safe: str | None = None,
        category: str = "general",
        engines: Texts = (),
        sites: Texts = (),
        exclude: Texts = (),
        content: bool = False,
        compress: str | None = None,
        limit: int | None = None,
        unit: str | None = None,
        max_tokens: int | None = None,
        rerank: bool = False,
        recent: bool = False,
        cache: str = "use",
        offline: bool = False,
        timeout: float | None = None,
        fallback: bool | None = None,
        on_page: "Callable[[PageEvent], None] | None" = None,
    ) -> Outcome:
        """Search, for one question or several at once; raises SearchError when nobody could answer.

        The parameters mean what the options of `sleuth search` mean. `cache` is use, refresh or off.
        """
        options = SearchOptions(
            question=_several(query),
            provider=_several(providers),
            count=_fit("count", count, whole(1, 50)),
            page=_fit("page", page, whole(1, 100)),
            lang=lang,
            region=region,
            freshness=freshness,
            safe=_fit("safe", safe, SAFE),
            category=_fit("category", category, CATEGORY),
            engine=_several(engines),
            site=_several(sites),
            exclude=_several(exclude),
            content=content,
            compress=_fit("compress", compress, COMPRESSION),
            limit=_fit("limit", limit, SIZE),
            unit=_fit("unit", unit, UNIT),
            max_tokens=_fit("max_tokens", max_tokens, SIZE),
            rerank=rerank,
            recent=recent,
            cached=_fit("cache", cache, CACHE) != "off",
            refresh=cache == "refresh",
            offline=offline,
            timeout=_fit("timeout", timeout, SECONDS),
            fallback=fallback,
        )
        return self.perform(options, on_page)

    def perform(self, options: SearchOptions, on_page: "Callable[[PageEvent], None] | None" = None) -> Outcome:
        """Do what is wished; raises SearchError when nobody could answer."""
        runtime = self.runtime
        request = runtime.search_request(options)
        try:
            outcome = runtime.searcher.search(request)
        finally:
            runtime.searcher.finish()
        if outcome.outcome == "failed":
            raise search_error(outcome)
        if not outcome.results or not options.wants_content:
            return outcome
        squeeze = compression_options(
            runtime.settings, options.compress, options.limit, options.unit, options.max_tokens
        )
        return runtime.content_reader.add(
            outcome, squeeze, {"cache": request.cache, "offline": options.offline}, on_page
        )

    def read(
        self,
        urls: Texts,
        *,
        max_chars: int | None = None,
        cache: str = "use",
        offline: bool = False,
        timeout: float | None = None,
        on_page: "Callable[[PageEvent], None] | None" = None,
    ) -> "list[Page]":
        """Read pages, in the order given; one that could not be read has `ok` false and says why in `problem`.

        `max_chars` and `timeout` hold for each page; without them the settings do.
        """
        given = _several(urls)
        for url in given:
            if not clean_url(url):
                raise RequestError(
                    "{url!r} is not a web address", "write it like https://example.org/page", url=url[:200]
                )
        runtime = self.runtime
        pages = runtime.reader.read(
            [clean_url(url) for url in given],
            max_chars=_fit("max_chars", max_chars, SIZE),
            cache=_fit("cache", cache, CACHE),
            offline=offline,
            timeout=_fit("timeout", timeout, SECONDS),
            on_event=on_page,
        )
        runtime.content_reader.remember(pages)
        return pages

    def summarize(
        self,
        urls: Texts,
        query: str = "",
        *,
        length: str | int = "medium",
        extractive: bool = False,
        cache: str = "use",
        offline: bool = False,
        timeout: float | None = None,
        on_page: "Callable[[PageEvent], None] | None" = None,
        write: Callable[[str], None] | None = None,
    ) -> "Digest":
        """Read pages and tell what they say, in sentences of their own with the number of their source.

        Where a model is set up it writes a summary besides, unless `extractive`; `write` gets that text as it comes.
        `length` is short, medium, long or a number of characters. Raises SearchError when no page could be read.
        """
        from sleuth.answers.digest import digest, nothing_read

        _fit("length", length, SIZE if isinstance(length, int) else LENGTH)
        pages = self.read(urls, cache=cache, offline=offline, timeout=timeout, on_page=on_page)
        found = digest(pages, query, length)
        if not found.read:
            raise nothing_read(found)
        runtime = self.runtime
        models = None if extractive else runtime.writers(offline=offline)
        if models is None:
            return found
        from sleuth.answers.summaries import write_digest

        found = write_digest(found, pages, models, runtime.settings, write or _ignore, length)
        runtime.count_answer(found)
        return found

    def ask(
        self,
        question: "str | Question",
        *,
        search: str = "auto",
        history: "Sequence[Message]" = (),
        providers: Texts = (),
        rounds: int | None = None,
        pages: int | None = None,
        lang: str = "",
        region: str = "",
        cache: str = "use",
        offline: bool = False,
        timeout: float | None = None,
        tell: "Callable[[ProgressEvent], None] | None" = None,
        write: Callable[[str], None] | None = None,
    ) -> "Answer":
        """Answer a question with citations; `tell` hears of the progress, `write` gets the text as it comes.

        `search` is auto (the model decides), on or off; `rounds` and `pages` (read in a round) are limits. A `Question`
        says all of this itself.
        """
        from sleuth.answers.answer import SEARCH_MODES, Question

        given = Question(
            str(question),
            search=_fit("search", search, choice(*SEARCH_MODES)),
            history=tuple(history),
            providers=_several(providers) or ("auto",),
            rounds=_fit("rounds", rounds, whole(1, 20)) or 0,
            pages=_fit("pages", pages, whole(1, 20)) or 0,
            lang=lang,
            region=region,
            cache=_fit("cache", cache, CACHE),
            offline=offline,
            timeout=_fit("timeout", timeout, SECONDS),
        )
        asked = question if isinstance(question, Question) else given
        runtime = self.runtime
        try:
            found = runtime.answerer.answer(asked, tell or _ignore, write or _ignore)
        finally:
            runtime.searcher.finish()
        runtime.count_answer(found)
        return found

    asearch = _aside(search)
    aread = _aside(read)
    aask = _aside(ask)


_default = Client()
search, asearch = _default.search, _default.asearch
read, aread = _default.read, _default.aread
summarize = _default.summarize
ask, aask = _default.ask, _default.aask


class _Log(io.StringIO):
    """What a command would say on stderr goes to Python's logging: a program decides itself what it shows."""

    def write(self, text: str) -> int:
        if text.strip():
            LOGGER.warning("%s", safe(text.strip()))
        return len(text)


def _ignore(_: Any) -> None:
    """Hear and say nothing."""


def _stamp(runtime: Runtime) -> Stamp:
    try:
        found = os.stat(runtime.paths.config_file)
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size


def _several(texts: Texts) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else tuple(texts)


def _fit(name: str, value: T, kind: SettingType) -> T:
    """Return a value that fits, or None where none was given."""
    if value is not None and not kind.accepts(value):
        shown = clean(repr(value), 100)
        raise RequestError(
            "{key} cannot be {value}", "it takes {accepted}", key=name, value=shown, accepted=kind.description
        )
    return value
