"""Every option of `sleuth search`, declared once.

The Typer command, the fast parser, `SearchOptions`, the checks of the Python API, help, man page and completions are
all derived from the class below. The cached path imports this module, so it must stay cheap: no typing, no Typer.
"""

from sleuth.base import choices
from sleuth_providers.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Headings of the help, by the first option below each.
GROUPS = {
    "words": "Query",
    "providers": "Providers",
    "count": "Results",
    "content": "Page text",
    "format": "Output",
    "cached": "Cache and network",
    "batch": "Batch",
}
MAX_LIMIT = 10_000_000  # of --content-limit and --max-tokens
KINDS = {tuple[str, ...]: "texts", str: "text", int: "int", float: "float", bool: "flag"}


class OptionSpec(Record):
    """The declaration of one option; `name`, `kind` and `group` come from the field that is declared."""

    flags: tuple[str, ...]
    help: str
    default: "Any" = None
    metavar: str | None = None
    choices: tuple[str, ...] = ()
    range: tuple[float, float] | None = None
    rendered: bool = False  # same words, same output until the cache entry expires: a saved rendering may answer
    other_names: tuple[str, ...] = ()  # in HTTP bodies and tool schemas, where they differ
    negative: tuple[str, ...] = ()  # flags that turn the option off
    name: str = ""
    kind: str = ""
    group: str = ""


def option(flags: str, help: str, default: "Any" = None, **more: "Any") -> "Any":
    """Declare an option as the default of a field; the loop below puts the real default in its place.

    Flags are separated by spaces; those after a slash turn the option off.
    """
    positive, _, negative = flags.partition("/")
    return OptionSpec(tuple(positive.split()), help, default, negative=tuple(negative.split()), **more)


class SearchOptions(Record):
    """The options of one search, as given. `engine.options.build_request` combines them with the settings."""

    words: tuple[str, ...] = option(
        "", "Words to search for; no quotes needed.", (), metavar="WORDS…", rendered=True, other_names=("query",)
    )
    questions: tuple[str, ...] = option(
        "--question -q",
        "Also search for this; the results are merged. Repeatable.",
        (),
        metavar="QUESTION",
        rendered=True,
    )
    language: str | None = option("--lang --language", "Language, such as de or zh-CN.", metavar="CODE", rendered=True)
    region: str | None = option("--region", "Country, such as CH.", metavar="CC", rendered=True)
    freshness: str | None = option(
        "--freshness -t", "Show only results this recent.", metavar="|".join((*choices.FRESHNESS, "7d", "FROM..TO"))
    )
    safe: str | None = option("--safe", "Adult content filter.", choices=choices.SAFE_SEARCH, rendered=True)
    category: str = option("--category", "Type of results.", "general", choices=choices.CATEGORIES, rendered=True)
    sites: tuple[str, ...] = option(
        "--site -w", "Show only results from this domain.", (), metavar="DOMAIN", rendered=True
    )
    exclude: tuple[str, ...] = option(
        "--exclude", "Drop results from this domain.", (), metavar="DOMAIN", rendered=True
    )
    with_time: bool | None = option(
        "--with-time/--no-time", "Send today's date to providers that accept natural language.", rendered=True
    )
    interactive: bool = option("--interactive -i", "Start a prompt: open, page, copy, search again.", False)

    providers: tuple[str, ...] = option(
        "--provider -p",
        "Providers to search: comma-separated ids, auto, or all.",
        (),
        metavar="ID",
        rendered=True,
        other_names=("providerId",),
    )
    engines: tuple[str, ...] = option(
        "--engine", "Engines to use (SearXNG, SerpAPI).", (), metavar="NAME", rendered=True
    )
    fallback: bool | None = option(
        "--fallback/--no-fallback", "Try other providers when the chosen ones fail.", rendered=True
    )
    timeout: float | None = option(
        "--timeout", "Time limit for a search, in seconds.", metavar="S", range=(0.1, 600), rendered=True
    )
    record: str | None = option("--record", "Save the raw responses, keys redacted.", metavar="FILE")
    replay: str | None = option("--replay", "Answer from a recording instead of the network.", metavar="FILE")

    count: int | None = option(  # type: ignore[assignment]  # hides tuple.count, which is not used
        "--count -n", "Show at most N results.", metavar="N", range=(1, 50), rendered=True
    )
    page: int = option("--page", "Page of results to show.", 1, metavar="N", range=(1, 100), rendered=True)
    rerank: bool = option("--rerank", "Order by relevance to the query, not by rank alone.", False, rendered=True)
    recent: bool = option("--recent", "Rank newer pages higher.", False)
    rules: str | None = option("--rules", "Domain rules in Goggles syntax.", metavar="FILE")
    explain: bool = option("--explain", "Show how each result got its rank.", False, rendered=True)

    content: bool = option("--content", "Read the pages and add their text.", False)
    compress: str | None = option(
        "--compress",
        "Shorten page text: truncate it (cutoff) or keep the passages that match (rag); implies --content.",
        choices=choices.COMPRESSION,
    )
    limit: int | None = option(
        "--content-limit", "Limit on the total page text; see --unit.", metavar="N", range=(1, MAX_LIMIT)
    )
    unit: str | None = option("--unit", "Unit of --content-limit.", choices=choices.UNITS)
    max_tokens: int | None = option(
        "--max-tokens", "Hard limit on the total page text, in tokens.", metavar="N", range=(1, MAX_LIMIT)
    )
    progress: str = option(
        "--progress",
        "Progress on stderr: auto (terminals only), json (JSON lines) or none.",
        "auto",
        choices=choices.PROGRESS,
    )

    format: str | None = option(
        "--format -f",
        "Output format; by default rich on a terminal, else plain.",
        choices=choices.FORMATS,
        rendered=True,
    )
    as_json: bool = option("--json", "Short for --format json.", False, rendered=True)
    template: str | None = option(
        "--template", "Print a line per result: '{rank} {url}'.", metavar="TEXT", rendered=True
    )
    fields: str | None = option(
        "--fields",
        "Print only these fields, such as title,url,snippet; to list all fields: sleuth handbook scripting.",
        metavar="a,b",
        rendered=True,
    )
    full_urls: bool = option("--full-urls -x", "Show full URLs on a terminal.", False, rendered=True)
    output: str | None = option("--output -o", "Write to this file, atomically; - is standard output.", metavar="FILE")
    open_result: int | None = option("--open", "Open result N in the browser.", metavar="N", range=(1, MAX_LIMIT))
    open_first: bool = option("-j", "Open the first result in the browser.", False)
    verbose: bool = option("--verbose -v", "Report on stderr what each provider returned.", False)
    exit_status: bool = option("--exit-status", "Exit with status 7 when there are no results.", False, rendered=True)

    cached: bool = option("--cache/--no-cache", "Use the cache.", True, other_names=("cache",))
    refresh: bool = option("--refresh", "Ignore what is cached, and replace it.", False)
    offline: bool = option("--offline", "Use no network, only the cache and the library.", False)

    batch: str | None = option("--batch", "Run one query per line of a file, or of standard input (-).", metavar="FILE")
    ordered: bool = option("--ordered", "Print results in the order of the queries.", False)
    resume: bool = option("--resume", "Skip queries that the -o file already has.", False)
    jobs: int = option("--jobs", "Run up to N queries at a time.", 8, metavar="N", range=(1, 64))

    @property
    def wants_content(self) -> bool:
        """Whether to read the pages; compression implies it."""
        return bool(self.content or self.compress or self.limit or self.max_tokens)


OPTIONS: dict[str, OptionSpec] = dict(SearchOptions._field_defaults)
_group = ""
for _name, _spec in OPTIONS.items():
    _group = GROUPS.get(_name, _group)
    _type = SearchOptions.__annotations__[_name]
    _kind = next(kind for known, kind in KINDS.items() if _type in (known, known | None))
    OPTIONS[_name] = _spec._replace(name=_name, kind=_kind, group=_group)
    SearchOptions._field_defaults[_name] = _spec.default

POSITIONAL = "words"
RENDERED = frozenset(name for name, spec in OPTIONS.items() if spec.rendered)
# Options that `sleuth again` repeats: they determine which providers are queried and how results are processed.
REPEATED = {
    *("language", "region", "freshness", "safe", "category", "sites", "exclude", "with_time", "engines", "max_tokens"),
    *("rerank", "recent", "rules", "content", "compress", "limit", "unit", "timeout", "cached", "offline", "fallback"),
}
