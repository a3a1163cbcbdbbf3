"""The completion script of zsh: a function a command, built on _arguments."""

from collections.abc import Iterator

from tools.command_tree import FILE, FOLDER, KEYS, PROVIDERS, SETTING, Argument, Command, Option, Tree, Values
from tools.completion import GENERATED, opposite, options_of

TEMPLATE = r"""#compdef sleuth
# zsh completion for sleuth
# @generated@

@functions@

# Some words, then the ids in the user's table; those that come with sleuth when it does not answer in time.
_sleuth_providers() {
    local -a found=(${=1}) ids expl
    local id fd
    shift
    exec {fd}< <(command sleuth providers list --ids 2>/dev/null </dev/null)
    while read -r -t 2 -u $fd id; do
        ids+=($id)
    done
    exec {fd}<&-
    (( $#ids )) || ids=(@providers@)
    found+=($ids)
    _wanted providers expl provider compadd "$@" -a found
}

_sleuth_words() {
    local -a found=(${=1}) expl
    shift
    _wanted values expl value compadd "$@" -a found
}

_sleuth_keys() {
    local -a keys=(
@keys@
    )
    _describe -t keys key keys
}

# What the setting before the cursor takes.
_sleuth_setting() {
    case $words[CURRENT-1] in
@settings@
        (*) _message value ;;
    esac
}

if [[ ${funcstack[1]-} == _sleuth ]]; then # loaded by the completion system
    _sleuth "$@"
else # read by source or eval
    compdef _sleuth sleuth
fi
"""

LEAF = """@name@() {
    _arguments -s -S \\
        @specifications@
}"""

GROUP = """@name@() {
    local curcontext=$curcontext context state state_descr line ret=1
    local -A opt_args
    local -a commands=(
        @commands@
    )
    _arguments -C -s -S \\
        @specifications@ \\
        '1: :->command' \\
        '*:: :->below' && ret=0
    case $state in
        (command) _describe -t commands command commands && ret=0 ;;
        (below)
            curcontext=${curcontext%:*:*}:sleuth-$line[1]:
            (( $+functions[@name@-$line[1]] )) && @name@-$line[1] && ret=0
            ;;
    esac
    return ret
}"""


def script(tree: Tree) -> str:
    """Return the script."""
    settings = [f"        ({key.name}) {do} ;;" for key in tree.keys if (do := _setting(key.completes))]
    parts = {
        "generated": GENERATED,
        "functions": "\n\n".join(_function(command, tree) for command in tree.root.walk()),
        "providers": " ".join(tree.providers),
        "keys": "\n".join(f"        {_quote(_described(key.name, key.meaning))}" for key in tree.keys),
        "settings": "\n".join(settings),
    }
    return _fill(TEMPLATE, parts)


def _fill(text: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _function(command: Command, tree: Tree) -> str:
    options = (spec for option in options_of(command, tree) for spec in _specifications(option))
    arguments = (_positional(number, argument) for number, argument in enumerate(command.arguments, 1))
    commands = (_quote(_described(each.name, each.short)) for each in command.commands)
    parts = {
        "name": "_" + command.path.replace(" ", "-"),
        "commands": "\n        ".join(commands),
        "specifications": " \\\n        ".join([*options, *arguments]),
    }
    return _fill(GROUP if command.commands else LEAF, parts)


def _specifications(option: Option) -> Iterator[str]:
    """Write an option as _arguments wants it; one way to write it excludes the others, unless it may come again."""
    every = option.flags + option.negative
    excludes = "*" if option.repeatable else f"({' '.join(every)})" if len(every) > 1 else ""
    if "--help" in every or "--version" in every:
        excludes = "(- *)"
    label = option.name.lstrip("-") if "|" in option.metavar else option.metavar
    value = "" if option.is_flag else f":{_escape(label)}:{_action(option.completes) or ' '}"
    yield _spec(excludes, [flag + _joint(option, flag) for flag in option.flags], f"[{_escape(option.help)}]{value}")
    if option.negative:
        yield _spec(excludes, list(option.negative), f"[{_escape(opposite(option))}]")


def _spec(excludes: str, flags: list[str], rest: str) -> str:
    if len(flags) == 1:
        return _quote(excludes + flags[0] + rest)
    return f"{_quote(excludes) if excludes else ''}{{{','.join(flags)}}}{_quote(rest)}"


def _joint(option: Option, flag: str) -> str:
    """Let a value stand after the flag itself, too: --count=5, -n5."""
    return "" if option.is_flag else "=" if flag.startswith("--") else "+"


def _positional(number: int, argument: Argument) -> str:
    place = "*" if argument.repeatable else str(number) if argument.required else f"{number}:"
    # A bare space here would show the name, too, but keep options from being completed in the same place.
    nothing = f' _message "{argument.metavar}"'
    return _quote(f"{place}:{_escape(argument.metavar)}:{_action(argument.completes) or nothing}")


def _action(values: Values) -> str:
    """Return what completes a value; the space before a function of ours keeps zsh from adding arguments."""
    words = " ".join(values.words)
    if values.comma:
        return f'_sequence {"_sleuth_providers" if values.source == PROVIDERS else "_sleuth_words"} "{words}"'
    simple = {
        PROVIDERS: f' _sleuth_providers "{words}"',
        KEYS: " _sleuth_keys",
        SETTING: " _sleuth_setting",
        FILE: "_files",
        FOLDER: "_files -/",
    }
    return simple.get(values.source) or (f"({words})" if words else "")


def _setting(values: Values) -> str:
    action = _action(values).strip()
    return f'_sleuth_words "{" ".join(values.words)}"' if action.startswith("(") else action


def _described(name: str, description: str) -> str:
    return f"{_escape_colons(name)}:{_escape_colons(description)}"


def _escape_colons(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:")


def _escape(text: str) -> str:
    return _escape_colons(text).replace("[", "\\[").replace("]", "\\]")


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
