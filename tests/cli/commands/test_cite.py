"""`sleuth cite`: text in, links and references out; what the sources do not bear out is marked."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

RESULTS = [
    {
        "citation": 1,
        "title": "Tokio",
        "url": "https://tokio.org/a",
        "snippet": "s",
        "content": "Tokio is a fast runtime.",
    },
    {"citation": 2, "title": "Smol", "url": "https://smol.org/b", "snippet": "Smol is a small runtime.", "content": ""},
]
LINKED = "Fast [[1]](https://tokio.org/a).\n"
LIST = "\n## References\n\n- \\[1\\] [Tokio](https://tokio.org/a) — tokio.org\n"


@pytest.fixture
def sources(tmp_path: Path) -> str:
    return write(tmp_path / "results.json", {"query": "x", "results": RESULTS})


def write(path: Path, document: Any) -> str:
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return str(path)


def test_text_on_stdin_gets_links_and_references(sleuth: Any, sources: str) -> None:
    done = sleuth("cite", "--sources", sources, stdin="Fast [1].\n")
    assert (done.exit, done.out, done.err) == (0, LINKED + LIST, "")
    assert sleuth("cite", "--sources", sources, "-", stdin="Fast [1].").out == LINKED + LIST
    assert sleuth("cite", "--sources", sources, "--no-references", stdin="Fast [1].\n").out == LINKED


def test_file_is_read_and_written(sleuth: Any, sources: str, tmp_path: Path) -> None:
    answer = write(tmp_path / "answer.md", "Fast [1].\n")
    out = tmp_path / "linked.md"
    done = sleuth("cite", "--sources", sources, answer, "-o", str(out))
    assert (done.exit, done.out) == (0, "")
    assert out.read_text(encoding="utf-8") == LINKED + LIST
    document = Path(sources).read_text(encoding="utf-8")
    assert sleuth("cite", "--sources", "-", answer, stdin=document).out == LINKED + LIST


def test_all_sources_are_listed_if_none_is_cited(sleuth: Any, sources: str) -> None:
    out = sleuth("cite", "--sources", sources, stdin="No number.").out
    assert out.startswith("No number.\n\n## Sources\n\n- \\[1\\] [Tokio]")
    assert "- \\[2\\] [Smol]" in out


def test_number_without_a_source_is_reported(sleuth: Any, sources: str) -> None:
    done = sleuth("cite", "--sources", sources, "--no-references", stdin="Fast [7] [abc].\n")
    assert (done.exit, done.out) == (0, "Fast [7] [abc].\n")
    assert done.err == "warning: there is no source for [7]\n"


SUMMARY = {
    "summary": [],
    "sources": [
        {"citation": None, "url": "https://gone.org/", "title": "Gone", "summary": []},
        {
            "citation": 1,
            "url": "https://tokio.org/a",
            "title": "Tokio",
            "summary": [{"text": "Tokio is a fast runtime."}],
        },
    ],
}


@pytest.mark.parametrize(
    "document",
    [
        SUMMARY,
        [{"url": "https://tokio.org/a", "title": "Tokio", "text": "Tokio is a fast runtime."}],
        {"results": RESULTS},
        {"sources": [{"url": "https://tokio.org/a", "title": "Tokio", "summary": "Tokio is a fast runtime."}]},
    ],
)
def test_sources_may_come_in_several_forms(sleuth: Any, tmp_path: Path, document: Any) -> None:
    path = write(tmp_path / "sources.json", document)
    done = sleuth("cite", "--sources", path, "--check", "--json", stdin="Tokio is a fast runtime [1].")
    assert done.json["references"] == [
        {"citation": 1, "title": "Tokio", "url": "https://tokio.org/a", "domain": "tokio.org", "round": 1}
    ]
    assert [one["support"] for one in done.json["citations"]] == ["quote_found"]


def test_sources_may_be_urls(sleuth: Any, tmp_path: Path) -> None:
    path = write(tmp_path / "sources.json", ["https://x.org/1", "https://x.org/2"])
    assert "[[2]](https://x.org/2)" in sleuth("cite", "--sources", path, stdin="a [2]").out


def test_check_marks_unsupported_citations(sleuth: Any, sources: str) -> None:
    text = "Tokio is a fast runtime [1]. Bananas are a yellow fruit [2].\n"
    done = sleuth("cite", "--sources", sources, "--check", "--style", "plain", "--no-references", stdin=text)
    assert (done.exit, done.out) == (0, text.replace("[2]", "[2??]"))
    assert done.err == "note: citations: 1 quoted, 1 not found\n"
    found = sleuth("cite", "--sources", sources, "--check", "--style", "json", stdin=text).json
    assert [one["support"] for one in found["citations"]] == ["quote_found", "not_found"]
    assert "[[2??]](https://smol.org/b)" in found["text"]


def test_deep_check_asks_the_model(sleuth: Any, sources: str, model: Any) -> None:
    text = "Tokio is a fast runtime [1]. Bananas are a yellow fruit [2].\n"
    cite = ("cite", "--sources", sources, "--check", "--deep", "--format", "plain", "--no-references")
    done = sleuth(*cite, stdin=text)
    assert (done.exit, "--deep needs a language model" in done.err) == (2, True)
    sleuth.environ |= {name: value for name, value in model.environ.items() if "LLM" in name}
    assert sleuth(*cite, stdin=text).out == text
    model.support = "partly"
    assert sleuth(*cite, stdin=text).out == text.replace("[2]", "[2?]")
    sleuth.environ |= {"SLEUTH_LLM_BASE_URL": model.server.url_for("/gone")}
    done = sleuth(*cite, stdin=text)
    assert done.out == text.replace("[2]", "[2??]")
    assert "1 citation was checked by words only" in done.err


def test_json_lists_citations_without_a_check(sleuth: Any, sources: str) -> None:
    found = sleuth("cite", "--sources", sources, "--json", stdin="a [1, 9] 【2】").json
    assert found["citations"] == [{"citation": 1, "mark": 2}, {"citation": 2, "mark": 9}]
    assert found["outOfRange"] == [9]
    assert [one["citation"] for one in found["references"]] == [1, 2]


def test_terminal_shows_rendered_markdown_with_links_and_marks(sleuth: Any, sources: str) -> None:
    text = "# Tokio\n\n" + "Tokio is **fast** [1]. " + "The moon is made of cheese [2]. " * 3
    done = sleuth("cite", "--check", "--sources", sources, stdin=text, terminal=True, FORCE_COLOR="1")
    shown = re.sub("\x1b(?:\\[[0-9;]*m|\\]8;[^\x1b]*\x1b\\\\)", "", done.out)
    assert "**" not in shown
    assert "# " not in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert re.search("\x1b\\[1;31m\\[2\\?\\?\\]", done.out)  # as `sleuth ask` highlights it
    assert ";https://tokio.org/a\x1b\\" in done.out
    assert "\nReferences\n 1  " in shown
    assert "    https://tokio.org/a\n" in shown


def test_control_sequences_of_the_text_are_dropped(sleuth: Any, sources: str) -> None:
    out = sleuth("cite", "--sources", sources, stdin="\x1b[31mred\x07 [1]\n", terminal=True, NO_COLOR="1").out
    assert out.startswith("[31mred ")
    assert "\x1b" not in sleuth("cite", "--sources", sources, stdin="\x1b]8;;x\x1b\\ [1]").out


@pytest.mark.parametrize(
    "document",
    [
        *(
            "",
            "nonsense",
            "{}",
            "[1]",
            "null",
            '"x"',
            "[" * 100_000,
            '{"results": 5}',
            '[{"title": "x"}]',
            '[{"url": 5}]',
        ),
        *('[{"url": "https://x", "citation": "1"}]', '[{"url": "https://x", "citation": -1}]', "[null]"),
        '[{"url": "https://x", "citation": 5000}]',
        json.dumps(["https://x.org"] * 1000),
    ],
)
def test_invalid_sources_are_errors(sleuth: Any, tmp_path: Path, document: str) -> None:
    done = sleuth("cite", "--sources", write(tmp_path / "bad.json", document), stdin="a [1]")
    assert (done.exit, done.out) == (2, "")
    assert "error: " in done.err
    assert "hint: " in done.err


def test_invalid_command_lines_are_errors(sleuth: Any, sources: str, tmp_path: Path) -> None:
    for words in (
        (),
        ("--sources", "-"),
        ("--sources", str(tmp_path / "missing.json")),
        ("--sources", str(tmp_path)),
        ("--sources", "a\0b"),
        ("--sources", sources, str(tmp_path / "missing.md")),
        ("--sources", sources, "--style", "pdf"),
    ):
        done = sleuth("cite", *words, stdin="a [1]")
        assert (done.exit, done.out) == (2, ""), words
        assert "hint: " in done.err


def test_empty_text_is_allowed(sleuth: Any, tmp_path: Path) -> None:
    done = sleuth("cite", "--sources", write(tmp_path / "none.json", []), "--check", stdin="")
    assert (done.exit, done.out, done.err) == (0, "", "")


def test_help_explains_the_marks(sleuth: Any) -> None:
    assert "[3??]" in sleuth.process("cite", "--help").out


def test_cited_sources_are_written_for_a_bibliography(sleuth: Any, tmp_path: Path) -> None:
    paper = {"title": "Sparse", "url": "https://doi.org/10.1000/a", "doi": "10.1000/a", "authors": ["Ada Example", 7]}
    paper |= {"year": 2026, "venue": "J. Search", "type": "article-journal", "citedBy": "many", "volume": 3}
    path = write(
        tmp_path / "results.json", [paper, {"title": "Not cited", "url": "https://b.example/"}, "https://c.org"]
    )
    done = sleuth("cite", "--sources", path, "-f", "bibtex", stdin="As shown [1][3].\n")
    assert (done.exit, done.err) == (0, "")
    assert "@article{example2026sparse,\n  author = {Ada Example},\n  title = {Sparse}," in done.out
    assert "Not cited" not in done.out
    assert "As shown" not in done.out
    items = json.loads(sleuth("cite", "--sources", path, "-f", "csl-json", stdin="As shown [1].\n").out)
    assert [(item["id"], item["type"], item["DOI"]) for item in items] == [
        ("example2026sparse", "article-journal", "10.1000/a")
    ]
