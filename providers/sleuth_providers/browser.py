"""A page as a real browser shows it: Playwright drives the Chromium that the system has."""

import asyncio
import contextlib
import os
import re
import shutil
import threading
from collections.abc import Coroutine
from typing import Any

from sleuth_providers.base import Reply
from sleuth_providers.errors import BadResponseError, DeadlineError, ProviderError, UnreachableError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
)
UNNEEDED = ("image", "media", "font")
MAX_BODY = 10_000_000
QUIET = 4.0  # seconds at the most that scripts have for loading more
CLOSING = 3.0  # seconds the browser has for closing, after which its driver is stopped


def find_program() -> str | None:
    """Return the browser to start: the one that SLEUTH_BROWSER names, else the first known one on the path."""
    if named := os.environ.get("SLEUTH_BROWSER"):
        return shutil.which(named)
    return next((path for name in PROGRAMS if (path := shutil.which(name))), None)


def read_page(url: str, *, timeout: float, user_agent: str) -> Reply:
    """Return a page after its scripts have run.

    Without a user agent the browser gives its own, less the word that it has no window. Where the page's scripts and
    redirects lead is the browser's affair: this is for addresses that the user named, not for those a page names.
    """
    program = find_program()
    try:
        # The synchronous side of Playwright cannot be stopped while a script on the page keeps it waiting.
        from playwright.async_api import async_playwright
    except ImportError as problem:
        raise _missing() from problem
    if program is None:
        raise _missing()

    async def visit() -> Reply:
        driver = await async_playwright().start()
        try:
            return await _visit(driver, program, url, timeout, user_agent)
        finally:
            await _within(driver.stop(), CLOSING)

    outcome: list[Reply | BaseException] = []

    def work() -> None:
        try:
            outcome.append(asyncio.run(asyncio.wait_for(visit(), max(0.1, timeout))))
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


async def _visit(driver: Any, program: str, url: str, timeout: float, user_agent: str) -> Reply:
    from playwright.async_api import Error

    until = asyncio.get_running_loop().time() + timeout
    root = getattr(os, "geteuid", lambda: 1)() == 0
    arguments = [*ARGUMENTS, *(["--no-sandbox"] if root else [])]  # Chromium refuses to sandbox itself for root
    try:
        browser = await driver.chromium.launch(executable_path=program, args=arguments, chromium_sandbox=not root)
    except Error as problem:
        raise _missing() from problem
    try:
        page = await _open(browser, user_agent)
        response = await page.goto(url, wait_until="domcontentloaded", timeout=0)
        quiet = min(QUIET, (until - asyncio.get_running_loop().time()) / 2)
        with contextlib.suppress(Error):
            await page.wait_for_load_state("networkidle", timeout=max(1.0, quiet * 1000))
        body = (await page.content()).encode()
        if response is None or len(body) > MAX_BODY:
            raise BadResponseError("no page, or one that is too large")
        headers = dict(response.headers) | {"content-type": "text/html; charset=utf-8"}
        return Reply(response.status, headers, body, page.url)
    except Error as problem:
        raise _problem(str(problem)) from problem
    finally:
        await _within(browser.close(), CLOSING)


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
