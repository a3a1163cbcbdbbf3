"""The shapes of requests and answers over HTTP, as JSON Schema: what comes in is checked, and all is published."""

from typing import Any

from sleuth.answers.answer import EVENTS, SEARCH_MODES
from sleuth.serving.schemas import ASK_ANSWER, FLAG, MAYBE_TEXT, SEARCH_ANSWER, SUMMARY, TEXT, WHOLE
from sleuth.store.provider_table import TYPES

Schema = dict[str, Any]

MAX_LINKS = 20
PAGE_SIZE = 20
NO_BLANK = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$"

LANGUAGE = "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})?$"


def _closed(properties: Schema, required: tuple[str, ...] | None = None, description: str = "") -> Schema:
    """Return an object with these fields and no others, all of them required unless some are named."""
    needed = list(properties if required is None else required)
    shape = {"type": "object", "properties": properties, "required": needed, "additionalProperties": False}
    return shape | ({"description": description} if description else {})


def _open(properties: Schema, description: str = "") -> Schema:
    """Return an object that has these fields and may have more one day."""
    return _closed(properties, None, description) | {"additionalProperties": True}


def _text(most: int, description: str, *, maybe: bool = False, pattern: str = NO_BLANK) -> Schema:
    shape: Schema = {"type": ["string", "null"] if maybe else "string", "minLength": 1, "maxLength": most}
    return shape | {"pattern": pattern, "description": description}


def _list_of(items: Schema, most: int, least: int = 0, description: str = "") -> Schema:
    shape: Schema = {"type": "array", "items": items, "minItems": least, "maxItems": most}
    return shape | ({"description": description} if description else {})


def _number(low: int, high: int, description: str) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high, "description": description}


PAGE = _number(1, 1_000_000, "which page, from 1") | {"default": 1}
LIMIT = _number(1, 100, "providers a page") | {"default": PAGE_SIZE}
ERROR = _closed(
    {
        "error": _closed(
            {
                "code": {"type": "string", "pattern": "^[A-Z_]+$", "description": "for programs; stays the same"},
                "message": {"type": "string", "description": "what happened, in the language of the server"},
                "hint": {"type": ["string", "null"], "description": "what to do about it"},
            }
        )
    }
)
HEALTH = _closed({"status": {"enum": ["ok"]}, "version": TEXT})
TIME = {"type": "integer", "minimum": 0, "description": "Unix time in seconds"}
PROVIDER = _closed(
    {
        "id": TEXT,
        "name": TEXT,
        "type": {"enum": list(TYPES), "description": "api: a search API; local: a results page that is read"},
        "apiKey": {"type": ["string", "null"], "description": "masked; env:NAME and keyring: as they are"},
        "apiHost": {"type": ["string", "null"], "description": "null: the usual address of this provider"},
        "engines": {"type": ["array", "null"], "items": TEXT},
        "usingBrowser": FLAG,
        "basicAuthUsername": MAYBE_TEXT,
        "basicAuthPassword": {"type": ["string", "null"], "description": "masked"},
        "createdAt": TIME,
        "updatedAt": TIME,
    }
)
PROVIDERS = _closed(
    {
        "items": {"type": "array", "items": PROVIDER},
        "total": WHOLE,
        "page": {"type": "integer", "minimum": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
    }
)
PATCH = _closed(
    {
        "name": _text(200, "the name shown"),
        "type": {"type": "string", "enum": list(TYPES)},
        "apiKey": _text(4000, "a key, or several with commas; the masked form keeps what is there", maybe=True),
        "apiHost": _text(
            2000, "an http(s) address; with %s for the query where type is local", maybe=True, pattern="^https?://"
        ),
        "engines": {"type": ["array", "null"], "items": _text(100, "name of an engine"), "maxItems": 100},
        "usingBrowser": {"type": ["boolean", "null"]},
        "basicAuthUsername": _text(1000, "for HTTP Basic authentication", maybe=True),
        "basicAuthPassword": _text(1000, "its password; the masked form keeps what is there", maybe=True),
    },
    (),
    "Any subset: null clears a field, an absent one stays as it is.",
)
VERDICT = _closed({"success": FLAG, "message": TEXT, "latencyMs": WHOLE}, ("success", "message"))
TRACE = {"type": "string", "maxLength": 500}
TRACING = _closed(dict.fromkeys(("topicId", "parentSpanId", "modelName"), TRACE), (), "Goes to the log, nowhere else.")
QUESTIONS = "asked at once and merged; where the first is `summarize`, `links` are read, and the others say what for"
PROVIDER_ID = {"type": "string", "minLength": 1, "maxLength": 200, "description": "the id of a provider, or auto"}
SEARCH = _closed(
    {
        "providerId": PROVIDER_ID,
        "questions": _list_of(_text(4000, "words to search for", pattern=r"\S"), 20, 1, QUESTIONS),
        "links": _list_of(_text(4000, "an http(s) address", pattern=r"\S"), MAX_LINKS, 0, "pages to summarise"),
        "tracing": TRACING,
    },
    ("providerId", "questions"),
)
SUMMARISED = ("method", "text", "summary", "sources")  # what there is beside the fields of a search
FOUND: Schema = {
    "type": "object",
    "required": SEARCH_ANSWER["required"],
    "properties": SEARCH_ANSWER["properties"] | {name: SUMMARY["properties"][name] for name in SUMMARISED},
}
TURN = _closed(
    {"role": {"type": "string", "enum": ["user", "assistant"]}, "content": {"type": "string", "maxLength": 100_000}}
)
ASK = _closed(
    {
        "question": _text(4000, "what to answer", pattern=r"\S"),
        "search": {"type": "string", "enum": list(SEARCH_MODES), "description": "auto: the model decides"},
        "providerId": PROVIDER_ID,
        "history": _list_of(TURN, 100, 0, "earlier turns of the conversation"),
        "maxIterations": _number(1, 10, "rounds of searching at the most"),
        "pages": _number(1, 10, "pages read in a round"),
        "language": _text(20, "of the results, such as de or zh-CN", pattern=LANGUAGE),
        "region": _text(2, "country of the results, such as CH", pattern="^[A-Za-z]{2}$"),
        "tracing": TRACING,
    },
    ("question",),
)
PROGRESS = _open(
    {
        "event": {"enum": list(EVENTS)},
        "iteration": WHOLE,
        "query": MAYBE_TEXT,
        "counts": {"type": "object"},
        "message": TEXT,
    }
)
DELTA = _closed({"text": TEXT}, None, "a piece of the answer as it is written")
ANSWER: Schema = {name: ASK_ANSWER[name] for name in ("type", "required", "properties")}
