"""`sleuth read`: pages, PDFs and files as Markdown, for the next command in a pipe."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

NOTES = """# Notes

Intro.

## Install it

```python
for i in range(3):
    print(i)
```

### Windows

See [the manual](https://docs.example.org/manual#windows) and [more](guide.html).

## Use it

Done.
"""
PAGE = """<html lang="en"><title>Runtimes</title><body><nav><a href="/home">Home</a></nav><article><h1>Runtimes</h1>
<p>Tokio is the most used runtime for asynchronous Rust, and <a href="/smol">smol</a> is the smallest of them.</p>
<pre>fn main() {
    run();
}</pre><p>There are others, such as <a href="https://glommio.example/#top">glommio</a>, which uses io_uring.</p>
<a href="mailto:a@example.org">mail</a> <a href="javascript:x()">x</a></article></body></html>"""


@pytest.fixture
def notes(tmp_path: Path) -> str:
    path = tmp_path / "my notes.md"
    path.write_text(NOTES)
    return str(path)


@pytest.fixture
def page(httpserver: HTTPServer, sleuth: Any) -> str:
    httpserver.expect_request("/page").respond_with_data(PAGE, content_type="text/html; charset=utf-8")
    sleuth.environ |= {
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "SLEUTH_FETCH_JINA": "false",
        "SLEUTH_FETCH_ARCHIVE": "false",
        "SLEUTH_FETCH_TIMEOUT": "120",  # for busy machines
    }
    return httpserver.url_for("/page")


def test_file_and_page_become_markdown(sleuth: Any, notes: str, page: str) -> None:
    done = sleuth("read", notes, page)
    assert done.exit == 0, done.err
    first, _, second = done.out.partition("\n\n---\n\n")
    assert first.startswith("# Notes\n\n<file://")
    assert first.count("# Notes") == 1
    assert "```python\nfor i in range(3):\n    print(i)\n```" in first
    assert second.startswith(f"# Runtimes\n\n<{page}>")
    assert "    run();" in second


def test_section_has_its_subsections_and_no_more(sleuth: Any, notes: str) -> None:
    out = sleuth("read", "--section", "INSTALL", notes).out
    assert "## Install it" in out
    assert "### Windows" in out
    assert "Intro" not in out
    assert "Use it" not in out
    done = sleuth("read", "--section", "missing", notes)
    assert done.exit == 2
    assert "its headings: Install it, Windows, Use it" in done.err


def test_urls_paths_and_search_results_are_read_from_stdin(sleuth: Any, notes: str, page: str) -> None:
    out = sleuth("read", "-", stdin=f"{page}\n{notes}\n").out
    assert out.index("# Runtimes") < out.index("# Notes")
    assert "Tokio" in sleuth("read", stdin=json.dumps({"query": "q", "results": [{"url": page}]})).out
    assert sleuth("read", stdin="{}").exit == 2


def test_links_are_absolute_and_listed_once(sleuth: Any, notes: str, page: str, httpserver: HTTPServer) -> None:
    lines = [line.split("\t") for line in sleuth("read", "--links", page).out.splitlines()]
    assert lines == [
        [httpserver.url_for("/home"), "Home"],
        [httpserver.url_for("/smol"), "smol"],
        ["https://glommio.example/", "glommio"],
    ]
    assert sleuth("read", "--links", notes).out == "https://docs.example.org/manual\tthe manual\n"
    found = sleuth("read", "--links", "--json", page).json
    assert found["pages"][0]["links"][1] == {"text": "smol", "url": httpserver.url_for("/smol")}


def test_tokens_are_limited_over_all_pages(sleuth: Any, notes: str, page: str) -> None:
    found = sleuth("read", "--json", "--max-tokens", "20", notes, page).json["pages"]
    assert all(one["truncated"] and one["content"] for one in found)
    assert sum(len(one["content"]) for one in found) < 160


def test_one_failure_is_a_warning_and_only_failures_an_error(sleuth: Any, notes: str, page: str) -> None:
    gone = page.replace("/page", "/gone")
    done = sleuth("read", notes, gone)
    assert (done.exit, "could not read" in done.err, gone in done.err) == (0, True, True)
    assert sleuth("read", gone).exit == 1
    assert sleuth("read", "--links", gone).exit == 1
    done = sleuth("read", "no-such-file.md")
    assert done.exit == 2
    assert "neither a file nor a web URL" in done.err


@pytest.mark.parametrize("url", ["ftp://joe:pw99@h.example", "http:/joe:pw99@h.example", "http://joe:pw99@[h.example"])
@pytest.mark.parametrize("words", ["read", "summarize", "library add", "library show", "search x --site"])
def test_password_in_a_mistyped_url_is_not_shown(sleuth: Any, words: str, url: str) -> None:
    done = sleuth(*words.split(), url)
    assert done.exit
    assert "pw99" not in done.err + done.out
    assert words.startswith("search") or "…@" in done.err


def test_private_addresses_are_refused(sleuth: Any, page: str) -> None:
    sleuth.environ["SLEUTH_FETCH_ALLOW_PRIVATE"] = "false"
    for words in ((), ("--links",)):
        done = sleuth("read", *words, page)
        assert done.exit == 1
        assert "is at a private address" in done.err
        assert "fetch.allow_private" in done.err


def test_a_page_that_needs_scripts_can_be_read_in_a_browser(sleuth: Any, page: str, httpserver: HTTPServer) -> None:
    empty = "<html><title>App</title><body><div id=root></div><script>start()</script></body></html>"
    httpserver.expect_request("/app").respond_with_data(empty, content_type="text/html")
    done = sleuth("read", page.replace("/page", "/app"))
    assert done.exit == 1
    assert "sleuth config set fetch.browser true" in done.err


def test_invalid_link_costs_only_itself(sleuth: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text('<base href="http://x.example/"><a href="a">ok</a><a href="http://[bad">broken</a>')
    assert sleuth("read", "--links", str(page)).out == "http://x.example/a\tok\n"


def test_links_are_not_fetched_offline(sleuth: Any, page: str, notes: str, httpserver: HTTPServer) -> None:
    assert sleuth("read", "--links", "--offline", page).exit == 2
    assert sleuth("read", "--links", "--offline", notes).exit == 0
    assert not httpserver.log
    done = sleuth("read", "--offline", page)
    assert "hint: omit --offline" in done.err


def test_pages_as_json(sleuth: Any, page: str) -> None:
    found = sleuth("read", "--json", page).json["pages"][0]
    assert (found["title"], found["language"], found["source"], found["error"]) == ("Runtimes", "en", "page", None)


def test_files_are_summarised(sleuth: Any, tmp_path: Path) -> None:
    path = tmp_path / "paper.txt"
    path.write_text("Tokio is the most used runtime. Smol is the smallest runtime of all. Bananas are yellow fruit.")
    done = sleuth("summarize", "--query", "which runtime is smallest", "--length", "short", str(path))
    assert done.exit == 0, done.err
    assert "Smol is the smallest runtime" in done.out
    assert path.as_uri() in done.out


def test_terminal_shows_markdown_rendered(sleuth: Any, notes: str, tmp_path: Path) -> None:
    shown = sleuth("--no-pager", "read", notes, terminal=True).out
    assert "\x1b[1m" in shown
    assert "\n# " not in shown
    assert sleuth("read", "-o", str(tmp_path / "out.md"), notes, terminal=True).out == ""
    assert (tmp_path / "out.md").read_text() == sleuth("read", notes).out


def test_links_of_a_page_are_read_within_the_time_limit(sleuth: Any, page: str, httpserver: HTTPServer) -> None:
    """A hundred thousand items take the parser minutes; only a separate process can be ended."""
    items = "- [a](/b)\n  - c\n" * 60_000
    httpserver.expect_request("/items").respond_with_data(items, content_type="text/markdown")
    done = sleuth("read", "--links", "--timeout", "2", httpserver.url_for("/items"))
    assert (done.exit, "the page arrived, but was not read in time" in done.err) == (1, True)


def test_title_and_author_of_a_page_are_no_markdown(sleuth: Any, page: str, httpserver: HTTPServer) -> None:
    hostile = PAGE.replace("<title>Runtimes", "<title>![x](https://evil.example/p) &lt;img src=x>")
    httpserver.expect_request("/hostile").respond_with_data(hostile.replace("<h1>Runtimes</h1>", ""))
    heading = sleuth("read", httpserver.url_for("/hostile")).out.partition("\n")[0]
    assert heading == "# ![x]\\(https://evil.example/p) \\<img src=x>"


def test_only_files_of_this_machine_are_read(sleuth: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "host.example").mkdir()
    (tmp_path / "host.example" / "note.md").write_text("# Larch")
    monkeypatch.chdir(tmp_path)
    assert sleuth("read", "file://host.example/note.md").exit == 2
    os.mkfifo(tmp_path / "pipe")
    for words in ((), ("--links",)):
        done = sleuth("read", *words, f"file://{tmp_path}/pipe")
        assert (done.exit, "not a regular file" in done.err) == (1, True)


def test_deep_json_on_standard_input_is_refused(sleuth: Any) -> None:
    done = sleuth("read", stdin='{"results":' + "[" * 100_000)
    assert (done.exit, "not the output of sleuth search" in done.err) == (2, True)
