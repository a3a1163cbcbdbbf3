"""`sleuth handbook`: the chapters that come with sleuth, in the terminal."""

import re
from typing import Any

from sleuth.doctor.finding import catalogue


def test_chapters_are_listed(sleuth: Any) -> None:
    done = sleuth("handbook")
    assert done.exit == 0
    assert re.search(r"^searxng +SearXNG: deployment", done.out, re.MULTILINE)
    chapters = sleuth("handbook", "--json").json["chapters"]
    assert {"chapter", "title", "sections"} == set(chapters[0])


def test_chapter_and_section_are_found_by_name(sleuth: Any) -> None:
    chapter = sleuth("handbook", "SearXNG").out
    assert chapter.startswith("# SearXNG: deployment")
    for topic in ("searxng#enable-json-in-searxng-403-forbidden", "Enable JSON in SearXNG (403 Forbidden)"):
        section = sleuth("handbook", topic).out
        assert section.startswith("## Enable JSON in SearXNG")
        assert "search:\n  formats:\n    - html\n    - json" in section
        assert section in chapter


def test_words_find_the_best_section(sleuth: Any) -> None:
    done = sleuth("handbook", "crontab", "entry")
    assert done.out.startswith("## Use sleuth in cron")
    assert sleuth("handbook", "--json", "cron").json["chapter"] == "scripting"
    done = sleuth("handbook", "sercxng")
    assert done.exit == 2
    assert "did you mean: sleuth handbook searxng" in done.err


def test_doctor_names_commands_that_show_the_section(sleuth: Any) -> None:
    for link in catalogue()["links"].values():
        anchor = link.partition("#")[2]
        sections = sleuth("handbook", "--json", link.replace(".md", "")).json["sections"]
        assert not anchor or [section["anchor"] for section in sections] == [anchor], link
    assert "handbook: sleuth handbook searxng" in sleuth("doctor", "--only", "searxng", "http://127.0.0.1:1").out


def test_terminal_shows_no_markup(sleuth: Any) -> None:
    out = sleuth("--color", "never", "handbook", "cron", terminal=True).out
    assert "Use sleuth in cron" in out
    assert "##" not in out
