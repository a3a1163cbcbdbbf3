"""Pages of any kind become sanitised blocks or an error.

The first line of a case is a content type; `bookmarks` and `file` are read as files of the library.
"""

import json

import sleuth.pages.article  # noqa: F401 - urllib3 warns when it is first imported, and in a test a warning is an error
from sleuth.library.bookmarks import bookmarks, is_bookmarks
from sleuth.library.html import read_markup
from sleuth.pages import blocks, charsets
from sleuth.pages.extract import extract
from sleuth.pages.fetch import received
from sleuth.pages.page import from_json, to_page
from sleuth_providers.base import Response
from sleuth_providers.errors import ProviderError

HTML = '<html><head><meta charset="{charset}"><title>{words}</title></head><body><p>{words}</p></body></html>'
CHINESE, JAPANESE = "语言的一是不了在人有我他这中大来上个国" * 3, "これは日本語の文章です。" * 3
SEEDS = [  # what is not UTF-8; the others are kept as files
    b"text/html; charset=gb2312\n" + HTML.format(charset="gbk", words=CHINESE).encode("gbk"),
    b"text/html\n" + HTML.format(charset="x-sjis", words=JAPANESE).encode("cp932"),
    b"text/plain\n" + JAPANESE.encode("euc_jp"),
    b"text/plain\n" + "Привет, мир. Это русский текст.".encode("cp1251"),
    b"text/plain\n" + "a text".encode("utf-16"),
]
WORDS = (
    "<p> ¦ </p> ¦ <div> ¦ </div> ¦ <article> ¦ <table> ¦ <tr><td> ¦ <ul><li> ¦ </li></ul> ¦ <h2> ¦ <pre> ¦ "
    "<br> ¦ <script> ¦ </script> ¦ <style> ¦ <noscript> ¦ <title> ¦ <meta charset= ¦ <html lang= ¦ "
    "<a href=x> ¦ <b> ¦ <select> ¦ text/html\n ¦ application/pdf\n ¦ charset=utf-16 ¦ charset=hz ¦ "
    "iso-2022-jp ¦ \x1b$B ¦ ~{ ¦ <time datetime= ¦ #  ¦ -  ¦ 1.  ¦ >  ¦ | a | b |\n ¦ ```\n ¦ ** ¦ ~~ ¦ ]( ¦ "
    "![ ¦ <!-- ¦ \t ¦ \n\n ¦ <DL> ¦ <DT><A HREF= ¦ <DD>"
)
ROUNDS = 120
LARGE = 150_000  # bytes: a page is read, cut, written and kept here, several times over


def check(data: bytes) -> None:
    """Read a body as its type says."""
    head, _, body = data.partition(b"\n")
    kind = head.decode("latin-1")
    if kind in ("bookmarks", "file"):
        _check_file(charsets.decode(body, markup=True))
        return
    assert type(charsets.decode(body, kind.rpartition("=")[2])) is str
    try:
        content = extract(received(Response(200, {"content-type": kind}, body), "https://a.example/x"))
    except ProviderError:
        return
    assert content.blocks
    for one in content.blocks:
        assert one.kind in blocks.KINDS
        assert_clean(one.text, "\n\t" if one.kind == "table" else "\n")
    for label in content[:4]:
        assert_clean(label, "")
    again = from_json(json.loads(json.dumps(content._asdict())))
    assert [one.text for one in again.blocks] == [one.text for one in content.blocks], "the cache changes nothing"
    for limit in (10, 100, 1000):
        page = to_page("https://a.example/", content, limit)
        assert len(page.markdown) <= limit + 10 or page.markdown.startswith("```"), "the limit holds"
        assert_clean(page.markdown, "\n")
        assert_clean(page.text, "\n\t")


def _check_file(markup: str) -> None:
    document = read_markup(markup)
    assert all(type(part) is str for part in document[:4])
    is_bookmarks(markup)
    for page in bookmarks(markup, 0.0):
        assert page.url.lower().startswith(("http://", "https://"))
        assert_clean(page.title, "")
        assert_clean(page.text, "\n")


def assert_clean(text: str, allowed: str) -> None:
    """Fail if a text has control characters."""
    assert all(sign.isprintable() or sign in allowed or sign in "\u200c\u200d" for sign in text), "harmless"
