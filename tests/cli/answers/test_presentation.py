"""Answers in every format: numbers, links and references agree with the sources."""

import io
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from tests import viewers

from sleuth.answers import citation_check, presentation
from sleuth.answers.answer import Answer, answer_as_json
from sleuth.answers.citations import CitedSource, find, targets
from sleuth.answers.evidence import STATES
from sleuth.answers.llm.chat import Usage
from sleuth.answers.markdown import safe_markdown
from sleuth.answers.summary import Digest, Quote
from sleuth.answers.summary import DigestSource as Page
from sleuth.base import markdown
from sleuth.commands.terminal.screen import Screen
from sleuth.runtime import Runtime
from sleuth.serving.schemas import ASK_ANSWER, SUPPORTS

TEXT = "Tokio is a fast runtime. Its timers have a precision of 1 millisecond. 它在少量线程上调度大量任务。"
URLS = (
    *("https://tokio.rs/a", "https://x.org/(b)|c?d=1&lt=2", "https://例子.org/路径", "http://y.org/`tick`"),
    *("javascript:alert(1)", "https://z.org/ <b>", "file:///home/me/notes.md"),
)
WORDS = (
    *(
        "Tokio is a fast runtime ",
        "[1]",
        "[2]",
        "[3][4]",
        "[1, 2]",
        "【3】",
        "[2-4]",
        "[7]",
        "[99]",
        "[abc]",
        ". ",
        "。",
    ),
    *("\n\n", "\n", "- ", "1. ", "> ", "# ", "**bold** ", "`a[1]` ", "\n```\n[1]\n```\n", "任务", "| a | [1] |\n"),
)
HOSTILE = (
    *("\x1b[31m", "\x1b]8;;http://evil.com\x1b\\[1]\x1b]8;;\x1b\\", "\x1b]52;c;aGk=\x07", "\u202e", "\x9b", "[/bar]"),
    *("[bold]", "[[1]](https://evil.com) ", "[1](https://evil.com) ", "[x](javascript:a) ", "![i](http://t.co/p) "),
    *("<b>", "<script>", "&#x1b;", "&#x202e;", "[1]: https://evil.com\n", "`", "```\n", "    ", "a" * 200, "\r", "\t"),
)
LINK = re.compile(r"\x1b\]8;[^;]*;([^\x1b]+)\x1b\\(.*?)\x1b\]8;;\x1b\\", re.DOTALL)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
LISTED = re.compile(r"^ {0,1}(\d{1,2})  \S", re.MULTILINE)

sources = st.lists(st.sampled_from(URLS), max_size=6, unique=True).map(
    lambda urls: tuple(CitedSource(n, url, f"Title <{n}> [x]", TEXT, 1 + n % 2) for n, url in enumerate(urls, 1))
)
answers = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)
attacks = st.lists(st.sampled_from(WORDS + HOSTILE), max_size=12).map("".join)


def answered(text: str, known: tuple[CitedSource, ...], method: str = "model") -> Answer:
    answer = Answer("q", text, method, known, checks=tuple(citation_check.check(text, known)), searched=True)
    return presentation.safe(answer)


def cited(answer: Answer) -> list[int]:
    """Return every number that has a source, as often as it is cited."""
    known = {source.citation for source in answer.sources}
    return [number for mark in find(answer.text) for number in mark.numbers if number in known]


def on_screen(answer: Answer, columns: int = 80, **environ: str) -> str:
    out = io.StringIO()
    runtime = Runtime(
        {"COLUMNS": str(columns), "SLEUTH_HOME": "/nonexistent", "LANG": "C.UTF-8"} | environ, out, out, out
    )
    runtime.color = "always"
    screen = Screen(runtime)
    screen.console.width = screen.document.width = columns
    screen.finish(answer)
    return out.getvalue()


@settings(max_examples=80, deadline=None)
@given(answers, sources)
@example("Fast [1, 2]. Slow [2-4]【3】.", tuple(CitedSource(n, URLS[n], "T", TEXT) for n in range(1, 4)))
def test_markdown_links_every_number_to_its_source_and_lists_what_is_cited(
    text: str, known: tuple[CitedSource, ...]
) -> None:
    answer = answered(text, known)
    written = presentation.as_text(answer, "markdown")
    links = {number: markdown.normalise_target(target) for number, target in targets(known).items()}
    found = [link for link in viewers.links(written) if re.fullmatch(r"\[\d+[?+]*\]", link[0])]
    assert all(target == links[int(re.sub(r"\D", "", label))] for label, target in found)
    assert sorted(int(re.sub(r"\D", "", label)) for label, _ in found) == sorted(
        number for number in cited(answer) * len(viewers.VIEWERS) if number in links
    )
    listed = [int(number) for number in re.findall(r"^- \\\[(\d+)\\\]", written, re.MULTILINE)]
    assert set(listed) == (set(cited(answer)) or {source.citation for source in known})
    assert len(listed) == len(set(listed))


@settings(max_examples=80, deadline=None)
@given(answers, sources)
def test_plain_text_and_json_name_the_same_sources(text: str, known: tuple[CitedSource, ...]) -> None:
    answer = answered(text, known)
    document = answer_as_json(answer)
    Draft202012Validator(ASK_ANSWER).validate(document)
    assert [one["citation"] for one in document["citations"]] == cited(answer)
    assert {one["citation"] for one in document["references"]} == set(cited(answer))
    plain = presentation.as_text(answer, "plain")
    title = "\nReferences\n" if cited(answer) else "\nSources\n"
    listed = re.findall(r"^\[(\d+)\] Title", plain.rpartition(title)[2], re.MULTILINE)
    assert {int(number) for number in listed} == (set(cited(answer)) or {source.citation for source in known})


@settings(max_examples=80, deadline=None)
@given(answers, sources, st.sampled_from([20, 40, 80, 120]))
def test_terminal_links_every_number_to_its_source_and_lists_what_is_cited(
    text: str, known: tuple[CitedSource, ...], columns: int
) -> None:
    answer = answered(text, known)
    body, _, listed = on_screen(answer, columns).rpartition("References" if cited(answer) else "Sources")
    links = {number: markdown.normalise_target(target) for number, target in targets(known).items()}
    marks = [(url, COLOUR.sub("", label)) for url, label in LINK.findall(body)]
    found = [(int(mark[1]), url) for url, label in marks if (mark := re.fullmatch(r"\[(\d+)[?+]*\]", label))]
    assert all(links[number] == url for number, url in found)
    longest = 2 * max(map(len, text.replace(", ", "][").split()), default=0)  # signs make citations longer
    if columns > max(20, longest) and "|" not in text:  # what does not fit in a line is broken, numbers too
        assert sorted(number for number, _ in found) == sorted(number for number in cited(answer) if number in links)
    shown = COLOUR.sub("", LINK.sub(r"\2", listed))
    wanted = set(cited(answer)) or {source.citation for source in known}
    assert {int(number) for number in LISTED.findall(shown)} == wanted


@settings(max_examples=120, deadline=None)
@given(attacks, sources, st.sampled_from([20, 80]))
@example("[1]: https://evil.com\n`", (), 20)
@example("[[1]](https://evil.com) and [1]", (CitedSource(1, URLS[0], "T", TEXT),), 80)
@example("\x1b]8;;http://evil.com\x1b\\[1]\x1b]8;;\x1b\\", (CitedSource(1, URLS[0], "T", TEXT),), 80)
def test_hostile_text_can_neither_control_a_terminal_nor_fake_a_citation(
    text: str, known: tuple[CitedSource, ...], columns: int
) -> None:
    answer = answered(text, known)
    shown = on_screen(answer, columns)
    links = {number: markdown.normalise_target(target) for number, target in targets(known).items()}
    for url, label in LINK.findall(shown):
        assert url in links.values()
        if mark := re.fullmatch(r"\[(\d+)[?+]*\]", COLOUR.sub("", label)):
            assert links[int(mark[1])] == url
    rest = COLOUR.sub("", LINK.sub(r"\2", shown))
    assert all(sign.isprintable() or sign in "\n\u200c\u200d" or sign.isspace() for sign in rest), rest
    for style in ("plain", "markdown"):
        written = presentation.as_text(answer, style)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", written)
    viewers.links(presentation.as_text(answer, "markdown"))


def test_long_answer_is_printed_once_and_links_only_to_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    known = (CitedSource(1, URLS[0], "T", TEXT),)
    text = "First see [the docs](https://evil.com/?d=1) [1].\n\n" + "".join(f"Paragraph {n}.\n\n" for n in range(30))
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    screen = Screen(Runtime({"SLEUTH_HOME": "/nonexistent", "LANG": "C.UTF-8", "TERM": "xterm"}, out, out, out))
    screen.console.height = 10
    screen.set_sources(known)
    screen.write(text)
    assert screen.stream.printed, "the text is taller than the terminal"
    screen.finish(answered(safe_markdown(text, targets(known)), known))
    assert out.getvalue().count("First see") == 1
    assert {url for url, _ in LINK.findall(out.getvalue())} <= {URLS[0]}


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000,
        "```\n" + "y\n" * 5000,
        "[" * 5000,
        ">" * 3000 + "x",
        "[1]" * 1000,
        "[/bar][red]",
        "| a " * 500,
    ],
    ids=["line", "fence", "brackets", "quotes", "citations", "markup", "cells"],
)
def test_very_long_text_is_shown(text: str) -> None:
    known = (CitedSource(1, URLS[0], "T", TEXT),)
    assert on_screen(answered(text, known), 20)
    assert presentation.as_text(answered(text, known), "markdown")


@settings(max_examples=60, deadline=None)
@given(answers, sources)
def test_finished_blocks_are_linked_as_in_the_whole_answer(text: str, known: tuple[CitedSource, ...]) -> None:
    """What is printed while an answer is written has the blocks that the finished one has."""
    linked = presentation.linked(answered(text, known), "markdown").text
    assert len(markdown.split_blocks(linked)) == len(markdown.split_blocks(text))
    assert "".join(markdown.split_blocks(text)) == text


def test_checks_are_marked_and_counted() -> None:
    text = (
        "Tokio is a fast runtime [1]. Its timers have a precision of 5 nanoseconds [1]. Bananas are yellow fruit [1]."
    )
    answer = answered(text, (CitedSource(1, URLS[0], "T", TEXT),))
    assert re.findall(r"\[1\?*\]", presentation.as_text(answer, "plain"))[:3] == ["[1]", "[1?]", "[1??]"]
    shown = on_screen(answer, SLEUTH_UI_THEME="light")
    assert "\x1b[1;31m[1??]\x1b[0m" in shown
    assert "\x1b[1;34m[1]\x1b[0m" in shown
    found = answer._replace(model="m", usage=Usage(2, 1000, 234, cost=0.0123), elapsed_ms=1500)
    assert presentation.summary(found) == (
        "m · no search · 1,234 tokens · $0.0123 · 1.5 s · citations: 1 quoted, 1 weak, 1 not found"
    )


def test_schema_has_the_states_of_the_check() -> None:
    assert SUPPORTS == STATES


def test_extractive_answer_with_sources_is_labelled() -> None:
    known = (CitedSource(1, URLS[0], "T", TEXT),)
    label = "Extractive: quoted from the pages"
    assert presentation.as_text(answered("Tokio. [1]", known, "extractive"), "plain").startswith(f"{label}\n\nTokio")
    assert presentation.as_text(answered("Tokio. [1]", known, "extractive"), "markdown").startswith(f"*{label}*\n\n")
    assert label in on_screen(answered("Tokio. [1]", known, "extractive"))
    assert label not in presentation.as_text(answered("Nothing.", (), "extractive"), "plain")


def test_passages_are_the_evidence_of_citations() -> None:
    source = CitedSource(1, URLS[0], "T", f"Before this. {TEXT} After that.\x1b[2J")
    answer = answered("Its timers have a precision of 1 millisecond [1].", (source,))
    assert presentation.passages(answer, source, 500) == ["Its timers have a precision of 1 millisecond"]
    assert presentation.passages(answer._replace(checks=()), source, 500)[0].endswith("After that.[2J")
    assert len("".join(presentation.passages(answer._replace(checks=()), source, 40))) <= 40
    assert presentation.passages(answer, source._replace(text="", citation=2), 500) == ["this source has no text"]


def written(*pages: Page, text: str = "All [1][2].", query: str = "") -> Digest:
    known = tuple(CitedSource(page.citation, page.url, page.title, TEXT) for page in pages)
    return Digest(query, (), pages, (), "model", text, tuple(citation_check.check(text, known)), (), known, "m")


def test_digest_of_pages_links_to_no_other_url() -> None:
    quote = Quote("See https://evil.example/p or www.evil.example.", 1, 0, 0)
    pages = [Page(n, url, "https://evil.example/t", summary=(quote,)) for n, url in ((1, URLS[0]), (2, URLS[1]))]
    markdown = presentation.digest_as_text(written(*pages), "markdown")
    for url in ("https://evil.example/t", "https://evil.example/p", "www.evil.example"):
        assert f"`{url}`" in markdown


def test_written_digest_has_each_page_and_every_source() -> None:
    pages = (Page(1, URLS[0], "Tokio *a*", text="Fast [1]."), Page(2, "https://smol.org/b", "Smol", text="Small [2]."))
    plain = presentation.digest_as_text(written(*pages), "plain")
    assert plain.startswith(
        "What 2 pages say, written by m\n\nAll [1??][2??].\n\n[1] Tokio *a*\n\nFast [1].\n\n[2] Smol"
    )
    assert plain.endswith(
        "\n\nSources\n[1] Tokio *a* — tokio.rs\n    https://tokio.rs/a\n[2] Smol — smol.org\n    https://smol.org/b\n"
    )
    markdown = presentation.digest_as_text(written(*pages, query="speed"), "markdown")
    assert "## What 2 pages say about 'speed', written by m" in markdown
    assert "### Tokio \\*a\\* [[1]](https://tokio.rs/a)\n\nFast [[1]](https://tokio.rs/a)." in markdown
    alone = presentation.digest_as_text(written(pages[0], text="One."), "plain")
    assert (
        alone == "What 1 page says, written by m\n\nOne.\n\nSources\n[1] Tokio *a* — tokio.rs\n    https://tokio.rs/a\n"
    )
