"""Whole replies of models, good and bad: pieces of text, or an error with words that are safe and short.

The first line of a case is a status and a content type.
"""

import re

from sleuth.answers import replies
from sleuth.answers.llm.connection import ReadTimeouts, StreamedResponse
from sleuth.answers.llm.errors import ModelError, RequestTarget
from sleuth.answers.llm.json_reply import read_object
from sleuth.answers.llm.stream import ReplyStream
from sleuth_providers.errors import ProviderError

TARGET = RequestTarget("the model", "m-1", "https://models.example/v1")
WORDS = (
    '"error":  ¦ "message":  ¦ "code": 429 ¦ "detail": [ ¦ "choices": [ ¦ "delta": { ¦ '
    '"usage": { ¦ data:  ¦ \n\n ¦ model not found ¦ [DONE] ¦ 100% ¦ 9/0 ¦ nan/inf'
)
ROUNDS = 900


def check(data: bytes) -> None:
    """Read a reply as a client does."""
    head, _, body = data.partition(b"\n")
    status, _, kind = head.decode("latin-1").partition(" ")
    if not re.fullmatch(r"[1-9][0-9]{2}", status):
        return
    response = StreamedResponse(int(status), {"content-type": kind, "location": kind}, [body[:7], body[7:]])
    reading = ReplyStream(TARGET)
    try:
        said = [*reading.pieces(response, ReadTimeouts(5.0), streamed=True), *reading.rest()]
        assert all(type(piece.text) is str and type(piece.reasoning) is str for piece in said)
        assert type(reading.finish) is str
    except ModelError as error:
        assert len(error.detail) <= 700
        assert error.detail.isprintable() or "\u200d" in error.detail or "\u200c" in error.detail, "harmless"
    except ProviderError as error:
        assert type(error.detail) is str
    _check_fields(body)


def _check_fields(body: bytes) -> None:
    try:
        found = read_object(body.decode("utf-8", "replace"))
    except ValueError:
        return
    for name in list(found)[:20]:
        assert 0 <= replies.share_of(found, name, 0.5) <= 1
        assert len(replies.text_of(found, name, 50)) <= 50
        assert len(replies.texts_of(found, name, 3, 50)) <= 3
        assert type(replies.flag_of(found, name, default=True)) is bool
