"""Calls of the tools for agents: which are offered, and what each call does."""

import threading
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from sleuth.answers.answer import ProgressEvent
from sleuth.answers.citations import CitedSource, Numbering
from sleuth.api import Client
from sleuth.base import logs
from sleuth.base.errors import RequestError, SleuthError
from sleuth.base.i18n import tr, trn
from sleuth.base.text import clean
from sleuth.base.urls import ascii_host, clean_url
from sleuth.engine.content import CompressionOptions, nothing_read
from sleuth.engine.options import provider_ids
from sleuth.engine.outcome import Outcome
from sleuth.engine.search import UNNAMED, search_error
from sleuth.engine.selector import failed
from sleuth.pages.page import Page, PageEvent
from sleuth.relevance.hit import Hit
from sleuth.serving import tool_replies
from sleuth.serving.schemas import integral
from sleuth.serving.tool_definitions import ASK, MAX_RESULTS, RESTART, TOOLS, WEB_SEARCH, ToolDefinition
from sleuth.serving.tool_replies import ToolReply
from sleuth.store.settings import AGENT_SEARCH, FETCH_CHARS, MAX_OUTPUT_CHARS
from sleuth.store.settings import MAX_RESULTS as DEFAULT_COUNT
from sleuth_providers.records import Record

MAX_READ_CHARS = 10_000_000  # read before the passages that match a query are selected

ALIASES = {"country": "region"}  # what models call it, too

Arguments = dict[str, Any]


class ToolStep(Record):
    """Progress of a call: the last step, the number of steps done, and the total if it is known."""

    message: str
    done: int
    total: int | None = None


Report = Callable[[ToolStep], None]


class UnknownToolError(SleuthError):
    """There is no such tool, or it is not offered."""

    code = "UNKNOWN_TOOL"


class Toolbox:
    """The tools of one agent, with its providers, number of results and time limit."""

    def __init__(
        self, client: Client, providers: Sequence[str] = (), count: int | None = None, timeout: float | None = None
    ) -> None:
        self.client, self.providers, self.timeout = client, provider_ids(providers), timeout
        self._count = count
        self._numbering, self._lock = Numbering(), threading.Lock()

    def conversation(self) -> "Toolbox":
        """Return the same tools for another conversation, which numbers its results from 1."""
        return Toolbox(self.client, self.providers, self._count, self.timeout)

    def check_providers(self) -> None:
        """Raise the error for a provider that is unknown or disabled, or if none of those named can be used."""
        if self.providers in UNNAMED:
            return
        selector = self.client.runtime.selector
        chosen = selector.named(self.providers)
        problems = [failed(candidate, error) for candidate in chosen if (error := selector.obstacle(candidate))]
        if problems and len(problems) == len(chosen):
            raise search_error(Outcome("", "", attempts=tuple(problems)))

    def offered(self) -> list[ToolDefinition]:
        """Return the tools that are enabled now."""
        return [self._with_options(tool) for tool in TOOLS.values() if self._offers(tool.name)]

    def _offers(self, name: str) -> bool:
        """Tell whether a tool is enabled: `ask` needs a model, and the search switch turns web_search and ask off."""
        runtime = self.client.runtime
        if name in (WEB_SEARCH.name, ASK.name) and not runtime.settings[AGENT_SEARCH]:
            return False
        try:
            return name in TOOLS and (name != ASK.name or runtime.models is not None)
        except SleuthError as problem:  # the model's key cannot be read
            logs.log("%s is not offered: %s", name, problem)
            return False

    def call(self, name: str, arguments: Arguments, report: Report) -> ToolReply:
        """Call a tool; every error is a reply, except UnknownToolError."""
        try:
            if not self._offers(name):
                raise UnknownToolError("unknown tool {name!r}", "list the tools: tools/list", name=name[:100])
            handler: Callable[[Arguments, Report], ToolReply] = getattr(self, f"_{name}")
            return handler(_validated(self._with_options(TOOLS[name]), arguments), report)
        except UnknownToolError:
            raise
        except SleuthError as error:
            return tool_replies.error_reply(error)
        except Exception as problem:
            logs.log("%s: unexpected: %r", name, problem)
            hint = "run it again with --debug and report the output"
            return tool_replies.error_reply(SleuthError("unexpected error ({kind})", hint, kind=type(problem).__name__))

    def _with_options(self, tool: ToolDefinition) -> ToolDefinition:
        """Return a tool with the options that depend on the agent: the number of results, and where to start."""
        properties = tool.input["properties"]
        if "count" not in properties:
            return tool
        count = self._count or min(self.client.runtime.settings[DEFAULT_COUNT], MAX_RESULTS)
        default = {"count": properties["count"] | {"default": count}}
        return tool._replace(input=tool.input | {"properties": properties | default | RESTART})

    def _web_search(self, arguments: Arguments, report: Report) -> ToolReply:
        report(ToolStep(tr("searching for {query}", query=clean(arguments["query"], 100)), 0, 1))
        restart = arguments.pop("restart_citations", False)
        outcome = self.client.search(**arguments, providers=self.providers, timeout=self.timeout)
        report(ToolStep(trn("{count} result", "{count} results", len(outcome.results)), 1, 1))
        return tool_replies.search_reply(self._numbered(outcome, restart), self.max_chars())

    def _library_search(self, arguments: Arguments, report: Report) -> ToolReply:
        restart, max_chars = arguments.pop("restart_citations", False), self.max_chars()
        outcome = self.client.search(**arguments, providers="library", compress="rag", limit=max_chars // 2)
        passages = (hit._replace(snippet=hit.content or hit.snippet, content=None) for hit in outcome.results)
        return tool_replies.search_reply(self._numbered(outcome._replace(results=tuple(passages)), restart), max_chars)

    def _numbered(self, outcome: Outcome, restart: bool) -> Outcome:
        """Return an outcome whose results are numbered on from those of earlier calls."""
        numbers = self._numbers([CitedSource(hit.citation, hit.url, hit.title) for hit in outcome.results], restart)
        return outcome._replace(results=tuple(hit._replace(citation=numbers[hit.citation]) for hit in outcome.results))

    def _numbers(self, sources: Sequence[CitedSource], restart: bool = False) -> dict[int, int]:
        with self._lock:
            if restart:
                self._numbering = Numbering()
            return self._numbering.add(source._replace(text="") for source in sources)

    def _fetch_page(self, arguments: Arguments, report: Report) -> ToolReply:
        query, max_chars = arguments.get("query", ""), self.max_chars()
        room = min(arguments.get("max_chars") or self.client.runtime.settings[FETCH_CHARS], max_chars)
        progress = _PageProgress(report, 1)
        page = (
            self._library_page(arguments["url"])
            or self.client.read(arguments["url"], max_chars=MAX_READ_CHARS if query else room, on_page=progress)[0]
        )
        if not page.ok:
            raise nothing_read([page])
        content = page.markdown or page.text
        if not query or len(content) <= room:
            return tool_replies.page_reply(page, content, room, max_chars)
        hit, compression = Hit(1, page.title, page.url, content=content), CompressionOptions("rag", limit=room)
        found = self.client.runtime.content_reader.compress(Outcome(query, "", (hit,)), compression, {})
        shorter = page._replace(truncated=True)
        return tool_replies.page_reply(shorter, found.results[0].content or content, room, max_chars, found.warnings)

    def _library_page(self, url: str) -> Page | None:
        """Return a document of the library as a page: from the index, never from the disk."""
        document = None if clean_url(url) else self.client.runtime.library.get(url)
        if document is None:
            return None
        found = Page(url, title=document.title, text=document.text, layer="library")
        return found._replace(published=document.published, language=document.lang)

    def _summarize(self, arguments: Arguments, report: Report) -> ToolReply:
        # The agent is a model itself: quotes from the pages cost nothing, and it can check them.
        arguments["urls"] = urls = list(dict.fromkeys(arguments["urls"]))
        found = self.client.summarize(**arguments, extractive=True, on_page=_PageProgress(report, len(urls)))
        return tool_replies.digest_reply(found.renumbered(self._numbers(found.pages)), self.max_chars())

    def _ask(self, arguments: Arguments, report: Report) -> ToolReply:
        steps = count()

        def progress(event: ProgressEvent) -> None:
            report(ToolStep(event.message, next(steps)))

        answer = self.client.ask(arguments["question"], providers=self.providers, timeout=self.timeout, tell=progress)
        return tool_replies.answer_reply(answer.renumbered(self._numbers(answer.sources)), self.max_chars())

    def max_chars(self) -> int:
        """Return the maximum length of a reply."""
        return self.client.runtime.settings[MAX_OUTPUT_CHARS]


class _PageProgress:
    """Turns page events into steps; a page is two steps, start and end."""

    def __init__(self, report: Report, pages: int) -> None:
        self.report, self.total, self.done = report, 2 * pages, -1

    def __call__(self, event: PageEvent) -> None:
        self.done = max(self.done + 1, 2 * event.done)
        text = "reading {site}" if event.kind == "start" else "read {site}: {done} of {total}"
        message = tr(text, site=ascii_host(event.url), done=event.done, total=event.total)
        self.report(ToolStep(message, self.done, self.total))


def _validated(tool: ToolDefinition, arguments: Arguments) -> Arguments:
    """Return arguments that match the input schema, with its defaults; models write null for absent, and 5.0 for 5."""
    given = {ALIASES.get(name, name): integral(value) for name, value in arguments.items() if value is not None}
    if error := best_match(Draft202012Validator(tool.input).iter_errors(given)):
        place = error.json_path.removeprefix("$").removeprefix(".")
        problem = clean(f"{place}: {error.message}" if place else error.message, 300, entities=False)
        hint = "see the input schema of {tool}"
        raise RequestError("invalid arguments: {problem}", hint, problem=problem, tool=tool.name)
    return {name: part["default"] for name, part in tool.input["properties"].items() if "default" in part} | given
