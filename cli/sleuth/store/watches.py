"""Saved searches that report only what is new: one private JSON file each, in the data folder."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from sleuth.base.errors import RequestError, SettingsError
from sleuth.base.files import locked, private_folder, read_file, unreadable, write_atomic
from sleuth_providers.records import Record

MAX_FILE_BYTES = 10_000_000
MAX_SEEN = 5000  # URLs that count as known; the oldest are forgotten
MAX_ITEMS = 100  # kept with title and text, for the feed
MAX_NAME_CHARS = 60


class WatchItem(Record):
    """A result, and when it was first seen."""

    url: str
    title: str
    snippet: str
    published: str  # ISO date
    seen_at: float


class Watch(Record):
    """A saved search: its query and options, and what it has found so far."""

    name: str
    words: tuple[str, ...]
    options: dict[str, Any]
    feed: str = ""
    command: str = ""
    last_run: float = 0.0
    seen: tuple[str, ...] = ()  # canonical URLs, oldest first
    items: tuple[WatchItem, ...] = ()  # newest first


def watch_name(words: Sequence[str]) -> str:
    """Return the name of a watch: the words of its query, joined by hyphens."""
    return re.sub(r"\W+", "-", " ".join(words).lower()).strip("-_")[:MAX_NAME_CHARS] or "watch"


class WatchStore:
    """The watches in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """Return the names of all watches."""
        found = os.listdir(self.folder) if os.path.isdir(self.folder) else []
        return sorted(name.removesuffix(".json") for name in found if name.endswith(".json") and name[0] != ".")

    def load(self, name: str) -> Watch | None:
        """Return a watch; raise SettingsError for a damaged file."""
        path = self._path(name)
        try:
            values = json.loads(read_file(path, MAX_FILE_BYTES))  # it names a command to run
            items = tuple(WatchItem(*item) for item in values.pop("items"))
            words, seen = tuple(map(str, values.pop("words"))), tuple(map(str, values.pop("seen")))
            return Watch(**values, words=words, seen=seen, items=items)
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise unreadable(path, problem) from problem
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
            hint = "remove it: sleuth watch remove {name}"
            raise SettingsError("{path} is damaged", hint, path=path, name=name) from problem

    def save(self, watch: Watch) -> None:
        """Write a watch."""
        values = watch._asdict() | {"seen": watch.seen[-MAX_SEEN:], "items": watch.items[:MAX_ITEMS]}
        write_atomic(self._path(watch.name), json.dumps(values, ensure_ascii=False).encode("utf-8", "replace"))

    def remove(self, name: str) -> None:
        """Delete a watch; raise RequestError if it does not exist."""
        try:
            os.unlink(self._path(name))
        except FileNotFoundError:
            raise RequestError("no saved search {name!r}", "to list them: sleuth watch list", name=name) from None
        with suppress(FileNotFoundError):
            os.unlink(f"{self._path(name)}.lock")

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Keep other processes from running the same watch."""
        private_folder(self.folder)
        with locked(f"{self._path(name)}.lock") as held:
            if not held:
                raise SettingsError("{name} is already running in another process", "try again in a moment", name=name)
            yield

    def _path(self, name: str) -> str:
        if not re.fullmatch(r"[\w-]+", name):
            raise RequestError("invalid name {name!r}", "use letters, digits, - and _", name=name)
        return os.path.join(self.folder, f"{name}.json")
