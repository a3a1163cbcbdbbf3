"""Where sleuth starts and ends: builds the Runtime, runs the app, turns any error into two lines and an exit code."""

import os
import sys

from sleuth import __version__

TYPE_CHECKING = False  # typing itself is not free, and --version does without
if TYPE_CHECKING:
    from sleuth.runtime import Runtime

VERSION = f"sleuth {__version__}\n"


def main(arguments: list[str] | None = None) -> int:
    """Run sleuth and return its exit code."""
    os.umask(0o077)
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments == ["--version"]:  # answered before anything is imported
        sys.stdout.write(VERSION)
        return 0
    _mend_streams()
    from sleuth.desk import help_text

    if text := help_text(arguments):
        sys.stdout.write(text)
        return 0
    from sleuth.runtime import Runtime

    return run(Runtime(), arguments)


def run(runtime: "Runtime", arguments: list[str]) -> int:
    """Run one command line in a Runtime; the only catch-all of the house."""
    from sleuth import language, logs
    from sleuth.errors import Exit, SleuthError

    runtime.json_errors = wants_json(arguments)
    runtime.debug = "--debug" in arguments
    language.choose(runtime.environ.get("SLEUTH_UI_LANGUAGE") or "auto", runtime.environ)
    logs.configure(runtime.paths.state, runtime.debug)
    try:
        return _run(runtime, arguments)
    except SleuthError as error:
        if runtime.debug:
            _traceback(runtime)
        runtime.complain(error)
        return error.exit
    except KeyboardInterrupt:
        print(file=runtime.stderr)
        runtime.complain(SleuthError("interrupted", code="INTERRUPTED"))
        return Exit.INTERRUPTED
    except BrokenPipeError:
        _silence(runtime)
        return Exit.DONE
    except Exception as problem:
        return _surprise(runtime, problem)
    finally:
        _close(runtime)


def _run(runtime: "Runtime", arguments: list[str]) -> int:
    from sleuth import desk
    from sleuth.errors import Exit

    flags, words = hoist(arguments)
    if flags in ([], ["--debug"]) and (code := desk.answer(runtime, words)) is not None:
        return code
    result = _run_typer(runtime, [*flags, *words])
    if result == Exit.INTERRUPTED:  # how Typer hands on Ctrl-C
        raise KeyboardInterrupt
    runtime.stdout.flush()
    return result if isinstance(result, int) else Exit.DONE


def _run_typer(runtime: "Runtime", arguments: list[str]) -> object:
    from typer.exceptions import Abort

    from sleuth import app
    from sleuth.errors import Exit, RequestError

    try:
        return app.run(runtime, arguments)
    except Abort as problem:
        raise KeyboardInterrupt from problem
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


def _surprise(runtime: "Runtime", problem: Exception) -> int:
    from sleuth.errors import Exit, SleuthError

    if runtime.debug:
        _traceback(runtime)
    from sleuth import logs

    logs.log("unexpected: %r", problem)
    error = SleuthError(
        "something unexpected went wrong ({kind})",
        "run it again with --debug and report it",
        kind=type(problem).__name__,
    )
    runtime.complain(error)
    return Exit.FAILED


def _traceback(runtime: "Runtime") -> None:
    import traceback

    from sleuth import logs

    for line in traceback.format_exc().rstrip().splitlines():
        print(logs.safe(line), file=runtime.stderr)


def _close(runtime: "Runtime") -> None:
    try:
        runtime.close()
        runtime.stdout.flush()
    except BrokenPipeError:
        _silence(runtime)
    except (Exception, KeyboardInterrupt) as problem:
        from sleuth import logs

        logs.log("while closing: %r", problem)


def _silence(runtime: "Runtime") -> None:
    """Let nothing more be written to a pipe nobody reads, not even by the interpreter on its way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), runtime.stdout.fileno())
    except (OSError, ValueError):
        return


def _mend_streams() -> None:
    """Make the three streams usable whatever they are: closed ones lead nowhere, none fails on a character."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            handle = os.open(os.devnull, os.O_RDWR)
            if handle != number:
                os.dup2(handle, number)
            mode = "r" if number == 0 else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - lives as long as we do
        elif number and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
