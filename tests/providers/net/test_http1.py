"""HTTP/1.1 on our own account: what is sent, and what is made of good, odd and broken replies."""

import io
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sleuth_providers.errors import BadRequestError, BadResponseError, BrokenOffError, ProviderError
from sleuth_providers.net.http1 import MAX_HEADERS, MAX_LINE_BYTES, Head, read_body, read_head, request_head


def stream(data: bytes) -> io.BufferedReader:
    return io.BufferedReader(io.BytesIO(data))  # type: ignore[arg-type]  # a BytesIO is raw enough


def response(data: bytes) -> tuple[int, dict[str, str], bytes]:
    reader = stream(data)
    head = read_head(reader)
    return head.status, dict(head.headers), b"".join(read_body(reader, head))


def test_request_head_names_host_headers_and_length() -> None:
    head = request_head("POST", "/a?b=c", "example.org:81", {"Accept": "*/*"}, b"four")
    assert head == b"POST /a?b=c HTTP/1.1\r\nHost: example.org:81\r\nAccept: */*\r\nContent-Length: 4\r\n\r\n"


def test_request_without_body_has_no_length() -> None:
    assert b"Content-Length" not in request_head("GET", "/", "h", {}, None)


@pytest.mark.parametrize(
    "headers",
    [{"X": "a\r\nY: b"}, {"X": "a\nb"}, {"X": "a\0"}, {"X": "键"}, {"X Y": "a"}, {"X:": "a"}, {"": "a"}, {"Ü": "a"}],
)
def test_header_that_http_cannot_carry_is_refused_without_showing_it(headers: dict[str, str]) -> None:
    with pytest.raises(BadRequestError) as caught:
        request_head("GET", "/", "h", {"Authorization": "Bearer secret"} | headers, None)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("target", ["/a b\r\nX: y", "/\n"])
def test_target_that_ends_the_line_is_refused(target: str) -> None:
    with pytest.raises(BadRequestError):
        request_head("GET", target, "h", {}, None)


@pytest.mark.parametrize(
    ("data", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\nevil", b"abc"),
        (b"HTTP/1.0 200 OK\n\nuntil the end", b"until the end"),
        (b"HTTP/1.1 200\r\n\r\n", b""),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: x\r\n\r\n",
            b"abcde",
        ),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhi", b"hi"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\n\r\n1\r\na\r\n0\r\n\r\n", b"a"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab", b"ab"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n" + b"T: x\r\n" * 300, b"a"),
    ],
)
def test_body_is_read_as_its_head_says(data: bytes, body: bytes) -> None:
    assert response(data)[2] == body


def test_headers_are_lower_case_folded_lines_joined_and_the_last_counts() -> None:
    _, headers, _ = response(b"HTTP/1.1 200 OK\r\nX-A:  1\r\n 2\r\nno colon\r\n: empty\r\nx-a: 3\r\nY:\xfc\r\n\r\n")
    assert headers == {"x-a": "3", "y": "ü"}


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", BrokenOffError),
        (b"<html>no http</html>", BrokenOffError),
        (b"HTTP/2 200 OK\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 2000 OK\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 \xb2\xb2\xb2 OK\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nX: ", BrokenOffError),
        (b"HTTP/1.1 101 Switching\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 103 Hints\r\n\r\n" * 40 + b"HTTP/1.1 200 OK\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nX: " + b"a" * (MAX_LINE_BYTES + 10), BrokenOffError),
        (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * (MAX_HEADERS + 1) + b"\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", BadResponseError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", BrokenOffError),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"f" * 17 + b"\r\n", BrokenOffError),
    ],
)
def test_reply_that_is_none_is_an_error(data: bytes, error: type[ProviderError]) -> None:
    with pytest.raises(error):
        response(data)


@given(st.binary(max_size=400))
def test_any_bytes_are_a_reply_or_a_known_error(data: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"):
        with suppress(ProviderError):
            response(start + data)


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=8))
def test_chunks_come_back_whole(parts: list[bytes]) -> None:
    sent = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
    assert b"".join(read_body(stream(sent), Head(200, {"transfer-encoding": "chunked"}))) == b"".join(parts)
