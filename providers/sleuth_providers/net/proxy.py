"""The same exchange through an HTTP or SOCKS proxy, where httpx does the work."""

import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import BadRequestError, BrokenOffError, DeadlineError, ProviderError, UnreachableError
from sleuth_providers.net.connection import ExchangeLimits, numeric_address, read_limited, split, tls_context
from sleuth_providers.net.policy import Guard


def proxy_for(address: str) -> str | None:
    """Return the proxy the system names for an address; none for loopback, whatever the variables say."""
    parts, host, _ = split(address)
    written = numeric_address(host.rstrip("."))  # 127.0.0.1.example.org is a name
    is_loopback = host == "localhost" or written == "::1" or written.startswith("127.")
    if is_loopback or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def proxy_transport(proxy: str) -> Any:
    """Return a wire like `wire.exchange` that goes through a proxy; which address is reached, the proxy decides."""

    def exchange(request: Request, headers: Mapping[str, str], limits: ExchangeLimits, guard: Guard | None) -> Response:
        host = split(request.address)[1]
        if guard and (written := numeric_address(host)):  # a name is the proxy's to look up, a number can be checked
            guard(host, [written])
        outcome: list[Response | BaseException] = []

        def work() -> None:
            try:
                outcome.append(_exchange(proxy, request, headers, limits))
            except BaseException as problem:
                outcome.append(problem)

        # httpx limits each read, not the whole: the thread is left behind when the deadline passes.
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(max(0.0, limits.deadline - time.monotonic()))
        if not outcome:
            raise DeadlineError
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    return exchange


def _exchange(proxy: str, request: Request, headers: Mapping[str, str], limits: ExchangeLimits) -> Response:
    body, content_type = request.body()
    sent = dict(headers) | ({"Content-Type": content_type} if content_type else {}) | dict(request.headers)
    left = max(0.01, limits.deadline - time.monotonic())
    timeout = httpx.Timeout(left, connect=min(left, limits.connect))
    with _client(proxy, timeout) as client:
        where = urlsplit(proxy).hostname
        try:
            with client.stream(request.method, request.address, headers=sent, content=body) as response:
                return _reply(response, request, limits)
        except ProviderError:
            raise
        except httpx.TimeoutException as problem:
            raise DeadlineError from problem
        except (httpx.ProxyError, httpx.ConnectError) as problem:
            raise UnreachableError(f"no connection through the proxy {where!r}") from problem
        except (httpx.LocalProtocolError, httpx.InvalidURL, ValueError):  # their words may quote a key
            raise BadRequestError("an address or a header holds characters that HTTP cannot carry") from None
        except httpx.HTTPError as problem:
            raise BrokenOffError(f"the connection through the proxy {where!r} broke off") from problem


def _client(proxy: str, timeout: httpx.Timeout) -> httpx.Client:
    try:
        return httpx.Client(proxy=proxy, verify=tls_context(), trust_env=False, timeout=timeout)
    except (ValueError, httpx.InvalidURL):  # a password in it is nobody's business
        raise UnreachableError("the proxy of this system is not a valid address") from None


def _reply(response: httpx.Response, request: Request, limits: ExchangeLimits) -> Response:
    """Read an answer undecoded, since httpx unpacks without a limit."""
    names = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers.raw}
    body = read_limited(response.iter_raw(), names.get("content-encoding", ""), response.status_code, limits.body)
    return Response(response.status_code, names, body, request.address)
