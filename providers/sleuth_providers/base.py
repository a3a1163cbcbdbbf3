"""Plain frozen data that walks between sleuth and a provider, and the one interface they all share.

The data are Records, not dataclasses: their classes are made many times as fast, and every search pays for that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlencode

from sleuth_providers.errors import BadResponseError, ProviderError
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, Protocol
else:
    Protocol = object

FRESHNESS = ("day", "week", "month", "year")
SAFETY = ("off", "moderate", "strict")
CATEGORIES = ("general", "news", "images", "videos", "science", "it")
MOST_VALUES = 200_000  # of a JSON document, which takes a hundred bytes of memory for each
MOST_ITEMS = 1000  # of a list
# Those of real pages; Python knows others, which take their time or are no text at all.
CHARSETS = (
    r"utf-?(?:8|16)(?:le|be)?|us-ascii|latin-?1|iso-8859-\d+|(?:windows|cp)-?\d+|koi8-\w"
    r"|gb[\dk-]+|big5[\w-]*|euc-\w+|shift[_-]jis"
)
# What stands before a secret in an address.
SECRET_FIELD = r"[?&;][\w.-]*(?:key|token|secret|passw(?:or)?d|pass|pwd|auth|signature|sig|credentials?)="  # noqa: S105 - a pattern


class Query(Record):
    """What is asked, in words of no provider's own."""

    text: str
    count: int = 10  # type: ignore[assignment]  # hides tuple.count, which nobody needs here
    page: int = 1
    lang: str = ""  # BCP 47: "de", "zh-CN"
    region: str = ""  # ISO 3166, upper case: "CH"
    freshness: str = ""  # one of FRESHNESS, or "range"
    since: str = ""  # ISO date, given with every freshness
    until: str = ""  # ISO date, given with a range
    safe: str = "moderate"
    category: str = "general"
    include: tuple[str, ...] = ()  # domains
    exclude: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    content: bool = False  # page text is welcome
    dated: bool = False  # tell the date to who reads language
    today: str = ""  # ISO date; makes requests that need a date pure

    def with_operators(self, include: bool = True, exclude: bool = True) -> str:
        """Return the words with the domain filters written as `site:` operators."""
        words = [self.text]
        if include and self.include:
            sites = " OR ".join(f"site:{domain}" for domain in self.include)
            words.append(f"({sites})" if len(self.include) > 1 else sites)
        if exclude:
            words += [f"-site:{domain}" for domain in self.exclude]
        return " ".join(words)


class Account(Record):
    """One row of the provider table as an adapter sees it, with its key looked up."""

    id: str = ""
    key: str = ""
    host: str = ""
    engines: tuple[str, ...] = ()
    username: str = ""
    password: str = ""
    browser: bool = False
    options: Mapping[str, Any] = {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return what must never be shown, logged or recorded."""
        found = [self.key, self.password, *secrets_in(self.host)]
        if self.username:
            from base64 import b64encode

            found.append(b64encode(f"{self.username}:{self.password}".encode("utf-8", "replace")).decode())
        return tuple(secret for secret in found if secret)


class Result(Record):
    """One hit as the provider gave it: untrusted, dates still in the provider's own form."""

    title: str
    url: str
    snippet: str = ""
    content: str = ""
    published: str = ""
    site: str = ""
    score: float | None = None
    thumbnail: str = ""
    engines: tuple[str, ...] = ()
    author: str = ""
    length: str = ""  # of a video, as shown
    image: str = ""  # the full picture of an image hit


class Answer(Record):
    """The provider's own answer or summary."""

    text: str
    url: str = ""


class Found(Record):
    """All that one provider said to one query."""

    results: tuple[Result, ...] = ()
    answers: tuple[Answer, ...] = ()
    suggestions: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    engines: Mapping[str, str] = {}  # engines behind the provider that failed, and why
    not_applied: tuple[str, ...] = ()  # beyond what `Provider.supports` already tells
    cost: float = 0.0  # in US dollars, where the provider says


class Request(Record):
    """An HTTP request before it is sent."""

    url: str
    params: Mapping[str, str | int | Sequence[str]] = {}
    method: str = "GET"
    headers: Mapping[str, str] = {}
    json: Any = None
    form: Mapping[str, str] | None = None

    @property
    def address(self) -> str:
        """Return the URL with its query string."""
        query = urlencode(self.params, doseq=True, errors="replace")
        return f"{self.url}{'&' if '?' in self.url else '?'}{query}" if query else self.url

    def body(self) -> tuple[bytes | None, str]:
        """Return the encoded body and its content type."""
        if self.json is not None:
            return json.dumps(self.json, ensure_ascii=False).encode("utf-8", "replace"), "application/json"
        if self.form is not None:
            return urlencode(self.form, errors="replace").encode(), "application/x-www-form-urlencoded"
        return None, ""


class Response(Record):
    """An HTTP answer, whole, decompressed and within the size limit."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    url: str = ""

    def json(self) -> Any:
        """Return the body as JSON; NaN, deep nesting, broken encodings and values beyond number are unreadable."""
        if sum(map(self.body.count, (b",", b"[", b"{"))) > MOST_VALUES:
            raise BadResponseError("more values than an answer has", status=self.status)
        try:
            return json.loads(self.body.decode("utf-8-sig"), parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as problem:
            detail = "not JSON" if self.headers.get("content-type", "").startswith("text/") else "broken JSON"
            raise BadResponseError(detail, status=self.status) from problem

    def text(self) -> str:
        """Return the body as text in the charset it declares, else UTF-8."""
        charset = re.search(rf"charset=[\"']?({CHARSETS})\b", self.headers.get("content-type", ""), re.IGNORECASE)
        try:
            return self.body.decode(charset[1] if charset else "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


class Sample(Record):
    """A recorded exchange: documentation of the API and a test in one."""

    query: Query
    sends: str  # "GET https://…?q=…", as the request must come out
    body: str
    finds: tuple[str, ...]  # the URLs that parse must find, in order
    status: int = 200
    headers: Mapping[str, str] = {"content-type": "application/json"}
    account: Account = Account()
    error: str = ""  # the code of the error this exchange must end in
    state: str = ""  # and its state, where several errors share a code
    sends_body: Any = None  # the JSON or form of the request, where it has one


ErrorDetector = Callable[[Response], ProviderError | None]


class Sender(Protocol):
    """The HTTP layer as adapters see it."""

    def send(self, request: Request, detect_error: ErrorDetector | None = None) -> Response:
        """Send one request and return its good answer, or raise a ProviderError."""

    def time_left(self) -> float:
        """Return how many seconds there are until the deadline, never less than none."""


class Provider:
    """A search provider: declarations, and the pure pair `request` and `parse`."""

    id: ClassVar[str] = ""
    name: ClassVar[str] = ""
    type: ClassVar[str] = "api"  # or "local": a results page is read
    homepage: ClassVar[str] = ""
    key_page: ClassVar[str] = ""  # where one gets a key
    notes: ClassVar[str] = ""
    trouble_hint: ClassVar[str] = ""  # what to do when nobody answers at its address
    env: ClassVar[tuple[str, ...]] = ()  # where a key may be found
    host: ClassVar[str] = ""  # the default address; a URL template with %s for `local` ones
    host_env: ClassVar[tuple[str, ...]] = ()  # where an address may be found
    needs_key: ClassVar[bool] = False
    needs_host: ClassVar[bool] = False
    # Of freshness, range, lang, region, safe, page, include, exclude, content and engines.
    supports: ClassVar[frozenset[str]] = frozenset()
    operators: ClassVar[bool] = False  # understands site: and -site: in the words
    categories: ClassVar[tuple[str, ...]] = ("general",)
    max_results: ClassVar[int] = 10
    max_query: ClassVar[int] = 400
    price: ClassVar[str] = ""  # per 1,000 requests, with its date
    cost: ClassVar[float] = 0.0  # US dollars a request, the estimate behind `sleuth usage`
    per_minute: ClassVar[int] = 0  # 0: no limit of ours
    per_day: ClassVar[int] = 0
    weight: ClassVar[float] = 1.0  # in the fusion of several lists
    scraped: ClassVar[bool] = False  # a page for people: the user agent is a browser's
    offline: ClassVar[bool] = False  # needs no network
    files: ClassVar[bool] = False  # its results may be files of this machine
    reads_language: ClassVar[bool] = False  # a model reads the words: the date helps it
    options: ClassVar[Mapping[str, str]] = {}  # what `providers set --option` understands
    required_options: ClassVar[tuple[str, ...]] = ()
    option_env: ClassVar[Mapping[str, str]] = {}  # options that may also come from the environment
    samples: ClassVar[tuple[Sample, ...]] = ()

    def request(self, query: Query, account: Account) -> Request:
        """Return the HTTP request for a query."""
        raise NotImplementedError

    def parse(self, response: Response, query: Query) -> Found:
        """Read a good reply; raise BadResponseError for one that is not what it should be."""
        raise NotImplementedError

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise refusals in words of this API; None leaves it to the HTTP status."""
        return None

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Ask and read. The few that need more than one exchange override this."""
        return self.parse(http.send(self.request(query, account), self.detect_error), query)

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Name what was asked for and this provider does not do by itself."""
        default = Query("")
        wanted = [
            name
            for name in ("lang", "region", "safe", "include", "exclude", "engines")
            if getattr(query, name) != getattr(default, name)
        ]
        if query.freshness:
            wanted.append("range" if query.freshness == "range" else "freshness")
        if query.page > 1:
            wanted.append("page")
        if query.category not in self.categories:
            wanted.append("category")
        able = self.supports | ({"include", "exclude"} if self.operators else set())
        return tuple(name for name in wanted if name not in able)


def secrets_in(address: str) -> list[str]:
    """Return the passwords and keys that stand in an address itself; where the query goes is none."""
    login = re.search(r"://[^/?#@:]*:([^/?#]*)@", address) if "@" in address else None
    fields = re.findall(f"{SECRET_FIELD}([^&;#\\s]*)", address, re.IGNORECASE) if "=" in address else []
    return [secret for secret in [login[1] if login else "", *fields] if secret and "%s" not in secret]


def base_url(account: Account, default: str) -> str:
    """Return the address to ask, without a trailing slash."""
    return (account.host or default).rstrip("/")
