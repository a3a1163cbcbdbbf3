"""Shows a digest of pages: written by a model if there is one, else quoted."""

from collections.abc import Callable

from sleuth.answers import presentation
from sleuth.answers.answer import ProgressEvent
from sleuth.answers.citation_check import tally
from sleuth.answers.llm.chat import Models
from sleuth.answers.summary import Digest, digest_as_json, write_digest
from sleuth.base.i18n import trn
from sleuth.base.json_output import json_text
from sleuth.commands.terminal import display
from sleuth.commands.terminal.answer import AnswerOptions, print_warnings
from sleuth.commands.terminal.progress import Progress
from sleuth.commands.terminal.screen import Screen
from sleuth.runtime import Runtime


def show(runtime: Runtime, found: Digest, options: AnswerOptions, models: Models | None, length: str | int) -> None:
    """Show a digest, written by a model if one is given, and streamed if it is shown on a terminal."""
    with Progress(runtime, options.progress) as progress:
        if options.format == "rich":
            with Screen(runtime, progress, options.output) as screen:
                screen.set_sources(found.pages)
                screen.stream.heading = found.heading(models.writer.name) if models else ""
                found = _written(runtime, found, models, length, progress, screen.write)
                _finish(screen, found)
        else:
            found = _written(runtime, found, models, length, progress, lambda _: None)
            text = json_text(digest_as_json(found), indent=2) + "\n" if options.format == "json" else ""
            display.deliver(runtime, text or presentation.digest_as_text(found, options.format), options.output)
    print_warnings(runtime, found)
    if found.checks and options.format != "json":
        runtime.note(tally(found.checks))


def _written(
    runtime: Runtime,
    found: Digest,
    models: Models | None,
    length: str | int,
    progress: Progress,
    write: Callable[[str], None],
) -> Digest:
    """Return the digest with a text by the model, if there is one."""
    if models is None:
        return found
    message = trn("Summarising {count} page", "Summarising {count} pages", len(found.read))
    progress.follow(ProgressEvent("web_search_extracting", message, counts={"total": len(found.read)}))
    found = write_digest(found, models, runtime.settings, write, length)
    progress.clear()
    runtime.count_answer(found)
    return found


def _finish(screen: Screen, found: Digest) -> None:
    """Replace the streamed text by the finished digest, and list its sources."""
    screen.set_sources(found.pages)
    screen.stream.heading = found.heading(found.model)
    overall, *each = presentation.digest_parts(found, "markdown")
    screen.replace(found.text, overall)
    screen.stream.finish(each)
    screen.list(found.pages, ())
