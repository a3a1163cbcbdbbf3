"""Help texts, generated in advance from Typer's own so that `--help` does not import it."""

import os

from sleuth.base.i18n import choose_language
from sleuth.base.paths import find_paths
from sleuth.base.process import terminal_columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = os.path.join(os.path.dirname(__file__), "generated", "help")
COLUMNS = 80  # width of the generated texts; narrower terminals get theirs from Typer


def help_text(arguments: list[str]) -> str | None:
    """Return the generated help that a command line asks for; None if it asks for anything else."""
    *words, last = arguments or ["--help"]
    if last not in ("-h", "--help") or any(word.startswith("-") or os.sep in word for word in words):
        return None
    language = _language(os.environ)
    if language is None or terminal_columns(COLUMNS) < COLUMNS:
        return None
    path = os.path.join(FOLDER, language, "-".join(["sleuth", *words]))
    for suffix in (".brief.txt", ".txt") if last == "-h" else (".txt",):
        try:
            with open(path + suffix, encoding="utf-8") as stream:
                return stream.read()
        except (FileNotFoundError, ValueError):  # ValueError: a word with a null character
            continue
    return None


def _language(environ: "Mapping[str, str]") -> str | None:
    """Return the folder of the user's language; None if the settings file seems to choose it: that is for Typer."""
    setting = environ.get("SLEUTH_UI_LANGUAGE")
    if not setting:
        try:
            path = find_paths(environ).config_file
            with open(path if os.path.isfile(path) else os.devnull, "rb") as stream:  # a pipe would wait
                settings = stream.read()
        except OSError:
            settings = b""
        if b"ui" in settings and b"language" in settings:
            return None
    return choose_language(setting or "auto", environ).replace("-", "_")
