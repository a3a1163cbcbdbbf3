"""Extracts text, title, author, date and language from HTML, PDF, Markdown, JSON and plain text."""

import json
import math
import re
from collections.abc import Sequence
from contextlib import suppress

from sleuth.base.text import clean, shorten
from sleuth.pages.blocks import MAX_TEXT_CHARS, Block, as_text, block, cut, from_markdown, from_plain
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.fetch import Fetched
from sleuth_providers.records import Record

MAX_JSON_CHARS = 1_000_000  # a longer document is shown without indentation
SCRIPTS = (("ja", "[\u3040-\u30ff]"), ("ko", "[\uac00-\ud7a3]"), ("zh", "[\u4e00-\u9fff]"), ("ru", "[\u0400-\u04ff]"))


class ExtractedPage(Record):
    """The content of a page; the cache stores it whole."""

    title: str = ""
    author: str = ""
    published: str = ""  # ISO date
    language: str = ""  # BCP 47
    blocks: Sequence[Block] = ()
    final_url: str = ""
    archived: str = ""  # ISO date of a copy in an archive


def extract(page: Fetched, until: float = math.inf) -> ExtractedPage:
    """Return the content of a page or raise EmptyPageError; `until`, on the monotonic clock, bounds PDF files."""
    if page.kind == "pdf":
        from sleuth.pages.pdf import from_pdf

        content = from_pdf(page.body, until)
    elif page.kind == "html":
        from sleuth.pages.article import from_html

        content = from_html(page.text(), page.final_url)
    else:
        content = _from_text(page.text(), page.kind)
    if not content.blocks:
        raise EmptyPageError
    return finished(content._replace(final_url=page.final_url))


def finished(content: ExtractedPage) -> ExtractedPage:
    """Sanitise every field, limit the text, and guess a missing language from the script."""
    return content._replace(
        title=clean(content.title, 300, entities=False),
        author=clean(content.author, 200, entities=False),
        published=content.published if re.fullmatch(r"\d{4}(-\d\d){0,2}", content.published) else "",
        language=_language_tag(content.language) or _guess_language(as_text(content.blocks[:50])),
        blocks=cut(content.blocks, MAX_TEXT_CHARS)[0],
    )


def _from_text(text: str, kind: str) -> ExtractedPage:
    text = text.replace("\0", "")
    if kind == "json":
        text, kind = _indent_json(text), "code"
    text = text[:MAX_TEXT_CHARS]
    if kind == "markdown":
        return read_markdown(text)
    blocks = from_plain(text) if kind == "text" else [one for one in (block("code", text),) if one.text]
    first_line = blocks[0].text.partition("\n")[0] if blocks and kind == "text" else ""
    return ExtractedPage(shorten(first_line, 100), blocks=blocks)


def read_markdown(source: str) -> ExtractedPage:
    """Read Markdown; its title is that of its front matter, or else the first heading."""
    facts, body = _front_matter("\n".join(source.splitlines()))
    blocks = from_markdown(body)
    heading = next((one.text.replace("`", "") for one in blocks if one.kind == "heading"), "")
    title, published, language = (facts.get(name, "") for name in ("title", "date", "lang"))
    return ExtractedPage(title or heading, "", published, language, blocks)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    """Return the metadata of Markdown, between two lines of dashes, and the rest."""
    found = re.match(r"---[ \t]*\n(.{0,5000}?)\n(?:---|\.\.\.)[ \t]*\n", text, re.DOTALL)
    facts = re.findall(r"^(\w+):(.*)$", found[1], re.MULTILINE) if found else ()
    return {name.lower(): value.strip().strip("\"'") for name, value in facts}, text[found.end() :] if found else text


def _indent_json(text: str) -> str:
    with suppress(ValueError, RecursionError):
        if len(text) <= MAX_JSON_CHARS:
            return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    return text


def _language_tag(tag: str) -> str:
    """Return a language tag in its usual spelling, or nothing for an invalid one."""
    found = re.fullmatch(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?:[-_.].*)?", tag.strip())
    if not found:
        return ""
    return "-".join(filter(None, (found[1].lower(), (found[2] or "").title(), (found[3] or "").upper())))


def _guess_language(text: str) -> str:
    sample = "".join(text[:4000].split())
    for language, letters in SCRIPTS:
        if sample and len(re.findall(letters, sample)) > len(sample) // 10:
            return language
    return ""
