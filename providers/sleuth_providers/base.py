"""The provider interface: the `Provider` class and what its declarations consist of."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sleuth_providers.errors import NoResultsError, ProviderError
from sleuth_providers.exchange import Account, Details, DirectAnswer, Found, Query, Request, Response, Result
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Protocol

    from sleuth_providers.net.policy import Guard
else:
    Protocol = object

# Adapters import these from here as well.
__all__ = ("Account", "Details", "DirectAnswer", "Found", "Query", "Request", "Response", "Result")
ON_OFF = ("on", "off")  # the choices of an option that is off by default
UNKNOWN_ENGINE = "unknown engine"  # why an engine did not answer: the server does not have it


class Sample(Record):
    """A recorded exchange: documentation and test of an adapter in one."""

    query: Query
    sends: str  # the expected request: "GET https://…?q=…"
    body: str
    finds: tuple[str, ...]  # the URLs of the expected results, in order
    status: int = 200
    headers: Mapping[str, str] = {"content-type": "application/json"}
    account: Account = Account()
    error: str = ""  # code of the expected error
    state: str = ""  # state of the expected error, where several errors share a code
    sends_body: Any = None  # the expected JSON or form of the request


class ErrorRule(Record):
    """The error that a status means, if the pattern occurs in the body."""

    status: int
    error: type[ProviderError]
    pattern: bytes = b""
    detail: str = ""
    message: str = ""
    hint: str = ""
    min_pause_s: float = 0.0  # before a retry, if the Retry-After header does not ask for more
    pause: bytes = b""  # finds the seconds to wait in the body


ErrorDetector = Callable[[Response], ProviderError | None]


class Sender(Protocol):
    """The part of the HTTP client that adapters use."""

    guard: Guard | None  # that connections of the browser must pass, too

    def send(self, request: Request, detect_error: ErrorDetector | None = None) -> Response:
        """Send a request and return its response; raise a ProviderError for an error status."""

    def time_left(self) -> float:
        """Return the seconds until the deadline, at least 0."""


class Provider:
    """A search provider: declarations, and the pure functions `request` and `parse`."""

    id: ClassVar[str] = ""
    name: ClassVar[str] = ""
    type: ClassVar[str] = "api"  # or "local": reads a results page
    homepage: ClassVar[str] = ""
    key_page: ClassVar[str] = ""  # where to get a key
    notes: ClassVar[str] = ""
    attribution: ClassVar[str] = ""  # what its terms ask to be shown with results
    trouble_hint: ClassVar[str] = ""  # what to do when the host cannot be reached
    env: ClassVar[tuple[str, ...]] = ()  # environment variables for the key
    host: ClassVar[str] = ""  # default base URL; for `local` a URL template with %s
    host_env: ClassVar[tuple[str, ...]] = ()  # environment variables for the host
    needs_key: ClassVar[bool] = False
    needs_host: ClassVar[bool] = False
    several_hosts: ClassVar[bool] = False  # the host may be a list with commas, tried in this order
    # Any of freshness, range, lang, region, safe, page, include, exclude, content and engines.
    supports: ClassVar[frozenset[str]] = frozenset()
    operators: ClassVar[bool] = False  # understands site: and -site: in the query
    categories: ClassVar[tuple[str, ...]] = ("general",)
    max_include: ClassVar[int] = 1000  # domains that can be sent; more are filtered by the engine
    max_exclude: ClassVar[int] = 1000
    one_domain_list: ClassVar[bool] = False  # takes domains to include or to exclude, not both
    known_engines: ClassVar[tuple[str, ...]] = ()  # values of `engines`; any if empty
    several_engines: ClassVar[bool] = False  # can search several engines at once
    max_results: ClassVar[int] = 10
    page_size: ClassVar[int] = 0  # results of a full page, if that may be fewer than were requested
    max_query: ClassVar[int] = 400
    max_words: ClassVar[int] = 0  # of a query with its operators; 0 for no limit
    price: ClassVar[str] = ""  # per 1,000 requests, with the date of the information
    cost: ClassVar[float] = 0.0  # estimated US dollars per request, for `sleuth usage`
    per_minute: ClassVar[int] = 0  # requests that sleuth allows; 0 for no limit
    per_day: ClassVar[int] = 0
    weight: ClassVar[float] = 1.0  # when the results of several providers are merged
    kind: ClassVar[str] = "official"  # API; or "feed", "page" (for people, requested like a browser), "local" (files)
    opt_in: ClassVar[bool] = False  # searched only when it is named, never as one of `all`
    offline: ClassVar[bool] = False  # needs no network
    caveat: ClassVar[str] = ""  # the kind of source, if not a web search; shown when it answers instead of one
    files: ClassVar[bool] = False  # results may be local files
    reads_language: ClassVar[bool] = False  # a model reads the query, so that today's date helps
    options: ClassVar[Mapping[str, str]] = {}  # for `providers set --option`: name and description
    option_choices: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # options that take one of these words only
    number_options: ClassVar[Mapping[str, tuple[float, float]]] = {}  # options that take a number, and its range
    required_options: ClassVar[tuple[str, ...]] = ()
    option_env: ClassVar[Mapping[str, tuple[str, ...]]] = {}  # environment variables for options
    error_rules: ClassVar[tuple[ErrorRule, ...]] = ()
    samples: ClassVar[tuple[Sample, ...]] = ()

    def request(self, query: Query, account: Account) -> Request:
        """Return the HTTP request for a query."""
        raise NotImplementedError

    def parse(self, response: Response, query: Query) -> Found:
        """Parse a successful response; raise BadResponseError for one of another shape."""
        raise NotImplementedError

    def detect_error(self, response: Response) -> ProviderError | None:
        """Return the error that a response means in this API; None leaves it to the HTTP status."""
        for rule in self.error_rules:
            if response.status == rule.status and re.search(rule.pattern, response.body, re.IGNORECASE):
                from sleuth_providers.net.client import retry_after

                told = re.search(rule.pause, response.body) if rule.pause else None
                pause = max(retry_after(response) or 0, rule.min_pause_s, float(told[1]) if told else 0) or None
                texts = {"message": rule.message, "hint": rule.hint}
                return rule.error(rule.detail, status=rule.status, retry_after=pause, **texts)
        return None

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Send the request and parse the response; providers that need several requests override this."""
        try:
            return self.parse(http.send(self.request(query, account), self.detect_error), query)
        except NoResultsError:
            return Found()

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Return the names of query fields that this provider ignores."""
        default = Query("")
        names = ("lang", "region", "safe", "include", "exclude", "engines")
        wanted = [name for name in names if getattr(query, name) != getattr(default, name)]
        period = "range" if query.freshness == "range" else "freshness"
        wanted += [period] * bool(query.freshness) + ["page"] * (query.page > 1)
        supported = self.supports | ({"include", "exclude"} if self.operators else set())
        ignored = {name: name not in supported for name in wanted}
        ignored["category"] = query.category not in self.categories
        unknown = set(query.engines) - set(self.known_engines or query.engines)
        if unknown or (len(query.engines) > 1 and not self.several_engines):
            ignored["engines"] = True
        return tuple(name for name, is_ignored in ignored.items() if is_ignored)

    def engine(self, query: Query, account: Account, default: str) -> str:
        """Return the first known engine of the query, else that of the account, else the default."""
        return next((name for name in query.engines if name in self.known_engines), (*account.engines, default)[0])

    def base_url(self, account: Account) -> str:
        """Return the host of the account, else the default, without a trailing slash."""
        return (account.host or self.host).rstrip("/")

    def at_host_of(self, engine: str, account: Account, hosts: Mapping[str, str]) -> Account:
        """Return the account with the host of an engine, unless its own host is not the default."""
        is_default = account.host.rstrip("/") in ("", self.host)
        return account._replace(host=hosts.get(engine, self.host)) if is_default else account

    def get(
        self, account: Account, path: str, params: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> Request:
        """Return a GET of a path of the API; parameters that are None or empty are left out."""
        return Request(f"{self.base_url(account)}{path}", _without_empty(params), headers=headers or {})

    def post_json(
        self, account: Account, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> Request:
        """Return a POST of JSON to a path of the API; fields that are None or empty text are left out.

        The key is sent as a bearer token unless headers are given.
        """
        if headers is None:
            headers = {"Authorization": f"Bearer {account.key}"} if account.key else {}
        return Request(f"{self.base_url(account)}{path}", method="POST", headers=headers, json=_without_empty(body))


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in ("", None)}
