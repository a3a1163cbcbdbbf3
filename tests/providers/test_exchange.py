"""What adapters read is bounded, in charsets of real pages; what is secret in an account is known to be."""

import json
from typing import Any

import pytest

from sleuth_providers.errors import BadResponseError
from sleuth_providers.exchange import MAX_JSON_VALUES, Account, Response, secrets_in
from sleuth_providers.json import MAX_ITEMS, as_list, document, objects


def response(body: bytes, kind: str = "application/json") -> Response:
    return Response(200, {"content-type": kind}, body)


@pytest.mark.parametrize("piece", [b"1,", b"[],", b"{},"])
def test_json_with_too_many_values_is_refused(piece: bytes) -> None:
    many = (
        b"[" + piece * (MAX_JSON_VALUES // len(piece.replace(b"1", b"").replace(b"]", b"").replace(b"}", b""))) + b"1]"
    )
    with pytest.raises(BadResponseError, match="too many JSON values"):
        response(many).json()
    assert len(response(b"[" + piece * 1000 + b"1]").json()) == 1001


def test_json_with_one_long_string_is_read() -> None:
    assert len(response(json.dumps("word " * 1_000_000).encode()).json()) == 5_000_000


@pytest.mark.parametrize("body", ["[]", "7", '"text"', "null"])
def test_json_that_is_not_an_object_is_refused(body: str) -> None:
    with pytest.raises(BadResponseError, match="not a JSON object"):
        document(response(body.encode()))


@pytest.mark.parametrize(
    ("value", "found"), [([{"a": 1}, 7, None, {}], [{"a": 1}, {}, {}, {}]), (None, []), ({"a": 1}, []), ("text", [])]
)
def test_other_items_of_a_list_become_empty_objects(value: Any, found: list[Any]) -> None:
    assert objects(value) == found


def test_long_lists_are_truncated() -> None:
    assert len(as_list([0] * (MAX_ITEMS + 1))) == MAX_ITEMS


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("utf-8", "é"),
        ("GBK", "中"),
        ("gb2312", "中"),
        ("gb18030", "中"),
        ("big5", "中"),
        ("shift_jis", "日"),
        ("euc-kr", "한"),
        ("windows-1251", "ж"),
        ("iso-8859-2", "ł"),
        ("latin1", "é"),
        ("koi8-r", "ж"),
    ],
)
def test_declared_charset_is_used(charset: str, text: str) -> None:
    assert response(text.encode(charset), f'text/html; charset="{charset}"').text() == text


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "unicode_escape", "utf-7", "rot13", "undefined", "cp99999", "x"]
)
def test_unusual_charset_is_ignored(charset: str) -> None:
    assert response("\\x41-é".encode(), f"text/html; charset={charset}").text() == "\\x41-é"


@pytest.mark.parametrize(
    ("address", "secrets"),
    [
        ("https://api.test/search", []),
        ("https://api.test/search?q=%s&lang=en&author=me", []),
        ("https://api.test/search?key=%s", []),
        ("https://api.test/?q=%s&api_key=abc&X-Token=def#x", ["abc", "def"]),
        ("https://me:pa:ss@api.test/a@b", ["pa:ss"]),
        ("https://token@api.test/a@b", ["token"]),
        ("https://:pass@api.test/", ["pass"]),
        ("me:pass@api.test/a@b", ["pass"]),
        ("not an address", []),
    ],
)
def test_secrets_in_a_url_are_found(address: str, secrets: list[str]) -> None:
    assert secrets_in(address) == secrets


def test_account_lists_its_secrets() -> None:
    account = Account("x", "key", "https://a.test/?token=t0k", username="me", password="word")
    assert set(account.secrets) == {"key", "word", "t0k", "bWU6d29yZA=="}
    assert Account().secrets == ()
