"""The tools that agents are offered: what each is for, what goes in, what comes out; in the forms agents want them."""

from typing import Any

from sleuth.serving.http.forms import ANSWER
from sleuth.serving.schemas import PAGE_TEXT, SEARCH_ANSWER, SUMMARY
from sleuth_providers.records import Record

Schema = dict[str, Any]

COUNT, MOST_RESULTS = 5, 10
MOST_PAGES = 10
LONGEST_QUERY = 400
LONGEST_PAGE = 100_000


class Definition(Record):
    """One tool."""

    name: str
    title: str
    description: str
    input: Schema
    output: Schema
    online: bool = True  # it reaches out to the world


def _takes(required: Schema, optional: Schema | None = None) -> Schema:
    properties = required | (optional or {})
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _text(description: str, most: int) -> Schema:
    return {"type": "string", "description": description, "minLength": 1, "maxLength": most}


ADDRESS = _text("address of the page, http or https", 4000)
RESULTS = {
    "type": "integer",
    "description": "how many results",
    "minimum": 1,
    "maximum": MOST_RESULTS,
    "default": COUNT,
}

WEB_SEARCH = Definition(
    "web_search",
    "Search the web",
    """\
Search the web and get numbered results with title, address and snippet, to be cited as [n].
Use it for anything that may have changed since your knowledge ends: news, prices, versions, people, events, \
documentation; and whenever the user asks to look something up or wants sources. Do not use it for what you can work \
out yourself.
Write the query as you would type it into a search engine: a few specific words in the language of the best sources, \
no full sentences, no quotation marks unless a phrase must match exactly. One thing a query; search again for the next.
Examples: "python 3.14 release date", "searxng enable json format", "上海 地铁 首末班车 时间".""",
    _takes(
        {"query": _text("what to search for", LONGEST_QUERY)},
        {
            "count": RESULTS,
            "freshness": {
                "type": "string",
                "enum": ["day", "week", "month", "year"],
                "description": "only pages newer than that",
            },
            "region": _text("country of the results, two letters such as CH", 20),
            "language": _text("language of the results, such as de or zh-CN", 20),
        },
    ),
    SEARCH_ANSWER,
)
FETCH_PAGE = Definition(
    "fetch_page",
    "Read a web page",
    """\
Read one web page and get its main text as Markdown, without menus and advertising; PDF and plain text work too.
Use it when the snippet of a result is not enough to answer from, when exact wording, code or a table matters, and \
whenever the user gives you an address. It cannot log in, click, or fill in forms.
Give the query too when you look for something in a page that may be long: then you get the passages that answer it, \
in reading order, with … where something is left out. Without a query you get the beginning of the page.
Examples: {"url": "https://docs.python.org/3/whatsnew/3.14.html", "query": "free threading"}, \
{"url": "https://example.org/paper.pdf"}.""",
    _takes(
        {"url": ADDRESS},
        {
            "query": _text("what you look for in the page: a few words", LONGEST_QUERY),
            "max_chars": {
                "type": "integer",
                "description": "the most text you want, in characters",
                "minimum": 100,
                "maximum": LONGEST_PAGE,
            },
        },
    ),
    PAGE_TEXT,
)
SUMMARIZE = Definition(
    "summarize",
    "Summarise web pages",
    """\
Read several web pages and get what each of them says, and what they say together, in short: sentences of their own, \
word for word, each with the number of its source, to be cited as [n].
Use it to compare results of web_search without reading every page, or to see what a long page is about. Use \
fetch_page instead where details, code or tables matter.
Say in the query what you want to know, as a short question or a few words; without one you get what is central to \
the pages. The length is of each summary: short is a sentence or two, medium a paragraph, long several.
Examples: {"urls": ["https://tokio.rs/", "https://docs.rs/smol"], "query": "which runtime is smaller"}, \
{"urls": ["https://example.org/report"], "length": "long"}.""",
    _takes(
        {
            "urls": {
                "type": "array",
                "items": ADDRESS,
                "minItems": 1,
                "maxItems": MOST_PAGES,
                "description": "addresses of the pages",
            }
        },
        {
            "query": _text("what you want to know from them", LONGEST_QUERY),
            "length": {
                "type": "string",
                "enum": ["short", "medium", "long"],
                "description": "of each summary",
                "default": "medium",
            },
        },
    ),
    SUMMARY,
)
LIBRARY_SEARCH = Definition(
    "library_search",
    "Search the user's library",
    """\
Search the user's own library on this machine, without a network: documents, notes and bookmarks that the user has \
added, web pages read before, and the handbook of sleuth itself. Results are numbered, to be cited as [n].
Use it when the user speaks of their own documents or of something read before, and for questions about setting up \
sleuth or SearXNG. Use web_search for everything else.
Write the query as a few specific words that stand in the document, in its language.
Examples: "searxng limiter 429", "budget meeting minutes october", "季度 总结".""",
    _takes({"query": _text("what to search for", LONGEST_QUERY)}, {"count": RESULTS}),
    SEARCH_ANSWER,
    online=False,
)
ASK = Definition(
    "ask",
    "Research a question",
    """\
Have a question researched: the web is searched in rounds, pages are read, and a language model that the user has set \
up writes an answer that cites its sources as [n]. It takes up to a few minutes, and may cost the user money.
Use it for a question that needs several searches and many pages, when the answer matters more than the single pages. \
Use web_search where one search is enough.
Write one whole question with everything that is needed to understand it: nothing else of this conversation is known \
there.
Examples: "Which European countries have banned single-use plastics, and since when?", "How do the licences of \
Redis, Valkey and KeyDB differ today?".""",
    _takes({"question": _text("the question, as a whole sentence", 4000)}),
    ANSWER,
)
TOOLS = {tool.name: tool for tool in (WEB_SEARCH, FETCH_PAGE, SUMMARIZE, LIBRARY_SEARCH, ASK)}


def definition(tool: Definition, style: str) -> Schema:
    """Return a tool as one kind of agent wants it, or the schema of its answer."""
    if style == "openai":
        function = {"name": tool.name, "description": tool.description, "parameters": tool.input}
        return {"type": "function", "function": function}
    if style == "anthropic":
        return {"name": tool.name, "description": tool.description, "input_schema": tool.input}
    if style == "mcp":
        return {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input,
            "outputSchema": tool.output,
        }
    return tool.output
