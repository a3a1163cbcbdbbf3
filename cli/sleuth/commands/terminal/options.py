"""The options of `sleuth search`, each with its help; other commands that search use some of them too."""

from typing import Annotated, Literal

import typer

from sleuth.commands.terminal.typer_app import seconds
from sleuth.render import FIELDS

Words = Annotated[list[str] | None, typer.Argument(metavar="WORDS", help="What to search for; no quotes needed.")]
Question = Annotated[
    list[str] | None,
    typer.Option("--question", "-q", metavar="QUESTION", help="A question; several are asked at once and merged."),
]
Batch = Annotated[
    str | None, typer.Option("--batch", metavar="FILE", help="One query a line, from a file or - for standard input.")
]
Ordered = Annotated[bool, typer.Option("--ordered", help="With --batch: answers in the order of the queries.")]
Resume = Annotated[bool, typer.Option("--resume", help="With --batch and -o: go on where the file ends.")]
Jobs = Annotated[int, typer.Option("--jobs", min=1, max=64, metavar="N", help="With --batch: queries at a time.")]
Interactive = Annotated[bool, typer.Option("--interactive", "-i", help="A prompt: open, page, copy, search again.")]

Provider = Annotated[
    list[str] | None,
    typer.Option("--provider", "-p", metavar="ID", help="Whom to ask: ids, comma-separated; auto; all."),
]
Count = Annotated[int | None, typer.Option("--count", "-n", min=1, max=50, metavar="N", help="Results to show.")]
Page = Annotated[int, typer.Option("--page", min=1, max=100, metavar="N", help="Page of results.")]
Lang = Annotated[str | None, typer.Option("--lang", metavar="CODE", help="Language of results: de, zh-CN.")]
Region = Annotated[str | None, typer.Option("--region", metavar="CC", help="Country of results: CH.")]
Freshness = Annotated[
    str | None, typer.Option("--freshness", metavar="day|week|month|year|FROM..TO", help="How new results must be.")
]
Safe = Annotated[Literal["off", "moderate", "strict"] | None, typer.Option("--safe", help="Adult content filter.")]
Category = Annotated[
    Literal["general", "news", "images", "videos", "science", "it"], typer.Option("--category", help="Kind of results.")
]
Engine = Annotated[
    list[str] | None, typer.Option("--engine", metavar="NAME", help="Engines to use (SearXNG, SerpAPI).")
]
Site = Annotated[list[str] | None, typer.Option("--site", metavar="DOMAIN", help="Only from this domain.")]
Exclude = Annotated[list[str] | None, typer.Option("--exclude", metavar="DOMAIN", help="Nothing from this domain.")]
WithTime = Annotated[
    bool | None, typer.Option("--with-time/--no-time", help="Tell the date to providers that read language.")
]

Rerank = Annotated[bool, typer.Option("--rerank", help="Order by relevance to the words, not by rank alone.")]
Recent = Annotated[bool, typer.Option("--recent", help="Weigh newer pages up.")]
RulesFile = Annotated[str | None, typer.Option("--rules", metavar="FILE", help="Domain rules in Goggles syntax.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show what put each result in its place.")]
Record = Annotated[str | None, typer.Option("--record", metavar="FILE", help="Keep the raw answers, keys removed.")]
Replay = Annotated[str | None, typer.Option("--replay", metavar="FILE", help="Answer from a recording, ask nobody.")]

Content = Annotated[bool, typer.Option("--content", help="Read the pages: their text comes as content.")]
Compress = Annotated[
    Literal["none", "cutoff", "rag"] | None,
    typer.Option("--compress", help="Squeeze page text: cut it off, or keep what answers (implies --content)."),
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, metavar="N", help="Room for all page text together.")]
Unit = Annotated[Literal["char", "token"] | None, typer.Option("--unit", help="What --limit counts.")]
MaxTokens = Annotated[
    int | None, typer.Option("--max-tokens", min=1, metavar="N", help="A hard budget of tokens for all page text.")
]
ProgressKind = Annotated[
    Literal["auto", "json", "none"],
    typer.Option("--progress", help="Progress on stderr: a line on a terminal, JSON lines."),
]

Cached = Annotated[bool, typer.Option("--cache/--no-cache", help="Use and keep cached answers.")]
Refresh = Annotated[bool, typer.Option("--refresh", help="Ask anew and keep the answer.")]
Offline = Annotated[bool, typer.Option("--offline", help="No network: the cache and the library only.")]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.1, max=600, metavar="S", help="Seconds to wait.", callback=seconds),
]
Fallback = Annotated[bool | None, typer.Option("--fallback/--no-fallback", help="Ask others when the one named fails.")]

Format = Annotated[
    Literal["rich", "plain", "json", "ndjson", "markdown", "csv", "urls"] | None,
    typer.Option("--format", "-f", help="Output; rich on a terminal, else plain."),
]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Template = Annotated[str | None, typer.Option("--template", metavar="TEXT", help="A line a result: '{rank} {url}'.")]
Fields = Annotated[str | None, typer.Option("--fields", metavar="a,b", help="Only these fields: " + ", ".join(FIELDS))]
Output = Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help="Write there, atomically.")]
OpenResult = Annotated[int | None, typer.Option("--open", min=1, metavar="N", help="Open result N.")]
OpenFirst = Annotated[bool, typer.Option("-j", help="Open the first result.")]
ExitStatus = Annotated[bool, typer.Option("--exit-status", help="Exit with 7 when there are no results.")]

SearchSwitch = Annotated[
    Literal["auto", "on", "off"],
    typer.Option("--search", help="Search the web: auto lets the model decide, on and off do as they say."),
]
Rounds = Annotated[
    int | None, typer.Option("--rounds", min=1, max=20, metavar="N", help="Rounds of searching at the most.")
]
Pages = Annotated[int | None, typer.Option("--pages", min=1, max=20, metavar="N", help="Pages to read in a round.")]
Extractive = Annotated[
    bool, typer.Option("--extractive", help="Sentences of the pages, word for word; no model is asked.")
]
TextFormat = Annotated[
    Literal["rich", "plain", "markdown", "json"] | None,
    typer.Option("--format", "-f", help="Output; rich on a terminal, else plain."),
]
