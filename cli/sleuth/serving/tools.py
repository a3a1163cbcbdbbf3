"""The tools at work: which of them are offered now, and what a call of one comes to."""

from collections.abc import Callable, Sequence
from typing import Any

from sleuth.answers.answer import ProgressEvent
from sleuth.api import Client
from sleuth.base import logs
from sleuth.base.errors import RequestError, SearchError, SleuthError
from sleuth.base.i18n import tr
from sleuth.base.text import clean
from sleuth.base.urls import domain
from sleuth.engine.content import CompressionOptions
from sleuth.engine.options import split
from sleuth.engine.outcome import Outcome
from sleuth.pages.page import Page
from sleuth.pages.page import PageEvent as PageEvent
from sleuth.relevance.hit import Hit
from sleuth.serving import tool_definitions, tool_replies
from sleuth.serving.http.checking import check
from sleuth.serving.tool_definitions import TOOLS, Definition
from sleuth.serving.tool_replies import ToolReply
from sleuth.store.settings import AGENT_SEARCH, FETCH_CHARS, MAX_OUTPUT_CHARS
from sleuth_providers.records import Record

SEARCHING = (tool_definitions.WEB_SEARCH.name, tool_definitions.ASK.name)  # what the search switch turns off
WHOLE_PAGE = 10_000_000  # characters

Arguments = dict[str, Any]


class Step(Record):
    """How far a call is: what was done last, how many steps were made, and of how many where that is known."""

    message: str
    done: int
    total: int | None = None


Tell = Callable[[Step], None]


class UnknownToolError(SleuthError):
    """There is no such tool, or it is not offered."""

    code = "UNKNOWN_TOOL"


class Toolbox:
    """The tools of one agent: whom it may ask, how many results it gets, how long a search may take."""

    def __init__(
        self,
        client: Client,
        providers: Sequence[str] = (),
        count: int = tool_definitions.COUNT,
        timeout: float | None = None,
    ) -> None:
        self.client, self.providers, self.count, self.timeout = client, split(providers), count, timeout
        self._work: dict[str, Callable[[Arguments, Tell], ToolReply]] = {
            tool_definitions.WEB_SEARCH.name: self._web_search,
            tool_definitions.FETCH_PAGE.name: self._fetch_page,
            tool_definitions.SUMMARIZE.name: self._summarize,
            tool_definitions.LIBRARY_SEARCH.name: self._library_search,
            tool_definitions.ASK.name: self._ask,
        }

    def check_providers(self) -> None:
        """Refuse ids that no provider has."""
        selector = self.client.runtime.selector
        for id in self.providers:
            if id not in ("auto", "all"):
                selector.candidate(id)

    def offered(self) -> list[Definition]:
        """Return the tools there are now."""
        return [self._with_count(tool) for tool in TOOLS.values() if self._offers(tool.name)]

    def _offers(self, name: str) -> bool:
        """Tell whether there is such a tool: the search switch decides, and for `ask` whether there is a model."""
        runtime = self.client.runtime
        if name in SEARCHING and not runtime.settings[AGENT_SEARCH]:
            return False
        try:
            return name in TOOLS and (name != tool_definitions.ASK.name or runtime.models is not None)
        except SleuthError as problem:  # a key that cannot be had
            logs.log("%s is not offered: %s", name, problem)
            return False

    def call(self, name: str, arguments: Arguments, tell: Tell) -> ToolReply:
        """Do what a tool does; whatever goes wrong is a reply too, except that there is no such tool."""
        try:
            if not self._offers(name):
                raise UnknownToolError("there is no tool {name!r}", "see what is offered: tools/list", name=name[:100])
            return self._work[name](_checked(TOOLS[name], arguments), tell)
        except UnknownToolError:
            raise
        except SleuthError as error:
            return tool_replies.of_error(error)
        except Exception as problem:
            logs.log("%s: unexpected: %r", name, problem)
            kind = type(problem).__name__
            hint = "run it again with --debug and report it"
            return tool_replies.of_error(SleuthError("something unexpected went wrong ({kind})", hint, kind=kind))

    def _with_count(self, tool: Definition) -> Definition:
        known = tool.input["properties"]
        if "count" not in known:
            return tool
        count = known["count"] | {"default": self.count}
        return tool._replace(input=tool.input | {"properties": known | {"count": count}})

    def _web_search(self, arguments: Arguments, tell: Tell) -> ToolReply:
        tell(Step(tr("searching for {query}", query=clean(arguments["query"], 100)), 0, 1))
        outcome = self.client.search(
            arguments["query"],
            providers=self.providers,
            count=arguments.get("count", self.count),
            freshness=arguments.get("freshness"),
            region=arguments.get("region"),
            lang=arguments.get("language"),
            timeout=self.timeout,
        )
        tell(Step(tr("{count} results", count=len(outcome.results)), 1, 1))
        return tool_replies.of_search(outcome, self._most())

    def _library_search(self, arguments: Arguments, tell: Tell) -> ToolReply:
        count = arguments.get("count", self.count)
        return tool_replies.of_search(
            self.client.search(arguments["query"], providers="library", count=count), self._most()
        )

    def _fetch_page(self, arguments: Arguments, tell: Tell) -> ToolReply:
        query, most = arguments.get("query", ""), self._most()
        room = min(arguments.get("max_chars") or self.client.runtime.settings[FETCH_CHARS], most)
        reading = _Reading(tell, 1)
        page = self.client.read(arguments["url"], max_chars=WHOLE_PAGE if query else room, on_page=reading)[0]
        if not page.ok:
            raise _unread(page)
        content = page.markdown or page.text
        if not query or len(content) <= room:
            return tool_replies.of_page(page, content, room, most)
        found = self._squeezed(page, content, query, room)
        shorter = page._replace(truncated=True)
        return tool_replies.of_page(shorter, found.results[0].content or content, room, most, found.warnings)

    def _squeezed(self, page: Page, content: str, query: str, most: int) -> Outcome:
        """Return the passages of a page that answer the query, as the content of a result."""
        hit = Hit(1, page.title, page.url, content=content)
        squeeze = CompressionOptions("rag", limit=most)
        return self.client.runtime.content_reader.add(Outcome(query, "", (hit,)), squeeze, {"offline": True})

    def _summarize(self, arguments: Arguments, tell: Tell) -> ToolReply:
        urls = list(dict.fromkeys(arguments["urls"]))
        length, reading = arguments.get("length", "medium"), _Reading(tell, len(urls))
        # The agent is a model itself: it gets the pages' own words, which cost nothing and can be checked.
        found = self.client.summarize(urls, arguments.get("query", ""), length=length, extractive=True, on_page=reading)
        return tool_replies.of_digest(found, self._most())

    def _ask(self, arguments: Arguments, tell: Tell) -> ToolReply:
        steps = iter(range(1_000_000))

        def hear(event: ProgressEvent) -> None:
            tell(Step(event.message, next(steps)))

        answer = self.client.ask(arguments["question"], providers=self.providers, timeout=self.timeout, tell=hear)
        return tool_replies.of_answer(answer, self._most())

    def _most(self) -> int:
        return self.client.runtime.settings[MAX_OUTPUT_CHARS]


class _Reading:
    """Turns what happens to pages into steps: each is begun and ended."""

    def __init__(self, tell: Tell, pages: int) -> None:
        self.tell, self.total, self.done = tell, 2 * pages, -1

    def __call__(self, event: PageEvent) -> None:
        self.done = max(self.done + 1, 2 * event.done)
        text = "reading {site}" if event.kind == "start" else "{site}: {done} of {total} pages"
        self.tell(Step(tr(text, site=domain(event.url), done=event.done, total=event.total), self.done, self.total))


def _checked(tool: Definition, arguments: Arguments) -> Arguments:
    """Return arguments that fit; models write null for what they leave out, and 5.0 for 5."""
    given = {name: _whole(value) for name, value in arguments.items() if value is not None}
    try:
        check(given, tool.input)
    except RequestError as problem:
        raise RequestError(
            problem.message, "see the input schema of {tool}", tool=tool.name, **problem.values
        ) from problem
    return given


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _unread(page: Page) -> SearchError:
    hint = "check the addresses; pages on your own network need: sleuth config set fetch.allow_private true"
    site = domain(page.url) or page.url
    return SearchError("{site} could not be read: {reason}", hint, code="FETCH_FAILED", site=site, reason=page.problem)
