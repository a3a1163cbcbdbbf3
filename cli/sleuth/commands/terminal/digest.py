"""Showing what pages say: written by a model where there is one, else in their own sentences."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sleuth.answers import presentation
from sleuth.answers.answer import ProgressEvent
from sleuth.answers.citations import CitedSource, without_source
from sleuth.answers.digest import Digest, digest_as_json
from sleuth.answers.support import tally
from sleuth.base.i18n import tr
from sleuth.commands.terminal import display
from sleuth.commands.terminal.answer import AnswerOptions
from sleuth.commands.terminal.progress import Progress
from sleuth.runtime import Runtime
from sleuth.store.settings import UI_THEME

if TYPE_CHECKING:
    from sleuth.answers.llm.chat import Models
    from sleuth.commands.terminal.screen import Screen
    from sleuth.pages.page import Page


def show(
    runtime: Runtime,
    found: Digest,
    pages: "Sequence[Page]",
    manner: AnswerOptions,
    models: "Models | None",
    length: str | int,
) -> None:
    """Show a digest of pages, written by a model where one is given."""
    if models is not None:
        found = _written(runtime, found, pages, manner, models, length)
        runtime.count_answer(found)
    if not (found.text and manner.format == "rich" and not manner.output):  # it is not on the screen yet
        _write(runtime, found, manner)
    for warning in found.warnings:
        runtime.warn(warning)
    if found.out_of_range:
        runtime.warn(without_source(found.out_of_range))
    if found.checks and manner.format != "json":
        runtime.note(tally(found.checks))


def _written(
    runtime: Runtime,
    found: Digest,
    pages: "Sequence[Page]",
    manner: AnswerOptions,
    models: "Models",
    length: str | int,
) -> Digest:
    """Have a digest written, on a terminal before the user's eyes, and return it."""
    from sleuth.answers.summaries import write_digest

    count = len(found.read)
    with Progress(runtime, manner.progress) as progress:
        message = tr("Summing up {count} pages", count=count)
        progress.follow(ProgressEvent("web_search_extracting", message, counts={"total": count}))
        if manner.format != "rich" or manner.output:
            return write_digest(found, pages, models, runtime.settings, _ignore, length)
        screen = _screen(runtime, found, pages, models.writer.name)

        def write(piece: str) -> None:
            progress.clear()
            screen.stream.write(piece)

        with screen.stream:
            heard = write if runtime.stdout.isatty() else _ignore
            written = write_digest(found, pages, models, runtime.settings, heard, length)
            progress.clear()
            if written.text:
                _settle(screen, written)
        return written


def _screen(runtime: Runtime, found: Digest, pages: "Sequence[Page]", model: str) -> "Screen":
    from sleuth.commands.terminal.screen import Screen

    screen = Screen(runtime, runtime.stdout)
    texts = {page.url: page.text for page in pages}
    screen.learn(tuple(CitedSource(one.citation, one.url, one.title, texts[one.url]) for one in found.read))
    screen.stream.heading = presentation.digest_heading(found, model)
    return screen


def _settle(screen: "Screen", found: Digest) -> None:
    overall, *each = presentation.digest_parts(found, "markdown")
    screen.settle(found.text, overall)
    screen.stream.finish(each)
    screen.list(screen.sources, [source.citation for source in screen.sources], tr("Sources"))


def _write(runtime: Runtime, found: Digest, manner: AnswerOptions) -> None:
    from sleuth.base.json_output import write_json
    from sleuth.render.digest import render_markdown, render_plain, render_rich

    out = io.StringIO() if manner.output or manner.format != "rich" else runtime.stdout
    if manner.format == "json":
        write_json(digest_as_json(found), out)
    elif found.text:
        out.write(presentation.digest_as_text(found, "plain" if manner.format == "rich" else manner.format))
    elif manner.format == "rich":
        render_rich(found, out, runtime.color, runtime.settings[UI_THEME])
    else:
        (render_markdown if manner.format == "markdown" else render_plain)(found, out)
    if isinstance(out, io.StringIO):
        display.deliver(runtime, out.getvalue(), manner.output)


def _ignore(_: str) -> None:
    """Wait for the whole text."""
