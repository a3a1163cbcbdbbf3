"""One examination of a SearXNG server: its address, and its answers, each requested once."""

import time
from functools import cached_property, partial
from typing import Any

from sleuth.base.i18n import tr
from sleuth.doctor.finding import Finding, fail, shell, warn
from sleuth.doctor.server.address import Endpoint
from sleuth.doctor.server.probe import GENERATOR, REQUEST_TIMEOUT_S, Prober, ProbeResult
from sleuth_providers.adapters.searxng import SearXNG
from sleuth_providers.base import Account, Query, Request
from sleuth_providers.json import as_dict, as_text
from sleuth_providers.net.connection import Address
from sleuth_providers.net.guard import is_local, is_public
from sleuth_providers.records import Record
from sleuth_providers.threads import run_all

SAMPLE_QUERY = "open source search engine"  # harmless, and every engine has results for it
TIME_LIMIT_S = 9.0


class Environment(Record):
    """Where the examination runs, and what is known about the server beforehand."""

    provider: str = "searxng"  # the row of the provider table that fixes change
    variable: str = ""  # the environment variable that holds the address
    expected: bool = True  # a server was configured or named; else its absence is only a warning
    time_limit: float = TIME_LIMIT_S
    search_path: str = ""  # PATH on which to look for docker
    in_container: bool = False
    now: float = 0.0  # for tests; 0 means the real time


class Session:
    """What is known about one server; each request is made when its answer is first needed."""

    def __init__(self, endpoint: Endpoint, account: Account, timeout: float, environment: Environment) -> None:
        self.endpoint, self.timeout, self.environment = endpoint, timeout, environment
        self.account = account._replace(host=endpoint.url)
        self.deadline = time.monotonic() + environment.time_limit
        self.prober = Prober(self.deadline, endpoint.url)
        self.addresses: list[Address] = []  # after the port check, only those that accept a connection
        self.no_server = False  # no SearXNG answers here: look at other ports and at Docker

    @property
    def now(self) -> float:
        """Return the time of day, in seconds since 1970."""
        return self.environment.now or time.time()

    def switch_to(self, endpoint: Endpoint) -> None:
        """Continue at another address, as a search does when it is redirected to https."""
        self.endpoint, self.account = endpoint, self.account._replace(host=endpoint.url)
        self.__dict__.pop("probes", None)

    def time_left(self, seconds: float) -> float:
        """Return a timeout of at most this many seconds, ending before the deadline."""
        return max(0.05, min(seconds, self.deadline - time.monotonic()))

    def get(self, path: str, base: str = "") -> ProbeResult:
        """Request a path; the password is sent only to the server it was set for."""
        headers = {"Authorization": f"Basic {self.account.basic_auth}"} if self.account.username and not base else {}
        request = Request(f"{base or self.endpoint.url}{path}", headers=headers)
        return self.prober.send(request, self.time_left(REQUEST_TIMEOUT_S))

    @cached_property
    def probes(self) -> list[ProbeResult]:
        """Return the answers to /healthz, /config and /opensearch.xml, which reach no search engine."""
        return run_all(partial(self.get, path) for path in ("/healthz", "/config", "/opensearch.xml"))

    @property
    def health(self) -> ProbeResult:
        """Return the answer to /healthz."""
        return self.probes[0]

    @cached_property
    def index(self) -> ProbeResult:
        """Return the home page."""
        return self.get("/")

    @cached_property
    def config(self) -> dict[str, Any]:
        """Return the JSON of /config, or an empty object."""
        found = as_dict(self.probes[1].json()) if self.probes[1].status == 200 else {}
        return found if isinstance(found.get("engines"), list) and "instance_name" in found else {}

    @cached_property
    def software(self) -> tuple[str, str]:
        """Return "searxng" or "searx" and the version; empty texts for anything else."""
        if self.config:
            version = as_text(self.config.get("version"))
            return "searx" if "limiter" not in self.config and version.startswith(("0.", "1.")) else "searxng", version
        if any(seen.signed for seen in self.probes):
            return "searxng", ""
        found = GENERATOR.search(self.index.text)
        return (found[1].lower(), found[2]) if found else ("searxng" if self.index.signed else "", "")

    @property
    def limiter(self) -> dict[str, Any]:
        """Return what /config says about the limiter."""
        return as_dict(self.config.get("limiter"))

    @cached_property
    def json_probe(self) -> ProbeResult:
        """Return the answer to a JSON request without a query, or to the search where the limiter counts requests."""
        return self.search if self.limiter.get("enabled") is True else self.get("/search?format=json")

    @cached_property
    def search(self) -> ProbeResult:
        """Return the answer to a real search, the only request that reaches search engines."""
        request = SearXNG().request(Query(SAMPLE_QUERY), self.account)
        return self.prober.send(request, self.time_left(self.environment.time_limit))

    @cached_property
    def answer(self) -> dict[str, Any]:
        """Return the JSON of the search, or an empty object."""
        return as_dict(self.search.json()) if self.search.status == 200 else {}

    @cached_property
    def engine_errors(self) -> dict[str, Any]:
        """Return the engine errors that the server has recorded."""
        return as_dict(self.get("/stats/errors").json())

    @property
    def is_private(self) -> bool:
        """Return whether the server is on this machine or network, so that the user probably runs it."""
        addresses = [str(sockaddr[0]) for _, sockaddr in self.addresses]
        return is_local(self.endpoint.host) or bool(addresses and not any(map(is_public, addresses)))

    def command_to_use(self, url: str) -> str:
        """Return the command that makes sleuth use another address."""
        if self.environment.variable:
            return f"export {self.environment.variable}={shell(url)}"
        return f"sleuth providers set {self.environment.provider} --api-host {shell(url)}"

    def fail(self, evidence: str, remedy: str, url: str = "", /, **values: Any) -> Finding:
        """Return a failure with a remedy for this server; `url` is a better address for sleuth."""
        return fail(evidence, remedy, **self._values(url) | values)

    def warn(self, evidence: str, remedy: str, url: str = "", /, **values: Any) -> Finding:
        """Return a warning with a remedy for this server; `url` is a better address for sleuth."""
        return warn(evidence, remedy, **self._values(url) | values)

    def _values(self, url: str) -> dict[str, Any]:
        """Return the values of remedies that depend on the server alone."""
        run_own = [tr("# if the server is not yours, run your own:"), "sleuth searxng init ./searxng"]
        return {
            "host": shell(self.endpoint.host),
            "port": self.endpoint.port,
            "server": shell(f"{self.endpoint.host}:{self.endpoint.port}"),
            "script_name": f"proxy_set_header X-Script-Name {self.endpoint.path};" if self.endpoint.path else "",
            "base_url": shell(f"{self.endpoint.url}/"),
            "provider": self.environment.provider,
            "url": url,
            "use": self.command_to_use(url),
            "check": f"sleuth doctor {shell(url)}",
            "listeners": f"ss -ltnp 'sport = :{self.endpoint.port}'" if self.endpoint.is_local else "",
            "owner": [] if self.is_private else [*run_own, tr("# if it is yours:")],
        }
