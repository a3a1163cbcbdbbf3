"""The man pages, in mdoc: an overview, one per command, and one of the settings."""

import re
from collections.abc import Iterable
from textwrap import wrap
from typing import Any

from sleuth.base.errors import Exit
from sleuth.store.setting_types import COMPRESSION_KEYS, to_toml
from sleuth.store.settings import COMPRESSION_METHOD, TABLE, Setting
from sleuth_providers import registry
from tools.command_tree import Argument, Command, Option, Paragraph, Tree, details

# Changes with a release only, so that pages do not go stale every day.
DATE = "November 1, 2026"

MEANINGS = {
    Exit.DONE: "Success, even if there are no results.",
    Exit.FAILED: "The search failed: no provider gave a usable answer.",
    Exit.INVALID: "The command line or the settings are invalid, or an optional dependency is not installed.",
    Exit.UNKNOWN_PROVIDER: "There is no provider with that id.",
    Exit.KEY: "An API key is missing or was rejected.",
    Exit.LIMIT: "A rate limit or quota is exhausted, or the provider blocks automated requests.",
    Exit.UNREACHABLE: "A provider did not answer in time or cannot be reached.",
    Exit.NO_RESULTS: "There are no results (only with --exit-status).",
    Exit.INTERRUPTED: "Interrupted with Ctrl-C.",
}

ENVIRONMENT = {
    "SLEUTH_HOME": "A folder for settings, data, cache and log, instead of those listed under FILES.",
    "SLEUTH_CONFIG": "Another settings file.",
    "SLEUTH_SECTION_KEY": "Any setting, such as SLEUTH_WEBSEARCH_MAX_RESULTS; see sleuth-config(5).",
    "SEARXNG_URL": "The URL of a SearXNG server; the default is http://localhost:8080.",
    "VISUAL EDITOR": "The editor that `sleuth config edit` opens.",
    "PAGER": "The program that shows output taller than the terminal; the default is less, cat turns it off.",
    "BROWSER": "The program that opens results.",
    "NO_COLOR FORCE_COLOR TERM COLUMNS": "Colours and width of the output.",
    "LC_ALL LC_MESSAGES LANG": "The language of messages and help: English, or Simplified Chinese.",
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY": "Proxies.",
    "SSL_CERT_FILE SSL_CERT_DIR": "Trusted certificate authorities.",
}

FILES = {
    "~/.config/sleuth/config.toml": "The settings; see sleuth-config(5). `sleuth config path` prints the path.",
    "~/.config/sleuth/rules.txt": "Domain rules for every search, in Goggles syntax.",
    "~/.local/share/sleuth/sleuth.db": "The provider table.",
    "~/.local/share/sleuth/library.db": "The library: the embedded offline index.",
    "~/.cache/sleuth/": "Cached answers and pages.",
    "~/.local/state/sleuth/": "The log.",
}
OTHER_FOLDERS = "XDG_CONFIG_HOME and its siblings are honoured. macOS and Windows use their own folders."

CONFIG_HELP = (
    "sleuth works without a settings file. The file is in TOML and needs only the keys that differ from the defaults. "
    "`sleuth config set` changes a key and keeps comments and the order of lines.",
    "An option on the command line overrides the environment, which overrides the file, which overrides the default. "
    "`sleuth config show --origin` shows where each value comes from.",
    "An invalid value is reported on stderr, and the default is used instead. `sleuth config validate` checks the "
    "whole file.",
)
CONFIG_EXAMPLE = """[websearch]
default_provider = "searxng"
max_results = 10
exclude_domains = ["example.com", "*.example.org"]

[cache]
ttl_minutes = 60"""


def pages(tree: Tree) -> dict[str, str]:
    """Return every page by file name."""
    made = {"sleuth.1": _overview(tree)}
    for command in tree.root.commands:
        made[f"sleuth-{command.name}.1"] = _command_page(command, tree)
    return made | {"sleuth-config.5": _settings_page(tree)}


def _overview(tree: Tree) -> str:
    root = tree.root
    commands = [(f"Xr sleuth-{command.name} 1", _fill(command.short)) for command in root.commands]
    variables = [(_variable_names(names.split()), _fill(meaning)) for names, meaning in ENVIRONMENT.items()]
    examples = [*root.examples, *(example for command in root.commands for example in command.examples[:2])]
    lines = [
        *_head(tree, "sleuth", 1, root.short),
        ".Sh SYNOPSIS",
        *_synopsis("sleuth", ("[options]", "COMMAND", "[arguments]")),
        ".Sh DESCRIPTION",
        *_prose(root.help),
        ".Sh COMMANDS",
        *_list(commands),
        ".Sh OPTIONS",
        "These go before a command; all but",
        ".Fl \\-version",
        "may also follow it.",
        *_list(_option(option) for option in root.options),
        ".Sh ENVIRONMENT",
        *_list(variables),
        ".Pp",
        "The variables for API keys are listed in",
        ".Xr sleuth-providers 1 .",
        ".Sh FILES",
        *_list((f"Pa {_word(path)}", _fill(meaning)) for path, meaning in FILES.items()),
        ".Pp",
        _fill(OTHER_FOLDERS),
        ".Sh EXIT STATUS",
        *_list((str(code.value), _fill(MEANINGS[code])) for code in Exit),
        *_examples(dict.fromkeys(examples)),
        *_see_also(tree, "sleuth"),
    ]
    return _page(lines)


def _command_page(command: Command, tree: Tree) -> str:
    """Return the page of a command; a group has one page for all its commands."""
    name = f"sleuth-{command.name}"
    leaves = [each for each in command.walk() if not each.commands]
    lines = [*_head(tree, name, 1, command.short), ".Sh SYNOPSIS"]
    for leaf in leaves:
        lines += _synopsis(leaf.path, _usage(leaf, tree))
    lines += [
        ".Sh DESCRIPTION",
        *_prose(command.help),
        ".Pp",
        "Options of all commands and the exit status are described in",
        ".Xr sleuth 1 .",
        *_parameters(command, tree),
    ]
    if command.commands:
        lines += [".Sh COMMANDS"]
        for leaf in leaves:
            lines += [f".Ss {leaf.path}", *_prose(leaf.help), *_parameters(leaf, tree)]
    lines += [
        *(_variables(tree) if command.name == "providers" else ()),
        *_examples(example for each in command.walk() for example in each.examples),
        *_see_also(tree, name),
    ]
    return _page(lines)


def _settings_page(tree: Tree) -> str:
    lines = [
        *_head(tree, "sleuth-config", 5, "The settings of sleuth."),
        ".Sh DESCRIPTION",
        *_prose(Paragraph(text) for text in CONFIG_HELP),
    ]
    section = ""
    for key, setting in TABLE.items():
        if key.split(".")[0] != section:
            lines += [".El"] if section else []
            section = key.split(".")[0]
            lines += [f".Ss {section}", ".Bl -tag -width Ds"]
        lines += [f".It Va {_word(key)}", *_setting(setting)]
    path = f"Pa {_word(next(iter(FILES)))}"
    lines += [
        ".El",
        ".Sh FILES",
        *_list([(path, "The settings file, unless SLEUTH_CONFIG or SLEUTH_HOME is set.")]),
        *_examples(CONFIG_EXAMPLE.splitlines()),
        *_see_also(tree, "sleuth-config", 5),
    ]
    return _page(lines)


def _setting(setting: Setting[Any]) -> list[str]:
    meaning = setting.meaning
    if not re.match(r"\w+:/", meaning):
        meaning = meaning[:1].upper() + meaning[1:]
    default = f"the default is {to_toml(setting.default)}" if setting.default != "" else "the default is empty"
    table = COMPRESSION_KEYS if setting is COMPRESSION_METHOD else {}
    keys = "; ".join(f"{name}, {kind.description}" for name, kind in table.items())
    return [
        _fill(meaning if meaning.endswith("?") else f"{meaning}."),
        _fill(f"It takes {setting.kind.description}; {default}."),
        *([_fill(f"Its keys: {keys}.")] if keys else []),
        "In the environment:",
        f".Ev {_word(setting.variable)} .",
    ]


def _variables(tree: Tree) -> list[str]:
    """List the environment variables of the built-in providers."""
    adapters = [registry.load(id) for id in tree.providers if id != "library"]  # it has no adapter module
    entries = [
        (_variable_names([*a.env, *a.host_env, *sum(a.option_env.values(), ())]), _fill(f"{a.name} ({a.id})."))
        for a in adapters
        if a.env or a.host_env or a.option_env
    ]
    return [".Sh ENVIRONMENT", "Keys, addresses and options that are not in the provider table:", *_list(entries)]


def _variable_names(names: Iterable[str]) -> str:
    return " , ".join(f"Ev {_word(name)}" for name in names)


def _head(tree: Tree, name: str, section: int, short: str) -> list[str]:
    summary = re.sub(r"^[A-Z](?=[a-z])", lambda found: found[0].lower(), short).rstrip(".")
    return [
        '.\\" Generated from the commands by `python -m tools.generate`: change those, not this.',
        f".Dd {DATE}",
        f".Dt {name.upper()} {section}",
        f".Os sleuth {tree.version}",
        ".Sh NAME",
        f".Nm {name}",
        f".Nd {_text(summary)}",
    ]


def _synopsis(path: str, parts: Iterable[str]) -> list[str]:
    lines = [f".Nm {path}"]
    for part in parts:
        name = part.strip("[].")
        dots = " ..." if part.endswith("...") else ""
        lines.append(f"{'.Op Ar' if part.startswith('[') else '.Ar'} {_word(name)}{dots}")
    return lines


def _usage(command: Command, tree: Tree) -> list[str]:
    own = [option for option in command.options if option not in tree.anywhere]
    return [*(["[options]"] if own else []), *(argument.usage for argument in command.arguments)]


def _parameters(command: Command, tree: Tree) -> list[str]:
    """List arguments and options, each group of options under its heading, then the notes."""
    groups: dict[str, list[tuple[str, str]]] = {"": [_argument(argument) for argument in command.arguments]}
    for option in command.options:
        if option not in tree.anywhere:
            groups.setdefault(option.group, []).append(_option(option))
    lines: list[str] = []
    for group, entries in groups.items():
        lines += [*([f".Ss {group}"] if group else []), *(_list(entries) if entries else [])]
    return [*lines, *_prose(command.notes, start=False)]


def _argument(argument: Argument) -> tuple[str, str]:
    return f"Ar {_word(argument.metavar)}", _fill(details(argument))


def _option(option: Option) -> tuple[str, str]:
    value = f" Ar {_word(option.metavar)}" if option.metavar else ""
    flags = " , ".join(f"Fl {_word(flag[1:])}" for flag in option.flags + option.negative)
    return flags + value, _fill(details(option))


def _list(entries: Iterable[tuple[str, str]]) -> list[str]:
    return [".Bl -tag -width Ds", *(f".It {head}\n{text}" for head, text in entries), ".El"]


def _prose(paragraphs: Iterable[Paragraph], start: bool = True) -> list[str]:
    """Return paragraphs separated by .Pp, also from the text before them unless they start a section."""
    lines: list[str] = []
    for paragraph in paragraphs:
        if paragraph.literal:
            lines += [".Bd -literal -offset indent", *map(_text, paragraph.text.splitlines()), ".Ed"]
        else:
            lines += [*([".Pp"] if lines or not start else []), _fill(paragraph.text)]
    return lines


def _examples(examples: Iterable[str]) -> list[str]:
    lines = [_text(example) for example in examples]
    return [".Sh EXAMPLES", ".Bd -literal -offset indent", *lines, ".Ed"] if lines else []


def _see_also(tree: Tree, name: str, section: int = 1) -> list[str]:
    """Refer to the main pages; the overview refers to all."""
    pages = [("sleuth", 1), *((f"sleuth-{command.name}", 1) for command in tree.root.commands), ("sleuth-config", 5)]
    if name != "sleuth":
        pages = [page for page in pages if page[0] in ("sleuth", "sleuth-config")]
    others = sorted((page for page in pages if page != (name, section)), key=lambda page: (page[1], page[0]))
    references = " ,\n".join(f".Xr {page} {number}" for page, number in others)
    return [".Sh SEE ALSO", references]


# The ellipsis is spelled out because the C locale has none.
ESCAPES = {
    "…": "...",
    "–": "\\(en",
    "\\": "\\e",
    "-": "\\-",
    "'": "\\(aq",
    "`": "\\(ga",
    "^": "\\(ha",
    "~": "\\(ti",
    '"': "\\(dq",
}


def _fill(text: str) -> str:
    """Escape and wrap prose; each sentence starts a line, as mdoc expects."""
    sentences = re.split(r"(?<=[\w)\]'\"`][.?!])\s+", text)
    return "\n".join(
        _text(line) for each in sentences for line in wrap(each, 76, break_long_words=False, break_on_hyphens=False)
    )


def _text(text: str) -> str:
    """Escape a line of text, so that nothing in it is a request."""
    escaped = "".join(ESCAPES.get(character, character) for character in text)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _word(text: str) -> str:
    """Escape the argument of a macro, so that it is neither a macro nor a delimiter."""
    escaped = _text(text)
    return f"\\&{escaped}" if re.fullmatch(r"[A-Z%][a-z]|[A-Z]|\W+", text) else escaped


def _page(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
