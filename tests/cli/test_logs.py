"""The log rotates, holds no secret and no control character, and never fails a command."""

import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sleuth import logs

KEY = "sk-secret/0123 456789"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """A log of this test's own, and the old state afterwards."""
    state, secrets = dict(logs._state), set(logs._secrets)
    logs.configure(str(tmp_path / "state"), False)
    yield tmp_path / "state"
    logs._state.update(state)
    logs._secrets.clear()
    logs._secrets.update(secrets)


def lines(folder: Path) -> list[str]:
    return (folder / "sleuth.log").read_text().splitlines()


def test_nothing_is_made_until_something_is_logged(folder: Path) -> None:
    assert not folder.exists()
    logs.log("%s: %d", "brave", 5)
    assert len(lines(folder)) == 1
    assert lines(folder)[0].endswith(f" {os.getpid()} brave: 5")


def test_log_is_private_when_the_umask_is_open(folder: Path) -> None:
    before = os.umask(0)
    try:
        logs.log("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "sleuth.log").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "said",
    [
        f"GET /?key={KEY}",
        "GET /?key=sk-secret%2F0123%20456789",
        "GET /?key=sk-secret/0123%20456789",
        "GET /?key=sk-secret%2f0123+456789",
        f"Authorization: Bearer {KEY}",
        f"{KEY[:9]}\u200b{KEY[9:]}",
        f"{KEY[:9]}\x1b{KEY[9:]}",
        "x" * 3990 + KEY,
    ],
)
def test_secrets_are_in_no_line(folder: Path, said: str) -> None:
    logs.hide(KEY, "")
    logs.log(said.replace("%", "%%") + "%s", "")
    text = (folder / "sleuth.log").read_text()
    assert "sk-secret" not in text
    assert "456789" not in text


def test_secrets_are_hidden_in_what_python_quotes(folder: Path) -> None:
    logs.hide("back\\slash'quote")
    logs.log("failed: %r", ValueError("back\\slash'quote"))
    assert "slash" not in (folder / "sleuth.log").read_text()


def test_line_is_one_line_without_control_characters(folder: Path) -> None:
    logs.log("%s", "a\nb\r\x1b[31mc\u202ed\x00" + "e" * 10_000)
    assert len(lines(folder)) == 1
    assert lines(folder)[0].isprintable()
    assert len(lines(folder)[0]) < 4100


def test_log_rotates_when_it_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MAX_SIZE", 1000)
    for number in range(60):
        logs.log("line number %d", number)
    assert sorted(os.listdir(folder)) == ["sleuth.log", "sleuth.log.1"]
    assert max(os.path.getsize(folder / name) for name in os.listdir(folder)) < 1100
    assert lines(folder)[-1].endswith("line number 59")
    before = (folder / "sleuth.log.1").read_text().splitlines()
    assert before[-1].rpartition(" ")[2] == str(int(lines(folder)[0].rpartition(" ")[2]) - 1)


def test_debug_goes_to_stderr_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs.hide(KEY)
    logs.log("quiet")
    logs.configure(str(folder), True)
    logs.log("loud %s", KEY)
    assert capsys.readouterr().err == "debug: loud [hidden]\n"
    assert len(lines(folder)) == 2


@pytest.mark.parametrize("stream", ["closed", "none", "ascii", "pipe"])
def test_broken_stderr_fails_nobody(folder: Path, monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
    class Pipe(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    closed = io.StringIO()
    closed.close()
    streams = {"closed": closed, "none": None, "ascii": io.TextIOWrapper(io.BytesIO(), "ascii"), "pipe": Pipe()}
    monkeypatch.setattr(sys, "stderr", streams[stream])
    logs.configure(str(folder), True)
    logs.log("中文")
    assert lines(folder)[0].endswith("中文")


@pytest.mark.parametrize("place", ["file/state", "/proc/nowhere"])
def test_place_that_cannot_be_written_fails_nobody(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    logs.configure(str(tmp_path / place), False)
    logs.log("lost")


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("template", "values"), [("%d", ("x",)), ("%s %s", ("one",)), ("%r", (Unspeakable(),)), ("100%", (1,))]
)
def test_line_that_cannot_be_made_fails_nobody(template: str, values: tuple[object, ...]) -> None:
    logs.log(template, *values)


def test_broken_characters_fail_nobody(folder: Path) -> None:
    logs.hide("key\udcff\ud800")
    logs.log("with \udcff and key\udcff\ud800")
    assert lines(folder)[0].endswith(" with and [hidden]")


def test_nothing_is_written_where_there_is_no_folder(folder: Path) -> None:
    logs.configure("", False)
    logs.log("nowhere")
    assert not folder.exists()


def test_indentation_stays_in_a_traceback() -> None:
    assert logs.safe("    raise ValueError") == "    raise ValueError"
    assert len(logs.safe(" " * 100_000 + "x")) < 5000
