"""Model responses, valid or not: pieces of text, or an error with a short and safe message.

The first line of a case is a status and a content type.
"""

import re

import httpx

from sleuth.answers.llm.errors import ModelError, RequestTarget
from sleuth.answers.llm.json_reply import bool_field, read_object, share_field, text_field, texts_field
from sleuth.answers.llm.stream import ReadTimeouts, ReplyStream
from sleuth_providers.errors import ProviderError

TARGET = RequestTarget("the model", "m-1", "https://models.example/v1")
WORDS = (
    '"error":  ¦ "message":  ¦ "code": 429 ¦ "detail": [ ¦ "choices": [ ¦ "delta": { ¦ '
    '"usage": { ¦ data:  ¦ \n\n ¦ model not found ¦ [DONE] ¦ 100% ¦ 9/0 ¦ nan/inf'
)
ROUNDS = 900


def check(data: bytes) -> None:
    """Parse a response as the client does."""
    head, _, body = data.partition(b"\n")
    status, _, kind = head.decode("latin-1").partition(" ")
    if not re.fullmatch(r"[1-9][0-9]{2}", status):
        return
    headers = [(name, kind.encode("latin-1")) for name in (b"content-type", b"location")]
    response = httpx.Response(int(status), headers=headers, content=iter([body[:7], body[7:]]))
    reply = ReplyStream(TARGET)
    try:
        pieces = [*reply.pieces(response, ReadTimeouts(5.0), streamed=True), *reply.rest()]
        assert all(type(piece.text) is str and type(piece.reasoning) is str for piece in pieces)
        assert type(reply.finish) is str
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
        assert 0 <= share_field(found, name, 0.5) <= 1
        assert len(text_field(found, name, 50)) <= 50
        assert len(texts_field(found, name, 3, 50)) <= 3
        assert type(bool_field(found, name, default=True)) is bool
