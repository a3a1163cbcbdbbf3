"""`sleuth summarize`: what pages say, word for word, with numbers that match their sources."""

import json
import re
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

PAGES = {
    "tokio": "Tokio is the most used runtime. It schedules many tasks on a few threads. Its timers are precise. "
    "Releases come every month. The community is large and helpful. Companies use it in production.",
    "smol": "Smol is a small runtime. It schedules many tasks on a few threads as well. Its code fits in one evening. "
    "It has few dependencies. Many like it for tools. It can run Tokio's crates through a bridge.",
    "中文": "这是一个小型的异步运行时。它在少量线程上调度大量任务。"
    "它的定时器很精确。社区很大，文档也很完整。每个月都会发布新版本。",
}


@pytest.fixture
def site(httpserver: HTTPServer, sleuth: Any) -> Any:
    for name, text in PAGES.items():
        paragraphs = "".join(f"<p>{sentence}</p>" for sentence in re.findall(r".+?[.。]", text))
        page = (
            f"<html><title>About {name}</title><body><article><h1>About {name}</h1>{paragraphs}</article></body></html>"
        )
        httpserver.expect_request(f"/{name}").respond_with_data(page, content_type="text/html; charset=utf-8")
    sleuth.environ |= {
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "SLEUTH_FETCH_JINA": "false",
        "SLEUTH_FETCH_ARCHIVE": "false",
        "SLEUTH_FETCH_TIMEOUT": "120",  # for busy machines
    }
    return lambda name: httpserver.url_for(f"/{name}")


def test_quotes_are_verbatim(sleuth: Any, site: Any) -> None:
    done = sleuth("summarize", "--json", "--query", "how many threads", site("tokio"), site("smol"), site("中文"))
    assert done.exit == 0, done.err
    found = done.json
    assert found["method"] == "extractive"
    assert [source["citation"] for source in found["sources"]] == [1, 2, 3]
    names = list(PAGES)
    for quote in found["summary"] + [quote for source in found["sources"] for quote in source["summary"]]:
        assert quote["text"] in PAGES[names[quote["citation"] - 1]]
    assert found["summary"]


def test_numbers_and_sources_agree_in_text(sleuth: Any, site: Any) -> None:
    out = sleuth("summarize", site("tokio"), site("smol")).out
    body, _, sources = out.partition("\nSources\n")
    assert set(re.findall(r"\[(\d)\]", body)) <= set(re.findall(r"^\[(\d)\]", sources, re.MULTILINE)) == {"1", "2"}
    markdown = sleuth("summarize", "-f", "markdown", site("tokio"), site("smol")).out
    assert f"[[1]]({site('tokio')})" in markdown


def test_search_json_can_be_piped_in(sleuth: Any, site: Any) -> None:
    answer = {"query": "small runtime", "results": [{"url": site("smol")}, {"url": site("tokio")}]}
    found = sleuth("summarize", "--json", stdin=json.dumps(answer)).json
    assert found["query"] == "small runtime"
    assert [source["url"] for source in found["sources"]] == [site("smol"), site("tokio")]
    assert len(sleuth("summarize", "-", "--json", stdin=f"{site('smol')}\n{site('tokio')}\n").json["sources"]) == 2


def test_unreadable_page_is_a_warning(sleuth: Any, site: Any) -> None:
    done = sleuth("summarize", "--json", site("gone"), site("smol"))
    assert done.exit == 0
    assert [source["citation"] for source in done.json["sources"]] == [None, 1]
    assert "could not read" in done.err
    done = sleuth("summarize", site("gone"))
    assert (done.exit, done.out) == (1, "")
    assert "could not read http" in done.err
    assert "hint: check the URL and the network, or try again later\n" in done.err


@pytest.mark.parametrize("length", ["short", "80"])
def test_length_is_respected(sleuth: Any, site: Any, length: str) -> None:
    found = sleuth("summarize", "--json", "--length", length, site("tokio")).json
    assert sum(len(quote["text"]) for quote in found["summary"]) <= (80 if length == "80" else 600)


@pytest.mark.parametrize(
    ("words", "stdin"),
    [
        (("nonsense",), ""),
        (("ftp://x/",), ""),
        ((), ""),
        ((), "{}"),
        ((), '{"results": [{}]}'),
        (("--length", "0", "http://x/"), ""),
    ],
)
def test_invalid_input_is_an_error(sleuth: Any, words: tuple[str, ...], stdin: str) -> None:
    done = sleuth("summarize", *words, stdin=stdin)
    assert (done.exit, done.out) == (2, "")
    assert "hint: " in done.err


def test_terminal_shows_linked_numbers(sleuth: Any, site: Any) -> None:
    out = sleuth("summarize", "-f", "rich", "--color", "always", site("tokio"), site("中文")).out
    assert "\x1b]8;" in out
    assert "About 中文" in out


def test_model_writes_the_summary_and_is_named(sleuth: Any, site: Any, model: Any) -> None:
    model.text = "Smol is a small runtime [1]. It is red [1]."
    sleuth.environ |= {name: value for name, value in model.environ.items() if "LLM" in name}
    done = sleuth("summarize", site("smol"))
    assert done.out.startswith(
        "What 1 page says, written by scripted\n\nSmol is a small runtime [1]. It is red [1??].\n"
    )
    assert done.err.startswith("note: citations: 1 quoted, 1 not found")
    found = sleuth("summarize", "--json", "--query", "size", site("smol"), site("tokio")).json
    assert (found["method"], found["model"], found["text"]) == ("model", "scripted", model.text)
    shown = sleuth("summarize", "-f", "rich", "--color", "always", site("smol"), site("tokio")).out
    assert "What 2 pages say, written by scripted" in shown
    assert f";{site('smol')}\x1b\\" in shown
    assert "word for word" not in shown
    assert sleuth("summarize", "--json", "--extractive", site("smol")).json["method"] == "extractive"


def test_pages_are_quoted_if_the_model_fails(sleuth: Any, site: Any) -> None:
    sleuth.environ |= {"SLEUTH_LLM_BASE_URL": "http://127.0.0.1:1/v1", "SLEUTH_LLM_MODEL": "gone"}
    for format in ("plain", "rich"):
        done = sleuth("summarize", "-f", format, site("smol"))
        assert done.exit == 0
        assert done.out.startswith("What 1 page says, quoted")
        assert "warning: quoting the pages instead of writing a summary: " in done.err
        assert "\nhint: find the cause: sleuth doctor --only model\n" in done.err


def test_hint_fits_the_reason_of_the_failure(sleuth: Any) -> None:
    private = sleuth("summarize", "http://127.0.0.1:1/", SLEUTH_FETCH_ALLOW_PRIVATE="false")
    assert "hint: to allow private addresses: sleuth config set fetch.allow_private true" in private.err
    refused = sleuth("summarize", "http://127.0.0.1:1/", SLEUTH_FETCH_ALLOW_PRIVATE="true")
    assert refused.exit == 1
    assert "hint: check the URL and the network, or try again later\n" in refused.err
