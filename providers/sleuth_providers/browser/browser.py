"""A page as a real browser shows it: Playwright drives the Chromium that the system has."""

import asyncio
import contextlib
import os
import re
import shutil
import threading
import time
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from sleuth_providers.base import Response
from sleuth_providers.browser.proxy import GuardedProxy
from sleuth_providers.errors import BadResponseError, DeadlineError, ProviderError, UnreachableError
from sleuth_providers.net.client import system_proxy
from sleuth_providers.net.connection import numeric_address
from sleuth_providers.net.policy import Guard
from sleuth_providers.net.urls import split_url
from sleuth_providers.records import Record

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
# Under a guard nothing leaves except through a proxy. Some of these only older Chromiums know, some only newer ones.
# Not --disable-features: it would take the place of Playwright's own, which ends the search for screens to cast to.
CONFINED = (
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--no-pings",
)
GATE_NAME = "gate.invalid"  # the one name that a guarded browser can look up; no address is known to it
UNNEEDED = ("image", "media", "font")
MAX_BODY = 10_000_000
QUIET = 4.0  # seconds at the most that scripts have for loading more
CLOSING = 3.0  # seconds the browser has for closing, after which its driver is stopped


def find_program() -> str | None:
    """Return the browser to start: the one that SLEUTH_BROWSER names, else the first known one on the path."""
    if named := os.environ.get("SLEUTH_BROWSER"):
        return shutil.which(named)
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


class _Way(Record):
    """How the browser gets to the network, and what was refused on the way."""

    arguments: tuple[str, ...] = ()
    proxy: dict[str, str] | None = None
    refused: Mapping[str, Exception] = {}


def read_page(url: str, *, timeout: float, user_agent: str, guard: Guard | None = None) -> Response:
    """Return a page after its scripts have run.

    With a guard the page, its scripts and its redirects reach only what the guard lets pass: a gate of ours is the
    browser's one way out (`gate.py`). A page that leads to a refused address itself raises what the guard raised.
    Where the system names a proxy for the page, everything goes through that one instead. It looks the names up, so it
    decides which addresses are reached; the guard sees no more than a page's own address that is written in numbers.

    Without a guard the browser goes where it likes: right for an address that the user named, not for one from a page.
    Without a user agent the browser gives its own, less the word that it has no window.
    """
    until = time.monotonic() + max(0.1, timeout)
    program = find_program()
    try:
        # The synchronous side of Playwright cannot be stopped while a script on the page keeps it waiting.
        from playwright.async_api import async_playwright
    except ImportError as problem:
        raise _missing() from problem
    if program is None:
        raise _missing()

    async def visit(way: _Way) -> Response:
        driver = await async_playwright().start()
        try:
            return await _visit(driver, program, way, url, timeout, user_agent)
        finally:
            await _within(driver.stop(), CLOSING)

    outcome: list[Response | BaseException] = []

    def work() -> None:
        try:
            with _way_out(url, until, guard) as way:
                outcome.append(asyncio.run(asyncio.wait_for(visit(way), max(0.1, timeout))))
        except BaseException as problem:
            outcome.append(problem)

    # A thread of its own: the caller may be in an event loop, and must not hang with a browser that does.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(max(0.1, timeout) + 2 * CLOSING)
    if not outcome or isinstance(outcome[0], TimeoutError):
        raise DeadlineError
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


@contextlib.contextmanager
def _way_out(url: str, until: float, guard: Guard | None) -> Iterator[_Way]:
    if guard is None:
        yield _Way()
    elif proxy := system_proxy(url):
        host = split_url(url)[1]
        if written := numeric_address(host):  # a name is the proxy's to look up, a number can be checked
            guard(host, [written])
        yield _through(proxy)
    else:
        split_url(url)  # refuses what is not for the web
        gate = GuardedProxy(guard, until)
        with gate as address:
            server = f"http://{GATE_NAME}:{address.port}"
            login = {"username": address.username, "password": address.password}
            yield _confined(server, f"MAP {GATE_NAME} {address.host}", login, gate.refused)


def _through(proxy: str) -> _Way:
    """Return the way through a proxy of the system's, whose login a browser wants apart."""
    try:
        parts = urlsplit(proxy)
    except ValueError:  # a password in it is nobody's business
        raise UnreachableError("the proxy of this system is not a valid address") from None
    if parts.username and parts.scheme.startswith("socks"):
        raise UnreachableError("a browser cannot log in to a SOCKS proxy")
    place = parts.netloc.rpartition("@")[2]
    login = {"username": unquote(parts.username), "password": unquote(parts.password or "")} if parts.username else {}
    return _confined(f"{parts.scheme.replace('5h', '5')}://{place}", f"EXCLUDE {parts.hostname}", login, {})


def _confined(server: str, rule: str, login: Mapping[str, str], refused: Mapping[str, Exception]) -> _Way:
    """Return a way that is the only one: loopback takes it too, and other than to the proxy there is no address."""
    arguments = (*CONFINED, f"--host-resolver-rules={rule},MAP * ~NOTFOUND")
    return _Way(arguments, {"server": server, "bypass": "<-loopback>", **login}, refused)


async def _visit(driver: Any, program: str, way: _Way, url: str, timeout: float, user_agent: str) -> Response:
    from playwright.async_api import Error

    until = asyncio.get_running_loop().time() + timeout
    root = getattr(os, "geteuid", lambda: 1)() == 0
    sandbox = ["--no-sandbox"] if root else []  # Chromium refuses to sandbox itself for root
    try:
        browser = await driver.chromium.launch(
            executable_path=program,
            args=[*ARGUMENTS, *way.arguments, *sandbox],
            chromium_sandbox=not root,
            proxy=way.proxy,
        )
    except Error as problem:
        raise _missing() from problem
    asked = [url]  # where the page itself has led so far
    try:
        page = await _open(browser, user_agent)
        page.on("request", lambda request: asked.append(request.url) if _is_of_page(request, page) else None)
        response = await page.goto(url, wait_until="domcontentloaded", timeout=0)
        quiet = min(QUIET, (until - asyncio.get_running_loop().time()) / 2)
        with contextlib.suppress(Error):
            await page.wait_for_load_state("networkidle", timeout=max(1.0, quiet * 1000))
        body = (await page.content()).encode()
        _raise_refusal(way, asked)
        if response is None or len(body) > MAX_BODY:
            raise BadResponseError("no page, or one that is too large")
        headers = dict(response.headers) | {"content-type": "text/html; charset=utf-8"}
        return Response(response.status, headers, body, page.url)
    except Error as problem:
        _raise_refusal(way, asked)
        raise _problem(str(problem)) from problem
    finally:
        await _within(browser.close(), CLOSING)


def _is_of_page(request: Any, page: Any) -> bool:
    with contextlib.suppress(Exception):  # some requests come before their frame, and those are not the page's
        return bool(request.is_navigation_request() and request.frame == page.main_frame)
    return False


def _raise_refusal(way: _Way, asked: list[str]) -> None:
    """Raise what the guard raised for the page itself; what is refused to its scripts is their affair."""
    refused = way.refused.get(urlsplit(asked[-1]).hostname or "")
    if refused:
        raise refused


async def _open(browser: Any, user_agent: str) -> Any:
    """Return a blank page in a browser that stores, downloads and pops up nothing."""
    if not user_agent:
        session = await browser.new_browser_cdp_session()
        user_agent = (await session.send("Browser.getVersion"))["userAgent"].replace("Headless", "")
    context = await browser.new_context(user_agent=user_agent, accept_downloads=False, service_workers="block")

    async def pass_on(route: Any) -> None:
        with contextlib.suppress(Exception):  # the page may be gone before its requests are
            await (route.abort() if route.request.resource_type in UNNEEDED else route.continue_())

    await context.route("**/*", pass_on)
    page = await context.new_page()
    context.on("page", lambda popup: popup.close())
    return page


async def _within(closing: Coroutine[Any, Any, None], seconds: float) -> None:
    """Wait for the end of something, though not for ever, and whatever becomes of it."""
    task = asyncio.ensure_future(closing)
    await asyncio.wait([task], timeout=seconds)
    if task.done() and not task.cancelled():
        task.exception()


def _missing() -> ProviderError:
    return ProviderError(
        message="{provider} is set to use a browser, and none can be driven",
        hint="pip install 'sleuth[browser]' and install Chromium, or: sleuth providers set {id} --no-using-browser",
    )


def _problem(text: str) -> ProviderError:
    code = re.search(r"net::(ERR_\w+)", text)
    if code is None or code[1] in ("ERR_ABORTED", "ERR_TOO_MANY_REDIRECTS", "ERR_INVALID_RESPONSE"):
        return BadResponseError(code[1] if code else "the browser could not show the page")
    return DeadlineError(code[1]) if code[1].endswith("TIMED_OUT") else UnreachableError(code[1])
