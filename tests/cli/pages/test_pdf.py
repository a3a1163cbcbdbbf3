"""PDF files: text in paragraphs, and an end to those that have none or never end."""

import itertools
import time
import zlib
from typing import Any

import pytest
from pypdf import PdfReader, PdfWriter

from sleuth.pages.blocks import as_text
from sleuth.pages.errors import EmptyPageError, UnreadableError
from sleuth.pages.pdf import from_pdf
from sleuth_providers.errors import DeadlineError


def pdf(*pages: bytes, about: bytes = b"") -> bytes:
    """Return a PDF file with these content streams."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = b" ".join(b"%d 0 R" % (5 + 2 * number) for number in range(len(pages)))
    objects.append(b"<< /Type /Pages /Kids [" + kids + b"] /Count %d >>" % len(pages))
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    objects.append(b"<< " + about + b" >>")
    for number, page in enumerate(pages):
        fonts = b"/MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(b"<< /Type /Page /Parent 2 0 R %s /Contents %d 0 R >>" % (fonts, 6 + 2 * number))
        data = zlib.compress(page)
        objects.append(b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(data), data))
    body, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    trailer = b"trailer << /Size %d /Root 1 0 R /Info 4 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + trailer


def lines(*texts: str) -> bytes:
    return b"BT /F1 12 Tf 72 720 Td 14 TL " + b"".join(b"(%s) Tj T* " % text.encode() for text in texts) + b"ET"


def test_a_pdf_file_becomes_paragraphs_with_metadata() -> None:
    page = lines(
        "The first line of a paragraph that goes on and is di-",
        "vided here, in the middle of a word, and then it",
        "ends early.",
        "Another paragraph begins in this line and does not end,",
    )
    about = b"/Title (A paper) /Author (Anna) /CreationDate (D:20260304101112Z)"
    content = from_pdf(pdf(page, lines("it goes on."), about=about))
    assert content[:3] == ("A paper", "Anna", "2026-03-04")
    assert as_text(content.blocks) == (
        "The first line of a paragraph that goes on and is divided here, in the middle of a word, "
        "and then it ends early.\n\n"
        "Another paragraph begins in this line and does not end,\n\nit goes on."
    )


def test_a_heading_is_not_joined_with_the_sentence_below() -> None:
    page = lines(
        "1 Introduction",
        "Asynchronous programs wait for many things at once and",
        "they still need only one or two threads to do all this",
        "well.",
        "Evaluation",
        "We measured ten programs on one machine with two cores.",
    )
    assert as_text(from_pdf(pdf(page)).blocks).split("\n\n") == [
        "1 Introduction",
        "Asynchronous programs wait for many things at once and they still need only one or two threads to do all this "
        "well.",
        "Evaluation",
        "We measured ten programs on one machine with two cores.",
    ]


def test_a_pdf_file_without_a_title_gets_its_first_words() -> None:
    assert from_pdf(pdf(lines("Just words"))).title == "Just words"


def test_a_pdf_file_of_images_is_empty() -> None:
    with pytest.raises(EmptyPageError):
        from_pdf(pdf(b""))


@pytest.mark.parametrize(
    "body", [b"%PDF-1.7\n", b"%PDF-1.7\n" + b"x" * 100_000, pdf(lines("x"))[:200], b"%PDF-1.4\nxref\n0 1\n"]
)
def test_a_broken_pdf_file_is_refused(body: bytes) -> None:
    with pytest.raises((UnreadableError, EmptyPageError)):
        from_pdf(body)


def test_a_pdf_file_with_a_password_is_refused(tmp_path: Any) -> None:
    plain = tmp_path / "plain.pdf"
    plain.write_bytes(pdf(lines("secret")))
    writer = PdfWriter(clone_from=PdfReader(plain))
    writer.encrypt("word", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    with pytest.raises(UnreadableError) as caught:
        from_pdf((tmp_path / "locked.pdf").read_bytes())
    assert caught.value.detail == "the PDF is password-protected"


def test_one_bad_page_does_not_spoil_the_others() -> None:
    content = from_pdf(pdf(lines("one"), b"BT /F1 12 Tf (x Tj <</ [[ ET", lines("three")))
    assert as_text(content.blocks).startswith("one")
    assert as_text(content.blocks).endswith("three")


def test_a_pdf_file_that_takes_too_long_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even in the middle of a page."""
    ticks = itertools.count()
    monkeypatch.setattr(time, "monotonic", lambda: float(next(ticks)))
    with pytest.raises(DeadlineError):
        from_pdf(pdf(b"BT /F1 12 Tf " + b"(aaaaaaaaaa) Tj " * 1000 + b"ET"), until=500.0)
    assert next(ticks) < 1000


def test_a_long_pdf_file_is_read_up_to_the_page_limit() -> None:
    content = from_pdf(pdf(*[lines(f"page {number}") for number in range(400)]))
    assert 1 < len(content.blocks) <= 300
