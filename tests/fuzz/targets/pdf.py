"""PDF files: text or an error, before the deadline."""

import time

from sleuth.pages.pdf import from_pdf
from sleuth_providers.errors import ProviderError

WITHIN = 1.0  # seconds; between two signs of a page the time is not looked at
WORDS = (
    "/Kids [3 0 R 3 0 R] ¦ /Kids [2 0 R] ¦ /Count 99999999 ¦ /Filter /FlateDecode ¦ "
    "/Filter [/ASCIIHexDecode /LZWDecode] ¦ /Length 5 0 R ¦ /Parent 3 0 R ¦ obj ¦ endobj ¦ stream\n ¦ "
    "endstream ¦ << ¦ >> ¦ R ¦ /Prev 0 ¦ /Encrypt 6 0 R ¦ /Contents [4 0 R 4 0 R] ¦ (\\ ¦ <ff ¦ Tj ¦ BT ¦ "
    "ET ¦ /ToUnicode 4 0 R ¦ /Encoding /Identity-H ¦ /Subtype /Type0 ¦ /DescendantFonts [5 0 R]"
)
ROUNDS = 60


def check(data: bytes) -> None:
    """Read a file."""
    try:
        content = from_pdf(data, time.monotonic() + WITHIN)
    except ProviderError:
        return
    assert content.blocks
    assert all(sign.isprintable() or sign in "\n\u200c\u200d" for one in content.blocks for sign in one.text)
    assert all(type(said) is str for said in content[:4])
