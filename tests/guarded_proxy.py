"""Runs the proxy of the browser in tests that are not asynchronous."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from sleuth_providers.browser.proxy import GuardedProxy, ProxyAddress


@contextlib.contextmanager
def run_proxy(proxy: GuardedProxy) -> Iterator[ProxyAddress]:
    """Run a proxy in a separate event loop, as the browser does."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def run(step: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(step, loop).result()

    try:
        address = run(proxy.__aenter__())
        try:
            yield address
        finally:
            run(proxy.__aexit__())
        run(all_closed())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def all_closed() -> None:
    """Wait until every connection of the loop has been closed."""
    while len(asyncio.all_tasks()) > 1:
        await asyncio.sleep(0)
