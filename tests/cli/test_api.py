"""The Python API: its surface and types, errors, threads, two homes in one process, interruption and closing."""

import asyncio
import inspect
import json
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, get_args

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import sleuth
import sleuth.pages.article  # or a thread does it, in the middle of the next test
from sleuth import api
from sleuth.answers.answer import SEARCH_MODES
from sleuth.base import choices
from sleuth.base.errors import RequestError, SearchError
from sleuth.engine.outcome import Outcome

ROOT = Path(__file__).parents[2]
SURFACE = [
    "Answer",
    "Attempt",
    "Client",
    "Details",
    "Digest",
    "Hit",
    "Outcome",
    "Page",
    "PageEvent",
    "ProgressEvent",
    "RequestError",
    "SearchError",
    "SettingsError",
    "SleuthError",
    "UnknownProviderError",
    "aask",
    "aread",
    "asearch",
    "ask",
    "asummarize",
    "read",
    "search",
    "summarize",
]
PAGE = """<html lang="en"><head><title>On foxes</title></head><body><article><h1>On foxes</h1>
<p>The quick brown fox jumps over the lazy dog every morning, and nobody in the village knows the reason for it.</p>
<p>Foxes sleep during the day in dens below the roots of old trees, and they hunt at night along the hedges.</p>
</article></body></html>"""
CONSUMER = """
import asyncio
import sleuth
from sleuth import Client, SleuthError

outcome = sleuth.search("rust", count=3, providers="searxng", sites=["docs.rs"])
title: str = outcome.results[0].title
page_text: str = sleuth.read("https://example.org/", max_chars=500)[0].text
quote: str = sleuth.summarize(["https://example.org/"], "what", length="short").summary[0].text

async def main() -> None:
    found = await sleuth.asearch("rust", freshness="week")
    url: str = found.results[0].url
    with Client({"SLEUTH_HOME": "somewhere"}) as client:
        answer = await client.aask("why?", rounds=2)
        text: str = answer.text
    try:
        await sleuth.aread(url, timeout=3)
    except SleuthError as error:
        code: str = error.code

asyncio.run(main())
sleuth.search("rust", cuont=3)  # type: ignore[call-arg]
sleuth.search("rust", count="3")  # type: ignore[arg-type]
sleuth.search("rust", safe="strickt")  # type: ignore[arg-type]
sleuth.read("https://example.org/", cache="of")  # type: ignore[arg-type]
asyncio.run(sleuth.asearch("rust", cuont=3))  # type: ignore[call-arg]
number: int = sleuth.search("rust").results[0].title  # type: ignore[assignment]
"""


@pytest.fixture
def server(httpserver: HTTPServer) -> HTTPServer:
    """A SearXNG whose results repeat the query, and a page."""

    def answer(request: Request) -> Response:
        words = request.args["q"]
        hits = [{"url": f"https://{n}.example/{words}", "title": f"{words} {n}", "content": "Text."} for n in range(8)]
        return Response(json.dumps({"results": hits}), content_type="application/json")

    httpserver.expect_request("/search").respond_with_handler(answer)
    httpserver.expect_request("/fox").respond_with_data(PAGE, content_type="text/html")
    return httpserver


@pytest.fixture
def make_client(make_sleuth: Any, server: HTTPServer) -> Iterator[Callable[..., sleuth.Client]]:
    made: list[sleuth.Client] = []

    def make(home: str = "home", **environ: str) -> sleuth.Client:
        known = {"SEARXNG_URL": server.url_for(""), "SLEUTH_FETCH_ALLOW_PRIVATE": "true"}
        known |= {"SLEUTH_FETCH_TIMEOUT": "120"} | environ  # for busy machines
        made.append(sleuth.Client(make_sleuth(home, **known).environ))
        return made[-1]

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(make_client: Callable[..., sleuth.Client]) -> sleuth.Client:
    return make_client()


def run(script: str, environ: dict[str, str], **options: Any) -> "subprocess.CompletedProcess[str]":
    words = [sys.executable, "-c", script]
    return subprocess.run(words, env=environ, capture_output=True, text=True, timeout=60, **options)


def test_surface_is_small_and_closed() -> None:
    assert sorted(sleuth.__all__) == SURFACE
    assert dir(sleuth) == sorted([*SURFACE, "__version__", "tools"])
    assert [name for name in SURFACE if not inspect.getdoc(getattr(sleuth, name))] == []
    with pytest.raises(AttributeError, match="no attribute 'serach'"):
        sleuth.serach  # noqa: B018 - the access is the test


@pytest.mark.parametrize("name", ["search", "read", "summarize", "ask"])
def test_async_functions_have_the_same_signature(name: str) -> None:
    plain, other = getattr(sleuth, name), getattr(sleuth, f"a{name}")
    assert inspect.signature(plain) == inspect.signature(other)
    assert inspect.iscoroutinefunction(other)
    assert other.__name__ == f"a{name}"
    assert inspect.signature(plain) == inspect.signature(getattr(sleuth.Client({}), name))


def test_signatures_have_no_catch_all_parameters() -> None:
    for name in ("search", "read", "summarize", "ask"):
        kinds = {parameter.kind for parameter in inspect.signature(getattr(sleuth, name)).parameters.values()}
        assert kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


def test_importing_sleuth_imports_nothing_else(sleuth: Any) -> None:
    script = "import sys; before = set(sys.modules); import sleuth; print(*sorted(set(sys.modules) - before))"
    assert set(run(script, sleuth.environ).stdout.split()) <= {"sleuth", "types"}


@pytest.mark.slow
def test_callers_see_the_types(tmp_path: Path) -> None:
    (tmp_path / "consumer.py").write_text(CONSUMER)
    words = ["--strict", "--python-executable", sys.executable, "--cache-dir", str(ROOT / ".mypy_cache"), "consumer.py"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words], cwd=tmp_path, capture_output=True, text=True, timeout=110
    )
    assert done.stdout == "Success: no issues found in 1 source file\n"


def test_search_returns_an_outcome(client: sleuth.Client) -> None:
    outcome = client.search("fox", providers="searxng", count=3)
    assert isinstance(outcome, Outcome)
    assert [hit.title for hit in outcome.results] == ["fox 0", "fox 1", "fox 2"]
    assert client.search(["fox", "hound"], providers=["searxng"]).query == "fox | hound"


def test_answer_takes_providers_as_a_search_does(client: sleuth.Client) -> None:
    for ask in (client.search, client.ask):
        with pytest.raises(sleuth.UnknownProviderError, match="'nosuch'"):
            ask("fox", providers="nosuch,searxng")


def test_none_stands_for_an_absent_list(client: sleuth.Client) -> None:
    assert client.search("walrus", providers=None, sites=None).results  # type: ignore[arg-type]


def test_search_with_content_reads_the_pages(client: sleuth.Client, server: HTTPServer) -> None:
    server.clear()
    hit = {"url": server.url_for("/fox"), "title": "Fox", "content": "A fox."}
    server.expect_request("/search").respond_with_json({"results": [hit]})
    server.expect_request("/fox").respond_with_data(PAGE, content_type="text/html")
    events: list[Any] = []
    outcome = client.search("fox", providers="searxng", content=True, on_page=events.append)
    assert "lazy dog" in (outcome.results[0].content or "")
    assert [event.kind for event in events] == ["start", "end"]


def test_pages_are_read_and_summarised(client: sleuth.Client, server: HTTPServer) -> None:
    page = client.read(server.url_for("/fox"))[0]
    assert (page.ok, page.title) == (True, "On foxes")
    digest = client.summarize([server.url_for("/fox"), server.url_for("/none")], "where do foxes sleep", length=120)
    assert "sleep" in digest.summary[0].text
    assert [source.citation for source in digest.sources] == [1, 0]


def test_page_that_is_given_twice_is_summarised_once(client: sleuth.Client, server: HTTPServer) -> None:
    digest = client.summarize([server.url_for("/fox"), server.url_for("/fox"), server.url_for("/fox") + " "])
    assert [source.citation for source in digest.sources] == [1]


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.search(""),
        lambda client: client.search("x", count=0),
        lambda client: client.search("x", count=51),
        lambda client: client.search("x", safe="sometimes"),
        lambda client: client.search("x", category="cats"),
        lambda client: client.search("x", freshness="yesterday"),
        lambda client: client.search("x", cache="maybe"),
        lambda client: client.search("x", timeout=-1),
        lambda client: client.read("ftp://example.org/"),
        lambda client: client.read("https://example.org/", max_chars=0),
        lambda client: client.summarize("https://example.org/", length="endless"),
        lambda client: client.summarize([]),
        lambda client: client.ask("why?", search="perhaps"),
        lambda client: client.ask("why?", region="Germany"),
        lambda client: client.ask("why?", history=[("user", "hi")]),
        lambda client: client.ask("why?", history=[{"role": "system", "content": "obey"}]),
    ],
)
def test_invalid_arguments_are_rejected_before_any_request(
    client: sleuth.Client, server: HTTPServer, call: Callable[[sleuth.Client], Any]
) -> None:
    with pytest.raises(RequestError) as caught:
        call(client)
    assert caught.value.code == "INVALID_REQUEST"
    assert caught.value.hint
    assert server.log == []


def test_password_in_an_invalid_url_is_not_shown(client: sleuth.Client) -> None:
    with pytest.raises(RequestError, match=r"invalid URL 'ftp://…@h\.example'"):
        client.read("ftp://joe:pw@h.example")


def test_invalid_length_is_told_all_that_is_valid(client: sleuth.Client) -> None:
    with pytest.raises(RequestError) as caught:
        client.summarize("https://example.org/", length="endless")  # type: ignore[arg-type]  # what a program may pass
    assert caught.value.advice == "it takes short, medium, long or a number of characters"


def test_warnings_name_parameters_instead_of_options(client: sleuth.Client) -> None:
    found = client.search("x", providers="searxng", freshness="3d")
    assert "freshness was not applied to results without a date" in found.warnings
    assert api.for_programs("omit --site or --max-tokens: sleuth search --site X") == (
        "omit sites or max_tokens: sleuth search --site X"
    )


def test_failure_says_what_happened_and_what_to_do(make_client: Callable[..., sleuth.Client]) -> None:
    client = make_client(SEARXNG_URL="http://127.0.0.1:1")
    with pytest.raises(SearchError) as caught:
        client.search("x", providers="searxng")
    assert (caught.value.code, caught.value.provider) == ("UNREACHABLE", "searxng")
    assert "sleuth doctor" in caught.value.hint
    with pytest.raises(sleuth.SleuthError) as unread:
        client.summarize("http://127.0.0.1:1/")
    assert unread.value.code == "FETCH_FAILED"


def test_sixteen_threads_share_a_client(client: sleuth.Client, server: HTTPServer) -> None:
    def work(number: int) -> list[str]:
        try:
            return [client.search(f"q{number}-{turn}", providers="searxng").results[0].title for turn in range(3)]
        finally:
            client.close()

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(work, range(16)))
    assert found == [[f"q{number}-{turn} 0" for turn in range(3)] for number in range(16)]
    assert len(server.log) == 48


def test_clients_of_two_homes_are_independent(make_client: Callable[..., sleuth.Client], tmp_path: Path) -> None:
    clients = {}
    for name in ("amber", "cobalt"):
        (tmp_path / f"{name}.txt").write_text(f"The {name} notebook is about {name} and about nothing else at all.")
        clients[name] = make_client(name)
        from sleuth.library.ingester import Ingester

        Ingester(clients[name].runtime.library, lambda: None).add_files([str(tmp_path / f"{name}.txt")])

    def look(pair: tuple[str, str]) -> bool:
        whose, word = pair
        try:
            hits = clients[whose].search(f"{word} notebook", providers="library").results
            return any(f"{word}.txt" in hit.url for hit in hits)
        finally:
            clients[whose].close()

    pairs = [(whose, word) for whose in clients for word in clients] * 6
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(look, pairs)) == [whose == word for whose, word in pairs]


def test_settings_are_read_again_when_the_file_changes(
    client: sleuth.Client, make_sleuth: Any, server: HTTPServer
) -> None:
    assert len(client.search("fox", providers="searxng").results) == 5
    make_sleuth()("config", "set", "websearch.max_results", "2")
    assert len(client.search("fox", providers="searxng").results) == 2
    config = Path(client.runtime.paths.config_file)
    config.write_text("[websearch\n")
    with pytest.raises(sleuth.SleuthError, match="not valid TOML"):
        client.search("fox", providers="searxng")
    config.unlink()
    assert len(client.search("fox", providers="searxng").results) == 5


def test_recent_answers_are_kept_in_memory_for_all_threads(
    client: sleuth.Client, server: HTTPServer, tmp_path: Path
) -> None:
    client.search("fox", providers="searxng")
    shutil.rmtree(tmp_path / "home" / "cache")
    with ThreadPoolExecutor(2) as pool:
        assert pool.submit(client.search, "fox", providers="searxng").result().cached
        pool.submit(client.close).result()
    assert len(server.log) == 1
    for number in range(20):
        client.search(f"other {number}", providers="searxng")
    shutil.rmtree(tmp_path / "home" / "cache")
    assert not client.search("fox", providers="searxng", recent=True).cached, "only the last twenty are kept"
    assert client.search("other 19", providers="searxng", recent=True).cached


class BlockedServer:
    """A SearXNG that answers only after `release` is set; `arrived` counts the requests."""

    def __init__(self, server: HTTPServer) -> None:
        self.arrived, self.release = threading.Semaphore(0), threading.Event()
        self.url = server.url_for("")
        server.expect_request("/search").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.arrived.release()
        if request.args["q"] != "quick":
            self.release.wait(300)
        return Response('{"results": []}', content_type="application/json")


@pytest.fixture
def blocked(lone_server: HTTPServer) -> Iterator[BlockedServer]:
    made = BlockedServer(lone_server)
    yield made
    made.release.set()


def test_types_of_choices_are_those_of_the_options() -> None:
    literals = (api.SafeSearch, api.Category, api.Compression, api.Unit, api.CacheUse, api.SearchMode, api.Length)
    expected = (
        choices.SAFE_SEARCH,
        choices.CATEGORIES,
        choices.COMPRESSION,
        choices.UNITS,
        choices.CACHE_USE,
        SEARCH_MODES,
        ("short", "medium", "long"),
    )
    assert tuple(map(get_args, literals)) == expected


@pytest.mark.parametrize("name", ["providers", "engines", "sites", "exclude"])
def test_value_in_a_list_that_is_no_text_is_named(client: sleuth.Client, name: str) -> None:
    values: Any = {name: ["searxng", 5]}
    with pytest.raises(RequestError, match=f"invalid {name}: 5"):
        client.search("fox", **values)


def test_text_of_a_hit_is_its_content_or_snippet(client: sleuth.Client) -> None:
    hit = client.search("fox", providers="searxng").results[0]
    assert (hit.content, hit.text) == (None, "Text.")
    assert hit._replace(content="").text == ""


def test_library_never_answers_a_web_question(make_client: Callable[..., sleuth.Client]) -> None:
    alone = {"SEARXNG_URL": "http://127.0.0.1:1", "SLEUTH_WEBSEARCH_FALLBACK": "searxng,library"}
    client = make_client(**alone)
    with pytest.raises(SearchError):
        client.search("searxng json format")
    with pytest.raises(SearchError):
        client.ask("How does searxng give json?")
    assert client.search("searxng json format", providers="library").results


def test_many_searches_run_beside_other_threads_of_the_loop(
    make_client: Callable[..., sleuth.Client], blocked: BlockedServer
) -> None:
    client = make_client(SEARXNG_URL=blocked.url)
    names = [f"q{number}" for number in range(40)]  # more than asyncio's own threads

    async def main() -> list[str]:
        searches = asyncio.gather(*(client.asearch(name, providers="searxng") for name in names))
        for _ in names:  # a blocked loop, or threads shared with the searches, would never get here
            await asyncio.to_thread(blocked.arrived.acquire)
        blocked.release.set()
        return [outcome.query for outcome in await searches]

    assert asyncio.run(main()) == names


def test_cancelled_search_does_not_hold_up_the_end_of_the_loop(
    make_client: Callable[..., sleuth.Client], blocked: BlockedServer
) -> None:
    client = make_client(SEARXNG_URL=blocked.url)

    async def main() -> None:
        search = asyncio.create_task(client.asearch("slow", providers="searxng"))
        await asyncio.to_thread(blocked.arrived.acquire)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search

    asyncio.run(main())
    assert not blocked.release.is_set()


def test_cancelled_search_does_not_hold_up_the_end_of_the_program(sleuth: Any, blocked: BlockedServer) -> None:
    script = (
        "import asyncio, sleuth\n"
        "async def main():\n"
        "    search = asyncio.create_task(sleuth.asearch('slow', providers='searxng', timeout=600))\n"
        "    await asyncio.wait([search], timeout=0.1)\n"
        "    search.cancel()\n"
        "asyncio.run(main())\n"
    )
    environ = sleuth.environ | {"SEARXNG_URL": blocked.url}
    assert subprocess.run([sys.executable, "-c", script], env=environ, timeout=250, check=False).returncode == 0


def test_search_after_an_interrupted_one_works(sleuth: Any, blocked: BlockedServer) -> None:
    script = (
        "import sleuth\n"
        "try:\n    sleuth.search('slow', providers='searxng')\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
        "print(sleuth.search('quick', providers='searxng').outcome)\n"
    )
    environ = sleuth.environ | {"SEARXNG_URL": blocked.url}
    process = subprocess.Popen([sys.executable, "-c", script], env=environ, stdout=subprocess.PIPE, text=True)
    assert blocked.arrived.acquire(timeout=300)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=300)[0] == "interrupted\nno_results\n"


def test_closing_leaves_nothing_open(make_client: Callable[..., sleuth.Client], tmp_path: Path) -> None:
    def open_files() -> list[str]:
        links = [os.path.join("/proc/self/fd", name) for name in os.listdir("/proc/self/fd")]
        targets = [os.readlink(link) for link in links if os.path.islink(link)]
        return [target for target in targets if target.startswith(str(tmp_path))]

    with make_client() as client:
        client.search("fox", providers=["searxng", "library"])
        assert open_files()
    assert open_files() == []
    assert client.search("fox", providers="searxng").results, "a closed client opens again"


def test_files_are_private_whatever_the_umask(sleuth: Any, server: HTTPServer) -> None:
    script = "import os; os.umask(0); import sleuth; sleuth.search('fox', providers=['searxng', 'library'])"
    done = run(script, sleuth.environ | {"SEARXNG_URL": server.url_for("")})
    assert done.stderr == ""
    modes = {path: path.stat().st_mode & 0o777 for path in sleuth.home.rglob("*")}
    assert len(modes) > 5
    assert [path for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)] == []


def test_warnings_go_to_logging(
    make_client: Callable[..., sleuth.Client], caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    client = make_client(SLEUTH_WEBSEARCH_TIMEOUT="soon")
    with caplog.at_level(logging.WARNING, "sleuth"):
        client.search("fox", providers="searxng")
    assert "invalid value 'soon' for websearch.timeout" in caplog.text
    assert capfd.readouterr() == ("", "")


def test_examples_of_the_handbook_run(sleuth: Any, server: HTTPServer) -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(blocks) > 8
    server.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    server.expect_request("/missing").respond_with_data("no", 404)
    script = f"for block in {blocks!r}:\n    print('>>>', block)\n    exec(block, {{'__name__': '__main__'}})"
    environ = {"SEARXNG_URL": server.url_for(""), "SLEUTH_FETCH_ALLOW_PRIVATE": "true"}
    environ |= {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}
    done = run(script.replace("https://example.org", server.url_for("").rstrip("/")), sleuth.environ | environ)
    assert done.stderr == ""
    assert done.stdout.count(">>>") == len(blocks)
    assert "API_KEY_MISSING" in done.stdout
    assert "The quick brown fox" in done.stdout
