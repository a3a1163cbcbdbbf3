"""Counters and durations of requests, in the format of Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response

SECONDS = (0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class RequestMetrics:
    """What the server has answered since it started."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "sleuth_http_requests",
            "Requests answered, by method, path, status and name of the token.",
            ("method", "path", "status", "token"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "sleuth_http_request_seconds",
            "Time until the response was sent.",
            ("path",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._providers = Counter(
            "sleuth_provider_answers",
            "Providers that were asked or skipped, by state of the attempt.",
            ("provider", "state", "cached"),
            registry=self._registry,
        )

    def count_request(self, method: str, path: str, status: int, token: str, seconds: float) -> None:
        """Count one request."""
        self._requests.labels(method, path, str(status), token).inc()
        self._seconds.labels(path).observe(seconds)

    def count_attempts(self, attempts: list[dict[str, object]]) -> None:
        """Count the attempts of one search, in their published form."""
        for attempt in attempts:
            self._providers.labels(attempt["provider"], attempt["state"], str(attempt["cached"]).lower()).inc()

    def response(self) -> Response:
        """Return all metrics."""
        return Response(generate_latest(self._registry), media_type=CONTENT_TYPE_LATEST)
