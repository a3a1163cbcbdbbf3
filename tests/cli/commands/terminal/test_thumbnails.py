"""Thumbnails on a terminal with graphics; the test answers the questions that the library asks the terminal."""

import io
import json
import sys
from typing import Any

import pexpect
import pytest
from pytest_httpserver import HTTPServer

pytest.importorskip("textual_image")

from PIL import Image

from sleuth.commands.terminal.thumbnails import MAX_PIXELS, decoded

SIXEL_TERMINAL = "\x1b[?62;4;22c"
PLAIN_TERMINAL = "\x1b[?62;22c"
# On a busy machine the test answers later than after the tenth of a second for which the library waits.
PATIENT = """
from textual_image import _terminal
from sleuth import __main__
from sleuth.commands.terminal import thumbnails

ask = _terminal.capture_terminal_response
_terminal.capture_terminal_response = lambda start_marker, end_marker, timeout: ask(
    start_marker, end_marker, 60 if end_marker == "c" else timeout
)
thumbnails.TIMEOUT_S = 60
raise SystemExit(__main__.main())
"""


def png(width: int, height: int) -> bytes:
    out = io.BytesIO()
    Image.new("1", (width, height)).save(out, "PNG")
    return out.getvalue()


def test_picture_is_decoded() -> None:
    picture = decoded(png(64, 48))
    assert (picture.size, picture.mode) == ((64, 48), "RGB")


def test_large_picture_is_kept_small() -> None:
    assert decoded(png(4000, 2000)).size == (640, 320)


@pytest.mark.parametrize("body", [b"", b"<svg/>", png(64, 48)[:45], png(8000, MAX_PIXELS // 8000 + 1)])
def test_damaged_and_huge_pictures_are_left_out(body: bytes) -> None:
    assert decoded(body) is None


@pytest.fixture
def pictures(sleuth: Any, httpserver: HTTPServer) -> Any:
    item = {"title": "Sea", "foreign_landing_url": "https://example.org/", "width": 64, "height": 48}
    item |= {"url": "https://example.org/sea.png", "thumbnail": httpserver.url_for("/t.png")}
    httpserver.expect_request("/v1/images/").respond_with_data(json.dumps({"results": [item]}))
    httpserver.expect_request("/t.png").respond_with_data(png(64, 48), content_type="image/png")
    assert sleuth("providers", "set", "openverse", "--api-host", httpserver.url_for("")).exit == 0
    return sleuth


def shown(sleuth: Any, answer: str, **environ: str) -> str:
    words = ["-c", PATIENT, "search", "-p", "openverse", "--category", "images", "sea"]
    environ = sleuth.environ | {"TERM": "xterm-256color", "NO_COLOR": "1", "SLEUTH_UI_THUMBNAILS": "true"} | environ
    terminal = pexpect.spawn(sys.executable, words, env=environ, encoding="utf-8", dimensions=(40, 80), timeout=60)
    seen = ""
    while True:
        asked = terminal.expect([r"\x1b\[c", r"\x1b\[16t", r"\x1b_G.*?\x1b\\", pexpect.EOF])
        seen += terminal.before
        if asked == 3:
            return seen
        if asked < 2:
            terminal.send((answer, "\x1b[6;20;10t")[asked])


def test_terminal_with_sixel_shows_the_thumbnail(pictures: Any) -> None:
    text = shown(pictures, SIXEL_TERMINAL, SLEUTH_FETCH_ALLOW_PRIVATE="true")
    assert "Sea" in text
    assert "\x1bP" in text


def test_other_terminals_show_the_list_alone(pictures: Any, httpserver: HTTPServer) -> None:
    text = shown(pictures, PLAIN_TERMINAL, SLEUTH_FETCH_ALLOW_PRIVATE="true")
    assert "64 × 48" in text
    assert "\x1bP" not in text
    assert "/t.png" not in [request.path for request, _ in httpserver.log]


def test_thumbnail_at_a_private_address_is_not_downloaded(pictures: Any, httpserver: HTTPServer) -> None:
    assert "\x1bP" not in shown(pictures, SIXEL_TERMINAL)
    assert "/t.png" not in [request.path for request, _ in httpserver.log]


def test_thumbnails_are_off_in_a_pipe_and_by_default(pictures: Any, httpserver: HTTPServer) -> None:
    assert (
        "\x1b"
        not in pictures("search", "-p", "openverse", "--category", "images", "sea", SLEUTH_UI_THUMBNAILS="true").out
    )
    assert "\x1bP" not in shown(pictures, SIXEL_TERMINAL, SLEUTH_UI_THUMBNAILS="false")
    assert "/t.png" not in [request.path for request, _ in httpserver.log]
