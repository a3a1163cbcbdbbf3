"""Reads pages in the system's Chromium, driven by Playwright."""

import asyncio
import contextlib
import os
import re
import shutil
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from sleuth_providers.base import Response
from sleuth_providers.browser.proxy import GuardedProxy
from sleuth_providers.errors import BadResponseError, DeadlineError, ProviderError, UnreachableError
from sleuth_providers.net.client import system_proxy
from sleuth_providers.net.connection import check_behind_proxy
from sleuth_providers.net.policy import Guard
from sleuth_providers.net.urls import split_url
from sleuth_providers.records import Record
from sleuth_providers.threads import call_with_timeout

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
# With a guard, everything goes through a proxy. Some of these options exist in older, some in newer Chromiums only.
# Not --disable-features: it would replace Playwright's own, which turns off the search for screens to cast to.
PROXY_ONLY_ARGUMENTS = (
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    "--no-pings",
)
PROXY_HOST = "proxy.invalid"  # the only name that a guarded browser can resolve
SKIPPED_RESOURCES = ("image", "media", "font")
MAX_BODY_BYTES = 10_000_000
SCRIPT_TIMEOUT_S = 4.0  # for scripts to load more content
CLOSE_TIMEOUT_S = 3.0  # for the browser to exit, after which its driver is stopped


def find_program() -> str | None:
    """Return the browser to start: SLEUTH_BROWSER, else the first known one on the PATH."""
    if named := os.environ.get("SLEUTH_BROWSER"):
        return shutil.which(named)
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


class _Network(Record):
    """How the browser reaches the network, and what the guard refused."""

    arguments: tuple[str, ...] = ()
    proxy: dict[str, str] | None = None
    refused: Mapping[str, Exception] = {}


def read_page(url: str, *, timeout: float, guard: Guard | None = None) -> Response:
    """Return a page after its scripts have run.

    With a guard, the page, its scripts and its redirects reach only what the guard allows: the browser connects through
    `browser.proxy`. If the page itself leads to a refused address, the error of the guard is raised. If the system has
    a proxy for the page, everything goes through that one instead; it resolves the names, so that the guard can check
    no more than a page URL whose host is an IP address or a local name.

    Without a guard the browser is not restricted: right for a URL from the user, not for one from a page.
    """
    timeout = max(0.1, timeout)
    until = time.monotonic() + timeout
    program = find_program()
    try:
        # The synchronous API of Playwright cannot be interrupted while a script on the page is busy.
        from playwright.async_api import async_playwright
    except ImportError as problem:
        raise _missing() from problem
    if program is None:
        raise _missing()

    async def visit() -> Response:
        async with _open_network(url, until, guard) as network:
            driver = await async_playwright().start()
            try:
                return await _visit(driver, program, network, url, until)
            finally:
                await _within(driver.stop(), CLOSE_TIMEOUT_S)

    # In a thread: the caller may run an event loop, and must not hang with the browser.
    try:
        return call_with_timeout(lambda: asyncio.run(asyncio.wait_for(visit(), timeout)), timeout + 2 * CLOSE_TIMEOUT_S)
    except TimeoutError:
        raise DeadlineError from None


@contextlib.asynccontextmanager
async def _open_network(url: str, until: float, guard: Guard | None) -> AsyncIterator[_Network]:
    if guard is None:
        yield _Network()
    elif proxy := system_proxy(url):
        check_behind_proxy(split_url(url)[1], guard)
        yield _system_proxy(proxy)
    else:
        split_url(url)  # raises for anything but http(s)
        guarded = GuardedProxy(guard, until)
        async with guarded as address:
            server = f"http://{PROXY_HOST}:{address.port}"
            login = {"username": address.username, "password": address.password}
            yield _proxy_only(server, f"MAP {PROXY_HOST} {address.host}", login, guarded.refused)


def _system_proxy(proxy: str) -> _Network:
    """Return the network through the system's proxy, with the login apart from the URL as Playwright wants it."""
    try:
        parts = urlsplit(proxy)
    except ValueError:  # its text may quote the password
        raise UnreachableError("the system proxy setting is not a valid URL") from None
    if parts.username and parts.scheme.startswith("socks"):
        raise UnreachableError("Chromium cannot log in to a SOCKS proxy")
    place = parts.netloc.rpartition("@")[2]
    login = {"username": unquote(parts.username), "password": unquote(parts.password or "")} if parts.username else {}
    return _proxy_only(f"{parts.scheme.replace('5h', '5')}://{place}", f"EXCLUDE {parts.hostname}", login, {})


def _proxy_only(server: str, rule: str, login: Mapping[str, str], refused: Mapping[str, Exception]) -> _Network:
    """Return a network with the proxy as the only way out: loopback goes through it too, and no other name resolves."""
    arguments = (*PROXY_ONLY_ARGUMENTS, f"--host-resolver-rules={rule},MAP * ~NOTFOUND")
    return _Network(arguments, {"server": server, "bypass": "<-loopback>", **login}, refused)


async def _visit(driver: Any, program: str, network: _Network, url: str, until: float) -> Response:
    from playwright.async_api import Error

    root = getattr(os, "geteuid", lambda: 1)() == 0
    sandbox = ["--no-sandbox"] if root else []  # Chromium refuses to sandbox itself for root
    try:
        browser = await driver.chromium.launch(
            executable_path=program,
            args=[*ARGUMENTS, *network.arguments, *sandbox],
            chromium_sandbox=not root,
            proxy=network.proxy,
        )
    except Error as problem:
        raise _missing() from problem
    visited = [url]  # URLs of the page itself, with redirects
    try:
        page = await _open(browser)
        page.on("request", lambda request: visited.append(request.url) if _is_of_page(request, page) else None)
        response = await page.goto(url, wait_until="domcontentloaded", timeout=0)
        quiet = min(SCRIPT_TIMEOUT_S, (until - time.monotonic()) / 2)
        with contextlib.suppress(Error):
            await page.wait_for_load_state("networkidle", timeout=max(1.0, quiet * 1000))
        body = (await page.content()).encode()
        _raise_refusal(network, visited)
        if response is None or len(body) > MAX_BODY_BYTES:
            raise BadResponseError("no page, or the page is too large")
        headers = dict(response.headers) | {"content-type": "text/html; charset=utf-8"}
        return Response(response.status, headers, body, page.url)
    except Error as problem:
        _raise_refusal(network, visited)
        raise _browser_error(str(problem)) from problem
    finally:
        await _within(browser.close(), CLOSE_TIMEOUT_S)


def _is_of_page(request: Any, page: Any) -> bool:
    with contextlib.suppress(Exception):  # a request may come before its frame; then it is not that of the page
        return bool(request.is_navigation_request() and request.frame == page.main_frame)
    return False


def _raise_refusal(network: _Network, visited: list[str]) -> None:
    """Raise the guard's error if it refused the page itself; refused scripts are ignored."""
    if refused := network.refused.get(urlsplit(visited[-1]).hostname or ""):
        raise refused


async def _open(browser: Any) -> Any:
    """Return a blank page without downloads, service workers and pop-ups, and without "Headless" in its user agent."""
    session = await browser.new_browser_cdp_session()
    user_agent = (await session.send("Browser.getVersion"))["userAgent"].replace("Headless", "")
    context = await browser.new_context(user_agent=user_agent, accept_downloads=False, service_workers="block")

    async def handle(route: Any) -> None:
        with contextlib.suppress(Exception):  # the page may close before its requests end
            await (route.abort() if route.request.resource_type in SKIPPED_RESOURCES else route.continue_())

    await context.route("**/*", handle)
    page = await context.new_page()
    context.on("page", lambda popup: popup.close())
    return page


async def _within(closing: Coroutine[Any, Any, None], seconds: float) -> None:
    """Wait for a task with a timeout, and ignore its errors."""
    task = asyncio.ensure_future(closing)
    await asyncio.wait([task], timeout=seconds)
    if task.done() and not task.cancelled():
        task.exception()


def _missing() -> ProviderError:
    return ProviderError(
        message="{provider} needs a browser, but Playwright or Chromium is missing",
        hint="to install it: sleuth doctor --only install.extras; or: sleuth providers set {id} --no-using-browser",
    )


def _browser_error(text: str) -> ProviderError:
    code = re.search(r"net::(ERR_\w+)", text)
    if code is None:
        return BadResponseError("the browser could not load the page")
    if code[1] in ("ERR_ABORTED", "ERR_TOO_MANY_REDIRECTS", "ERR_INVALID_RESPONSE"):
        return BadResponseError("{kind}", kind=code[1])
    kind = DeadlineError if code[1].endswith("TIMED_OUT") else UnreachableError
    return kind("{kind}", kind=code[1])
