"""Values of the fields of the provider table: those that fit are stored, others are refused."""

from typing import Any

import pytest
from tests.cli.store.conftest import SECRET, raw

from sleuth.base.errors import Exit, RequestError
from sleuth.base.i18n import tr
from sleuth.store.provider_fields import CLEARABLE, FIELDS
from sleuth.store.provider_table import ProviderTable


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_every_field_can_be_changed(table: ProviderTable, field: str) -> None:
    values: dict[str, Any] = {
        "type": "local",
        "api_host": "https://x.test/%s",
        "engines": (),
        "using_browser": True,
        "enabled": False,
        "options": {},
    }
    assert getattr(table.update("brave", {field: values.get(field, "text")}), field) == values.get(field, "text")


@pytest.mark.parametrize("field", CLEARABLE)
def test_field_can_be_cleared(table: ProviderTable, field: str) -> None:
    values = {"engines": ["a"], "options": {"a": 1}, "api_host": "https://x.test"}
    empty: dict[str, Any] = {"engines": (), "options": {}}
    assert getattr(table.update("brave", {field: values.get(field, "value")}), field)
    assert getattr(table.update("brave", {field: None}), field) == empty.get(field)


BAD: list[tuple[str, Any]] = [
    ("nonsense", "x"),
    ("id", "x"),
    ("is_default", 1),
    ("built_in", 0),
    ("updated_at = 0, id", "x"),
    ("name", ""),
    ("name", "  "),
    ("name", None),
    ("name", 5),
    ("name", "a\nb"),
    ("type", "magic"),
    ("type", None),
    ("type", ""),
    ("api_key", 5),
    ("api_key", ""),
    ("api_key", "two\nlines"),
    ("api_key", "\udcff"),
    ("api_key", "\x1b[31m"),
    ("basic_auth_password", "\0"),
    ("api_host", "search.test"),
    ("api_host", "ftp://search.test"),
    ("api_host", "javascript:alert(1)"),
    ("api_host", "http://"),
    ("api_host", "http:///x"),
    ("api_host", "http://a b"),
    ("api_host", "http://a\u00a0b"),
    ("api_host", "http://[::1"),
    ("api_host", "http://a:port"),
    ("api_host", "http://a:99999"),
    ("api_host", "http://a:0"),
    ("api_host", f"http://me:{SECRET}@a"),
    ("api_host", f"http://me:{SECRET}@a b"),
    ("api_host", "http://me@a"),
    ("api_host", 5),
    ("engines", "google"),
    ("engines", [1]),
    ("engines", [""]),
    ("engines", {"a": 1}),
    ("engines", ["\udcff"]),
    ("using_browser", "yes"),
    ("using_browser", 5),
    ("using_browser", None),
    ("enabled", "false"),
    ("options", "a=b"),
    ("options", ["a"]),
    ("options", {"a": float("nan")}),
    ("options", {"a": object()}),
    ("options", {"a": "\udcff"}),
]


@pytest.mark.parametrize(("field", "value"), BAD)
def test_invalid_value_is_refused_and_nothing_is_written(table: ProviderTable, field: str, value: Any) -> None:
    before = raw(table)
    with pytest.raises(RequestError) as caught:
        table.update("brave", {"name": "Changed", field: value})
    assert caught.value.exit == Exit.INVALID
    assert caught.value.hint
    assert SECRET not in str(caught.value)
    assert raw(table) == before


def test_results_page_needs_a_placeholder(table: ProviderTable) -> None:
    with pytest.raises(RequestError, match="has no %s"):
        table.update("local-bing", {"api_host": "https://bing.test/search"})
    assert table.update("local-bing", {"api_host": "https://bing.test/search?q=%s"}).api_host
    table.update("brave", {"api_host": f"https://h.example/?api_key={SECRET}"})
    with pytest.raises(RequestError, match="has no %s") as caught:
        table.update("brave", {"type": "local"})
    assert SECRET not in tr(caught.value.message, **caught.value.values)
