"""`--record` and `--replay`: the same answer again, without a request and without a key."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from sleuth.base.text import redact

KEY = "brave-secret-key-987654"


def timeless(document: dict[str, Any]) -> str:
    document["elapsedMs"] = 0
    for attempt in document["attempts"]:
        attempt["elapsedMs"] = 0
    return json.dumps(document, sort_keys=True)


def test_replay_reproduces_the_answer(make_sleuth: Any, httpserver: HTTPServer, tmp_path: Path) -> None:
    sleuth = make_sleuth("one", SEARXNG_URL=httpserver.url_for(""), BRAVE_API_KEY=KEY)
    hits = [{"url": f"https://a.example/{n}", "title": f"T{n}", "publishedDate": "2 days ago"} for n in range(5)]
    httpserver.expect_request("/search").respond_with_json(
        {"results": hits, "unresponsive_engines": [["x", "timeout"]]}
    )
    brave = [{"title": f"{KEY} echoed", "url": "https://a.example/3", "description": "x", "age": "1 day ago"}]
    httpserver.expect_request("/res/v1/web/search").respond_with_json({"web": {"results": brave}})
    sleuth("providers", "set", "brave", "--api-host", httpserver.url_for(""), "--api-key", "env:BRAVE_API_KEY")
    recording = tmp_path / "recording.json"
    search = ("search", "-p", "searxng,brave,library", "--json", "--explain", "searxng")
    recorded = sleuth(*search, "--record", str(recording))
    assert recorded.exit == 0
    assert KEY not in recording.read_text()
    httpserver.clear()
    elsewhere = make_sleuth("two")
    again = elsewhere(*search, "--replay", str(recording))
    assert timeless(again.json) == timeless(elsewhere(*search, "--replay", str(recording)).json)
    expected = recorded.out.replace(f"{KEY} echoed", "[hidden] echoed")
    assert timeless(again.json) == timeless(json.loads(expected))


def test_login_that_is_only_a_user_name_is_not_recorded(sleuth: Any, httpserver: HTTPServer, tmp_path: Path) -> None:
    httpserver.expect_request("/search").respond_with_json({"results": []})
    recording, host = tmp_path / "recording.json", f"http://{KEY}@127.0.0.1:{httpserver.port}"
    sleuth("search", "-p", "searxng", "--record", str(recording), "x", SEARXNG_URL=host)
    assert "127.0.0.1" in recording.read_text()
    assert KEY not in recording.read_text()


def test_foreign_recording_shows_no_files_but_those_of_the_library(sleuth: Any, tmp_path: Path) -> None:
    note, recording = tmp_path / "note.md", tmp_path / "recording.json"
    note.write_text("# Larch\n\nThe larch is a conifer.")
    sleuth("library", "add", str(note))
    search = ("search", "-p", "library", "--json", "larch")
    sleuth(*search, "--record", str(recording))
    document = json.loads(recording.read_text())
    results = document["exchanges"][0]["found"]["results"]
    urls = ["file:///etc/passwd", "file://host.example/share/x", " FILE:///etc/hosts", "https://a.example/"]
    results += [results[0] | {"url": url, "title": url} for url in urls]
    recording.write_text(json.dumps(document))
    shown = {hit["url"] for hit in sleuth(*search, "--replay", str(recording)).json["results"]}
    assert {note.as_uri(), "https://a.example/"} <= shown
    assert not {url for url in shown if "etc" in url or "share" in url}


def test_failures_are_replayed_too(make_sleuth: Any, tmp_path: Path) -> None:
    recording = tmp_path / "recording.json"
    sleuth = make_sleuth()
    first = sleuth("search", "-p", "searxng", "--record", str(recording), "x")
    again = sleuth("search", "-p", "searxng", "--replay", str(recording), "x", SEARXNG_URL="http://127.0.0.1:2")
    assert first.exit == again.exit == 6
    assert again.err == first.err
    other = sleuth("search", "-p", "searxng", "--replay", str(recording), "y")
    assert other.exit == 6
    assert other.err.startswith("error: the recording has no such request to SearXNG\nhint: replay the recorded query")
    chain = sleuth("search", "other", "words", "--replay", str(recording))
    assert (chain.exit, "\nhint: replay the recorded query" in chain.err) == (6, True)


def test_requests_that_were_sent_at_once_are_told_apart(sleuth: Any, httpserver: HTTPServer, tmp_path: Path) -> None:
    def respond(request: Any) -> Response:
        name = request.args["engine"]
        found = [{"title": name, "link": f"https://{name}.example/"}]
        return Response(json.dumps({"organic_results": found}), content_type="application/json")

    httpserver.expect_request("/search.json").respond_with_handler(respond)
    sleuth("providers", "set", "serpapi", "--api-host", httpserver.url_for(""), "--api-key", "-", stdin="k" * 20)
    recording, words = tmp_path / "recording.json", ("search", "-p", "serpapi", "--engine", "google,bing,baidu", "x")
    assert sleuth(*words, "--record", str(recording)).exit == 0
    document = json.loads(recording.read_text())
    for exchanges in (document["exchanges"], document["exchanges"][::-1]):
        recording.write_text(json.dumps(document | {"exchanges": exchanges}))
        found = sleuth(*words, "--replay", str(recording), "--json").json["results"]
        assert [(hit["url"], hit["engines"]) for hit in found] == [
            (f"https://{name}.example/", [name]) for name in ("google", "bing", "baidu")
        ]
    exchanges = [one for one in document["exchanges"] if "engine=google" not in one["url"]]
    recording.write_text(json.dumps(document | {"exchanges": exchanges}))
    found = sleuth(*words, "--replay", str(recording), "--json").json
    assert [(hit["url"], hit["engines"]) for hit in found["results"]] == [
        (f"https://{name}.example/", [name]) for name in ("bing", "baidu")
    ]
    assert list(found["attempts"][0]["engines"]) == ["google"]


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"version": 9}', '{"version": 1, "recordedAt": "x", "exchanges": []}']
)
def test_invalid_recording_is_refused(sleuth: Any, tmp_path: Path, content: str) -> None:
    (tmp_path / "recording.json").write_text(content)
    done = sleuth("search", "--replay", str(tmp_path / "recording.json"), "x")
    assert done.exit == 2
    assert "is not a recording" in done.err
    assert sleuth("search", "--replay", "/no/such/file", "x").exit == 2


def test_file_that_is_not_a_recording_is_not_replaced_by_one(make_sleuth: Any, tmp_path: Path) -> None:
    sleuth = make_sleuth()
    notes, recording = tmp_path / "notes", tmp_path / "recording.json"
    notes.write_text("my notes")
    done = sleuth("search", "-p", "searxng", "--record", str(notes), "x")
    assert (done.exit, notes.read_text()) == (2, "my notes")
    assert "is not a recording\nhint: choose another file" in done.err
    notes.write_text('{"version": 1, "recordedAt": "2026-11-01T00:00:00Z", "exchanges": [], "mine": "notes"}')
    assert sleuth("search", "-p", "searxng", "--record", str(notes), "x").exit == 2
    assert "mine" in notes.read_text()
    recording.touch()
    for words in ("x", "y"):
        assert sleuth("search", "-p", "searxng", "--record", str(recording), words).exit == 6
        assert f'"question": "{words}"' in recording.read_text()


def test_recording_is_not_combined_with_a_replay(sleuth: Any) -> None:
    assert sleuth("search", "--replay", "a", "--record", "b", "x").exit == 2


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="there is no endless file")
def test_endless_recording_is_refused(sleuth: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sleuth.engine.recording.MAX_FILE_BYTES", 1000)
    done = sleuth("search", "--replay", "/dev/zero", "x")
    assert (done.exit, "cannot read /dev/zero (too large)" in done.err) == (2, True)


@pytest.mark.parametrize(
    "written", ["AbCd\\/EfGh+IjKl\\/MnOp", "\\u0041bCd/EfGh\\u002BIjKl/MnOp", "AbCd%2fEfGh%2BIjKl/MnOp"]
)
def test_key_that_a_server_repeats_with_escapes_is_redacted(written: str) -> None:
    assert redact(f'{{"key": "{written}"}}', ["AbCd/EfGh+IjKl/MnOp"]) == '{"key": "[hidden]"}'
