"""JSON schemas of the published documents: search, summary, answer, and a page read for an agent."""

from typing import Any

from sleuth.engine.outcome import PHASES, STATES
from sleuth.store.usage import OUTCOMES

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
POSITIVE: Schema = {"type": "integer", "minimum": 1}
COST: Schema = {"type": "number", "minimum": 0, "description": "US dollars, estimated"}
SUPPORTS = ("quote_found", "supported", "weak", "not_found", "unchecked")


def _list(items: Schema, description: str = "") -> Schema:
    return {"type": "array", "items": items} | _about(description)


def _about(description: str) -> Schema:
    return {"description": description} if description else {}


def _each(schema: Schema, *names: str) -> Schema:
    """Return properties that share a schema."""
    return dict.fromkeys(names, schema)


def _object(required: Schema, optional: Schema | None = None) -> Schema:
    return {"type": "object", "properties": required | (optional or {}), "required": list(required)}


def _document(title: str, required: Schema, optional: Schema | None = None) -> Schema:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **_object(required, optional)}


def integral(value: Any) -> Any:
    """Return 3 for 3.0, which is an integer in JSON Schema; other values stay as they are."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _maybe(schema: Schema) -> Schema:
    """Return the schema of a value or null; clients warn of lists of types."""
    return {"anyOf": [schema, {"type": "null"}]}


MAYBE_TEXT = _maybe(TEXT)
TEXTS = _list(TEXT)
OBJECTS = _list({"type": "object"})
SPAN = _each(COUNT, "start", "end")
DATE = MAYBE_TEXT | _about("ISO 8601 date")
SOURCE_NUMBER = POSITIVE | _about("the number of its source")

RESULT = _object(
    {
        "citation": POSITIVE | _about("the number to cite this result by"),
        **_each(TEXT, "title", "url", "snippet"),
        "content": TEXT | _about("the text of the page if it was requested, else the snippet"),
        "siteName": MAYBE_TEXT,
        "published": DATE,
        "score": NUMBER,
        **_each(TEXTS, "providers", "engines"),
        "thumbnail": MAYBE_TEXT,
    },
    {
        **_each(TEXT, "author", "length", "image"),
        "authors": TEXTS,
        **_each(TEXT, "type", "venue", "publisher", "volume", "issue", "pages", "doi", "arxiv", "isbn", "pdf"),
        **_each(TEXT, "license", "licenseUrl", "attribution", "channel", "language"),
        **_each(COUNT, "year", "editions", "citedBy", "width", "height", "views", "points", "answerCount", "comments"),
        "stars": COUNT,
        **_each(FLAG, "openAccess", "accepted"),
        "votes": OBJECTS | _about("with --explain"),
        "adjustments": TEXTS,
        "passages": _list(_object(SPAN | {"score": NUMBER}), "sources of `content`, as character offsets in the page"),
    },
)
ATTEMPT = _object(
    {
        "provider": TEXT,
        "state": {"enum": list(STATES)},
        **_each(COUNT, "count", "elapsedMs"),
        "cached": FLAG,
        "cost": COST,
        "notApplied": TEXTS,
        "engines": {"type": "object", "additionalProperties": TEXT} | _about("engines that failed, and why"),
        "message": MAYBE_TEXT,
    }
)
PAGE = _object(
    {
        "url": TEXT,
        **_each(MAYBE_TEXT, "finalUrl", "title"),
        "layer": {"enum": ["cache", "page", "browser", "jina", "archive", None]},
        **_each(FLAG, "cached", "truncated"),
        "elapsedMs": COUNT,
        "attempts": OBJECTS,
    }
)
STATUS = _object(
    {"phase": {"enum": list(PHASES)}, **_each(COUNT, "countBefore", "countAfter")},
    {
        "more": FLAG | _about("the next page may have results"),
        **_each(COUNT, "leftOut", "size"),
        "unit": {"enum": ["char", "token"]},
        "estimated": FLAG,
    },
)
SEARCH_ANSWER = _document(
    "Answer of sleuth search --json",
    {
        **_each(TEXT, "query", "provider"),
        "elapsedMs": COUNT,
        "cached": FLAG,
        "results": _list(RESULT | {"required": []}, "with --fields, only these fields"),
        "outcome": {"enum": list(OUTCOMES)},
        "status": STATUS,
        "attempts": _list(ATTEMPT),
        "answers": _list(_object({"text": TEXT, "url": MAYBE_TEXT})),
        **_each(TEXTS, "suggestions", "warnings"),
    },
    {
        "ageSeconds": _maybe(COUNT) | _about("age of a cached answer"),
        "corrections": TEXTS,
        "attribution": TEXTS | _about("what the providers ask to be shown with their results"),
        "pages": _list(PAGE, "how each page was read, with --content"),
    },
)

QUOTES = _list(_object({"text": TEXT | _about("a sentence quoted from a page"), "citation": SOURCE_NUMBER, **SPAN}))
WRITTEN = {
    "text": MAYBE_TEXT | _about("the summary written by a model, with [n]"),
    "citations": OBJECTS | _about("the result of checking each [n] against its page"),
}
SUMMARY_SOURCE = _object(
    {
        "citation": _maybe(COUNT) | _about("null: the page could not be read"),
        **_each(TEXT, "url", "title"),
        **_each(MAYBE_TEXT, "published", "author"),
        "summary": QUOTES,
        **_each(MAYBE_TEXT, "problem", "layer", "archived"),
    },
    WRITTEN,
)
SUMMARY = _document(
    "Answer of sleuth summarize --json",
    {
        "query": MAYBE_TEXT,
        "method": {"enum": ["extractive", "model"]},
        "summary": QUOTES | _about("the summary of all pages"),
        "sources": _list(SUMMARY_SOURCE),
        "warnings": TEXTS,
    },
    WRITTEN | {"model": MAYBE_TEXT, "outOfRange": _list({"type": "integer"})},
)

EVIDENCE = _maybe(_object(SPAN | {"text": TEXT})) | _about("the passage that supports it")
CITATION = _object(
    {
        "citation": SOURCE_NUMBER,
        "mark": COUNT | _about("offset of [n] in `answer`"),
        "sentence": _object(SPAN) | _about("the sentence that was checked, in `answer`"),
        "support": {"enum": list(SUPPORTS)},
        "score": NUMBER,
        "evidence": EVIDENCE,
    }
)
CITED = _object({"citation": POSITIVE, "title": TEXT, **_each(MAYBE_TEXT, "url", "domain"), "round": POSITIVE})
ROUND = _object(
    {
        "iteration": POSITIVE,
        "query": TEXT,
        "results": COUNT,
        "pages": COUNT | _about("pages that could be read"),
        "outcome": {"enum": [*OUTCOMES, None]},
        "provider": MAYBE_TEXT,
        "sufficient": _maybe(FLAG) | _about("the verdict of the reflection step; null: it did not run"),
        **_each(MAYBE_TEXT, "missing", "reasoning"),
        "confidence": _maybe(NUMBER) | _about("in the verdict, from 0 to 1"),
    }
)
PROBLEM = _object({"code": TEXT | _about("such as EXTRACTION_FAILED"), "message": TEXT, "hint": MAYBE_TEXT})
USAGE = _object(
    {
        **_each(COUNT, "calls", "promptTokens", "completionTokens", "reasoningTokens", "cachedTokens"),
        "cost": COST,
        "estimated": FLAG | _about("the model server did not report token counts"),
    }
)
ASK_ANSWER = _document(
    "Answer of sleuth ask --json",
    {
        "question": TEXT,
        "answer": TEXT | _about("Markdown with [n] for its sources; sleuth added those written [n+]"),
        "method": {"enum": ["model", "extractive"]},
        "model": MAYBE_TEXT,
        "searched": FLAG,
        "citations": _list(CITATION, "the result of checking each [n] against its source"),
        "outOfRange": _list(COUNT, "numbers without a source"),
        "references": _list(CITED, "the sources that are cited"),
        "sources": _list(CITED, "all sources"),
        "rounds": _list(ROUND),
        "usage": USAGE,
        "warnings": TEXTS,
        "problems": _list(PROBLEM, "the steps that failed, with a code"),
        "elapsedMs": COUNT,
    },
)
PAGE_TEXT = _document(
    "Answer of the tool fetch_page",
    {
        "url": TEXT,
        "finalUrl": MAYBE_TEXT | _about("the URL after redirects"),
        "title": TEXT,
        "author": MAYBE_TEXT,
        "published": DATE,
        "language": MAYBE_TEXT,
        "content": TEXT | _about("the main text as Markdown, or the passages that match the query"),
        "truncated": FLAG | _about("the page has more text"),
        "archived": MAYBE_TEXT | _about("date of the copy, if it came from an archive"),
        "cached": FLAG,
        "warnings": TEXTS,
    },
)
