"""Where sleuth starts and ends: builds the Runtime, runs the app, turns any error into two lines and an exit code."""

import gc
import os
import sys

from sleuth import __version__
from sleuth.base import process

TYPE_CHECKING = False  # typing itself is not free, and --version does without
if TYPE_CHECKING:
    from collections.abc import Callable

    from sleuth.base.errors import SleuthError
    from sleuth.runtime import Runtime

VERSION = f"sleuth {__version__}\n"
LAST_WORDS = b"""error: sleuth cannot work here, and cannot say why
hint: free some memory, let it open more files, or install it anew
"""


def start() -> None:
    """Run sleuth as the program this process is for."""
    process.leave(main())


def main(arguments: list[str] | None = None) -> int:
    """Run sleuth and return its exit code."""
    try:
        gc.set_threshold(10_000)  # a search makes little garbage, and looking for it takes time
        os.umask(0o077)
        process.harden_streams()
        process.handle_interrupts()
        return _main(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        return process.INTERRUPTED
    except BrokenPipeError:
        process.silence(sys.stdout)
        return 0
    except Exception as problem:
        if process.was_interrupted(problem):
            return process.INTERRUPTED
        os.write(2, LAST_WORDS)  # not even a complaint could be made
        return 1
    finally:
        process.ignore_interrupts()


def _main(arguments: list[str]) -> int:
    try:
        if _lies_ready(arguments):
            return 0
        from sleuth.runtime import Runtime
    except BrokenPipeError:
        raise
    except (OSError, EOFError) as problem:
        from sleuth.runtime import Runtime

        runtime = Runtime()
        try:
            return _surprise(runtime, problem)
        finally:
            _close(runtime)
    return run(Runtime(), arguments, process.exit_soon)


def _lies_ready(arguments: list[str]) -> bool:
    """Write what takes no work, and tell whether that was all: the version, help, an answer written out before."""
    text = VERSION if arguments == ["--version"] else None
    if text is None:
        from sleuth.commands.fast import parser

        text = parser.help_text(arguments)
        if text is None:
            return parser.print_rendered(arguments, os.environ, sys.stdout, sys.stderr)
    sys.stdout.write(text)
    sys.stdout.flush()
    return True


def run(runtime: "Runtime", arguments: list[str], when_interrupted: "Callable[[], None] | None" = None) -> int:
    """Run one command line in a Runtime; the only catch-all of the house."""
    from sleuth.base.errors import Exit, SleuthError

    try:
        return _prepare_and_run(runtime, arguments)
    except SleuthError as error:
        if runtime.debug:
            _traceback(runtime)
        runtime.show_error(error)
        return error.exit
    except KeyboardInterrupt:
        return _interrupted(runtime, when_interrupted)
    except BrokenPipeError:
        process.silence(runtime.stdout)
        return Exit.DONE
    except UnicodeEncodeError as problem:
        return _not_text(runtime, problem)
    except Exception as problem:
        if process.was_interrupted(problem):
            return _interrupted(runtime, when_interrupted)
        return _surprise(runtime, problem)
    finally:
        _close(runtime)


def _interrupted(runtime: "Runtime", when_interrupted: "Callable[[], None] | None") -> int:
    from sleuth.base.errors import Exit, SleuthError

    if when_interrupted:
        when_interrupted()
    print(file=runtime.stderr)
    runtime.show_error(SleuthError("interrupted", code="INTERRUPTED"))
    return Exit.INTERRUPTED


def _prepare_and_run(runtime: "Runtime", arguments: list[str]) -> int:
    from sleuth.base import i18n, logs

    runtime.json_errors = wants_json(arguments)
    runtime.debug = "--debug" in arguments
    i18n.set_language(runtime.environ.get("SLEUTH_UI_LANGUAGE") or "auto", runtime.environ)
    logs.configure(runtime.paths.state, runtime.debug)
    code = _run(runtime, arguments)
    runtime.stdout.flush()
    return code


def _run(runtime: "Runtime", arguments: list[str]) -> int:
    from sleuth.base.errors import Exit
    from sleuth.commands.fast import parser

    flags, words = hoist(arguments)
    if flags in ([], ["--debug"]) and (code := parser.run_search(runtime, words)) is not None:
        return code
    result = _run_typer(runtime, [*flags, *words])
    if result == Exit.INTERRUPTED:  # how Typer hands on Ctrl-C
        raise KeyboardInterrupt
    return result if isinstance(result, int) else Exit.DONE


def _run_typer(runtime: "Runtime", arguments: list[str]) -> object:
    from typer.exceptions import Abort

    from sleuth.base.errors import Exit, RequestError
    from sleuth.commands import app

    try:
        return app.run(runtime, arguments)
    except Abort as problem:  # also how Typer takes an end of data, be it of the compiled code of a module
        raise problem.__cause__ or KeyboardInterrupt from None
    except SystemExit as problem:  # how Typer takes a pipe that nobody reads
        raise BrokenPipeError from problem
    except Exception as problem:
        usage = getattr(problem, "format_message", None)
        if usage is None:
            raise
        context = getattr(problem, "ctx", None)
        if context and type(problem).__name__ == "NoArgsIsHelpError":  # a group by itself: show what it has
            print(context.get_help(), file=runtime.stdout)
            return Exit.DONE
        path = context.command_path if context else "sleuth"
        raise RequestError("{usage}", "see: {path} --help", usage=usage().strip().rstrip("."), path=path) from problem


def hoist(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Part global flags, which may stand anywhere before a `--`, from the rest."""
    front, rest = [], []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word == "--debug" or word.startswith("--color="):
            front.append(word)
        elif word == "--color":
            front += [word, *[value for value in [next(words, None)] if value is not None]]
        else:
            rest.append(word)
    return front, rest


def wants_json(arguments: list[str]) -> bool:
    """Tell whether errors should be JSON, even when the command line cannot be read."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    named = [after for word, after in zip(before, before[1:], strict=False) if word in ("--format", "-f")]  # noqa: RUF007 - itertools is one import more
    return "--json" in before or "--format=json" in before or "json" in named


def _not_text(runtime: "Runtime", problem: UnicodeEncodeError) -> int:
    """Complain of bytes that came from a command line or a file name and are text in no encoding we know."""
    from sleuth.base.errors import RequestError

    if runtime.debug:
        _traceback(runtime)
    said = ascii(problem.object[problem.start : problem.start + 10])
    error = RequestError("what was typed is not all text: {said}", "type it in UTF-8", said=said)
    runtime.show_error(error)
    return error.exit


def _surprise(runtime: "Runtime", problem: Exception) -> int:
    """Complain of what nobody foresaw: an accident of the machine, or a fault of ours."""
    from sleuth.base import logs, os_errors
    from sleuth.base.errors import SleuthError

    if runtime.debug:
        _traceback(runtime)
    logs.log("unexpected: %r", problem)
    error = os_errors.explain(problem) or _of_the_database(runtime, problem)
    error = error or SleuthError(
        "something unexpected went wrong ({kind})",
        "run it again with --debug and report it",
        kind=type(problem).__name__,
    )
    runtime.show_error(error)
    return error.exit


def _of_the_database(runtime: "Runtime", problem: Exception) -> "SleuthError | None":
    """Return the error for what went wrong with the one database whose troubles are not told where they arise."""
    if type(problem).__module__ != "sqlite3":
        return None
    from sleuth.store.database import database_error

    return database_error(runtime.paths.database, problem)


def _traceback(runtime: "Runtime") -> None:
    import traceback

    from sleuth.base import logs

    for line in traceback.format_exc().rstrip().splitlines():
        print(logs.safe(line), file=runtime.stderr)


def _close(runtime: "Runtime") -> None:
    try:
        runtime.close()
        runtime.stdout.flush()
    except OSError:  # it was said already, or nobody reads on
        process.silence(runtime.stdout)
    except (Exception, KeyboardInterrupt) as problem:
        from sleuth.base import logs

        logs.log("while closing: %r", problem)


if __name__ == "__main__":
    start()
