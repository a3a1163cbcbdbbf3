"""The table of settings, and their values from environment, config.toml and defaults."""

from __future__ import annotations

import os
from collections.abc import Iterator

from sleuth.base import choices
from sleuth.base.errors import SettingsError
from sleuth.base.i18n import tr
from sleuth.base.urls import host, mask_login, origin
from sleuth.store.default_chains import CHAINS, GENERAL
from sleuth.store.setting_types import (
    CHAIN_TABLE,
    COMPRESSION,
    EMAIL,
    FLAG,
    KEY,
    LANGUAGE_CODE,
    NAMES,
    PATTERNS,
    REDIS_URL,
    REGION_CODE,
    TEXT,
    URL,
    SettingType,
    choice,
    number,
    to_toml,
    whole,
)
from sleuth.store.toml_file import leaves, read_toml, rewrite, value_at
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Generic, TypeVar

    T = TypeVar("T")
else:
    T = "T"

    class Generic:
        """Stands in for typing.Generic: importing typing takes a tenth of the time of a search."""

        def __class_getitem__(cls, _held):
            return cls


AUTO: float | str = "auto"
SECONDS = number(0.1, 86_400, "auto")
EMPTY_LIST: list[str] = []
NO_COMPRESSION: dict[str, Any] = {"method": "none"}
TABLE: dict[str, Setting[Any]] = {}
MAX_UNKNOWN_KEYS = 20  # that are reported


class Setting(Generic[T]):
    """One setting: its key, default, type and meaning; it adds itself to the table."""

    def __init__(self, key: str, default: T, kind: SettingType, meaning: str, secret: bool = False) -> None:
        self.key, self.default, self.kind, self.meaning, self.secret = key, default, kind, meaning, secret
        TABLE[key] = self

    @property
    def variable(self) -> str:
        """Return the environment variable that overrides this setting."""
        return "SLEUTH_" + self.key.upper().replace(".", "_")


DEFAULT_PROVIDER = Setting("websearch.default_provider", "auto", TEXT, "a provider, or auto: first usable of fallback")
FALLBACK = Setting(
    "websearch.fallback",
    GENERAL,
    NAMES,
    "providers to try in this order; your own list replaces the default chain of every category",
)
CHAINS_BY_CATEGORY = Setting(
    "websearch.chains", CHAINS, CHAIN_TABLE, "default chains by category; + joins providers that are searched together"
)
KEYLESS = Setting("websearch.keyless", True, FLAG, "let the default chains use services that you did not choose")
CONTACT = Setting("websearch.contact", "", EMAIL, "your e-mail, for the APIs that ask for one (Crossref, PubMed, …)")
SEARCH_WITH_TIME = Setting("websearch.search_with_time", True, FLAG, "add today's date for natural-language providers")
MAX_RESULTS = Setting("websearch.max_results", 5, whole(1, 50), "number of results to show")
EXCLUDE_DOMAINS = Setting(
    "websearch.exclude_domains",
    EMPTY_LIST,
    PATTERNS,
    "domains to drop from all results, with their subdomains; *.x.y and /regex/ work",
)
LANGUAGE = Setting(
    "websearch.language", "auto", LANGUAGE_CODE, "language of results, such as de or zh-CN; auto requests none"
)
REGION = Setting("websearch.region", "", REGION_CODE, "country of results, such as CH")
SAFE_SEARCH = Setting("websearch.safe_search", "moderate", choice(*choices.SAFE_SEARCH), "adult content filter")
SNIPPET_LENGTH = Setting("websearch.snippet_length", 200, whole(20, 5000), "characters of a snippet to show")
TIMEOUT = Setting("websearch.timeout", 15.0, number(0.1, 600), "seconds for a request")
CONNECT_TIMEOUT = Setting("websearch.connect_timeout", 5.0, number(0.1, 600), "seconds to connect")
RETRIES = Setting("websearch.retries", 3, whole(1, 10), "maximum number of attempts")
IMPERSONATE = Setting("websearch.impersonate", True, FLAG, "read pages with the TLS and HTTP/2 of Chrome")
MAX_OUTPUT_CHARS = Setting(
    "websearch.max_output_chars", 30000, whole(100, 10_000_000), "limit of a tool result or prompt"
)
COMPRESSION_METHOD = Setting(
    "websearch.compression", NO_COMPRESSION, COMPRESSION, "how page text is compressed; one table, replaced as a whole"
)
SEARXNG_TIMEOUT = Setting("searxng.timeout", 5.0, number(0.1, 600), "seconds for a SearXNG request")
CACHE_TTL = Setting("cache.ttl_minutes", 15.0, number(0, 525_600), "minutes to cache results; 0 turns the cache off")
CACHE_ENTRIES = Setting("cache.max_entries", 100, whole(1, 1_000_000), "maximum number of cached results")
CACHE_URL = Setting("cache.url", "", REDIS_URL, "redis://… to share the cache and rate limits between machines")
FETCH_TIMEOUT = Setting("fetch.timeout", 8.0, number(0.1, 600), "seconds to read a page")
FETCH_CONCURRENCY = Setting("fetch.concurrency", 2, whole(1, 64), "pages to read in parallel")
FETCH_CHARS = Setting("fetch.max_chars", 20000, whole(100, 10_000_000), "characters of a page to return")
FETCH_TTL = Setting("fetch.cache_ttl_minutes", 60.0, number(0, 525_600), "minutes to cache pages")
FETCH_JINA = Setting("fetch.jina", True, FLAG, "fall back to the Jina reader for pages")
FETCH_ARCHIVE = Setting("fetch.archive", True, FLAG, "fall back to the Wayback Machine for pages")
FETCH_BROWSER = Setting("fetch.browser", False, FLAG, "fall back to a headless browser for pages")
FETCH_PRIVATE = Setting("fetch.allow_private", False, FLAG, "allow reading pages on private addresses")
LLM_URL = Setting("llm.base_url", "https://api.deepseek.com", URL, "any OpenAI-compatible endpoint")
LLM_MODEL = Setting("llm.model", "deepseek-flash", TEXT, "model that analyses questions and writes answers")
LLM_REASONER = Setting("llm.reasoner_model", "", TEXT, "model that judges what is missing; empty: llm.model")
LLM_KEY = Setting("llm.api_key", "", KEY, "API key: a value, env:NAME, cmd:COMMAND or keyring:", secret=True)
LLM_TIMEOUT = Setting("llm.timeout", AUTO, SECONDS, "seconds for every reply of the model; auto: by step")
LLM_TIMEOUTS = {
    step: Setting(f"llm.timeouts.{step}", AUTO, SECONDS, meaning)
    for step, meaning in (
        ("analyse", "seconds to analyse a question; auto: 20, local models 120"),
        ("extract", "seconds to take notes on up to three pages; auto: 10, local models 60"),
        ("reflect", "seconds to judge the findings; auto: 5, local models 30"),
        ("write", "seconds between two pieces of an answer; auto: 120, local models 720"),
    )
}
LLM_PRICE_INPUT = Setting("llm.price_input", AUTO, number(0, 10_000, "auto"), "USD per million input tokens")
LLM_PRICE_OUTPUT = Setting("llm.price_output", AUTO, number(0, 10_000, "auto"), "USD per million output tokens")
EMBEDDING_URL = Setting("embedding.base_url", "", URL, "endpoint for embeddings")
EMBEDDING_MODEL = Setting("embedding.model", "", TEXT, "embedding model; local runs one on this machine")
EMBEDDING_KEY = Setting("embedding.api_key", "", KEY, "API key for embeddings", secret=True)
EMBEDDING_DIMENSIONS = Setting("embedding.dimensions", 0, whole(0, 100_000), "dimensions; 0 lets the model choose")
RERANK_URL = Setting("rerank.base_url", "", URL, "endpoint of the reranker")
RERANK_MODEL = Setting("rerank.model", "", TEXT, "rerank model")
RERANK_KEY = Setting("rerank.api_key", "", KEY, "API key for the reranker", secret=True)
MODELS = {
    "embedding": (EMBEDDING_URL, EMBEDDING_MODEL, EMBEDDING_KEY),
    "rerank": (RERANK_URL, RERANK_MODEL, RERANK_KEY),
}
ASK_ROUNDS = Setting("ask.max_iterations", 3, whole(1, 20), "maximum number of search rounds per answer")
ASK_PAGES = Setting("ask.pages", 3, whole(1, 20), "pages to read per round")
AGENT_SEARCH = Setting("agent.web_search.enabled", True, FLAG, "offer the web_search tool to agents")
LIBRARY_REMEMBER = Setting("library.remember", True, FLAG, "add pages that were read to the library")
LIBRARY_SIZE = Setting("library.max_megabytes", 2000, whole(1, 1_000_000), "maximum size of the library in megabytes")
HISTORY = Setting("history.enabled", True, FLAG, "keep a history of queries")
TRACE_QUERIES = Setting("tracing.queries", False, FLAG, "put queries and URLs of pages into OpenTelemetry spans")
LEARN_WEIGHTS = Setting("history.learn_weights", False, FLAG, "weight providers by the results that you open")
UI_LANGUAGE = Setting("ui.language", "auto", choice("auto", "en", "zh-CN"), "language of messages")
UI_THEME = Setting("ui.theme", "auto", choice("auto", "light", "dark", "plain"), "colours in the terminal")
UI_THUMBNAILS = Setting("ui.thumbnails", False, FLAG, "download and show thumbnails on terminals with graphics")


class SettingValue(Record):
    """The value of a setting and where it comes from."""

    value: Any
    origin: str  # "default", "file", or the name of an environment variable
    problem: str = ""


class Settings:
    """The settings of one run: environment, then file, then default; an invalid value is reported and ignored."""

    def __init__(self, path: str, environ: dict[str, str]) -> None:
        self.path, self.environ = path, environ
        self.file = read_toml(path)

    def __getitem__(self, setting: Setting[T]) -> T:
        value: T = self.look_up(setting).value
        return value

    def look_up(self, setting: Setting[Any]) -> SettingValue:
        """Return the value of a setting, its origin, and what is wrong with the configured value, if anything."""
        text = self.environ.get(setting.variable)
        if text is not None:
            return _checked(setting, _parse(setting, text), text, setting.variable)
        found, default = value_at(self.file, setting.key), SettingValue(setting.default, "default")
        return default if found is None else _checked(setting, found, found, self.path)

    def key_for(self, key: Setting[str], url: Setting[str]) -> str:
        """Return the API key of a server; a key in the file belongs to the host in the file or the default one."""
        found, known = self.look_up(key), str(value_at(self.file, url.key) or url.default)
        return "" if found.origin == "file" and origin(self[url]) != origin(known) else str(found.value)

    def named_providers(self) -> Iterator[tuple[Setting[Any], str]]:
        """Yield the ids of providers that the user has set, each with its setting; the defaults are known to exist."""
        for setting in (DEFAULT_PROVIDER, FALLBACK, CHAINS_BY_CATEGORY):
            value, place, _ = self.look_up(setting)
            chains = value.values() if isinstance(value, dict) else [[value] if isinstance(value, str) else value]
            ids = [id for chain in chains for entry in chain for id in entry.split("+") if place != "default"]
            no_ids = ("auto", "") if setting is DEFAULT_PROVIDER else ()
            yield from ((setting, id) for id in ids if id.lower() not in no_ids)

    def problems(self) -> Iterator[str]:
        """Yield a message for every invalid value and unknown key, and if a file that was chosen does not exist."""
        if self.environ.get("SLEUTH_CONFIG") and not os.path.exists(self.path):
            yield tr("there is no file {path}, which SLEUTH_CONFIG names", path=self.path)
        for setting in TABLE.values():
            if problem := self.look_up(setting).problem:
                yield problem
        unknown = (key for key, _ in leaves(self.file, TABLE) if key not in TABLE)
        yield from (unknown_key(key).args[0] for key, _ in zip(unknown, range(MAX_UNKNOWN_KEYS), strict=False))


def unknown_key(key: str) -> SettingsError:
    """Return the error for an unknown key, with the closest known one, or for the name of a section."""
    from difflib import get_close_matches

    if any(name.startswith(f"{key}.") for name in TABLE):
        hint = "list its settings: sleuth config show {key}"
        return SettingsError("{key} is a section, not a setting", hint, key=key)
    last, ends = key.rpartition(".")[2], {name: name.rpartition(".")[2] for name in TABLE}
    near = [name for name, end in ends.items() if f"_{last}_" in f"_{end}_" or get_close_matches(last, [end], 1, 0.75)]
    near = get_close_matches(key, near, 1, 0.5)
    message = "unknown setting {key}; did you mean {near}?" if near else "unknown setting {key}"
    return SettingsError(message, "list all: sleuth config show", key=key, near="".join(near))


def find_setting(key: str) -> Setting[Any]:
    """Return the setting with that key."""
    if key not in TABLE:
        raise unknown_key(key)
    return TABLE[key]


def change(path: str, key: str, text: str | None) -> Any:
    """Set a setting in the file, or remove it with None; comments and order stay."""
    setting = find_setting(key)
    value = None if text is None else parse_value(setting, text)
    _check_secret(read_toml(path), setting, value or setting.default)
    rewrite(path, key, value, TABLE)
    return value


def _check_secret(file: dict[str, Any], url: Setting[Any], value: Any) -> None:
    """Refuse the URL of another server while the file has a key, which belongs to its server."""
    section, _, name = url.key.rpartition(".")
    before, key = str(value_at(file, url.key) or url.default), f"{section}.api_key"
    if name == "base_url" and before and value_at(file, key) and origin(value) != origin(before):
        hint = "remove it, then set both: sleuth config unset {key}"
        place = host(before) if host(before) != host(value) else "{1}:{2}".format(*origin(before))
        raise SettingsError("{key} was set for {host}", hint, key=key, host=place)


def parse_value(setting: Setting[T], text: str) -> T:
    """Parse the text of a value; an invalid one raises SettingsError."""
    value: T | None = _parse(setting, text)
    if value is None or not setting.kind.accepts(value):
        details = {"key": setting.key, "value": _shown(setting, text), "accepted": setting.kind.description}
        raise SettingsError("invalid value {value} for {key}", "use {accepted}", **details)
    return value


def _parse(setting: Setting[Any], text: str) -> Any:
    try:
        text.encode()  # surrogates represent bytes that are not UTF-8
        return setting.kind.parse(text)
    except (ValueError, RecursionError):
        return None


def _shown(setting: Setting[Any], value: Any) -> str:
    return "…" if setting.secret else mask_login(repr(value)) if setting.kind.address else repr(value)


def _checked(setting: Setting[Any], value: Any, shown: Any, place: str) -> SettingValue:
    origin = place if place == setting.variable else "file"
    if value is not None and setting.kind.accepts(value):
        return SettingValue(value, origin)
    listed = value if setting.kind is PATTERNS and isinstance(value, list) else []
    if kept := [item for item in listed if PATTERNS.accepts([item])]:  # the other domains stay excluded
        text = "ignoring {value} in {key} ({place}): use {accepted}"
        dropped = ", ".join(repr(item) for item in listed if item not in kept)
        problem = tr(text, value=dropped, key=setting.key, place=place, accepted=PATTERNS.description)
        return SettingValue(kept, origin, problem)
    text = "invalid value {value} for {key} ({place}): use {accepted}; using the default {default}"
    accepted, default = setting.kind.description, to_toml(setting.default)
    values = {"value": _shown(setting, shown), "key": setting.key, "place": place}
    problem = tr(text, accepted=accepted, default=default, **values)
    return SettingValue(setting.default, "default", problem)
