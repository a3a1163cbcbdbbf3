"""One examination of a SearXNG server: where it should be, and what it answers, each question asked once."""

import time
from base64 import b64encode
from functools import cached_property, partial
from ipaddress import ip_address
from typing import Any

from sleuth.doctor.server.probe import GENERATOR, REQUEST_TIMEOUT_S, Prober, ProbeResult
from sleuth.doctor.verdict import shell
from sleuth_providers.adapters.searxng import SearXNG
from sleuth_providers.base import Account, Query, Request
from sleuth_providers.json import as_dict, as_text
from sleuth_providers.net.connection import Address
from sleuth_providers.records import Record
from sleuth_providers.threads import run_all

WORDS = "open source search engine"  # harmless, and every engine knows something about it
PATIENCE = 9.0  # seconds for everything
ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 - recognised, not listened on
OWN_NAMES = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


class Place(Record):
    """A well-formed address, taken apart."""

    scheme: str
    host: str
    port: int
    path: str = ""  # without a slash at the end

    @property
    def url(self) -> str:
        """Return the address as one would write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == (443 if self.scheme == "https" else 80)
        return f"{self.scheme}://{host}{'' if usual else f':{self.port}'}{self.path}"

    @property
    def is_local(self) -> bool:
        """Tell whether it is this machine."""
        return self.host in ("localhost", *ANYWHERE) or self.host.endswith(".localhost") or is_loopback(self.host)


class Environment(Record):
    """Where the examination is made from, and for whom."""

    agent: str = "sleuth"
    provider: str = "searxng"  # the row of the provider table that fixes change
    variable: str = ""  # the environment variable the address comes from
    expected: bool = True  # somebody set a server up, or asked for it
    patience: float = PATIENCE
    programs: str = ""  # the PATH on which docker is looked for
    in_container: bool = False
    now: float = 0.0  # 0 stands for the real time


class Session:
    """What is known of one server so far; questions are asked when an answer is first needed."""

    def __init__(self, place: Place, account: Account, timeout: float, around: Environment) -> None:
        self.place, self.timeout, self.around = place, timeout, around
        self.account = account._replace(host=place.url)
        self.deadline = time.monotonic() + around.patience
        self.prober = Prober(around.agent, self.deadline, place.url)
        self.addresses: list[Address] = []  # those that accept a connection come first
        self.nobody = False  # no SearXNG answers here: worth looking around

    @property
    def now(self) -> float:
        """Return the time of day, in seconds since 1970."""
        return self.around.now or time.time()

    def move(self, place: Place) -> None:
        """Go on at another address, as a search does when it is redirected to https."""
        self.place, self.account = place, self.account._replace(host=place.url)
        self.__dict__.pop("first", None)

    def left(self, seconds: float) -> float:
        """Return how long something may take that should take so many seconds at the most."""
        return max(0.05, min(seconds, self.deadline - time.monotonic()))

    def ask(self, path: str, base: str = "") -> ProbeResult:
        """Ask for one path; a password goes to the address it belongs to and nowhere else."""
        headers = {} if base else self._login()
        return self.prober.send(
            Request(f"{base or self.place.url}{path}", headers=headers), self.left(REQUEST_TIMEOUT_S)
        )

    def _login(self) -> dict[str, str]:
        if not self.account.username:
            return {}
        secret = b64encode(f"{self.account.username}:{self.account.password}".encode()).decode()
        return {"Authorization": f"Basic {secret}"}

    @cached_property
    def first(self) -> list[ProbeResult]:
        """Return the answers of /healthz, /config and /opensearch.xml, which no search engine hears of."""
        return run_all(partial(self.ask, path) for path in ("/healthz", "/config", "/opensearch.xml"))

    @property
    def health(self) -> ProbeResult:
        """Return the answer of /healthz."""
        return self.first[0]

    @cached_property
    def index(self) -> ProbeResult:
        """Return the home page."""
        return self.ask("/")

    @cached_property
    def config(self) -> dict[str, Any]:
        """Return what the server says of itself; empty where it does not."""
        found = as_dict(self.first[1].json()) if self.first[1].status == 200 else {}
        return found if isinstance(found.get("engines"), list) and "instance_name" in found else {}

    @cached_property
    def software(self) -> tuple[str, str]:
        """Return the program's name, searxng or searx, and its version; nothing where it is neither."""
        if self.config:
            version = as_text(self.config.get("version"))
            return "searx" if "limiter" not in self.config and version.startswith(("0.", "1.")) else "searxng", version
        if any(seen.signed for seen in self.first):
            return "searxng", ""
        found = GENERATOR.search(self.index.text)
        return (found[1].lower(), found[2]) if found else ("searxng" if self.index.signed else "", "")

    @property
    def limiter(self) -> dict[str, Any]:
        """Return what /config says of the limiter."""
        return as_dict(self.config.get("limiter"))

    @cached_property
    def trial(self) -> ProbeResult:
        """Return the answer to a request for JSON: one without words, or the search itself where each call counts."""
        if self.limiter.get("enabled") is True:
            return self.search
        request = Request(f"{self.place.url}/search", {"format": "json"}, headers=self._login())
        return self.prober.send(request, self.left(REQUEST_TIMEOUT_S))

    @cached_property
    def search(self) -> ProbeResult:
        """Return the answer to a real search, the one request that reaches search engines."""
        return self.prober.send(SearXNG().request(Query(WORDS), self.account), self.left(self.around.patience))

    @cached_property
    def answer(self) -> dict[str, Any]:
        """Return the JSON of the search; empty where there is none."""
        return as_dict(self.search.json()) if self.search.status == 200 else {}

    @cached_property
    def errors(self) -> dict[str, Any]:
        """Return what the server remembers of engines that failed."""
        return as_dict(self.ask("/stats/errors").json())

    @property
    def is_own(self) -> bool:
        """Tell whether the server is on this machine or in this network, so that its settings are likely the user's."""
        if self.place.is_local or "." not in self.place.host or self.place.host.endswith(OWN_NAMES):
            return True
        found = [str(sockaddr[0]) for _, sockaddr in self.addresses] or [self.place.host]
        return all(_is_private(address) for address in found)

    def use(self, url: str) -> str:
        """Return the command that makes sleuth use another address."""
        if self.around.variable:
            return f"export {self.around.variable}={shell(url)}"
        return f"sleuth providers set {self.around.provider} --api-host {shell(url)}"


def is_loopback(host: str) -> bool:
    """Tell whether a host is written as a loopback address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _is_private(address: str) -> bool:
    try:
        return not ip_address(address.partition("%")[0]).is_global
    except ValueError:
        return False
