"""Reads pages in parallel: from the cache, the site, a browser, the Jina reader or the Wayback Machine."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from functools import partial

from sleuth import __version__
from sleuth.base import logs, tracing
from sleuth.base.i18n import tr
from sleuth.base.urls import host as host_of
from sleuth.pages.chain import Chain, Layer, LayerAttempt
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.extract import ExtractedPage
from sleuth.pages.fetch import CONNECT_TIMEOUT_S, fetch, refusal
from sleuth.pages.host_queue import HostQueue
from sleuth.pages.links import PageLink
from sleuth.pages.page import Page, PageEvent, cache_key, from_json, to_page
from sleuth.pages.services import read_by_jina, read_from_archive
from sleuth.pages.worker_pool import POOL
from sleuth.store.cache.disk import Cache
from sleuth.store.settings import (
    FETCH_ARCHIVE,
    FETCH_BROWSER,
    FETCH_CHARS,
    FETCH_CONCURRENCY,
    FETCH_JINA,
    FETCH_PRIVATE,
    FETCH_TIMEOUT,
    FETCH_TTL,
    IMPERSONATE,
    LANGUAGE,
    TRACE_QUERIES,
    Settings,
)
from sleuth_providers.base import Response
from sleuth_providers.errors import BadRequestError, DeadlineError, PrivateAddressError, UnreachableError
from sleuth_providers.net import guard
from sleuth_providers.net.client import HttpClient, Transport, system_proxy
from sleuth_providers.net.identity import user_agent
from sleuth_providers.net.policy import Guard, Policy
from sleuth_providers.records import Record
from sleuth_providers.threads import ThreadGroup

USER_AGENT = user_agent(__version__)  # for services; sites see a browser
MIN_TIMEOUT_S = 0.1
CACHE_WRITE_TIMEOUT_S = 1.0  # how long to wait, after the last page, for workers that still write to the cache

Browser = Callable[..., Response]  # browser(url, timeout=…, guard=…)
ReadEvent = tuple[str, str, Page | None]  # start or end, the URL, and at the end its page


class ReadPlan(Record):
    """How one call may use time, network and cache."""

    timeout: float
    concurrency: int
    limit: int
    cache: str = "use"  # use | refresh | off
    offline: bool = False


class Reader:
    """Reads pages. A failure affects only its own page, and no page takes longer than the timeout."""

    def __init__(
        self,
        settings: Settings,
        cache: Cache,
        transport: Transport | None = None,
        browser: Browser | None = None,
        guard: Guard = guard.check,
        jina_key: str = "",
    ) -> None:
        self.settings, self.cache, self.transport, self.guard = settings, cache, transport, guard
        self.browser = browser or (_browser if settings[FETCH_BROWSER] else None)
        own = settings.environ.get("JINA_API_KEY", "").partition(",")[0].strip()
        # A key in the provider table belongs to Jina's server, not to one that the environment names.
        self.jina_key = own if settings.environ.get("SLEUTH_JINA_HOST") else jina_key or own
        self.host_queue = HostQueue()
        logs.hide(self.jina_key)

    def read(
        self,
        urls: Sequence[str],
        *,
        timeout: float | None = None,
        concurrency: int | None = None,
        max_chars: int | None = None,
        cache: str = "use",
        offline: bool = False,
        on_event: Callable[[PageEvent], None] | None = None,
    ) -> list[Page]:
        """Return a page for each URL, in order; a page that was not read has the reasons in its attempts."""
        plan = ReadPlan(
            max(MIN_TIMEOUT_S, timeout or self.settings[FETCH_TIMEOUT]),
            concurrency or self.settings[FETCH_CONCURRENCY],
            max_chars or self.settings[FETCH_CHARS],
            cache if self.settings[FETCH_TTL] else "off",
            offline,
        )
        notify = on_event or (lambda event: None)
        wanted = list(dict.fromkeys(urls))
        pages: dict[str, Page] = {}
        for url in wanted:
            if known := self._cached(url, plan):
                pages[url] = known
                notify(PageEvent("end", url, len(pages), len(wanted), known))
        missing = _interleave_hosts([url for url in wanted if url not in pages])
        for kind, url, page in self._read_all(missing, plan):
            if page:
                pages[url] = page
            notify(PageEvent(kind, url, len(pages), len(wanted), page))
        return [pages[url] for url in urls]

    def _read_all(self, urls: list[str], plan: ReadPlan) -> Iterator[ReadEvent]:
        """Read in worker threads and yield the events in the calling thread."""
        threads, waiting = ThreadGroup(), deque(urls)
        work = partial(self._work, waiting, threads, plan)
        workers = [threads.start(None, tracing.in_span(work)) for _ in range(min(plan.concurrency, len(urls)))]
        if urls and not plan.offline:
            POOL.prepare(len(urls))
        done = 0
        while done < len(urls) and (arrived := threads.next_result()):
            event, problem = arrived
            if isinstance(problem, BaseException):  # such as no memory for a worker
                raise problem
            if event:
                done += event[0] == "end"
                yield event
        end = time.monotonic() + CACHE_WRITE_TIMEOUT_S
        for worker in workers:
            worker.join(max(0.0, end - time.monotonic()))

    def _work(self, waiting: deque[str], threads: ThreadGroup, plan: ReadPlan) -> None:
        def post(page: Page) -> None:
            threads.post(("end", page.url, page), None)

        with suppress(IndexError):  # no URL is left
            while url := waiting.popleft():
                threads.post(("start", url, None), None)
                about = {"server.address": host_of(url)} | ({"url.full": url} if self.settings[TRACE_QUERIES] else {})
                try:
                    with tracing.span("page read", about, client=True):
                        self._read(url, plan, post)
                except Exception as problem:  # a bug costs one page, not the others
                    logs.log("pages: %s: %r", url, problem)
                    message = tr("the page could not be read; for details, add --debug")
                    post(Page(url, attempts=(LayerAttempt("page", "bad_response", message),)))

    def _read(self, url: str, plan: ReadPlan, post: Callable[[Page], None]) -> None:
        """Read one page, post it, and only then write it to the cache."""
        started = time.monotonic()
        if plan.offline:
            reason = tr("offline, and the page is not in the cache")
            post(Page(url, attempts=(LayerAttempt("cache", "skipped", reason),)))
            return
        key = cache_key(url)
        # If another process is reading the same page, wait for its result.
        with self.cache.single_flight(key, plan.timeout) if plan.cache == "use" else nullcontext():
            if known := self._cached(url, plan):
                post(known)
                return
            watch = guard.AddressGuard(self.guard, self.settings[FETCH_PRIVATE])
            found, chain = self._run_layers(url, plan, watch)
            elapsed_ms = round((time.monotonic() - started) * 1000)
            layer, content = found or ("", ExtractedPage())
            page = to_page(url, content, plan.limit) if found else Page(url)
            post(page._replace(layer=layer, attempts=tuple(chain.attempts), elapsed_ms=elapsed_ms))
            is_public = watch.public and not watch.private
            if found and plan.cache != "off" and (is_public or not self.cache.is_shared):
                is_private = not is_public and _is_private(url, watch, chain)
                self.cache.put(key, content._asdict() | {"private": is_private}, self.settings[FETCH_TTL] * 60)

    def _run_layers(
        self, url: str, plan: ReadPlan, watch: guard.AddressGuard
    ) -> tuple[tuple[str, ExtractedPage] | None, Chain]:
        self.host_queue.acquire(_host(url), plan.timeout)
        # The deadline starts after the wait for the host, which is not the site's fault.
        chain = Chain(time.monotonic() + plan.timeout, lambda: watch.public and not watch.private)
        try:
            return chain.run(self._layers(url, chain, watch)), chain
        except Exception:  # such as no memory for the thread that would release the host
            self.host_queue.release(_host(url))
            raise

    def _layers(self, url: str, chain: Chain, watch: guard.AddressGuard) -> Iterator[Layer]:
        """Yield the ways to read a page; the chain takes the next one if those before failed or one is slow."""
        yield Layer("page", tr("the site"), partial(self._from_site, url, watch, chain.arrived))
        problem = chain.errors.get("page")
        if isinstance(problem, PrivateAddressError) or (isinstance(problem, BadRequestError) and not problem.status):
            return
        if self.browser and isinstance(problem, EmptyPageError):
            yield Layer("browser", tr("the site"), partial(self._in_browser, self.browser, url, watch))
        is_private = _is_private(url, watch, chain)
        for name, provider, allowed, read in (
            ("jina", tr("the Jina reader"), FETCH_JINA, partial(read_by_jina, key=self.jina_key)),
            ("archive", tr("the Wayback Machine"), FETCH_ARCHIVE, read_from_archive),
        ):
            if not self.settings[allowed]:
                continue
            server = self.settings.environ.get(f"SLEUTH_{name.upper()}_HOST", "").strip()
            if is_private and not server:  # the user's own server may read private pages
                message = tr("pages on a private network are not sent to {provider}", provider=provider)
                chain.attempts.append(LayerAttempt(name, "skipped", message))
            else:
                yield Layer(name, provider, partial(self._by_service, read, url, server))

    def links(self, url: str, timeout: float | None = None) -> list[PageLink]:
        """Return the links of a page, which is fetched; raise ProviderError if it cannot be read."""
        until = time.monotonic() + max(MIN_TIMEOUT_S, timeout or self.settings[FETCH_TIMEOUT])
        watch = guard.AddressGuard(self.guard, self.settings[FETCH_PRIVATE])
        return POOL.links(self._fetch(url, watch, until), url, until)

    def _from_site(self, url: str, watch: Guard, arrived: set[str], until: float) -> ExtractedPage:
        try:
            reply = self._fetch(url, watch, until)
        finally:
            self.host_queue.release(_host(url))
        arrived.add("page")
        return POOL.extract(reply, url, until)

    def _fetch(self, url: str, watch: Guard, until: float) -> Response:
        if not self.settings[FETCH_PRIVATE] and guard.is_local(_host(url)) and system_proxy(url):
            raise PrivateAddressError(host=_host(url))  # the guard does not see what the proxy resolves
        return fetch(
            url,
            timeout=until - time.monotonic(),
            guard=watch,
            transport=self.transport,
            language="" if self.settings[LANGUAGE] == "auto" else self.settings[LANGUAGE],
            impersonate=self.settings[IMPERSONATE],
        )

    def _in_browser(self, browser: Browser, url: str, watch: Guard, until: float) -> ExtractedPage:
        reply = browser(url, timeout=_remaining(until), guard=watch)
        if error := refusal(reply):
            raise error
        return POOL.extract(reply, url, until)

    def _by_service(self, read: Callable[..., ExtractedPage], url: str, server: str, until: float) -> ExtractedPage:
        timeout = _remaining(until)
        connect = min(CONNECT_TIMEOUT_S, timeout)
        policy = Policy(timeout=timeout, connect_timeout=connect, attempts=2, user_agent=USER_AGENT)
        return read(url, HttpClient(policy, self.transport), server, until)

    def _cached(self, url: str, plan: ReadPlan) -> Page | None:
        if plan.cache != "use":
            return None
        entry = self.cache.get(cache_key(url))
        if entry is None or (entry.fresh_for(self.settings[FETCH_TTL] * 60) <= 0 and not plan.offline):
            return None
        try:
            content = dict(entry.value)
            is_private = content.pop("private", False) or (self.guard is guard.check and guard.is_local(_host(url)))
            if is_private and not self.settings[FETCH_PRIVATE]:  # the guard comes before the cache
                return None
            page = to_page(url, from_json(content), plan.limit)
        except (TypeError, ValueError):  # an invalid entry
            return None
        return page._replace(layer="cache", attempts=(LayerAttempt("cache", "ok"),), cached=True, age=entry.age)


def _interleave_hosts(urls: list[str]) -> list[str]:
    """Order URLs so that those of one host are far apart and few workers wait for a host."""
    seen: Counter[str] = Counter()

    def visits(url: str) -> int:
        seen[_host(url)] += 1
        return seen[_host(url)]

    return sorted(urls, key=visits)


def _host(url: str) -> str:
    return host_of(url) or url[:100]


def _is_private(url: str, watch: guard.AddressGuard, chain: Chain) -> bool:
    """Tell whether a page may be on a private network: its host has a local name, or did not resolve publicly.

    A proxy resolves names itself, so there must be a response. Over plain http, an error may come from the proxy.
    """
    if watch.private or guard.is_local(_host(url)):
        return True
    problem = chain.errors.get("page")
    is_silent = problem and problem.state in (UnreachableError.state, DeadlineError.state)
    is_from_proxy = problem and (problem.status or 0) >= 400 and not url.lower().startswith("https:")
    has_answered = not is_silent and not is_from_proxy
    return not watch.public and not (has_answered and system_proxy(url))


def _remaining(until: float) -> float:
    return max(MIN_TIMEOUT_S, until - time.monotonic())


def _browser(url: str, *, timeout: float, guard: Guard) -> Response:
    from sleuth_providers.browser.browser import read_page

    return read_page(url, timeout=timeout, guard=guard)
