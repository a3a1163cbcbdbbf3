"""Hosts of what users type as a domain."""

import pytest

from sleuth.base.urls import without_path


@pytest.mark.parametrize(
    ("typed", "host"),
    [
        ("https://www.example.com/path?q=1", "example.com"),
        ("user@example.com", "example.com"),
        ("example.com:443", "example.com"),
        (".example.com", "example.com"),
        ("*.example.com", "*.example.com"),
        ("/ex.*/", "/ex.*/"),
        ("", ""),
    ],
)
def test_domain_of_a_filter(typed: str, host: str) -> None:
    assert without_path(typed) == host
