"""Each misconfiguration is run on a real server: doctor reports it, and its fixes work."""

import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sleuth.doctor.finding import Finding
from sleuth.doctor.server.examination import examine
from sleuth.doctor.server.session import Environment
from sleuth_providers.base import Account

pytestmark = pytest.mark.live

ENVIRONMENT = Environment(search_path="/nowhere")
NO_ACCOUNT = Account()
ALICE = Account(username="alice", password="horse battery")
LIMITED = {"server": {"limiter": True}}


class Place(NamedTuple):
    """Where the doctor is sent, and with what."""

    url: str
    account: Account = NO_ACCOUNT
    environment: Environment = ENVIRONMENT


class World:
    """All the programs a state may be made of; each is started when it is first needed."""

    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        self.request, self.folder = request, folder

    def __getattr__(self, name: str) -> Any:
        return self.request.getfixturevalue(name)

    def searxng(self, changes: dict[str, Any] | None = None, **options: Any) -> Any:
        return self.searxng_server.start(changes, **options)

    def engine(self, name: str, path: str, **more: Any) -> dict[str, Any]:
        """Return an engine that asks the upstream for a path."""
        fields = {"results_query": "documents", "url_query": "url", "title_query": "title", "content_query": "summary"}
        address = path if "://" in path else f"{self.page_server}{path}"
        asked = {
            "engine": "json_engine",
            "categories": ["general"],
            "enable_http": True,
            "search_url": f"{address}?q={{query}}",
        }
        return {"name": name, "shortcut": name[:4], **asked, **fields, **more}

    def limited(self, **options: Any) -> Any:
        return self.searxng(LIMITED | {"valkey": {"url": self.redis_server.url}}, **options)

    def nginx(self, lines: str, **options: Any) -> str:
        return f"http://127.0.0.1:{self.nginx_server(lines, **options)}"

    def closed(self) -> str:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            return f"http://127.0.0.1:{probe.getsockname()[1]}"


def look(place: Place | str, **environment: Any) -> dict[str, Finding]:
    place = place if isinstance(place, Place) else Place(place)
    findings = examine(place.url, place.account, 5.0, place.environment._replace(**environment))
    return {finding.id: finding for finding in findings}


def healthy(world: World) -> str:
    return str(world.healthy_searxng.url)


def some_engines_down(world: World) -> str:
    engines = [
        world.engine("good", "/json"),
        world.engine("slow", "/slow", timeout=1.0),
        world.engine("err500", "/500"),
    ]
    return str(world.searxng({"engines": engines}).url)


def engines_block(world: World) -> str:
    engines = [world.engine("good", "/json"), world.engine("limited", "/429"), world.engine("denied", "/403")]
    return str(world.searxng({"engines": [*engines, world.engine("captcha", "/captcha")]}).url)


def all_engines_down(world: World) -> str:
    closed = world.closed()
    return str(world.searxng({"engines": [world.engine("one", closed), world.engine("two", closed)]}).url)


def engines_without_names(world: World) -> str:
    return str(world.searxng({"engines": [world.engine("one", "http://engine.invalid/json")]}).url)


def proxy_down(world: World) -> str:
    outgoing = {"proxies": {"all://": [world.closed()]}}
    return str(world.searxng({"outgoing": outgoing}).url)


def nothing_enabled(world: World) -> str:
    return str(world.searxng({"engines": [world.engine("one", "/json", disabled=True)]}).url)


def no_hits(world: World) -> str:
    return str(world.searxng({"engines": [world.engine("one", "/none")]}).url)


def json_disabled(world: World) -> str:
    return str(world.searxng({"search": {"formats": ["html"]}}).url)


def formats_missing(world: World) -> str:
    return str(world.searxng({"search": {"formats": None}}).url)


def formats_in_capitals(world: World) -> str:
    return str(world.searxng({"search": {"formats": ["html", "JSON"]}}).url)


def only_json(world: World) -> str:
    return str(world.searxng({"search": {"formats": ["json"]}}).url)


def limiter_on(world: World) -> str:
    return str(world.limited().url)


def api_quota(world: World) -> str:
    url = str(world.limited().url)
    for _ in range(4):
        assert look(url)["searxng.search"].state == "ok"
    return url


def link_token(world: World) -> str:
    url = str(world.limited(limiter="[botdetection.ip_limit]\nlink_token = true\n").url)
    for _ in range(3):  # the fourth request is redirected; from the fifth on, the quota refuses first
        look(url)
    return url


def link_token_at_first(world: World) -> str:
    return str(world.limited(limiter="[botdetection.ip_limit]\nlink_token = true\n").url)


def blocked_address(world: World) -> str:
    return str(world.limited(limiter='[botdetection.ip_lists]\nblock_ip = ["127.0.0.1/32"]\n').url)


def passed_address(world: World) -> str:
    url = str(world.limited(limiter='[botdetection.ip_lists]\npass_ip = ["127.0.0.0/8"]\n').url)
    for _ in range(5):
        look(url)
    return url


def limiter_without_valkey(world: World) -> str:
    return str(world.searxng(LIMITED).url)


def valkey_lost(world: World) -> str:
    server = world.limited()
    look(server.url)
    world.redis_server.stop()
    return str(server.url)


def without_defaults(world: World) -> str:
    return str(world.searxng({"use_default_settings": None}).url)


def exits(world: World, changes: dict[str, Any], **options: Any) -> Any:
    server = world.searxng(changes, wait=False, **options)
    assert server.process.wait(300) != 0
    return server


def secret_unchanged(world: World) -> Any:
    return exits(world, {"server": {"secret_key": "ultrasecretkey"}})


def formats_no_list(world: World) -> Any:
    return exits(world, {"search": {"formats": "json"}})


def limiter_as_text(world: World) -> Any:
    return exits(world, {"server": {"limiter": "false"}})


def limiter_said_no(world: World) -> Any:
    return exits(world, {}, SEARXNG_LIMITER="no")


def shortcut_twice(world: World) -> Any:
    engines = [world.engine(name, "/json", shortcut="same") for name in ("one", "two")]
    return exits(world, {"engines": engines})


def tab_in_settings(world: World) -> Any:
    return exits(world, {}, text="use_default_settings: true\nserver:\n\tsecret_key: x\n")


def public_without_valkey(world: World) -> Any:
    return exits(world, {"server": {"public_instance": True}})


def wrong_base_url(world: World) -> str:
    return str(world.searxng(SEARXNG_BASE_URL="https://search.example.org/").url)


def base_url_with_path(world: World) -> str:
    port = int(world.closed().rpartition(":")[2])
    return str(world.searxng(port=port, SEARXNG_BASE_URL=f"http://127.0.0.1:{port}/searxng/").url)


def needless_prefix(world: World) -> str:
    return f"{world.healthy_searxng.url}/searxng"


def password(world: World) -> str:
    file = world.folder / "htpasswd"
    hashed = subprocess.run(["openssl", "passwd", "-apr1", ALICE.password], capture_output=True, text=True, check=True)
    file.write_text(f"alice:{hashed.stdout}")
    login = f'auth_basic "SearXNG"; auth_basic_user_file {file};'
    return world.nginx(
        f"location / {{ {login} proxy_set_header Host $http_host; proxy_pass {world.healthy_searxng.url}; }}"
    )


def password_wrong(world: World) -> Place:
    return Place(password(world), ALICE._replace(password="wrong"))


def password_right(world: World) -> Place:
    return Place(password(world), ALICE)


def gateway_down(world: World) -> str:
    return world.nginx(f"location / {{ proxy_pass {world.closed()}; }}")


def gateway_slow(world: World) -> str:
    listener = world.silent_port
    return world.nginx(f"location / {{ proxy_read_timeout 1s; proxy_pass http://127.0.0.1:{listener}; }}")


def prefixed(world: World) -> str:
    headers = "proxy_set_header Host $http_host; proxy_set_header X-Script-Name /searxng;"
    return world.nginx(f"location /searxng {{ {headers} proxy_pass {world.healthy_searxng.url}; }}")


def prefix_right(world: World) -> str:
    return f"{prefixed(world)}/searxng/"


def prefix_stripped(world: World) -> str:
    there = f"proxy_pass {world.healthy_searxng.url}/;"
    return f"{world.nginx(f'location /searxng/ {{ proxy_set_header Host $http_host; {there} }}')}/searxng"


def over_tls(world: World) -> str:
    file, key = world.certificate
    lines = (
        f"ssl_certificate {file}; ssl_certificate_key {key}; location / {{ proxy_pass {world.healthy_searxng.url}; }}"
    )
    return world.nginx(lines, options=" ssl")


def self_signed(world: World) -> str:
    return over_tls(world).replace("http://", "https://")


def tls_to_plain(world: World) -> str:
    return str(world.healthy_searxng.url).replace("http://", "https://")


def to_https(world: World) -> str:
    return world.nginx("return 301 https://127.0.0.1:9443$request_uri;")


def something_else(world: World) -> str:
    return world.nginx(
        "location / { return 404; } location = / { default_type text/html; return 200 '<title>Hello</title>'; }"
    )


def nothing(world: World) -> str:
    return world.closed()


def silent(world: World) -> str:
    return f"http://127.0.0.1:{world.silent_port}"


def predecessor(world: World) -> str:
    return str(world.searx_server)


class State(NamedTuple):
    """A state that is made for real, and the finding that must name it."""

    make: Callable[[World], Place | str]
    id: str
    state: str
    cause: str = ""
    fix: str = ""
    evidence: str = ""
    alone: bool = True  # nothing else fails


STATES = [
    State(healthy, "searxng.search", "ok", evidence="results"),
    State(
        some_engines_down,
        "searxng.engines.slow",
        "warn",
        "exceeded SearXNG's timeout",
        "- name: slow",
        "slow: timeout",
    ),
    State(some_engines_down, "searxng.engines.broken", "warn", "not as this version", "- name: err500", "HTTP error"),
    State(
        engines_block,
        "searxng.engines.blocked",
        "warn",
        "take the server for a bot",
        "- name: captcha",
        "suspended until",
    ),
    State(all_engines_down, "searxng.search", "fail", "no engine answered", alone=False),
    State(all_engines_down, "searxng.engines.unreachable", "fail", "no internet or no DNS", "1.1.1.1", alone=False),
    State(
        engines_without_names, "searxng.engines.unreachable", "fail", "no internet or no DNS", "1.1.1.1", alone=False
    ),
    State(proxy_down, "searxng.engines.unreachable", "fail", "outgoing.proxies", "proxies", alone=False),
    State(nothing_enabled, "searxng.search", "fail", "no general engine is enabled", "disabled: false"),
    State(no_hits, "searxng.search", "ok", evidence="not an error"),
    State(json_disabled, "searxng.json", "fail", "not in `search.formats`", "    - json", "HTTP 403"),
    State(formats_missing, "searxng.json", "fail", "only html is enabled by default", "    - json", "HTTP 403"),
    State(formats_in_capitals, "searxng.json", "fail", "names are lower case", "    - json", "HTTP 403"),
    State(only_json, "searxng.search", "ok"),
    State(
        limiter_on, "searxng.limiter", "warn", "four JSON requests an hour", "limiter: false", "used one of the four"
    ),
    State(api_quota, "searxng.limiter", "fail", "four JSON requests an hour", "pass_ip", "Too Many Requests"),
    State(link_token_at_first, "searxng.limiter", "warn", "`link_token` or `public_instance`", "link_token = false"),
    State(link_token, "searxng.limiter", "fail", "`link_token` or `public_instance`", "link_token = false", "302"),
    State(blocked_address, "searxng.limiter", "fail", "`block_ip`", "block_ip = []", "BLOCKLIST"),
    State(passed_address, "searxng.search", "ok"),
    State(limiter_without_valkey, "searxng.limiter", "ok", evidence="valkey was missing"),
    State(valkey_lost, "searxng.limiter", "fail", "has lost its valkey", "docker compose up -d valkey", "HTTP 500"),
    State(
        without_defaults,
        "searxng.server",
        "fail",
        "use_default_settings",
        "use_default_settings: true",
        "including /healthz",
    ),
    State(
        wrong_base_url, "searxng.base_url", "warn", "names another address", "SEARXNG_BASE_URL=", "search.example.org"
    ),
    State(base_url_with_path, "searxng.base_url", "ok", evidence="/searxng"),
    State(needless_prefix, "searxng.path", "fail", "wrong path", "--api-host http://127.0.0.1:", "SearXNG is at"),
    State(password, "searxng.login", "fail", "SearXNG itself has no login", "--basic-auth-username", "Basic realm"),
    State(password_wrong, "searxng.login", "fail", "rejects the user name", "--basic-auth-password -", "401"),
    State(password_right, "searxng.search", "ok"),
    State(gateway_down, "searxng.http", "fail", "cannot reach SearXNG", "docker compose up -d", "502"),
    State(gateway_slow, "searxng.http", "fail", "gets no answer from SearXNG in time", "proxy_read_timeout", "504"),
    State(prefix_right, "searxng.search", "ok"),
    State(prefix_right, "searxng.base_url", "ok", evidence="/searxng"),
    State(prefixed, "searxng.path", "fail", "wrong path", "/searxng", "SearXNG is at"),
    State(prefix_stripped, "searxng.base_url", "warn", "names another address", "X-Script-Name /searxng"),
    State(self_signed, "searxng.tls", "fail", "self-signed", "update-ca-certificates", "self-signed certificate"),
    State(over_tls, "searxng.http", "fail", "expects TLS", "--api-host https://127.0.0.1:", "400"),
    State(tls_to_plain, "searxng.tls", "fail", "plain HTTP, not TLS", "--api-host http://127.0.0.1:"),
    State(to_https, "searxng.http", "fail", "redirects to https", "--api-host https://127.0.0.1:9443", "301"),
    State(something_else, "searxng.server", "fail", "another program answers", "ss -ltnp", "Hello"),
    State(nothing, "searxng.port", "fail", "no server is listening", "docker ps -a", "refused"),
    State(silent, "searxng.http", "fail", "the server hangs", "docker compose restart core", "no response in time"),
    State(predecessor, "searxng.server", "warn", "predecessor of SearXNG", "sleuth searxng init", "searx 1.1.0"),
    State(predecessor, "searxng.engines", "warn", "left out of the results", evidence="answered: alpha"),
]


# A server that exits looks like no server at all; what its log says comes from Docker.
EXITS = [
    (secret_unchanged, "still the built-in one", "openssl rand -hex 32"),
    (formats_no_list, "does not accept a value", "sleuth doctor --settings"),
    (limiter_as_text, "does not accept a value", "sleuth doctor --settings"),
    (limiter_said_no, "does not accept a value", "sleuth doctor --settings"),
    (shortcut_twice, "does not accept a value", "sleuth doctor --settings"),
    (tab_in_settings, "not valid YAML", "yaml.safe_load"),
    (public_without_valkey, "public_instance", "limiter: false"),
]


@pytest.fixture
def silent_port() -> Iterator[int]:
    """Give a port that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def world(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return World(request, tmp_path)


@pytest.mark.parametrize("state", STATES, ids=lambda state: f"{state.make.__name__}-{state.id}")
def test_state_is_reported(state: State, world: World) -> None:
    place = state.make(world)
    found = look(place)
    finding = found[state.id]
    assert finding.state == state.state, finding
    assert state.cause in finding.cause
    assert state.fix in finding.fix
    assert state.evidence in finding.evidence
    failed = [id for id, other in found.items() if other.state == "fail"]
    assert not state.alone or failed == ([state.id] if state.state == "fail" else [])


def dockerised(folder: Path, log: str) -> str:
    """Return a PATH with a docker that reports a stopped container and prints this log."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "log").write_text(log)
    (programs / "listed").write_text("searxng-core\tsearxng/searxng:latest\texited\tExited (1) 3 seconds ago\t\n")
    script = f"case $1 in ps) /bin/cat {programs}/listed;; logs) /bin/cat {programs}/log >&2;; esac"
    (programs / "docker").write_text(f"#!/bin/sh\n{script}\n")
    (programs / "docker").chmod(0o755)
    return str(programs)


@pytest.mark.parametrize(("make", "cause", "fix"), EXITS, ids=lambda value: getattr(value, "__name__", ""))
def test_server_that_exits_is_explained_by_its_log(make: Any, cause: str, fix: str, world: World) -> None:
    server = make(world)
    found = look(server.url, search_path=dockerised(world.folder, server.log))
    assert found["searxng.port"].state == "fail"
    assert "exits on startup (default secret_key, an error in settings.yml)" in found["searxng.port"].cause
    finding = found["searxng.container"]
    assert cause in finding.cause, server.log
    assert fix in finding.fix


def lines_for_settings(python: str, text: str) -> dict[str, Any]:
    """Return the settings that a fix says to write, as SearXNG's own YAML reads them."""
    blocks = text.split("\n\n")
    convert = "import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))"
    text = next(block for block in blocks if "# in settings.yml" in block)
    done = subprocess.run([python, "-c", convert], input=text, capture_output=True, text=True, check=True)
    read: dict[str, Any] = json.loads(done.stdout)
    return read


@pytest.mark.parametrize(
    ("id", "broken"),
    [
        ("searxng.json", {"search": {"formats": ["html"]}}),
        ("searxng.json", {"search": {"formats": None}}),
        ("searxng.server", {"use_default_settings": None}),
        ("searxng.limiter", LIMITED),
    ],
)
def test_fix_for_settings_makes_the_server_pass(id: str, broken: dict[str, Any], world: World) -> None:
    broken = broken | ({"valkey": {"url": world.redis_server.url}} if broken is LIMITED else {})
    before = look(world.searxng(broken).url)[id]
    assert before.state in ("warn", "fail")
    written = lines_for_settings(world.searxng_program, before.fix)
    repaired = world.searxng(
        {
            key: {**broken.get(key, {}), **value} if isinstance(value, dict) else value
            for key, value in (broken | written).items()
        }
    )
    after = {}
    for finding in examine(repaired.url, Account(), 5.0, ENVIRONMENT):
        after[finding.id] = finding
        if finding.id == "searxng.limiter":
            break  # with the default engines, the search that comes next would leave this machine
    assert after[id].state == "ok", after[id]
    assert "fail" not in {finding.state for finding in after.values()}


def test_fix_for_an_unchanged_secret_makes_the_server_start(world: World) -> None:
    changes = {"server": {"secret_key": "ultrasecretkey"}}
    server = exits(world, changes)
    finding = look(server.url, search_path=dockerised(world.folder, server.log))["searxng.container"]
    command = next(line for line in finding.fix.splitlines() if "SEARXNG_SECRET" in line)
    subprocess.run(["/bin/sh", "-c", command], cwd=world.folder, check=True)
    name, _, secret = (world.folder / ".env").read_text().strip().partition("=")
    assert len(secret) == 64
    assert look(world.searxng(changes, **{name: secret}).url)["searxng.search"].state == "ok"


def test_healthy_server_has_no_problem(world: World) -> None:
    assert {finding.state for finding in look(healthy(world)).values()} == {"ok", "skipped"}


def test_command_examines_a_real_server(sleuth: Any, healthy_searxng: Any) -> None:
    done = sleuth.process("doctor", healthy_searxng.url, "--json", PATH="/nowhere", PYTHONPATH="cli:providers")
    assert done.exit == 0
    assert done.json["ok"] is True
