"""OpenTelemetry spans, off by default: nothing is imported unless the environment or the calling program asks for them.

A process of sleuth exports them if the standard variables name an OTLP endpoint and the extra `otel` is installed. In
another program they go where that program sends its own. The MCP SDK and FastAPI add spans for tools and requests.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from sleuth import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, TypeVar

    W = TypeVar("W", bound=Callable[..., Any])

API = "opentelemetry.trace"
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
EXPORT_TIMEOUT_S = 2  # unless a variable sets it; the process waits for it at the end
_providers: list[Any] = []  # that `start` made


class _NoSpan:
    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        """Do nothing."""


_NO_SPAN = _NoSpan()


@contextmanager
def span(name: str, attributes: Mapping[str, Any], *, client: bool = False) -> Iterator[Any]:
    """Trace the work in a block; a `client` span is a request to another server, and has no spans below it.

    Attributes must contain neither keys nor, unless the setting allows it, queries and URLs. An exception is traced by
    its type alone, because its message may contain them.
    """
    api: Any = sys.modules.get(API)
    if not hasattr(api, "get_tracer"):  # not imported, or not completely
        yield _NO_SPAN
        return
    tracer = api.get_tracer("sleuth", __version__)
    made = tracer.start_span(name, attributes=attributes, kind=api.SpanKind.CLIENT if client else api.SpanKind.INTERNAL)
    with made if client else api.use_span(made, True, record_exception=False, set_status_on_exception=False):
        try:
            yield made
        except Exception as problem:
            made.set_attribute("error.type", type(problem).__name__)
            made.set_status(api.StatusCode.ERROR)
            raise


def in_span(work: W) -> W:
    """Return work whose spans, in another thread, are below the current one; use the result once."""
    if API not in sys.modules:
        return work
    from contextvars import copy_context
    from functools import partial

    return partial(copy_context().run, work)  # type: ignore[return-value]  # it takes and returns the same


def start() -> None:
    """Export the spans of this process, if the environment asks for it."""
    exporter = os.environ.get("OTEL_TRACES_EXPORTER") or ("otlp" if any(map(os.environ.get, ENDPOINTS)) else "none")
    if exporter != "otlp" or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        from sleuth.base.logs import log

        log("tracing: OTEL_* variables are set, but the `otel` extra is not installed")
        return
    from sleuth.base.log_redirect import redirect_logging

    redirect_logging()  # a collector that is down is not the user's problem
    names = ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT")
    timeout = None if any(map(os.environ.get, names)) else EXPORT_TIMEOUT_S
    about = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or "sleuth", "service.version": __version__}
    _providers.append(TracerProvider(resource=Resource.create(about)))
    _providers[-1].add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=timeout)))
    trace.set_tracer_provider(_providers[-1])


def stop() -> None:
    """Flush pending spans."""
    while _providers:
        _providers.pop().shutdown()
