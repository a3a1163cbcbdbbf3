"""The log rotates, holds no secret and no control character, and never fails a command."""

import io
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sleuth.base import logs

KEY = "sk-secret/0123 456789"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path) -> Iterator[Path]:
    """A log of this test's own, and the old state afterwards."""
    state, secrets, kept_out = dict(logs._state), set(logs._secrets), [*logs._private_texts]
    logs._secrets.clear()  # those of earlier tests in this process may be parts of what is logged here
    logs._private_texts.clear()
    logs.configure(str(tmp_path / "state"), False)
    yield tmp_path / "state"
    logs._state.update(state)
    logs._secrets.clear()
    logs._secrets.update(secrets)
    logs._private_texts[:] = kept_out


def lines(folder: Path) -> list[str]:
    return (folder / "sleuth.log").read_text().splitlines()


def test_file_is_created_by_the_first_line(folder: Path) -> None:
    assert not folder.exists()
    logs.log("%s: %d", "brave", 5)
    assert len(lines(folder)) == 1
    assert lines(folder)[0].endswith(f" {os.getpid()} brave: 5")


def test_log_is_private_whatever_the_umask(folder: Path) -> None:
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
def test_registered_secrets_are_redacted(folder: Path, said: str) -> None:
    logs.hide(KEY, "")
    logs.log(said.replace("%", "%%") + "%s", "")
    text = (folder / "sleuth.log").read_text()
    assert "sk-secret" not in text
    assert "456789" not in text


def test_secrets_in_quoted_values_are_redacted(folder: Path) -> None:
    logs.hide("back\\slash'quote")
    logs.log("failed: %r", ValueError("back\\slash'quote"))
    assert "slash" not in (folder / "sleuth.log").read_text()


def test_line_is_one_line_without_control_characters(folder: Path) -> None:
    logs.log("%s", "a\nb\r\x1b[31mc\u202ed\x00" + "e" * 10_000)
    assert len(lines(folder)) == 1
    assert lines(folder)[0].isprintable()
    assert len(lines(folder)[0]) < 4100


def test_log_rotates_when_it_is_full(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MAX_LOG_BYTES", 1000)
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
def test_unusable_stderr_is_ignored(folder: Path, monkeypatch: pytest.MonkeyPatch, stream: str) -> None:
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
def test_unwritable_folder_is_ignored(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("")
    logs.configure(str(tmp_path / place), False)
    logs.log("lost")


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("template", "values"), [("%d", ("x",)), ("%s %s", ("one",)), ("%r", (Unspeakable(),)), ("100%", (1,))]
)
def test_invalid_template_is_ignored(template: str, values: tuple[object, ...]) -> None:
    logs.log(template, *values)


def test_lone_surrogates_are_replaced(folder: Path) -> None:
    logs.hide("key\udcff\ud800")
    logs.log("with \udcff and key\udcff\ud800")
    assert lines(folder)[0].endswith(" with and [hidden]")


def test_nothing_is_written_without_a_folder(folder: Path) -> None:
    logs.configure("", False)
    logs.log("nowhere")
    assert not folder.exists()


def test_indentation_of_a_traceback_is_kept() -> None:
    assert logs.safe("    raise ValueError") == "    raise ValueError"
    assert len(logs.safe(" " * 100_000 + "x")) < 5000


# Secrets that were not registered

CARRIERS = [
    "Authorization: Bearer {}",
    "authorization: token {}",
    'Authorization: Digest username="me", response="{}", uri="/"',
    "Proxy-Authorization: Basic {}==",
    "{{'Authorization': 'Bearer {}', 'Accept': '*/*'}}",
    "[(b'authorization', b'Bearer {}')]",
    '{{"Authorization": "Digest a=\\"b\\", response=\\"{}\\""}}',
    "Cookie: session={}; theme=dark",
    "Bearer {}",
    "basic {}",
    "X-API-KEY: {}",
    "X-Subscription-Token: {}",
    "Headers([('x-api-key', '{}'), ('accept', '*/*')])",
    "https://api.example/search?q=rust&key={}",
    "https://api.example/search?api_key={}&q=rust",
    "https://api.example/search?apikey={}#part",
    "https://api.example/search?access_token={}",
    "https://proxy.example/?to=https%3A%2F%2Fapi.example%2F%3Ftoken%3D{}%26q%3Drust",
    "https://api.example/token={}/search",
    "https://me:{}@api.example/",
    "redis://:{}@cache.example:6379/0",
    "socks5h://{}@proxy.example:1080",
    "postgres://me:pass/{}@word@db.example/x",
    "postgres://me:1234/{}@db.example/x",
    "redis://:1234#{}@cache.example:6379/0",
    '{{"password": "{}", "user": "me"}}',
    '{{\\"api_key\\": \\"{}\\"}}',
    "Account(id='brave', key='{}', host='')",
    "client_secret={}",
    "password = {}",
    "--api-key={}",
    "SLEUTH_LLM_API_KEY={}",
    "passphrase: '{} with \\' quote {}'",
    "(HTTP 401) for sk-{}",
    "tvly-dev-{}",
]
SECRETS = st.from_regex(r"[A-Za-z0-9_-]{10,40}", fullmatch=True)


@given(st.text(max_size=40), st.sampled_from(CARRIERS), SECRETS, st.text(max_size=40))
@example("", "Authorization: Bearer {}", "s" * 8, "\x1b[0m")
def test_unregistered_secrets_are_redacted(before: str, carrier: str, secret: str, after: str) -> None:
    line = logs.safe(f"{before} {carrier.replace('{}', secret).replace('{{', '{').replace('}}', '}')} {after}")
    assert secret not in line
    assert "[hidden]" in line


@pytest.mark.parametrize("splitter", ["\u200b", "\x00", "\x1b", "\u202e"])
def test_secrets_split_by_control_characters_are_redacted(splitter: str) -> None:
    assert "abcdefgh" not in logs.safe(f"Authori{splitter}zation: Bea{splitter}rer abcdefgh")
    assert "abcdefgh" not in logs.safe(f"https://a.example/?api_k{splitter}ey=abcdefgh")


@pytest.mark.parametrize(
    "line",
    [
        "brave: API_KEY_INVALID HTTP 401",
        "searxng: UNREACHABLE connection refused at localhost:8080",
        "cache: not written: OperationalError('disk I/O error')",
        "unexpected: KeyError('results')",
        "pages: https://a.example/@user/page: TimeoutError()",
        "pages: https://a.example/passwd: TimeoutError()",
        "pages: http://127.0.0.1:9950#@b.example/: TimeoutError()",
        "pages: http://localhost:8080/@user/page: TimeoutError()",
        "pages: http://[::1]:8080/?to=@user: TimeoutError()",
        "cannot read /etc/passwd: permission denied",
        "('https://a.example/docs/api-key', 'HTTP 404')",
    ],
)
def test_ordinary_lines_stay_readable(line: str) -> None:
    assert logs.safe(line) == line


@pytest.mark.parametrize("part", ["://", "key=", "authorization ", 'key: "\\', "bearer ", "://a:", "x"])
def test_hostile_line_is_truncated_in_linear_time(part: str) -> None:
    assert len(logs.safe(part * 200_000)) <= 4000 + 200


# What a user does not want remembered


def test_private_queries_are_redacted(folder: Path) -> None:
    logs.keep_out("blue whales", "blue whales")
    logs.log("GET /?q=blue+whales and %r", UnicodeEncodeError("ascii", "blue whales", 0, 1, "x"))
    assert "whales" not in (folder / "sleuth.log").read_text()
    logs.keep_out(*(f"query number {number}" for number in range(1000)))
    assert len(logs._private_texts) == logs.MAX_PRIVATE_TEXTS


# Many at once

TOGETHER = """
import os, sys
from sleuth.base import logs
logs.MAX_LOG_BYTES = int(sys.argv[2])
start, go = os.pipe()
children = []
for number in range(8):
    child = os.fork()
    if not child:
        os.close(go)
        os.read(start, 1)
        logs.configure(sys.argv[1], False)
        for line in range(300):
            logs.log("line %d", line)
        os._exit(0)
    children.append(child)
os.close(go)
print(sum(os.waitpid(child, 0)[1] for child in children))
"""


@pytest.mark.parametrize("size", [2_000, 20_000, 10_000_000])
def test_8_processes_lose_only_the_oldest_lines(folder: Path, size: int) -> None:
    environ = {"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-c", TOGETHER, str(folder), str(size)]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("0\n", "")
    names = sorted(os.listdir(folder))
    assert names in (["sleuth.log", "sleuth.log.1"], ["sleuth.log"])
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in names} == {0o600}
    assert max((folder / name).stat().st_size for name in names) < size + 8 * 60
    assert all((folder / name).stat().st_size > size for name in names[1:])  # set aside when full, and by one alone
    seen: dict[str, list[int]] = {}
    for name in reversed(names):
        for line in (folder / name).read_text().splitlines():
            _, pid, _, number = line.split(" ")
            seen.setdefault(pid, []).append(int(number))
    assert max(numbers[-1] for numbers in seen.values()) == 299
    for numbers in seen.values():
        assert numbers == list(range(numbers[0], 300))
    if size > 1_000_000:
        assert sorted(map(len, seen.values())) == [300] * 8


def test_log_continues_when_it_cannot_be_rotated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(logs, "MAX_LOG_BYTES", 500)
    monkeypatch.setattr(os, "replace", refuse)
    for number in range(50):
        logs.log("line number %d", number)
    assert os.listdir(folder) == ["sleuth.log"]
    assert 500 < (folder / "sleuth.log").stat().st_size < 1100
