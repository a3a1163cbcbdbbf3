"""The man pages, in mdoc: one of sleuth, one a command, one of the settings."""

import json
import re
from collections.abc import Iterable
from textwrap import wrap
from typing import Any

from sleuth.base.errors import Exit
from sleuth.store.setting_types import COMPRESSION_KEYS
from sleuth.store.settings import COMPRESSION_METHOD, TABLE, Setting
from sleuth_providers import registry
from tools.command_tree import Argument, Command, Option, Paragraph, Tree, details

# A page must not change from day to day: this moves with a release.
DATE = "November 1, 2026"

MEANINGS = {
    Exit.DONE: "Done. An empty result is done, too.",
    Exit.FAILED: "The search failed: nobody who was asked gave an answer that could be used.",
    Exit.INVALID: "The request or the settings are invalid, or an optional part of sleuth is not installed.",
    Exit.UNKNOWN_PROVIDER: "There is no provider of that id.",
    Exit.KEY: "A key is missing or was rejected.",
    Exit.LIMIT: "A rate limit or quota is used up, or the provider blocks automatic requests.",
    Exit.UNREACHABLE: "A provider did not answer in time or cannot be reached.",
    Exit.NO_RESULTS: "There are no results; only with --exit-status.",
    Exit.INTERRUPTED: "Interrupted with Ctrl-C.",
}

ENVIRONMENT = {
    "SLEUTH_HOME": "A folder to keep settings, data, cache and log in, instead of those listed under FILES.",
    "SLEUTH_CONFIG": "Another file of settings.",
    "SLEUTH_SECTION_KEY": "Any setting, such as SLEUTH_WEBSEARCH_MAX_RESULTS; see sleuth-config(5).",
    "SEARXNG_URL": "The address of a SearXNG server; http://localhost:8080 otherwise.",
    "VISUAL EDITOR": "The editor that `sleuth config edit` opens.",
    "NO_COLOR FORCE_COLOR TERM COLUMNS": "Whether the output has colours, and how wide it is.",
    "LC_ALL LC_MESSAGES LANG": "The language of messages: English, or Simplified Chinese.",
    "HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY": "Proxies.",
    "SSL_CERT_FILE SSL_CERT_DIR": "The certificate authorities to trust.",
}

FILES = {
    "~/.config/sleuth/config.toml": "The settings, see sleuth-config(5). `sleuth config path` tells where they are.",
    "~/.config/sleuth/rules.txt": "Domain rules that hold for every search, in Goggles syntax.",
    "~/.local/share/sleuth/sleuth.db": "The provider table.",
    "~/.local/share/sleuth/library.db": "The library: the embedded offline index.",
    "~/.cache/sleuth/": "Answers and pages that were kept.",
    "~/.local/state/sleuth/": "The log.",
}
ELSEWHERE = "XDG_CONFIG_HOME and its kin are honoured. macOS and Windows have folders of their own for these."

CONFIG_HELP = (
    "sleuth works without a file of settings. Where there is one, it is in TOML, and a file with only the keys to be "
    "changed is enough. `sleuth config set` changes one; comments and the order of lines stay.",
    "An option on the command line wins over the environment, the environment over the file, the file over the "
    "default. `sleuth config show --origin` tells where each value comes from.",
    "A value that does not fit is reported on stderr, and the default is used in its place. `sleuth config validate` "
    "checks the whole file.",
)
CONFIG_EXAMPLE = """[websearch]
default_provider = "searxng"
max_results = 10
exclude_domains = ["example.com", "*.example.org"]

[cache]
ttl_minutes = 60"""


def pages(tree: Tree) -> dict[str, str]:
    """Return every page by the name of its file."""
    made = {"sleuth.1": _overview(tree)}
    for command in tree.root.commands:
        made[f"sleuth-{command.name}.1"] = _command_page(command, tree)
    return made | {"sleuth-config.5": _settings_page(tree)}


def _overview(tree: Tree) -> str:
    root = tree.root
    commands = [(f"Xr sleuth-{command.name} 1", _fill(command.short)) for command in root.commands]
    variables = [(_variable_names(names.split()), _fill(meaning)) for names, meaning in ENVIRONMENT.items()]
    examples = [example for command in (root, *root.commands) for example in command.examples[:2]]
    lines = [
        *_head(tree, "sleuth", 1, root.short),
        ".Sh SYNOPSIS",
        *_synopsis("sleuth", ("[options]", "COMMAND", "[arguments]")),
        ".Sh DESCRIPTION",
        *_prose(root.help),
        *_prose(root.notes, start=False),
        ".Sh COMMANDS",
        *_list(commands),
        ".Sh OPTIONS",
        "These may stand before a command; all but",
        ".Fl \\-version",
        "may also follow it.",
        *_list(_option(option) for option in root.options),
        ".Sh ENVIRONMENT",
        *_list(variables),
        ".Pp",
        "The variables that keys of providers are read from are listed in",
        ".Xr sleuth-providers 1 .",
        ".Sh FILES",
        *_list((f"Pa {_word(path)}", _fill(meaning)) for path, meaning in FILES.items()),
        ".Pp",
        _fill(ELSEWHERE),
        ".Sh EXIT STATUS",
        *_list((str(code.value), _fill(MEANINGS[code])) for code in Exit),
        *_examples(dict.fromkeys(examples)),
        *_see_also(tree, "sleuth"),
    ]
    return _page(lines)


def _command_page(command: Command, tree: Tree) -> str:
    """Write the page of a command; those of a group are all on one."""
    name = f"sleuth-{command.name}"
    leaves = [each for each in command.walk() if not each.commands]
    lines = [*_head(tree, name, 1, command.short), ".Sh SYNOPSIS"]
    for leaf in leaves:
        lines += _synopsis(leaf.path, _usage(leaf, tree))
    lines += [
        ".Sh DESCRIPTION",
        *_prose(command.help),
        *_particulars(command, tree),
        ".Pp",
        "The options that every command takes, and the exit status, are described in",
        ".Xr sleuth 1 .",
    ]
    if command.commands:
        lines += [".Sh COMMANDS"]
        for leaf in leaves:
            lines += [f".Ss {leaf.path}", *_prose(leaf.help), *_particulars(leaf, tree)]
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
        *_list([(path, "The file, unless SLEUTH_CONFIG or SLEUTH_HOME say otherwise.")]),
        *_examples(CONFIG_EXAMPLE.splitlines()),
        *_see_also(tree, "sleuth-config", 5),
    ]
    return _page(lines)


def _setting(setting: Setting[Any]) -> list[str]:
    meaning = setting.meaning
    if not re.match(r"\w+:/", meaning):
        meaning = meaning[:1].upper() + meaning[1:]
    default = f"the default is {_toml(setting.default)}" if setting.default != "" else "it is empty by default"
    table = COMPRESSION_KEYS if setting is COMPRESSION_METHOD else {}
    keys = "; ".join(f"{name}, {kind.description}" for name, kind in table.items())
    return [
        _fill(meaning if meaning.endswith("?") else f"{meaning}."),
        _fill(f"It takes {setting.kind.description}; {default}."),
        *([_fill(f"Its keys: {keys}.")] if keys else []),
        "In the environment:",
        f".Ev {_word(setting.variable)} .",
    ]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {_toml(entry)}" for name, entry in value.items()) + " }"
    return f"{value:g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def _variables(tree: Tree) -> list[str]:
    """List where keys, addresses and options of the built-in providers may come from."""
    adapters = [registry.load(id) for id in tree.providers if id != "library"]  # it needs none, and lives elsewhere
    entries = [
        (_variable_names([*a.env, *a.host_env, *a.option_env.values()]), _fill(f"{a.name} ({a.id})."))
        for a in adapters
        if a.env or a.host_env or a.option_env
    ]
    return [".Sh ENVIRONMENT", "A key or an address that is not in the table is looked for here:", *_list(entries)]


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


def _particulars(command: Command, tree: Tree) -> list[str]:
    arguments = [_argument(argument) for argument in command.arguments]
    options = [_option(option) for option in command.options if option not in tree.anywhere]
    parameters = _list([*arguments, *options]) if arguments or options else []
    return [*parameters, *_prose(command.notes, start=False)]


def _argument(argument: Argument) -> tuple[str, str]:
    return f"Ar {_word(argument.metavar)}", _fill(details(argument))


def _option(option: Option) -> tuple[str, str]:
    value = f" Ar {_word(option.metavar)}" if option.metavar else ""
    flags = " , ".join(f"Fl {_word(flag[1:])}" for flag in option.flags + option.negative)
    return flags + value, _fill(details(option))


def _list(entries: Iterable[tuple[str, str]]) -> list[str]:
    return [".Bl -tag -width Ds", *(f".It {head}\n{text}" for head, text in entries), ".El"]


def _prose(paragraphs: Iterable[Paragraph], start: bool = True) -> list[str]:
    """Write paragraphs, parted by .Pp; also from what stands before them, unless they start a section."""
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
    """Name the other pages; all of them in the overview."""
    pages = [("sleuth", 1), *((f"sleuth-{command.name}", 1) for command in tree.root.commands), ("sleuth-config", 5)]
    if name != "sleuth":
        pages = [page for page in pages if page[0] in ("sleuth", "sleuth-config")]
    others = sorted((page for page in pages if page != (name, section)), key=lambda page: (page[1], page[0]))
    commas = [*[" ,"] * (len(others) - 1), ""]
    references = zip(others, commas, strict=True)
    return [".Sh SEE ALSO", *(f".Xr {page} {number}{comma}" for (page, number), comma in references)]


# The ellipsis is spelled out: a terminal in the C locale has none.
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
    """Escape prose: a sentence begins a line of its own, as the readers of mdoc want it, and lines stay short."""
    sentences = re.split(r"(?<=[\w)\]'\"][.?!])\s+", text)
    return "\n".join(
        _text(line) for each in sentences for line in wrap(each, 76, break_long_words=False, break_on_hyphens=False)
    )


def _text(text: str) -> str:
    """Escape a line of text: every character is shown as it is, and none begins a request."""
    escaped = "".join(ESCAPES.get(character, character) for character in text)
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _word(text: str) -> str:
    """Escape an argument of a macro: what looks like a macro or a delimiter is neither."""
    escaped = _text(text)
    return f"\\&{escaped}" if re.fullmatch(r"[A-Z%][a-z]|[A-Z]|\W+", text) else escaped


def _page(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"
