"""A results page that no code was written for is read by its looks, over HTTP or in a real browser."""

import contextlib
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from pytest_httpserver import HTTPServer

from sleuth_providers.adapters.local_bing import LocalBing
from sleuth_providers.adapters.local_google import LocalGoogle
from sleuth_providers.base import Account, Query, Response, Result
from sleuth_providers.browser.browser import find_program, read_page
from sleuth_providers.errors import (
    BadRequestError,
    BadResponseError,
    BlockedError,
    DeadlineError,
    PrivateAddressError,
    ProviderError,
    RateLimitError,
    UnreachableError,
)
from sleuth_providers.html.limits import is_costly
from sleuth_providers.html.results_page import ResultsPage
from sleuth_providers.html.tree import unwrap
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.guard import check
from sleuth_providers.net.policy import Guard, Policy

PAGE = "https://find.example/search?q=x"
HTML = {"content-type": "text/html; charset=utf-8"}
LOCAL = ResultsPage()

NAVIGATION = """<header><a href="/">Find</a> <a href="https://blog.find.example/">Our blog about search</a></header>
 <nav><ul><li><a href="https://twitter.example/find">Follow us on Twitter today</a></li>
 <li><a href="https://apps.example/find">Get the app for your phone</a></li>
 <li><a href="https://jobs.example/find">Work with us at Find Inc.</a></li></ul></nav>
 <form action="/search"><input name="q" value="{words}"></form>"""
FOOTER = """<div class="pager"><a href="/search?q=x&p=2">2</a> <a href="/search?q=x&p=3">3</a></div>
 <div class="site-footer"><a href="https://social.example/find">Social</a> <a href="https://legal.example/p">Privacy</a>
 <a href="https://status.example/">Status of our services</a> <a href="https://help.example/">Help</a></div>"""


def page(body: str, words: str = "rust async") -> str:
    head = f"<!doctype html><html><head><title>{words} - Find</title></head>"
    return f"{head}<body>{NAVIGATION.format(words=words)}{body}{FOOTER}</body></html>"


def read(body: str, words: str = "rust async", url: str = PAGE, status: int = 200) -> tuple[Result, ...]:
    return LOCAL.parse(Response(status, HTML, body.encode(), url), Query(words)).results


def urls(body: str, words: str = "rust async") -> list[str]:
    return [result.url for result in read(body, words)]


def test_table_with_the_snippet_in_the_next_row() -> None:
    rows = "".join(
        f"""<tr><td valign="top">{n}.&nbsp;</td><td><a rel="nofollow"
         href="//find.example/l/?uddg={quote(url, safe="")}&amp;rut=1" class="result-link">{title}</a></td></tr>
         <tr><td>&nbsp;</td><td class="result-snippet">{snippet}</td></tr>
         <tr><td>&nbsp;</td><td><span class="link-text">{url.split("/")[2]}/path</span></td></tr>
         <tr><td>&nbsp;</td><td>&nbsp;</td></tr>"""
        for n, (url, title, snippet) in enumerate(
            [
                (
                    "https://rust-lang.github.io/async-book/",
                    "Async programming in Rust",
                    "A book about <b>async</b> Rust.",
                ),
                ("https://tokio.rs/tokio/tutorial?a=1&b=2", "Tutorial | Tokio", "Tokio is a runtime for async Rust."),
                ("https://docs.rs/smol", "smol - Rust", "A small and fast async runtime."),
            ],
            1,
        )
    )
    found = read(page(f"<table border=0>{rows}</table>"))
    assert [result.url for result in found] == [
        "https://rust-lang.github.io/async-book/",
        "https://tokio.rs/tokio/tutorial?a=1&b=2",
        "https://docs.rs/smol",
    ]
    assert found[0].title == "Async programming in Rust"
    assert found[0].snippet == "A book about async Rust."
    assert found[2].snippet == "A small and fast async runtime."


def test_list_with_display_urls_and_a_special_first_item() -> None:
    items = "".join(
        f"""<li class="{"hit hit-top featured" if n == 0 else "hit"}">
         <a class="icon" href="https://{host}/a"><img src="f.ico"></a>
         <p class="where"><a href="https://{host}/a"><i>https://{host} › a</i></a></p>
         <h2><a class="{"big" if n == 0 else "ob"}" href="https://{host}/a">{title}</a></h2>
         <p class="s">{title} explained at length.</p>
         <p class="i"><a href="/search?q=site:{host}">More from this site</a></p></li>"""
        for n, (host, title) in enumerate(
            [
                ("one.example", "Rust async basics"),
                ("two.example", "Futures in Rust"),
                ("three.example", "Async traits"),
            ]
        )
    )
    found = read(page(f'<ul class="results">{items}</ul>'))
    assert [result.url for result in found] == [
        "https://one.example/a",
        "https://two.example/a",
        "https://three.example/a",
    ]
    assert found[1] == Result("Futures in Rust", "https://two.example/a", "Futures in Rust explained at length.")


def test_cards_that_are_one_link() -> None:
    cards = "".join(
        f"""<div class="card"><a href="/url?q=https%3A%2F%2F{host}%2Fx&amp;sa=U&amp;ved=2ah"><h3>{title}</h3>
         <div><span>{host}</span><cite>https://{host} › x</cite></div></a>
         <div class="body"><span>3 days ago — </span><span>About <em>async</em>hronous code &amp; tasks.</span></div>
         <div class="deep"><a href="https://{host}/deep/1">Install</a> <a href="https://{host}/deep/2">Guide</a></div></div>"""
        for host, title in [("a.example", "Async Rust"), ("b.example", "Rust tasks"), ("c.example", "Rust book")]
    )
    found = read(page(f"<main><div>{cards}</div></main>"))
    assert [result.url for result in found] == ["https://a.example/x", "https://b.example/x", "https://c.example/x"]
    assert found[0].title == "Async Rust"
    assert (found[0].published, found[0].snippet) == ("3 days ago", "About asynchronous code & tasks.")


def test_chinese_page_in_gbk_with_highlighted_words() -> None:
    items = "".join(
        f"""<div class="vrwrap"><h3><a target="_blank" href="https://{host}/">{title}</a></h3>
         <div class="text">这里是关于<em>异步</em>编程的摘要，内容很长。</div><span>2 天前</span></div>"""
        for host, title in [("甲.example", "异步编程入门"), ("b.example", "Rust 异步"), ("c.example", "异步运行时")]
    )
    body = (
        f'<html><head><meta charset="gbk"><title>搜索</title></head><body><input value="异步编程">{items}</body></html>'
    )
    response = Response(200, {"content-type": "text/html"}, body.encode("gbk"), "https://sou.example/web?query=x")
    found = LOCAL.parse(response, Query("异步编程")).results
    assert [result.title for result in found] == ["异步编程入门", "Rust 异步", "异步运行时"]
    assert found[0].url == "https://甲.example/"
    assert found[0].snippet == "这里是关于异步编程的摘要，内容很长。 2 天前"


def test_advertisements_are_skipped_by_class_link_and_label() -> None:
    def item(url: str, title: str, extra: str = "", classes: str = "result") -> str:
        text = "<p>Some words about Rust async code here.</p>"
        return f'<div class="{classes}"><h2><a href="{url}">{title}</a></h2>{extra}{text}</div>'

    body = (
        '<div id="top-ads">' + item("https://shop.example/", "Buy Rust async") + "</div>"
        + item("https://shop2.example/", "Rust async deals", classes="result result--ad")
        + item("https://find.example/aclick?u=https://shop3.example/", "Rust async sale")
        + item("https://shop4.example/", "Rust async for less", "<span>Sponsored</span>")
        + item("https://shop5.example/", "便宜的 Rust async", "<span>广告</span>")
        + item("https://good.example/", "Rust async guide")
        + item("https://fine.example/", "Rust async book")
        + '<div class="layout-with-ads">' + item("https://kept.example/", "Rust async talk") + "</div>"
    )  # fmt: skip
    assert urls(page(f"<section>{body}</section>")) == [
        "https://good.example/",
        "https://fine.example/",
        "https://kept.example/",
    ]


def test_bare_list_without_headings_or_snippets() -> None:
    links = "".join(
        f'<li><a href="https://{host}/">{title}</a></li>'
        for host, title in [
            ("a.example", "An introduction to Rust async"),
            ("b.example", "Why async Rust is different"),
            ("c.example", "Ten async runtimes compared"),
        ]
    )
    assert urls(page(f"<ol>{links}</ol>")) == ["https://a.example/", "https://b.example/", "https://c.example/"]


def test_definition_list_and_a_title_beside_the_link() -> None:
    terms = "".join(
        f'<dt><a href="https://{host}/">{title}</a></dt><dd>What {title} is, in some more words than that.</dd>'
        for host, title in [("a.example", "Rust async one"), ("b.example", "Rust async two")]
    )
    found = read(page(f"<dl>{terms}</dl>"))
    assert [result.snippet for result in found] == [
        "What Rust async one is, in some more words than that.",
        "What Rust async two is, in some more words than that.",
    ]
    cards = "".join(
        f"""<article><h3>Rust async {n}</h3><p>Something about asynchronous Rust code.</p>
         <a href="https://{n}.example/">Read more</a></article>"""
        for n in ("a", "b", "c")
    )
    assert [result.title for result in read(page(cards))] == ["Rust async a", "Rust async b", "Rust async c"]


def test_single_result_is_found() -> None:
    hit = '<h3><a href="https://only.example/">The only Rust async page</a></h3><p>Short.</p>'
    found = read(page(f'<div id="r"><div class="hit">{hit}</div></div>'))
    assert [(result.url, result.snippet) for result in found] == [("https://only.example/", "Short.")]


def test_no_results_beside_a_news_box_is_an_empty_result() -> None:
    assert read(page("<p>Your search – <b>rust async</b> – did not match any documents.</p>")) == ()
    news = "".join(
        f"""<div class="n"><h3><a href="https://{n}.example/">Minister opens bridge number {n}</a></h3>
         <p>In the north, a bridge.</p></div>"""
        for n in ("a", "b", "c")
    )
    assert read(page(f"<p>No results for rust async.</p>{news}")) == ()


def test_page_without_the_query_is_an_error() -> None:
    with pytest.raises(BadResponseError) as caught:
        read('<html><body><div id="root"></div><script src="/app.js"></script></body></html>')
    assert "--using-browser" in caught.value.hint


def test_query_inside_a_script_does_not_count() -> None:
    with pytest.raises(BadResponseError):
        read('<html><body><div id="root"></div><script>window.query = "rust async"</script></body></html>')


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, "<title>Just a moment...</title><div id=challenge-running></div>"),
        (503, "<title>Attention Required! | Cloudflare</title><a href='https://cloudflare.example/'>Cloudflare</a>"),
        (
            200,
            '<title>Find</title><form id="captcha-form" action="/check"><p class="g-recaptcha"></form> rust async',
        ),
        (200, "<title>百度安全验证</title><div class=timeout>网络不给力，请稍后重试</div>"),
        (429, '<title>rust async</title><iframe src="https://x.example/recaptcha/api2"></iframe>'),
        (403, "Forbidden"),
    ],
)
def test_bot_check_is_an_error_not_an_empty_result(status: int, body: str, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/s").respond_with_data(body, status=status, content_type="text/html; charset=utf-8")
    with pytest.raises(BlockedError):
        ask(httpserver)


def test_results_about_captchas_are_not_a_bot_check() -> None:
    hits = "".join(
        f'<div><h3><a href="https://{n}.example/">Captcha challenge {n}</a></h3><p>Are you a robot? Captchas.</p></div>'
        for n in "abcd"
    )
    response = Response(200, HTML, f'<title>captcha</title>{hits}<script src="/recaptcha.js"></script>'.encode(), PAGE)
    assert LOCAL.detect_error(response) is None


def test_rate_limit_has_a_pause(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/s").respond_with_data("slow down", status=429)
    with pytest.raises(RateLimitError) as caught:
        ask(httpserver)
    assert caught.value.retry_after == 60
    assert len(httpserver.log) == 1


def ask(server: HTTPServer, words: str = "rust async", timeout: float = 5, **fields: object) -> tuple[Result, ...]:
    account = Account(id="mine", host=server.url_for("/s") + "?q=%s")._replace(**fields)
    return LOCAL.search(Query(words), account, HttpClient(Policy(timeout=timeout))).results


def test_query_is_filled_into_any_part_of_the_template() -> None:
    def sent(template: str) -> str:
        return LOCAL.request(Query("a b/ü&c"), Account(host=template)).address

    assert sent("https://x.example/?q=%s&lang=a%20b") == "https://x.example/?q=a%20b%2F%C3%BC%26c&lang=a%20b"
    assert sent("https://x.example/find/%s.html") == "https://x.example/find/a%20b%2F%C3%BC%26c.html"
    with pytest.raises(BadRequestError):
        sent("https://x.example/")


def test_selectors_of_the_account_take_precedence(httpserver: HTTPServer) -> None:
    body = page(
        '<p class="x"><a href="https://odd.example/1">zz</a><i>zzz</i></p>'
        '<div><h3><a href="https://a.example/">Rust async</a></h3></div>'
        '<div><h3><a href="https://b.example/">Rust async</a></h3></div>'
    )
    httpserver.expect_request("/s").respond_with_data(body, content_type="text/html")
    assert ask(httpserver, options={"item": "p.x", "snippet": "i"}) == (Result("zz", "https://odd.example/1", "zzz"),)
    with pytest.raises(BadRequestError):
        ask(httpserver, options={"item": "p[["})


def test_links_to_the_site_are_results_of_its_own_search(httpserver: HTTPServer) -> None:
    hits = "".join(f'<li><h3><a href="/wiki/{n}">Rust async {n}</a></h3><p>About Rust.</p></li>' for n in "abc")
    httpserver.expect_request("/s").respond_with_data(page(f"<ul>{hits}</ul>"), content_type="text/html")
    titles = ["Rust async a", "Rust async b", "Rust async c"]
    assert [result.title for result in ask(httpserver)] == titles
    assert [result.title for result in ask(httpserver, options={"own_site": "on"})] == titles
    assert ask(httpserver, options={"own_site": "off"}) == ()


def test_links_to_other_sites_win_over_menus_of_the_site(httpserver: HTTPServer) -> None:
    menu = "".join(f'<li><h3><a href="/help/{n}">Settings {n}</a></h3><p>Change it.</p></li>' for n in "abcdef")
    hits = "".join(f'<li><h3><a href="https://{n}.example/">Rust async {n}</a></h3><p>About.</p></li>' for n in "xyz")
    body = page(f"<ol>{hits}</ol><ul>{menu}</ul>")
    httpserver.expect_request("/s").respond_with_data(body, content_type="text/html")
    assert [result.title for result in ask(httpserver)] == ["Rust async x", "Rust async y", "Rust async z"]
    httpserver.clear()
    httpserver.expect_request("/s").respond_with_data(page(f"<ul>{menu}</ul>"), content_type="text/html")
    assert ask(httpserver) == ()


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F%3Fx%3D1&rut=9", "https://a.example/?x=1"),
        ("https://www.google.com/url?q=https://a.example/b%2520c&sa=U", "https://a.example/b%20c"),
        ("https://www.google.com/url?sa=t&url=https%3A%2F%2Fa.example%2F", "https://a.example/"),
        ("https://cn.bing.com/ck/a?!&&p=9&u=a1aHR0cHM6Ly9leGFtcGxlLm9yZy8&ntb=1", "https://example.org/"),
        ("https://www.bing.com/ck/a?u=a1%%%", "https://www.bing.com/ck/a?u=a1%%%"),
        ("https://r.search.yahoo.com/_ylt=A;/RV=2/RU=https%3a%2f%2fa.example%2f/RK=2/RS=x-", "https://a.example/"),
        ("https://find.example/out?u=https%3A%2F%2Ffind.example%2Fout%3Fu%3Dhttps%253A%252F%252Fa.example%252F", "https://a.example/"),
        ("https://validator.example/check?url=https://a.example/", "https://validator.example/check?url=https://a.example/"),
        ("https://find.example/out?u=javascript:alert(1)", "https://find.example/out?u=javascript:alert(1)"),
    ],
)  # fmt: skip
def test_redirect_links_are_unwrapped(link: str, target: str) -> None:
    home = PAGE if "google" not in link else "https://www.google.com/search?q=x"
    assert unwrap(link, home) == target


@pytest.mark.parametrize(
    "body",
    [
        "<div>" * 200_000,
        "<span>" * 100_000 + "<p>x" * 100_000,
        "<a href='https://x.example/'>hit number one" * 60_000,
        "".join(f"<div class={chr(97 + n % 9)}><p><a href=https://{n}.example/>Title no {n}</a>" for n in range(9999)),
        "<a href='http://[::1'>bad</a><a href='//'>x</a><a href='http:///x'>rust async</a>",
        "\0\0<table><a href=https://x.example/>rust",
        "",
    ],
)  # fmt: skip
@pytest.mark.cpu_limit(30)
def test_hostile_page_is_parsed_or_refused(body: str) -> None:
    try:
        assert LOCAL.detect_error(Response(200, HTML, body.encode(), PAGE)) is None
        read(body)
    except ProviderError:
        pass


@pytest.mark.cpu_limit(30)
@pytest.mark.parametrize(
    "body",
    [
        '<div class="zMzFAb">x' * 12_000,
        "<div></b>" * 30_000,  # the end tags close nothing
        "<ul><li>" * 10_000,
        "<p>" + "".join(f"<b id={n}></x>" for n in range(3_000)) + "</p><p>x" * 3_000,  # each p opens every b again
    ],
    ids=["divs", "end tags", "lists", "formatting"],
)
def test_markup_that_takes_long_to_parse_is_refused(body: str) -> None:
    with pytest.raises(BadResponseError, match="nested too deeply"):
        LocalGoogle().parse(Response(200, HTML, body.encode(), PAGE), Query("rust async"))


def test_markup_without_end_tags_is_not_taken_for_nested() -> None:
    assert not is_costly("<ul>" + "<li>An item<p>and a paragraph" * 1_000 + "</ul>" + "<p>text<br>" * 20_000)
    assert not is_costly("<div><p><b>bold</b> <a href=x>link</a></p></div>" * 20_000)


SCRIPTED = """<!doctype html><title>Find</title><input value="rust async"><ol id="list"></ol><script>
 fetch("/data").then(reply => reply.json()).then(hits => {
   window.open("/popup");
   for (const hit of hits) {
     const item = document.createElement("li");
     item.innerHTML = `<h3><a href="${hit.url}">${hit.title}</a></h3><p>${hit.text}</p>`;
     setTimeout(() => document.getElementById("list").append(item), 100);
   }
 });</script>"""


@pytest.fixture
def _no_browser_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not find_program():
        pytest.skip("no Chromium here")
    pytest.importorskip("playwright")
    mark = f"SLEUTH_TEST_MARK={uuid.uuid4()}"
    monkeypatch.setenv(*mark.split("="))
    yield
    while marked(mark):
        time.sleep(0.1)


def marked(mark: str) -> list[str]:
    """Return the processes, other than this one, that inherited the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_text()[:80])
    return found


@pytest.mark.live
@pytest.mark.usefixtures("_no_browser_left")
def test_browser_reads_results_loaded_by_scripts(httpserver: HTTPServer) -> None:
    hits = [{"url": f"https://{n}.example/", "title": f"Rust async {n}", "text": "About async."} for n in "abc"]
    httpserver.expect_request("/s", query_string="q=rust%20async").respond_with_data(SCRIPTED, content_type="text/html")
    httpserver.expect_request("/data").respond_with_json(hits)
    assert ask(httpserver) == ()
    found = ask(httpserver, timeout=30, browser=True)
    assert [result.url for result in found] == ["https://a.example/", "https://b.example/", "https://c.example/"]
    agents = [request.headers["User-Agent"] for request, _ in httpserver.log if request.path == "/data"]
    assert "Chrome/" in agents[0]
    assert "Headless" not in agents[0]


def test_scripts_of_a_results_page_reach_its_host_and_public_ones_only(monkeypatch: pytest.MonkeyPatch) -> None:
    guards: list[Guard] = []

    def visit(url: str, *, timeout: float, guard: Guard) -> Response:
        guards.append(guard)
        return Response(200, HTML, b"<title>x</title><input value=x>", url)

    monkeypatch.setattr("sleuth_providers.browser.browser.read_page", visit)
    account = Account(host="http://nas.lan/s?q=%s", browser=True)
    LOCAL.search(Query("x"), account, HttpClient(Policy()))
    guards[0]("nas.lan", ["192.168.1.7"])
    guards[0]("cdn.example", ["93.184.216.34"])
    for host in ("router.lan", "nas.lan.example", "x.nas.lan", "127.0.0.1"):
        with pytest.raises(PrivateAddressError):
            guards[0](host, ["192.168.1.1"])
    LOCAL.search(Query("x"), account, HttpClient(Policy(guard=check)))  # a host that was set over HTTP
    with pytest.raises(PrivateAddressError):
        guards[1]("nas.lan", ["192.168.1.7"])


@pytest.mark.live
@pytest.mark.usefixtures("_no_browser_left")
def test_browser_keeps_a_results_page_from_other_private_hosts(httpserver: HTTPServer) -> None:
    with HTTPServer("127.0.0.2", 0) as other:
        script = f"<script>for (const to of ['{other.url_for('/')}', '/own']) fetch(to, {{mode: 'no-cors'}})</script>"
        body = f"<input value='rust async'>{script}"
        httpserver.expect_request("/s").respond_with_data(body, content_type="text/html")
        ask(httpserver, timeout=30, browser=True)
        assert "/own" in [request.path for request, _ in httpserver.log], "the script has run"
        assert other.log == []


@pytest.mark.live
@pytest.mark.usefixtures("_no_browser_left")
def test_browser_recognises_a_bot_check(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/s").respond_with_data("<title>Just a moment...</title>", content_type="text/html")
    with pytest.raises(BlockedError):
        ask(httpserver, timeout=30, browser=True)


@pytest.mark.live
@pytest.mark.usefixtures("_no_browser_left")
@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        ("<script>setTimeout(() => { for (;;) {} }, 50)</script>", "text/html", (DeadlineError,)),
        # On a busy machine the download may time out first.
        ("x" * 100, "application/octet-stream", (BadResponseError, DeadlineError)),
    ],
    ids=["script without end", "download"],
)
def test_browser_is_closed_at_the_deadline(
    body: str, kind: str, expected: tuple[type[ProviderError], ...], httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/s").respond_with_data(body, content_type=kind)
    with pytest.raises(expected):
        read_page(httpserver.url_for("/s"), timeout=6)


@pytest.mark.live
@pytest.mark.usefixtures("_no_browser_left")
def test_browser_reports_an_unreachable_server() -> None:
    with pytest.raises(UnreachableError):
        read_page("http://127.0.0.1:9/", timeout=20)


def test_missing_browser_names_what_to_install(monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer) -> None:
    monkeypatch.setenv("SLEUTH_BROWSER", "/nowhere/chromium")
    with pytest.raises(ProviderError) as caught:
        ask(httpserver, browser=True)
    assert caught.value.message == "{provider} needs a browser, but Playwright or Chromium is missing"
    assert "sleuth doctor --only install.extras" in caught.value.hint


def test_bing_falls_back_to_the_page_when_the_feed_is_empty(httpserver: HTTPServer) -> None:
    feed = '<?xml version="1.0"?><rss version="2.0"><channel><title>Bing: rust</title></channel></rss>'
    hit = '<li class="b_algo"><h2><a href="https://a.example/">Rust</a></h2><p>A language.</p></li>'
    httpserver.expect_ordered_request("/search", query_string="format=rss&q=rust&adlt=moderate").respond_with_data(feed)
    httpserver.expect_ordered_request("/search", query_string="q=rust&adlt=moderate").respond_with_data(hit)
    account = Account(host=httpserver.url_for("/search") + "?format=rss&q=%s")
    assert LocalBing().search(Query("rust"), account, HttpClient(Policy(timeout=5))).results == (
        Result("Rust", "https://a.example/", "A language."),
    )


def test_browser_and_plain_http_use_different_templates() -> None:
    google = LocalGoogle()
    assert google.request(Query("x"), Account()).url.startswith("https://www.google.com/wml/search?q=x&")
    assert google.request(Query("x"), Account(browser=True)).url == "https://www.google.com/search?q=x"
    assert "User-Agent" not in google.request(Query("x"), Account(browser=True)).headers
    mine = Account(host="https://proxy.example/google?q=%s", browser=True)
    assert google.request(Query("x"), mine).url == "https://proxy.example/google?q=x"
