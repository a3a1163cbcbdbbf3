"""Reading pages: layers, concurrency, pauses, deadlines, and a reason for every failure."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sleuth.pages.article  # noqa: F401 - urllib3 warns when it is first imported, and in a test a warning is an error
from sleuth.pages.errors import NOT_READ
from sleuth.pages.page import PageEvent, cache_key
from sleuth.pages.reader import Reader
from sleuth.pages.worker_pool import POOL
from sleuth.store.cache.disk import Cache, DiskCache
from sleuth.store.settings import Settings
from sleuth_providers.base import Request, Response
from sleuth_providers.browser.browser import find_program
from sleuth_providers.errors import DeadlineError, UnreachableError
from sleuth_providers.net import guard
from sleuth_providers.net.client import transmit


def silent(send: Callable[[bytes], None]) -> None:
    threading.Event().wait(30)


def states(page: Any) -> list[tuple[str, str]]:
    return [(attempt.layer, attempt.state) for attempt in page.attempts]


def jina_says(site: Any, **data: Any) -> dict[str, str]:
    """Let a site be the Jina reader, and return the settings that make it so."""
    site.page("/", json.dumps({"code": 200, "status": 20000, "data": data}), "application/json")
    return {"SLEUTH_FETCH_JINA": "true", "SLEUTH_JINA_HOST": site.address}


def archive_has(site: Any, url: str, body: str, stamp: str = "20260401120000") -> dict[str, str]:
    """Let a site be the Wayback Machine with one copy."""
    copies = {"closest": {"status": "200", "available": True, "timestamp": stamp, "url": f"http://a/web/{stamp}/{url}"}}
    site.page("/wayback/available", json.dumps({"url": url, "archived_snapshots": copies}), "application/json")
    site.page(f"/web/{stamp}id_/{url}", body)
    return {"SLEUTH_FETCH_ARCHIVE": "true", "SLEUTH_ARCHIVE_HOST": site.address}


def test_a_page_is_read(site: Any, make_reader: Any, make_article: Any) -> None:
    url = site.page("/a", make_article("A good title"))
    [page] = make_reader().read([url])
    assert (page.url, page.final_url, page.title, page.language, page.layer) == (url, url, "A good title", "en", "page")
    assert page.text == page.markdown
    assert page.text.startswith("The quick brown fox")
    assert (page.ok, page.cached, page.truncated, page.problem) == (True, False, False, "")
    assert states(page) == [("page", "ok")]
    assert page.elapsed_ms > 0


def test_pages_are_in_order_and_a_failure_affects_only_its_own(site: Any, make_reader: Any, make_article: Any) -> None:
    urls = [
        site.page("/1", make_article("One page")),
        f"{site.address}/missing",
        site.page("/3", make_article("Third page")),
    ]
    urls += ["not an address", site.page("/5", b"\x89PNG", "image/png"), urls[0]]
    pages = make_reader().read(urls)
    assert [page.url for page in pages] == urls
    assert [page.title for page in pages] == ["One page", "", "Third page", "", "", "One page"]
    assert [page.ok for page in pages] == [True, False, True, False, False, True]
    assert all(page.ok or page.problem for page in pages)
    assert site.paths().count("/1") == 1
    assert make_reader().read([]) == []


def test_pages_are_read_in_parallel(site: Any, make_reader: Any) -> None:
    all_requested = threading.Barrier(5)

    def answer(send: Callable[[bytes], None]) -> None:
        all_requested.wait()
        send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello")

    urls = [site.behaves(f"/{number}", answer) for number in range(5)]
    assert all(page.ok for page in make_reader().read(urls, concurrency=5))


def test_no_more_pages_are_read_at_once_than_allowed(site: Any, make_reader: Any) -> None:
    running, most, lock, pair = 0, 0, threading.Lock(), threading.Barrier(2)

    def count(send: Callable[[bytes], None]) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        pair.wait()
        with lock:
            running -= 1
        send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello")

    make_reader().read([site.behaves(f"/{number}", count) for number in range(8)])
    assert most == 2


def test_a_host_gets_one_request_at_a_time(make_reader: Any) -> None:
    lock, overlaps = threading.Lock(), 0

    def wire(request: Request, *_: Any) -> Response:
        nonlocal overlaps
        overlaps += not lock.acquire(blocking=False)
        lock.release()
        return Response(200, {"content-type": "text/plain"}, b"hello", request.url)

    pages = make_reader(reader={"transport": wire}).read(
        [f"https://a.example/{number}" for number in range(3)], concurrency=3
    )
    assert ([page.ok for page in pages], overlaps) == ([True] * 3, 0)


def test_hosts_take_turns(make_reader: Any) -> None:
    requested: list[str] = []

    def wire(request: Request, *_: Any) -> Response:
        requested.append(request.url)
        return Response(200, {"content-type": "text/plain"}, b"hello", request.url)

    urls = ["https://a.example/0", "https://a.example/1", "https://b.example/", "https://c.example/"]
    make_reader(reader={"transport": wire}).read(urls, concurrency=1)
    assert requested == [urls[0], urls[2], urls[3], urls[1]]


def test_events_report_progress(site: Any, make_reader: Any) -> None:
    events: list[PageEvent] = []
    urls = [site.page(f"/{number}", "hello", "text/plain") for number in range(3)]
    make_reader().read(urls, on_event=events.append)
    assert sorted(event.url for event in events if event.kind == "start") == urls
    assert [event.done for event in events if event.kind == "end"] == [1, 2, 3]
    assert all(event.total == 3 for event in events)
    assert all((event.page is not None) == (event.kind == "end") for event in events)


# The cache


def test_a_page_is_cached(site: Any, make_reader: Any, make_article: Any) -> None:
    url = site.page("/a", make_article())
    [first] = make_reader(cache=True).read([url])
    [again] = make_reader(cache=True).read([f"{url}?utm_source=x#part"])
    assert (again.cached, again.layer, states(again)) == (True, "cache", [("cache", "ok")])
    assert (again.text, again.title, again.final_url) == (first.text, first.title, first.final_url)
    assert len(site.requests) == 1


def test_the_whole_page_is_cached_when_only_a_part_is_wanted(site: Any, make_reader: Any) -> None:
    url = site.page("/a", "\n\n".join(f"Paragraph number {number}." for number in range(100)), "text/plain")
    [first] = make_reader(cache=True).read([url], max_chars=100)
    [again] = make_reader(cache=True).read([url])
    assert (first.truncated, again.truncated, again.cached) == (True, False, True)
    assert len(first.markdown) <= 100
    assert again.text.endswith("Paragraph number 99.")


def test_the_cache_can_be_bypassed(site: Any, make_reader: Any) -> None:
    url = site.page("/a", "old", "text/plain")
    make_reader(cache=True).read([url])
    site.page("/a", "new", "text/plain")
    assert make_reader(cache=True).read([url], cache="off")[0].text == "new"
    assert make_reader(cache=True).read([url])[0].text == "old"
    assert make_reader(cache=True).read([url], cache="refresh")[0].text == "new"
    assert make_reader(cache=True).read([url])[0].text == "new"
    assert make_reader(cache=True, SLEUTH_FETCH_CACHE_TTL_MINUTES="0").read([url])[0].cached is False


def test_lower_cache_ttl_applies_to_stored_pages(site: Any, make_reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    url = site.page("/a", "text", "text/plain")
    make_reader(cache=True).read([url])
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 120)
    assert make_reader(cache=True).read([url])[0].cached
    assert make_reader(cache=True, SLEUTH_FETCH_CACHE_TTL_MINUTES="1").read([url], offline=True)[0].cached
    assert not make_reader(cache=True, SLEUTH_FETCH_CACHE_TTL_MINUTES="1").read([url])[0].cached


def test_offline_only_the_cache_answers(site: Any, make_reader: Any) -> None:
    kept, other = site.page("/a", "kept", "text/plain"), site.page("/b", "other", "text/plain")
    make_reader(cache=True).read([kept])
    pages = make_reader(cache=True).read([kept, other], offline=True)
    assert [(page.ok, states(page)) for page in pages] == [(True, [("cache", "ok")]), (False, [("cache", "skipped")])]
    assert "/b" not in site.paths()


def test_an_invalid_cache_entry_is_ignored(site: Any, make_reader: Any) -> None:
    url = site.page("/a", "hello", "text/plain")
    reader = make_reader(cache=True)
    for value in (
        None,
        7,
        {},
        {"title": "a", "blocks": []},
        {"title": "a", "blocks": [["script", "x", 0]]},
        {"about": "a", "blocks": [["paragraph", "x", 0]]},
    ):
        reader.cache.put(cache_key(url), value, 60)
        assert make_reader(cache=True).read([url])[0].layer == "page"


def test_a_failure_is_not_cached(site: Any, make_reader: Any) -> None:
    url = f"{site.address}/later"
    assert not make_reader(cache=True).read([url])[0].ok
    site.page("/later", "hello", "text/plain")
    assert make_reader(cache=True).read([url])[0].ok


def test_two_readers_of_the_same_page_make_one_request(site: Any, make_reader: Any) -> None:
    all_started = threading.Event()

    def answer(send: Callable[[bytes], None]) -> None:
        all_started.wait()
        send(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello")

    url = site.behaves("/a", answer)
    make_reader(cache=True).read([site.page("/warm", "x", "text/plain")])
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.extend(make_reader(cache=True).read([url]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    all_started.set()
    for thread in threads:
        thread.join()
    assert [page.text for page in found] == ["hello"] * 4
    assert site.paths().count("/a") == 1


# The other layers


def test_the_jina_reader_is_used_if_the_site_fails(site: Any, make_site: Any, make_reader: Any) -> None:
    jina = make_site()
    url = site.page("/a", "<title>Just a moment...</title>Checking your browser", status=403)
    environ = jina_says(
        jina,
        title="A title",
        url=url,
        content="# A title\n\nSome [text](https://x.example) of the page.\n\n![pixel](https://x.example/p)",
        publishedTime="Wed, 04 Mar 2026 10:00:00 GMT",
        metadata={"lang": "en-US"},
    )
    [page] = make_reader(**environ, JINA_API_KEY="jina_secret,other").read([url])
    assert (page.layer, page.title, page.markdown) == ("jina", "A title", "Some text of the page.\n\npixel")
    assert (page.published, page.language) == ("2026-03-04", "en-US")
    assert states(page) == [("page", "blocked"), ("jina", "ok")]
    [request] = jina.requests
    assert (request.method, json.loads(request.body)) == ("POST", {"url": url})
    assert request.headers["authorization"] == "Bearer jina_secret"
    assert "authorization" not in site.requests[0].headers


def test_a_key_that_jina_repeats_is_redacted(site: Any, make_site: Any, make_reader: Any) -> None:
    environ = jina_says(make_site(), title="jina_secret/1", content="Your key is jina_secret%2F1 or jina_secret/1, ok.")
    [page] = make_reader(**environ, JINA_API_KEY="jina_secret/1").read([f"{site.address}/gone"])
    assert (page.layer, page.title, page.markdown) == ("jina", "[hidden]", "Your key is [hidden] or [hidden], ok.")


def test_a_key_in_a_redirect_of_jina_is_not_shown(site: Any, make_site: Any, make_reader: Any) -> None:
    jina = make_site()
    jina.page("/", "", status=302, Location="http://jina_secret1.evil.example/")
    environ = {"SLEUTH_FETCH_JINA": "true", "SLEUTH_JINA_HOST": jina.address, "JINA_API_KEY": "jina_Secret1"}
    [page] = make_reader(**environ).read([f"{site.address}/gone"])
    assert "[hidden].evil.example" in page.attempts[-1].message


def test_the_jina_reader_needs_no_key(site: Any, make_site: Any, make_reader: Any) -> None:
    jina = make_site()
    environ = jina_says(jina, title="", content="Text of the page.")
    assert make_reader(**environ).read([f"{site.address}/gone"])[0].text == "Text of the page."
    assert "authorization" not in jina.requests[0].headers


@pytest.mark.parametrize(
    ("data", "state"),
    [
        ({"title": "x", "content": ""}, "empty"),
        ({"title": "Just a moment...", "content": "Checking"}, "blocked"),
        (
            {"title": "Not found", "content": "404", "warning": "Target URL returned error 404: Not Found"},
            "bad_response",
        ),
        ({"title": "x", "content": "y", "warning": "This page maybe requiring CAPTCHA"}, "blocked"),
    ],
)
def test_a_failure_of_the_jina_reader_is_recognised(
    data: dict[str, str], state: str, site: Any, make_site: Any, make_reader: Any
) -> None:
    [page] = make_reader(**jina_says(make_site(), **data)).read([f"{site.address}/gone"])
    assert (page.ok, states(page)) == (False, [("page", "bad_response"), ("jina", state)])


@pytest.mark.parametrize(("date", "published"), [("2026-03-04T10:00:00Z", "2026-03-04"), ("soon", ""), ("", "")])
def test_only_valid_dates_are_used(date: str, published: str, site: Any, make_site: Any, make_reader: Any) -> None:
    environ = jina_says(make_site(), content="Text.", publishedTime=date)
    assert make_reader(**environ).read([f"{site.address}/gone"])[0].published == published


@pytest.mark.parametrize("answer", ["[]", "{", '{"data": null}', '{"data": {"content": 7, "title": []}}', "null"])
def test_an_invalid_reply_of_jina_costs_one_layer(answer: str, site: Any, make_site: Any, make_reader: Any) -> None:
    jina = make_site()
    jina.page("/", answer, "application/json")
    environ = {"SLEUTH_FETCH_JINA": "true", "SLEUTH_JINA_HOST": jina.address}
    [page] = make_reader(**environ).read([f"{site.address}/gone"])
    assert [attempt.layer for attempt in page.attempts] == ["page", "jina"]


def test_a_page_that_is_gone_comes_from_the_archive(
    site: Any, make_site: Any, make_reader: Any, make_article: Any
) -> None:
    archive = make_site()
    url = f"{site.address}/gone?a=b"
    environ = archive_has(archive, url, make_article("An old page"))
    [page] = make_reader(**environ).read([url])
    assert (page.layer, page.title, page.archived) == ("archive", "An old page", "2026-04-01")
    assert page.url == url
    assert page.final_url == f"{archive.address}/web/20260401120000id_/{url}"
    assert states(page) == [("page", "bad_response"), ("archive", "ok")]


@pytest.mark.parametrize(
    "available", ['{"archived_snapshots": {}}', "broken", '{"archived_snapshots": {"closest": {"status": "404"}}}']
)
def test_the_newest_copy_is_requested_if_the_archive_lists_none(
    available: str, site: Any, make_site: Any, make_reader: Any, make_article: Any
) -> None:
    archive = make_site()
    url = f"{site.address}/gone"
    archive.page("/wayback/available", available, "application/json")
    archive.page(f"/web/2id_/{url}", "", status=302, Location=f"/web/20250102id_/{url}")
    archive.page(f"/web/20250102id_/{url}", make_article())
    [page] = make_reader(SLEUTH_FETCH_ARCHIVE="true", SLEUTH_ARCHIVE_HOST=archive.address).read([url])
    assert (page.layer, page.archived) == ("archive", "2025-01-02")


def test_a_page_that_all_layers_fail_to_read_has_all_reasons(site: Any, make_site: Any, make_reader: Any) -> None:
    other = make_site()
    environ = jina_says(other, content="") | {"SLEUTH_FETCH_ARCHIVE": "true", "SLEUTH_ARCHIVE_HOST": other.address}
    [page] = make_reader(**environ).read([f"{site.address}/gone"])
    assert states(page) == [("page", "bad_response"), ("jina", "empty"), ("archive", "bad_response")]
    assert [attempt.message for attempt in page.attempts] == [
        "the site has nothing at this address (HTTP 404)",
        "the Jina reader sent a page without text",
        "the Wayback Machine has no copy of the page",
    ]
    assert page.problem == page.attempts[0].message
    assert page.hint == ""


@pytest.mark.parametrize(
    ("status", "hint"),
    [(404, ""), (403, "in a browser"), (429, "try again later"), (500, "try again later"), (503, "try again later")],
)
def test_hint_fits_the_status(site: Any, make_reader: Any, status: int, hint: str) -> None:
    [page] = make_reader().read([site.page("/a", "", status=status)])
    assert page.problem.endswith(f"(HTTP {status})")
    assert page.hint.endswith(hint)
    assert bool(page.hint) == bool(hint)


def test_a_browser_that_fails_is_the_reason(site: Any, make_reader: Any) -> None:
    site.page("/app", "<html><body><div id=root></div><script>start()</script></body></html>")

    def browser(url: str, **_: Any) -> Any:
        raise DeadlineError

    [page] = make_reader().read([f"{site.address}/app"])
    assert "fetch.browser true" in page.hint
    [page] = make_reader(reader={"browser": browser}).read([f"{site.address}/app"])
    assert (page.problem, page.hint) == ("the site did not answer in time", "")


def test_disabled_layers_get_no_request(site: Any, make_site: Any, make_reader: Any) -> None:
    other = make_site()
    hosts = {"SLEUTH_JINA_HOST": other.address, "SLEUTH_ARCHIVE_HOST": other.address}
    [page] = make_reader(**hosts).read([f"{site.address}/gone"])
    assert states(page) == [("page", "bad_response")]
    assert not other.requests


def test_the_jina_key_is_not_sent_elsewhere(site: Any, make_site: Any, make_reader: Any) -> None:
    jina, other = make_site(), make_site()
    jina.page("/", "", status=307, Location=f"{other.address}/")
    environ = {"SLEUTH_FETCH_JINA": "true", "SLEUTH_JINA_HOST": jina.address, "JINA_API_KEY": "jina_secret"}
    [page] = make_reader(**environ).read([f"{site.address}/gone"])
    assert not other.requests
    assert "jina_secret" not in repr(page)


def test_a_slow_site_is_overtaken_by_the_next_layer(site: Any, make_site: Any, make_reader: Any) -> None:
    environ = jina_says(make_site(), title="", content="Text of the page.")
    [page] = make_reader(**environ).read([site.behaves("/slow", silent)], timeout=1.0)
    assert (page.layer, page.text) == ("jina", "Text of the page.")
    assert states(page) == [("jina", "ok"), ("page", "skipped")]


def test_hanging_layers_end_at_the_deadline(site: Any, make_site: Any, make_reader: Any) -> None:
    other = make_site()
    other.behaves("*", silent)
    environ = {"SLEUTH_FETCH_JINA": "true", "SLEUTH_JINA_HOST": other.address}
    environ |= {"SLEUTH_FETCH_ARCHIVE": "true", "SLEUTH_ARCHIVE_HOST": other.address}
    [page] = make_reader(**environ).read([site.behaves("/slow", silent)], timeout=1.0)
    assert sorted(states(page)) == [("archive", "timeout"), ("jina", "timeout"), ("page", "timeout")]


def test_a_page_that_waits_for_a_worker_does_not_blame_the_site(
    site: Any, make_reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = threading.Event()
    monkeypatch.setattr(POOL, "extract", lambda *_: end.wait())
    [page] = make_reader().read([site.page("/", "hello", "text/plain")], timeout=4.0)
    assert [(one.state, one.message) for one in page.attempts] == [("timeout", NOT_READ)]
    end.set()


# The browser

SHELL = "<html><body><div id=root></div><script src=/app.js></script></body></html>"


def test_a_page_that_needs_scripts_is_read_in_a_browser(site: Any, make_reader: Any, make_article: Any) -> None:
    url = site.page("/app", SHELL)
    seen: list[Any] = []

    def browser(address: str, *, timeout: float, guard: Any) -> Response:
        seen.append((address, 0 < timeout <= 120))
        return Response(200, {"content-type": "text/html"}, make_article("Filled by scripts").encode(), address)

    [page] = make_reader(reader={"browser": browser}).read([url])
    assert (page.layer, page.title, seen) == ("browser", "Filled by scripts", [(url, True)])
    assert states(page) == [("page", "empty"), ("browser", "ok")]
    [page] = make_reader().read([url])
    assert (page.ok, states(page)) == (False, [("page", "empty")])


def test_a_browser_is_not_started_for_other_failures(site: Any, make_reader: Any) -> None:
    def browser(*_: Any, **__: Any) -> Response:
        raise AssertionError("not wanted")

    [page] = make_reader(reader={"browser": browser}).read([f"{site.address}/gone"])
    assert states(page) == [("page", "bad_response")]


@pytest.mark.parametrize(
    "reply", [Response(403, {}, b""), Response(200, {"content-type": "text/html"}, SHELL.encode())]
)
def test_a_browser_that_fails_costs_one_layer(reply: Response, site: Any, make_reader: Any) -> None:
    url = site.page("/app", SHELL)
    [page] = make_reader(reader={"browser": lambda *_, **__: reply._replace(url=url)}).read([url])
    assert [attempt.layer for attempt in page.attempts] == ["page", "browser"]
    assert not page.ok


@pytest.mark.live
def test_a_real_browser_runs_the_scripts_of_a_page(site: Any, make_reader: Any) -> None:
    pytest.importorskip("playwright")
    if find_program() is None:
        pytest.skip("no Chromium here")
    words = "Text that a script has written, and it goes on for a while. " * 5
    script = f"document.getElementById('root').innerHTML = '<article><p>{words}</p></article>'"
    url = site.page("/app", f"<html><body><div id=root></div><script>{script}</script></body></html>")
    [page] = make_reader(SLEUTH_FETCH_BROWSER="true").read([url], timeout=30)
    assert states(page) == [("page", "empty"), ("browser", "ok")]
    assert page.text == words.strip()


@pytest.mark.live
def test_scripts_in_a_real_browser_reach_nothing_private(site: Any, make_site: Any, make_reader: Any) -> None:
    pytest.importorskip("playwright")
    if find_program() is None:
        pytest.skip("no Chromium here")
    inner = make_site()
    script = f"fetch('http://localhost:{inner.port}/secret')"
    url = site.page("/app", f"<html><body><div id=root></div><script>{script}</script></body></html>")

    def check(host: str, addresses: list[str]) -> None:
        guard.check(host, ["8.8.8.8"] if host == "127.0.0.1" else addresses)

    [page] = make_reader(guard=check, SLEUTH_FETCH_BROWSER="true").read([url], timeout=30)
    assert [attempt.layer for attempt in page.attempts] == ["page", "browser"]
    assert not inner.requests


@pytest.mark.live
def test_a_page_that_redirects_a_real_browser_to_a_private_address_is_refused(
    site: Any, make_site: Any, make_reader: Any
) -> None:
    pytest.importorskip("playwright")
    if find_program() is None:
        pytest.skip("no Chromium here")
    inner = make_site()
    url = site.page("/app", f"<html><body><script>location = 'http://localhost:{inner.port}/'</script></body></html>")

    def check(host: str, addresses: list[str]) -> None:
        guard.check(host, ["8.8.8.8"] if host == "127.0.0.1" else addresses)

    [page] = make_reader(guard=check, SLEUTH_FETCH_BROWSER="true").read([url], timeout=30)
    assert states(page) == [("page", "empty"), ("browser", "refused")]
    assert not inner.requests


# Private pages


def test_a_private_page_is_refused_and_not_sent_to_services(site: Any, make_site: Any, make_reader: Any) -> None:
    other = make_site()
    environ = jina_says(other, content="text") | {"SLEUTH_FETCH_ARCHIVE": "true", "SLEUTH_ARCHIVE_HOST": other.address}
    [page] = make_reader(guard=guard.check, **environ).read([site.page("/", "secret", "text/plain")])
    assert states(page) == [("page", "refused")]
    assert page.problem == "the site is at a private address; such pages are not read"
    assert not site.requests
    assert not other.requests


def test_a_private_page_is_read_when_allowed(site: Any, make_reader: Any) -> None:
    reader = make_reader(guard=guard.check, SLEUTH_FETCH_ALLOW_PRIVATE="true")
    assert reader.read([site.page("/", "hello", "text/plain")])[0].text == "hello"


def test_private_pages_are_sent_only_to_the_users_own_servers(site: Any, make_site: Any, make_reader: Any) -> None:
    allowed = {"SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_FETCH_JINA": "true", "SLEUTH_FETCH_ARCHIVE": "true"}
    url = f"{site.address}/gone"
    [page] = make_reader(guard=guard.check, **allowed).read([url])
    assert states(page) == [("page", "bad_response"), ("jina", "skipped"), ("archive", "skipped")]
    environ = allowed | jina_says(make_site(), content="Text of the page.")
    assert make_reader(guard=guard.check, **environ).read([url])[0].layer == "jina"


def test_a_local_name_is_not_sent_to_services(make_reader: Any) -> None:
    def wire(request: Request, *_: Any) -> Response:
        assert request.url.startswith("http://wiki.corp/")
        return Response(404, {}, b"", request.url)

    reader = make_reader(reader={"transport": wire}, SLEUTH_FETCH_JINA="true", SLEUTH_FETCH_ARCHIVE="true")
    assert states(reader.read(["http://wiki.corp/a"])[0])[1:] == [("jina", "skipped"), ("archive", "skipped")]


@pytest.mark.parametrize(
    "url",
    [
        "http://printer.localdomain/secret?token=abc",
        "https://jira.mycompany.example/browse/SECRET-1?token=abc",
        "http://abcdefgh.onion/x",
        "http://fritz.box/x",
    ],
)
def test_a_name_that_was_not_seen_to_be_public_is_not_sent_to_services(url: str, make_reader: Any) -> None:
    def wire(request: Request, *_: Any) -> Response:
        assert request.url == url
        raise UnreachableError("no such host")

    reader = make_reader(reader={"transport": wire}, SLEUTH_FETCH_JINA="true", SLEUTH_FETCH_ARCHIVE="true")
    assert states(reader.read([url])[0])[1:] == [("jina", "skipped"), ("archive", "skipped")]


def test_a_page_read_through_a_proxy_is_not_written_to_a_shared_cache(
    make_reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wire(request: Request, *_: Any) -> Response:
        return Response(200, {"content-type": "text/plain"}, b"INTERNAL", request.url)

    monkeypatch.setattr("sleuth.pages.reader.system_proxy", lambda url: "http://127.0.0.1:9")
    reader = make_reader(reader={"transport": wire})
    reader.cache = Shared()
    assert reader.read(["http://jira.mycompany.example/SECRET-1"])[0].ok
    assert reader.cache.written == []


@pytest.mark.parametrize(
    ("scheme", "status", "is_told"),
    [
        *(("https", 502, False), ("https", 504, False), ("https", 0, False), ("https", 404, True)),
        *(("http", 404, False), ("http", 403, False), ("http", 200, True)),
    ],
)
def test_a_name_that_a_proxy_cannot_reach_is_not_sent_to_services(
    scheme: str, status: int, is_told: bool, site: Any, make_reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wire(request: Request, *rest: Any) -> Response:
        if request.url.startswith(site.address):
            return transmit(request, *rest)
        if not status:
            raise UnreachableError("the proxy refused the connection")
        return Response(status, {}, b"", request.url)

    monkeypatch.setattr("sleuth.pages.reader.system_proxy", lambda url: "http://127.0.0.1:9")
    monkeypatch.setattr("sleuth.pages.services.JINA", site.address)
    reader = make_reader(reader={"transport": wire}, SLEUTH_FETCH_JINA="true")
    reader.read([f"{scheme}://jira.mycompany.example/SECRET-1"])
    assert bool(site.requests) == is_told


def test_a_local_name_is_refused_behind_a_proxy(make_reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    for page in make_reader(guard=guard.check).read(["http://vm:9803/", "http://foo.localdomain/"]):
        assert states(page) == [("page", "refused")]


def test_a_private_page_in_the_cache_is_shown_only_when_allowed(site: Any, make_reader: Any) -> None:
    url = site.page("/", "INTERNAL", "text/plain")
    for cached in (False, True):
        [page] = make_reader(guard=guard.check, cache=True, SLEUTH_FETCH_ALLOW_PRIVATE="true").read([url])
        assert (page.text, page.cached) == ("INTERNAL", cached)
    [page] = make_reader(guard=guard.check, cache=True).read([url])
    assert (page.text, states(page)) == ("", [("page", "refused")])


class Shared(Cache):
    """A shared cache that remembers the text of the pages it was given."""

    is_shared = True

    def __init__(self) -> None:
        self.written: list[str] = []

    def put(self, key: str, value: Any, seconds: float) -> None:
        self.written.append(value["blocks"][0].text)


def test_a_page_read_through_the_users_own_server_is_not_written_to_a_shared_cache(site: Any, make_reader: Any) -> None:
    def wire(request: Request, *rest: Any) -> Response:
        if request.url.startswith(site.address):
            return transmit(request, *rest)
        raise UnreachableError("no such host")

    url = "http://jira.mycompany.example/SECRET-1"
    environ = jina_says(site, content="INTERNAL")
    reader = make_reader(reader={"transport": wire}, **environ)
    reader.cache = Shared()
    assert (reader.read([url])[0].layer, reader.cache.written) == ("jina", [])
    assert make_reader(cache=True, reader={"transport": wire}, **environ).read([url])[0].layer == "jina"
    assert states(make_reader(cache=True, reader={"transport": wire}).read([url])[0])[0] == ("page", "unreachable")


def test_a_private_page_is_not_written_to_a_shared_cache(site: Any, make_reader: Any) -> None:
    def check(host: str, addresses: list[str]) -> None:
        guard.check(host, ["8.8.8.8"])

    url = site.page("/", "a text", "text/plain")
    for judge, written in ((guard.check, []), (check, ["a text"])):
        reader = make_reader(guard=judge, SLEUTH_FETCH_ALLOW_PRIVATE="true")
        reader.cache = Shared()
        assert reader.read([url])[0].ok
        assert reader.cache.written == written


# Trouble

MISTAKES = {
    "empty": ("", "text/html", "empty"),
    "scripts": (SHELL, "text/html", "empty"),
    "binary": (b"\x89PNG\r\n\x1a\n" + bytes(100), "image/png", "bad_response"),
    "login": ("<title>Log in</title><input type=password>", "text/html", "blocked"),
    "PDF is damaged": (b"%PDF-1.7 nothing", "application/pdf", "bad_response"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_an_unreadable_page_has_a_reason(name: str, site: Any, make_reader: Any) -> None:
    body, content_type, state = MISTAKES[name]
    [page] = make_reader().read([site.page("/", body, content_type)])
    assert (page.ok, states(page)) == (False, [("page", state)])
    assert page.problem


def test_a_bug_costs_one_page(site: Any, make_reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reader = make_reader()
    monkeypatch.setattr(reader, "_run_layers", lambda *_: 1 / 0)
    [page] = reader.read([site.page("/", "hello", "text/plain")])
    assert states(page) == [("page", "bad_response")]


@pytest.mark.parametrize(
    ("body", "kind"),
    [("# A guide\n\nFirst steps.\n", "text/markdown"), ("A guide\n\nFirst steps.\n", "text/plain")],
)
def test_the_title_of_a_text_is_not_repeated(site: Any, make_reader: Any, body: str, kind: str) -> None:
    [page] = make_reader().read([site.page("/", body, kind)])
    assert (page.title, page.markdown) == ("A guide", "First steps.")


def test_a_page_is_cut_at_a_paragraph(site: Any, make_reader: Any) -> None:
    paragraphs = [f"Paragraph {number}: " + "words " * 30 for number in range(200)]
    url = site.page("/", "\n\n".join(paragraphs), "text/plain")
    [page] = make_reader().read([url])
    assert page.truncated
    assert 19_000 < len(page.text) <= 20_000
    assert page.text.endswith("words")
    [page] = make_reader(SLEUTH_FETCH_MAX_CHARS="500").read([url])
    assert len(page.markdown) <= 500


def test_the_reader_imports_nothing_heavy(site: Any, tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "from sleuth.pages.reader import Reader\n"
        "heavy = {'trafilatura', 'lxml', 'pypdf', 'selectolax', 'httpx', 'charset_normalizer', 'asyncio', 'logging'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    root = Path(__file__).parents[3]
    environ = {"PYTHONPATH": f"{root}/cli:{root}/providers", "PATH": "/usr/bin"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environ, check=True)
    assert done.stdout == "[]\n"


def test_huge_pages_take_little_memory(site: Any, tmp_path: Path) -> None:
    script = (
        "import resource, sys\n"
        "from sleuth.store.cache.disk import Cache\n"
        "from sleuth.pages.reader import Reader\n"
        "from sleuth.store.settings import Settings\n"
        "environ = {f'SLEUTH_FETCH_{name}': 'false' for name in ('JINA', 'ARCHIVE')}\n"
        "environ['SLEUTH_FETCH_ALLOW_PRIVATE'] = 'true'\n"
        "reader = Reader(Settings(sys.argv[2], environ), Cache())\n"
        "reader.read([sys.argv[1] + '/small'], timeout=20)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "for name in ('tags', 'flood'):\n"
        "    reader.read([f'{sys.argv[1]}/{name}'], timeout=20)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    site.page("/small", "<html><body><p>" + "hello world " * 100)
    site.page("/tags", "<html><body>" + "<p>words<br>" * 700_000)

    def endless(send: Callable[[bytes], None]) -> None:
        send(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while True:
            send(b"<p>more" * 10_000)

    site.behaves("/flood", endless)
    root = Path(__file__).parents[3]
    environ = {"PYTHONPATH": f"{root}/cli:{root}/providers", "PATH": "/usr/bin"}
    command = [sys.executable, "-c", script, site.address, str(tmp_path / "none.toml")]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=True)
    assert int(done.stdout) < 100_000


def test_the_browser_is_used_only_if_enabled(site: Any, tmp_path: Path) -> None:
    settings = Settings(str(tmp_path / "none.toml"), {"SLEUTH_FETCH_BROWSER": "true"})
    assert Reader(settings, DiskCache(str(tmp_path), 5)).browser is not None
    settings = Settings(str(tmp_path / "none.toml"), {})
    assert Reader(settings, DiskCache(str(tmp_path), 5)).browser is None
