"""`sleuth library` from end to end: add, search, list, remove, stats."""

import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from sleuth.__main__ import run
from sleuth.runtime import Runtime

pytestmark = pytest.mark.usefixtures("indexed_handbook")
PAPER = Path(__file__).parents[2] / "fixtures" / "files" / "paper.pdf"


class Typed(io.StringIO):
    """Standard input of a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "json.md").write_text(
        "# 在SearXNG里启用JSON\n\n打开settings.yml，在search.formats里加上json，然后重启容器。\n"
    )
    (folder / "tea.txt").write_bytes("茶起源于中国西南部，唐代开始流行，后来这种饮料传到了日本。".encode("gb18030"))
    (folder / "page.html").write_text("<title>Walrus</title><nav>menu</nav><p>The walrus said many things.</p>")
    (folder / "picture.png").write_bytes(b"\x89PNG\0")
    (folder / "broken.txt").write_bytes(b"\0\1\2")
    return folder


def test_added_files_are_found_by_library_search_and_by_search(sleuth: Any, notes: Path) -> None:
    done = sleuth("library", "add", str(notes))
    assert done.exit == 0
    assert done.out == "3 added, 0 updated, 0 unchanged, 2 skipped\n"
    assert "skipped 1: not text (broken.txt)" in done.err
    assert "skipped 1: unsupported file type (picture.png)" in done.err
    found = sleuth("library", "search", "--json", "在SearXNG里启用JSON").json
    assert found["results"][0]["url"] == (notes / "json.md").as_uri()
    assert found["results"][0]["title"] == "在SearXNG里启用JSON"
    assert "settings.yml" in found["results"][0]["snippet"]
    assert found["provider"] == "library"
    assert found["outcome"] == "success"
    assert (
        sleuth("search", "-p", "library", "--json", "唐代的茶").json["results"][0]["url"]
        == (notes / "tea.txt").as_uri()
    )


def test_second_add_reads_only_what_changed(sleuth: Any, notes: Path) -> None:
    sleuth("library", "add", str(notes))
    assert sleuth("library", "add", "--json", str(notes)).json["unchanged"] == 3
    (notes / "page.html").write_text("<title>Carpenter</title><p>The carpenter said nothing at all.</p>")
    (notes / "new.md").write_text("# Oyster\n\nThe eldest oyster.\n")
    document = sleuth("library", "add", "--json", str(notes)).json
    assert {name: document[name] for name in ("added", "updated", "unchanged")} == {
        "added": 1,
        "updated": 1,
        "unchanged": 2,
    }
    assert [os.path.basename(entry["path"]) for entry in document["skipped"]] == ["broken.txt", "picture.png"]
    assert sleuth("library", "search", "--exit-status", "walrus").exit == 7
    assert "Carpenter" in sleuth("library", "search", "carpenter").out


def test_bad_path_adds_nothing_and_says_what_to_do(sleuth: Any, notes: Path) -> None:
    done = sleuth("library", "add", str(notes), str(notes / "nothing.md"))
    assert done.exit == 2
    assert done.out == ""
    assert "error: no such file or folder" in done.err
    assert "hint: " in done.err
    assert sleuth("library", "stats", "--json").json["sources"].keys() == {"handbook"}
    assert sleuth("library", "add", "https://", str(notes)).exit == 2
    assert sleuth("library", "add").exit == 2


def test_handbook_answers_on_a_new_machine_without_network(sleuth: Any) -> None:
    done = sleuth("search", "--offline", "--json", "enable", "json", "in", "searxng")
    assert done.exit == 0
    assert done.json["results"][0]["url"].endswith("searxng.md#enable-json-in-searxng-403-forbidden")
    assert done.json["results"][0]["siteName"].startswith("sleuth handbook · ")


def test_search_shows_the_same_formats_as_search(sleuth: Any) -> None:
    words = ("enable", "json", "in", "searxng")
    assert sleuth("library", "search", "-n", "2", "--format", "urls", *words).out.count("\n") == 2
    assert "Enable JSON in SearXNG" in sleuth("library", "search", *words, terminal=True).out
    assert sleuth("library", "search", "--template", "{rank}", "-n", "3", *words).out == "1\n2\n3\n"
    assert sleuth("library", "search").exit == 2
    first = sleuth("library", "search", "-n", "3", "--format", "urls", *words).out
    second = sleuth("library", "search", "-n", "3", "--page", "2", "--format", "urls", *words).out
    assert not set(first.split()) & set(second.split())


def test_library_search_uses_no_other_provider(sleuth: Any) -> None:
    attempts = sleuth("library", "search", "--json", "walrus").json["attempts"]
    assert [attempt["provider"] for attempt in attempts] == ["library"]


def test_list_is_paged(sleuth: Any, notes: Path) -> None:
    sleuth("library", "add", str(notes))
    document = sleuth("library", "list", "--json", "--source", "file", "--limit", "2").json
    assert document.keys() == {"items", "total", "limit", "offset"}
    assert (document["total"], document["limit"], document["offset"]) == (3, 2, 0)
    assert [entry["url"] for entry in document["items"]] == [
        (notes / name).as_uri() for name in ("json.md", "page.html")
    ]
    assert document["items"][0]["kind"] == "markdown"
    rest = sleuth("library", "list", "--json", "--source", "file", "--limit", "2", "--offset", "2").json
    assert [entry["title"] for entry in rest["items"]] == ["tea"]
    plain = sleuth("library", "list", "--source", "file", "--limit", "1")
    today = time.strftime("%Y-%m-%d")
    assert plain.out == f"在SearXNG里启用JSON\n   added {today} · {(notes / 'json.md').as_uri()}\n"
    assert "more: --offset 1" in plain.err
    assert sleuth("library", "list", "--source", "nowhere").exit == 2


def test_remove_takes_files_folders_and_addresses(sleuth: Any, notes: Path) -> None:
    (notes / "bookmarks.html").write_text(
        '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF="https://example.org/a">A</A>'
        '<DT><A HREF="https://example.org/b">B</A><DT><A HREF="https://example.com/">C</A></DL>'
    )
    sleuth("library", "add", str(notes))
    assert sleuth("library", "remove", str(notes / "json.md")).out == "1 page removed\n"
    assert sleuth("library", "remove", "https://example.org/*", "https://example.com/").out == "3 pages removed\n"
    assert sleuth("library", "remove", str(notes)).out == "2 pages removed\n"
    done = sleuth("library", "remove", str(notes))
    assert done.exit == 2
    assert "not in the library" in done.err
    assert sleuth("library", "stats", "--json").json["sources"].keys() == {"handbook"}


def test_remove_never_takes_the_handbook(sleuth: Any) -> None:
    first = sleuth("library", "list", "--json", "--limit", "1").json["items"][0]["url"]
    assert sleuth("library", "remove", first).exit == 2
    assert sleuth("library", "remove", "--all", "--yes").out == "0 pages removed\n"
    assert sleuth("library", "search", "--exit-status", "searxng").exit == 0


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 3), ("", 3)])
def test_remove_all_asks_for_confirmation(sleuth: Any, notes: Path, answer: str, left: int) -> None:
    sleuth("library", "add", str(notes))
    out, err = io.StringIO(), io.StringIO()
    code = run(Runtime(sleuth.environ, Typed(answer), out, err), ["library", "remove", "--all"])
    assert code == (2 if left else 0)
    assert "Remove everything" in err.getvalue()
    assert sleuth("library", "stats", "--json").json["sources"].get("file", 0) == left


def test_remove_all_needs_yes_without_a_terminal(sleuth: Any, notes: Path) -> None:
    sleuth("library", "add", str(notes))
    assert sleuth("library", "remove", "--all").exit == 2
    assert sleuth("library", "remove").exit == 2
    assert sleuth("library", "remove", "--all", "x").exit == 2
    assert sleuth("library", "stats", "--json").json["sources"]["file"] == 3
    assert sleuth("library", "remove", "--all", "-y").out == "3 pages removed\n"


def test_stats_show_pages_size_and_path(sleuth: Any, notes: Path) -> None:
    sleuth("library", "add", str(notes))
    document = sleuth("library", "stats", "--json").json
    assert document["sources"]["file"] == 3
    assert document["pages"] == 3 + document["sources"]["handbook"]
    assert document["bytes"] > 0
    assert document["maxMegabytes"] == 2000
    assert document["path"] == str(sleuth.home / "data" / "library.db")
    assert "file 3, handbook" in sleuth("library", "stats").out


def test_too_large_a_library_gives_a_warning(sleuth: Any, notes: Path) -> None:
    (notes / "long.txt").write_text(" ".join(f"word{number}" for number in range(150_000)))
    done = sleuth("library", "add", str(notes), SLEUTH_LIBRARY_MAX_MEGABYTES="1")
    assert done.exit == 0
    assert "larger than 1 MB" in done.err


def test_progress_is_shown_on_a_terminal_only(sleuth: Any, notes: Path) -> None:
    out, err = io.StringIO(), Typed()
    assert run(Runtime(sleuth.environ, io.StringIO(), out, err), ["library", "add", str(notes)]) == 0
    assert out.getvalue() == "3 added, 0 updated, 0 unchanged, 2 skipped\n"
    assert "\x1b[" in err.getvalue()
    assert "\x1b[" not in sleuth("library", "add", str(notes)).err


def test_names_and_titles_cannot_steer_the_terminal(sleuth: Any, tmp_path: Path) -> None:
    folder = tmp_path / "evil"
    folder.mkdir()
    (folder / "a\x1b[31m\nb.txt").write_text("walrus \x1b]0;title\x07")
    (folder / "c\x1b[2J.png").write_text("x")
    (folder / "t.html").write_text("<title>\x1b[31mred\u202e</title><p>carpenter \x9b31m")
    done = sleuth("library", "add", str(folder))
    shown = done.out + done.err + sleuth("library", "list", "--source", "file").out
    shown += sleuth("library", "search", "walrus").out + sleuth("library", "search", "carpenter").out
    assert not set(shown) & set("\x1b\x07\x9b\u202e")


def test_hostile_files_are_added_and_found(sleuth: Any, tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    (folder / "line.txt").write_text("walrus " + "x" * 3_000_000)
    (folder / "deep.html").write_text("<div>" * 50_000 + "carpenter")
    (folder / "marks.txt").write_text("oyster" + "\u0301" * 100_000)
    done = sleuth("library", "add", str(folder))
    assert done.exit == 0
    assert "only the first 2000000 characters are indexed" in done.err
    for word in ("walrus", "carpenter", "oyster"):
        assert sleuth("library", "search", "--exit-status", word).exit == 0


def test_pdf_files_are_found_by_words_and_author(sleuth: Any, notes: Path) -> None:
    (notes / "paper.pdf").write_bytes(PAPER.read_bytes())
    (notes / "torn.pdf").write_bytes(PAPER.read_bytes()[:300])
    done = sleuth("library", "add", str(notes))
    assert done.out == "4 added, 0 updated, 0 unchanged, 3 skipped\n"
    assert "skipped 1: the PDF is damaged (torn.pdf)" in done.err
    for words in ("quantities of sand", "dodgson"):
        found = sleuth("library", "search", "--json", words).json["results"][0]
        assert (found["title"], found["url"]) == ("On walruses", (notes / "paper.pdf").as_uri())


def article(name: str) -> str:
    words = "".join(
        f"<p>Paragraph {number} about {name}, long enough to be taken for one.</p>" for number in range(300)
    )
    return f"<html lang=en><head><title>The {name}</title></head><body><article>{words}</article></body></html>"


@pytest.fixture
def web(httpserver: HTTPServer, sleuth: Any) -> Callable[[str], str]:
    """A site with a page for every animal, one that is gone, and one that has moved."""
    for name in ("walrus", "oyster", "whiting"):
        httpserver.expect_request(f"/{name}").respond_with_data(article(name), content_type="text/html; charset=utf-8")
    httpserver.expect_request("/paper").respond_with_data(PAPER.read_bytes(), content_type="application/pdf")
    httpserver.expect_request("/gone").respond_with_data("no", 404)
    httpserver.expect_request("/moved").respond_with_data("", 302, headers={"Location": "/oyster"})
    sleuth.environ |= {
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "SLEUTH_FETCH_JINA": "false",
        "SLEUTH_FETCH_ARCHIVE": "false",
        "SLEUTH_FETCH_TIMEOUT": "120",  # for busy machines
    }
    return lambda name: httpserver.url_for(f"/{name}")


def bookmarks(folder: Path, *urls: str) -> Path:
    path = folder / "bookmarks.html"
    links = "".join(f'<DT><A HREF="{url}">{url[-6:]}</A>' for url in urls)
    path.write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><H3>Seaside</H3><DL>{links}</DL></DL>")
    return path


def kinds(sleuth: Any) -> dict[str, int]:
    sources = sleuth("library", "stats", "--json").json["sources"]
    return {name: count for name, count in sources.items() if name != "handbook"}


def test_web_pages_are_read_and_found_again(sleuth: Any, web: Callable[[str], str], notes: Path) -> None:
    done = sleuth("library", "add", web("walrus"), str(notes / "json.md"), web("paper"), web("gone"))
    assert done.exit == 0
    assert done.out == "3 added, 0 updated, 0 unchanged, 1 skipped\n"
    assert f"(HTTP 404) ({web('gone')})" in done.err
    assert kinds(sleuth) == {"file": 1, "page": 2}
    found = sleuth("search", "--offline", "--json", "walrus").json["results"][0]
    assert (found["url"], found["title"]) == (web("walrus"), "The walrus")
    assert sleuth("library", "search", "--json", "paragraph 299 about walrus").json["results"][0]["url"] == web(
        "walrus"
    )
    assert sleuth("library", "search", "--json", "quantities of sand").json["results"][0]["url"] == web("paper")


def test_refresh_reads_a_web_page_again(sleuth: Any, web: Callable[[str], str], httpserver: HTTPServer) -> None:
    sleuth("library", "add", web("walrus"))
    assert sleuth("library", "add", "--json", web("walrus")).json == {
        "added": 0,
        "updated": 0,
        "unchanged": 1,
        "skipped": [],
    }
    assert len(httpserver.log) == 1
    assert sleuth("library", "add", "--refresh", web("walrus")).out == "0 added, 0 updated, 1 unchanged, 0 skipped\n"
    assert len(httpserver.log) == 2
    httpserver.clear()
    httpserver.expect_request("/walrus").respond_with_data(article("seal"), content_type="text/html")
    assert sleuth("library", "add", "--refresh", web("walrus")).out == "0 added, 1 updated, 0 unchanged, 0 skipped\n"


def test_failed_page_is_reported_with_its_reason(sleuth: Any, web: Callable[[str], str]) -> None:
    done = sleuth("library", "add", "--json", web("gone"))
    assert done.exit == 1
    assert done.json["skipped"][0]["path"] == web("gone")
    assert "404" in done.json["skipped"][0]["reason"]
    done = sleuth("library", "add", web("walrus"), SLEUTH_FETCH_ALLOW_PRIVATE="false")
    assert done.exit == 1
    assert "private address" in done.err


def test_redirected_page_is_stored_under_the_url_that_was_given(sleuth: Any, web: Callable[[str], str]) -> None:
    assert sleuth("library", "add", web("moved")).exit == 0
    assert sleuth("library", "list", "--json", "--source", "page").json["items"][0]["url"] == web("moved")
    assert sleuth("library", "remove", web("moved")).out == "1 page removed\n"


def test_stored_text_is_kept_when_a_page_is_read_in_part(sleuth: Any, web: Callable[[str], str]) -> None:
    sleuth("library", "add", web("walrus"))
    size = sleuth("library", "list", "--json", "--source", "page").json["items"][0]["size"]
    assert size > 10_000
    sleuth("summarize", "--refresh", web("walrus"))
    assert sleuth("library", "list", "--json", "--source", "page").json["items"][0]["size"] == size


def test_fetch_reads_bookmarked_pages(
    sleuth: Any, web: Callable[[str], str], notes: Path, httpserver: HTTPServer
) -> None:
    path = bookmarks(notes, web("walrus"), web("oyster"), web("gone"))
    assert sleuth("library", "add", str(path)).out == "3 added, 0 updated, 0 unchanged, 0 skipped\n"
    assert (kinds(sleuth), httpserver.log) == ({"bookmark": 3}, [])
    done = sleuth("library", "add", "--fetch", str(path))
    assert done.out == "0 added, 2 updated, 1 unchanged, 1 skipped\n"
    assert kinds(sleuth) == {"bookmark": 3}, "those that were read are bookmarks, too"
    assert sleuth("library", "search", "--json", "paragraph about oyster").json["results"][0]["url"] == web("oyster")
    sleuth("summarize", "--refresh", web("walrus"))
    assert web("walrus") in sleuth("library", "search", "--format", "urls", "seaside").out
    requests = len(httpserver.log)
    assert sleuth("library", "add", "--fetch", str(path)).out == "0 added, 0 updated, 3 unchanged, 1 skipped\n"
    assert len(httpserver.log) == requests + 1  # the one that failed
    assert sleuth("library", "add", "--fetch", "--refresh", str(path)).exit == 0
    assert len(httpserver.log) == requests + 4


def test_interrupted_reading_keeps_what_was_read(
    sleuth: Any, web: Callable[[str], str], lone_server: HTTPServer
) -> None:
    stuck, free = threading.Event(), threading.Event()

    def hang(request: Any) -> Response:
        stuck.set()
        free.wait(20)
        return Response("")

    lone_server.expect_request("/stuck").respond_with_handler(hang)
    path = bookmarks(sleuth.home.parent, web("walrus"), web("oyster"), lone_server.url_for("/stuck"), web("whiting"))
    process = subprocess.Popen(
        [sys.executable, "-m", "sleuth", "library", "add", "--fetch", "--json", str(path)],
        env=sleuth.environ | {"SLEUTH_FETCH_CONCURRENCY": "1", "SLEUTH_FETCH_TIMEOUT": "30"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert stuck.wait(30)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    free.set()
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert json.loads(out)["added"] == 4
    items = sleuth("library", "list", "--json", "--source", "bookmark").json["items"]
    assert sorted(item["kind"] for item in items) == ["bookmark", "bookmark", "html", "html"]


def test_progress_of_reading_is_shown_on_a_terminal(sleuth: Any, web: Callable[[str], str]) -> None:
    out, err = io.StringIO(), Typed()
    assert run(Runtime(sleuth.environ, io.StringIO(), out, err), ["library", "add", web("walrus"), web("oyster")]) == 0
    assert "reading 0/2" in err.getvalue()


@pytest.mark.parametrize("at", [1e300, -1e300, "x", b"\x00"])
def test_values_of_a_damaged_library_are_listed(sleuth: Any, notes: Path, at: Any) -> None:
    sleuth("library", "add", str(notes))
    with closing(sqlite3.connect(sleuth.home / "data" / "library.db")) as database, database:
        database.execute("UPDATE page SET modified = ?1, added_at = ?1, size = ?1, title = ?1, site = ?1", (at,))
    assert sleuth("library", "list", "--source", "file").exit == 0
    assert len(sleuth("library", "list", "--json", "--source", "file").json["items"]) == 3


def test_list_shows_when_a_page_was_read(sleuth: Any, web: Callable[[str], str]) -> None:
    sleuth("summarize", web("walrus"))
    entry = sleuth("library", "list", "--json", "--source", "page").json["items"][0]
    assert entry["published"] is None
    for name in ("addedAt", "readAt"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry[name])
    assert (
        sleuth("library", "list", "--json", "--limit", "1", "--source", "handbook").json["items"][0]["readAt"] is None
    )
    today = time.strftime("%Y-%m-%d")
    assert sleuth("library", "list", "--source", "page").out == f"The walrus\n   read {today} · {web('walrus')}\n"


def test_help_shows_examples(sleuth: Any) -> None:
    done = sleuth.process("library", "--help")
    assert done.exit == 0
    assert all(name in done.out for name in ("add", "search", "list", "remove", "stats"))
    assert "Example" in sleuth.process("library", "add", "--help").out


def test_yaml_in_the_handbook_keeps_its_indentation(sleuth: Any) -> None:
    found = sleuth("search", "-p", "library", "--content", "--json", "-n", "3", "enable json in searxng").json
    assert any("search:\n  formats:\n    - html\n    - json" in hit["content"] for hit in found["results"])


def test_own_documents_come_before_the_handbook_and_can_be_searched_alone(sleuth: Any, tmp_path: Path) -> None:
    (tmp_path / "runtimes.md").write_text("# Runtimes\n\nTokio is large, smol is the smallest runtime.\n")
    assert sleuth("library", "add", str(tmp_path / "runtimes.md")).exit == 0
    urls = [hit["url"] for hit in sleuth("library", "search", "--json", "smallest", "runtime").json["results"]]
    assert urls[0].endswith("/runtimes.md")
    assert len(urls) > 1  # the handbook quotes these words
    for source, expected in (("own", 1), ("file", 1), ("page", 0)):
        found = sleuth("library", "search", "--json", "--source", source, "smallest", "runtime").json["results"]
        assert len(found) == expected, source
    found = sleuth("library", "search", "--json", "--source", "handbook", "smallest", "runtime").json["results"]
    assert not any(hit["url"].endswith("/runtimes.md") for hit in found)
    # A word that occurs in a note does not hide the section that answers the question.
    (tmp_path / "note.md").write_text("# Note\n\nsend the json file to Bob\n")
    sleuth("library", "add", str(tmp_path / "note.md"))
    assert "Enable JSON" in sleuth("library", "search", "-n", "1", "enable", "json", "in", "searxng").out


def test_list_begins_with_own_documents_and_names_the_next_page_if_there_is_one(sleuth: Any, tmp_path: Path) -> None:
    (tmp_path / "zebra.md").write_text("# Zebra\n\nStripes.\n")
    sleuth("library", "add", str(tmp_path / "zebra.md"))
    done = sleuth("library", "list", "--limit", "1")
    assert done.out.startswith("Zebra\n")
    assert "more: --offset 1" in done.err
    total = sleuth("library", "list", "--json").json["total"]
    assert "more" not in sleuth("library", "list", "--offset", str(total - 3)).err


def test_document_is_shown_by_path_and_url(sleuth: Any, tmp_path: Path) -> None:
    path = tmp_path / "zebra.md"
    path.write_text("# Zebra\n\n```\nif x:\n    y\n```\n")
    sleuth("library", "add", str(path))
    for target in (str(path), path.as_uri()):
        assert "if x:\n    y" in sleuth("library", "show", target).out
    assert sleuth("library", "show", "--json", str(path)).json["title"] == "Zebra"
    done = sleuth("library", "show", "nothing.md")
    assert done.exit == 2
    assert "not in the library" in done.err
