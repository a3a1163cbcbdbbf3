"""The Python API: search, read, summarise and ask. `sleuth mcp` and `sleuth serve` use it, too.

    import sleuth
    for hit in sleuth.search("rust async runtimes", count=3).results:
        print(hit.citation, hit.title, hit.url)

Every failure is a `SleuthError`: its text says what happened, `advice` what to do about it, and `code` is for programs.
"""

import functools
import io
import logging
import os
import re
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from sleuth.base.choices import CACHE_USE
from sleuth.base.errors import RequestError
from sleuth.base.logs import safe
from sleuth.base.paths import stamp_of
from sleuth.base.text import clean
from sleuth.base.urls import clean_url, mask_login
from sleuth.engine.options import cache_use, check_options, check_value, country, provider_ids
from sleuth.engine.options import language as language_code
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import search_error
from sleuth.engine.search_options import MAX_LIMIT, OPTIONS, SearchOptions
from sleuth.runtime import Runtime
from sleuth.store.cache import rendered
from sleuth.store.cache.disk import Cache
from sleuth.store.cache.memory import MemoryCache
from sleuth.store.cache.rendered import file_stamp
from sleuth.store.setting_types import TEXT, choice, number, whole
from sleuth.store.settings import LEARN_WEIGHTS
from sleuth_providers.translatable import Translatable

if TYPE_CHECKING:
    from sleuth.answers.answer import Answer, ProgressEvent, Question
    from sleuth.answers.llm.chat import Message
    from sleuth.answers.summary import Digest
    from sleuth.base.daemon_pool import DaemonThreadPool
    from sleuth.pages.page import Page, PageEvent
    from sleuth.store.cache.redis.server import RedisServer

CACHE = choice(*CACHE_USE)
LENGTH = choice("short", "medium", "long")._replace(
    description=Translatable("short, medium, long or a number of characters")
)
SIZE = whole(1, MAX_LIMIT)
TIMEOUT = number(0.1, 600)  # seconds
MAX_OUTCOMES = 200  # that were answered from the cache, to be repeated
MAX_ASYNC_CALLS = 64  # that run at the same time; others wait
ROUNDS = PAGES = whole(1, 20)
INHERITED: list[object] = []  # what a forked process must neither use nor close
LOGGER = logging.getLogger("sleuth")
LOGGER.addHandler(logging.NullHandler())  # without a handler Python would print messages on stderr

P = ParamSpec("P")
T = TypeVar("T")
Texts = str | Sequence[str]
CacheUse = Literal["use", "refresh", "off"]
SafeSearch = Literal["off", "moderate", "strict"]
Category = Literal["general", "news", "images", "videos", "science", "it", "books"]
Compression = Literal["none", "cutoff", "rag"]
Unit = Literal["char", "token"]
Length = Literal["short", "medium", "long"]
SearchMode = Literal["auto", "on", "off"]
PARAMETERS = {flag: spec.name for spec in OPTIONS.values() for flag in spec.flags}
Stamp = tuple[Any, ...]  # state of the settings file, and of the marks that the cache was cleared


def _in_thread(
    work: Callable[Concatenate["Client", P], T],
) -> Callable[Concatenate["Client", P], Coroutine[Any, Any, T]]:
    """Return the asynchronous version of a method, which runs it in a thread of the client's own pool.

    asyncio's default pool would make unrelated work wait, and `asyncio.run` for calls that were cancelled.
    """

    @functools.wraps(work)
    async def run(client: "Client", /, *args: P.args, **options: P.kwargs) -> T:
        return await client._workers.run(lambda client: work(client, *args, **options))

    run.__name__ = f"a{work.__name__}"
    run.__doc__ = f"Like `{work.__name__}`, without blocking the event loop."
    return run


class Client:
    """A client, safe to use from many threads: each has its own connections, and recent answers are shared.

    `environ` replaces the environment variables of the process; `SLEUTH_HOME` in it moves all files. The settings file
    is read again when it changes.
    """

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self.environ = environ
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._thread = threading.local()
        self._lock = threading.Lock()
        self._pool: DaemonThreadPool[Client] | None = None
        self._recent: tuple[Stamp, MemoryCache, MemoryCache, RedisServer | None] | None = None

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_process(self) -> None:
        if self._pid != os.getpid():
            INHERITED.append(self._thread.__dict__)  # SQLite forbids even to close a connection of the parent
            self._start()

    @property
    def _workers(self) -> "DaemonThreadPool[Client]":
        """The threads of the asynchronous methods."""
        from sleuth.base.daemon_pool import DaemonThreadPool

        self._check_process()
        with self._lock:
            self._pool = self._pool or DaemonThreadPool(self, MAX_ASYNC_CALLS)
            return self._pool

    @property
    def runtime(self) -> Runtime:
        """The runtime of this thread, renewed when the settings file changes and in a forked process."""
        self._check_process()
        known: tuple[Stamp, Runtime] | None = getattr(self._thread, "known", None)
        if known and known[0] == self._stamp(known[1]):
            return known[1]
        self.close()
        runtime = Runtime(self.environ, io.StringIO(), io.StringIO(), _LoggedStream())
        stamp = self._stamp(runtime)
        cache = runtime.cache
        with self._lock:
            if self._recent is None or self._recent[0] != stamp:
                self._recent = stamp, MemoryCache(cache), MemoryCache(Cache(), MAX_OUTCOMES), runtime.shared
            _, runtime.cache, runtime.outcomes, runtime.shared = self._recent  # all threads learn that Redis failed
        self._thread.known = stamp, runtime
        return runtime

    def _stamp(self, runtime: Runtime) -> Stamp:
        shared = self._recent[3] if self._recent else None
        return *map(file_stamp, (runtime.paths.config_file, runtime.paths.cleared)), shared and shared.cleared()

    def close(self) -> None:
        """Close the connections of this thread; later calls open new ones."""
        known: tuple[Stamp, Runtime] | None = self._thread.__dict__.pop("known", None)
        if known:
            known[1].close()

    def search(
        self,
        query: Texts,
        *,
        providers: Texts = (),
        count: int | None = None,
        page: int = 1,
        language: str | None = None,
        region: str | None = None,
        freshness: str | None = None,
        safe: SafeSearch | None = None,
        category: Category = "general",
        engines: Texts = (),
        sites: Texts = (),
        exclude: Texts = (),
        content: bool = False,
        compress: Compression | None = None,
        limit: int | None = None,
        unit: Unit | None = None,
        max_tokens: int | None = None,
        rerank: bool = False,
        recent: bool = False,
        cache: CacheUse = "use",
        offline: bool = False,
        timeout: float | None = None,
        fallback: bool | None = None,
        on_page: "Callable[[PageEvent], None] | None" = None,
    ) -> Outcome:
        """Search for one query or several at once; raises SearchError if no provider answered.

        The parameters are the options of `sleuth search`. `cache` is use, refresh or off.
        """
        given = {name: value for name, value in locals().items() if name in OPTIONS and value is not None}
        given |= {name: _several(name, given.get(name, ())) for name in ("providers", "engines", "sites", "exclude")}
        check_value("cache", cache, CACHE)
        options = check_options(
            given | {"questions": _several("query", query), "cached": cache != "off", "refresh": cache == "refresh"}
        )
        outcome = self._perform(options, on_page)
        warnings, notices = (tuple(map(for_programs, texts)) for texts in (outcome.warnings, outcome.notices))
        return outcome._replace(warnings=warnings, notices=notices)

    def _perform(self, options: SearchOptions, on_page: "Callable[[PageEvent], None] | None") -> Outcome:
        runtime = self.runtime
        key = _outcome_key(runtime, options)
        if key and (known := runtime.outcomes.get(key)):
            return runtime.searcher.repeat(known.value, options.category, known.age)
        try:
            outcome = runtime.searcher.search(runtime.search_request(options))
        finally:
            runtime.searcher.finish()
        if options.refresh:
            rendered.clear(runtime.paths)  # they show what was just replaced
            runtime.outcomes.clear()
        if outcome.outcome == "failed":
            raise search_error(outcome)
        if key:
            runtime.outcomes.put(key, outcome, outcome.fresh_s)
        return runtime.add_content(outcome, options, on_page)

    def read(
        self,
        urls: Texts,
        *,
        max_chars: int | None = None,
        cache: CacheUse = "use",
        offline: bool = False,
        timeout: float | None = None,
        on_page: "Callable[[PageEvent], None] | None" = None,
    ) -> "list[Page]":
        """Read pages, in the order given. A page that could not be read has `ok` false and the reason in `problem`.

        `max_chars` and `timeout` apply to each page; their defaults come from the settings.
        """
        urls = _several("urls", urls)
        for url in urls:
            if not clean_url(url):
                shown = mask_login(url)[:200]
                raise RequestError("invalid URL {url!r}", "use a URL such as https://example.org/page", url=shown)
        check_value("max_chars", max_chars, SIZE)
        check_value("cache", cache, CACHE)
        check_value("timeout", timeout, TIMEOUT)
        runtime = self.runtime
        pages = runtime.reader.read(
            [clean_url(url) for url in urls],
            max_chars=max_chars,
            cache=cache,
            offline=offline,
            timeout=timeout,
            on_event=on_page,
        )
        runtime.content_reader.remember(pages)
        return pages

    def summarize(
        self,
        urls: Texts,
        query: str = "",
        *,
        length: Length | int = "medium",
        extractive: bool = False,
        cache: CacheUse = "use",
        offline: bool = False,
        timeout: float | None = None,
        on_page: "Callable[[PageEvent], None] | None" = None,
        write: Callable[[str], None] | None = None,
    ) -> "Digest":
        """Read pages and summarise them in their own sentences, each with the number of its source.

        If a model is configured it writes a summary as well, unless `extractive`; `write` receives that text as it
        arrives. `length` is short, medium, long or a number of characters. Raises SearchError if no page could be read.
        """
        from sleuth.answers.summary import digest, write_digest

        check_value("length", length, SIZE if isinstance(length, int) else LENGTH)
        if not (urls := _several("urls", urls)):
            raise RequestError("there are no pages to read", "use a URL such as https://example.org/page")
        found = digest(self.read(urls, cache=cache, offline=offline, timeout=timeout, on_page=on_page), query, length)
        runtime = self.runtime
        models = None if extractive else runtime.writers(offline=offline)
        if models is None:
            return found
        found = write_digest(found, models, runtime.settings, write or _ignore, length)
        runtime.count_answer(found)
        return found

    def ask(
        self,
        question: "str | Question",
        *,
        search: SearchMode = "auto",
        history: Sequence[Mapping[str, str]] = (),
        providers: Texts = (),
        rounds: int | None = None,
        pages: int | None = None,
        language: str | None = None,
        region: str | None = None,
        cache: CacheUse = "use",
        offline: bool = False,
        timeout: float | None = None,
        extractive: bool = False,
        deep: bool = False,
        tell: "Callable[[ProgressEvent], None] | None" = None,
        write: Callable[[str], None] | None = None,
    ) -> "Answer":
        """Answer a question with citations; `tell` receives progress events, `write` the text as it arrives.

        `search` is auto (the model decides), on or off; `rounds` and `pages` (per round) are limits; `history` has the
        earlier messages, each a `role` (user or assistant) and its `content`. A `Question` holds all of this itself,
        and the other parameters are then ignored.
        """
        from sleuth.answers.answer import SEARCH_MODES, Question

        check_value("search", search, choice(*SEARCH_MODES))
        check_value("rounds", rounds, ROUNDS)
        check_value("pages", pages, PAGES)
        check_value("cache", cache, CACHE)
        check_value("timeout", timeout, TIMEOUT)
        runtime = self.runtime
        if not isinstance(question, Question):
            question = Question(
                str(question),
                search=search,
                search_off="",
                history=tuple(map(_message, history)),
                providers=provider_ids(_several("providers", providers)),
                rounds=rounds or 0,
                pages=pages or 0,
                lang=language_code(language or ""),
                region=country(region or ""),
                cache=cache,
                offline=offline,
                timeout=timeout,
                rules=runtime.rules(),
                extractive=extractive,
                deep=deep,
            )
        try:
            answer = runtime.answerer.answer(question, tell or _ignore, write or _ignore)
        finally:
            runtime.searcher.finish()
        runtime.count_answer(answer)
        problems = tuple(type(one)._make(map(for_programs, one)) for one in answer.problems)
        return answer._replace(warnings=tuple(map(for_programs, answer.warnings)), problems=problems)

    asearch = _in_thread(search)
    aread = _in_thread(read)
    asummarize = _in_thread(summarize)
    aask = _in_thread(ask)


_default = Client()
search, asearch = _default.search, _default.asearch
read, aread = _default.read, _default.aread
summarize, asummarize = _default.summarize, _default.asummarize
ask, aask = _default.ask, _default.aask


class _LoggedStream(io.StringIO):
    """Sends to Python's logging what a command would print on stderr."""

    def write(self, text: str) -> int:
        if text.strip():
            LOGGER.warning("%s", safe(text.strip()))
        return len(text)


def for_programs(text: str) -> str:
    """Return a message with the names of parameters instead of options, except in a command to type."""
    return re.sub(r"sleuth .*|--[a-z-]+", lambda found: PARAMETERS.get(found[0], found[0]), text)


def _message(turn: Mapping[str, str]) -> "Message":
    from sleuth.answers.llm.chat import Message

    role, content = (turn.get("role"), turn.get("content")) if isinstance(turn, Mapping) else (None, None)
    if role not in ("user", "assistant") or not isinstance(content, str):
        hint = "each message has a role (user or assistant) and its content"
        raise RequestError("invalid message in history: {value}", hint, value=clean(repr(turn), 100))
    return Message(role, content)


def _ignore(_: Any) -> None:
    """Do nothing."""


def _outcome_key(runtime: Runtime, options: SearchOptions) -> str:
    """Return everything but the settings that an outcome depends on; empty if it must not be repeated."""
    varies = options.wants_content or options.rerank or options.offline or runtime.settings[LEARN_WEIGHTS]
    if varies or cache_use(options) != "use":
        return ""
    watched = map(file_stamp, (runtime.paths.rules, stamp_of(runtime.paths.database)))
    return repr((options, time.strftime("%F", time.gmtime()), *watched))


def _several(name: str, texts: Texts) -> tuple[str, ...]:
    values = (texts,) if isinstance(texts, str) else tuple(texts)
    for value in values:
        check_value(name, value, TEXT)
    return values
