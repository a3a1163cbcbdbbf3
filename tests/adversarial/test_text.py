"""No text from outside steers the terminal, breaks a format or leads astray: every field, every format, every stream.

A new attack is a line of TEXTS or ADDRESSES, a new format a line of FORMATS, a new command a line of COMMANDS.
"""

import csv
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from html import escape
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pexpect
import pytest
from markdown_it import MarkdownIt

from sleuth.base.urls import ascii_url, clean_url
from sleuth_providers import registry
from sleuth_providers.base import Account, Answer, Found, Provider, Query, Result
from sleuth_providers.errors import ProviderError

pytestmark = pytest.mark.adversarial

TEXTS = {
    "colour": "\x1b[8;5;7mhidden\x1b[0m",
    "cursor": "\x1b[2J\x1b[1;1H\x1b[3A\x1bc\x1b7",
    "link": "\x1b]8;;https://evil.test/\x1b\\click\x1b]8;;\x1b\\",
    "link and bell": "\x1b]8;;https://evil.test/\x07click\x1b]8;;\x07",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "window title": "\x1b]0;owned\x07",
    "folder": "\x1b]7;file://evil.test/\x07",
    "prompt mark": "\x1b]133;A\x07\x1b]1337;File=inline=1:AAAA\x07",
    "device control": "\x1bP+q544e\x1b\\",
    "application": "\x1b_Gf=32;AAAA\x1b\\ \x1b^privacy\x1b\\ \x1bXstring\x1b\\",
    "charset": "\x0e\x1b(0lqqk\x0f",
    "one character": "\u009b31mred \u009d0;owned\u009c \u0090q\u009c \u0085 \u008d",
    "one byte as Python reads it": "\udc9b31mred \udcff",
    "delete": "a\x7f\x7fb",
    "return": "good\rfake",
    "backspace": "good\b\b\b\bfake",
    "bell and answer": "\x07\x05\x11\x13",
    "override": "user\u202egnp.exe\u202c",
    "isolates": "\u2066a\u2067b\u2068c\u2069 \u200e\u200f\u061c",
    "no width": "pass\u200bword\u2060\ufeff\u00ad",
    "tags": "hi\U000e0001\U000e0069\U000e0067\U000e006e\U000e007f",
    "selectors": "x" + "\ufe0f" * 500 + "\U000e0100\U000e0101" * 300,
    "nothing": "a\x00b",
    "half characters": "\ud800 \udfff \ud83d",
    "stacked": "e" + "\u0301" * 1000 + "\u0489" * 100 + "\u200d" * 100,
    "wide": "漢" * 1000 + "\ufdfd" * 100,
    "line ends": "a\u2028b\u2029c\x0bd\x0ce\x1cf\x1dg\x1eh\ni\r\nj",
    "unassigned": "\u0378\ue000\U0010fffd\ufffe\ufff9",
    "console markup": "[/bar][bold]b[/bold][link=javascript:alert(1)]l[/link][@click=x]:pile_of_poo:",
    "markdown link": "](javascript:alert(1)) [x](javascript:alert(1)) ![i](javascript:x) <javascript:alert(1)>",
    "markdown block": "a\n\n# b\n\n```\nc\n```\n\n| d |\n|---|\n- e\n1. f\n> g\n===\n---\n[h]: javascript:alert(1)",
    "setext": "====",
    "rule": "- - -",
    "ordered": "7) seven",
    "code": "`` ` ``` ~~~ \\` \\",
    "markup": "<script>alert(1)</script><img src=x onerror=alert(1)><!-- c --><?php ?><![CDATA[x]]>",
    "entities": "&lt;script&gt;&#27;[31m&#x9b;31m&#x202e;&amp;lt;b&amp;gt;&NewLine;&Tab;",
    "formula": "=cmd|'/C calc'!A0",
    "formula of signs": "+1+1",
    "formula of less": "-1+1",
    "formula of names": "@SUM(1)",
    "formula after a tab": "\t=1+1",
    "formula in full width": "＝1+1",
    "template": "{0.__class__} {why.__class__.__mro__} {provider} {title} {{x}} } {",
    "percent": "%s %n %d %(x)s %99999999d %",
    "separators": 'a,b"c\';d\te|f\n"g',
    "document": '"}], "results": [], "x": "\\u001b[31m\\',
    "long": "A" * 30_000,
}
ADDRESSES = (
    "javascript:alert(1)",
    "JaVaScRiPt://a.test/%0aalert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "vbscript:msgbox(1)",
    "ftp://a.test/",
    "//evil.test/",
    "https://good.test@evil.test/",
    "https://good.test\\@evil.test/",
    "https://good.test%2f@evil.test/",
    "https://good.test:secret@evil.test/",
    "https://\u0430pple.com/",
    "https://ｇoogle.com/",
    "https://good.test\u2044.evil.test/",
    "https://xn--/",
    "https://a.test/one\nhttps://evil.test/two",
    "https://a.test/one\r\nX-Injected: yes",
    "https://a.test/)](javascript:alert(1))",
    "https://a.test/> [x](javascript:alert(1)) <https://a.test",
    "https://a.test/\"'><script>alert(1)</script>",
    "https://a.test/`|``|",
    "https://a.test/\\",
    "https://a.test/?a=1&lt;b&copy;",
    "https://a.test/%1b%5d8%3b%3b",
    "https://a.test/ =1+1",
    "https://a.test/\u202e/moc.doog//:sptth",
    "https://a.test/e" + "\u0301" * 1000,
    "https://a.test/" + "x" * 10_000,
    "https://a.test:99999/",
    "https://[::1",
    "https://" + "a" * 300 + ".test/",
    "=https://a.test/",
)


class Hostile(Provider):
    """Puts every attack into every field that a provider can fill."""

    id = "hostile"
    name = "Hostile"
    offline = True  # nothing of it is left for later
    max_results = 50
    categories = ("general", "news", "images", "videos", "science", "it")

    def search(self, query: Query, account: Account, http: Any) -> Found:
        """Answer with attacks on texts or on addresses, or fail with one."""
        if query.text.startswith("fail"):
            raise ProviderError(TEXTS[query.text.removeprefix("fail ")])
        attacks = tuple(TEXTS.values())
        if query.text == "addresses":
            results = tuple(Result(f"title {place}", url, image=url) for place, url in enumerate(ADDRESSES))
            return Found(results, answers=tuple(Answer(f"answer {url}", url) for url in ADDRESSES))
        results = tuple(self._filled(place, attack) for place, attack in enumerate(attacks))
        answers = tuple(Answer(attack, f"https://a.test/{attack}") for attack in attacks)
        silent = {f"{place} {attack}": attack for place, attack in enumerate(attacks)}
        return Found(results, answers, attacks, attacks, silent, attacks)

    def _filled(self, place: int, attack: str) -> Result:
        fields: dict[str, Any] = dict.fromkeys(Result._fields, attack)
        fields |= dict.fromkeys(("url", "thumbnail", "image"), f"https://n{place}.test/{attack[:1000]}")
        return Result(**fields | {"engines": (attack,), "score": float("nan")})


@pytest.fixture(scope="module", autouse=True)
def _hostile_provider() -> Iterator[None]:
    registry.add("hostile", Hostile)
    yield
    registry._added.pop("hostile")
    registry._loaded.pop("hostile", None)


class Shown(NamedTuple):
    """One output and what is known of what it should hold."""

    text: str
    hits: list[dict[str, Any]]


def as_lines(shown: Shown) -> None:
    assert shown.text.count("\n") >= 2 * len(shown.hits)


def as_json(shown: Shown) -> None:
    document = json.loads(shown.text)
    assert json.loads(json.dumps(document)) == document
    assert [hit["url"] for hit in document["results"]] == [hit["url"] for hit in shown.hits]


def as_ndjson(shown: Shown) -> None:
    assert [json.loads(line)["url"] for line in shown.text.splitlines()] == [hit["url"] for hit in shown.hits]


def as_csv(shown: Shown) -> None:
    rows = list(csv.reader(io.StringIO(shown.text, newline=""), strict=True))
    assert [row[rows[0].index("url")] for row in rows[1:]] == [hit["url"] for hit in shown.hits]
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not [cell for row in rows for cell in row if cell.startswith(tuple("=+-@\t\r＝＋－＠"))]


def as_markdown(shown: Shown) -> None:
    tokens = parsed(shown.text)
    links = [token.attrs["href"] for token in tokens if token.type == "link_open"]
    assert len([token for token in tokens if token.type == "list_item_open"]) == len(shown.hits)
    assert len(links) >= len(shown.hits)


def as_urls(shown: Shown) -> None:
    assert shown.text.splitlines() == [hit["url"] for hit in shown.hits]
    assert all(re.fullmatch(r"https?://\S+", line) for line in shown.text.splitlines())


def as_rows(shown: Shown) -> None:
    rows = [line.split("\t") for line in shown.text.removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == [hit["url"] for hit in shown.hits]
    assert {len(row) for row in rows} == {len(rows[0])}


def parsed(text: str, schemes: tuple[str, ...] = ("http://", "https://")) -> list[Any]:
    """Return all tokens of Markdown, links of every kind taken as links; none may be markup or lead off the web."""
    reader = MarkdownIt("commonmark").enable("table")
    reader.validateLink = lambda _url: True  # type: ignore[method-assign]  # it would not tell us of the bad ones
    tokens = [token for block in reader.parse(text) for token in (block, *(block.children or ()))]
    assert not [token.content for token in tokens if token.type in ("html_block", "html_inline", "image")]
    links = [str(token.attrs["href"]) for token in tokens if token.type == "link_open"]
    assert not [link for link in links if not link.startswith(schemes)]
    return tokens


COLUMNS = "url,rank,title,snippet,siteName,published,engines,author,length"
FORMATS: dict[str, tuple[list[str], Callable[[Shown], None]]] = {
    "plain": (["--format", "plain", "--explain"], as_lines),
    "rich": (["--format", "rich", "--explain"], as_lines),
    "json": (["--format", "json", "--explain"], as_json),
    "ndjson": (["--format", "ndjson"], as_ndjson),
    "csv": (["--format", "csv"], as_csv),
    "every column": (["--format", "csv", "--fields", COLUMNS], as_csv),
    "markdown": (["--format", "markdown"], as_markdown),
    "urls": (["--format", "urls"], as_urls),
    "template": (["--template", r"{url}\t{title}\t{snippet}\t{engines}\t{siteName}"], as_rows),
    "rows": (["--fields", "url,title,snippet,content,siteName,author,engines,thumbnail,image"], as_rows),
}


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("attacked", ["texts", "addresses"])
def test_results_are_text_in_every_format(sleuth: Any, judge: Any, tmp_path: Path, format: str, attacked: str) -> None:
    words, check = FORMATS[format]
    search = ["search", "-p", "hostile", "-n", "50", "--content", "--offline", attacked]
    document = sleuth(*search, "--json").json
    hits = document["results"]
    assert len(hits) >= 15
    done = sleuth(*search, *words)
    assert done.exit == 0, done.err
    tabs = check is as_rows
    check(Shown(judge(done.out, tabs=tabs), hits))
    judge(done.err)
    file = tmp_path / "out"
    assert sleuth(*search, *words, "-o", str(file)).exit == 0
    check(Shown(judge(file.read_bytes(), tabs=tabs), hits))
    seen = sleuth(*search, *words, terminal=True, FORCE_COLOR="1")
    links = {ascii_url(hit.get(name) or "") for hit in hits for name in ("url", "image")}
    judge(seen.out, links=links | {ascii_url(answer["url"] or "") for answer in document["answers"]}, tabs=tabs)
    judge(seen.err, links=())


def test_every_string_of_json_is_as_safe_as_on_a_screen(sleuth: Any, judge: Any) -> None:
    done = sleuth("search", "-p", "hostile", "-n", "50", "--json", "--explain", "--content", "--offline", "texts")
    for string in strings(done.json):
        judge(string)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for entry in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from strings(entry)
    elif isinstance(value, str):
        yield value


# Everything else that is printed

SHORT = [attack[:60] for attack in TEXTS.values()]
CHUNKS = [" ".join(SHORT[start::6]) for start in range(6)]  # short enough not to be cut before the attack shows
PAGE = "<!doctype html><html><title>{0}</title><meta name=author content='{0}'><article><h1>{0}</h1>{1}</article>"
WORDS = "The quiet village of {0} has a library with {0} books, and everybody there reads {0} in the evening."


class World(NamedTuple):
    """A home in which everything that can be hostile is, and a server that is too."""

    sleuth: Any
    url: str
    folder: Path

    def words(self, line: str) -> list[str]:
        """Return a line of COMMANDS with its places filled in."""
        return [word.format(url=self.url, folder=self.folder) for word in line.split()]


def answer(caller: Any) -> None:
    """Answer whatever is asked with attacks: pages, SearXNG's answers, its settings, and errors."""
    hostile = ["Server: \x1b]0;owned\x07\u009b31m", "X-Robots-Tag: \x1b[31m"]
    if caller.path.startswith("/page"):
        paragraphs = "".join(f"<p>{WORDS.format(escape(attack))}</p>" for attack in SHORT)
        page = PAGE.format(escape(CHUNKS[int(caller.path[-1])]), paragraphs)
        caller.answer(page.encode("utf-8", "surrogatepass"), "Content-Type: text/html; charset=utf-8", *hostile)
    elif caller.path.startswith("/search"):
        caller.answer(json.dumps(searxng(caller.origin)).encode(), *hostile)
    elif caller.path.startswith(("/config", "/stats", "/models")):
        engines = [{"name": attack, "categories": [attack], "enabled": True} for attack in SHORT]
        said = {"instance_name": SHORT[0], "version": CHUNKS[1], "engines": engines, "data": [{"id": a} for a in SHORT]}
        failed = {attack: [{"exception_classname": attack}] for attack in SHORT}
        caller.answer(json.dumps(said | failed).encode(), *hostile)
    elif caller.path.endswith("/chat/completions"):
        speak(caller)
    elif caller.path in ("/", "/healthz", "/opensearch.xml"):
        page = PAGE.format(escape(CHUNKS[0]), "SearXNG")
        caller.answer(page.encode("utf-8", "replace"), "Content-Type: text/html", *hostile)
    else:
        moved = "Location: https://evil.test/\x1b]0;owned\x07\u202e"
        caller.answer(CHUNKS[2].encode("utf-8", "replace"), moved, *hostile, status="302 \x1b[31mMoved")


def speak(caller: Any) -> None:
    """Answer as a model that repeats what an enemy told it, streamed or not; asked for JSON, it is no help."""
    sentences = [f"{WORDS.format(attack)} [{place % 6}]\n\n" for place, attack in enumerate(SHORT)]
    words = "".join(sentences)
    said = {"choices": [{"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}]}
    if b'"stream": true' not in caller.request and b'"stream":true' not in caller.request:
        caller.answer(json.dumps(said).encode())
        return
    parts = [{"choices": [{"index": 0, "delta": {"content": sentence}}]} for sentence in sentences]
    events = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
    caller.answer(events.encode(), "Content-Type: text/event-stream")


def searxng(own: str) -> dict[str, Any]:
    """Return the attacks as SearXNG would tell them."""
    names = ("title", "content", "publishedDate", "source", "author", "length")
    hits = [dict.fromkeys(names, attack) | {"engines": [attack]} for attack in SHORT]
    for place, hit in enumerate(hits):
        hit |= dict.fromkeys(("url", "thumbnail", "img_src"), f"https://n{place}.test/{SHORT[place]}")
    hits += [{"url": url, "title": f"address {place}"} for place, url in enumerate(ADDRESSES)]
    hits[:0] = [{"url": f"{own}/page{place}", "title": "page"} for place in range(4)]
    told = {"answers": [{"answer": attack, "url": "https://a.test/"} for attack in SHORT], "suggestions": SHORT}
    silent = [[attack, attack] for attack in SHORT]
    return told | {"results": hits, "corrections": SHORT, "unresponsive_engines": silent}


@pytest.fixture
def world(sleuth: Any, serve: Any, tmp_path: Path) -> World:
    server = serve(answer)
    environ = {"SEARXNG_URL": server.url, "SLEUTH_FETCH_ALLOW_PRIVATE": "true", "SLEUTH_LLM_BASE_URL": server.url}
    sleuth.environ |= environ | {"SLEUTH_FETCH_JINA": "false", "SLEUTH_FETCH_ARCHIVE": "false"}
    folder = tmp_path / "files"
    (folder / "notes").mkdir(parents=True)
    write_notes(folder / "notes")
    write_files(folder)
    (folder / "config.toml").write_text(hostile_settings())
    assert sleuth("providers", "list", "--ids").exit == 0
    with sqlite3.connect(sleuth.home / "data" / "sleuth.db") as table:
        for place, (id,) in enumerate(table.execute("SELECT id FROM websearch_provider").fetchall()):
            name = (SHORT[place % len(SHORT)] + SHORT[-place]).encode("utf-8", "replace").decode()
            change = "UPDATE websearch_provider SET name = ?, basic_auth_username = ? WHERE id = ?"
            table.execute(change, (name, name, id))
    return World(sleuth, server.url, folder)


def write_notes(folder: Path) -> None:
    """Write documents whose names, titles and texts are attacks."""
    for place, attack in enumerate(TEXTS.values()):
        name = re.sub("[/\0]", "", attack)[:40].encode("utf-8", "surrogatepass")
        document = f"# {attack}\n\n{WORDS.format(attack)}\n".encode("utf-8", "surrogatepass")
        (folder / f"{place}.md").write_bytes(document)
        with open(bytes(folder) + b"/" + name + b".txt", "wb") as stream:
            stream.write(document)


def write_files(folder: Path) -> None:
    """Write what commands read: sources and a text to cite, queries, rules, a recording, SearXNG's settings."""
    numbered = enumerate(ADDRESSES)
    sources = [{"url": url, "title": SHORT[n], "content": WORDS.format(SHORT[n])} for n, url in numbered]
    (folder / "sources.json").write_text(json.dumps({"results": sources}))
    text = "".join(f"{WORDS.format(attack)} [{place}]\n\n" for place, attack in enumerate(SHORT, 1))
    rules = "\n".join(f"$boost={attack}\n$discard,site={attack}\n/{attack}$downrank={attack}" for attack in SHORT)
    queries = "\n".join([*SHORT[::5], "\udcff\udcfe\udc9b31m"])
    for name, content in (("answer.md", text), ("rules.txt", rules), ("queries.txt", queries)):
        (folder / name).write_bytes(content.encode("utf-8", "surrogatepass"))
    told = {"provider": "searxng", "question": "tape", "page": 1, "error": "UnreachableError", "detail": CHUNKS[0]}
    recording = {"version": 1, "recordedAt": "2026-01-01T00:00:00+00:00", "exchanges": [told]}
    (folder / "tape.json").write_text(json.dumps(recording))
    server = {"secret_key": "ultrasecretkey", "base_url": CHUNKS[0]}
    deployed = {"server": server, "search": {"formats": SHORT[:9]}, "engines": [{"name": attack} for attack in SHORT]}
    (folder / "settings.yml").write_text(json.dumps(deployed, indent=1))


def hostile_settings() -> str:
    """Return settings of sleuth with attacks for values, and one for a name."""
    values: dict[str, Any] = {"default_provider": CHUNKS[0], "region": CHUNKS[1], "max_results": CHUNKS[2]}
    values |= {"nobody": CHUNKS[3], CHUNKS[4]: 1, "safe_search": CHUNKS[5]}
    values["exclude_domains"] = [f"/({attack}/" for attack in SHORT]
    lines = "\n".join(f"{json.dumps(name)} = {json.dumps(value)}" for name, value in values.items())
    return "[websearch]\n" + re.sub(r"\\ud[89a-f]..", "?", lines) + "\n"  # TOML has no half characters


COMMANDS = (
    "providers list",
    "providers list --json",
    "providers show searxng",
    "providers show searxng --json",
    "providers test searxng hostile",
    "providers test searxng --json",
    "search -p searxng -n 4 --json --content --progress json anything",
    "search -p searxng,hostile --fallback --debug anything",
    "search -p searxng --rules {folder}/rules.txt --explain anything",
    "search -p searxng --record {folder}/new.json anything",
    "search -p searxng --replay {folder}/tape.json tape",
    "search -p searxng --batch {folder}/queries.txt",
    "search -p searxng --batch {folder}/queries.txt --ordered -o {folder}/batch.ndjson",
    "search -p hostile,searxng texts",
    "library add {folder}/notes",
    "library add {folder}/notes {url}/page1 {url}/moved --json",
    "summarize {url}/page0 {url}/page1",
    "summarize {url}/page0 {url}/page3 {url}/moved --format markdown",
    "summarize {url}/page4 --json --progress json",
    "cite --sources {folder}/sources.json {folder}/answer.md",
    "cite --sources {folder}/sources.json --style plain --check {folder}/answer.md",
    "cite --sources {folder}/sources.json --style terminal {folder}/answer.md",
    "cite --sources {folder}/sources.json --json --check {folder}/answer.md",
    "doctor",
    "doctor --json",
    "doctor --verbose {url}",
    "doctor --settings {folder}/settings.yml",
    "doctor --settings {folder}/settings.yml --fix --json",
    "ask -p searxng --extractive --format markdown anything",
    "ask -p searxng --search on --rounds 1 anything",
    "ask -p searxng --search on --rounds 1 --format markdown anything",
    "ask -p searxng --search on --rounds 1 --json anything",
    "chat -p searxng",
    "history",
    "history --json",
    "usage",
    "usage --json",
    "cache stats --json",
    "tool-schema --style mcp",
)  # fmt: skip


# What needs the hostile settings, or a library with hostile documents in it.
SETTINGS = (
    "config show",
    "config show --json --origin",
    "config get websearch.region",
    "config get websearch.region --json",
    "config get websearch.exclude_domains",
    "config validate",
    "search -p hostile texts",
    "search anything",
    "doctor --only install",
)
LIBRARY = (
    "library list --limit 100",
    "library list --limit 100 --json",
    "library search -n 50 --format plain village",
    "library search -n 50 --format rich village",
    "library search -n 50 --json village",
    "library search -n 50 --format markdown village",
    "library search -n 50 --format csv --fields title,snippet,author village",
    "search -p library -n 50 --content --format plain village",
    "library stats",
    "library remove {folder}/notes",
)


def inspect(world: World, judge: Any, line: str, **environ: str) -> None:
    """Run a line with and without a terminal, and judge all that it printed; JSON must be JSON."""
    words = world.words(line)
    own_words = "cite" in words or "--batch" in words or {"config", "--json"} <= set(words)
    marks = 10**6 if own_words else 4  # what the user wrote is repeated to programs as it was
    for terminal in (False, True):
        more = environ | ({"FORCE_COLOR": "1"} if terminal else {})
        done = world.sleuth(*words, terminal=terminal, stdin="anything\n/sources\n/settings\n/quit\n", **more)
        assert "Traceback" not in done.err
        assert "unexpected" not in done.err
        links = allowed(world, done.out) if terminal or "terminal" in words else None
        text = judge(done.out, links=links, tabs=True, marks=marks)
        judge(done.err, links=links)
        if "--json" in words and done.out:
            json.loads(text)
        if "markdown" in words:
            parsed(text, ("http://", "https://", f"{world.folder.as_uri()}/"))


def allowed(world: World, out: str) -> set[str]:
    """Return where links may lead: to what was found, read or added, and not to where a text says."""
    own = set(re.findall(r"\x1b\]8;[^;]*;(https?://(?:n\d+|a)\.test/[!-~]*)\x1b", out))
    own |= set(re.findall(rf"\x1b\]8;[^;]*;({re.escape(world.folder.as_uri())}/[!-~]*)\x1b", out))
    own |= {f"{world.url}/page{place}" for place in range(6)} | {ascii_url(clean_url(url)) for url in ADDRESSES}
    return own


@pytest.mark.parametrize("line", COMMANDS)
def test_everything_printed_is_text(world: World, judge: Any, line: str, capsys: Any) -> None:
    if line.startswith("history"):
        for chunk in CHUNKS:
            world.sleuth("search", "-p", "hostile", chunk)
    inspect(world, judge, line)
    judge(capsys.readouterr().err)
    log = world.sleuth.home / "state" / "sleuth.log"
    judge(log.read_bytes() if log.exists() else b"")
    for name in ("new.json", "batch.ndjson"):
        judge((world.folder / name).read_bytes() if (world.folder / name).exists() else b"", marks=10**6)


def test_settings_of_an_enemy_are_text(world: World, judge: Any) -> None:
    for line in SETTINGS:
        inspect(world, judge, line, SLEUTH_CONFIG=str(world.folder / "config.toml"))


def test_documents_of_an_enemy_are_text(world: World, judge: Any) -> None:
    assert world.sleuth("library", "add", str(world.folder / "notes")).exit == 0
    for line in LIBRARY:
        inspect(world, judge, line)


# Where a word of the user may be wrong, an attack stands for {}.
MISTAKES = (
    "{}",
    "search -p {} x",
    "search --lang {} x",
    "search --freshness {} x",
    "search --fields {} x",
    "search --template {nope{}} x",
    "search --format {} x",
    "search -n {} x",
    "search --rules {} x",
    "search --replay {} x",
    "search --batch {}",
    "search --site {} -p hostile x",
    "search --exclude /({}/ -p hostile x",
    "search --engine {} -p hostile {}",
    "search -o /nowhere/{} -p hostile x",
    "search --{} x",
    "config get {}",
    "config set {} 1",
    "config set websearch.max_results {}",
    "config set cache.url {}",
    "config show {}",
    "providers show {}",
    "providers set {} --name x",
    "providers set searxng --name {}",
    "providers set searxng --api-host {}",
    "providers set searxng --type {}",
    "providers set searxng --option {}",
    "providers set searxng --engines {}",
    "providers set searxng --unset {}",
    "providers add --id {} --api-host http://a.test/%s",
    "providers use {}",
    "providers remove {}",
    "summarize {}",
    "summarize https://{}",
    "summarize --length {} https://a.test/",
    "library add {}",
    "library remove {}",
    "cite --sources {}",
    "doctor {}",
    "doctor --only {}",
    "doctor --provider {}",
    "doctor --settings {}",
    "completions {}",
    "tool-schema --style {}",
)


@pytest.mark.parametrize("line", MISTAKES)
def test_complaints_repeat_no_attack(sleuth: Any, judge: Any, line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    for chunk in (" ".join(CHUNKS[:3]), " ".join(CHUNKS[3:])):
        typed = os.fsdecode(chunk.encode("utf-8", "surrogatepass").replace(b"\0", b""))  # as it comes from a shell
        words = [word.replace("{}", typed) for word in line.split()]
        done = sleuth(*words, SLEUTH_FETCH_JINA="false", SLEUTH_FETCH_ARCHIVE="false", SEARXNG_URL="http://127.0.0.1:1")
        judge(done.out, tabs=True)
        told = judge(done.err).splitlines()
        assert "unexpected" not in done.err
        assert done.exit in (0, 1, 2, 3, 4, 6), done.err
        assert done.exit == 0 or [told_line for told_line in told if told_line.startswith("error: ")] or done.out


@pytest.mark.parametrize("language", ["C.UTF-8", "zh_CN.UTF-8"])
def test_failures_repeat_no_attack(sleuth: Any, judge: Any, language: str) -> None:
    for name, words in zip(TEXTS, cycle((["hostile"], ["hostile,library"], ["hostile", "--json"])), strict=False):
        done = sleuth("search", "-p", *words, f"fail {name}", LC_ALL=language)
        judge(done.out)
        told = judge(done.err)
        assert done.exit in (0, 1)
        assert told.startswith("{" if "--json" in words else ("error: ", "错误", "warning: ", "警告"))


# A real terminal, real pipes


def test_prompt_shows_text_and_links_of_its_own(world: World, judge: Any, tmp_path: Path) -> None:
    environ = world.sleuth.environ | {"COLUMNS": "80", "PATH": str(tmp_path)}
    arguments = ["-m", "sleuth", "search", "-i", "-p", "searxng", "-n", "50", "anything"]
    child = pexpect.spawn(sys.executable, arguments, env=environ, timeout=20, dimensions=(40, 80))
    prompt = rb"sleuth \(\? for help\) "
    seen = b""
    try:
        child.expect(prompt)
        seen += child.before
        for line in ("x", "s 1", "99", "d \x1b]0;owned\x07", "\u202eabc", "c 5"):
            child.sendline(line)
            child.expect(prompt)
            _, _, printed = child.before.partition(b"\n")  # after what the terminal echoes of the user's own typing
            seen += printed
        child.sendline("q")
        child.expect(pexpect.EOF)
    finally:
        child.close(force=True)
    assert b"copied https://n0.test/" in seen
    text = re.sub(rb"\x1b\]52;c;[A-Za-z0-9+/=]+\x07", b"", seen, count=1)  # what the user asked to copy
    text = re.sub(rb"\x1b\[\?2004[hl]", b"", text.replace(b"\r\n", b"\n"))  # line editing's own
    judge(text.replace(b"\r\x1b[K", b""), links=allowed(world, text.decode()))


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_bytes_on_real_streams_are_text(world: World, judge: Any, encoding: str) -> None:
    """The streams of a process, in an encoding that has no letters for what was found, with input that is no text."""
    environ = world.sleuth.environ | {"PYTHONIOENCODING": f"{encoding}:strict"}
    sources = str(world.folder / "sources.json")
    for words in (
        ["search", "-p", "searxng", "-n", "50", "--format", "plain", "--debug", "anything \udc9b31m"],
        ["search", "-p", "searxng", "--batch", "-", "--jobs", "1"],
        ["summarize"],
        ["cite", "--sources", sources, "--style", "plain"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "sleuth", *words],
            env=environ,
            input=b"\xff\xfe\x9b31m [1] \x1b]0;owned\x07\n",
            capture_output=True,
            timeout=60,
        )
        judge(done.stdout, marks=10**6)
        judge(done.stderr)
        assert b"unexpected" not in done.stderr, done.stderr
        assert b"Traceback" not in done.stderr
