"""Shows a digest of pages: written by a model if there is one, else quoted."""

import io
from contextlib import nullcontext
from typing import TYPE_CHECKING, TextIO

from sleuth.answers import presentation
from sleuth.answers.answer import ProgressEvent
from sleuth.answers.citation_check import tally
from sleuth.answers.summary import Digest, digest_as_json, write_digest
from sleuth.base.i18n import tr, trn
from sleuth.base.json_output import json_text
from sleuth.commands.terminal import display
from sleuth.commands.terminal.answer import AnswerOptions, print_warnings
from sleuth.commands.terminal.progress import Progress
from sleuth.commands.terminal.screen import Screen
from sleuth.runtime import Runtime

if TYPE_CHECKING:
    from sleuth.answers.llm.chat import Models


def show(runtime: Runtime, found: Digest, options: AnswerOptions, models: "Models | None", length: str | int) -> None:
    """Show a digest, written by a model if one is given, and streamed if it is shown on a terminal."""
    out: TextIO = io.StringIO() if options.output or options.format != "rich" else runtime.stdout
    screen = Screen(runtime, out) if options.format == "rich" else None
    with Progress(runtime, options.progress) as progress, screen.stream if screen else nullcontext():

        def write(piece: str) -> None:
            if screen and out.isatty():
                progress.clear()
                screen.stream.write(piece)

        if models is not None:
            if screen:
                screen.set_sources(found.pages)
                screen.stream.heading = found.heading(models.writer.name)
            message = trn("Summarising {count} page", "Summarising {count} pages", len(found.read))
            progress.follow(ProgressEvent("web_search_extracting", message, counts={"total": len(found.read)}))
            found = write_digest(found, models, runtime.settings, write, length)
            progress.clear()
            runtime.count_answer(found)
        if screen:
            _finish(screen, found)
        elif options.format == "json":
            out.write(json_text(digest_as_json(found), indent=2) + "\n")
        else:
            out.write(presentation.digest_as_text(found, options.format))
    if isinstance(out, io.StringIO):
        display.deliver(runtime, out.getvalue(), options.output)
    print_warnings(runtime, found)
    if found.checks and options.format != "json":
        runtime.note(tally(found.checks))


def _finish(screen: Screen, found: Digest) -> None:
    """Replace the streamed text by the finished digest, and list its sources."""
    screen.set_sources(found.pages)
    screen.stream.heading = found.heading(found.model)
    overall, *each = presentation.digest_parts(found, "markdown")
    screen.replace(found.text, overall)
    screen.stream.finish(each)
    screen.list(found.pages, [source.citation for source in found.pages], tr("Sources"))
