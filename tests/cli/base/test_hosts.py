"""Hosts are shown as written only if they cannot be mistaken for others."""

import pytest

from sleuth.base.hosts import shown_host
from sleuth.base.urls import clean_url


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "xn--e1afmkfd.com",
        "пример.рф",
        "例子.org",
        "日本語.jp",
        "ソニー.com",
        "한국.kr",
        "bücher.de",
        "straße.de",
        "café-24.fr",
        "مثال.السعودية",
    ],
)
def test_host_that_is_clear_is_shown_as_written(host: str) -> None:
    assert shown_host(host) == host


@pytest.mark.parametrize(
    ("host", "shown"),
    [
        ("g〇〇gle.com", "xn--ggle-gx3ca.com"),
        ("google.comノsearch.evil.com", "google.xn--comsearch-i74h.evil.com"),
        ("booking.comんdetail.evil.com", "booking.xn--comdetail-nq4h.evil.com"),
        ("paypa丨.com", "xn--paypa-fn1h.com"),
        ("工bm.com", "xn--bm-mt2d.com"),
        ("paypal.com÷x.evil.com", "paypal.xn--comx-dra.evil.com"),
        ("аpple.com", "xn--pple-43d.com"),
        ("аpple.com.рф", "xn--pple-43d.com.рф"),
        ("pаypal.рф", "xn--pypal-4ve.рф"),
        ("асе.com", "xn--80ak9a.com"),
        ("ー.com", "xn--wek.com"),
    ],
)
def test_host_with_look_alike_letters_is_shown_in_punycode(host: str, shown: str) -> None:
    assert shown_host(host) == shown
    assert clean_url(f"https://{host}/x") == f"https://{shown}/x"


def test_invisible_characters_hide_no_part_of_a_host() -> None:
    hidden = "https://www.paypal.com" + "\u3164" * 33 + ".evil.example/signin"
    assert clean_url(hidden) == "https://www.paypal.com.evil.example/signin"
