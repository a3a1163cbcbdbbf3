"""`sleuth library` from end to end: add, search, list, remove, stats."""

import io
import os
from pathlib import Path
from typing import Any

import pytest

from sleuth.__main__ import run
from sleuth.runtime import Runtime


class Typed(io.StringIO):
    """What somebody types at a terminal."""

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
    assert "skipped 1: not a kind of file that can be read (picture.png)" in done.err
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
    assert "error: there is no file or folder" in done.err
    assert "hint: " in done.err
    assert sleuth("library", "stats", "--json").json["sources"].keys() == {"handbook"}
    assert sleuth("library", "add", "https://example.org/").exit == 2
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


def test_nobody_but_the_library_is_asked(sleuth: Any) -> None:
    attempts = sleuth("library", "search", "--json", "walrus").json["attempts"]
    assert [attempt["provider"] for attempt in attempts] == ["library"]


def test_no_words_of_a_query_are_read_as_syntax(sleuth: Any) -> None:
    for query in ('"', "json*", "NEAR(json", "title:json", "json AND", "json) OR (x", "-- -json"):
        done = sleuth("library", "search", "--json", "--", query)
        assert done.exit == 0, query
        assert "error" not in done.err


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
    assert plain.out == f"在SearXNG里启用JSON\n   {(notes / 'json.md').as_uri()}\n"
    assert "more: --offset 1" in plain.err
    assert sleuth("library", "list", "--source", "nowhere").exit == 2


def test_remove_takes_files_folders_and_addresses(sleuth: Any, notes: Path) -> None:
    (notes / "bookmarks.html").write_text(
        '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF="https://example.org/a">A</A>'
        '<DT><A HREF="https://example.org/b">B</A><DT><A HREF="https://example.com/">C</A></DL>'
    )
    sleuth("library", "add", str(notes))
    assert sleuth("library", "remove", str(notes / "json.md")).out == "1 pages removed\n"
    assert sleuth("library", "remove", "https://example.org/*", "https://example.com/").out == "3 pages removed\n"
    assert sleuth("library", "remove", str(notes)).out == "2 pages removed\n"
    done = sleuth("library", "remove", str(notes))
    assert done.exit == 2
    assert "nothing of that name" in done.err
    assert sleuth("library", "stats", "--json").json["sources"].keys() == {"handbook"}


def test_remove_never_takes_the_handbook(sleuth: Any) -> None:
    first = sleuth("library", "list", "--json", "--limit", "1").json["items"][0]["url"]
    assert sleuth("library", "remove", first).exit == 2
    assert sleuth("library", "remove", "--all", "--yes").out == "0 pages removed\n"
    assert sleuth("library", "search", "--exit-status", "searxng").exit == 0


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 3), ("", 3)])
def test_removing_everything_asks_first(sleuth: Any, notes: Path, answer: str, left: int) -> None:
    sleuth("library", "add", str(notes))
    out, err = io.StringIO(), io.StringIO()
    code = run(Runtime(sleuth.environ, Typed(answer), out, err), ["library", "remove", "--all"])
    assert code == (2 if left else 0)
    assert "Remove everything" in err.getvalue()
    assert sleuth("library", "stats", "--json").json["sources"].get("file", 0) == left


def test_removing_everything_needs_a_word_where_nobody_can_be_asked(sleuth: Any, notes: Path) -> None:
    sleuth("library", "add", str(notes))
    assert sleuth("library", "remove", "--all").exit == 2
    assert sleuth("library", "remove").exit == 2
    assert sleuth("library", "remove", "--all", "x").exit == 2
    assert sleuth("library", "stats", "--json").json["sources"]["file"] == 3
    assert sleuth("library", "remove", "--all", "-y").out == "3 pages removed\n"


def test_stats_tell_pages_size_and_place(sleuth: Any, notes: Path) -> None:
    sleuth("library", "add", str(notes))
    document = sleuth("library", "stats", "--json").json
    assert document["sources"]["file"] == 3
    assert document["pages"] == 3 + document["sources"]["handbook"]
    assert document["bytes"] > 0
    assert document["maxMegabytes"] == 2000
    assert document["path"] == str(sleuth.home / "data" / "library.db")
    assert "file 3, handbook" in sleuth("library", "stats").out


def test_too_large_a_library_is_warned_of(sleuth: Any, notes: Path) -> None:
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
    assert "only its first 2000000 characters are searched" in done.err
    for word in ("walrus", "carpenter", "oyster"):
        assert sleuth("library", "search", "--exit-status", word).exit == 0


def test_help_shows_examples(sleuth: Any) -> None:
    done = sleuth.process("library", "--help")
    assert done.exit == 0
    assert all(name in done.out for name in ("add", "search", "list", "remove", "stats"))
    assert "Example" in sleuth.process("library", "add", "--help").out
