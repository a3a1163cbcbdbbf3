"""The command tree and the global flags. A command's module is imported when that command is used."""

import importlib
import re
from typing import Annotated, Any, Literal

import typer
from typer.exceptions import Abort
from typer.main import get_command

from sleuth import __version__
from sleuth.base.errors import Exit, RequestError
from sleuth.commands import COMMANDS
from sleuth.commands.terminal.typer_app import HelpGroup, make_app
from sleuth.runtime import Runtime
from sleuth_providers.translatable import Translatable

# Typer's messages and ours; the first pattern that matches wins.
USAGE_ERRORS = (
    ("Missing command", "no command given"),
    ("Missing argument {name}. Choose from:\n\t{names}", "missing argument {name}: one of {names}"),
    ("Missing argument {name}", "missing argument {name}"),
    ("Missing option {name}", "missing option {name}"),
    ("No such command {name}. Did you mean {near}?", "unknown command {name}; did you mean {near}?"),
    ("No such command {name}", "unknown command {name}"),
    ("No such option: {name} (Possible options: {near})", "unknown option {name}; similar: {near}"),
    ("No such option: {name} Did you mean {near}?", "unknown option {name}; did you mean {near}?"),
    ("No such option: {name}", "unknown option {name}"),
    ("Option {name} does not take a value", "{name} does not take a value"),
    ("Option {name} requires an argument", "{name} needs a value"),
    ("Got unexpected extra argument{s}({words})", "unexpected argument: {words}"),
    (
        "Invalid value for {name}: {value} is not in the range x>={least}",
        "{name} must be at least {least}, not {value}",
    ),
    ("Invalid value for {name}: {value} is not in the range {range}", "{name} must be {range}, not {value}"),
    ("Invalid value for {name}: {value} is not one of {names}", "{name} must be one of {names}, not {value}"),
    ("Invalid value for {name}: {value} is not a valid int{range}", "{name} must be a whole number, not {value}"),
    ("Invalid value for {name}: {value} is not a valid {type}", "{name} must be a number, not {value}"),
    ("Invalid value for {name}: {reason}", "invalid value for {name}: {reason}"),
)


EPILOG = """Without a command, sleuth searches the web: sleuth rust async. More: man sleuth, or sleuth handbook.

Examples:\n
\b
  sleuth rust async runtimes
  sleuth search -p searxng,wikipedia -n 10 ada lovelace
  sleuth ask which rust async runtime is smallest
  sleuth help search
"""


class CommandTree(HelpGroup):
    """Lists commands without importing them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Import a command's module and return the command."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"sleuth.commands.{cmd_name.replace('-', '_')}")
        command = module.typer_command() if hasattr(module, "typer_command") else get_command(module.app)
        command.name = cmd_name
        return command


app = make_app(
    name="sleuth",
    cls=CommandTree,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    epilog=EPILOG,
)


@app.callback()
def main(
    ctx: typer.Context,
    color: Annotated[
        Literal["auto", "always", "never"], typer.Option(help="Use colour: auto (terminals only), always or never.")
    ] = "auto",
    no_color: Annotated[bool, typer.Option("--no-color", help="Short for --color never.")] = False,
    no_pager: Annotated[bool, typer.Option("--no-pager", help="Do not show long output in a pager.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-Q", help="Do not print notes and warnings.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Print log messages and full tracebacks on stderr.")] = False,
    version: Annotated[bool, typer.Option("--version", "-V", help="Show the version and exit.")] = False,
) -> None:
    """Search the web from the command line: many providers, one ranked list, numbered citations."""
    runtime: Runtime = ctx.obj
    runtime.color, runtime.debug = "never" if no_color else color, debug
    runtime.pager, runtime.quiet = not no_pager, quiet
    if version:
        print(f"sleuth {__version__}", file=runtime.stdout)
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        print(ctx.get_help(), file=runtime.stdout)


def run(runtime: Runtime, arguments: list[str]) -> int:
    """Parse a command line, run its command and return the exit status; Typer's own exceptions become ours."""
    runtime.brief_help = "-h" in arguments
    try:
        status = get_command(app).main(arguments, prog_name="sleuth", standalone_mode=False, obj=runtime)
    except Abort as problem:  # raised for KeyboardInterrupt and EOFError
        raise problem.__cause__ or KeyboardInterrupt from None
    except SystemExit as problem:  # raised for a closed pipe
        raise BrokenPipeError from problem
    except Exception as problem:
        if not hasattr(problem, "format_message"):
            raise
        return _handle_usage_error(runtime, problem, arguments)
    if status == Exit.INTERRUPTED:
        raise KeyboardInterrupt
    return status if isinstance(status, int) else Exit.DONE


def _handle_usage_error(runtime: Runtime, problem: Any, arguments: list[str]) -> int:
    context = getattr(problem, "ctx", None)
    if context and type(problem).__name__ == "NoArgsIsHelpError":  # a group without a command shows its help
        print(context.get_help(), file=runtime.stdout)
        return Exit.DONE
    command = next((word for word in arguments if word in COMMANDS), "")
    path = context.command_path if context else f"sleuth {command}".rstrip()
    usage = problem.format_message().strip().rstrip(".").replace(".0 is not in the range", " is not in the range")
    is_query = usage.startswith(("No such command", "Invalid value")) and "Did you mean" not in usage
    usage = _translatable(re.sub(r"([\d.]{1,20})<=x<=([\d.]{1,20})", r"\1–\2", usage))
    hint = "see: {path} --help"
    if type(problem).__name__ == "NoSuchOption" and path == "sleuth search":
        hint = "see: {path} --help; for words that begin with -, put -- before them"
    elif is_query and len(arguments) > 2 and not any(word.startswith("-") for word in arguments):
        hint = "see: {path} --help; to search for these words: sleuth search {name} …"
    raise RequestError("{usage}", hint, usage=usage, path=path, name=command) from problem


def _translatable(usage: str) -> str:
    """Return a message of Typer, which exists in English only, in our words and with its template."""
    for theirs, ours in USAGE_ERRORS:
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(theirs))
        if found := re.fullmatch(pattern, usage, re.DOTALL):
            values = found.groupdict()
            values["name"] = values.get("name", "").partition(" / ")[0].strip("'[]…")
            return Translatable(ours, **values)
    return usage
