"""Files and folders become documents, in any encoding and however broken."""

import os
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from sleuth.base.errors import RequestError
from sleuth.library import files
from sleuth.library.library import Document
from sleuth.pages import pdf
from sleuth.pages.charsets import decode, guess

PAPER = Path(__file__).parents[2] / "fixtures" / "files" / "paper.pdf"
CHINESE = "在SearXNG里启用JSON：打开settings.yml，把json加到formats列表里，然后重启容器，这样程序就能读到结果了。"
TRADITIONAL = "在設定檔裡啟用JSON格式，然後重新啟動容器，這樣程式就可以讀取搜尋結果了。"
JAPANESE = "検索エンジンの設定ファイルを編集して、JSON形式を有効にします。"
KOREAN = "검색 엔진의 설정 파일을 편집하여 JSON 형식을 사용하도록 합니다."
FRENCH = "Le café était déjà fermé à l’arrivée des élèves."
LEGACY = [
    ("utf-8", CHINESE),
    ("utf-8-sig", CHINESE),
    ("utf-16", CHINESE),
    ("utf-32", KOREAN),
    ("gb18030", CHINESE),
    ("shift_jis", JAPANESE),
    ("euc_jp", JAPANESE),
    ("euc_kr", KOREAN),
    ("big5", TRADITIONAL),
    ("cp1252", FRENCH),
    ("latin-1", "Größe, Länge, Übermut: alles schön."),
    ("gb18030", "数据库配置"),
]
BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file. -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE><H1>Bookmarks</H1>
<DL><p>
    <DT><H3 ADD_DATE="1600000000">开发 &amp; Tools</H3>
    <DL><p>
        <DT><A HREF="https://docs.searxng.org/admin/?a=1&amp;b=2" ADD_DATE="1700000000"
            ICON="data:image/png;base64,AAAA">SearXNG &lt;admin&gt;</A>
        <DD>How to run it
        <DT><A HREF="javascript:alert(1)">a bookmarklet</A>
        <DD>its note belongs to nobody
        <DT><H3>Rust</H3>
        <DL><p><DT><A HREF="https://www.rust-lang.org/">Rust</A></DL><p>
    </DL><p>
    <DT><A HREF="https://example.org/top"></A>
    <DT><A HREF="https://www.rust-lang.org/">Rust again</A>
</DL>
"""


def read(*paths: Path) -> tuple[list[Document], dict[str, str]]:
    """Return the documents of files, and what was skipped and why."""
    skipped: dict[str, str] = {}
    pages = list(files.read(map(str, paths), on_skip=lambda path, why: skipped.update({os.path.basename(path): why})))
    return pages, skipped


def read_one(path: Path, data: bytes | str) -> Document:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    pages, skipped = read(path)
    assert not skipped
    assert len(pages) == 1
    return pages[0]


@pytest.mark.parametrize(("encoding", "text"), LEGACY)
def test_text_is_read_in_its_encoding(tmp_path: Path, encoding: str, text: str) -> None:
    assert read_one(tmp_path / "note.txt", text.encode(encoding)).text == text


def test_long_text_is_guessed_although_a_sample_cuts_a_character(tmp_path: Path) -> None:
    for lead in ("", "a"):
        text = lead + CHINESE * 3_000
        assert decode(text.encode("gb18030")) == text


def test_broken_utf8_stays_utf8() -> None:
    data = CHINESE.encode() * 20 + b"\xff" + CHINESE.encode()
    assert guess(data) == "utf-8"
    assert decode(data).count("\ufffd") == 1


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<meta charset="gb2312">', "gb18030"),
        ("<META http-equiv='Content-Type' content='text/html; charset=Shift_JIS'>", "cp932"),
        ('<?xml version="1.0" encoding="EUC-KR"?>', "cp949"),
        ('<meta charset="utf-8">', "utf-8"),
        ('<meta charset="iso-8859-1">', "utf-8"),  # declared, but not valid
        ('<meta charset="utf-16">', "utf-8"),
        ('<meta charset="no-such-thing">', "utf-8"),
    ],
)
def test_declared_charset_is_used_if_the_bytes_are_valid_in_it(tmp_path: Path, declaration: str, encoding: str) -> None:
    text = {"gb18030": CHINESE, "cp932": JAPANESE, "cp949": KOREAN, "utf-8": CHINESE}[encoding]
    page = read_one(tmp_path / "page.html", f"{declaration}<title>T</title><p>{text}</p>".encode(encoding))
    assert page.text == text


def test_html_becomes_title_and_readable_text(tmp_path: Path) -> None:
    page = read_one(
        tmp_path / "page.html",
        """<!doctype html><html lang="zh-CN"><head><title> A &amp; B
        </title><meta property="article:published_time" content="2026-03-04T05:06:07Z">
        <style>p { color: red }</style></head><body><nav>Home | About</nav>
        <script>if (a < b) document.write("<p>no</p>")</script>
        <main><h1>Heading</h1><p>启<b>用</b>JSON in <i>one</i>line.<p>Next&nbsp;paragraph<br>and line.
        <ul><li>first<li>second</ul><form><table><tr><td>cell</td><td>other</td></tr></table></form></main>
        <footer><nav>deep</nav>Copyright</footer></body></html>""",
    )
    assert page.title == "A & B"
    assert page.lang == "zh-CN"
    assert page.published == "2026-03-04"
    assert page.kind == "html"
    words = " ".join(page.text.split())
    assert words == "Heading 启用JSON in oneline. Next paragraph and line. first second cell other"
    assert "启用JSON in oneline.\n" in page.text


SENTENCE = "The walrus and the carpenter were walking close at hand, and wept to see such quantities of sand. "
MENU = "<div class=sidebar><ul><li><a href=/>Home</a><li><a href=/a>About us</a><li><a href=/b>Imprint</a></ul></div>"


def test_article_without_markup_is_found(tmp_path: Path) -> None:
    body = f"<div>{''.join(f'<p>{number}. {SENTENCE * 3}</p>' for number in range(4))}</div>"
    page = read_one(tmp_path / "page.html", f"<html lang=en><title>T</title><body>{MENU}{body}{MENU}</body></html>")
    assert page.text.count("walrus") == 12
    assert "Imprint" not in page.text
    assert (page.title, page.lang) == ("T", "en")


def test_page_without_an_article_is_kept_whole(tmp_path: Path) -> None:
    rows = "".join(f"<dt>function_{number}<dd>does the thing of number {number}" for number in range(100))
    names = "".join(f"<li><a href=#{number}>index_{number}</a>" for number in range(100))
    page = read_one(tmp_path / "page.html", f"<title>Reference</title><ul>{names}</ul><dl>{rows}</dl>")
    assert all(f"function_{number}" in page.text and f"index_{number}" in page.text for number in range(100))
    assert "walrus" in read_one(tmp_path / "short.html", f"{MENU}<p>A walrus.").text


def test_long_manual_is_kept_whole(tmp_path: Path) -> None:
    parts = "".join(f"<p>word{number} {SENTENCE}</p>" for number in range(3_000))
    page = read_one(tmp_path / "page.html", f"<title>Manual</title>{parts}")
    assert all(f"word{number} " in page.text for number in range(3_000))


def test_pdf_comes_with_title_author_and_date(tmp_path: Path) -> None:
    for name in ("paper.pdf", "paper"):
        page = read_one(tmp_path / name, PAPER.read_bytes())
        assert (page.title, page.kind, page.published) == ("On walruses", "pdf", "2025-02-03")
        assert page.text.startswith(
            "Lewis Dodgson\n\nThe walrus and the carpenter were walking close at hand, and they"
        )


def test_unreadable_pdf_is_skipped_with_the_reason(tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=PdfReader(PAPER))
    writer.encrypt("word", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    PdfWriter().write(tmp_path / "pictures.pdf")
    (tmp_path / "broken.pdf").write_bytes(PAPER.read_bytes()[:200])
    (tmp_path / "other.pdf").write_bytes(b"\0\1\2 no such thing")
    pages, skipped = read(tmp_path)
    assert pages == []
    assert skipped == {
        "locked.pdf": "the PDF is password-protected",
        "pictures.pdf": "the PDF contains no text, probably scanned images",
        "broken.pdf": "the PDF is damaged",
        "other.pdf": "the PDF is damaged",
    }
    for name, reason in skipped.items():
        assert files.file_page((tmp_path / name).as_uri()).problem == reason


def test_pdf_is_read_in_a_worker_until_its_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object) -> None:
        raise AssertionError("a hostile file would stop this process")

    monkeypatch.setattr(pdf, "from_pdf", crash)
    (tmp_path / "paper.pdf").write_bytes(PAPER.read_bytes())
    assert read(tmp_path)[1] == {}
    monkeypatch.setattr(files, "PDF_TIMEOUT_S", -60.0)
    assert read(tmp_path) == ([], {"paper.pdf": "reading it took too long"})


def test_markdown_title_is_its_first_heading(tmp_path: Path) -> None:
    page = read_one(
        tmp_path / "note.md",
        '```sh\n# no heading\n```\n\n# The **walrus** and `others` #\n\nSee [the book](book.md "t") and [this](a.md).\n'
        "\n| a | b |\n|---|---|\n| 1 | x \\| y |\n\n> quoted\n- item\n",
    )
    assert page.title == "The walrus and others"
    assert "# no heading" in page.text
    assert "and this." in page.text
    assert "1 | x | y" in page.text
    assert "---" not in page.text
    assert page.kind == "markdown"


def test_front_matter_is_metadata_not_text(tmp_path: Path) -> None:
    page = read_one(
        tmp_path / "post.md", '---\ntitle: "A post"\ndate: 2025-12-24 10:00\ntags: [a]\n---\n\n# Other\n\nText.\n'
    )
    assert page.title == "A post"
    assert page.published == "2025-12-24"
    assert "tags" not in page.text


def test_without_a_title_the_heading_or_the_file_name_is_used(tmp_path: Path) -> None:
    assert read_one(tmp_path / "guide.rst", "=====\nGuide\n=====\n\nText.").title == "Guide"
    assert read_one(tmp_path / "to do.txt", "milk\neggs").title == "to do"
    assert read_one(tmp_path / "plain.md", "no heading here").title == "plain"
    assert read_one(tmp_path / "bare.html", "<p>no title").title == "bare"
    assert read_one(tmp_path / "h.html", "<h1>From the page</h1><p>x").title == "From the page"


def test_document_has_url_folder_and_date(tmp_path: Path) -> None:
    folder = tmp_path / "my notes"
    folder.mkdir()
    path = folder / "会议 #1.txt"
    path.write_text("walrus")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    (page,), _ = read(path)
    assert page.url == path.as_uri()
    assert page.site == "my notes"
    assert page.modified == 1_700_000_000
    assert page.size == 6
    assert page.published == "2023-11-14"
    assert page.source == "file"


def test_bookmarks_become_documents(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.html"
    path.write_text(BOOKMARKS)
    pages, skipped = read(path)
    assert not skipped
    assert [page.url for page in pages] == [
        "https://docs.searxng.org/admin/?a=1&b=2",
        "https://www.rust-lang.org/",
        "https://example.org/top",
    ]
    first, rust, bare = pages
    assert first.title == "SearXNG <admin>"
    assert first.text.startswith("How to run it\n开发 & Tools\n")
    assert "docs.searxng.org" in first.text
    assert first.modified == 1_700_000_000
    assert first.site == "docs.searxng.org"
    assert "Tools / Rust" in rust.text
    assert rust.title == "Rust"
    assert bare.title == "example.org"
    assert {page.source for page in pages} == {"bookmark"}


def test_folders_are_read_recursively(tmp_path: Path) -> None:
    for name in ("a.md", "sub/b.txt", "sub/deeper/c.HTML", ".hidden/d.md", ".e.md", "sub/f.py", "sub/g.png"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text of {name}")
    pages, skipped = read(tmp_path)
    assert [os.path.basename(page.url) for page in pages] == ["a.md", "b.txt", "c.HTML"]
    assert set(skipped) == {"f.py", "g.png"}


def test_circular_symbolic_links_are_followed_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.md").write_text("walrus")
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere.md")
    pages, skipped = read(tmp_path)
    assert [os.path.basename(page.url) for page in pages] == ["a.md"]
    assert "gone.md" in skipped


def test_unreadable_files_are_skipped_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "binary.txt").write_bytes(b"\x7fELF\0\0\0\1")
    (tmp_path / "empty.md").write_text("")
    (tmp_path / "blank.html").write_text("<html><body><script>x()</script></body></html>")
    with open(tmp_path / "huge.txt", "wb") as stream:
        stream.truncate(files.MAX_FILE_BYTES + 1)
    os.mkfifo(tmp_path / "pipe.txt")
    pages, skipped = read(tmp_path)
    assert pages == []
    assert skipped == {
        "binary.txt": "not text",
        "empty.md": "no text in it",
        "blank.html": "no text in it",
        "huge.txt": "larger than 20 MB",
        "pipe.txt": "not a regular file",
    }


def test_named_file_of_unknown_type_is_read_as_text(tmp_path: Path) -> None:
    assert read_one(tmp_path / "README", "walrus").title == "README"


def test_known_files_are_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("walrus")
    state = path.stat()
    checked: list[tuple[str, float, int]] = []

    def is_known(*facts: object) -> bool:
        checked.append(facts)  # type: ignore[arg-type]
        path.unlink()
        return True

    assert list(files.read([str(tmp_path)], is_known=is_known)) == []
    assert checked == [(path.as_uri(), state.st_mtime, 6)]


def test_missing_path_raises_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="no such file or folder"):
        files.check([str(tmp_path), str(tmp_path / "nothing")])


def test_file_name_that_is_not_utf8_is_read(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    with open(path, "wb") as stream:
        stream.write(b"walrus")
    (page,), _ = read(tmp_path)
    assert page.url.endswith("caf%E9.txt")
    page.title.encode()


@pytest.mark.parametrize(
    "data",
    [
        "\x1b[31mred\x1b[0m \x07\x08walrus\x9b",
        "walrus " + "x" * 3_000_000,
        "<" * 300_000 + "walrus",
        "<p>walrus" + "<div>" * 100_000,
        "<p>walrus" + "<b><i>" * 50_000,
        "<p>walrus</p><script>" + "<script " * 200_000,
        "<p>walrus<select>" + "<option>" * 50_000,
        "<p>walrus<div " + " ".join(f"a{number}=1" for number in range(50_000)) + ">",
        "<p>walrus" + "<!--" * 100_000,
        "<p>walrus" + "&amp;" * 100_000,
        "<!DOCTYPE NETSCAPE-Bookmark-file-1><A HREF='http://x/'>walrus" + "<A " * 300_000 + "<DL>" * 100_000,
        "[" * 300_000 + "walrus",
        "walrus" + "[a](" * 100_000,
        "walrus <!--" * 10_000,
        "```\n" * 100_000 + "walrus",
        "---\n" * 100_000 + "walrus",
        "|" * 300_000 + "walrus",
        "# " * 300_000 + "walrus",
        "walrus\r\r\r\n\n\n\f\v \t " * 10_000,
    ],
    ids=lambda data: ascii(data[:20]),
)
@pytest.mark.cpu_limit(20)
@pytest.mark.parametrize("suffix", [".html", ".md", ".rst", ".txt"])
def test_hostile_files_become_bounded_text_without_control_characters(tmp_path: Path, suffix: str, data: str) -> None:
    path = tmp_path / f"hostile{suffix}"
    path.write_text(data)
    pages, _ = read(path)
    for page in pages:
        assert len(page.text) <= files.MAX_TEXT_CHARS
        assert len(page.title) <= 300
        assert not {character for character in page.title + page.text if character < " " and character != "\n"}
        assert "\x9b" not in page.text


PROGRAM = "def walrus():\n    for i in range(3):\n        print(i)"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", f"# Notes\n\nA program:\n\n```python\n{PROGRAM}\n```\n"),
        ("a.txt", f"A program:\n\n{PROGRAM}\n"),
        ("a.html", f"<article><p>{SENTENCE * 4}</p><pre>{PROGRAM}</pre><p>{SENTENCE * 4}</p></article>"),
    ],
)
def test_code_keeps_its_indentation(tmp_path: Path, name: str, text: str) -> None:
    assert PROGRAM in read_one(tmp_path / name, text).text


@pytest.mark.parametrize(
    ("markdown", "text"),
    [
        ("**bold** and `code`", "bold and `code`"),
        ("~~~\ncode | pipe `x`\n    more\n~~~", "code | pipe `x`\n    more"),
        ("<!-- hidden\n\nlines -->shown", "shown"),
        ("a\n\n---\nb", "a\n\nb"),
        ("![picture](a.png)", "picture"),
        ("<details>\n<summary>More</summary>\n\n*text*\n\n</details>", "More\n\ntext"),
        ("see [the docs][1]\n\n[1]: https://example.org", "see the docs"),
        ("<script>\nvar x\n\ny\n</script>\nafter", "after"),
    ],
)
def test_markdown_becomes_plain_text(tmp_path: Path, markdown: str, text: str) -> None:
    assert read_one(tmp_path / "note.md", markdown).text == text
