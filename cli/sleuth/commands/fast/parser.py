"""Reads the command line, once: global flags, the words of the command and, for a plain search, its options.

Importing Typer takes longer than a cached search, so plain searches are parsed here, from the same declarations that
the Typer command is built from. A property test checks that both parse any command line alike. Everything else, and
whatever may be an error, goes to Typer.
"""

from sleuth.base.process import terminal_lines
from sleuth.commands import COMMANDS, is_option
from sleuth.engine.search_options import OPTIONS, POSITIONAL, RENDERED, OptionSpec
from sleuth.store.cache import rendered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

    from sleuth.store.cache.rendered import RenderedKey

# Flag → its option, and the value of a flag that takes none.
FLAGS: "dict[str, tuple[OptionSpec, bool]]" = {
    flag: (spec, flag not in spec.negative) for spec in OPTIONS.values() for flag in (*spec.flags, *spec.negative)
}


# Flags of every command, allowed anywhere before a --; the first ones need no Typer.
SIMPLE_FLAGS = ("--debug", "--quiet", "-Q", "--no-pager")
GLOBAL_FLAGS = (*SIMPLE_FLAGS, "--no-color")
FORMAT_ALIASES = {"md": "markdown", "url": "urls"}


class CommandLine:
    """One parsed command line."""

    def __init__(self, arguments: list[str]) -> None:
        self.global_flags: list[str] = []
        self.words: list[str] = []  # everything else
        self.wants_json = False  # decided here because errors must be JSON even if the rest cannot be parsed
        self._split(arguments)
        self.is_implicit = is_search(self.words)  # the word `search` is missing
        if self.is_implicit:
            self.words.insert(0, "search")
        self.search = parse_search(self.words[1:]) if self.words[:1] == ["search"] else None

    def has(self, *flags: str) -> bool:
        """Whether one of some global flags was given."""
        return any(flag in self.global_flags for flag in flags)

    def _split(self, arguments: list[str]) -> None:
        remaining = iter(arguments)
        previous = ""
        for word in remaining:
            if word == "--":
                self.words += [word, *remaining]
            elif word in GLOBAL_FLAGS or word.startswith("--color="):
                self.global_flags.append(word)
            elif word == "-" and previous in ("--output", "-o"):  # standard output, as without the option
                self.words.pop()
            elif word == "--color":
                self.global_flags += [word, *[value for value in [next(remaining, None)] if value is not None]]
            elif word not in ("--output=-", "-o-"):
                flag, equals, value = word.partition("=") if word.startswith("--format=") else (previous, "", word)
                if flag in ("--format", "-f"):
                    value = FORMAT_ALIASES.get(value, value)
                    word = f"{flag}={value}" if equals else value
                self.wants_json |= word == "--json" or (value == "json" and flag in ("--format", "-f"))
                self.words.append(word)
            previous = word

    def check_values(self) -> None:
        """Raise RequestError for --limit, which was ambiguous, and for an option in place of a value."""
        if self.words[:1] != ["search"]:
            return
        from sleuth.base.errors import RequestError

        for word, value in zip(self.words[1:], [*self.words[2:], ""], strict=False):
            if word == "--":
                return
            if word.partition("=")[0] == "--limit":  # a number of results in other commands
                hint = "for the number of results use -n N, for the size of page text --content-limit N"
                raise RequestError("search has no option --limit", hint)
            if word in FLAGS and FLAGS[word][0].kind != "flag" and value in FLAGS:
                message = "{option} needs a value; {value} is an option"
                raise RequestError(message, "see: sleuth search --help", option=word, value=value)

    def first_words(self) -> list[str]:
        """Return the words of an implicit search, or the first one after its options: a command may have been meant."""
        if not is_option(self.words[1]):
            return self.words[1:]
        return [*(self.search or {}).get(POSITIONAL, ())][:1] or [""]

    def rendered_key(self, environ: "Mapping[str, str]", out: "TextIO", err: "TextIO") -> "RenderedKey | None":
        """Return the key of a rendered answer; None if this command line must not have one."""
        if self.search is None or self.global_flags or not self.search.keys() <= RENDERED:
            return None
        if self.search.get(POSITIONAL) == ("-",):  # standard input
            return None
        return rendered.make_key(self.search, environ, out, err)


def is_search(words: list[str]) -> bool:
    """Whether a command line that names no command is a search: `sleuth rust async`, `sleuth -n 3 rust`."""
    if not words or words[0] in COMMANDS or words == ["--"]:
        return False
    return words[0].partition("=")[0] in FLAGS or not is_option(words[0])


def print_rendered(command_line: CommandLine, environ: "Mapping[str, str]", out: "TextIO", err: "TextIO") -> bool:
    """Print the rendered answer to a command line and return True; return False without one."""
    key = command_line.rendered_key(environ, out, err)
    if key is None or (found := rendered.load(key)) is None:
        return False
    from sleuth.store.journal import append_search

    text, messages, journal_line = found
    if out.isatty() and text.count("\n") >= terminal_lines():  # for the pager
        return False
    out.write(text)
    out.flush()
    err.write(messages)
    append_search(key.paths.journal, journal_line)
    return True


def parse_search(words: list[str]) -> "dict[str, Any] | None":
    """Return the options of a search by name; None for anything that Typer might reject or read differently."""
    values: dict[str, Any] = {}
    positional: list[str] = []
    remaining = iter(words)
    for word in remaining:
        if word == "--":
            positional += remaining
        elif not is_option(word):
            positional.append(word)
        else:
            flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", None)
            spec, is_on = FLAGS.get(flag, (None, True))
            if spec is None or (spec.kind == "flag" and equals):
                return None
            if spec.kind == "flag":
                values[spec.name] = is_on
                continue
            if not equals:
                value = next(remaining, None)
                if value is None or (value in FLAGS and value != "-"):
                    return None
            converted = _convert(spec, value or "")
            if converted is None:
                return None
            values[spec.name] = (*values.get(spec.name, ()), converted) if spec.kind == "texts" else converted
    if positional:
        values[POSITIONAL] = tuple(positional)
    return values


def _convert(spec: "OptionSpec", text: str) -> "str | float | None":
    """Return the value of an option; None if it is invalid."""
    if spec.choices:
        return text if text in spec.choices else None
    if spec.range is None:
        return text
    try:
        number = int(text) if spec.kind == "int" else float(text)
    except ValueError:
        return None
    low, high = spec.range
    return number if low <= number <= high and text.isascii() and "_" not in text else None  # nan is in no range
