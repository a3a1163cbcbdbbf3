"""Process start and exit: runs a command line and turns any exception into a message and an exit status."""

import os
import sys

from sleuth import __version__
from sleuth.base import process

TYPE_CHECKING = False  # importing typing costs more than --version takes; see CONTRIBUTING
if TYPE_CHECKING:
    from sleuth.base.errors import SleuthError
    from sleuth.commands.fast.parser import CommandLine
    from sleuth.runtime import Runtime

MIN_LIKENESS = 0.75  # of a word that may be a misspelt command
CANNOT_REPORT = b"""error: sleuth cannot run here, and cannot report why
hint: free some memory, raise the limit of open files, or install sleuth again
"""


def start() -> None:
    """Run the command line of this process, then end the process."""
    process.leave(main())


def main(arguments: list[str] | None = None) -> int:
    """Run a command line in this process and return its exit status."""
    try:
        return run(None, sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # while another exception was being reported
        return process.INTERRUPTED
    finally:
        process.ignore_interrupts()


def run(runtime: "Runtime | None", arguments: list[str]) -> int:
    """Run a command line and return its exit status; the only catch-all.

    Without a runtime this is the real process: its streams and signals are set up, and the fast path is tried first.
    """
    is_process = runtime is None
    try:
        arguments = _with_usual_flags(arguments)
        if runtime is None:
            process.set_up()
            if (text := _ready_text(arguments)) is not None:
                sys.stdout.write(text)
                sys.stdout.flush()
                return 0
        from sleuth.commands.fast.parser import CommandLine, print_rendered

        command_line = CommandLine(arguments)
        if runtime is None:
            if print_rendered(command_line, os.environ, sys.stdout, sys.stderr):
                return 0
            from sleuth.base import tracing
            from sleuth.runtime import Runtime

            runtime = Runtime()
            tracing.start()
        return _execute(runtime, command_line)
    except BrokenPipeError:
        process.silence(runtime.stdout if runtime else sys.stdout)
        return 0
    except (Exception, KeyboardInterrupt) as problem:
        return _report(runtime, problem, exit_soon=is_process)
    finally:
        if runtime is not None:
            _close(runtime)


def _with_usual_flags(arguments: list[str]) -> list[str]:
    """Replace `help COMMAND`, `version` and -V by --help and --version; `help me …` is a search."""
    if arguments in (["version"], ["-V"]):
        return ["--version"]
    if arguments[:1] == ["help"]:
        from sleuth.commands import COMMANDS

        if not arguments[1:] or arguments[1] in COMMANDS:
            return [*arguments[1:], "--help"]
    return arguments


def _ready_text(arguments: list[str]) -> str | None:
    """Return output that needs no command: the version, generated help, completions.

    This comes before parsing, because the parser imports the declarations of all search options.
    """
    if arguments == ["--version"]:
        return f"sleuth {__version__}\n"
    if arguments[:1] == ["--complete"]:
        from sleuth.commands.fast.complete import complete

        return complete(arguments[1:], os.environ)
    from sleuth.commands.fast.help import help_text

    return help_text(arguments)


def _execute(runtime: "Runtime", command_line: "CommandLine") -> int:
    from contextlib import suppress

    from sleuth.base import i18n, logs
    from sleuth.base.errors import SleuthError
    from sleuth.commands.fast.parser import SIMPLE_FLAGS
    from sleuth.store.settings import UI_LANGUAGE, Settings

    runtime.json_errors, runtime.debug = command_line.wants_json, command_line.has("--debug")
    runtime.quiet, runtime.pager = command_line.has("--quiet", "-Q"), not command_line.has("--no-pager")
    i18n.set_language(runtime.environ.get("SLEUTH_UI_LANGUAGE") or "auto", runtime.environ)
    logs.configure(runtime.paths.state, runtime.debug)
    with suppress(SleuthError):  # a command that needs the settings reports why they cannot be read
        i18n.set_language(Settings(runtime.paths.config_file, runtime.environ)[UI_LANGUAGE], runtime.environ)
    command_line.check_values()
    misspelt = command_line.is_implicit and _misspelt_command(runtime, command_line.first_words())
    if command_line.search is not None and set(command_line.global_flags) <= set(SIMPLE_FLAGS):
        from sleuth.commands.search import search
        from sleuth.engine.search_options import SearchOptions

        key = command_line.rendered_key(runtime.environ, runtime.stdout, runtime.stderr) if not misspelt else None
        status = search(runtime, SearchOptions(**command_line.search), key)
    else:
        from sleuth.commands import app

        status = app.run(runtime, [*command_line.global_flags, *command_line.words])
    runtime.stdout.flush()
    return status


def _misspelt_command(runtime: "Runtime", words: list[str]) -> bool:
    """Print a note if the first word of a search resembles a command; refuse `confg set` and `help confg`."""
    from difflib import get_close_matches

    from sleuth.base.errors import RequestError
    from sleuth.base.i18n import tr
    from sleuth.commands import COMMANDS
    from sleuth.commands.fast.help import FOLDER

    is_help = words[0] == "help" and len(words) == 2  # more words are a search
    word = words[1] if is_help else words[0]
    near = get_close_matches(word, COMMANDS, 1, MIN_LIKENESS)
    subcommand = f"sleuth-{near[0]}-{words[1]}.txt" if near and words[1:] else ""
    if is_help or (subcommand and os.path.isfile(os.path.join(FOLDER, "en", subcommand))):
        message = "unknown command {name}; did you mean {near}?" if near else "unknown command {name}"
        hint = "to search for these words: sleuth search {first} …"
        raise RequestError(message, hint, name=word, near="".join(near), first=words[0])
    if word.startswith(("http://", "https://")):
        runtime.note(tr("to read a page: sleuth read URL"))
    if near:
        runtime.note(tr("searching for {word!r}; did you mean: sleuth {near}", word=word, near=near[0]))
    return bool(near)


def _report(runtime: "Runtime | None", problem: BaseException, *, exit_soon: bool) -> int:
    """Print the error for an exception and return its exit status."""
    interrupted = isinstance(problem, KeyboardInterrupt) or process.was_interrupted(problem)
    if interrupted and runtime is None:
        return process.INTERRUPTED
    try:
        if runtime is None:
            from sleuth.runtime import Runtime

            runtime = Runtime()
        if interrupted:
            if exit_soon:
                process.exit_soon()
            print(file=runtime.stderr)
        elif runtime.debug:
            _print_traceback(runtime, problem)
        error = _error_for(runtime, problem, interrupted)
        runtime.show_error(error)
        return process.INTERRUPTED if interrupted else error.exit
    except Exception:  # out of memory or file handles, or a damaged installation
        os.write(2, CANNOT_REPORT)
        return 1


def _error_for(runtime: "Runtime", problem: BaseException, interrupted: bool) -> "SleuthError":
    from sleuth.base import logs, os_errors
    from sleuth.base.errors import RequestError, SleuthError

    if interrupted:
        return SleuthError("interrupted", code="INTERRUPTED")
    if isinstance(problem, SleuthError):
        return problem
    if isinstance(problem, UnicodeEncodeError):  # bytes of a command line or file name that are not valid text
        text = ascii(problem.object[problem.start : problem.start + 10])
        return RequestError("the command line is not valid UTF-8: {text}", "use UTF-8", text=text)
    logs.log("unexpected: %r", problem)
    if type(problem).__module__ == "sqlite3" and isinstance(problem, Exception):  # that no store has handled
        from sleuth.store.database import database_error

        return database_error(runtime.paths.database, problem)
    return os_errors.explain(problem) or SleuthError(
        "unexpected error ({kind})", "run it again with --debug and report the output", kind=type(problem).__name__
    )


def _print_traceback(runtime: "Runtime", problem: BaseException) -> None:
    import traceback

    from sleuth.base import logs

    for line in "".join(traceback.format_exception(problem)).rstrip().splitlines():
        print(logs.safe(line), file=runtime.stderr)


def _close(runtime: "Runtime") -> None:
    from sleuth.base import tracing

    try:
        runtime.close()
        tracing.stop()
        runtime.stdout.flush()
    except OSError:  # reported already, or stdout is a closed pipe
        process.silence(runtime.stdout)
    except (Exception, KeyboardInterrupt) as problem:
        from sleuth.base import logs

        logs.log("while closing: %r", problem)


if __name__ == "__main__":
    start()
