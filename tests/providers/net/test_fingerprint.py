"""What a site sees of a request as Chrome is what a real Chromium sends; without wreq, at least the headers are."""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.tls_recorder import Record, TlsRecorder

from sleuth_providers import registry
from sleuth_providers.base import Account, Query, Request
from sleuth_providers.browser.browser import find_program
from sleuth_providers.net import impersonation, tls
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.identity import (
    CHROME_VERSION,
    PAGE_ORDER,
    accept_language,
    chrome_brands,
    user_agent,
    with_contact,
)
from sleuth_providers.net.policy import Policy

# Not the same in every version: the numbers, the brand of Chromium, and picture formats (JPEG XL came after 154).
VERSIONED = {"user-agent", "sec-ch-ua", "accept", "content-length"}
SCRIPT = {"Accept": "*/*", "Sec-Fetch-Dest": "empty", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def recorder(make_certificate: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[TlsRecorder]:
    certificate = make_certificate("DNS:localhost")
    monkeypatch.setenv("SSL_CERT_FILE", certificate.file)
    tls.tls_context.cache_clear()
    impersonation._certificates.cache_clear()
    made = TlsRecorder(certificate.context)
    yield made
    made.close()
    tls.tls_context.cache_clear()
    impersonation._certificates.cache_clear()


def send_all(recorder: TlsRecorder, impersonate: bool) -> list[Record]:
    """Send a form, open a page and fetch data as a script does."""
    policy = Policy(timeout=30, browser=True, impersonate=impersonate)
    registry.load("duckduckgo").search(Query("larch"), Account(host=recorder.url), HttpClient(policy))
    bing = registry.load("local-bing").request(Query("larch"), Account(host=f"{recorder.url}/search?q=%s"))
    HttpClient(policy).send(bing)
    HttpClient(policy).send(Request(f"{recorder.url}/i.js", headers=SCRIPT | {"Referer": f"{recorder.url}/"}))
    return recorder.records[-3:]


def send_from_chromium(recorder: TlsRecorder) -> list[Record]:
    """Do the same in a real browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=find_program(), args=["--no-sandbox"])
        agent = browser.new_page().evaluate("navigator.userAgent").replace("Headless", "")
        context = browser.new_context(ignore_https_errors=True, user_agent=agent)
        page = context.new_page()
        page.goto(f"{recorder.url}/")
        page.evaluate("fetch('/i.js').then(reply => reply.text())")
        page.click("button")
        page.wait_for_load_state()
        page = browser.new_context(ignore_https_errors=True, user_agent=agent).new_page()
        page.goto(f"{recorder.url}/search?q=larch")
        browser.close()
    form, page_opened, script = (
        next(record for record in recorder.records if record.path.startswith(path))
        for path in ("/html/", "/search", "/i.js")
    )
    return [form, page_opened, script]


@pytest.mark.live
def test_requests_are_those_of_a_real_chromium(recorder: TlsRecorder) -> None:
    pytest.importorskip("wreq")
    pytest.importorskip("playwright")
    if not find_program():
        pytest.skip("no Chromium is installed")
    real = send_from_chromium(recorder)
    for browser, ours in zip(real, send_all(recorder, impersonate=True), strict=True):
        assert (ours.hello.ja4, ours.hello.alpn, ours.hello.has_grease) == (browser.hello.ja4, ["h2", "http/1.1"], True)
        assert (ours.http, ours.settings) == ("h2", browser.settings)
        assert ours.names == browser.names
        for name in set(ours.names) - VERSIONED:
            assert ours.header(name) == browser.header(name), name
        # The version of the browser on this machine is another one: the same header of the same version is equal.
        version = re.search(r"Chrome/(\d+)", browser.header("user-agent"))
        assert version
        same = ours.header("user-agent").replace(f"Chrome/{CHROME_VERSION}", version[0])
        assert same == browser.header("user-agent")
        brands = chrome_brands(int(version[1])).split(", ")
        assert set(browser.header("sec-ch-ua").split(", ")) <= set(brands)


def test_a_search_is_impersonated_unless_a_setting_turns_it_off(recorder: TlsRecorder, sleuth: Any) -> None:
    pytest.importorskip("wreq")
    trust = {"SSL_CERT_FILE": os.environ["SSL_CERT_FILE"]}
    assert sleuth("providers", "set", "duckduckgo", "--api-host", recorder.url).exit == 0
    for value, http in (("true", "h2"), ("false", "http/1.1")):
        sleuth("search", "-p", "duckduckgo", "--no-cache", "larch", SLEUTH_WEBSEARCH_IMPERSONATE=value, **trust)
        assert recorder.records[-1].http == http


def test_pages_are_read_as_chrome(recorder: TlsRecorder, sleuth: Any) -> None:
    pytest.importorskip("wreq")
    options = {"SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}
    sleuth("summarize", f"{recorder.url}/page", SSL_CERT_FILE=os.environ["SSL_CERT_FILE"], **options)
    assert (recorder.records[-1].path, recorder.records[-1].http) == ("/page", "h2")


def test_tls_differs_from_request_to_request_only_as_that_of_chrome(recorder: TlsRecorder) -> None:
    pytest.importorskip("wreq")
    records = send_all(recorder, impersonate=True)
    assert {record.http for record in records} == {"h2"}
    assert len({record.hello.ja4 for record in records}) == 1
    assert len({tuple(record.hello.extensions) for record in records}) > 1  # Chrome shuffles them
    assert len({record.header("user-agent") for record in records}) == 1


@pytest.mark.parametrize("impersonate", [True, False])
def test_headers_do_not_contradict_each_other(recorder: TlsRecorder, impersonate: bool) -> None:
    form, page, script = send_all(recorder, impersonate)
    for record in (form, page, script):
        assert f"Chrome/{CHROME_VERSION}.0.0.0" in record.header("user-agent")
        assert record.header("sec-ch-ua") == chrome_brands()
        assert record.header("sec-ch-ua-platform").strip('"') in ("Linux", "macOS", "Windows")
        assert record.header("sec-ch-ua-platform").strip('"')[:3] in record.header("user-agent")
        assert ("connection" in record.names) is (record.http == "http/1.1")
        assert record.header("connection") in ("", "keep-alive")
        assert record.header("accept-language") == "en-US,en;q=0.9"
        known = [name for name in record.names if name in PAGE_ORDER]
        assert record is script or known == sorted(known, key=PAGE_ORDER.index)
    assert form.header("content-type") == "application/x-www-form-urlencoded"
    assert (form.header("origin"), form.header("referer")) == (recorder.url, f"{recorder.url}/")
    assert [record.header("sec-fetch-site") for record in (form, page, script)] == [
        "same-origin",
        "none",
        "same-origin",
    ]
    assert [record.header("sec-fetch-mode") for record in (form, page, script)] == ["navigate", "navigate", "cors"]
    assert {"origin", "referer", "cache-control", "content-length"}.isdisjoint(page.names)
    assert {"upgrade-insecure-requests", "sec-fetch-user"}.isdisjoint(script.names)


def test_a_page_without_encryption_gets_no_headers_that_chrome_keeps_for_https(serve: Any) -> None:
    server = serve()
    HttpClient(Policy(browser=True)).send(Request(f"{server.url}/"))
    names = [line.partition(b":")[0] for line in server.requests[0].split(b"\r\n")[1:] if line]
    assert names == [
        *(b"Host", b"Connection", b"Upgrade-Insecure-Requests"),
        *(b"User-Agent", b"Accept", b"Accept-Encoding", b"Accept-Language"),
    ]


@pytest.mark.parametrize(
    ("version", "brands"),
    [
        (150, '"Not;A=Brand";v="8", "Chromium";v="150", "Google Chrome";v="150"'),
        (154, '"Chromium";v="154", "Google Chrome";v="154", "Not A(Brand";v="99"'),
    ],
)
def test_the_made_up_brand_follows_from_the_version(version: int, brands: str) -> None:
    assert chrome_brands(version) == brands


@pytest.mark.parametrize(
    ("lang", "region", "header"),
    [
        ("", "", "en-US,en;q=0.9"),
        ("", "CH", "en-US,en;q=0.9"),
        ("de", "", "de,en;q=0.9"),
        ("de", "CH", "de-CH,de;q=0.9,en;q=0.8"),
        ("zh-CN", "", "zh-CN,zh;q=0.9,en;q=0.8"),
        ("en-GB", "", "en-GB,en;q=0.9"),
    ],
)
def test_accept_language_is_that_of_a_browser(lang: str, region: str, header: str) -> None:
    assert accept_language(lang, region) == header


def test_apis_see_sleuth_and_a_contact_if_there_is_one() -> None:
    assert user_agent("1.2") == "sleuth/1.2 (command-line web search)"
    assert with_contact(user_agent("1.2"), "") == user_agent("1.2")
    agent = with_contact(user_agent("1.2"), "me@example.org")
    assert agent == "sleuth/1.2 (command-line web search; mailto:me@example.org)"
