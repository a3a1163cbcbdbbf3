"""What a page says comes out right: main text only, any charset, any kind, however it is built."""

import contextlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sleuth.pages.article import from_html
from sleuth.pages.blocks import as_markdown, as_text
from sleuth.pages.errors import EmptyPageError
from sleuth.pages.extract import extract
from sleuth.pages.fetch import received
from sleuth_providers.base import Response

URL = "https://example.org/page"
FULL = """<!DOCTYPE html><html lang="de_ch"><head><title>Der Titel | Zeitung</title>
<meta name="author" content="Anna Muster"><meta property="article:published_time" content="2026-03-04T10:00:00Z"></head>
<body><header><a href="/">Start</a> <a href="/politik">Politik</a></header><nav><ul><li><a href="/1">Eins</a></ul></nav>
<article><h1>Der Titel</h1>
<p>Ein erster Absatz mit <a href="https://x.example">einem Link</a>, <b>fett</b> und <code>inline_code()</code>,
lang genug.</p>
<img src="https://x.example/pixel.png" alt="ein Bild">
<h2>Zwischentitel</h2>
<ul><li>Erster Punkt der Liste<ul><li>Innerer Punkt der Liste</li></ul></li><li>Zweiter Punkt der Liste</li></ul>
<pre><code>def f(x):
    if x:
        return {"a": 1}
</code></pre>
<blockquote><p>Ein Zitat von jemandem, der etwas zu sagen hatte.</p></blockquote>
<table><tr><th>Jahr</th><th>Wert</th></tr><tr><td>2025</td><td>12</td></tr><tr><td>2026</td><td>13</td></tr></table>
<p>Zeile eins<br>Zeile zwei, und noch mehr Text, damit der Absatz lang genug ist.</p></article>
<aside>Werbung</aside><footer>Impressum und Datenschutz</footer></body></html>"""


def read(body: str | bytes, content_type: str = "text/html; charset=utf-8", url: str = URL) -> Any:
    data = body.encode() if isinstance(body, str) else body
    return extract(received(Response(200, {"content-type": content_type}, data, url), url))


def text_of(body: str | bytes, content_type: str = "text/html; charset=utf-8", url: str = URL) -> str:
    return as_text(read(body, content_type, url).blocks)


def test_the_main_text_keeps_its_structure_and_loses_menus() -> None:
    content = read(FULL)
    assert content[:4] == ("Der Titel", "Anna Muster", "2026-03-04", "de-CH")
    assert as_markdown(content.blocks) == (
        "Ein erster Absatz mit einem Link, fett und `inline_code()`, lang genug.\n\n## Zwischentitel\n\n"
        "- Erster Punkt der Liste\n   - Innerer Punkt der Liste\n- Zweiter Punkt der Liste\n\n"
        '```\ndef f(x):\n    if x:\n        return {"a": 1}\n```\n\n'
        "> Ein Zitat von jemandem, der etwas zu sagen hatte.\n\n"
        "| Jahr | Wert |\n| --- | --- |\n| 2025 | 12 |\n| 2026 | 13 |\n\n"
        "Zeile eins\nZeile zwei, und noch mehr Text, damit der Absatz lang genug ist."
    )


LEGACY = {
    "gb18030": ("gb2312", "国家统计局今天公布了最新的经济数据，专家认为今年的经济增长仍然面临不少挑战。", "zh"),
    "big5": ("big5", "台北市政府今天上午公布了最新的經濟數據，專家認為今年的經濟成長仍然面臨不少挑戰。", "zh"),
    "cp932": (
        "Shift_JIS",
        "東京都は今日、最新の経済データを発表しました。専門家は経済成長は続くと述べています。",
        "ja",
    ),
    "euc_jp": ("EUC-JP", "東京都は今日、最新の経済データを発表しました。専門家は経済成長は続くと述べています。", "ja"),
    "cp949": (
        "EUC-KR",
        "서울시는 오늘 최신 경제 자료를 발표했습니다. 전문가들은 경제 성장이 계속된다고 말합니다.",
        "ko",
    ),
    "cp1251": (
        "windows-1251",
        "Сегодня состоялось заседание правительства, на котором обсуждались вопросы экономики.",
        "ru",
    ),
}


@pytest.mark.parametrize("said", ["header", "meta", "nowhere", "wrongly"])
@pytest.mark.parametrize("codec", LEGACY)
def test_a_page_in_an_old_charset_comes_out_right(codec: str, said: str, make_article: Callable[..., str]) -> None:
    label, text, language = LEGACY[codec]
    page = make_article(text[:12], text, "", label if said == "meta" else "")
    content_type = {"header": f"text/html; charset={label}", "wrongly": "text/html; charset=iso-8859-1"}.get(
        said, "text/html"
    )
    content = read(page.encode(codec), content_type)
    assert as_text(content.blocks).count(text) == 7
    assert (content.title, content.language) == (text[:12], language)


@pytest.mark.parametrize(
    "page",
    [
        "",
        "   \n",
        "<html></html>",
        "<html><body><div id=root></div><script src=/app.js></script></body></html>",
        "<html><head><title>App</title></head><body><noscript>You need to enable JavaScript to run this app.</noscript>"
        "<div id=root></div><script>var x = 1;</script></body></html>",
        "<html><body><div id=app>Loading…</div><script src=a.js></script></body></html>",
        "<html><body><p>Please turn on JavaScript in your browser to see it.</p><script>1</script></body></html>",
        "<html><body><p>本站需要启用 JavaScript 才能浏览</p><script>1</script></body></html>",
        "<!-- nothing -->",
        "<html><body><script>" + "var data = 'many words that nobody shows';" * 500 + "</script></body></html>",
    ],
)
def test_a_page_without_text_is_empty(page: str) -> None:
    with pytest.raises(EmptyPageError):
        read(page)


def test_a_short_page_without_scripts_is_a_page() -> None:
    assert text_of("<html><head><title>T</title></head><body><h1>It works!</h1></body></html>") == "It works!"


def test_the_text_in_structured_data_is_used_if_the_page_is_a_shell() -> None:
    body = "The article as its publisher gives it to search engines, sentence after sentence. " * 5
    data = json.dumps({"@context": "https://schema.org", "@type": "NewsArticle", "articleBody": body})
    script = f'<script type="application/ld+json">{data}</script>'
    page = f'<html><head>{script}</head><body><div id="root"></div></body></html>'
    assert text_of(page) == body.strip()


def test_the_noscript_text_is_used_if_it_is_long() -> None:
    words = "A whole article for readers without scripts, and it goes on for a while. " * 6
    page = f"<html><body><div id=root></div><script>1</script><noscript><p>{words}</p></noscript></body></html>"
    assert words.strip() in text_of(page)


def test_paragraphs_are_used_if_trafilatura_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("sleuth.pages.article.bare_extraction", fail)
    text = text_of(FULL)
    assert "Ein erster Absatz mit einem Link, fett und inline_code(), lang genug." in text
    assert "Zwischentitel" in text
    assert "Impressum" not in text
    assert read(FULL).title == "Der Titel | Zeitung"


def test_plain_text_keeps_its_paragraphs_and_a_first_line_for_title() -> None:
    content = read("First line here\nand a second\n\nAnother paragraph.\n", "text/plain")
    assert (content.title, as_text(content.blocks)) == (
        "First line here",
        "First line here\nand a second\n\nAnother paragraph.",
    )


def test_markdown_keeps_its_structure_and_its_title() -> None:
    source = (
        "# A guide\n\nSee [this](https://x.example).\n\n- one\n\n3. three\n   - inner\n4. go to 3\n\n```py\nx\n```\n"
    )
    content = read(source, "text/markdown")
    assert (content.title, as_markdown(content.blocks)) == (
        "A guide",
        "# A guide\n\nSee this (https://x.example).\n\n- one\n3. three\n   - inner\n4. go to 3\n\n```py\nx\n```",
    )
    assert "See this.\n\n- one\n3. three" in as_text(content.blocks), "what is ranked and quoted has no URLs"


def test_signs_written_as_escapes_begin_no_tag() -> None:
    page = read("Returns List&lt;String&gt; or Map\\<K, V\\>, <b>bold</b>: `<b>`.", "text/markdown")
    assert as_text(page.blocks) == "Returns List<String> or Map<K, V>, bold: `<b>`."


def test_front_matter_of_markdown_is_metadata() -> None:
    content = read("---\ntitle: Front\ndate: 2026-01-02\n---\n# Head\n\nText\n", "text/markdown")
    assert (content.title, content.published, as_markdown(content.blocks)) == ("Front", "2026-01-02", "# Head\n\nText")


@pytest.mark.parametrize(("start", "items"), [("", "1. {}\n2. {}"), (' start="4"', "- {}\n- {}")])
def test_ordered_lists_keep_numbers_that_are_known(start: str, items: str) -> None:
    texts = ("Download the archive and unpack it.", "If that fails, go back to step one.")
    paragraph = f"<p>{'This is a long text about things that matter to readers. ' * 8}</p>"
    found = "".join(f"<li>{text}</li>" for text in texts)
    content = read(f"<html><body><article>{paragraph}<ol{start}>{found}</ol>{paragraph}</article></body></html>")
    assert f"\n\n{items.format(*texts)}\n\n" in as_markdown(content.blocks)


def test_json_is_indented() -> None:
    assert as_markdown(read('{"a":[1,"ü"]}', "application/json").blocks) == (
        '```\n{\n  "a": [\n    1,\n    "ü"\n  ]\n}\n```'
    )


@pytest.mark.parametrize("body", ["{broken", "[" * 5000])
def test_invalid_json_is_shown_as_it_is(body: str) -> None:
    assert text_of(body, "application/json") == body


def test_json_on_one_long_line_is_truncated() -> None:
    text = text_of('"' + "x" * 1_200_000, "application/json")
    assert text.startswith('"xxx')
    assert 999_000 < len(text) <= 1_000_000


@pytest.mark.parametrize(
    ("content_type", "body"),
    [("text/plain", ""), ("application/json", "  "), ("text/x-c", "\n"), ("text/markdown", "")],
)
def test_a_file_without_text_is_empty(content_type: str, body: str) -> None:
    with pytest.raises(EmptyPageError):
        read(body, content_type)


def test_control_characters_are_removed_and_markup_is_escaped() -> None:
    text = "red \x1b[31m alert \u202e reversed, ![x](http://e.example/p) &lt;img src=x&gt; and so on."
    markdown = as_markdown(read(f"<html><body><article><p>{text}</p></article></body></html>").blocks)
    assert markdown == "red [31m alert reversed, ![x]\\(http://e.example/p) \\<img src=x> and so on."


HOSTILE = {
    "deep": "<html><body>" + "<div>" * 200_000 + "text",
    "bold": "<html><body>" + "<b>x" * 200_000,
    "paragraphs": "<html><body>" + "<p>some words here" * 300_000,
    "breaks": "<html><body><p>" + "x<br>" * 500_000,
    "links": "<html><body>" + '<p><a href="x">some words</a> here' * 100_000,
    "rows": "<html><body><table>" + "<tr><td>a<td>b" * 200_000,
    "tables": "<html><body>" + "<table><tr><td>x" * 100_000,
    "attributes": "<html><body><p " + 'a="b" ' * 500_000 + ">hello",
    "one line": "<html><body><p>" + "word " * 1_500_000,
    "brackets": "<" * 2_000_000,
    "entities": "<html><body><p>" + "&amp;" * 500_000,
    "nested JSON": '<html><script type="application/ld+json">' + "[" * 1_000_000 + "</script><p>hello",
    "zeros": "<html><body><p>a\0b" + "\0" * 100_000,
}


@pytest.mark.slow
@pytest.mark.cpu_limit(60)
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_markup_takes_linear_time(name: str) -> None:
    with contextlib.suppress(EmptyPageError):
        from_html(HOSTILE[name])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "<div>",
                "</div>",
                "<li>",
                "<td>",
                "text ",
                "<br>",
                "<h2>",
                "<pre>",
                "<code>",
                "\n",
                "&#0;",
                "<a href=x>",
                "<script>",
                "<",
                ">",
                "&",
                "你好",
                "<blockquote>",
            ]
        ),
        max_size=60,
    )
)
def test_any_markup_gives_text_or_an_empty_page(parts: list[str]) -> None:
    try:
        content = from_html("".join(parts))
    except EmptyPageError:
        return
    assert as_text(content.blocks)
