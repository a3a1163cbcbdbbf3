"""Lazy wiring: streams, settings, stores and the engine, each created on first use."""

from __future__ import annotations

import os
import sys
from functools import cached_property

from sleuth import __version__
from sleuth.base.errors import DatabaseError, SleuthError, UnwritableError
from sleuth.base.i18n import set_language, tr
from sleuth.base.messages import Messages
from sleuth.base.paths import Paths, find_paths
from sleuth.store.settings import CACHE_ENTRIES, CACHE_TTL, CACHE_URL, FETCH_TTL, LLM_URL, UI_LANGUAGE, Settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from sqlite3 import Connection, Error
    from typing import TextIO

    from sleuth.answers.answer import Answer
    from sleuth.answers.llm.chat import Models
    from sleuth.answers.pipeline import Answerer
    from sleuth.answers.summary import Digest
    from sleuth.engine.content import ContentReader
    from sleuth.engine.outcome import Outcome
    from sleuth.engine.search import Searcher, SearchRequest
    from sleuth.engine.search_options import SearchOptions
    from sleuth.engine.selector import ProviderSelector
    from sleuth.library.library import Library
    from sleuth.library.provider import LibraryProvider
    from sleuth.pages.page import PageEvent
    from sleuth.pages.reader import Reader
    from sleuth.relevance.rules import Rules
    from sleuth.store.cache.disk import Cache, DiskCache
    from sleuth.store.cache.memory import MemoryCache
    from sleuth.store.cache.redis.server import RedisServer
    from sleuth.store.health import Health
    from sleuth.store.provider_table import ProviderTable
    from sleuth_providers.base import Provider

MAX_CACHED_PAGES = 1000


class Runtime(Messages):
    """One run of sleuth. Environment and streams are passed in, so that tests can run many in one process."""

    outcomes: MemoryCache  # of `api.Client`

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        stdin: TextIO | None = None,
        stdout: TextIO | None = None,
        stderr: TextIO | None = None,
    ) -> None:
        super().__init__(dict(os.environ if environ is None else environ), stderr or sys.stderr)
        self.stdin, self.stdout = stdin or sys.stdin, stdout or sys.stdout
        self.debug = False
        self.brief_help = False  # -h instead of --help
        self.pager = True  # may be used for long output

    @cached_property
    def paths(self) -> Paths:
        """The folders and files of the user."""
        return find_paths(self.environ)

    @cached_property
    def settings(self) -> Settings:
        """The settings; invalid values are reported once."""
        settings = Settings(self.paths.config_file, self.environ)
        set_language(settings[UI_LANGUAGE], self.environ)
        for problem in settings.problems():
            self.warn(problem)
        return settings

    @cached_property
    def database(self) -> Connection:
        """The database with the provider table."""
        from sleuth.store.database import open_database
        from sleuth.store.migrations import MIGRATIONS

        return open_database(self.paths.database, MIGRATIONS)

    @cached_property
    def table(self) -> ProviderTable:
        """The provider table, seeded with the built-in providers."""
        return self.table_in(self.database)

    @cached_property
    def health(self) -> Health:
        """Cooldowns, quotas and latencies of providers."""
        from sleuth.store.health import Health

        return Health(self.database, self.shared, self._spare_database)

    @cached_property
    def shared(self) -> RedisServer | None:
        """The Redis server that machines share, not connected yet; None if `cache.url` names none."""
        if not self.settings[CACHE_URL]:
            return None
        from sleuth.store.cache.redis.address import find_address
        from sleuth.store.cache.redis.server import RedisServer

        try:
            return RedisServer(find_address(self.settings[CACHE_URL], self.environ), self.warn)
        except SleuthError as problem:
            self.warn(tr(problem.message, **problem.values) + tr("; using the local cache"))
            return None

    @cached_property
    def cache(self) -> Cache:
        """The cache of answers; empty if it is turned off."""
        from sleuth.store.cache.disk import Cache

        return self._with_redis("answer", self.result_cache) if self.settings[CACHE_TTL] else Cache()

    @cached_property
    def result_cache(self) -> DiskCache:
        """The answers on disk, even if the cache is turned off by now."""
        from sleuth.store.cache.disk import DiskCache

        return DiskCache(os.path.join(self.paths.cache, "answers"), self.settings[CACHE_ENTRIES])

    @cached_property
    def page_cache(self) -> DiskCache:
        """The pages on disk."""
        from sleuth.store.cache.disk import DiskCache

        return DiskCache(os.path.join(self.paths.cache, "pages"), MAX_CACHED_PAGES)

    @cached_property
    def reader(self) -> Reader:
        """The page reader, with its own cache."""
        from sleuth.pages.reader import Reader
        from sleuth.store.cache.disk import Cache

        cache = self._with_redis("page", self.page_cache) if self.settings[FETCH_TTL] else Cache()
        return Reader(self.settings, cache, jina_key=self._jina_key())

    @cached_property
    def content_reader(self) -> ContentReader:
        """Adds page text to results."""
        from sleuth.engine.content import ContentReader

        return ContentReader(self.settings, self.reader, self.library)

    @cached_property
    def library(self) -> Library:
        """The embedded index."""
        from sleuth.library.library import Library

        return Library(self.paths.library)

    @cached_property
    def usage_database(self) -> Connection:
        """The database for reading, after importing the journal."""
        from sleuth.store.journal_import import open_usage_database

        return open_usage_database(self.paths.database, self.paths.journal)

    @cached_property
    def selector(self) -> ProviderSelector:
        """Selects providers. If the database cannot be written, it works from a copy in memory and warns."""
        from sleuth.engine.selector import ProviderSelector
        from sleuth_providers.net.identity import user_agent

        try:
            table, health = self.table, self.health
            table.check()
        except UnwritableError as problem:
            table, health = self._read_only(problem)
        table.move_default(self.settings)
        return ProviderSelector(
            self.settings, table, health, self.environ, user_agent(__version__), {"library": self._library_provider}
        )

    @cached_property
    def searcher(self) -> Searcher:
        """The search engine."""
        from sleuth.engine.search import Searcher

        return Searcher(self.selector, self.cache, self.paths.journal)

    @cached_property
    def models(self) -> Models | None:
        """The configured language models; None if there are none."""
        from sleuth.answers.llm.endpoint import find_models

        return find_models(self.settings, self.environ)

    def writers(self, *, offline: bool = False) -> Models | None:
        """Return the models that may be used; offline, only those at private addresses."""
        from sleuth.answers.llm.endpoint import is_private

        return None if offline and not is_private(self.settings[LLM_URL]) else self.models

    @cached_property
    def answerer(self) -> Answerer:
        """Answers questions."""
        from sleuth.answers.pipeline import Answerer

        return Answerer(self.settings, self.searcher, self.content_reader, self.models)

    def search_request(self, options: SearchOptions) -> SearchRequest:
        """Return the request for some options; settings fill in what is not given."""
        from sleuth.engine.options import build_request

        return build_request(options, self.settings, self.rules(options.rules))

    def add_content(
        self, outcome: Outcome, options: SearchOptions, on_page: Callable[[PageEvent], None] | None = None
    ) -> Outcome:
        """Return the outcome with the text of its pages, if the options ask for it."""
        if not outcome.results or not options.wants_content:
            return outcome
        from sleuth.engine.content import ANY_TIME, compression_options
        from sleuth.engine.options import cache_use, with_freshness

        compression = compression_options(self.settings, options)
        plan = {"cache": cache_use(options), "offline": options.offline or bool(options.replay)}
        span = with_freshness(ANY_TIME, options.freshness)
        return self.content_reader.add(outcome, compression, plan, on_page, span, options.recent)

    def rules(self, path: str | None = None) -> Rules | None:
        """Return the domain rules of a file, or of rules.txt next to the settings."""
        from sleuth.engine.options import load_rules

        return load_rules(path, self.paths.rules, self.warn)

    def sibling(self) -> Runtime:
        """Return a runtime for another thread: own stores, the same streams, no repeated warnings."""
        other = Runtime(self.environ, self.stdin, self.stdout, self.stderr)
        other.warnings = self.warnings
        return other

    def count_answer(self, answer: Answer | Digest) -> None:
        """Count an answer, or a summary by a model, in the usage statistics; failures are only logged."""
        from sleuth.base.logs import log
        from sleuth.store.usage import record_answer

        try:
            record_answer(self.database, answer)
        except Exception as problem:
            log("usage: answer not counted: %r", problem)

    def close(self) -> None:
        """Finish pending writes and close what was opened."""
        if "searcher" in self.__dict__:
            self.searcher.finish()
        for name in ("library", "database", "usage_database", "shared"):
            if opened := self.__dict__.get(name):
                opened.close()

    def _with_redis(self, kind: str, local: Cache) -> Cache:
        """Return a local cache behind the shared one, if there is one."""
        if self.shared is None:
            return local
        from sleuth.store.cache.redis.cache import RedisCache

        return RedisCache(self.shared, kind, local)

    def table_in(self, connection: Connection) -> ProviderTable:
        """Return the provider table in a database."""
        from sleuth.store.provider_table import ProviderTable
        from sleuth_providers import registry

        registry.add("library", self._library_provider)
        table = ProviderTable(connection, self.paths.database)
        table.seed(f"{__version__} {' '.join(registry.names())}", built_in)
        return table

    def _read_only(self, problem: UnwritableError) -> tuple[ProviderTable, Health]:
        """Return the table as it is on disk, if it can be read, and health records that end with this run."""
        from sleuth.store.database import MEMORY, open_copy, open_database
        from sleuth.store.health import Health
        from sleuth.store.migrations import MIGRATIONS

        try:
            connection = open_copy(self.paths.database, MIGRATIONS, newer=True)
            table = self.table_in(connection)
            table.check()
        except UnwritableError:  # it cannot be read either
            connection = open_database(MEMORY, MIGRATIONS)
            table = self.table_in(connection)
            table.is_lost = True
        self._warn_of_database(problem, known=os.path.exists(self.paths.database) and not table.is_lost)
        return table, Health(connection, self.shared, lambda _: open_database(MEMORY, MIGRATIONS))

    def _spare_database(self, problem: Error) -> Connection:
        """Return a database in memory, with a warning, if the one on disk is damaged; else raise the problem again."""
        from sleuth.store.database import MEMORY, database_error, open_database
        from sleuth.store.migrations import MIGRATIONS

        error = database_error(self.paths.database, problem)
        if not isinstance(error, DatabaseError):
            raise problem
        self._warn_of_database(error)
        return open_database(MEMORY, MIGRATIONS)

    def _warn_of_database(self, problem: UnwritableError, *, known: bool = True) -> None:
        """Print a warning that says what is lost in this run; `known` means that the provider table could be read."""
        effect = "; usage and cooldowns are not saved" if known else "; using the built-in provider table"
        hint = tr("; {hint}", hint=tr(problem.hint, **problem.values)) if isinstance(problem, DatabaseError) else ""
        self.warn(tr(problem.message, **problem.values) + tr(effect) + hint)

    def _jina_key(self) -> str:
        """Return the key of the jina provider for the page reader; empty without one, or if it is for another host."""
        from sleuth_providers.errors import ProviderError

        try:
            [account, *_] = self.selector.accounts(self.selector.candidate("jina"))
        except (SleuthError, ProviderError):
            return ""
        return account.key if self.selector.is_third_party(self.selector.candidate("jina")) else ""

    def _library_provider(self) -> LibraryProvider:
        from sleuth.library.provider import LibraryProvider

        return LibraryProvider(lambda: self.library)


def built_in() -> list[Provider]:
    """Return the built-in providers."""
    from sleuth_providers import registry

    return [registry.load(name) for name in registry.names()]
