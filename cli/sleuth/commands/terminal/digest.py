"""Shows a digest of pages: written by a model if there is one, else quoted."""

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sleuth.answers import presentation
from sleuth.answers.answer import ProgressEvent
from sleuth.answers.citation_check import tally
from sleuth.answers.citations import CitedSource, without_source
from sleuth.answers.summary import Digest, digest_as_json, write_digest
from sleuth.base.i18n import tr, trn
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
    options: AnswerOptions,
    models: "Models | None",
    length: str | int,
) -> None:
    """Show a digest of pages, written by a model if one is given."""
    if models is not None:
        found = _written(runtime, found, pages, options, models, length)
        runtime.count_answer(found)
    if not (found.text and options.format == "rich" and not options.output):  # else it is on the screen already
        _write(runtime, found, options)
    for warning in found.warnings:
        runtime.warn(warning)
    if found.out_of_range:
        runtime.warn(without_source(found.out_of_range))
    if found.checks and options.format != "json":
        runtime.note(tally(found.checks))


def _written(
    runtime: Runtime,
    found: Digest,
    pages: "Sequence[Page]",
    options: AnswerOptions,
    models: "Models",
    length: str | int,
) -> Digest:
    """Return the digest as written by the model, streamed to the terminal if there is one."""
    count = len(found.read)
    with Progress(runtime, options.progress) as progress:
        message = trn("Summarising {count} page", "Summarising {count} pages", count)
        progress.follow(ProgressEvent("web_search_extracting", message, counts={"total": count}))
        if options.format != "rich" or options.output:
            return write_digest(found, pages, models, runtime.settings, _ignore, length)
        screen = _screen(runtime, found, pages, models.writer.name)

        def write(piece: str) -> None:
            progress.clear()
            screen.stream.write(piece)

        with screen.stream:
            on_piece = write if runtime.stdout.isatty() else _ignore
            written = write_digest(found, pages, models, runtime.settings, on_piece, length)
            progress.clear()
            if written.text:
                overall, *each = presentation.digest_parts(written, "markdown")
                screen.replace(written.text, overall)
                screen.stream.finish(each)
                screen.list(screen.sources, [source.citation for source in screen.sources], tr("Sources"))
        return written


def _screen(runtime: Runtime, found: Digest, pages: "Sequence[Page]", model: str) -> "Screen":
    from sleuth.commands.terminal.screen import Screen

    screen = Screen(runtime, runtime.stdout)
    texts = {page.url: page.text for page in pages}
    screen.set_sources(tuple(CitedSource(one.citation, one.url, one.title, texts[one.url]) for one in found.read))
    screen.stream.heading = found.heading(model)
    return screen


def _write(runtime: Runtime, found: Digest, options: AnswerOptions) -> None:
    from sleuth.base.json_output import write_json
    from sleuth.render.digest import render_markdown, render_plain, render_rich

    out = io.StringIO() if options.output or options.format != "rich" else runtime.stdout
    if options.format == "json":
        write_json(digest_as_json(found), out)
    elif found.text:
        out.write(presentation.digest_as_text(found, "plain" if options.format == "rich" else options.format))
    elif options.format == "rich":
        render_rich(found, out, runtime.color, runtime.settings[UI_THEME])
    else:
        (render_markdown if options.format == "markdown" else render_plain)(found, out)
    if isinstance(out, io.StringIO):
        display.deliver(runtime, out.getvalue(), options.output)


def _ignore(_: str) -> None:
    """Discard a piece; the whole text is written at the end."""
