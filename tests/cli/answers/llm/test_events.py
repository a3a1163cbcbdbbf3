"""Server-sent events are parsed the same however the bytes are split."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from sleuth.answers.llm import stream
from sleuth_providers.errors import BadResponseError


def read(*chunks: bytes) -> list[str]:
    return list(stream.read_events(chunks, lambda: None))


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"data: a\n\ndata: b\n\n", ["a", "b"]),
        (b"data:a\n\n", ["a"]),
        (b"data:  a\n\n", [" a"]),
        (b"data: a\ndata: b\n\n", ["a\nb"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        (b"data: a\r\rdata: b\r\r", ["a", "b"]),
        (b": keep-alive\n\n: keep-alive\n\ndata: a\n\n", ["a"]),
        (b"event: delta\nid: 7\nretry: 10\ndata: a\n\n", ["a"]),
        (b"event: ping\n\n\n\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n", ["a"]),
        (b"data\n\n", [""]),
        (b"database: a\n\n", []),
        (b"data: a", ["a"]),
        (b"data: a\n", ["a"]),
        (b"data: [DONE]\n\n", [stream.DONE]),
        ("data: 你好 🙂\n\n".encode(), ["你好 🙂"]),
        (b"data: \xff\n\n", ["\ufffd"]),
        (b"", []),
    ],
)
def test_events_are_read(data: bytes, found: list[str]) -> None:
    assert read(data) == found
    assert read(*(data[place : place + 1] for place in range(len(data)))) == found


@settings(deadline=None)
@given(some.data())
def test_chunk_boundaries_do_not_matter(source: some.DataObject) -> None:
    pieces = [b"data: \xe4\xbd\xa0", b"\r\n", b"\n", b"\r", b": hm", b"data:x", b"event: e", b"\xf0\x9f\x99\x82"]
    data = b"".join(source.draw(some.lists(some.sampled_from(pieces), max_size=30)))
    cuts = sorted(source.draw(some.lists(some.integers(0, len(data)), max_size=8)))
    parts = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    assert read(*parts) == read(data)


def test_endless_line_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_EVENT_CHARS", 1000)
    with pytest.raises(BadResponseError):
        read(*[b"x" * 100] * 11)


def test_endless_event_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_EVENT_CHARS", 1000)
    with pytest.raises(BadResponseError):
        read(*[b"data: " + b"x" * 93 + b"\n"] * 11)
