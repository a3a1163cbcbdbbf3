"""What to do about a problem: its cause, a fix and a section of the handbook, by name in remedies.toml."""

import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth_providers.records import Record

RESTART = "docker compose restart core"
RECREATE = "docker compose up -d"
PLACEHOLDER = re.compile(r"\{(\w+)\}")
MAX_LINE_CHARS = 1000


class Remedy(Record):
    """Why something is wrong, what to do about it, and where the handbook says more."""

    cause: str
    fix: str = ""  # blocks of shell or of one file's lines; each begins with a comment that says which
    link: str = ""  # into the handbook: "searxng.md#enable-json-in-searxng-403-forbidden"


@cache
def catalogue() -> dict[str, Any]:
    """Return the contents of remedies.toml."""
    return tomllib.loads(Path(__file__).with_name("remedies.toml").read_text("utf-8"))


def remedy(name: str, /, **values: Any) -> Remedy:
    """Return a remedy with its values filled in: a list fills several lines, and an empty line is left out."""
    entry = catalogue()["remedies"][name]
    lines: list[str] = []
    for block in entry.get("fix", "").strip("\n").split("\n\n"):
        filled = [line for fix_line in block.split("\n") for line in _fill(fix_line, values)]
        for line in _in_file(filled):
            if line.startswith("#") and lines and not lines[-1].startswith("#"):
                lines.append("")  # a comment begins a block that can be pasted as a whole
            indent = line[: len(line) - len(line.lstrip(" "))]
            lines.append(indent + clean(line, MAX_LINE_CHARS, entities=False))
    return Remedy(tr(entry["cause"], **values), "\n".join(lines), catalogue()["links"][entry["link"]])


def _fill(line: str, values: dict[str, Any]) -> list[str]:
    whole = PLACEHOLDER.fullmatch(line)
    value = values.get(whole[1], "") if whole else None
    if isinstance(value, list | tuple):
        return list(value)
    if line.startswith("#"):
        return [tr(line, **values)]
    filled = PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), line)
    return [filled] if filled else []


def _in_file(lines: list[str]) -> list[str]:
    """Return the lines of a block that begins with @ and a file: where they go, and the command that applies them."""
    match lines:
        case ["@settings", *inside]:
            sections = ", ".join(line for line in inside if line.endswith(":") and not line.startswith(" "))
            merge = tr("# in settings.yml (merge into an existing {sections} section):", sections=sections)
            where = merge if sections else tr("# in settings.yml:")
            return [where, *inside, tr("# then restart SearXNG:"), RESTART]
        case ["@limiter", *inside]:
            return [tr("# in limiter.toml, beside settings.yml:"), *inside, tr("# then restart SearXNG:"), RESTART]
        case ["@compose", *inside]:
            where = tr("# in docker-compose.yml (merge into the SearXNG service):")
            return [where, *inside, tr("# then recreate the container:"), RECREATE]
        case ["@env", *inside]:
            return [tr("# in .env:"), *inside, tr("# then recreate the container:"), RECREATE]
    return lines


def shell(word: str) -> str:
    """Return a word quoted for a shell."""
    return shlex.quote(word)
