"""`local-bing` and `local-baidu` in a real Chromium: results pages that a script fills."""

import re
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from sleuth_providers.browser.browser import find_program

pytestmark = pytest.mark.live

ITEMS = {
    "local-bing": '<li class="b_algo"><h2><a href="https://site{n}.example/doc">Rust async number {n}</a></h2>'
    '<div class="b_caption"><p>Some words about rust and async, number {n}.</p></div></li>',
    "local-baidu": '<div class="result c-container" mu="https://site{n}.example/doc"><h3 class="t">'
    '<a href="https://site{n}.example/doc">异步 Rust 第 {n} 篇</a></h3>'
    '<div class="c-abstract">关于 rust 与 async。</div></div>',
}
CONTAINERS = {"local-bing": '<ol id="b_results"></ol>', "local-baidu": '<div id="content_left"></div>'}


@pytest.mark.parametrize("name", list(ITEMS))
def test_results_page_is_read_in_a_browser(sleuth: Any, httpserver: HTTPServer, name: str) -> None:
    if not find_program():
        pytest.skip("no Chromium is installed")
    items = "".join(ITEMS[name].format(n=n) for n in range(1, 5))
    script = f"<script>document.body.firstElementChild.innerHTML = {items!r}</script>"
    page = f"<html><head><title>rust async</title></head><body>{CONTAINERS[name]}{script}</body></html>"
    httpserver.expect_request(re.compile("/s.*")).respond_with_data(page, content_type="text/html; charset=utf-8")
    address = httpserver.url_for("/search") + "?q=%s"
    assert sleuth("providers", "set", name, "--using-browser", "--api-host", address).exit == 0
    done = sleuth("search", "-p", name, "--json", "--timeout", "40", "rust async")
    assert done.exit == 0, done.err
    assert [hit["url"] for hit in done.json["results"]] == [f"https://site{n}.example/doc" for n in range(1, 5)]
    assert "Chrome/" in httpserver.log[0][0].headers["User-Agent"]
