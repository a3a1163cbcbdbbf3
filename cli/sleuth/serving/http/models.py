"""Bodies of requests and responses; they validate requests, and the OpenAPI document is generated from them."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, RootModel
from pydantic.alias_generators import to_camel

from sleuth.answers.answer import EVENTS
from sleuth.api import Category, Compression, SafeSearch, Unit
from sleuth.base.text import clean
from sleuth.engine.search_options import MAX_LIMIT
from sleuth.serving.schemas import ASK_ANSWER, SEARCH_ANSWER, SUMMARY, integral

MAX_LINKS = 20
SUMMARY_FIELDS = ("method", "text", "summary", "sources")  # what `summarize` adds to the fields of a search
PRINTABLE = r"^(?!\s*$)[^\u0000-\u001f\u007f-\u009f]*$"  # not blank
ABSENT: Any = None  # default of optional fields that do not accept null
LANGUAGE = "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,2}$"


def _drop_null_defaults(schema: dict[str, Any]) -> None:
    """Keep `default: null` out of the published schema: an absent field and null are not the same in a PATCH."""
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
        if field.get("default", "") is None:
            del field["default"]


JSON_OBJECT = ConfigDict(alias_generator=to_camel, extra="forbid", json_schema_extra=_drop_null_defaults)


class RequestBody(BaseModel):
    """A body without unknown fields and without type coercion."""

    model_config = JSON_OBJECT | ConfigDict(strict=True, regex_engine="python-re")


class ResponseBody(BaseModel):
    """A body that sleuth builds itself."""

    model_config = JSON_OBJECT | ConfigDict(validate_by_name=True)


def _text(max_length: int, description: str, pattern: str = PRINTABLE, **more: Any) -> Any:
    return Field(min_length=1, max_length=max_length, pattern=pattern, description=description, **more)


PageNumber = Annotated[int, Field(ge=1, le=1_000_000, description="page number, from 1")]
PageSize = Annotated[int, Field(ge=1, le=100, description="providers per page")]
ProviderId = Annotated[
    str, Field(min_length=1, max_length=200, description="a provider id or `auto`", examples=["searxng"])
]
ProviderIds = ProviderId | Annotated[list[ProviderId], Field(min_length=1, max_length=20)]
Language = Annotated[str, _text(20, "of the results, such as de or zh-CN", LANGUAGE)]
Region = Annotated[str, _text(2, "country of the results, such as CH", "^[A-Za-z]{2}$")]
Query = Annotated[str, _text(4000, "search terms", r"\S", examples=["rust async runtimes"])]
Link = Annotated[str, _text(4000, "an http(s) URL", r"\S", examples=["https://example.org/"])]
Cleaned = AfterValidator(lambda text: clean(text, entities=False))  # terminals show these texts
Engine = Annotated[str, _text(100, "name of an engine"), Cleaned]
Domain = Annotated[str, _text(300, "a domain: example.com or *.example.com", r"^[^\s,/]+$"), Cleaned]
Count = Annotated[int, Field(ge=0)]
WholeNumber = BeforeValidator(integral)
UnixTime = Annotated[int, Field(ge=0, description="Unix time in seconds")]
ProviderType = Annotated[
    Literal["api", "local"], Field(description="api: a search API; local: a results page that sleuth parses")
]


class ErrorDetail(ResponseBody):
    """What went wrong and what to do about it."""

    code: str = Field(pattern="^[A-Z_]+$", description="stable, for programs")
    message: Annotated[str, Field(description="in the language of the server")]
    hint: str | None


class ErrorBody(ResponseBody):
    """The body of every error."""

    error: ErrorDetail


class HealthStatus(ResponseBody):
    """The server is up."""

    status: Literal["ok"] = "ok"
    version: str


class ProviderView(ResponseBody):
    """A provider with its secrets masked."""

    id: str
    name: str
    type: ProviderType
    api_key: str | None = Field(description="masked, except env:NAME and keyring:NAME")
    api_host: str | None = Field(description="the URL in use; null: it has none")
    engines: list[str] | None
    using_browser: bool
    basic_auth_username: str | None
    basic_auth_password: str | None = Field(description="masked")
    created_at: UnixTime
    updated_at: UnixTime


class ProviderPage(ResponseBody):
    """One page of the provider table."""

    items: list[ProviderView]
    total: Count
    page: PageNumber
    limit: PageSize


class ProviderPatch(RequestBody):
    """Any subset of the fields: null clears a field, an absent field keeps its value."""

    name: Annotated[str, _text(200, "display name"), Cleaned] = ABSENT
    type: ProviderType = ABSENT
    api_key: Annotated[str, _text(4000, "a key, or several with commas; a masked key is kept")] | None = None
    api_host: Annotated[str, _text(2000, "a URL; type `local`: with %s for the query", "^https?://")] | None = None
    engines: Annotated[list[Engine], Field(max_length=100)] | None = None
    using_browser: Annotated[bool | None, AfterValidator(bool)] = None
    basic_auth_username: Annotated[str, _text(1000, "for HTTP Basic authentication")] | None = None
    basic_auth_password: Annotated[str, _text(1000, "the masked password is kept")] | None = None


class ProviderTestResult(ResponseBody):
    """The outcome of one real request."""

    success: bool
    message: str
    latency_ms: Count | None = None


TraceText = Annotated[str, Field(max_length=500)]


class Tracing(RequestBody):
    """Written to the log and stored nowhere else."""

    topic_id: TraceText | None = None
    parent_span_id: TraceText | None = None
    model_name: TraceText | None = None


class SearchBody(RequestBody):
    """A search, or pages to summarise. Fields that are left out have the values of the settings."""

    provider_id: ProviderIds
    questions: list[Query] = Field(
        min_length=1,
        max_length=20,
        description="searched in parallel and merged; if the first is `summarize`, `links` are summarised instead",
    )
    links: Annotated[list[Link], Field(max_length=MAX_LINKS, description="pages to summarise")] | None = None
    count: Annotated[int, Field(ge=1, le=50, description="number of results"), WholeNumber] | None = None
    page: Annotated[int, Field(ge=1, le=100, description="page of results"), WholeNumber] | None = None
    language: Language | None = None
    region: Region | None = None
    freshness: Annotated[str, _text(30, "day, week, month, year or FROM..TO", r"\S", examples=["week"])] | None = None
    safe: SafeSearch | None = None
    category: Category | None = None
    sites: Annotated[list[Domain], Field(max_length=100)] | None = None
    exclude: Annotated[list[Domain], Field(max_length=100)] | None = None
    engines: Annotated[list[Engine], Field(max_length=100)] | None = None
    content: Annotated[bool, Field(description="read the pages and return their text")] | None = None
    compress: Compression | None = None
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="size of all `content`"), WholeNumber] | None = None
    unit: Unit | None = None
    max_tokens: Annotated[int, Field(ge=1, le=MAX_LIMIT, description="of all `content`"), WholeNumber] | None = None
    timeout: Annotated[float, Field(ge=0.1, le=600, description="seconds for the whole search")] | None = None
    tracing: Tracing | None = None

    def options(self) -> dict[str, Any]:
        """Return the options of the search that were sent."""
        return self.model_dump(exclude={"provider_id", "questions", "links", "tracing"}, exclude_none=True)


class HistoryMessage(RequestBody):
    """An earlier message of the conversation."""

    role: Literal["user", "assistant"]
    content: str = Field(max_length=100_000)


Rounds = Annotated[int, Field(ge=1, le=20, description="maximum number of search rounds"), WholeNumber]
PagesPerRound = Annotated[int, Field(ge=1, le=20, description="pages read per round"), WholeNumber]


class AskBody(RequestBody):
    """A question."""

    question: str = _text(4000, "the question to answer", r"\S", examples=["What is tokio?"])
    search: Literal["auto", "on", "off"] = Field("auto", description="auto: the model decides")
    provider_id: ProviderIds = "auto"
    history: list[HistoryMessage] = Field(default_factory=list, max_length=100, description="earlier messages")
    max_iterations: Rounds | None = None
    pages: PagesPerRound | None = None
    language: Language | None = None
    region: Region | None = None
    extractive: bool = Field(False, description="quote the pages instead of using a model")
    deep: bool = Field(False, description="let the model judge citations that are not verbatim quotes")
    tracing: Tracing | None = None


class AnswerProgress(BaseModel):
    """A step of the work on an answer."""

    event: str
    iteration: Count
    query: str | None
    counts: dict[str, Any]
    message: str


class AnswerDelta(ResponseBody):
    """A piece of the answer, as it is written."""

    text: str


def _published(schema: dict[str, Any]) -> ConfigDict:
    """Return a model configuration that publishes one of the schemas of `sleuth tool-schema`."""
    shape = {name: schema[name] for name in ("type", "properties", "required")}
    return ConfigDict(json_schema_extra=lambda own: (own.clear(), own.update(shape))[0])


class SearchReply(RootModel[dict[str, Any]]):
    """The document of `sleuth search --json`, with the fields of a summary if there is one."""

    model_config = _published(
        SEARCH_ANSWER
        | {"properties": SEARCH_ANSWER["properties"] | {name: SUMMARY["properties"][name] for name in SUMMARY_FIELDS}}
    )


class AnswerReply(RootModel[dict[str, Any]]):
    """The document of `sleuth ask --json`."""

    model_config = _published(ASK_ANSWER)


class AnswerEvent(ResponseBody):
    """One server-sent event; `data` is sent as JSON."""

    event: str = Field(json_schema_extra={"enum": [*EVENTS, "delta", "answer", "error"]})
    data: AnswerProgress | AnswerDelta | AnswerReply | ErrorBody
