"""`sleuth handbook`: read the built-in handbook."""

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from sleuth.base.errors import RequestError
from sleuth.base.i18n import tr
from sleuth.base.json_output import write_json
from sleuth.commands.terminal import display
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.library.handbook import Section, anchor, handbook_folder, split_chapter
from sleuth.runtime import Runtime

app = make_app()

MAX_ALSO = 2  # other sections that are named
EPILOG = """Examples:\n
\b
  sleuth handbook
  sleuth handbook searxng
  sleuth handbook enable json
  sleuth handbook scripting#use-sleuth-in-cron
"""

Chapters = dict[str, list[Section]]  # by the name of the file


@app.command(epilog=EPILOG)
def handbook(
    runtime: Runtime,
    topic: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC…]", help="Chapter, section, or words to search for.", show_default=False),
    ] = None,
    as_json: Json = False,
) -> None:
    """Read the handbook: the chapter or section that best matches TOPIC; without TOPIC, list the chapters."""
    chapters = _chapters()
    if not topic:
        _show_contents(runtime, chapters, as_json)
        return
    wanted = " ".join(topic)
    name, section = _find(chapters, wanted) or _search(runtime, chapters, wanted)
    parts = [section] if section else chapters[name]
    if as_json:
        sections = [_heading_as_json(part) | {"content": part.body} for part in parts]
        write_json({"chapter": name, "title": chapters[name][0].title, "sections": sections}, runtime.stdout)
        return
    text = "\n\n".join(f"## {part.title}\n\n{part.body}" for part in parts)
    display.deliver_markdown(runtime, text if section else text.removeprefix("#"))


def _chapters() -> Chapters:
    folder = handbook_folder()
    if folder is None:
        hint = "check the installation: sleuth doctor --only install.library"
        raise RequestError("the handbook is not installed", hint)
    return {path.stem: split_chapter(path.read_text("utf-8")) for path in sorted(Path(folder).glob("*.md"))}


def _show_contents(runtime: Runtime, chapters: Chapters, as_json: bool) -> None:
    if as_json:
        items = [
            {"chapter": name, "title": parts[0].title, "sections": [_heading_as_json(part) for part in parts[1:]]}
            for name, parts in chapters.items()
        ]
        write_json({"chapters": items}, runtime.stdout)
        return
    width = max(map(len, chapters))
    for name, parts in chapters.items():
        print(f"{name:<{width}}  {parts[0].title}", file=runtime.stdout)
    runtime.note(tr("to read one: sleuth handbook NAME; to look for words: sleuth handbook WORDS…"))


def _heading_as_json(section: Section) -> dict[str, str]:
    return {"anchor": section.anchor, "title": section.title}


def _find(chapters: Chapters, topic: str) -> tuple[str, Section | None] | None:
    """Return the chapter, and the section if one is named: searxng, searxng.md, searxng#anchor, or a heading."""
    name, hash, place = topic.lower().partition("#")
    name = name.removesuffix(".md")
    if name in chapters and not hash:
        return name, None
    names = [name] if name in chapters else [] if hash else list(chapters)
    heading = place if hash else anchor(topic)
    found = ((chapter, section) for chapter in names for section in chapters[chapter] if section.anchor == heading)
    return next(found, None)


def _search(runtime: Runtime, chapters: Chapters, topic: str) -> tuple[str, Section]:
    """Return the section that fits some words best, and name others."""
    runtime.library.source = "handbook"
    results = runtime.library.search(topic.replace("#", " "), MAX_ALSO + 1)
    links = [result.url.rpartition("/")[2].replace(".md", "", 1) for result in results]
    found = [place for link in links if (place := _find(chapters, link))]
    if not found or found[0][1] is None:
        near = get_close_matches(topic.lower(), chapters, 1)
        hint = "did you mean: sleuth handbook {near}" if near else "to list the chapters: sleuth handbook"
        raise RequestError("the handbook has nothing about {topic!r}", hint, topic=topic, near="".join(near))
    if len(links) > 1:
        runtime.note(tr("see also: {links}", links=", ".join(f"sleuth handbook {link}" for link in links[1:])))
    return found[0][0], found[0][1]
