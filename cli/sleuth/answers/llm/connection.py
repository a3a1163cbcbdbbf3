"""One POST to a model, whose reply is read as it arrives."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from sleuth_providers.net.client import system_proxy
from sleuth_providers.net.httpx_transport import Deadline, headers_of, stream
from sleuth_providers.records import Record

CONNECT_TIMEOUT_S = 10.0  # TLS included


class ReadTimeouts:
    """The deadline of a reply, which moves on while the server keeps sending."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.until = time.monotonic() + seconds

    def renew(self, seconds: float | None = None) -> None:
        """Start the timeout anew."""
        self.until = time.monotonic() + (self.seconds if seconds is None else seconds)


class StreamedResponse(Record):
    """A reply whose body is still to be read."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    chunks: Iterable[bytes]


@contextmanager
def post(url: str, headers: Mapping[str, str], body: bytes, timeouts: ReadTimeouts) -> Iterator[StreamedResponse]:
    """Send a body and give the reply, whatever its status; the connection is closed at the end of the block.

    Redirects are not followed, so that a key is sent to the configured host only.
    """
    deadline = Deadline(lambda: timeouts.until, CONNECT_TIMEOUT_S)
    sent = {"Connection": "close", **headers}
    with stream("POST", url, sent, body, deadline, system_proxy(url)) as reply:
        yield StreamedResponse(reply.status_code, headers_of(reply), reply.iter_raw())
