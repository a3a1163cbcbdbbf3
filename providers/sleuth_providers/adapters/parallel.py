"""Parallel: web search for agents through its anonymous MCP server."""

import re
from typing import Any

from sleuth_providers.adapters._mcp import HEADERS, message, texts, tool_call, tool_error, tool_result
from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, Sample, Sender
from sleuth_providers.errors import BadResponseError, ProviderError
from sleuth_providers.json import as_dict, as_list, as_text, objects, strip_tags, web_results

PROTOCOL_VERSION = "2025-06-18"
VERSION = re.compile(r"\d{4}-\d\d-\d\d")
SESSION = re.compile(r"[!-~]{1,500}")  # what MCP allows
MAX_KEYWORDS_CHARS = 200
SNIPPET_CHARS = 300


class Parallel(Provider):
    """Takes three requests: open a session, confirm it, call the tool. A key would make the server answer 401."""

    id = "parallel"
    name = "Parallel"
    homepage = "https://docs.parallel.ai/integrations/mcp/search-mcp"
    notes = "Works without a key, with an unpublished limit; a key is not used. Returns about 10 results."
    host = "https://search.parallel.ai"
    max_results = 10
    max_query = 5000
    price = "free"
    per_minute = 20
    reads_language = True

    def request(self, query: Query, account: Account) -> Request:
        """Return the call of the tool, the last of the three requests, without its session."""
        arguments = {"objective": query.text, "search_queries": [query.text[:MAX_KEYWORDS_CHARS]]}
        return self._post(account, tool_call("web_search", arguments, 2), {})

    def _post(self, account: Account, body: dict[str, Any], headers: dict[str, str]) -> Request:
        return Request(f"{self.base_url(account)}/mcp", method="POST", headers=HEADERS | headers, json=body)

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Open a session and call the tool in it."""
        from uuid import uuid4

        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "sleuth", "version": "1"},
        }
        opened = http.send(self._post(account, message("initialize", params, 1), {}), self.detect_error)
        version = as_text(tool_result(opened).get("protocolVersion"))
        headers = {"MCP-Protocol-Version": version if VERSION.fullmatch(version) else PROTOCOL_VERSION}
        session = opened.headers.get("mcp-session-id", "")
        if SESSION.fullmatch(session):
            headers["Mcp-Session-Id"] = session
        try:
            http.send(self._post(account, message("notifications/initialized"), headers))
        except BadResponseError as error:
            if error.status not in (202, 204):  # how MCP confirms a notification
                raise
        call = self.request(query, account)
        call.json["params"]["arguments"]["session_id"] = str(uuid4())
        response = http.send(call._replace(headers={**call.headers, **headers}), self.detect_error)
        return self.parse(response, query)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Find the errors of MCP in HTTP 200."""
        return tool_error(response)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the structured result, or the text block that contains it as JSON."""
        result = tool_result(response)
        found = as_dict(result.get("structuredContent"))
        blocks = texts(result)
        if not found and blocks:
            found = as_dict(response._replace(body=blocks[0].encode("utf-8", "replace")).json())
        if "results" not in found:
            raise BadResponseError("no list of results", status=response.status)
        return Found(web_results(map(_result, objects(found["results"])))[: query.count])

    sample_plain = Sample(
        Query("sqlite wal"),
        "POST https://search.parallel.ai/mcp",
        """{"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text",
         "text": "{\\"search_id\\": \\"search_02\\", \\"results\\": []}"}]}}""",
        (),
        sends_body={
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {
                "name": "web_search",
                "arguments": {"objective": "sqlite wal", "search_queries": ["sqlite wal"]},
            },
        },
    )
    samples = (
        sample_plain._replace(
            body="""event: message
data: {"jsonrpc": "2.0", "method": "notifications/progress"}

event: message
data: {"jsonrpc": "2.0", "id": 2, "result": {"structuredContent": {"search_id": "search_01", "results": ["""
            """{"url": "https://sqlite.org/wal.html", "title": "Write-Ahead Logging", "publish_date": "2026-03-01", """
            """"excerpts": ["The WAL file …\\n\\nReaders do not block …", 7]}, """
            """{"url": "https://example.org/二", "title": null, "publish_date": null, "excerpts": null}, """
            """{"url": 7}, []], "warnings": null}}}

""",
            headers={"content-type": "text/event-stream"},
            finds=("https://sqlite.org/wal.html", "https://example.org/二"),
        ),
        sample_plain._replace(
            body="""{"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text",
             "text": "{\\"results\\": [{\\"url\\": \\"https://example.org/\\", \\"title\\": \\"A\\"}]}"}]}}""",
            finds=("https://example.org/",),
        ),
        sample_plain,
        sample_plain._replace(
            body='{"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "Rate limit exceeded"}}',
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body="""{"jsonrpc": "2.0", "id": 2, "result": {"isError": true, "content": [{"type": "text",
             "text": "The tool failed."}]}}""",
            error="BAD_RESPONSE",
        ),
        sample_plain._replace(
            body='{"jsonrpc": "2.0", "id": 2, "result": {"structuredContent": {"error": "…"}}}', error="BAD_RESPONSE"
        ),
        sample_plain._replace(body='{"jsonrpc": "2.0", "id": 2}', error="BAD_RESPONSE"),
        sample_plain._replace(body='{"error": "unauthorized"}', status=401, error="API_KEY_INVALID"),
        sample_plain._replace(body='{"detail": "…"}', status=422, error="INVALID_REQUEST"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    excerpts = [strip_tags(text) for text in as_list(item.get("excerpts")) if isinstance(text, str)]
    return Result(
        title=strip_tags(item.get("title")),
        url=as_text(item.get("url")),
        snippet=" ".join(excerpts[0].split())[:SNIPPET_CHARS] if excerpts else "",
        published=as_text(item.get("publish_date")),
    )
