"""The published shapes of JSON answers: of a search, a question, pages summarised, one page read for an agent."""

from typing import Any

from sleuth.engine.outcome import PHASES, STATES
from sleuth.store.usage import OUTCOMES

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

QUOTE = _object(
    {
        "text": {"type": "string", "description": "a sentence of a page, word for word"},
        "citation": {"type": "integer", "minimum": 1, "description": "the number of its source"},
        "start": WHOLE,
        "end": WHOLE,
    }
)
WRITTEN = {
    "text": {"type": ["string", "null"], "description": "the summary as a model wrote it, with [n]"},
    "citations": {"type": "array", "items": {"type": "object"}, "description": "how each [n] fared against its page"},
}
SUMMARY: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Answer of sleuth summarize --json",
    **_object(
        {
            "query": MAYBE_TEXT,
            "method": {"enum": ["extractive", "model"]},
            "summary": {"type": "array", "items": QUOTE, "description": "what the pages say together"},
            "sources": {
                "type": "array",
                "items": _object(
                    {
                        "citation": {"type": ["integer", "null"], "description": "null: it could not be read"},
                        "url": TEXT,
                        "title": TEXT,
                        "published": MAYBE_TEXT,
                        "author": MAYBE_TEXT,
                        "summary": {"type": "array", "items": QUOTE},
                        "problem": MAYBE_TEXT,
                        "layer": MAYBE_TEXT,
                    },
                    WRITTEN,
                ),
            },
            "warnings": TEXTS,
        },
        WRITTEN | {"model": MAYBE_TEXT, "outOfRange": {"type": "array", "items": {"type": "integer"}}},
    ),
}
SUPPORTS = ("quote_found", "supported", "weak", "not_found", "unchecked")
SPAN = {"start": WHOLE, "end": WHOLE}
CITATION = _object(
    {
        "citation": {"type": "integer", "minimum": 1, "description": "the number of its source"},
        "mark": {"type": "integer", "minimum": 0, "description": "where [n] starts in `answer`"},
        "sentence": _object(SPAN) | {"description": "what it was checked for, in `answer`"},
        "support": {"enum": list(SUPPORTS)},
        "score": {"type": "number"},
        "evidence": _object(SPAN | {"text": TEXT})
        | {"type": ["object", "null"], "description": "where the source says it"},
    }
)
CITED = _object(
    {
        "citation": {"type": "integer", "minimum": 1},
        "title": TEXT,
        "url": MAYBE_TEXT,
        "domain": MAYBE_TEXT,
        "round": {"type": "integer", "minimum": 1},
    }
)
ROUND = _object(
    {
        "iteration": {"type": "integer", "minimum": 1},
        "query": TEXT,
        "results": WHOLE,
        "pages": {"type": "integer", "minimum": 0, "description": "that could be read"},
        "outcome": {"enum": [*OUTCOMES, None]},
        "provider": MAYBE_TEXT,
        "sufficient": {"type": ["boolean", "null"], "description": "what reflection said; null: nobody asked it"},
        "missing": MAYBE_TEXT,
    }
)
USAGE = _object(
    {
        "calls": WHOLE,
        "promptTokens": WHOLE,
        "completionTokens": WHOLE,
        "reasoningTokens": WHOLE,
        "cachedTokens": WHOLE,
        "cost": {"type": "number", "minimum": 0, "description": "US dollars, estimated"},
        "estimated": {"type": "boolean", "description": "the server did not count; the tokens are a guess"},
    }
)
ASK_ANSWER: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Answer of sleuth ask --json",
    **_object(
        {
            "question": TEXT,
            "answer": {"type": "string", "description": "Markdown, with [n] for its sources; [n+] sleuth put there"},
            "method": {"enum": ["model", "extractive"]},
            "model": MAYBE_TEXT,
            "searched": FLAG,
            "citations": {"type": "array", "items": CITATION, "description": "how each [n] fared against its source"},
            "outOfRange": {"type": "array", "items": WHOLE, "description": "numbers without a source"},
            "references": {"type": "array", "items": CITED, "description": "the sources that are cited"},
            "sources": {"type": "array", "items": CITED, "description": "all sources"},
            "rounds": {"type": "array", "items": ROUND},
            "usage": USAGE,
            "warnings": TEXTS,
            "elapsedMs": WHOLE,
        }
    ),
}
PAGE_TEXT: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Answer of the tool fetch_page",
    **_object(
        {
            "url": TEXT,
            "finalUrl": {"type": ["string", "null"], "description": "where redirects led"},
            "title": TEXT,
            "author": MAYBE_TEXT,
            "published": {"type": ["string", "null"], "description": "ISO 8601 date"},
            "language": MAYBE_TEXT,
            "content": {"type": "string", "description": "the main text as Markdown, or the passages that answer"},
            "truncated": {"type": "boolean", "description": "there is more on the page"},
            "archived": {"type": ["string", "null"], "description": "date of the copy, where an archive had it"},
            "cached": FLAG,
            "warnings": TEXTS,
        }
    ),
}
