"""The published shapes: the JSON answer of a search, and the `web_search` tool as three kinds of agents want it."""

from typing import Any

from sleuth.outcome import OUTCOMES, PHASES, STATES

TEXT = {"type": "string"}
MAYBE_TEXT = {"type": ["string", "null"]}
WHOLE = {"type": "integer", "minimum": 0}
TEXTS = {"type": "array", "items": TEXT}
FLAG = {"type": "boolean"}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "object", "properties": required | (optional or {}), "required": list(required)}


RESULT = _object(
    {
        "citation": {"type": "integer", "minimum": 1, "description": "the number to cite this result by"},
        "title": TEXT,
        "url": TEXT,
        "snippet": TEXT,
        "content": {"type": "string", "description": "the page's text where it was asked for, else the snippet"},
        "siteName": MAYBE_TEXT,
        "published": {"type": ["string", "null"], "description": "ISO 8601 date"},
        "score": {"type": "number"},
        "providers": TEXTS,
        "engines": TEXTS,
        "thumbnail": MAYBE_TEXT,
    },
    {
        "author": TEXT,
        "length": TEXT,
        "image": TEXT,
        "votes": {"type": "array", "items": {"type": "object"}, "description": "with --explain"},
        "adjustments": TEXTS,
        "passages": {
            "type": "array",
            "items": _object({"start": WHOLE, "end": WHOLE, "score": {"type": "number"}}),
            "description": "what `content` was taken from, by character offsets in the page",
        },
    },
)
ATTEMPT = _object(
    {
        "provider": TEXT,
        "state": {"enum": list(STATES)},
        "count": WHOLE,
        "elapsedMs": WHOLE,
        "cached": {"type": "boolean"},
        "cost": {"type": "number", "minimum": 0, "description": "US dollars, estimated"},
        "notApplied": TEXTS,
        "engines": {"type": "object", "additionalProperties": TEXT, "description": "engines that failed, and why"},
        "message": MAYBE_TEXT,
    }
)
PAGE = _object(
    {
        "url": TEXT,
        "finalUrl": MAYBE_TEXT,
        "title": MAYBE_TEXT,
        "layer": {"enum": ["cache", "page", "browser", "jina", "archive", None]},
        "cached": {"type": "boolean"},
        "truncated": {"type": "boolean"},
        "elapsedMs": WHOLE,
        "attempts": {"type": "array", "items": {"type": "object"}},
    }
)
SEARCH_ANSWER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Answer of sleuth search --json",
    **_object(
        {
            "query": TEXT,
            "provider": TEXT,
            "elapsedMs": WHOLE,
            "cached": {"type": "boolean"},
            "results": {"type": "array", "items": RESULT},
            "outcome": {"enum": list(OUTCOMES)},
            "status": _object(
                {"phase": {"enum": list(PHASES)}, "countBefore": WHOLE, "countAfter": WHOLE},
                {
                    "leftOut": WHOLE,
                    "size": WHOLE,
                    "unit": {"enum": ["char", "token"]},
                    "estimated": {"type": "boolean"},
                },
            ),
            "attempts": {"type": "array", "items": ATTEMPT},
            "answers": {"type": "array", "items": _object({"text": TEXT, "url": MAYBE_TEXT})},
            "suggestions": TEXTS,
            "warnings": TEXTS,
        },
        {
            "ageSeconds": {"type": ["integer", "null"], "description": "age of a cached answer"},
            "corrections": TEXTS,
            "pages": {"type": "array", "items": PAGE, "description": "how reading each page went, with --content"},
        },
    ),
}

TOOL_NAME = "web_search"
TOOL_DESCRIPTION = """\
Search the web and get numbered results with title, address and snippet, to be cited as [n].
Use it for anything that may have changed since your knowledge ends: news, prices, versions, people, events, \
documentation; and whenever the user asks to look something up or wants sources. Do not use it for what you can work \
out yourself.
Write the query as you would type it into a search engine: a few specific words in the language of the best sources, \
no full sentences, no quotation marks unless a phrase must match exactly. One thing a query; search again for the next.
Examples: "python 3.14 release date", "searxng enable json format", "上海 地铁 首末班车 时间"."""
TOOL_INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "what to search for", "minLength": 1, "maxLength": 400},
        "count": {"type": "integer", "description": "how many results", "minimum": 1, "maximum": 10, "default": 5},
        "freshness": {"enum": ["day", "week", "month", "year"], "description": "only pages newer than that"},
        "region": {"type": "string", "description": "country of the results, two letters such as CH"},
        "language": {"type": "string", "description": "language of the results, such as de or zh-CN"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def tool(style: str) -> dict[str, Any]:
    """Return the definition of the `web_search` tool as one kind of agent wants it, or the schema of the answer."""
    if style == "openai":
        function = {"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "parameters": TOOL_INPUT}
        return {"type": "function", "function": function}
    if style == "anthropic":
        return {"name": TOOL_NAME, "description": TOOL_DESCRIPTION, "input_schema": TOOL_INPUT}
    if style == "mcp":
        return {
            "name": TOOL_NAME,
            "description": TOOL_DESCRIPTION,
            "inputSchema": TOOL_INPUT,
            "outputSchema": SEARCH_ANSWER,
        }
    return SEARCH_ANSWER
