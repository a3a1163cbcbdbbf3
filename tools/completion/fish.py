"""The completion script of fish: a `complete` line an option, each in force after its own command only."""

from collections.abc import Iterable, Iterator

from tools.command_tree import FILE, FOLDER, KEYS, PROVIDERS, SETTING, Command, Option, Tree, Values
from tools.completion import GENERATED, opposite

TEMPLATE = r"""# fish completion for sleuth
# @generated@

# Read the words before the cursor: the command they name, and the arguments after it.
function __sleuth_read
    set -l words (commandline -opc)
    test "$words" = "$__sleuth_words"; and return
    set -g __sleuth_words $words
    set -g __sleuth_command sleuth
    set -g __sleuth_arguments
    set -l ended
    set -l value
    for word in $words[2..]
        if set -q value[1]
            set -e value[1]
        else if not set -q ended[1]; and test "$word" = --
            set ended 1
        else if not set -q ended[1]; and string match -q -- '-?*' $word
            __sleuth_takes_value "$__sleuth_command $word"; and set value 1
        else if not set -q __sleuth_arguments[1]; and contains -- $word (__sleuth_commands)
            set __sleuth_command "$__sleuth_command $word"
        else
            set -a __sleuth_arguments $word
        end
    end
end

# Is the cursor after this command, and so many arguments?
function __sleuth_at
    __sleuth_read
    test "$__sleuth_command" = "$argv[1]"; or return
    set -q argv[2]; or return 0
    test (count $__sleuth_arguments) -eq $argv[2]
end

function __sleuth_commands
    switch $__sleuth_command
@commands@
    end
end

function __sleuth_takes_value
    switch $argv[1]
@valued@
        case '*'
            return 1
    end
end

# The ids in the user's table; those that come with sleuth when it does not answer in time.
function __sleuth_providers
    set -l ids
    if command -q timeout
        set ids (timeout 2 sleuth providers list --ids 2>/dev/null </dev/null)
    else
        set ids (command sleuth providers list --ids 2>/dev/null </dev/null)
    end
    set -q ids[1]; or set ids @providers@
    printf '%s\n' $argv $ids
end

# Complete the last of a list with commas from the words given; a list names nobody twice.
function __sleuth_list
    set -l typed (commandline -ct | string replace -r -- '^(--[^=]*=|-[A-Za-z])' '')
    set -l chosen (string split -- , $typed)[1..-2]
    for word in $argv
        contains -- $word $chosen; or string join -- , $chosen $word
    end
end

function __sleuth_folders
    __fish_complete_directories (commandline -ct | string replace -r -- '^--[^=]*=' '') ''
end

function __sleuth_keys
    printf '%s\t%s\n' @keys@
end

# What the setting before the cursor takes.
function __sleuth_setting
    switch "$__sleuth_arguments[1]"
@settings@
    end
end

complete -c sleuth -f
@lines@
"""


def script(tree: Tree) -> str:
    """Return the script."""
    commands = list(tree.root.walk())
    keys = [f"{_quote(key.name)} {_quote(key.meaning)}" for key in tree.keys]
    names = ((command.path, [each.name for each in command.commands]) for command in commands)
    parts = {
        "generated": GENERATED,
        "commands": _cases((_quote(path), f"printf '%s\\n' {' '.join(below)}") for path, below in names if below),
        "valued": _cases((" ".join(flags), "return 0") for flags in _valued(commands, tree) if flags),
        "providers": " ".join(tree.providers),
        "keys": " \\\n        ".join(keys),
        "settings": _cases((key.name, _call(key.completes)) for key in tree.keys if _call(key.completes)),
        "lines": "\n".join(_lines(commands, tree)),
    }
    text = TEMPLATE
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _cases(cases: Iterable[tuple[str, str]]) -> str:
    return "\n".join(f"        case {pattern}\n            {do}" for pattern, do in cases)


def _valued(commands: list[Command], tree: Tree) -> Iterator[list[str]]:
    """Give the options that take a value, with the command they belong to."""
    yield [_quote(f"* {flag}") for option in tree.anywhere if not option.is_flag for flag in option.flags]
    for command in commands:
        options = [option for option in command.options if not option.is_flag and option not in tree.anywhere]
        yield [_quote(f"{command.path} {flag}") for option in options for flag in option.flags]


def _lines(commands: list[Command], tree: Tree) -> Iterator[str]:
    for option in tree.anywhere:
        yield from _option("", option)
    for command in commands:
        for each in command.commands:
            yield f"{_after(command.path, 0)} -a {each.name} -d {_quote(each.short)}"
        for option in command.options:
            if option not in tree.anywhere:
                yield from _option(_after(command.path), option)
        for number, argument in enumerate(command.arguments):
            if offer := _offer(argument.completes):
                yield f"{_after(command.path, None if argument.repeatable else number)}{offer}"


def _after(path: str, count: int | None = None) -> str:
    place = f'__sleuth_at "{path}"' + ("" if count is None else f" {count}")
    return f"complete -c sleuth -n {_quote(place)}"


def _option(start: str, option: Option) -> Iterator[str]:
    start = start or "complete -c sleuth"
    value = "" if option.is_flag else _offer(option.completes, exclusive=True) or " -x"
    yield f"{start}{_flags(option.flags)}{value} -d {_quote(option.help)}"
    if option.negative:
        yield f"{start}{_flags(option.negative)} -d {_quote(opposite(option))}"


def _flags(flags: tuple[str, ...]) -> str:
    return "".join(f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in flags)


def _offer(values: Values, exclusive: bool = False) -> str:
    """Return what makes `complete` offer some values; nothing for what cannot be completed."""
    if values.source == FILE:
        return " -r -F" if exclusive else " -F"
    call = f"({_call(values)})" if values.source or values.comma else " ".join(values.words)
    return f"{' -x' if exclusive else ''} -a {_quote(call)}" if call else ""


def _call(values: Values) -> str:
    """Return the command that prints some values."""
    simple = {
        PROVIDERS: " ".join(["__sleuth_providers", *values.words]),
        KEYS: "__sleuth_keys",
        SETTING: "__sleuth_setting",
        FOLDER: "__sleuth_folders",
    }
    if values.comma:
        return f"__sleuth_list {'(' + simple[PROVIDERS] + ')' if values.source else ' '.join(values.words)}"
    return simple.get(values.source) or (f"printf '%s\\n' {' '.join(values.words)}" if values.words else "")


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
