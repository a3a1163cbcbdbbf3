"""Rendered answers: the shortest path from a command line to an answer that is in the cache.

When a plain search was answered from the cache without any warning, its output is saved here with everything it
depends on: the command line, the terminal, the environment, and the state of settings, rules and provider table. The
same command line then prints the same text with a new age, until the cache entry would have expired. This path imports
nothing heavier than `os`; if anything differs, the search runs as usual.
"""

import os
import time

from sleuth import __version__
from sleuth.base.paths import Paths, find_paths, stamp_of
from sleuth.base.process import terminal_columns

try:  # 0.2 ms to import; hashlib takes 4 ms because it loads OpenSSL, and zlib.crc32 is no faster than this
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TextIO

MAX_ANSWERS = 100
SUFFIX = ".answer"
# Renderers write AGE where the age of an answer goes: JSON on stdout, as a string that becomes a number; the summary on
# stderr as AGE, the unit of seconds, AGE, that of minutes, AGE, with underscores so that the line is as long as with an
# age and is wrapped at the same place. It is unambiguous there, because sanitised text has no control characters.
AGE = "\x02"
AGE_IN_JSON = '"\\u0002"'
# Variables that change the output. Of those that hold secrets only the presence counts.
PREFIXES = ("SLEUTH_", "SEARXNG_", "LC_")
NAMES = ("LANG", "LANGUAGE", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE", "NO_PROXY")
SECRET_SUFFIXES = ("_KEY", "_KEYS", "_TOKEN", "_PASSWORD", "_PASSPHRASE", "_SECRET")


class RenderedKey:
    """Everything that the output of a command line depends on, and the file that may hold it."""

    def __init__(self, key: str, paths: Paths) -> None:
        self.key, self.paths = key, paths
        self.file = os.path.join(paths.rendered, digest(key.encode("utf-8", "surrogatepass")).decode() + SUFFIX)

    def stamps(self) -> str:
        """Return the state of the files that an answer depends on."""
        return " ".join(map(file_stamp, (self.paths.config_file, self.paths.rules, stamp_of(self.paths.database))))


def make_key(
    values: "Mapping[str, Any]", environ: "Mapping[str, str]", out: "TextIO", err: "TextIO"
) -> RenderedKey | None:
    """Return the key of a search; None if its answer must not be saved."""
    screen = f"{getattr(out, 'encoding', None)} {out.isatty()} {err.isatty()} {terminal_columns()}"
    facts = [__version__, repr(sorted(values.items())), screen]
    for name in sorted(environ):
        if name.endswith(SECRET_SUFFIXES):
            facts.append(name)
        elif name.startswith(PREFIXES) or name in NAMES:
            facts.append(f"{name}={environ[name]}")
    key = "\n".join(facts)
    # An @ may follow a password in a URL.
    return None if "@" in key or "\0" in key else RenderedKey(key, find_paths(environ))


def load(key: RenderedKey) -> tuple[str, str, str] | None:
    """Return the text for stdout and for stderr, with the current age, and the line for the journal."""
    try:
        stamps, stored, expires, format, out, err, journal_line, _ = _read(key.file)
        now, since, until = time.time(), float(stored), float(expires)
        if stamps != key.stamps() or not since <= now < until:
            return None
        os.utime(key.file)  # see `last_printed`
    except (OSError, ValueError):
        return None
    return *fill_age(format, out, err, now - since), journal_line


def _read(file: str) -> list[str]:
    """Return the parts of a file; raise ValueError if it is damaged, or another user owns or may write it."""
    if not os.path.isfile(file):  # opening a pipe would wait for its other end
        raise ValueError(file)
    with open(file, "rb") as stream:
        state = os.fstat(stream.fileno())
        is_foreign = hasattr(os, "geteuid") and (state.st_uid != os.geteuid() or state.st_mode & 0o002)
        checksum, _, body = (b"" if is_foreign else stream.read()).partition(b"\0")
    if checksum != digest(body):
        raise ValueError(file)
    return body.decode("utf-8", "surrogatepass").split("\0")


def last_printed(paths: Paths) -> "tuple[float, Any]":
    """Return when an answer was printed last, and its results in the form of `last_results`."""
    import json

    try:
        newest = max(_files(paths.rendered), key=os.path.getmtime)
        return os.path.getmtime(newest), json.loads(_read(newest)[-1])
    except (OSError, ValueError):
        return 0.0, None


def save(key: RenderedKey, format: str, texts: tuple[str, str, str, str], age: float, ttl: float) -> None:
    """Save output with its placeholders for `ttl` seconds; `age` is that of the answer. Failures are only logged.

    `texts` are those for stdout, stderr, the journal and `last_printed`.
    """
    from sleuth.base.errors import SleuthError
    from sleuth.base.files import private_folder, write_atomic

    now = time.time()
    parts = (key.stamps(), repr(now - age), repr(now + ttl), format, *texts)
    if ttl <= 0 or any("\0" in part for part in parts):
        return
    body = "\0".join(parts).encode("utf-8", "surrogatepass")
    try:
        _make_room(private_folder(key.paths.rendered))
        write_atomic(key.file, b"%b\0%b" % (digest(body), body), sync=False)
    except (OSError, SleuthError) as problem:
        from sleuth.base.logs import log

        log("rendered answer not saved: %r", problem)


def clear(paths: Paths) -> None:
    """Delete every rendered answer and the temporary files of killed writers, and make running servers drop theirs."""
    from shutil import rmtree

    from sleuth.base.files import touch

    rmtree(paths.rendered, ignore_errors=True)
    touch(paths.cleared)


def fill_age(format: str, out: str, err: str, age: float) -> tuple[str, str]:
    """Return the texts for stdout and stderr with the age in place of the placeholders."""
    if format == "json":
        out = out.replace(AGE_IN_JSON, str(round(age)), 1)
    before, *units, after = err.split(AGE) if err.count(AGE) == 3 else (err, "", "", "")
    return out, f"{before}{age_in_words(age, *(unit.strip('_') for unit in units))}{after}" if all(units) else err


def age_in_words(seconds: float, second: str, minute: str) -> str:
    """Return an age for people, with the given units: 12 s, 3 min."""
    return f"{seconds:.0f} {second}" if seconds < 90 else f"{seconds / 60:.0f} {minute}"


def digest(data: bytes) -> bytes:
    """Return the checksum of a file, or the name for a key."""
    return blake2b(data, digest_size=20).hexdigest().encode()


def _files(folder: str) -> list[str]:
    return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(SUFFIX)]


def _make_room(folder: str) -> None:
    """Delete the least recently used files so that one more fits."""
    from contextlib import suppress

    files = _files(folder)
    if len(files) >= MAX_ANSWERS:
        files.sort(key=file_stamp)  # starts with the time of the last use
        for file in files[: len(files) - MAX_ANSWERS + 1]:
            with suppress(OSError):  # another process was faster
                os.unlink(file)


def file_stamp(path: str) -> str:
    """Return what differs after a file was changed or replaced."""
    try:
        found = os.stat(path)
    except OSError:
        return "-"
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"
