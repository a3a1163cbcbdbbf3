"""What a provider and its callers exchange: queries, accounts, requests, responses and results as immutable records.

Records instead of dataclasses, because their classes are created fifty times as fast and every search pays for that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

from sleuth_providers.errors import BadResponseError
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_JSON_VALUES = 200_000  # each takes about a hundred bytes of memory
# Charsets of real pages; Python knows others, which are slow or not text at all.
CHARSETS = (
    r"utf-?(?:8|16)(?:le|be)?|us-ascii|latin-?1|iso-8859-\d+|(?:windows|cp)-?\d+|koi8-\w"
    r"|gb[\dk-]+|big5[\w-]*|euc-\w+|shift[_-]jis"
)
# A query parameter whose value is a secret.
SECRET_FIELD = r"[?&;][\w.-]*(?:key|token|secret|passw(?:or)?d|pass|pwd|auth|signature|sig|credentials?)="  # noqa: S105 - a pattern


class Query(Record):
    """A search, in terms that every provider understands."""

    text: str
    count: int = 10  # type: ignore[assignment]  # hides tuple.count, which is not used
    page: int = 1
    lang: str = ""  # BCP 47: "de", "zh-CN"
    region: str = ""  # ISO 3166, upper case: "CH"
    freshness: str = ""  # day, week, month, year or range
    since: str = ""  # ISO date, set with every freshness
    until: str = ""  # ISO date, set with a range
    safe: str = "moderate"
    category: str = "general"
    include: tuple[str, ...] = ()  # domains
    exclude: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    content: bool = False  # return page text too
    dated: bool = False  # add today's date for providers that take natural language
    today: str = ""  # ISO date, so that `request` needs no clock

    def with_operators(self, include: bool = True, exclude: bool = True) -> str:
        """Return the query text with the domain filters as `site:` operators."""
        words = [self.text]
        if include and self.include:
            sites = " OR ".join(f"site:{domain}" for domain in self.include)
            words.append(f"({sites})" if len(self.include) > 1 else sites)
        if exclude:
            words += [f"-site:{domain}" for domain in self.exclude]
        return " ".join(words)


class Account(Record):
    """One row of the provider table, with its key resolved."""

    id: str = ""
    key: str = ""
    host: str = ""
    engines: tuple[str, ...] = ()
    username: str = ""
    password: str = ""
    browser: bool = False
    options: Mapping[str, Any] = {}
    contact: str = ""  # e-mail of the user for APIs that ask for one; empty if not set

    @property
    def secrets(self) -> tuple[str, ...]:
        """Return what must never be shown, logged or recorded."""
        return tuple(filter(None, [self.key, self.password, self.basic_auth, *secrets_in(self.host)]))

    @property
    def basic_auth(self) -> str:
        """Return the login as HTTP Basic authentication sends it, empty without a user name."""
        if not self.username:
            return ""
        from base64 import b64encode

        return b64encode(f"{self.username}:{self.password}".encode("utf-8", "replace")).decode()


class Details(Record):
    """Facts that only some kinds of results have; an empty text, an empty tuple and None mean unknown."""

    authors: tuple[str, ...] = ()  # of a paper or book
    year: int | None = None
    type: str = ""  # of a work, as in CSL: article-journal, paper-conference, book, chapter, thesis, report, dataset …
    venue: str = ""  # journal or conference
    publisher: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    doi: str = ""
    arxiv: str = ""  # id, such as 2401.01234
    isbn: str = ""
    editions: int | None = None
    pdf: str = ""  # URL
    cited_by: int | None = None
    open_access: bool | None = None
    width: int | None = None  # of a picture, in pixels
    height: int | None = None
    license: str = ""
    license_url: str = ""
    attribution: str = ""  # what reuse must state, where the source gives it in one sentence
    channel: str = ""  # of a video
    views: int | None = None
    points: int | None = None  # votes for a question or story
    answer_count: int | None = None
    accepted: bool | None = None  # the question has an accepted answer
    comments: int | None = None
    stars: int | None = None
    language: str = ""  # of a program

    def known(self) -> dict[str, Any]:
        """Return the fields that have a value."""
        if self == NO_DETAILS:  # as most results of a general search
            return {}
        return {name: value for name, value in self._asdict().items() if value not in ("", (), None)}


NO_DETAILS = Details()


class Result(Record):
    """One result as the provider sent it: untrusted, with dates in the provider's format."""

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
    length: str = ""  # of a video, for display
    image: str = ""  # URL of the full picture, for an image result
    details: Details = NO_DETAILS


class DirectAnswer(Record):
    """A direct answer or summary by the provider."""

    text: str
    url: str = ""


class Found(Record):
    """Everything that a provider returned for a query."""

    results: tuple[Result, ...] = ()
    answers: tuple[DirectAnswer, ...] = ()
    suggestions: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    engines: Mapping[str, str] = {}  # engines behind the provider that failed, with the reason
    not_applied: tuple[str, ...] = ()  # in addition to `Provider.not_applied`
    cost: float = 0.0  # US dollars, if the provider reports it
    backoff: float = 0.0  # seconds until the next request, if the provider asks for a pause


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
    """A complete HTTP response, decompressed and within the size limit."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    url: str = ""

    def json(self) -> Any:
        """Return the body as JSON; raise BadResponseError for deep nesting and too many values."""
        if sum(map(self.body.count, (b",", b"[", b"{"))) > MAX_JSON_VALUES:
            raise BadResponseError("too many JSON values", status=self.status)
        try:
            return json.loads(self.body.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError) as problem:
            detail = "not JSON" if self.headers.get("content-type", "").startswith("text/") else "invalid JSON"
            raise BadResponseError(detail, status=self.status) from problem

    def text(self) -> str:
        """Return the body as text in the declared charset, UTF-8 by default."""
        charset = re.search(rf"charset=[\"']?({CHARSETS})\b", self.headers.get("content-type", ""), re.IGNORECASE)
        try:
            return self.body.decode(charset[1] if charset else "utf-8", "replace")
        except LookupError:
            return self.body.decode("utf-8", "replace")


def secrets_in(address: str) -> list[str]:
    """Return the passwords and keys in a URL; the %s placeholder of a template is not a secret.

    A login without a password is a key. The scheme may be missing.
    """
    login = re.search(r"(?:://|^)(?:[^/?#@:]*:)?([^/?#]*)@", address) if "@" in address else None
    fields = re.findall(f"{SECRET_FIELD}([^&;#\\s]*)", address, re.IGNORECASE) if "=" in address else []
    return [secret for secret in [login[1] if login else "", *fields] if secret and "%s" not in secret]
