"""Files are private from birth and replaced whole or not at all; locks hold between processes."""

import importlib.util
import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sleuth.base import files
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
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    return out.strip()


# Folders


@pytest.mark.usefixtures("open_umask")
def test_folder_is_private_and_its_new_parents_too_when_the_umask_is_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    assert private_folder(str(tmp_path / "a/b/c")) == str(tmp_path / "a/b/c")
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c")] == [0o700] * 3
    assert mode(tmp_path) == 0o755


def test_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    private_folder(str(tmp_path))
    assert mode(tmp_path) == 0o750


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nowhere/x"])
def test_folder_that_cannot_be_made_is_said(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError, match="cannot make the folder") as caught:
        private_folder(str(tmp_path / place))
    assert isinstance(caught.value, SettingsError)
    assert caught.value.values["reason"]


def test_folder_may_be_made_by_many_at_once(tmp_path: Path) -> None:
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
def test_file_is_written_whole_and_private_when_the_umask_is_open(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    write_atomic(str(path), b"one")
    assert (path.read_bytes(), mode(path)) == (b"one", 0o600)
    path.chmod(0o666)
    write_atomic(str(path), b"two")
    assert (path.read_bytes(), mode(path)) == (b"two", 0o600)
    assert os.listdir(tmp_path) == ["config.toml"]


def test_link_keeps_pointing_where_it_did(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles" / "real.toml", tmp_path / "config.toml"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to("dotfiles/real.toml")
    write_atomic(str(link), b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert os.listdir(real.parent) == ["real.toml"]


def test_link_to_nothing_yet_is_followed(tmp_path: Path) -> None:
    (tmp_path / "config.toml").symlink_to("real.toml")
    write_atomic(str(tmp_path / "config.toml"), b"new")
    assert (tmp_path / "real.toml").read_bytes() == b"new"


def test_old_file_stays_and_no_temporary_is_left_when_writing_fails(
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


def test_no_temporary_is_left_when_a_folder_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(UnwritableError):
        write_atomic(str(tmp_path / "config.toml"), b"new")
    assert os.listdir(tmp_path) == ["config.toml"]


def test_no_temporary_is_left_when_the_write_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(str(tmp_path / "config.toml"), b"new")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("place", ["file/config.toml", "absent/config.toml", "/proc/config.toml"])
def test_place_that_cannot_be_written_is_said(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwritableError, match=r"cannot write .*config\.toml") as caught:
        write_atomic(str(tmp_path / place), b"new")
    assert caught.value.hint


def test_folder_is_not_flushed_where_systems_know_no_such_thing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.os, "name", "nt")
    files._sync_folder(str(tmp_path / "absent"))


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
def test_file_is_never_broken_when_its_writer_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    pause = threading.Event()
    for kill in range(20):
        writers = [python(WRITER, path) for _ in range(2)]
        for place, writer in enumerate(writers):
            assert writer.stdout
            writer.stdout.readline()
            pause.wait(0.001 * (kill + place))  # each time at another instant
            writer.send_signal(signal.SIGKILL)
        for writer in writers:
            writer.communicate(timeout=10)
        data = path.read_bytes()
        assert len(data) == 200_000
        assert len(set(data)) == 1


# Locks

HOLDER = """
import sys
from sleuth.base.files import locked
with locked(sys.argv[1], remove=len(sys.argv) > 2) as held:
    print(held, flush=True)
    sys.stdin.readline()
"""


@pytest.mark.parametrize("more", [[], ["remove"]])
def test_lock_excludes_another_process_until_it_is_given_back(tmp_path: Path, more: list[str]) -> None:
    path, remove = str(tmp_path / "lock"), bool(more)
    holder = python(HOLDER, path, *more)
    assert holder.stdout
    assert holder.stdout.readline() == "True\n"
    with locked(path, 0.05, remove=remove) as held:
        assert held is False
    assert os.path.exists(path)
    assert finish(holder) == ""
    with locked(path, 0.05, remove=remove) as held:
        assert held is True
    assert os.path.exists(path) is not remove


def test_lock_is_free_when_its_holder_was_killed(tmp_path: Path) -> None:
    holder = python(HOLDER, tmp_path / "lock", "remove")
    assert holder.stdout
    holder.stdout.readline()
    holder.kill()
    holder.communicate()
    with locked(str(tmp_path / "lock"), 1.0, remove=True) as held:
        assert held is True


def test_lock_is_given_back_when_the_work_fails(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with pytest.raises(ZeroDivisionError), locked(path, remove=True):
        raise ZeroDivisionError
    assert not os.path.exists(path)


def test_lock_that_somebody_removed_fails_nobody(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with locked(path, remove=True):
        os.unlink(path)


def test_lock_in_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="cannot write"), locked(str(tmp_path / "absent" / "lock")):
        pass


@pytest.mark.usefixtures("open_umask")
def test_lock_file_is_private(tmp_path: Path) -> None:
    with locked(str(tmp_path / "lock")):
        assert mode(tmp_path / "lock") == 0o600


def test_everybody_goes_ahead_where_there_are_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    spec = importlib.util.spec_from_file_location("files_without_locks", files.__file__)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with module.locked(str(tmp_path / "lock")) as held:
        assert held is True
    assert os.listdir(tmp_path) == []


def test_lock_is_taken_anew_when_its_file_was_removed_while_we_waited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "lock")
    holder = locked(path, remove=True)
    holder.__enter__()
    monkeypatch.setattr(files.time, "sleep", lambda _: holder.__exit__(None, None, None))  # while the other one waits
    with locked(path, remove=True) as held:
        assert held is True
        assert os.path.exists(path)
        with locked(path, 0, remove=True) as other:
            assert other is False


COUNTER = """
import sys
from sleuth.base.files import locked
for _ in range(25):
    with locked(sys.argv[1], 30, remove=sys.argv[3] == "remove") as held:
        assert held
        number = int(open(sys.argv[2]).read())
        with open(sys.argv[2], "w") as stream:
            stream.write(str(number + 1))
"""


@pytest.mark.parametrize("remove", ["remove", "keep"])
def test_nobody_is_in_the_same_room_when_many_take_turns(tmp_path: Path, remove: str) -> None:
    (tmp_path / "count").write_text("0")
    for process in [python(COUNTER, tmp_path / "lock", tmp_path / "count", remove) for _ in range(4)]:
        finish(process)
    assert (tmp_path / "count").read_text() == "100"
