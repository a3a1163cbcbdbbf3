"""Reads pages side by side: from the cache, the site, a browser, the Jina reader or the Wayback Machine."""

import queue
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from sleuth import __version__
from sleuth.base import logs
from sleuth.base.i18n import tr
from sleuth.pages.chain import Chain, Layer, LayerAttempt
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.extract import extract
from sleuth.pages.fetch import PageSender, fetch, received, refusal
from sleuth.pages.page import Page, PageEvent, as_json, cache_key, from_json, from_reading
from sleuth.pages.politeness import HostQueue
from sleuth.pages.services import ServiceReply, read_by_jina, read_from_archive
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
    LANGUAGE,
    Settings,
)
from sleuth_providers.base import Response
from sleuth_providers.errors import BadRequestError, PrivateAddressError, UnreachableError
from sleuth_providers.net import guard
from sleuth_providers.net.client import HttpClient, Transport
from sleuth_providers.net.policy import Guard, Policy, user_agent
from sleuth_providers.records import Record

AGENT = user_agent(__version__)  # for services; sites see a browser
SHORTEST = 0.1  # seconds; less is no time limit but a refusal
AFTERWARDS = 1.0  # seconds in which answers may still be put into the cache
LOOK = 1.0  # seconds until it is looked whether threads are still there: without memory they die speechless

Browser = Callable[..., Response]  # browser(url, timeout=…, user_agent=…, guard=…)


class ReadPlan(Record):
    """How one call may use time, network and cache."""

    timeout: float
    concurrency: int
    limit: int
    cache: str = "use"  # use | refresh | off
    offline: bool = False


class Reader:
    """Reads pages; one failure never spoils another page, and nothing takes longer than the time limit a page."""

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
        self.jina_key = jina_key or settings.environ.get("JINA_API_KEY", "").partition(",")[0].strip()
        self.turns = HostQueue()
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
        """Return a page for every address, in the order given; whatever goes wrong stands in its attempts."""
        plan = ReadPlan(
            max(SHORTEST, timeout or self.settings[FETCH_TIMEOUT]),
            concurrency or self.settings[FETCH_CONCURRENCY],
            max_chars or self.settings[FETCH_CHARS],
            cache if self.settings[FETCH_TTL] else "off",
            offline,
        )
        tell = on_event or (lambda event: None)
        wanted = list(dict.fromkeys(urls))
        pages: dict[str, Page] = {}
        for url in wanted:
            if known := self._cached(url, plan):
                pages[url] = known
                tell(PageEvent("end", url, len(pages), len(wanted), known))
        missing = _spread([url for url in wanted if url not in pages])
        for kind, url, page in self._read_all(missing, plan):
            if page:
                pages[url] = page
            tell(PageEvent(kind, url, len(pages), len(wanted), page))
        return [pages[url] for url in urls]

    def _read_all(self, urls: list[str], plan: ReadPlan) -> Iterator[tuple[str, str, Page | None]]:
        """Yield what happens, in the calling thread; the work is done by a few others."""
        if not urls:
            return
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        told: queue.SimpleQueue[tuple[str, str, Page | None]] = queue.SimpleQueue()
        for url in urls:
            waiting.put(url)
        workers = [
            threading.Thread(target=self._work, args=(waiting, told, plan), daemon=True)
            for _ in range(min(plan.concurrency, len(urls)))
        ]
        for worker in workers:
            worker.start()
        if not plan.offline:
            threading.Thread(target=_warm_up, daemon=True).start()
        done = 0
        while done < len(urls):
            try:
                happened = told.get(timeout=LOOK)
            except queue.Empty:
                if told.empty() and not any(worker.is_alive() for worker in workers):
                    raise MemoryError("nobody is left to read pages") from None
                continue
            done += happened[0] == "end"
            yield happened
        end = time.monotonic() + AFTERWARDS
        for worker in workers:
            worker.join(max(0.0, end - time.monotonic()))

    def _work(self, waiting: Any, told: Any, plan: ReadPlan) -> None:
        while True:
            try:
                url = waiting.get_nowait()
            except queue.Empty:
                return
            told.put(("start", url, None))
            try:
                self._read(url, plan, lambda page: told.put(("end", page.url, page)))
            except Exception as problem:  # a fault of ours costs one page, not the others
                logs.log("pages: %s: %r", url, problem)
                message = tr("the page could not be read; --debug tells more")
                told.put(("end", url, Page(url, attempts=(LayerAttempt("page", "bad_response", message),))))

    def _read(self, url: str, plan: ReadPlan, post: Callable[[Page], None]) -> None:
        """Read one page and post it; then keep it for the next one who wants it."""
        started = time.monotonic()
        if plan.offline:
            post(
                Page(url, attempts=(LayerAttempt("cache", "skipped", tr("offline, and the page is not in the cache")),))
            )
            return
        key = cache_key(url)
        # Whoever else is reading the same page now is worth waiting for, though not for long.
        turn = self.cache.single_flight(key, plan.timeout / 2) if plan.cache != "off" else nullcontext()
        with turn:
            if known := self._cached(url, plan):
                post(known)
                return
            found, chain = self._through_layers(url, plan)
            elapsed = round((time.monotonic() - started) * 1000)
            attempts = tuple(chain.attempts)
            if found is None:
                post(Page(url, attempts=attempts, elapsed_ms=elapsed))
                return
            layer, reading = found
            post(from_reading(url, reading, plan.limit)._replace(layer=layer, attempts=attempts, elapsed_ms=elapsed))
            if plan.cache != "off":
                self.cache.put(key, as_json(layer, reading), self.settings[FETCH_TTL] * 60)

    def _through_layers(self, url: str, plan: ReadPlan) -> tuple[tuple[str, ServiceReply] | None, Chain[ServiceReply]]:
        watch = guard.AddressGuard(self.guard, self.settings[FETCH_PRIVATE])
        self.turns.take(_site(url), plan.timeout)
        # The clock starts now: waiting for one's turn is not the site's fault.
        chain: Chain[ServiceReply] = Chain(time.monotonic() + plan.timeout, lambda: watch.public and not watch.private)
        try:
            return chain.run(self._layers(url, chain, watch)), chain
        except Exception:  # no thread to be had, say, that would give the turn back
            self.turns.give(_site(url))
            raise

    def _layers(self, url: str, chain: Chain[ServiceReply], watch: guard.AddressGuard) -> Iterator[Layer[ServiceReply]]:
        """Yield the ways to a page; each is asked for when those before have failed, or one of them is slow."""
        site = _site(url)
        yield Layer("page", site, partial(self._from_site, url, watch))
        problem = chain.errors.get("page")
        if isinstance(problem, PrivateAddressError) or (isinstance(problem, BadRequestError) and not problem.status):
            return
        if self.browser and isinstance(problem, EmptyPageError):
            yield Layer("browser", site, partial(self._in_browser, self.browser, url, watch))
        private = watch.private or guard.is_local(site)
        for name, who, host, allowed, read in (
            ("jina", tr("the Jina reader"), self._host("JINA"), self.settings[FETCH_JINA], self._by_jina),
            (
                "archive",
                tr("the Wayback Machine"),
                self._host("ARCHIVE"),
                self.settings[FETCH_ARCHIVE],
                self._archived,
            ),
        ):
            if allowed and private and not host:
                message = tr("{provider} is not told about a page on a private network", provider=who)
                chain.attempts.append(LayerAttempt(name, "skipped", message))
            elif allowed:
                yield Layer(name, who, partial(read, url, host))

    def _host(self, name: str) -> str:
        """Return the server that stands in for a service; one that the user runs may know of private pages."""
        return self.settings.environ.get(f"SLEUTH_{name}_HOST", "").strip()

    def _from_site(self, url: str, watch: Guard, until: float) -> ServiceReply:
        language = self.settings[LANGUAGE]
        asker = PageSender(until - time.monotonic(), watch, self.transport, "" if language == "auto" else language)
        try:
            page = fetch(url, asker)
        finally:
            self.turns.give(_site(url))
        return ServiceReply(extract(page, until), page.final_url)

    def _in_browser(self, browser: Browser, url: str, watch: Guard, until: float) -> ServiceReply:
        _check(url, watch)
        # What scripts ask for is guarded apart: that they were refused something does not make the page a private one.
        scripts = guard.AddressGuard(self.guard, self.settings[FETCH_PRIVATE])
        reply = browser(url, timeout=max(SHORTEST, until - time.monotonic()), user_agent="", guard=scripts)
        _check(reply.url, watch)
        if error := refusal(reply):
            raise error
        return ServiceReply(extract(received(reply, url), until), reply.url)

    def _by_jina(self, url: str, host: str, until: float) -> ServiceReply:
        return read_by_jina(url, self._http(until), host, self.jina_key)

    def _archived(self, url: str, host: str, until: float) -> ServiceReply:
        return read_from_archive(url, self._http(until), host, until)

    def _http(self, until: float) -> HttpClient:
        left = max(SHORTEST, until - time.monotonic())
        return HttpClient(
            Policy(timeout=left, connect_timeout=min(5.0, left), attempts=2, user_agent=AGENT), self.transport
        )

    def _cached(self, url: str, plan: ReadPlan) -> Page | None:
        if plan.cache != "use":
            return None
        entry = self.cache.get(cache_key(url))
        if entry is None or (entry.expired and not plan.offline):
            return None
        try:
            reading = from_json(entry.value)
        except (KeyError, TypeError, ValueError):
            return None
        page = from_reading(url, reading, plan.limit)
        return page._replace(layer="cache", attempts=(LayerAttempt("cache", "ok"),), cached=True, age=entry.age)


def _spread(urls: list[str]) -> list[str]:
    """Return addresses with those of one site far apart, so that nobody waits for a turn who need not."""
    seen: Counter[str] = Counter()
    order: list[tuple[int, str]] = []
    for url in urls:
        order.append((seen[_site(url)], url))
        seen[_site(url)] += 1
    return [url for _, url in sorted(order, key=lambda entry: entry[0])]


def _site(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower() or url[:100]
    except ValueError:
        return url[:100]


def _check(url: str, watch: Guard) -> None:
    """Look a host up and show its addresses to the guard."""
    host = _site(url)
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        raise UnreachableError(f"no such host: {host}") from problem
    watch(host, [str(entry[4][0]) for entry in found])


def _browser(url: str, *, timeout: float, user_agent: str, guard: Guard) -> Response:
    from sleuth_providers.browser.browser import read_page

    return read_page(url, timeout=timeout, user_agent=user_agent, guard=guard)


def _warm_up() -> None:
    """Import what takes long while the first page is on its way."""
    try:
        import sleuth.pages.article  # noqa: F401 - the import is the point
    except Exception as problem:  # whoever needs it will see
        logs.log("pages: %r", problem)
