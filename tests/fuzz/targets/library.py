"""The library's index: any document can be added, searched and removed.

Lines of %% separate the parts of a case: a query, then documents.
"""

import tempfile
from pathlib import Path

from sleuth.library.library import Document, Library
from sleuth.library.snippet import best_passage
from sleuth.relevance.words import match_expression

FOLDER = tempfile.TemporaryDirectory(prefix="sleuth-fuzz-")
LIBRARY = Library(str(Path(FOLDER.name, "library.db")))
PARTS = "\n%%\n"
WORDS = "\n%%\n ¦ \" ¦ ' ¦ * ¦ ^ ¦ ( ¦ ) ¦  AND  ¦  OR  ¦  NOT  ¦ NEAR( ¦ title :  ¦ - ¦ + ¦ : ¦ rust ¦ \x00"
ROUNDS = 60
LARGE = 200_000


def check(data: bytes) -> None:
    """Put pages in, find them, take them out."""
    query, *texts = data.decode("utf-8", "surrogateescape").split(PARTS)
    pages = [Document(f"https://fuzz.example/{number}", *_titled(text)) for number, text in enumerate(texts[:4])]
    added = LIBRARY.add(pages)
    assert added.added + added.updated + added.unchanged == len(pages)
    for result in LIBRARY.search(query, 5, content=True):
        assert result.snippet.strip() or not result.content.strip(), "what is found has a snippet"
    for page in pages:
        words = match_expression(page.title)
        if words:
            assert LIBRARY.search(page.title, 50), "what is in is found"
        best_passage(page.text, query)
    assert LIBRARY.remove("https://fuzz.example/*") == len(pages)


def _titled(text: str) -> tuple[str, str]:
    title, _, rest = text.partition("\n")
    return title, rest
