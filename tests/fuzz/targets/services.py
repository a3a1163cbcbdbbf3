"""Replies of the Jina reader and the Wayback Machine; the first line names the service."""

import time

import sleuth.pages.article  # noqa: F401 - urllib3 warns when it is first imported, and in a test a warning is an error
from sleuth.pages.services import read_by_jina, read_from_archive
from sleuth_providers.base import ErrorDetector, Request, Response
from sleuth_providers.errors import ProviderError

WORDS = '"data" ¦ "content" ¦ "publishedTime" ¦ "99999" ¦ Thu, 99 Foo 99999 99:99:99 +9999 ¦ 2024-13-45 ¦ error 4040'
ROUNDS = 400


class Canned:
    """Answers everything with the same body."""

    guard = None

    def __init__(self, body: bytes) -> None:
        self.body = body

    def send(self, request: Request, refusal: ErrorDetector | None = None) -> Response:
        """Return the body."""
        reply = Response(200, {"content-type": "text/html"}, self.body, request.address)
        if refusal and (error := refusal(reply)):
            raise error
        return reply

    def time_left(self) -> float:
        """Return some time."""
        return 5.0


def check(data: bytes) -> None:
    """Read a reply."""
    whose, _, body = data.partition(b"\n")
    read = read_by_jina if whose == b"jina" else read_from_archive
    try:
        content = read("https://a.example/page", Canned(body), "", time.monotonic() + 5)
    except ProviderError:
        return
    assert type(content.final_url) is str
    assert content.blocks
    for label in (*content[:4], content.archived):
        assert label.isprintable() or set("\u200c\u200d") & set(label)
