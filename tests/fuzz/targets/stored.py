"""What was written to disk, by sleuth or by others: recordings, cached answers and pages, rendered answers, sources.

The first line of a case says what the rest is.
"""

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from sleuth.answers.citations import CitedSource
from sleuth.answers.sources import read_sources
from sleuth.base.errors import SleuthError
from sleuth.base.paths import find_paths
from sleuth.engine.found import found_as_json, found_from_json
from sleuth.engine.recording import Replayer
from sleuth.pages import page
from sleuth.store.cache import rendered
from sleuth.store.journal_import import read as read_journal
from sleuth_providers import registry
from sleuth_providers.base import Account, DirectAnswer, Found, Query, Result
from sleuth_providers.errors import ProviderError
from sleuth_providers.net.policy import Policy

FOLDER = tempfile.TemporaryDirectory(prefix="sleuth-fuzz-")
FILE = Path(FOLDER.name, "file")
KEY = rendered.RenderedKey("key", find_paths({"SLEUTH_HOME": FOLDER.name}))
FOUND = Found(
    (Result("T", "https://a.b/", "s", score=1.5, engines=("x",)),),
    (DirectAnswer("a", "u"),),
    ("s",),
    engines={"e": "why"},
)
PAGE = {
    "final_url": "https://a.b/",
    "archived": "",
    "title": "T",
    "author": "A",
    "published": "2024-05-06",
    "language": "en",
    "blocks": [["heading", "T", 1], ["paragraph", "x", 0]],
}
BRAVE = registry.load("brave").samples[0]
RECORDING = {
    "version": 1,
    "recordedAt": "2026-01-02T03:04:05+00:00",
    "exchanges": [
        {
            "provider": "brave",
            "question": "q",
            "page": 1,
            "method": "GET",
            "url": "u",
            "status": 200,
            "headers": {"content-type": "application/json"},
            "text": BRAVE.body,
        },
        {"provider": "brave", "question": "q", "page": 1, "error": "RateLimitError", "detail": "HTTP 429"},
        {"provider": "brave", "question": "q", "page": 1, "status": 200, "headers": {}, "base64": "e30="},
        {"provider": "library", "question": "q", "page": 1, "found": found_as_json(FOUND)},
    ],
}
LINE = {
    "at": 1700000000.5,
    "query": "q",
    "providers": "brave",
    "outcome": "success",
    "results": 3,
    "ms": 12,
    "cached": 0,
    "asked": [["brave", "ok", 12, 1]],
}
SOURCES = {
    "results": [
        {"citation": 1, "url": "https://a.b/", "title": "T", "content": "c", "round": 2},
        "https://c.d/",
        {"url": "x", "summary": [{"text": "t"}]},
    ]
}
SEEDS = [
    f"found\n{json.dumps(found_as_json(FOUND))}",
    f"page\n{json.dumps(PAGE)}",
    f"recording\n{json.dumps(RECORDING)}",
    f"journal\n{json.dumps(LINE)}",
    f"journal\n{json.dumps(LINE)}\n\nbroken\n{json.dumps(LINE | {'query': None})}\n",
    f"sources\n{json.dumps(SOURCES)}",
    b"rendered\nabc\0key\0- - -\0" + b"1.0\0" + b'99999999999.0\0json\0out "\\u0002"\0err \x02\0note',
]
WORDS = (
    '"error": "__doc__" ¦ "error": "ProviderError" ¦ "base64": "x" ¦ "status": "200" ¦ '
    '"headers": null ¦ \x00 ¦ \x02 ¦ nan ¦ inf ¦ "at": 1e12 ¦ "\\ud800"'
)
ROUNDS = 900


def check(data: bytes) -> None:
    """Read a file or an entry of the kind that the first line names."""
    kind, _, body = data.partition(b"\n")
    if kind == b"recording":
        _check_recording(body)
    elif kind == b"journal":
        _check_journal(body)
    elif kind == b"rendered":
        _check_rendered(body)
    elif kind == b"sources":
        with suppress(SleuthError):
            sources = read_sources(body.decode("utf-8", "replace"))
            assert all(
                type(source) is CitedSource and 1 <= source.citation <= 999 and type(source.text) is str
                for source in sources
            )
    else:
        with suppress(ValueError, RecursionError):
            _check_entry(kind, json.loads(body))


def _check_entry(kind: bytes, value: object) -> None:
    """Read an entry of the cache, which is JSON already."""
    if kind == b"found":
        found = found_from_json(value)
        assert found is None or found_from_json(json.loads(json.dumps(found_as_json(found)))) == found, "kept as it is"
    elif kind == b"page":
        with suppress(KeyError, TypeError, ValueError):
            reading = page.from_json(value)
            page.to_page("https://a.b/", reading, 1000)


def _check_recording(body: bytes) -> None:
    FILE.write_bytes(body)
    with suppress(SleuthError):
        recording = Replayer(str(FILE))
        assert recording.now.tzinfo
        for name in ("brave", "brave", "brave", "brave"):
            with suppress(ProviderError):
                found = recording.search(registry.load(name), Query("q"), Account(name, key="k"), Policy(attempts=1))
                assert all(type(result.title) is str for result in found.results)
        adapter = type("Library", (type(registry.load("brave")),), {"offline": True})()
        with suppress(ProviderError):
            assert type(recording.search(adapter, Query("q"), Account("library"), Policy())) is Found


def _check_journal(body: bytes) -> None:
    FILE.write_bytes(body)
    for (at, *texts, results, _, _), requests in read_journal(str(FILE)):
        assert at > 0
        assert results >= 0
        for text in (*texts, *(text for request in requests for text in request[1:3])):
            (text or "").encode()  # as the database will


def _check_rendered(body: bytes) -> None:
    """Read an answer with a good check sum, so that what is behind it is seen too, and with none."""
    os.makedirs(KEY.paths.rendered, exist_ok=True)
    rest = body.partition(b"\0")[2]
    for data in (body, b"%b\0%b" % (rendered.digest(rest), rest)):
        Path(KEY.file).write_bytes(data)
        found = rendered.load(KEY)
        assert found is None or all(type(part) is str for part in found)
