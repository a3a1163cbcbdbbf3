"""No key or password leaks: not to output, log, cache, recording, backup, traceback or child process.

A new command belongs in COMMANDS, a new place for secrets in SECRETS and `store_secrets`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sleuth.base import logs
from sleuth_providers import registry
from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result

pytestmark = pytest.mark.adversarial

SECRETS = {
    "key in the table": "tbl-Zq7Kp2Vw9Xd4Mn",
    "second key in the table": "two-Hs5Lt8Rb3Gf6Jy",
    "key in the environment": "env-Wd3Fj6Nc9Ty2Kx",
    "key of a command": "cmd-Bv8Gq4Zs7Hm1Lp",
    "password": "pwd-Rk5Xn2Yt8Cw6Df",
    "password in a URL": "adr-Mj9Qe4Ub7Sx3Kv",
    "key in the query of a URL": "qry-Tz6Wp1Ha8Nd5Gc",
    "key of the model": "llm-Xb4Rj7Ke2Vq9Fs",
    "key of the embedding": "emb-Ly8Dc3Mt6Pw1Zh",
    "key of the reranker": "rer-Gn2Vf5Xs9Bk7Jq",
    "password of the cache": "red-Cq7Th4Wz1Rm8Ld",
    "password of the proxy": "prx-Fk3Sy6Bn9Jx2Pv",
    "password of the model's URL": "lla-Vd5Kw8Gc1Zt4Hr",
}
MIDDLES = {name: secret[4:-2] for name, secret in SECRETS.items()}  # both ends are shown to distinguish keys
HIDDEN = {**MIDDLES, "login": b64encode(f"me:{SECRETS['password']}".encode()).decode()[4:]}


class Crash(Provider):
    """A plug-in that fails in every way, with the key in its messages."""

    id = "crash"
    name = "Crash"
    host = "http://127.0.0.1:1"
    env = ("CRASH_API_KEY",)

    def search(self, query: Query, account: Account, http: Any) -> Found:
        """Fail as the query says."""
        if query.text == "result":
            return Found((Result(f"your key is {account.key}", f"https://a.test/?key={account.key}", repr(account)),))
        if query.text == "chain":
            try:
                raise KeyError(account.key)
            except KeyError as problem:
                raise ValueError(f"while using\n{account.key}") from problem
        raise RuntimeError(f"{account.key}\n{account!r}")

    def request(self, query: Query, account: Account) -> Request:
        """Never called."""
        return Request(self.host)

    def parse(self, reply: Response, query: Query) -> Found:
        """Never called."""
        return Found()


@pytest.fixture(scope="module", autouse=True)
def _crashing_provider() -> Iterator[None]:
    registry.add("crash", Crash)
    yield
    registry._added.pop("crash")
    registry._loaded.pop("crash", None)


def echo(exchange: Any) -> None:
    """Repeat the request in results, errors, headers and redirects."""
    request = exchange.request.decode("latin-1")
    words = re.search(r"[?&]q=(\w+)", exchange.path) or re.search(r'"(?:q|query)": ?"(\w+)', request)
    kind = words[1] if words else ""
    lines = request.replace("\r\n", " ")
    link = f"https://a.test{exchange.path.replace(' ', '')}&login={lines[:600]}"
    hit = {"url": link, "title": lines, "content": lines, "description": lines, "snippet": lines, "author": lines}
    hit |= {"link": link, "engines": [lines], "img_src": link, "thumbnail": link, "source": lines}
    response = {
        "results": [hit],
        "web": {"results": [hit]},
        "organic_results": [hit],
        "organic": [hit],
        "answer": lines,
    }
    response |= {"suggestions": [lines], "corrections": [lines], "answers": [{"answer": lines, "url": link}]}
    response |= {"unresponsive_engines": [[lines, lines]], "error": lines if kind.startswith("no") else None}
    body = json.dumps({name: value for name, value in response.items() if value is not None}).encode()
    if kind == "binary":
        body = b"\xff\xfe" + body
    if exchange.path.endswith("/chat/completions"):
        prompt = request.partition("\r\n\r\n")[2]
        message = {"role": "assistant", "content": f"You wrote {prompt} [1]."}
        exchange.respond(json.dumps({"choices": [{"index": 0, "message": message, "delta": message}]}).encode())
    elif kind == "moved":
        exchange.respond(body, f"Location: http://127.0.0.2:1{exchange.path}", status="302 Found")
    elif kind.startswith("no"):
        exchange.respond(body, f"WWW-Authenticate: {lines}", f"Server: {lines}", status=f"{kind[2:]} {lines}")
    elif exchange.path.startswith("/page") or kind == "html":
        page = f"<!doctype html><html><title>{lines}</title><p>{'The village reads. ' * 20}{lines}.</p>"
        exchange.respond(page.encode(), "Content-Type: text/html")
    else:
        exchange.respond(body)


class SecretsHome(NamedTuple):
    """A home with a secret in every possible place."""

    sleuth: Any
    url: str
    folder: Path

    def run(self, line: str, **environ: str) -> Any:
        logs._secrets.clear()  # each command must redact its own
        words = [word.format(url=self.url, folder=self.folder) for word in line.split()]
        return self.sleuth(*words, stdin="echo\n/sources\n/settings\n", **environ)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory, serve_module: Any) -> tuple[Path, str]:
    """The folder of the home that every test copies, and the URL of its server."""
    return tmp_path_factory.mktemp("home"), serve_module(echo).url


@pytest.fixture
def home(sleuth: Any, template: tuple[Path, str], tmp_path: Path) -> SecretsHome:
    folder, url = template
    place = url.removeprefix("http://")
    sleuth.environ.pop("SEARXNG_URL")
    sleuth.environ |= {
        "TAVILY_API_KEY": SECRETS["key in the environment"],
        "CRASH_API_KEY": SECRETS["key in the environment"],
        "SEARXNG_BASE_URL": f"http://me:{SECRETS['password in a URL']}@{place}",
        "SLEUTH_FETCH_ALLOW_PRIVATE": "true",
        "SLEUTH_FETCH_JINA": "false",
        "SLEUTH_FETCH_ARCHIVE": "false",
        "SLEUTH_WEBSEARCH_RETRIES": "1",
        "HTTPS_PROXY": f"http://me:{SECRETS['password of the proxy']}@127.0.0.1:1",
    }
    if not (folder / "home").exists():
        store_secrets(sleuth, url, place, folder / "ask")
        shutil.copytree(sleuth.home, folder / "home")
    else:
        shutil.copytree(folder / "home", sleuth.home)
    files = tmp_path / "files"
    files.mkdir()
    (files / "queries.txt").write_text("echo\nno401\nmoved\n")
    return SecretsHome(sleuth, url, files)


def store_secrets(sleuth: Any, url: str, place: str, manager: Path) -> None:
    """Store the secrets where users store them."""
    manager.write_text(f"#!/bin/sh\necho {SECRETS['key of a command']}\n")
    manager.chmod(0o755)
    two = f"{SECRETS['key in the table']},{SECRETS['second key in the table']}"
    model = "http://me:" + SECRETS["password of the model's URL"] + "@" + place
    mine = f"{url}/page?q=%s&apikey={SECRETS['key in the query of a URL']}"
    for line, stdin in (
        (f"providers set brave --api-host {url} --api-key -", two),
        (f"providers set serpapi --api-host {url} --api-key -", SECRETS["key in the table"]),
        (f"providers set serper --api-host {url} --api-key cmd:{manager}", ""),
        (f"providers set tavily --api-host {url} --api-key env:TAVILY_API_KEY", ""),
        ("providers set exa --api-host https://exa.test --api-key -", SECRETS["key in the table"]),
        (f"providers add --id work --adapter searxng --api-host {url}", ""),
        ("providers set work --basic-auth-username me --basic-auth-password -", SECRETS["password"]),
        (f"providers add --id mine --api-host {mine}", ""),
        (f"config set llm.base_url {model}", ""),
        ("config set llm.api_key -", SECRETS["key of the model"]),
        (f"config set embedding.base_url {url}", ""),
        ("config set embedding.api_key -", SECRETS["key of the embedding"]),
        ("config set embedding.model some", ""),
        (f"config set rerank.base_url {url}", ""),
        ("config set rerank.api_key -", SECRETS["key of the reranker"]),
        ("config set rerank.model some", ""),
        (f"config set cache.url redis://:{SECRETS['password of the cache']}@127.0.0.1:1/0", ""),
    ):
        done = sleuth(*line.split(), stdin=stdin)
        assert done.exit == 0, done.err
        assert not leaks(done.out + done.err), line


def leaks(text: str) -> list[str]:
    """Return the names of the secrets in a text."""
    return [name for name, part in HIDDEN.items() if part in text]


def created_files(home: SecretsHome) -> Iterator[Path]:
    """Yield every file that sleuth created, except the two that store secrets."""
    for folder in (home.sleuth.home, home.folder):
        for path in folder.rglob("*"):
            if path.is_file() and path.name != "config.toml" and not path.name.startswith("sleuth.db"):
                yield path


COMMANDS = (
    "search -p brave --json echo",
    "search -p brave,serpapi,work,tavily,serper echo",
    "search -p serpapi --format csv --fields title,url,snippet,engines,author echo",
    "search -p serpapi --debug no500",
    "search -p brave --debug no401",
    "search -p brave --json no429",
    "search -p tavily --debug --explain echo",
    "search -p tavily no403",
    "search -p serper --json --debug no401",
    "search -p work --format markdown echo",
    "search -p work --debug no401",
    "search -p work moved",
    "search -p searxng --debug echo",
    "search -p searxng no500",
    "search -p mine --debug html",
    "search -p mine no404",
    "search -p serpapi moved",
    "search -p serpapi,brave --timeout 0.1 --debug moved",
    "search -p exa --timeout 1 --debug echo",
    "search -p crash --debug fault",
    "search -p crash --debug chain",
    "search -p crash --json result",
    "search -p crash,work --record {folder}/crash.json result",
    "search -p serpapi --record {folder}/echo.json echo",
    "search -p work,mine --record {folder}/work.json echo",
    "search -p serpapi --record {folder}/moved.json moved",
    "search -p serpapi --record {folder}/binary.json binary",
    "search -p serpapi --replay {folder}/echo.json echo",
    "search -p brave,mine --batch {folder}/queries.txt -o {folder}/batch.ndjson",
    "search -p brave -n 2 --content --compress rag --debug echo",
    "search -p brave -n 2 --content --rerank --debug echo",
    "search -p brave -o {folder}/out.json --json echo",
    "search -p all --timeout 2 echo",
    "search echo",
    "summarize {url}/page --debug",
    "read {url}/page --debug",
    "read --links {url}/page --json",
    "watch -p brave echo",
    "watch -p brave --feed {folder}/feed.xml --debug echo",
    "watch -p work --exec cat --json echo",
    "watch list --json",
    "providers compare -p brave,work,mine echo --debug",
    "again --json",
    "open --print 1",
    "search -p brave --format bibtex echo",
    "search -p serpapi --format csl-json echo",
    "search -p brave --category images --verbose echo",
    "providers compare -p brave,work echo --json",
    "agents install claude --yes",
    "handbook searxng",
    "ask -p work --search on --rounds 1 --debug echo",
    "ask -p work --search on --rounds 1 --json echo",
    "ask -p work --extractive --json echo",
    "chat -p work --search on --rounds 1 --debug",
    "history --json",
    "usage --json",
    "providers list",
    "providers list --json",
    "providers show brave --json",
    "providers show serper",
    "providers show work --json",
    "providers show searxng",
    "providers show searxng --json",
    "providers show mine",
    "providers show mine --json",
    "providers test brave serpapi work mine serper crash exa --timeout 1 --debug",
    "providers test searxng work --json",
    "config show --origin",
    "config show --json",
    "config get llm.api_key",
    "config get llm.base_url",
    "config get cache.url --json",
    "config set cache.url not-an-address",
    "config validate",
    "doctor",
    "doctor --json --verbose",
    "doctor --provider work --json",
    "doctor --provider mine",
    "doctor --provider brave --debug",
    "cache stats --json",
    "tool-schema --style openai",
)  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS)
def test_command_leaks_no_secret(home: SecretsHome, line: str, capfd: Any) -> None:
    if "--replay" in line:
        assert home.run("search -p serpapi --record {folder}/echo.json echo").exit == 0
    if line.startswith(("again", "open")):
        assert home.run("search -p brave echo").exit == 0
    done = home.run(line)
    seen = capfd.readouterr()
    assert not leaks(done.out), done.out[:3000]
    assert not leaks(done.err + seen.out + seen.err), done.err[:3000] + seen.err[:3000]
    for path in created_files(home):
        data = path.read_bytes()
        assert not leaks(data.decode("latin-1")), path
        if path.suffix == ".json":
            assert not leaks(b"".join(unpacked(json.loads(data))).decode("latin-1")), path


def unpacked(value: Any) -> Iterator[bytes]:
    """Yield what a recording stores in base64."""
    for entry in value.get("exchanges", []) if isinstance(value, dict) else []:
        yield b64decode(entry.get("base64", ""))


def test_removed_secret_is_in_no_file(home: SecretsHome) -> None:
    """Not in the journal of the database or its free pages either."""
    for line in (
        "providers set brave --unset api_key",
        "providers reset serpapi",
        "providers reset exa",
        "providers set work --unset basic_auth_password",
        "providers remove mine",
        "config unset llm.api_key",
        "config unset cache.url",
    ):
        assert home.run(line).exit == 0
    gone = ("key in the table", "second key in the table", "password", "key in the query of a URL")
    gone += ("key of the model", "password of the cache")
    for path in home.sleuth.home.rglob("*"):
        data = path.read_bytes().decode("latin-1") if path.is_file() else ""
        assert not [name for name in gone if MIDDLES[name] in data], path


# Child processes

SPY = """#!/bin/sh
{ tr '\\0' ' ' < /proc/$$/cmdline; tr '\\0' '\\n' < /proc/$$/environ; cat; } >> "%s" < /dev/null
echo %s
"""


def test_child_process_gets_no_secret(home: SecretsHome, tmp_path: Path) -> None:
    """Neither editor, browser, Docker nor password manager has a stored secret in its arguments or environment."""
    record = tmp_path / "record"
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("docker", "podman", "editor", "browser", "secrets"):
        (folder / name).write_text(SPY % (record, SECRETS["key of a command"] if name == "secrets" else ""))
        (folder / name).chmod(0o755)
    stored = {name: part for name, part in HIDDEN.items() if name not in FROM_ENVIRONMENT}
    environ = {"PATH": f"{folder}:{os.environ['PATH']}", "EDITOR": "editor", "BROWSER": f"{folder / 'browser'} %s"}
    assert home.run(f"providers set serper --api-key cmd:{folder / 'secrets'}").exit == 0
    for line in (
        "search -p serper,brave,work,mine echo",
        "search -p brave --open 1 echo",
        "config edit",
        "doctor",
        "doctor http://127.0.0.1:1",
        "providers test serper work",
    ):
        words = [word.format(url=home.url, folder=home.folder) for word in line.split()]
        done = home.sleuth.process(*words, stdin="", **environ)
        assert not leaks(done.out + done.err), line
    seen = record.read_text()
    for name in ("docker", "editor", "browser", "secrets"):
        assert f"{folder / name}" in seen, f"{name} was not started"
    assert [name for name, part in stored.items() if part in seen] == []


# Every process of the user sees the user's environment.
FROM_ENVIRONMENT = ("key in the environment", "password in a URL", "password of the proxy")

PLUGIN = """
from sleuth_providers.base import Found, Provider

class Leak(Provider):
    id = "leak"
    name = "Leak"
    env = ("LEAK_KEY",)

    def search(self, query, account, http):
        if query.text == "exit":
            raise SystemExit(account.key)
        if query.text == "late":
            import atexit
            atexit.register(self.fail, account.key)
            return Found()
        if query.text == "nested":
            raise ExceptionGroup(account.key, [ValueError(account.key), KeyError(repr(account))])
        self.fail(account.key)

    def fail(self, key):
        local = {"Authorization": f"Bearer {key}"}
        raise RuntimeError(f"{local}")
"""


@pytest.mark.parametrize("words", ["fault", "nested", "exit"])
def test_crash_of_a_plug_in_leaks_no_secret(home: SecretsHome, tmp_path: Path, words: str) -> None:
    """In a real process, with the traceback that --debug prints."""
    plugins = tmp_path / "plugins"
    about = plugins / "leak-1.dist-info"
    about.mkdir(parents=True)
    (plugins / "leak.py").write_text(PLUGIN)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: leak\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[sleuth.providers]\nleak = leak:Leak\n")
    environ = {"PYTHONPATH": str(plugins), "LEAK_KEY": SECRETS["key in the table"]}
    for more in ([], ["--debug"], ["--json", "--debug"]):
        done = home.sleuth.process("search", "-p", "leak", *more, words, **environ)
        assert done.exit in (1, 6)
        assert not leaks(done.out + done.err), done.err
    for path in created_files(home):
        assert not leaks(path.read_bytes().decode("latin-1")), path


def test_secret_from_a_pipe_is_not_in_the_process_list(home: SecretsHome) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "sleuth", "providers", "set", "exa", "--api-key", "-"],
        env=home.sleuth.environ,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    seen = Path(f"/proc/{child.pid}/cmdline").read_bytes() + Path(f"/proc/{child.pid}/environ").read_bytes()
    _, err = child.communicate(SECRETS["key in the table"].encode())
    assert child.returncode == 0, err
    assert MIDDLES["key in the table"] not in (seen + err).decode("latin-1")
