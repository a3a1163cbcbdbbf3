"""Private files and folders, atomic writes, and locks between processes."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sleuth.base import append, files
from sleuth.base.errors import SettingsError, UnwritableError
from sleuth.base.files import append_private, locked, private_folder, write_atomic

ENVIRON = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def python(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, env=ENVIRON, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return out.strip()


# Folders


@pytest.mark.usefixtures("open_umask")
def test_new_folder_and_its_parents_are_private_whatever_the_umask(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert private_folder(str(tmp_path / "a/b/c")) == str(tmp_path / "a/b/c")
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c")] == [0o700] * 3
    assert mode(tmp_path) == 0o755


def test_existing_folder_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    private_folder(str(tmp_path))
    assert mode(tmp_path) == 0o750


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nowhere/x"])
def test_folder_that_cannot_be_created_is_an_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError, match="cannot create the folder") as caught:
        private_folder(str(tmp_path / place))
    assert isinstance(caught.value, SettingsError)
    assert caught.value.values["reason"]


def test_many_threads_can_create_the_same_folder(tmp_path: Path) -> None:
    start = threading.Barrier(8)
    problems: list[Exception] = []

    def make() -> None:
        start.wait()
        try:
            private_folder(str(tmp_path / "a/b/c/d"))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


# Writing


@pytest.mark.usefixtures("open_umask")
def test_written_file_is_private_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    write_atomic(str(path), b"one")
    assert (path.read_bytes(), mode(path)) == (b"one", 0o600)
    path.chmod(0o666)
    write_atomic(str(path), b"two")
    assert (path.read_bytes(), mode(path)) == (b"two", 0o600)
    assert os.listdir(tmp_path) == ["config.toml"]


def test_write_follows_a_symbolic_link(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "real.toml", tmp_path / "config.toml"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to("dotfiles/real.toml")
    write_atomic(str(link), b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert os.listdir(real.parent) == ["real.toml"]


def test_write_follows_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "config.toml").symlink_to("real.toml")
    write_atomic(str(tmp_path / "config.toml"), b"new")
    assert (tmp_path / "real.toml").read_bytes() == b"new"


def test_failed_write_keeps_the_old_file_and_leaves_no_temporary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"old")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(UnwritableError, match="No space left"):
        write_atomic(str(path), b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["config.toml"]


def test_write_over_a_folder_leaves_no_temporary(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(UnwritableError):
        write_atomic(str(tmp_path / "config.toml"), b"new")
    assert os.listdir(tmp_path) == ["config.toml"]


def test_interrupted_write_leaves_no_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(str(tmp_path / "config.toml"), b"new")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("place", ["file/config.toml", "absent/config.toml", "/proc/config.toml"])
def test_unwritable_path_is_an_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError, match=r"cannot write .*config\.toml") as caught:
        write_atomic(str(tmp_path / place), b"new")
    assert caught.value.hint


def test_hint_says_what_the_path_lacks(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError) as caught:
        write_atomic(str(tmp_path / "no such" / "x.txt"), b"new")
    assert caught.value.hint == "create the folder first: mkdir -p {folder}"
    assert caught.value.values["folder"] == f"'{tmp_path}/no such'"
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file" / "x.txt"):
        with pytest.raises(UnwritableError) as caught:
            write_atomic(str(path), b"new")
        assert caught.value.hint == "choose another file"


@pytest.mark.usefixtures("open_umask")
def test_appended_file_is_private(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    for line in (b"a", b"b"):
        handle = append_private(path)
        os.write(handle, line)
        os.close(handle)
    assert (Path(path).read_bytes(), mode(path)) == (b"ab", 0o600)


WRITER = """
import sys
from sleuth.base.files import write_atomic
n = 0
while True:
    n += 1
    write_atomic(sys.argv[1], (str(n % 10) * 200_000).encode())
    if n == 1:
        print("writing", flush=True)
"""


@pytest.mark.slow
def test_killed_writer_leaves_a_complete_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    for kill in range(20):
        writers = [python(WRITER, path) for _ in range(2)]
        for place, writer in enumerate(writers):
            assert writer.stdout
            writer.stdout.readline()
            time.sleep(0.001 * (kill + place))  # kills at different moments; any of them must be harmless
            writer.send_signal(signal.SIGKILL)
        for writer in writers:
            writer.communicate(timeout=300)
        data = path.read_bytes()
        assert len(data) == 200_000
        assert len(set(data)) == 1


# Locks

HOLDER = """
import sys
from sleuth.base.files import locked
with locked(sys.argv[1], once=len(sys.argv) > 2) as held:
    print(held, flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("more", [[], ["once"]])
def test_lock_excludes_other_processes_until_it_is_released(tmp_path: Path, more: list[str]) -> None:
    path, once = str(tmp_path / "lock"), bool(more)
    holder = python(HOLDER, path, *more)
    assert holder.stdout
    assert holder.stdout.readline() == "True\n"
    with locked(path, 0, once=once) as held:
        assert held is False
    assert os.path.exists(path)
    assert finish(holder) == ""
    with locked(path, 0, once=once) as held:
        assert held is True
    assert os.path.exists(path) is not once


def test_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    holder = python(HOLDER, tmp_path / "lock", "once")
    assert holder.stdout
    holder.stdout.readline()
    holder.kill()
    holder.communicate()
    with locked(str(tmp_path / "lock"), 0, once=True) as held:
        assert held is True


def test_lock_is_released_after_an_error(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with pytest.raises(ZeroDivisionError), locked(path, once=True):
        raise ZeroDivisionError
    assert not os.path.exists(path)


def test_deleted_lock_file_is_no_error(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with locked(path, once=True):
        os.unlink(path)


def test_lock_in_an_unwritable_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="cannot write"), locked(str(tmp_path / "absent" / "lock")):
        pass


@pytest.mark.usefixtures("open_umask")
def test_lock_file_is_private(tmp_path: Path) -> None:
    with locked(str(tmp_path / "lock")):
        assert mode(tmp_path / "lock") == 0o600


def test_lock_is_always_acquired_on_systems_without_flock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(append, "fcntl", None)
    with locked(str(tmp_path / "lock"), 0) as held, locked(str(tmp_path / "lock"), 0) as second:
        assert (held, second) == (True, True)


def test_lock_is_acquired_on_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(append.fcntl, "flock", refuse)
    with files.locked(str(tmp_path / "lock")) as held:
        assert held


def test_caller_that_waited_for_work_that_is_needed_once_does_not_get_the_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "lock")
    holder = locked(path, once=True)
    holder.__enter__()
    monkeypatch.setattr(files.time, "sleep", lambda _: holder.__exit__(None, None, None))  # while the other one waits
    with locked(path, once=True) as held:
        assert held is False
        with locked(path, 0, once=True) as later:
            assert later is True


class Queue:
    """A fake clock, and a lock that another process takes over every `seconds` until `handovers` have happened."""

    def __init__(self, path: str, seconds: float, handovers: int) -> None:
        self.path, self.seconds, self.handovers = path, seconds, handovers
        self.now = 0.0
        self.holder = os.open(path, os.O_RDWR | os.O_CREAT)
        append.try_lock(self.holder)

    def sleep(self, _: float) -> None:
        self.now += self.seconds
        if self.handovers:
            os.utime(self.path, (self.now, self.now))
            self.handovers -= 1
        elif self.holder:
            os.close(self.holder)
            self.holder = 0


def test_waiting_has_no_limit_while_the_lock_changes_hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(str(tmp_path / "lock"), seconds=9, handovers=100)
    monkeypatch.setattr(files.time, "sleep", queue.sleep)
    monkeypatch.setattr(files.time, "monotonic", lambda: queue.now)
    with locked(queue.path, 10) as held:
        assert held is True
    assert queue.now == 9 * 101


def test_waiting_ends_when_the_lock_does_not_change_hands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue(str(tmp_path / "lock"), seconds=9, handovers=3)
    monkeypatch.setattr(files.time, "monotonic", lambda: queue.now)

    def sleep(seconds: float) -> None:
        if queue.handovers:
            queue.sleep(seconds)
        else:
            queue.now += queue.seconds  # the last holder hangs

    monkeypatch.setattr(files.time, "sleep", sleep)
    with locked(queue.path, 10) as held:
        assert held is False
    os.close(queue.holder)


COUNTER = """
import sys
from sleuth.base.files import locked
for _ in range(25):
    with locked(sys.argv[1]) as held:
        assert held
        number = int(open(sys.argv[2]).read())
        with open(sys.argv[2], "w") as stream:
            stream.write(str(number + 1))
"""


def test_only_one_process_at_a_time_holds_the_lock(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    for process in [python(COUNTER, tmp_path / "lock", tmp_path / "count") for _ in range(4)]:
        finish(process)
    assert (tmp_path / "count").read_text() == "100"
