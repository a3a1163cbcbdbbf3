"""The completion script of bash: 3.2 and later, with or without bash-completion."""

from collections.abc import Iterable, Iterator

from tools.command_tree import SETTING, Argument, Command, Tree, Values
from tools.completion import GENERATED, options_of

TEMPLATE = r"""# bash completion for sleuth                                -*- shell-script -*-
# @generated@

# What may follow a command. The functions below answer in `offer` (words), `source` (what to ask) and `comma`.
_sleuth_commands() {
    case $1 in
@commands@
        *) offer='' ;;
    esac
}

_sleuth_options() {
    case $1 in
@options@
    esac
}

# What an option takes; fails for one that takes nothing.
_sleuth_value() {
    case "$1 $2" in
@values@
        *) return 1 ;;
    esac
}

# What the argument after so many others may be.
_sleuth_argument() {
    case "$1 $2" in
@arguments@
    esac
}

# What a setting takes.
_sleuth_setting() {
    case $1 in
@settings@
    esac
}

# The ids in the user's table; those that come with sleuth when it does not answer in time.
_sleuth_providers() {
    local ids='' id
    IFS= read -r -d '' -t 2 ids < <(command sleuth providers list --ids 2>/dev/null </dev/null)
    if (($? > 128)) || [[ -z $ids ]]; then
        offer+=' @providers@'
        return
    fi
    while IFS= read -r id; do # compgen expands its words: nothing that could be more than a word gets there
        [[ -z $id || $id == *[!A-Za-z0-9._-]* ]] || offer+=" $id"
    done <<<"$ids"
}

# The words up to the cursor in `typed`, whole again where readline cut them at = or : . What it does not replace
# of the last one goes to `kept`.
_sleuth_typed() {
    local line=${COMP_LINE-${COMP_WORDS[*]}} word index
    line=${line:0:${COMP_POINT-${#line}}}
    typed=()
    for ((index = 0; index <= COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]-}
        if ((index)) && [[ -n $line && $line != [[:space:]]* ]]; then
            kept=${typed[${#typed[@]} - 1]}
            ((index < COMP_CWORD)) || word=$line
            typed[${#typed[@]} - 1]+=$word
            [[ $word == [=:]* ]] && kept+=$word
        else
            line=${line#"${line%%[![:space:]]*}"}
            ((index < COMP_CWORD)) || word=$line
            typed+=("$word")
            kept=''
        fi
        line=${line#"$word"}
    done
}

_sleuth_reply() {
    local value=${current#"$lead"} chosen='' word IFS=$' \t\n'
    case $source in
        providers) _sleuth_providers ;;
        keys) offer='@keys@' ;;
    esac
    if [[ -n $comma ]]; then
        chosen=${value%"${value##*,}"}
        lead+=$chosen
        value=${value##*,}
    fi
    while IFS= read -r word; do
        [[ ,$chosen == *",$word,"* ]] && continue # a list names nobody twice
        word=$lead$word
        COMPREPLY+=("${word#"$kept"}")
    done < <(
        case $source in
            file) compgen -f -- "$value" ;;
            folder) compgen -d -- "$value" ;;
            *) compgen -W "$offer" -- "$value" ;;
        esac
    )
    case $source in
        file | folder) compopt -o filenames 2>/dev/null ;; # bash 3.2 has none
    esac
    return 0
}

_sleuth() {
    local command=sleuth option='' ended='' before='' count=0 index word
    local current kept='' lead='' offer='' source='' comma=''
    local -a typed
    COMPREPLY=()
    _sleuth_typed
    for ((index = 1; index < ${#typed[@]} - 1; index++)); do
        word=${typed[index]}
        if [[ -n $option ]]; then
            option=''
        elif [[ -z $ended && $word == -- ]]; then
            ended=1
        elif [[ -z $ended && $word == -?* ]]; then
            _sleuth_value "$command" "$word" && option=$word
        else
            _sleuth_commands "$command"
            if ((count == 0)) && [[ " $offer " == *" $word "* ]]; then
                command+=" $word"
            else
                before=$word
                ((++count))
            fi
        fi
    done
    current=${typed[${#typed[@]} - 1]}
    offer='' source='' comma=''
    if [[ -n $option ]]; then
        _sleuth_value "$command" "$option"
    elif [[ -z $ended && $current == --*=* ]]; then
        lead=${current%%=*}=
        _sleuth_value "$command" "${current%%=*}"
    elif [[ -z $ended && $current == -* ]]; then
        _sleuth_options "$command"
    else
        ((count)) || _sleuth_commands "$command"
        [[ -n $offer ]] || _sleuth_argument "$command" "$count"
    fi
    _sleuth_reply
}

complete -F _sleuth sleuth
"""


def script(tree: Tree) -> str:
    """Return the script."""
    commands = list(tree.root.walk())
    parts = {
        "generated": GENERATED,
        "commands": _arms((_quote([c.path]), _offer(Values(tuple(b.name for b in c.commands)))) for c in commands),
        "options": _arms((_quote([c.path]), f"offer={_quote(_flags(c, tree))}") for c in commands),
        "values": _arms(_values(commands, tree)),
        "arguments": _arms(_arguments(commands)),
        "settings": _arms((_quote([key.name]), _offer(key.completes)) for key in tree.keys),
        "providers": " ".join(tree.providers),
        "keys": " ".join(key.name for key in tree.keys),
    }
    text = TEMPLATE
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _arms(cases: Iterable[tuple[str, str]]) -> str:
    """Write the arms of a case statement, one for all patterns that do the same, none for those that do nothing."""
    patterns: dict[str, list[str]] = {}
    for pattern, do in cases:
        patterns.setdefault(do, []).append(pattern)
    return "\n".join(f"        {_fill(those)}) {do} ;;" for do, those in patterns.items() if do)


def _fill(patterns: list[str]) -> str:
    lines = [patterns[0]]
    for pattern in patterns[1:]:
        if len(lines[-1]) + len(pattern) > 100:
            lines[-1] += " | \\"
            lines.append(pattern)
        else:
            lines[-1] += f" | {pattern}"
    return "\n            ".join(lines)


def _quote(words: Iterable[str]) -> str:
    text = " ".join(words)
    return "'" + text.replace("'", "'\\''") + "'"


def _flags(command: Command, tree: Tree) -> Iterator[str]:
    for option in options_of(command, tree):
        yield from option.flags + option.negative


def _offer(values: Values) -> str:
    """Return the assignments that offer some values; nothing for what cannot be completed."""
    words = f"offer={_quote(values.words)}" if values.words else ""
    source = f"source={values.source}" if values.source else ""
    comma = "comma=," if values.comma else ""
    return " ".join(part for part in (words, source, comma) if part)


def _values(commands: list[Command], tree: Tree) -> Iterator[tuple[str, str]]:
    for option in tree.anywhere:
        for flag in () if option.is_flag else option.flags:
            yield f"*{_quote([f' {flag}'])}", _offer(option.completes) or ":"
    for command in commands:
        for option in command.options:
            for flag in () if option.is_flag or option in tree.anywhere else option.flags:
                yield _quote([f"{command.path} {flag}"]), _offer(option.completes) or ":"


def _arguments(commands: list[Command]) -> Iterator[tuple[str, str]]:
    for command in commands:
        for number, argument in enumerate(command.arguments):
            place = (
                f"{_quote([command.path, ''])}[0-9]*" if argument.repeatable else _quote([f"{command.path} {number}"])
            )
            yield place, _argument(argument)


def _argument(argument: Argument) -> str:
    if argument.completes.source == SETTING:
        return '_sleuth_setting "$before"'
    return _offer(argument.completes)
