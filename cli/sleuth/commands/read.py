"""`sleuth read`: pages, PDFs and files as Markdown."""

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sleuth.base.errors import RequestError, describe
from sleuth.base.i18n import tr
from sleuth.base.json_output import json_text
from sleuth.base.text import autolink
from sleuth.base.urls import clean_url, domain, host, mask_login
from sleuth.commands.terminal import display
from sleuth.commands.terminal.options import PAGE_TIMEOUT
from sleuth.commands.terminal.progress import Progress
from sleuth.commands.terminal.typer_app import Json, make_app
from sleuth.engine.content import archive_warning, nothing_read
from sleuth.engine.options import cache_use
from sleuth.engine.search_options import SearchOptions
from sleuth.library.files import file_links, file_page
from sleuth.pages.blocks import MAX_TEXT_CHARS, Block, as_markdown, escape, from_markdown
from sleuth.pages.chain import LayerAttempt
from sleuth.pages.page import Page, page_as_json
from sleuth.runtime import Runtime
from sleuth_providers.errors import ProviderError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sleuth.pages.links import PageLink

app = make_app()

MAX_PAGES = 50
MAX_INPUT_CHARS = 10_000_000
EPILOG = """Examples:\n
\b
  sleuth read https://docs.searxng.org/
  sleuth read 2
  sleuth read paper.pdf notes.md > all.md
  sleuth search -n 3 -f urls rust async | sleuth read --max-tokens 4000 -
  sleuth read --section install https://docs.searxng.org/
  sleuth read --links https://docs.searxng.org/ | grep admin
"""

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="URL|FILE|N…",
        help="URLs, files, or numbers of results of the last search; with - or none, standard input is read.",
    ),
]


@app.command(epilog=EPILOG, options=("output", "progress", PAGE_TIMEOUT, "refresh", "offline"))
def read(
    runtime: Runtime,
    targets: Targets = None,
    section: Annotated[
        str, typer.Option("--section", metavar="TEXT", help="Print only sections whose heading contains TEXT.")
    ] = "",
    links: Annotated[bool, typer.Option("--links", help="Print the links of the pages instead of their text.")] = False,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", min=1, max=10_000_000, metavar="N", help="Print at most N tokens.")
    ] = None,
    as_json: Json = False,
    **values: Any,
) -> None:
    """Print pages, PDFs and files as Markdown.

    Standard input may be URLs or paths, one per line, or the JSON of a search. A page that cannot be read is reported
    on stderr; the exit status is 0 when at least one was read.
    """
    options = SearchOptions(**values)
    wanted, _ = find_targets(runtime, targets or [], "for example: sleuth read URL…")
    if links:
        if options.offline and not all(target.startswith("file:") for target in wanted):
            raise RequestError("--links needs the network; links are not cached", "omit --offline")
        _show_links(runtime, wanted, as_json, options.output, options.timeout)
    else:
        show_pages(runtime, wanted, options, section, max_tokens, as_json=as_json)


def show_pages(
    runtime: Runtime,
    wanted: list[str],
    options: SearchOptions,
    section: str = "",
    max_tokens: int | None = None,
    *,
    as_json: bool = False,
) -> None:
    """Read pages and files and show them: rendered on a terminal, as Markdown elsewhere."""
    whole = read_pages(runtime, wanted, options, max_chars=MAX_TEXT_CHARS)
    # The URL of a file may name a section, as results from the handbook do.
    sections = [section or (target.partition("#")[2] if target.startswith("file:") else "") for target in wanted]
    found = list(map(_selected, whole, sections))
    if max_tokens:
        found = _within(found, max_tokens)
    _report(runtime, [page for page in found if not page.ok], len(found))
    for page in found:
        if page.archived:
            runtime.warn(archive_warning(page.url, page.archived))
    if as_json:
        pages = [page_as_json(page) | {"source": page.layer or None, "error": page.problem or None} for page in found]
        display.deliver(runtime, json_text({"pages": pages}, indent=2) + "\n", options.output)
    else:
        text = "\n\n---\n\n".join(_document(page) for page in found if page.ok)
        display.deliver_markdown(runtime, text, options.output)


def find_targets(runtime: Runtime, words: list[str], usage: str) -> tuple[list[str], str]:
    """Return URLs and paths from the arguments or from standard input, and the query of a search that is piped in."""
    query = ""
    if not words or words == ["-"]:
        words, query = _from_input("" if runtime.stdin.isatty() else runtime.stdin.read(MAX_INPUT_CHARS))
    found = list(dict.fromkeys(_target(runtime, word) for word in words))
    if not found:
        raise RequestError("there are no pages to read", usage)
    if len(found) > MAX_PAGES:
        raise RequestError("too many pages: {count}", "use at most {most}", count=len(found), most=MAX_PAGES)
    return found, query


def _from_input(text: str) -> tuple[list[str], str]:
    if not text.lstrip().startswith("{"):
        lines = [line.strip() for line in text.splitlines()]
        return [word for line in lines for word in ([line] if os.path.exists(line) else line.split())], ""
    try:
        answer = json.loads(text)
        return [str(hit["url"]) for hit in answer["results"]], str(answer.get("query") or "")
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        hint = "for example: sleuth search --json … | sleuth read"
        raise RequestError("standard input is not the output of sleuth search --json", hint) from problem


def _target(runtime: Runtime, word: str) -> str:
    """Return the URL of a page, of a file, or of a result of the last search; raise RequestError for anything else."""
    url = clean_url(word, ("http", "https", "file"))
    if url and not (url.startswith("file:") and host(url)):  # file://host/share would be a file of another machine
        return url
    path = os.path.abspath(os.path.expanduser(word))
    if not os.path.isfile(path):
        if word.isdecimal() and len(word) < 4:
            from sleuth.commands.again import last_hits

            return display.result_url(last_hits(runtime).values(), int(word))
        hint = "use a file, or a URL such as https://example.org/page; to search for words: sleuth search …"
        shown = mask_login(word) if ":" in word else word
        raise RequestError("{word!r} is neither a file nor a web URL", hint, word=shown[:200])
    from pathlib import Path

    return Path(path).as_uri()


def read_pages(runtime: Runtime, targets: "Sequence[str]", options: SearchOptions, **plan: Any) -> list[Page]:
    """Read web pages with the page reader, which may add them to the library, and files from the disk."""
    urls = [target for target in targets if not target.startswith("file:")]
    plan |= {"timeout": options.timeout, "cache": cache_use(options), "offline": options.offline}
    with Progress(runtime, options.progress) as report:
        pages = dict(zip(urls, runtime.reader.read(urls, on_event=report, **plan), strict=True)) if urls else {}
    if urls:
        runtime.content_reader.remember(list(pages.values()))
    return [pages.get(target) or file_page(target) for target in targets]


def _report(runtime: Runtime, unread: list[Page], total: int) -> None:
    """Warn about pages that could not be read; raise SearchError if none could."""
    if len(unread) == total:
        raise nothing_read(unread)
    for page in unread:
        runtime.warn(tr("could not read {url}: {reason}", url=page.url, reason=page.problem))


def _selected(page: Page, section: str) -> Page:
    """Return a page with only the sections that are wanted, each with the subsections below it."""
    if not section or not page.ok:
        return page
    from sleuth.library.handbook import anchor

    kept: list[Block] = []
    headings: list[str] = []
    level = 0  # of the section that is kept; 0 outside of one
    for one in from_markdown(page.markdown):
        if one.kind == "heading":
            headings.append(one.text)
            level = level if level and one.level > level else 0
            if not level and (section.lower() in one.text.lower() or section == anchor(one.text)):
                level = one.level
        if level:
            kept.append(one)
    if not kept:
        near = ", ".join(headings[:10]) or tr("none")
        raise RequestError("no heading contains {section!r}", "its headings: {near}", section=section, near=near)
    return page._replace(markdown=as_markdown(kept))


def _within(pages: list[Page], max_tokens: int) -> list[Page]:
    """Return pages cut to a number of tokens in all, shared evenly; what a short page leaves goes to later ones."""
    from sleuth.relevance import tokens

    left, found = max_tokens, []
    for number, page in enumerate(pages):
        kept = tokens.cut(page.markdown, left // (len(pages) - number)).rstrip()
        left -= tokens.count(kept)
        found.append(page._replace(markdown=kept, truncated=page.truncated or len(kept) < len(page.markdown)))
    return found


def _document(page: Page) -> str:
    facts = " · ".join(filter(None, (autolink(page.final_url or page.url), page.published, escape(page.author))))
    more = [tr("[The page has more text.]")] if page.truncated else []
    return "\n\n".join([f"# {escape(page.title or page.url)}", facts, page.markdown, *more])


def _show_links(runtime: Runtime, targets: list[str], as_json: bool, output: str | None, timeout: float | None) -> None:
    from functools import partial

    from sleuth_providers.threads import run_all

    answers = run_all(partial(_links, runtime, target, timeout) for target in targets)
    _report(runtime, [answer for answer in answers if isinstance(answer, Page)], len(targets))
    found = {url: [] if isinstance(links, Page) else links for url, links in zip(targets, answers, strict=True)}
    if as_json:
        pages = [{"url": url, "links": [link._asdict() for link in links]} for url, links in found.items()]
        text = json_text({"pages": pages}, indent=2) + "\n"
    else:
        text = "".join(f"{link.url}\t{link.text}\n" for links in found.values() for link in links)
    display.deliver(runtime, text, output)


def _links(runtime: Runtime, target: str, timeout: float | None) -> "list[PageLink] | Page":
    """Return the links of a page or file, or a page that says why it cannot be read."""
    try:
        return file_links(target) if target.startswith("file:") else runtime.reader.links(target, timeout)
    except ProviderError as problem:
        is_file = target.startswith("file:") and problem.detail
        reason = tr(problem.detail) if is_file else describe(problem, provider=domain(target))[0]
        return Page(target, attempts=(LayerAttempt("page", problem.state, reason),))
    except OSError as problem:
        return Page(target, attempts=(LayerAttempt("page", "unreachable", problem.strerror or str(problem)),))
