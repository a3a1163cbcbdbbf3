"""Exa without a key: the search tool of its hosted MCP server."""

import re

from sleuth_providers.adapters._mcp import HEADERS, texts, tool_call, tool_error, tool_result
from sleuth_providers.base import Account, ErrorRule, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import ProviderError, QuotaError
from sleuth_providers.json import web_results

SNIPPET_CHARS = 300
KINDS = {"news": "news", "science": "publication"}
LABEL = re.compile(r"^(Title|URL|Published|Author): *(.*)", re.MULTILINE)
TEXT_LABEL = re.compile(r"^(?:Highlights|Text):", re.MULTILINE)


class ExaMcp(Provider):
    """One request is enough: the server keeps no session. The result is plain text with labelled lines."""

    id = "exa-mcp"
    name = "Exa (MCP)"
    homepage = "https://docs.exa.ai/reference/exa-mcp"
    key_page = "https://dashboard.exa.ai/api-keys"
    notes = "Works without a key, for about 50 searches a day per IP address. With a key, use the provider exa."
    host = "https://mcp.exa.ai"
    categories = ("general", "news", "science")
    max_results = 25
    price = "free"
    per_minute = 60
    per_day = 50
    reads_language = True
    # The daily limit is the one that searches by hand reach.
    error_rules = (ErrorRule(429, QuotaError),)

    def request(self, query: Query, account: Account) -> Request:
        """Write the category into the query, since the tool has no parameter for it."""
        kind = KINDS.get(query.category)
        arguments = {
            "query": f"category:{kind} {query.text}" if kind else query.text,
            "numResults": min(query.count, self.max_results),
        }
        headers = HEADERS | ({"x-api-key": account.key} if account.key else {})
        return self.post_json(account, "/mcp", tool_call("web_search_exa", arguments), headers)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Find the errors of MCP in HTTP 200."""
        return super().detect_error(response) or tool_error(response)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the text; results are separated by a line of dashes."""
        blocks = re.split(r"\n---(?:\n|$)", "\n".join(texts(tool_result(response))))
        return Found(web_results(map(_result, blocks)))

    sample_plain = Sample(
        Query("sqlite wal"),
        "POST https://mcp.exa.ai/mcp",
        """{"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text",
         "text": "No search results found. Please try a different query."}]}}""",
        (),
        sends_body={
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "web_search_exa", "arguments": {"query": "sqlite wal", "numResults": 10}},
        },
    )
    samples = (
        sample_plain._replace(
            query=Query("sqlite wal", count=99, category="news"),
            body="""event: message
data: {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": """
            """"Title: Write-Ahead Logging\\nURL: https://sqlite.org/wal.html\\nPublished: 2026-03-01T00:00:00Z\\n"""
            """Author: D. R. H.\\nHighlights:\\nThe WAL file is …\\nTitle: not this one\\n\\n---\\n\\n"""
            """Title: 二\\nURL: https://example.org/二\\nPublished: N/A\\nAuthor: N/A\\nText: 说明"}]}}

""",
            headers={"content-type": "text/event-stream"},
            finds=("https://sqlite.org/wal.html", "https://example.org/二"),
            sends_body=sample_plain.sends_body
            | {
                "params": {
                    "name": "web_search_exa",
                    "arguments": {"query": "category:news sqlite wal", "numResults": 25},
                }
            },
        ),
        sample_plain._replace(account=Account(key="exa-sample")),
        sample_plain,
        sample_plain._replace(
            body="""{"jsonrpc": "2.0", "id": null, "error": {"code": -32000,
             "message": "You've hit Exa's free MCP rate limit."}}""",
            status=429,
            headers={"content-type": "application/json", "retry-after": "3600"},
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body="""{"jsonrpc": "2.0", "id": 1, "result": {"isError": true, "content": [{"type": "text",
             "text": "You've hit Exa's free MCP rate limit."}]}}""",
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "Invalid arguments"}}',
            error="BAD_RESPONSE",
        ),
        sample_plain._replace(
            body='{"error": "Invalid API key"}',
            status=401,
            account=Account(key="exa-sample"),
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(block: str) -> Result:
    """Read the labelled lines up to the text; lines of the text may look like labels."""
    head, text = block, ""
    if start := TEXT_LABEL.search(block):
        head, text = block[: start.start()], block[start.end() :]
    fields = {name: "" if value == "N/A" else value.strip() for name, value in LABEL.findall(head)}
    return Result(
        title=fields.get("Title", ""),
        url=fields.get("URL", ""),
        snippet=" ".join(text[: 4 * SNIPPET_CHARS].split())[:SNIPPET_CHARS],
        published=fields.get("Published", ""),
        author=fields.get("Author", ""),
    )
