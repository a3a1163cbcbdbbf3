"""The text of whatever came: HTML, PDF, Markdown, JSON or plain text, with its title, author, date and language."""

import json
import re
from collections.abc import Sequence

from sleuth.base.text import clean, shorten
from sleuth.pages.blocks import MAX_TEXT_CHARS, Block, as_text, block, from_markdown, from_plain, limited
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.fetch import Fetched
from sleuth_providers.records import Record

MAX_JSON = 1_000_000  # characters; more is shown as it came
SCRIPTS = (("ja", "[\u3040-\u30ff]"), ("ko", "[\uac00-\ud7a3]"), ("zh", "[\u4e00-\u9fff]"), ("ru", "[\u0400-\u04ff]"))


class ExtractedPage(Record):
    """What a page says."""

    title: str = ""
    author: str = ""
    published: str = ""  # ISO date
    language: str = ""  # BCP 47
    blocks: Sequence[Block] = ()


def extract(page: Fetched, until: float | None = None) -> ExtractedPage:
    """Return the text of a page, or raise EmptyPageError; `until`, on the monotonic clock, is for long PDF files."""
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
    return finished(content)


def finished(content: ExtractedPage) -> ExtractedPage:
    """Return content whose every field is safe to show, with a language where the script gives it away."""
    return ExtractedPage(
        clean(content.title, 300, entities=False),
        clean(content.author, 200, entities=False),
        content.published if re.fullmatch(r"\d{4}(-\d\d){0,2}", content.published) else "",
        _tag(content.language) or _language_of(as_text(content.blocks[:50])),
        limited(content.blocks),
    )


def _from_text(text: str, kind: str) -> ExtractedPage:
    text = text.replace("\0", "")
    if kind == "json":
        text, kind = _pretty(text), "code"
    text = text[:MAX_TEXT_CHARS]
    if kind == "code":
        blocks = [one for one in (block("code", text),) if one.text]
    else:
        blocks = from_markdown(text) if kind == "markdown" else from_plain(text)
    heading = next((one.text for one in blocks if one.kind == "heading"), "")
    first = blocks[0].text.partition("\n")[0] if blocks and kind == "text" else ""
    return ExtractedPage(heading or shorten(first, 100), blocks=blocks)


def _pretty(text: str) -> str:
    if len(text) > MAX_JSON:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def _tag(said: str) -> str:
    """Return a language tag in its usual spelling, or nothing for what is none."""
    found = re.fullmatch(r"([A-Za-z]{2,3})(?:[-_]([A-Za-z]{4}))?(?:[-_]([A-Za-z]{2}|\d{3}))?(?:[-_.].*)?", said.strip())
    if not found:
        return ""
    parts = (found[1].lower(), (found[2] or "").title(), (found[3] or "").upper())
    return "-".join(part for part in parts if part)


def _language_of(text: str) -> str:
    sample = "".join(text[:4000].split())
    for language, letters in SCRIPTS:
        if sample and len(re.findall(letters, sample)) > len(sample) // 10:
            return language
    return ""
