"""Answers written out already: the shortest way from a command line to an answer that is in the cache.

When a plain search was answered from the cache, without a word of warning, what it wrote is kept here beside everything
it depended on: the command line, the terminal, the environment, the state of settings, rules and provider table. The
same command line then gets the same text, only its age is new, as long as the answer would have stayed in the cache.
Nothing heavier than `os` is imported on that way; whatever is not exactly as it was goes the long way.
"""

import os
import time

from sleuth import __version__
from sleuth.base.paths import Paths, find_paths, stamp_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

MOST = 100  # answers kept
ENDING = ".answer"
AGE_IN_SECONDS, AGE_IN_WORDS = "\x02", "\x03"  # stand in the text where its age goes; cleaned text holds neither
# Options with which the same words mean the same answer until the cache forgets it.
PLAIN = frozenset(
    "words question provider count page lang region safe category engine site exclude format as_json template fields"  # noqa: SIM905 - twenty lines otherwise
    " explain rerank timeout fallback with_time exit_status".split()
)
# Variables that change what is written; of those that hold secrets only the presence counts.
NOTED = ("SLEUTH_", "SEARXNG_", "LC_")
TERMINAL = ("LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "NO_PROXY")
SECRET = ("_KEY", "_TOKEN", "_PASSWORD")
PRIME = 0xF1E5FF06F85E404A1C4AED7D4E45B20690F80C39  # a text read as one number, divided by it, leaves its check sum


class RenderedKey:
    """A command line with everything its answer depends on, and the file in which that may be."""

    def __init__(self, key: str, paths: Paths) -> None:
        self.key, self.paths = key, paths
        self.file = os.path.join(paths.prepared, f"{_remainder(key.encode('utf-8', 'surrogatepass')):040x}{ENDING}")

    def stamps(self) -> str:
        """Return the state of the files that decide about an answer."""
        watched = (self.paths.config_file, self.paths.rules, stamp_of(self.paths.database))
        return " ".join(map(_stamp, watched))


def rendered_key(
    values: "Mapping[str, Any]", environ: "Mapping[str, str]", out: "TextIO", err: "TextIO"
) -> RenderedKey | None:
    """Return the ticket of a search; None where its answer must not be kept."""
    if not values.keys() <= PLAIN:
        return None
    facts = [__version__, repr(sorted(values.items())), _encoding(out), f"{out.isatty()} {err.isatty()} {_columns()}"]
    for name in sorted(environ):
        if name.endswith(SECRET):
            facts.append(name)
        elif name.startswith(NOTED) or name in TERMINAL:
            facts.append(f"{name}={environ[name]}")
    key = "\n".join(facts)
    return None if "@" in key or "\0" in key else RenderedKey(key, find_paths(environ))  # an @ may follow a password


def load(rendered_key: RenderedKey) -> tuple[str, str, str] | None:
    """Return what was written to stdout and to stderr, its age brought up to date, and the note for the journal."""
    try:
        with open(rendered_key.file, "rb") as stream:
            check, _, rest = stream.read().partition(b"\0")
        if check != b"%x" % _remainder(rest):
            return None
        key, stamps, stored, expires, out, err, note = rest.decode("utf-8", "surrogatepass").split("\0")
        now, since, until = time.time(), float(stored), float(expires)
    except (OSError, ValueError):
        return None
    if key != rendered_key.key or stamps != rendered_key.stamps() or not since <= now < until:
        return None
    age = now - since
    return out.replace(AGE_IN_SECONDS, str(round(age))), err.replace(AGE_IN_WORDS, age_in_words(age)), note


def save(rendered_key: RenderedKey, out: str, err: str, note: str, age: float, seconds: float) -> None:
    """Keep what was written, for some seconds; `age` is that of the answer. Trouble here costs nothing else."""
    from sleuth.base.errors import SleuthError
    from sleuth.base.files import private_folder, write_atomic

    now = time.time()
    parts = (rendered_key.key, rendered_key.stamps(), repr(now - age), repr(now + seconds), out, err, note)
    if seconds <= 0 or any("\0" in part for part in parts):
        return
    rest = "\0".join(parts).encode("utf-8", "surrogatepass")
    try:
        folder = private_folder(rendered_key.paths.prepared)
        _make_room(folder)
        write_atomic(rendered_key.file, b"%x\0%b" % (_remainder(rest), rest), sync=False)
    except (OSError, SleuthError) as problem:
        from sleuth.base.logs import log

        log("prepared: not written: %r", problem)


def clear(paths: Paths) -> None:
    """Throw away everything that was kept, and what a writer left that was killed."""
    for name in _names(paths.prepared, unfinished=True):
        _remove(os.path.join(paths.prepared, name))


def age_in_words(seconds: float) -> str:
    """Return how old something is, as people say it."""
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _make_room(folder: str) -> None:
    """Leave room for one more: the oldest go first."""
    names = _names(folder)
    if len(names) < MOST:
        return
    files = sorted((os.path.join(folder, name) for name in names), key=_written)
    for file in files[: len(files) - MOST + 1]:
        _remove(file)


def _names(folder: str, *, unfinished: bool = False) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(ENDING) or (unfinished and f"{ENDING}." in name)]
    except OSError:
        return []


def _written(file: str) -> float:
    try:
        return os.stat(file).st_mtime
    except OSError:
        return 0.0


def _remove(file: str) -> None:
    try:
        os.unlink(file)
    except OSError:
        return  # somebody else was faster


def _remainder(data: bytes) -> int:
    return int.from_bytes(data, "big") % PRIME


def _stamp(path: str) -> str:
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"


def _encoding(out: "TextIO") -> str:
    return getattr(out, "encoding", None) or ""


def _columns() -> int:
    for handle in (0, 1, 2):
        try:
            return os.get_terminal_size(handle).columns
        except OSError:
            continue
    return 0
