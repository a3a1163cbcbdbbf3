"""The text of a PDF file. Imports pypdf: only who has such a file imports this."""

import io
import logging
import re
import statistics
import time
from typing import Any

from pypdf import PdfReader

from sleuth.base import logs
from sleuth.pages.blocks import MAX_TEXT_CHARS, Block, block
from sleuth.pages.errors import EmptyPageError, UnreadableError
from sleuth.pages.extract import ExtractedPage
from sleuth_providers.errors import DeadlineError

MAX_PAGES = 300
PDF_TIMEOUT_S = 20.0
SENTENCE = (".", "!", "?", ":", "。", "！", "？", "：", "”", '"')
FULL_LINE = 0.8  # of the usual width; a shorter line that ends a sentence ends its paragraph

logging.getLogger("pypdf").addHandler(logging.NullHandler())  # it complains of every other file


class _TimeIsUpError(Exception):
    pass


def from_pdf(body: bytes, until: float | None = None) -> ExtractedPage:
    """Return the text of a PDF file, as many of its pages as time and size allow."""
    until = until or time.monotonic() + PDF_TIMEOUT_S
    try:
        reader = PdfReader(io.BytesIO(body), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadableError("a PDF file with a password")
        count = len(reader.pages)
    except UnreadableError:
        raise
    except Exception as problem:  # a broken file breaks pypdf in many ways
        raise UnreadableError("a broken PDF file") from problem
    blocks = _pages(reader, count, until)
    if not blocks and time.monotonic() > until:
        raise DeadlineError("a PDF file that takes too long to read")
    if not blocks:
        raise EmptyPageError(message="{provider} sent a PDF file without text, probably scanned images")
    title, author, published = _about(reader)
    return ExtractedPage(title or blocks[0].text[:100], author, published, blocks=blocks)


def _pages(reader: PdfReader, count: int, until: float) -> list[Block]:
    def watch(*_: Any) -> None:
        if time.monotonic() > until:
            raise _TimeIsUpError

    blocks: list[Block] = []
    size = 0
    for number in range(min(count, MAX_PAGES)):
        if size > MAX_TEXT_CHARS:
            break
        try:
            text = reader.pages[number].extract_text(visitor_operand_before=watch)
        except _TimeIsUpError:
            break
        except Exception as problem:  # one bad page is not the whole file
            logs.log("pages: PDF page %d: %r", number + 1, problem)
            continue
        size += len(text)
        blocks += [one for part in _paragraphs(text) if (one := block("paragraph", part)).text]
    return blocks


def _paragraphs(text: str) -> list[str]:
    """Join the lines of a page: a PDF knows where letters stand, not where paragraphs end."""
    lines = [line.strip() for line in text.splitlines()]
    usual = statistics.median(len(line) for line in lines if line) if any(lines) else 0
    paragraphs: list[str] = []
    parts: list[str] = []
    for line in lines:
        _join(parts, line)
        if not line or (line.endswith(SENTENCE) and len(line) < FULL_LINE * usual):
            paragraphs.append("".join(parts))
            parts = []
    return [*paragraphs, "".join(parts)]


def _join(parts: list[str], line: str) -> None:
    last = parts[-1] if parts else ""
    if len(last) > 1 and last[-1] == "-" and last[-2].islower() and line[:1].islower():
        parts[-1] = last[:-1]  # a word that was divided
    elif last and not _is_wide(last[-1]) and not _is_wide(line[:1]):
        parts.append(" ")
    parts.append(line)


def _is_wide(character: str) -> bool:
    return "\u2e80" <= character <= "\uffef"


def _about(reader: PdfReader) -> tuple[str, str, str]:
    try:
        said: Any = reader.metadata or {}
        date = re.match(r"D:(\d{4})(\d\d)?(\d\d)?", str(said.get("/CreationDate", "")))
        published = "-".join(part for part in date.groups() if part) if date else ""
        return str(said.get("/Title", "")), str(said.get("/Author", "")), published
    except Exception:  # what a file says of itself is worth no failure
        return "", "", ""
