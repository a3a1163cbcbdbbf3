"""The text of a PDF file. Imports pypdf: import this module only for PDF files."""

import io
import logging
import math
import re
import statistics
import time
from itertools import zip_longest
from typing import Any

from pypdf import PdfReader

from sleuth.base import logs
from sleuth.pages.blocks import MAX_TEXT_CHARS, Block, block
from sleuth.pages.errors import EmptyPageError, UnreadableError
from sleuth.pages.extract import ExtractedPage
from sleuth_providers.errors import DeadlineError

MAX_PAGES = 300
SENTENCE_ENDS = (".", "!", "?", ":", "。", "！", "？", "：", "”", '"')
FULL_LINE = 0.8  # of the median length; a shorter line that ends a sentence ends its paragraph
MAX_HEADING_SHARE = 0.6  # of the usual length of a line

logging.getLogger("pypdf").addHandler(logging.NullHandler())  # it logs a warning for many files


def from_pdf(body: bytes, until: float = math.inf) -> ExtractedPage:
    """Return the text of a PDF file, of as many pages as time and size allow."""
    try:
        reader = PdfReader(io.BytesIO(body), strict=False)
        is_locked = reader.is_encrypted and not reader.decrypt("")
        count = 0 if is_locked else len(reader.pages)
    except Exception as problem:  # pypdf raises many kinds of errors for a broken file
        raise UnreadableError("the PDF is damaged") from problem
    if is_locked:
        raise UnreadableError("the PDF is password-protected")
    blocks = _pages(reader, count, until)
    if not blocks and time.monotonic() > until:
        raise DeadlineError("reading the PDF took too long")
    if not blocks:
        raise EmptyPageError(message="{provider} sent a PDF file without text, probably scanned images")
    title, author, published = _metadata(reader)
    return ExtractedPage(title or blocks[0].text[:100], author, published, blocks=blocks)


def _pages(reader: PdfReader, count: int, until: float) -> list[Block]:
    def check_deadline(*_: Any) -> None:
        if time.monotonic() > until:
            raise DeadlineError

    blocks: list[Block] = []
    size = 0
    for number in range(min(count, MAX_PAGES)):
        if size > MAX_TEXT_CHARS:
            break
        try:
            text = reader.pages[number].extract_text(visitor_operand_before=check_deadline)
        except DeadlineError:
            break
        except Exception as problem:  # one bad page does not spoil the others
            logs.log("pages: PDF page %d: %r", number + 1, problem)
            continue
        size += len(text)
        blocks += [one for part in _paragraphs(text) if (one := block("paragraph", part)).text]
    return blocks


def _paragraphs(text: str) -> list[str]:
    """Join lines to paragraphs: a PDF file stores positions of letters, not paragraphs."""
    lines = [line.strip() for line in text.splitlines()]
    median = statistics.median(len(line) for line in lines if line) if any(lines) else 0
    paragraphs: list[str] = []
    parts: list[str] = []
    for line, following in zip_longest(lines, lines[1:], fillvalue=""):
        is_heading = not parts and _is_heading(line, following, median)
        _join(parts, line)
        if not line or is_heading or (line.endswith(SENTENCE_ENDS) and len(line) < FULL_LINE * median):
            paragraphs.append("".join(parts))
            parts = []
    return [*paragraphs, "".join(parts)]


def _is_heading(line: str, following: str, median: float) -> bool:
    """Tell whether the first line of a paragraph is short, without a stop, and followed by the start of a sentence."""
    is_short = len(line) < MAX_HEADING_SHARE * median and not line.endswith((*SENTENCE_ENDS, ",", "-"))
    return is_short and (following[:1].isupper() or _is_wide(following[:1]))


def _join(parts: list[str], line: str) -> None:
    last = parts[-1] if parts else ""
    if len(last) > 1 and last[-1] == "-" and last[-2].islower() and line[:1].islower():
        parts[-1] = last[:-1]  # a hyphenated word
    elif last and not _is_wide(last[-1]) and not _is_wide(line[:1]):
        parts.append(" ")
    parts.append(line)


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\uffef"


def _metadata(reader: PdfReader) -> tuple[str, str, str]:
    try:
        found: Any = reader.metadata or {}
        date = re.match(r"D:(\d{4})(\d\d)?(\d\d)?", str(found.get("/CreationDate", "")))
        published = "-".join(part for part in date.groups() if part) if date else ""
        return str(found.get("/Title", "")), str(found.get("/Author", "")), published
    except Exception:  # a file with broken metadata is still readable
        return "", "", ""
