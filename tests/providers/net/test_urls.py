"""Parts of a URL: hosts, registered domains, and what an error may show."""

import pytest

from sleuth_providers.net.urls import host_of, site_of, url_for_display


@pytest.mark.parametrize(
    ("url", "host", "site"),
    [
        ("https://www.example.org/path", "www.example.org", "example.org"),
        ("https://A.B.Example.co.uk:8080/", "a.b.example.co.uk", "example.co.uk"),
        ("https://user:word@example.com/", "example.com", "example.com"),
        ("http://192.168.1.10/", "192.168.1.10", "192.168.1.10"),
        ("http://localhost/", "localhost", "localhost"),
        ("http://[::1/", "", ""),
        ("no url", "", ""),
    ],
)
def test_host_and_registered_domain(url: str, host: str, site: str) -> None:
    assert (host_of(url), site_of(url)) == (host, site)


def test_displayed_url_has_no_login_no_query_and_no_end() -> None:
    assert url_for_display("https://me:secret@example.org/a?key=secret") == "'https://example.org/a'"
    assert len(url_for_display("http://" + "x" * 9000)) < 110


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("joe:pw@search.example", "search.example"),
        ("joe:pw@search.example/a?b=c", "search.example/a"),
        ("http:/joe:pw@search.example", "http:/search.example"),
        ("ftp://joe:p@w@search.example", "ftp://search.example"),
        ("http://joe:p/w@search.example", "http://search.example"),
        ("http://joe:p?w@search.example", "http://search.example"),
        ("joe:pw@a.example,joe:pw@b.example", "b.example"),
        ("http://127.0.0.1:99999/@joe?x=a@b", "http://127.0.0.1:99999/@joe"),
    ],
)
def test_displayed_url_that_is_mistyped_has_no_login(url: str, shown: str) -> None:
    assert url_for_display(url) == repr(shown)
