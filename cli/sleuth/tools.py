"""The tools for agents in Python: their definitions, and calls whose text marks what others wrote.

    import sleuth.tools
    definitions = sleuth.tools.schema("openai")
    text = sleuth.tools.call("web_search", {"query": "rust async runtimes"})

The functions `web_search`, `fetch_page`, `summarize`, `library_search` and `ask` are the same tools for frameworks that
take functions. Results are numbered on from call to call; a server makes a `ToolSession` for each of its users.
"""

import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal, get_args

from sleuth.api import Client
from sleuth.base.errors import MissingExtraError, RequestError
from sleuth.base.extras import install_command
from sleuth.engine.options import check_value
from sleuth.store.setting_types import choice

if find_spec("jsonschema") is None:
    raise MissingExtraError("sleuth.tools needs the `mcp` extra", "{install}", install=install_command("mcp"))

from sleuth.serving.tool_definitions import MAX_RESULTS, TOOLS, tool_definition
from sleuth.serving.tool_replies import error_reply
from sleuth.serving.tools import Toolbox, UnknownToolError

__all__ = ["ToolSession", "acall", "ask", "call", "fetch_page", "library_search", "schema", "summarize", "web_search"]

Style = Literal["openai", "responses", "anthropic", "mcp"]
Freshness = Literal["day", "week", "month", "year"]
Length = Literal["short", "medium", "long"]


class ToolSession:
    """The tools of one conversation, with its providers, number of results and time limit."""

    def __init__(
        self,
        client: Client | None = None,
        *,
        providers: Sequence[str] = (),
        count: int | None = None,
        timeout: float | None = None,
    ) -> None:
        self._client = client or Client()
        self._toolbox = Toolbox(self._client, providers, min(count, MAX_RESULTS) if count else None, timeout)

    def schema(self, style: Style = "openai") -> list[dict[str, Any]]:
        """Return the definitions of the tools that are enabled now, in the format of an API.

        `openai` is that of chat completions, `responses` that of OpenAI's newer API.
        """
        check_value("style", style, choice(*get_args(Style)))
        return [tool_definition(tool, style) for tool in self._toolbox.offered()]

    def call(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """Call a tool and return the text for the model; a failure is a text with code and hint.

        `arguments` may be the JSON text that models write.
        """
        try:
            return self._toolbox.call(name, _parsed(arguments), lambda _: None).text
        except (UnknownToolError, RequestError) as error:
            return error_reply(error).text

    async def acall(self, name: str, arguments: Mapping[str, Any] | str) -> str:
        """Like `call`, without blocking the event loop."""
        return await self._client._workers.run(lambda _: self.call(name, arguments))

    def web_search(
        self,
        query: str,
        count: int | None = None,
        freshness: Freshness | None = None,
        region: str | None = None,
        language: str | None = None,
    ) -> str:
        """Search the web."""
        return self.call("web_search", _given(locals()))

    def fetch_page(self, url: str, query: str | None = None, max_chars: int | None = None) -> str:
        """Read a web page."""
        return self.call("fetch_page", _given(locals()))

    def summarize(self, urls: list[str], query: str | None = None, length: Length = "medium") -> str:
        """Summarise web pages."""
        return self.call("summarize", _given(locals()))

    def library_search(self, query: str, count: int | None = None) -> str:
        """Search the user's library."""
        return self.call("library_search", _given(locals()))

    def ask(self, question: str) -> str:
        """Research a question."""
        return self.call("ask", _given(locals()))


for _name, _tool in TOOLS.items():  # frameworks show a function's docstring to the model
    getattr(ToolSession, _name).__doc__ = _tool.description

_default = ToolSession()
schema, call, acall = _default.schema, _default.call, _default.acall
web_search, fetch_page, summarize = _default.web_search, _default.fetch_page, _default.summarize
library_search, ask = _default.library_search, _default.ask


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a method that were given."""
    return {name: value for name, value in values.items() if name != "self" and value is not None}


def _parsed(arguments: Mapping[str, Any] | str) -> dict[str, Any]:
    try:
        found = json.loads(arguments or "{}") if isinstance(arguments, str) else dict(arguments)
    except ValueError as problem:
        raise RequestError("the arguments are not valid JSON", "send one JSON object") from problem
    if not isinstance(found, dict):
        raise RequestError("the arguments are not a JSON object", "send one JSON object")
    return found
