"""The tools for agents: names, descriptions, input and output schemas, in the formats of MCP, OpenAI and Anthropic."""

from typing import Any

from sleuth.serving.schemas import ASK_ANSWER, PAGE_TEXT, SEARCH_ANSWER, SUMMARY
from sleuth_providers.records import Record

Schema = dict[str, Any]

MAX_RESULTS = 10
MAX_PAGES = 10
MAX_QUERY_CHARS = 400
MAX_PAGE_CHARS = 100_000


class ToolDefinition(Record):
    """A tool as agents see it."""

    name: str
    title: str
    description: str
    input: Schema
    output: Schema
    online: bool = True  # uses the network


def _arguments(required: Schema, optional: Schema | None = None) -> Schema:
    properties = required | (optional or {})
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _text(description: str, max_length: int) -> Schema:
    return {"type": "string", "description": description, "minLength": 1, "maxLength": max_length}


def _integer(description: str, minimum: int, maximum: int) -> Schema:
    return {"type": "integer", "description": description, "minimum": minimum, "maximum": maximum}


def _choice(description: str, *values: str) -> Schema:
    return {"type": "string", "enum": list(values), "description": description}


URL = _text("URL of the page, http or https", 4000)
DOCUMENT_URL = _text("URL of the page, or of a document that library_search found", 4000)
COUNT = _integer("number of results", 1, MAX_RESULTS)  # the default is a setting
QUERY = _text("what to search for", MAX_QUERY_CHARS)
# Added where a conversation is known; a single search always numbers its results from 1.
RESTART = {"restart_citations": {"type": "boolean", "description": "number the results from [1] again"}}

WEB_SEARCH = ToolDefinition(
    "web_search",
    "Search the web",
    """\
Search the web and get numbered results with title, URL and snippet; cite them as [n]. Numbers go on from call to \
call, and a URL keeps its number.
Use it for anything that may have changed since your knowledge ends: news, prices, versions, people, events, \
documentation; and whenever the user asks to look something up or wants sources. Do not use it for what you can work \
out yourself.
Write the query as you would type it into a search engine: a few specific words in the language of the best sources, \
no full sentences, no quotation marks unless a phrase must match exactly. One topic per query.
Examples: "python 3.14 release date", "searxng enable json format", "上海 地铁 首末班车 时间".""",
    _arguments(
        {"query": QUERY},
        {
            "count": COUNT,
            "freshness": _choice("maximum age of the pages", "day", "week", "month", "year"),
            "region": _text("country of the results, two letters such as CH", 20),
            "language": _text("language of the results, such as de or zh-CN", 20),
        },
    ),
    SEARCH_ANSWER,
)
FETCH_PAGE = ToolDefinition(
    "fetch_page",
    "Read a web page",
    """\
Read one web page and get its main text as Markdown, without menus and advertising; PDF and plain text work too. \
Documents that library_search found are read from the library.
Use it when the snippet of a result is not enough to answer from, when exact wording, code or a table matters, and \
whenever the user gives you a URL. It cannot log in, click, or fill in forms.
If you look for something in a page that may be long, pass a query: you get the passages that match it, in reading \
order, with … for what is left out. Without a query you get the beginning of the page.
Examples: {"url": "https://docs.python.org/3/whatsnew/3.14.html", "query": "free threading"}, \
{"url": "https://example.org/paper.pdf"}.""",
    _arguments(
        {"url": DOCUMENT_URL},
        {
            "query": _text("what to look for in the page: a few words", MAX_QUERY_CHARS),
            "max_chars": _integer("maximum length of the text", 100, MAX_PAGE_CHARS),
        },
    ),
    PAGE_TEXT,
)
SUMMARIZE = ToolDefinition(
    "summarize",
    "Summarise web pages",
    """\
Read several web pages and get a summary of each and of all: sentences quoted from the pages, each with the number of \
its source; cite them as [n].
Use it to compare results of web_search without reading every page, or to see what a long page is about. Use \
fetch_page instead if details, code or tables matter.
Put what you want to know in the query, as a short question or a few words; without a query you get the main points. \
The length applies to each summary: short is a sentence or two, medium a paragraph, long several.
Examples: {"urls": ["https://tokio.rs/", "https://docs.rs/smol"], "query": "which runtime is smaller"}, \
{"urls": ["https://example.org/report"], "length": "long"}.""",
    _arguments(
        {"urls": {"type": "array", "items": URL, "minItems": 1, "maxItems": MAX_PAGES, "description": "the pages"}},
        {
            "query": _text("what you want to know", MAX_QUERY_CHARS),
            "length": _choice("length of each summary", "short", "medium", "long") | {"default": "medium"},
        },
    ),
    SUMMARY,
)
LIBRARY_SEARCH = ToolDefinition(
    "library_search",
    "Search the user's library",
    """\
Search the user's own library on this machine, without a network: documents, notes and bookmarks that the user added, \
web pages read before, and the handbook of sleuth. You get the passages that match; read a whole document with \
fetch_page. Results are numbered like those of web_search; cite them as [n].
Use it when the user refers to their own documents or to something read before, and for questions about setting up \
sleuth or SearXNG. Use web_search for everything else.
Write the query as a few specific words that occur in the document, in its language.
Examples: "searxng limiter 429", "budget meeting minutes october", "季度 总结".""",
    _arguments({"query": QUERY}, {"count": COUNT}),
    SEARCH_ANSWER,
    online=False,
)
ASK = ToolDefinition(
    "ask",
    "Research a question",
    """\
Research a question: sleuth searches the web in rounds, reads pages, and a language model that the user has configured \
writes an answer that cites its sources as [n]. It takes up to a few minutes and may cost the user money.
Use it for a question that needs several searches and many pages, when the answer matters more than individual pages. \
Use web_search if one search is enough.
Write one complete question with all the context it needs: the model does not see this conversation.
Examples: "Which European countries have banned single-use plastics, and since when?", "How do the licences of \
Redis, Valkey and KeyDB differ today?".""",
    _arguments({"question": _text("the question, as a complete sentence", 4000)}),
    ASK_ANSWER,
)
TOOLS = {tool.name: tool for tool in (WEB_SEARCH, FETCH_PAGE, SUMMARIZE, LIBRARY_SEARCH, ASK)}


def tool_definition(tool: ToolDefinition, style: str) -> Schema:
    """Return a tool in the format of one kind of agent, or for `json-schema` the schema of its output."""
    about = {"name": tool.name, "description": tool.description}
    styles: dict[str, Schema] = {
        "openai": {"type": "function", "function": about | {"parameters": tool.input}},
        "responses": {"type": "function"} | about | {"parameters": tool.input},
        "anthropic": about | {"input_schema": tool.input},
        "mcp": about | {"title": tool.title, "inputSchema": tool.input, "outputSchema": tool.output},
    }
    return styles.get(style, tool.output)
