"""Answers are kept for a while, shared by all processes; a cache that fails means no cache, never a failed search."""

import json
import os
import pickle
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.forks import run_at_once

from sleuth.base import files
from sleuth.base.files import locked
from sleuth.store.cache import disk as module
from sleuth.store.cache.disk import Cache, DiskCache
from sleuth.store.cache.json_disk import ForeignRowError, JsonDisk

ENVIRON = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
ANSWER = {"results": [{"title": "Ünïcode 中文", "n": 1.5, "none": None}], "deep": [[[[]]]]}


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "cache" / "answers")


@pytest.fixture
def cache(folder: str) -> DiskCache:
    return DiskCache(folder, 100)


def run(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=ENVIRON, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def sql(cache: DiskCache, statement: str, *values: Any) -> list[Any]:
    with closing(sqlite3.connect(cache.file)) as connection:
        rows = connection.execute(statement, values).fetchall()
        connection.commit()
        return rows


# Keeping


def test_value_is_read_back_unchanged(cache: DiskCache) -> None:
    assert cache.get("k") is None
    cache.put("k", ANSWER, 60)
    entry = cache.get("k")
    assert entry
    assert (entry.value, entry.fresh_s > 0) == (ANSWER, True)
    assert 0 <= entry.age < 5
    assert cache.get("other") is None


def test_newer_value_replaces_an_older_one(cache: DiskCache) -> None:
    cache.put("k", 1, 60)
    cache.put("k", 2, 60)
    entry = cache.get("k")
    assert entry
    assert entry.value == 2
    assert cache.stats()["entries"] == 1


def test_expired_value_is_marked(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put("k", 1, 60)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 59)
    entry = cache.get("k")
    assert entry
    assert entry.fresh_s > 0
    monkeypatch.setattr(time, "time", lambda: now + 61)
    entry = cache.get("k")
    assert entry
    assert entry.fresh_s <= 0
    assert 60 < entry.age < 63


def test_age_is_never_negative_when_the_clock_is_set_back(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put("k", 1, 60)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 1000)
    entry = cache.get("k")
    assert entry
    assert entry.age == 0
    assert cache.stats()["oldestSeconds"] == 0


@pytest.mark.parametrize("seconds", [0, -1])
def test_nothing_is_stored_without_a_ttl(cache: DiskCache, seconds: float) -> None:
    cache.put("k", 1, seconds)
    assert cache.get("k") is None
    assert not os.path.exists(cache.folder)


def test_too_large_value_is_not_stored(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_ENTRY_CHARS", 10)
    cache.put("large", "x" * 9, 60)
    cache.put("small", "x" * 8, 60)
    assert cache.get("large") is None
    assert cache.get("small")


@pytest.mark.parametrize("value", [object(), {1, 2}, "\ud800"], ids=["object", "set", "surrogate"])
def test_value_that_is_not_json_is_ignored(cache: DiskCache, value: Any) -> None:
    cache.put("k", value, 60)
    assert cache.get("k") is None


def test_oldest_entries_are_evicted_first(folder: str) -> None:
    cache = DiskCache(folder, 3)
    for key in "abc":
        cache.put(key, key, 60)
    cache.put("a", "again", 60)
    cache.put("d", "d", 60)
    assert [key for key in "abcd" if cache.get(key)] == ["a", "c", "d"]
    DiskCache(folder, 1).put("e", "e", 60)
    assert [key for key in "abcde" if cache.get(key)] == ["e"]


def test_cache_is_cleared_and_counted(cache: DiskCache, folder: str) -> None:
    empty = {"entries": 0, "bytes": 0, "oldestSeconds": None, "folder": folder}
    assert cache.stats() == empty
    assert not os.path.exists(cache.file)  # an empty one would look damaged
    assert cache.clear() == 0
    for key in "abc":
        cache.put(key, "x" * 8, 60)
    assert cache.stats() == {"entries": 3, "bytes": 30, "oldestSeconds": 0, "folder": folder}
    assert cache.clear() == 3
    assert cache.get("a") is None
    assert cache.stats() == empty


def test_cache_in_a_folder_that_is_not_writable_is_counted(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put("a", "x", 60)
    connect = sqlite3.connect

    def read_only(address: str, *args: Any, **options: Any) -> sqlite3.Connection:
        if "immutable" not in address:  # SQLite cannot create the files beside it; root could
            raise sqlite3.OperationalError("unable to open database file")
        return connect(address, *args, **options)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    assert cache.stats()["entries"] == 1


def test_files_and_folders_are_private_whatever_the_umask(cache: DiskCache, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with cache.single_flight("key", 1):
            cache.put("k", 1, 60)
            found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    finally:
        os.umask(before)
    assert {found.pop(name) for name in ("cache", "answers", "locks")} == {0o700}
    assert {"cache.db", "key"} <= set(found)
    assert set(found.values()) == {0o600}


@pytest.mark.parametrize("name", ["plain", "what?#%41", "with blank", "中文"])
def test_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    cache = DiskCache(str(tmp_path / name), 10)
    cache.put("k", 1, 60)
    assert cache.get("k")
    assert cache.stats()["entries"] == 1


def test_no_cache_stores_nothing() -> None:
    cache = Cache()
    cache.put("k", 1, 60)
    assert cache.get("k") is None
    with cache.single_flight("k", 1), cache.single_flight("k", 1):
        pass  # it locks nothing


# Hostile and broken files


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


ROW = "INSERT INTO Cache (key, raw, store_time, expire_time, access_time, size, mode, filename, value)"


def plant(cache: DiskCache, key: Any, raw: int, mode: int, filename: str | None, value: Any) -> None:
    cache.put("first", 1, 60)
    sql(cache, "DELETE FROM Cache")
    sql(cache, f"{ROW} VALUES (?, ?, 1, 9e9, 1, 0, ?, ?, ?)", key, raw, mode, filename, value)


@pytest.mark.parametrize("key", ["k", "pickled"])
def test_planted_pickle_is_never_run(cache: DiskCache, tmp_path: Path, key: str) -> None:
    mark = tmp_path / "owned"
    trap = pickle.dumps(Trap(mark), protocol=0)
    if key == "pickled":
        plant(cache, trap, 0, 1, None, json.dumps("innocent"))
    else:
        plant(cache, "k", 1, 4, None, trap)
    cache.max_entries = 1
    assert cache.get("k") is None
    cache.stats()
    cache.put("new", 1, 60)
    cache.put("newer", 2, 60)
    assert cache.get("newer")
    cache.clear()
    assert not mark.exists()


@pytest.mark.parametrize("mode", [2, 3, 4])
def test_planted_row_cannot_make_us_read_a_file(cache: DiskCache, tmp_path: Path, mode: int) -> None:
    (tmp_path / "secret").write_text('"secret"')
    plant(cache, "k", 1, mode, str(tmp_path / "secret"), None)
    assert cache.get("k") is None


def test_planted_row_cannot_make_us_remove_a_file(cache: DiskCache, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    plant(cache, "k", 1, 1, str(victim), '"x"')
    cache.put("k", 2, 60)
    plant(cache, "k", 1, 1, str(victim), '"x"')
    sql(cache, "UPDATE Cache SET expire_time = 1")
    cache.put("other", 2, 60)
    plant(cache, "k", 1, 1, "../../victim", '"x"')
    cache.clear()
    assert victim.read_text() == "precious"


def test_disk_accepts_text_only(tmp_path: Path) -> None:
    disk = JsonDisk(str(tmp_path))
    assert disk.get(*disk.put("key")) == "key"
    assert disk.fetch(*disk.store("value", False)[1:], False) == "value"
    for refused in (lambda: disk.put(b"key"), lambda: disk.store(b"value", False), lambda: disk.store("value", True)):
        with pytest.raises(TypeError):
            refused()
    for row in ((4, None, b"x"), (1, "file", "x"), (1, None, b"x"), (2, "file", None)):
        with pytest.raises(ForeignRowError):
            disk.fetch(*row, False)
    with pytest.raises(ForeignRowError):
        disk.get(b"pickle", False)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("value", "not json"),
        ("value", "[" * 100_000),
        ("value", 5),
        ("value", b"bytes"),
        ("value", None),
        ("store_time", "yesterday"),
        ("store_time", None),
        ("expire_time", "tomorrow"),
    ],
)
def test_invalid_row_is_a_miss(cache: DiskCache, column: str, value: Any) -> None:
    cache.put("k", 1, 60)
    sql(cache, f"UPDATE Cache SET {column} = ?", value)
    assert cache.get("k") is None
    assert cache.stats()["folder"] == cache.folder


@pytest.mark.parametrize("data", [b"this is no database " * 20, b"", b"SQLite format 3\0" + b"\xff" * 300])
def test_damaged_file_is_replaced(cache: DiskCache, data: bytes) -> None:
    os.makedirs(cache.folder)
    Path(cache.file).write_bytes(data)
    assert cache.get("k") is None
    assert cache.stats()["entries"] == 0
    cache.put("k", 1, 60)
    cache.put("k", 2, 60)
    entry = cache.get("k")
    assert entry
    assert entry.value == 2


def test_damaged_file_is_deleted_by_clear(cache: DiskCache) -> None:
    os.makedirs(cache.folder)
    Path(cache.file).write_bytes(b"this is no database " * 20)
    assert cache.clear() == 0
    cache.put("k", 1, 60)
    assert cache.get("k")


@pytest.mark.parametrize("place", ["file/below", "/proc/nowhere"])
def test_unwritable_folder_means_no_cache(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    cache = DiskCache(str(tmp_path / place), 10)
    cache.put("k", 1, 60)
    assert cache.get("k") is None
    assert cache.clear() == 0
    with cache.single_flight("k", 1), cache.single_flight("k", 1):
        pass  # there is no lock to wait for


# Many at once

WRITER = """
cache = DiskCache(arguments[0], 1000)
for n in range(10):
    cache.put(f"{number}-{n}", {"n": n, "text": "x" * 1000}, 600)
    assert cache.get(f"{number}-{n}").value["n"] == n
"""


def test_16_processes_write_at_once_and_lose_nothing(cache: DiskCache, folder: str) -> None:
    run_at_once(16, "from sleuth.store.cache.disk import DiskCache", WRITER, folder)
    assert cache.stats()["entries"] == 160
    assert all(cache.get(f"{number}-{n}") for number in range(16) for n in range(10))


WORKER = """
import sys
from sleuth.store.cache.disk import DiskCache
cache = DiskCache(sys.argv[1], 100)
with cache.single_flight("question", 30):
    if cache.get("question") is None:
        with open(sys.argv[2], "a") as stream:
            stream.write("asked\\n")
        cache.put("question", "answer", 600)
print(cache.get("question").value)
"""


def test_one_process_works_and_the_others_use_its_result(folder: str, tmp_path: Path) -> None:
    processes = [run(WORKER, folder, tmp_path / "asked") for _ in range(8)]
    assert [process.communicate(timeout=300)[0] for process in processes] == ["answer\n"] * 8
    assert (tmp_path / "asked").read_text() == "asked\n"
    assert os.listdir(os.path.join(folder, "locks")) == []


def test_caller_goes_ahead_when_the_lock_holder_hangs(cache: DiskCache, folder: str) -> None:
    os.makedirs(os.path.join(folder, "locks"))
    with locked(os.path.join(folder, "locks", "k"), once=True), cache.single_flight("k", 0):
        pass  # reached in spite of the lock


class Clock:
    """A fake clock; each sleep of a waiting caller takes a second and runs the next step of another one."""

    def __init__(self, *steps: Callable[[], object]) -> None:
        self.now, self.steps = 0.0, list(steps)

    def sleep(self, _: float) -> None:
        self.now += 1
        if self.steps:
            self.steps.pop(0)()


def test_caller_waits_for_a_slow_holder_that_renews_its_lock(
    cache: DiskCache, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewals: list[Callable[[], object]] = []
    monkeypatch.setattr(module, "renewing", lambda renew, _: renewals.append(renew) or nullcontext())
    holder = cache.single_flight("k", 6)
    holder.__enter__()
    [renew] = renewals

    def renew_at(second: int) -> Callable[[], object]:
        def step() -> None:
            renew()
            os.utime(os.path.join(folder, "locks", "k"), (second, second))  # as the real clock would do

        return step

    def finish() -> None:
        cache.put("k", "answer", 600)
        holder.__exit__(None, None, None)

    clock = Clock(*(renew_at(second) for second in range(1, 30)), finish)
    monkeypatch.setattr(files.time, "sleep", clock.sleep)
    monkeypatch.setattr(files.time, "monotonic", lambda: clock.now)
    with cache.single_flight("k", 6):
        assert clock.now == 30
        found = cache.get("k")
        assert found
        assert found.value == "answer"
    assert len(renewals) == 1  # the one that waited does not lock out the others
    assert os.listdir(os.path.join(folder, "locks")) == []


def test_caller_goes_ahead_when_the_holder_was_stopped(cache: DiskCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "renewing", lambda *_: nullcontext())  # a process that was stopped renews nothing
    clock = Clock()
    monkeypatch.setattr(files.time, "sleep", clock.sleep)
    monkeypatch.setattr(files.time, "monotonic", lambda: clock.now)
    with cache.single_flight("k", 30), cache.single_flight("k", 30):
        assert clock.now == module.LOCK_STALL_TIMEOUT_S


def test_holder_renews_its_lock_until_it_is_done() -> None:
    renewed = threading.Semaphore(0)
    with module.renewing(renewed.release, 0.001):
        assert all(renewed.acquire(timeout=60) for _ in range(3))


def test_lock_is_released_after_an_error(cache: DiskCache, folder: str) -> None:
    with pytest.raises(ZeroDivisionError), cache.single_flight("k", 1):
        raise ZeroDivisionError
    assert os.listdir(os.path.join(folder, "locks")) == []


def test_cache_folder_may_vanish_during_work(cache: DiskCache, folder: str) -> None:
    with cache.single_flight("k", 1):
        os.unlink(os.path.join(folder, "locks", "k"))
        os.rmdir(os.path.join(folder, "locks"))


def test_clear_deletes_the_locks_of_killed_processes(cache: DiskCache, folder: str) -> None:
    cache.put("k", 1, 60)
    os.makedirs(os.path.join(folder, "locks"))
    Path(folder, "locks", "k").touch()
    assert cache.clear() == 1
    assert not os.path.exists(os.path.join(folder, "locks", "k"))


def test_key_that_is_not_a_file_name_is_not_locked(cache: DiskCache) -> None:
    with cache.single_flight("a/b/../../../x", 1), cache.single_flight("a/b/../../../x", 1):
        pass  # there is no lock to wait for
