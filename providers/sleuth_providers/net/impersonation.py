"""Requests with the TLS handshake, HTTP/2 settings and headers of Chrome, sent by wreq.

Sites that are read as pages refuse clients whose handshake is not that of the browser they name. Everything else stays
as in `net.http1`: names are resolved here, the guard sees every address and wreq connects to exactly those, the
certificates are the system's, and one deadline and one size limit cover the whole exchange.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import cache, partial
from ipaddress import ip_address
from typing import Any

from sleuth_providers.base import Request, Response
from sleuth_providers.errors import BadResponseError, BrokenOffError, DeadlineError, ProviderError, UnreachableError
from sleuth_providers.net.connection import check_behind_proxy, connection_error, remaining, resolve
from sleuth_providers.net.http1 import INCOMPLETE, NOT_HTTP, encoded, exchange, read_limited, request_head
from sleuth_providers.net.identity import CHROME_VERSION
from sleuth_providers.net.policy import ExchangeLimits, Guard
from sleuth_providers.net.urls import host_header, proxy_error, request_target, split_url
from sleuth_providers.translatable import Translatable

CA_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # Alpine, BSD
)
ENCODINGS = "gzip, deflate, br, zstd"
EXIT_TIMEOUT_S = 5.0  # how long the end of Python waits for cancelled requests

_changed = threading.Condition()
_cancels: dict[int, Callable[[], object]] = {}  # of each thread inside wreq, by its id: ends its request
_ended = False


def chrome_transport(proxy: str | None) -> Callable[..., Response] | None:
    """Return a transport like `http1.exchange`, or None where wreq or the system's certificates are missing."""
    try:
        import wreq  # noqa: F401 - only whether it is there: wheels do not exist for every system
    except ImportError:
        return None
    if sys.platform == "linux" and _certificates() is None:
        return None
    return partial(_exchange, proxy)


def _exchange(
    proxy: str | None, request: Request, headers: Mapping[str, str], limits: ExchangeLimits, guard: Guard | None = None
) -> Response:
    parts, host, port = split_url(request.address)
    name, where = host_header(parts, host, port), parts.netloc.rpartition("@")[2]
    body, sent = encoded(request, headers)
    request_head(request.method, request_target(parts), name, sent, body)  # raises for invalid headers
    is_script = sent.get("Sec-Fetch-Mode") != "navigate"
    sent = {key: value for key, value in sent.items() if key != "Connection"}
    sent |= {"Accept-Encoding": ENCODINGS, "Priority": "u=1, i" if is_script else "u=0, i"}
    with _exit_waits():
        import wreq

        errors: Any = tuple(getattr(wreq, name) for name in wreq.exceptions.__all__)  # they share no base class
        client = None
        try:
            client = _client(_connection_options(proxy, host, port, limits, guard))
            url = f"https://{name}{request_target(parts)}"
            status, received, content = _send(client, request.method, url, sent, body, limits.body)
            return Response(status, received, content, request.address)
        except OSError as problem:  # from our own resolver, or the deadline
            raise connection_error(problem, where) from problem
        except errors as problem:
            error = _error(problem, where, proxy)
        except BaseException as problem:
            if type(problem).__name__ != "CancelledError":
                raise
            error = BrokenOffError("sleuth is shutting down")
        finally:
            del client
    if error is None:
        return exchange(request, headers, limits, guard)
    raise error


def _send(
    client: Any, method: str, url: str, headers: dict[str, str], body: bytes | None, limit: int
) -> tuple[int, dict[str, str], bytes]:
    import wreq

    options: dict[str, Any] = {"headers": headers, "orig_headers": list(headers), "default_headers": False}
    if body is not None:
        options["body"] = body
    response = client.request(getattr(wreq.Method, method), url, **options)
    received = {str(name, "latin-1").lower(): str(value, "latin-1") for name, value in response.headers}
    status = response.status.as_int()
    with response.stream() as pieces:
        _set_cancel(partial(pieces.__exit__, None, None, None))
        chunks = (bytes(piece) for piece in pieces if isinstance(piece, memoryview))  # decompressed; not the trailers
        content = read_limited(chunks, "", status, limit)
    if _ended:
        raise BrokenOffError("sleuth is shutting down")
    return status, received, content


def _connection_options(
    proxy: str | None, host: str, port: int, limits: ExchangeLimits, guard: Guard | None
) -> dict[str, Any]:
    import wreq

    dns = wreq.DnsOptions()
    if proxy:
        check_behind_proxy(host, guard)
    else:
        addresses = [str(sockaddr[0]) for _, sockaddr in resolve(host, port, limits.connect_by())]
        if guard:
            guard(host, addresses)
        dns.add_resolve(host, [ip_address(address.partition("%")[0]) for address in addresses])
    left = remaining(limits.deadline)
    return {
        "dns_options": dns,
        "timeout": timedelta(seconds=left),
        "connect_timeout": timedelta(seconds=min(left, max(0.001, limits.connect_by() - time.monotonic()))),
        **({"proxies": [wreq.Proxy.all(proxy)]} if proxy else {"no_proxy": True}),
    }


def _client(options: dict[str, Any]) -> Any:
    import wreq
    from wreq import blocking

    if certificates := _certificates():
        options["tls_verify"] = _store(certificates)
    profile = getattr(wreq.Emulation, f"Chrome{CHROME_VERSION}")
    client = blocking.Client(emulation=profile, redirect=wreq.Policy.none(), cookie_store=False, **options)
    _set_cancel(client.close)
    return client


@contextmanager
def _exit_waits() -> Iterator[None]:
    """Let the end of Python wait for the block: it must not happen while a thread is inside wreq, which would crash."""
    with _changed:
        if _ended:
            raise BrokenOffError("sleuth is shutting down")
        _cancels[threading.get_ident()] = lambda: None
    try:
        yield
    finally:
        with _changed:
            del _cancels[threading.get_ident()]
            _changed.notify_all()


def _set_cancel(cancel: Callable[[], object]) -> None:
    """Set what ends the request of this thread when Python ends: closing a client does not end a response."""
    _cancels[threading.get_ident()] = cancel
    if _ended:
        cancel()


@atexit.register
def _cancel_all() -> None:
    global _ended
    with _changed:
        _ended = True
        for cancel in list(_cancels.values()):
            cancel()
        _changed.wait_for(lambda: not _cancels, EXIT_TIMEOUT_S)


@cache
def _certificates() -> bytes | None:
    """Return the certificates of SSL_CERT_FILE or of the system as PEM; None where they are not a file."""
    is_default = sys.platform == "linux" and not os.environ.get("SSL_CERT_DIR")
    bundles = [path for path in CA_BUNDLES if is_default and os.access(path, os.R_OK)]
    path = os.environ.get("SSL_CERT_FILE") or next(iter(bundles), None)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as problem:
        raise UnreachableError("no certificates found in SSL_CERT_FILE or SSL_CERT_DIR") from problem


@cache
def _store(certificates: bytes) -> Any:
    import wreq

    return wreq.CertStore.from_pem_stack(certificates)


def _error(problem: Exception, where: str, proxy: str | None) -> ProviderError | None:
    """Return the error for one of wreq; None if the plain transport may succeed.

    Errors of wreq differ in what their text says of the cause. It also holds the URL with the query, so none is shown.
    """
    text = f"{type(problem).__name__}: {problem}"
    if "TimeoutError" in text or "TimedOut" in text:
        return DeadlineError()
    if "ProxyConnectionError" in text:
        return proxy_error(proxy)
    if "CERTIFICATE_VERIFY_FAILED" in text:
        if sys.platform != "linux" and not proxy:
            return None  # the roots that wreq brings lack those of a company
        return UnreachableError("bad certificate at {where}: {reason}", where=where, reason="certificate verify failed")
    if "WRONG_VERSION_NUMBER" in text:
        return UnreachableError("{where} does not use TLS; try http:// instead of https://", where=where)
    if "ConnectionRefused" in text:
        return UnreachableError("connection refused at {where}", where=where)
    if any(sign in text for sign in ("IncompleteBody", "IncompleteMessage", "UnexpectedEof")):
        return BrokenOffError(INCOMPLETE)
    if text.startswith("DecodingError"):
        return BadResponseError("corrupt compressed data")
    if text.startswith(("RequestError", "ConnectionResetError", "BodyError")):
        return BrokenOffError(NOT_HTTP)
    return UnreachableError("{reason} at {where}", where=where, reason=Translatable("cannot connect"))
