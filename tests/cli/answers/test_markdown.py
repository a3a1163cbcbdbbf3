"""Markdown from a model is safe in any viewer."""

import re
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from tests.viewers import HOSTILE, PICTURE, links

from sleuth.answers import markdown
from sleuth.answers.markdown import SafeLines, SafeStream, as_plain, safe_markdown
from sleuth.answers.sanitize import without_fences

LINKS = {1: "https://tokio.rs/a", 3: "https://x.org/3&lt;x%7Cy"}


def streamed(*pieces: str) -> str:
    written: list[str] = []
    stream = SafeStream(written.append)
    for piece in pieces:
        stream.add(piece)
    stream.close()
    return "".join(written)


PIECES = st.sampled_from(
    [
        *(
            "[",
            "]",
            "(",
            ")",
            "<",
            ">",
            "!",
            "`",
            "``",
            "```\n",
            "\n",
            "\n\n",
            " ",
            "    ",
            "- ",
            "> ",
            "1. ",
            "\\",
            "a",
        ),
        *("&lt;", "*", "_", "~~", "?", "#", "\t", "'", '"', "|", "|-|\n", "http://x.com", "javascript:alert(1)", "://"),
        *("[1]", "[[1]](https://tokio.rs/a)", "[[1]](", "![i](", "[l]: ", "<https://a.b>", "<b>", "</b>", "<!--"),
        *("-->", "<div", "<script>", "</script>", "<img src=x>", "<?", "<!x ", "[[3]](https://evil.com)"),
    ]
)


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
@example("- ```\n<b>")
@example("\t* ```\n")
@example("[1]: https://evil.com\n\nsee [1]")
@example("<div onload=x\n\n![a][1]\n\n[1]: http://x.com/i.png")
def test_viewers_find_only_text_and_links_to_sources(text: str) -> None:
    safe = safe_markdown(text, LINKS)
    assert {target for _, target in links(safe)} <= set(LINKS.values())
    assert safe_markdown(safe, LINKS) == safe


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("A [[1]](https://tokio.rs/a) b.", "A [[1]](https://tokio.rs/a) b."),
        ("[[3]](https://x.org/3&amp;lt;x%7Cy)", "[[3]](https://x.org/3&amp;lt;x%7Cy)"),
        ("[[1]](https://evil.com)", "[1] (`evil.com`)"),
        ("[x](javascript:alert(1))", "x"),
        ("![p](http://t.co/p.png)", "p (`t.co`)"),
        ("![p](https://tokio.rs/a)", "p (`tokio.rs`)"),
        ("[the docs](https://tokio.rs/a) and ![](x)", "[the docs](https://tokio.rs/a) and "),
        ("Vec<String> and a < b", "Vec&lt;String> and a < b"),
        ("`Vec<T>`\n\n```\n<b>\n```\n", "`Vec<T>`\n\n```\n<b>\n```\n"),
        ("[docs](https://a.org/b_(c))", "docs (`a.org`)"),
        ("See https://a.org/<img src=x> now.", "See `https://a.org/`&lt;img src=x> now."),
        ("www.a.org/<img src=x>", "`www.a.org/`&lt;img src=x>"),
        (
            "Read https://a.org/b_(c), (www.a.org) or <https://a.org>.",
            "Read `https://a.org/b_(c)`, (`www.a.org`) or `https://a.org`.",
        ),
        ("参见https://a.org/b。它很小", "参见`https://a.org/b`。它很小"),
        ("https://tokio.rs/a and <https://tokio.rs/a>", "<https://tokio.rs/a> and <https://tokio.rs/a>"),
        ("[https://tokio.rs/a](https://tokio.rs/a)", "[https://tokio.rs/a](https://tokio.rs/a)"),
        ("[`spawn`](https://a.org/b) is fast", "`spawn` (`a.org`) is fast"),
        ("`https://a.org` node.js a@b.org", "`https://a.org` node.js a@b.org"),
        ("evil.com/?d=secret, `a.de/x` or (a.b.com:80/c).", "`evil.com/?d=secret`, `a.de/x` or (`a.b.com:80/c`)."),
        ("参见a.org/b。_a.org/b_ or é.com/x, a+.b.com/x", "参见`a.org/b`。_`a.org/b`_ or é`.com/x`, a+`.b.com/x`"),
        ("$a=b.de/c $", "\\$a=`b.de/c` \\$"),
        ("in $x$ `$y` `b.de/c`", "in $x$ `$y` 'b .de/c'"),
        ("[a](https://c|d.com/x) and [b](b.com/?q)", "a (`c%7Cd.com`) and [b] (`b.com/?q`)"),
        ("[https://www.paypal.com/signin](https://pal.com/x)", "`https://www.paypal.com/signin` (`pal.com`)"),
        ("plain *text*\n\n- list\n\n| a |\n|---|\n| b |\n", "plain *text*\n\n- list\n\n| a |\n|---|\n| b |\n"),
    ],
)
def test_only_dangerous_parts_are_changed(text: str, safe: str) -> None:
    assert safe_markdown(text, LINKS) == safe


@pytest.mark.parametrize("text", HOSTILE)
def test_no_reading_of_lists_tables_and_code_makes_a_link(text: str) -> None:
    for safe in (safe_markdown(text, {}), *(streamed(*re.findall(f"(?s).{{1,{n}}}", text)) for n in (1, 3, 7, 20))):
        assert links(safe) == []


@pytest.mark.parametrize(
    "text",
    [
        "Do this:\n\n```rust\nlet a: Vec<u8> = vec![1, 2]; // ![x](https://a.org)\n```\n",
        "1. Run:\n\n   ```sh\n   curl https://sh.rustup.rs | sh\n   ```\n2. Then `cargo <command>`.\n",
        "| type | code |\n|---|---|\n| `Vec<T>` | `vec![1, 2]` |\n- Note: `Vec<T>` grows [1]\n",
        "| a |\n|---|\n| `<b>` |\n---\n\n```\n<b>\n```\n",
        "| a |\n|---|\n| `<b>` |\n\n```\n<b>\n```\n",
        "| a |\n|---|\n| [[1]](https://tokio.rs/a) |\n\n7. seven `<b>`\n",
        r"`sed 's/\/usr\/bin/\/opt\/bin/'`, `/^\/api\/v1\//`, `^www\.example`, `a\:b` and $\int f(x)\:dx$",
        "As stated in [1]:\n",
        "See README.md#use, e.g. Node.js/Express, .NET/C#, a_b.py/c, src/main.rs/x, v1.2/3, a.com? x.toml or b.com.\n",
        "It takes ~5 minutes: `cd ~/src && make a[0]`, ~~not~~ `~/bin`, and `<b>`.\n",
        r"$$P \left[\frac{(1+r)^n - 1}{r}\right] (1+r)$$",
    ],
)
def test_ordinary_code_lists_and_tables_stay_as_written(text: str) -> None:
    assert safe_markdown(text, LINKS) == text
    if "](" not in text:  # links to sources, which a stream does not have yet
        assert streamed(*text) == text


def test_what_looks_like_a_link_in_a_formula_stays() -> None:
    assert safe_markdown(r"$$\left[a\right](1 + r)$$, x[0](b(c)) [d](1 ` 2)", {}) == (
        r"$\left[a\right] (1 + r)$, x[0] (b(c)) [d] (1 &#96; 2)"
    )
    for text in (r"$\mathcal{F}[f](\omega)$", r"$\left[1-x\right](1-\alpha)$", "handlers[type]({a: 1});"):
        assert safe_markdown(text, {}) == text.replace("](", "] (")
    assert safe_markdown(r"$x \in (0,1]: f(x) > 0$", {}) == r"$x \in (0,1] : f(x) > 0$"


def test_text_of_a_link_is_no_picture_without_its_backslashes() -> None:
    safe = safe_markdown(r"[!\[t\](https://evil.example/m)](https://tokio.rs/a)", LINKS)
    assert safe == r"!\[t\] (`https://evil.example/m`) (`tokio.rs`)"


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=14))
@example(["- item [1", "\n\n", "    ![x](http://evil.com/p)"])
@example(["para\n", "    ![x](http://evil.com/p)"])
@example(["a [l", "](javascript:alert(1))"])
@example(["a [1] b\n\n", "[1]: http://evil.com\n"])
@example(["http://x.com", "```\n", "<https://a.b>"])
@example(["http://x.com", "\n\n", " ", "<!x "])
@example(["words\n", "<div onload=x"])
def test_streamed_text_is_as_safe_as_the_whole(pieces: list[str]) -> None:
    assert links(streamed(*pieces)) == []


def test_a_paragraph_is_streamed_as_it_is_written() -> None:
    written: list[str] = []
    stream = SafeStream(written.append)
    for piece in ("Tokio ", "is fast [1]. ", "And ", "[small](http://evil.com).", "\n\nNext", " one", "。中文"):
        stream.add(piece)
    assert written == ["Tokio", " is fast [1].", " And", " small (`evil.com`).\n", "\n", "Next", " one。中文"]


@pytest.mark.parametrize(
    "start", ["https://a.org/", "www.a.org/", "看https://a.org/", "https://tokio.rs/a", "https://😀.org/"]
)
@pytest.mark.parametrize(
    "tag", ["<img src=x>", "`<img src=x>`", "\\<img src=x>", "&#32;<img src=x>", "\\\\<img src=x\\>"]
)
def test_no_bare_url_is_left_that_could_take_in_the_escape_of_a_tag(start: str, tag: str) -> None:
    for safe in (safe_markdown(f"See {start}{tag} now.", LINKS), streamed(*f"See {start}{tag} now.")):
        outside = re.sub(r"`[^`]+`|<https://tokio\.rs/a>", "", safe)
        assert not re.search(r"://|www\.|(?<!\\)<", outside)


def test_no_backtick_is_left_without_a_partner() -> None:  # GitHub's parser misses code spans behind it
    assert safe_markdown("`` `a` `<img src=x>` \\`b", {}) == "&#96;&#96; `a` `<img src=x>` &#96;b"


@pytest.mark.parametrize(
    "url", ["https\\://e.org", "https:\\/\\/e.org", "https\\\\://e.org", "www\\.e.org", "\\https://e.org"]
)
def test_urls_that_viewers_find_behind_escapes_are_code(url: str) -> None:
    for safe in (safe_markdown(f"See {url}/<b> now", {}), streamed(*f"See {url}/<b> now")):
        assert re.search(r"(?<!\\)(\\\\)?`(https://|www\.)e\.org/`&lt;b> now$", safe), safe


@pytest.mark.parametrize("text", ["see ww[](x)w.evil.example/p", "a /\\/evil.example/p", "//€.evil.example/p"])
def test_no_url_is_put_together_from_parts(text: str) -> None:
    for safe in (safe_markdown(text, {}), streamed(*text)):
        assert not re.search(r"www\.|//", re.sub(r"`[^`\n]+`", "", safe))


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        (f"~`{PICTURE}`", f"\\~`{PICTURE}`"),  # older versions of marked take ~` for text
        ("www.\u00a0evil.example/p and www.\u3000x", "`www.`\u00a0evil.example/p and `www.`\u3000x"),
        ("awww.t`<img src=x>`", "a`www.t` `<img src=x>`"),
        ("awww.t<img src=x>", "a`www.t`&lt;img src=x>"),
        ("\\<details>", "&lt;details>"),
        ("```Mermaid\nA\n```", "```\nA\n```"),
        ("```math\n\\href{javascript:x}{y}\n```", "```\n\\href{javascript:x}{y}\n```"),
        ("```topojson\n{}\n```", "```\n{}\n```"),
        ("x\n```\n-\n```", "x\n\n```\n-\n```"),  # a heading, in older versions of marked
        (":::a\n```\n:::\n```", "\\:\\:\\:a\n\n```\n:::\n```"),
        ("---\n```\n---\n```", "\\---\n\n```\n---\n```"),  # metadata
        (f"www.-`a {PICTURE}`", f"`www.-` `a {PICTURE}`"),
        ("2024\n```\n-\n```", "2024\n\n```\n-\n```"),
        ("x\n+\n```\n-\n```", "x\n+\n\n```\n-\n```"),
        ("Awww. Cute, ~5 of them in ~/.config", "Awww. Cute, ~5 of them in ~/.config"),
        ("Costs $5: `List<String>`, `a[i](b)`", "Costs \\$5: `List<String>`, `a[i](b)`"),
        ("Costs $5, see `$HOME`, and $x$ too", "Costs \\$5, see `$HOME`, and $x$ too"),
        ("$x$ and $i<j$, `$HOME`", "$x$ and $i< j$, `$HOME`"),
        ("It costs $5,\nsee `$HOME_*`.", "It costs \\$5,\nsee `$HOME_*`."),
        ("$$\n\n```\n<a>\n```", "\\$\\$\n\n```\n<a>\n```"),
        ("\\[ a\n```\n<a>\n```", "[ a\n\n```\n<a>\n```"),
        ("\\begin{a} `\\end{a}`", "&#92;begin{a} `\\end{a}`"),
        ("$$ x\n= 1 $$ and `a`", "$$\nx = 1\n$$\nand `a`"),
        ("1. a\n\n   $$f(x) =\n   = y$$\n\n2. b", "1. a\n\n   $$\n   f(x) = = y\n   $$\n\n2. b"),
        ("\\[\nx\n\\]\nwhere `y[i]`", "\\[ x \\]\nwhere `y[i]`"),
        ("\\[\nx<y\n\\] and `a`", "\\[ x< y \\] and `a`"),
        ("$\\color{u\\rl(https:\\2f\\2f e.org)}{x}$", "$\\color{u\\rl (https:\\ 2f\\ 2f e.org)}{x}$"),
        ("$\\href{a}{b}$ `\\href`", "$\\ href{a}{b}$ `\\href`"),
        ("in [0, 1) or\n`a[0](b)`", "in [0, 1) or\n`a[0](b)`"),
        ("in [0, 1) or $5.\n\n- $6 [7\n- `$a[0]`", "in [0, 1) or \\$5.\n\n- \\$6 [7\n- `$a[0]`"),
        ("$a `\\href{b}` c$", "\\$a `\\href{b}` c\\$"),
        ("see \\style{a} and D:\\data", "see \\ style{a} and D:\\data"),
        ("cd .\\data or ..\\style\\x, .\\href {a}", "cd .\\data or ..\\style\\x, .\\ href {a}"),
        ("C:\\style and `$x`", "C:\\style and `$x`"),
        ("| a | b |\n|---|---|\n| $1 | $2 |\n| `$x` | c |", "| a | b |\n|---|---|\n| \\$1 | \\$2 |\n| `$x` | c |"),
        ("a $\n|-|-|\n`b$`", "a \\$\n|-|-|\n`b$`"),
        ("其中$a$是，CO$_2$, the $n$th, US$5 or $6", "其中$a$是，CO$_2$, the $n$th, US\\$5 or \\$6"),
        ("$ \\sin x $ and $ 5 $", "$\\sin x$ and \\$ 5 \\$"),
        ("so $$x$$, or\n$$y$$ \nand", "so $x$, or\n$$y$$\nand"),
        ("\\begin{align}\n- a &= b % c\n\\end{align}", "$$\n\\begin{align} - a &= b \\end{align}\n$$"),
        ("> $$\n> - a\n> $$\nb", "> $$\n> {}- a\n> $$\nb"),
        ("$$\na \\$5\n$$ and $\\$5$", "$$\na \\$5\n$$\nand \\$\\$5\\$"),
        ("$$\na\n\nb\n$$", "\\$\\$\na\n\nb\n\\$\\$"),
        ("$x\\in[0,1)$ in\n`a[0](b)` and `](//e.org)`", "$x\\in[0,1)$ in\n`a[0](b)` and '] (/ /e .org)'"),
        ("With $n$, `$H` is set; open http://`h`:8 or www.", "With $n$, `$H` is set; open http: / /`h`:8 or www."),
        ("$x$ `$y` https://$H/a, ftp://`z` [1]", "$x$ `$y` https: / /%24H/a, ftp: / /`z` [1]"),
        ("$x$ `$y` https://www.www.e.org/b_c?d=1&e", "$x$ `$y` https: / /www .www .e .org/b_c?d=1& e"),
        ("$x$ `$y` `curl -L https://e.org/b_c/*/` `a_b`", "$x$ `$y` 'curl -L https: / /e .org/b_c/%2A/' `a_b`"),
        ("1. $$\n   x\n   $$\n2. b", ""),
        ("- $$x\n  = y$$ is\n- b", "- $$\n  x = y\n  $$\n  is\n- b"),
        ("a\n10. $$\n    x\n    $$", "a\n10. \\$\\$\n    x\n    \\$\\$"),
        ("dose $<$10 mg and $>$5", ""),
        ("- $ low\n- $$ mid\n- $$$ high\n- $$$$ top", "- \\$ low\n- \\$\\$ mid\n- \\$\\$\\$ high\n- \\$\\$\\$\\$ top"),
        ("$$ – Roma\n$$ – Sushi", "\\$\\$ – Roma\n\\$\\$ – Sushi"),
        ("so:\n\\[\n\\begin{aligned}\na &= b", "so:\n[\n&#92;begin{aligned}\na &= b"),
        ("\\[\nx\n- $$ a\n- many\n- last", "[\nx\n- \\$\\$ a\n- many\n- last"),
        ("$2 Na + Cl_2$ or $100 a month$", "$2 Na + Cl_2$ or \\$100 a month\\$"),
        ("a | b\n--|--\nc | d\n> `e|f`", ""),
        ("$5 und 5 US-$. Or $3 + 4$", "\\$5 und 5 US-\\$. Or $3 + 4$"),
        ("~$5 and ~`x`", "~\\$5 and \\~`x`"),
        ("$$\nx\n$$\n\n```c\n#include <a.h>\n```", "$$\nx\n$$\n\n```c\n#include <a.h>\n```"),
    ],
)
def test_signs_that_some_viewers_give_a_meaning(text: str, safe: str) -> None:
    assert safe_markdown(text, {}) == (safe or text)
    assert streamed(*text) == (safe or text)


def test_code_that_explains_markup_stays_as_it_is() -> None:
    text = "Write `[text](https://a.org)` [1], or `<a href=x>`.\n\n```md\n![alt](image.png)\n<b>\n```"
    for before in (
        "In \\(x^2\\) and \\[y\\], or $z$",
        "`$$` and `\\(`",
        "\\[ x \\]",
        "$$\nx\n$$\n\nThen `$HOME`",
    ):
        assert safe_markdown(f"{before}\n\n{text}", {}) == f"{before}\n\n{text}"


@pytest.mark.parametrize("code", ["`Hello ${name}`", "SELECT `id`", "`n", "```", r"grep '\(a\|b\)'", "a`b``c"])
def test_code_may_contain_backticks_and_backslashes(code: str) -> None:
    text = f"Use ```` {code} ```` or `{code.replace('`', '')}x`, not ~5."
    assert safe_markdown(text, {}) == streamed(*text) == text


def test_backslash_may_be_the_last_sign_of_code() -> None:
    assert safe_markdown("`C:\\` and \\`<b>\\`", {}) == "`C:\\` and &#96;&lt;b>&#96;"


def test_code_with_a_bar_is_escaped_in_tables() -> None:
    text = "It returns `Promise<string | null>` and `a[0](b) | $HOME`.\n"
    assert safe_markdown(text, {}) == streamed(*text) == text
    assert as_plain("a | b\n--|--\n`\\|\\|` | \\$5 \\~`x` \\:\\:\\:") == "a | b\n--|--\n`||` | $5 ~`x` :::"
    table = f"| a | `x|{PICTURE}` |\n|---|---|\n| `b \\| c` | `d || e` |\n"
    escaped = f"| a | `x\\|{PICTURE}` |\n|---|---|\n| `b \\| c` | `d \\|\\| e` |\n"
    assert safe_markdown(table, {}) == streamed(*table) == escaped
    assert as_plain(escaped) == table.replace("\\|", "|")


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("10. a:\n    ```sh\n    b\n    ```\n    Then **c**.\n11. d", ""),
        ("- an h\n  - b\n\n    ```\n    c\n\n      d\n    ```\n- e", ""),
        ("- a\n    ```\n    c\n      d\n    ```\n- e", "- a\n  ```\n  c\n    d\n  ```\n- e"),
        ("1. a\n   ```\nless\n   ```", "1. a\n   ```\n   less\n   ```"),
        ("1. a:\n\n   ```make\n   all:\n   \tcc\n   ```", ""),
        ("- ```\n  <b>", "- ```\n  <b>\n  ```"),
        ("- a:\n\n      $ b <c>\n\n      - d\n\n- e", "- a:\n\n  ````\n  $ b <c>\n\n  - d\n  ````\n\n- e"),
        ("a\n10. ```\n<b>", "a\n10.\n\n```\n<b>\n```"),
        ("> a:\n>\n> ```sh\n> # b | c\n> ```\n>\n> d", ""),
        ("> ```\n> <b>\nc", "> ```\n> <b>\n> ```\nc"),
        ("a:\n\n    $ b <c>\n\n    d\n\ne", "a:\n\n````\n$ b <c>\n\nd\n````\n\ne"),
        ("````md\n```\na\n```\n~~~~~\n````", ""),
        ("```\n```~\n```", "```\n\\```~\n```"),
    ],
)
def test_code_blocks_stay_where_they_are(text: str, safe: str) -> None:
    for whole in (safe_markdown(text, {}), *(streamed(*re.findall(f"(?s).{{1,{n}}}", text)) for n in (1, 3, 7, 20))):
        assert whole == (safe or text)


def test_plain_text_has_no_escapes() -> None:
    text = "Vec<String> `\\<word` ![p](http://t.co/p) \\[ x^2 \\] $5 ` `$x`\n```\n\\$ &lt;\n```\n<b>"
    plain = text.replace("![p](http://t.co/p)", "p (`t.co`)").replace("\n```", "\n\n```", 1)
    assert as_plain(safe_markdown(text, {})) == plain


@pytest.mark.parametrize(
    "text",
    [
        "1. ```bash\n   a=\\$1\n   > ```\n   ```\n2. costs $5",
        "- ```md\n  1. ```\n  &lt;\n  ```\n\ncosts $5",
        "> 1. ```c\n>    &lt; | b\n>    -|-\n>    ```\n> costs $5 `a\\|b`",
        "> > - ```\n> >   &lt;\n> >\n> >   ```\n\ncosts $5",
    ],
)
def test_plain_text_of_code_in_lists_and_quotes_is_as_written(text: str) -> None:
    assert as_plain(safe_markdown(text, {})) == text


def test_plain_text_defines_no_links() -> None:
    plain = as_plain(safe_markdown("![a][r]\n\n[r]: https://evil.example/ref", {}))
    assert MarkdownIt().render(plain).count("<img") == 0


@pytest.mark.parametrize("text", ["Name | Speed\n--- | ---\na | b\n", "Costs 20 \\$\n\n```\n<a href=x>\n```\n"])
def test_stream_of_an_ordinary_answer_is_the_whole(text: str) -> None:
    assert streamed(*text) == safe_markdown(text, {}) == text


TOKENS = st.sampled_from(
    [
        *(
            "CO",
            "$",
            "_",
            "{2}",
            "$$",
            " level",
            " (x",
            "`",
            "$ ",
            "a",
            "中文",
            "，",
            "http",
            "://",
            "evil",
            ".example",
            "//",
        ),
        *(
            "a\\",
            "data",
            "www",
            ".e",
            "![",
            "x](",
            "https://e.org/p)",
            "<b>",
            "\n",
            "\n\n",
            "- ",
            "> ",
            "|",
            "1. ",
            "\\[",
        ),
        *(
            "\\]",
            "~",
            "```\n",
            "[1]",
            "[0, 1)",
            "*b*",
            " ",
            "word ",
            "---",
            "\n$$\n",
            "\n|-|-|\n",
            "\\begin{a}",
            "\\end{a}",
        ),
    ]
)


@settings(max_examples=600, deadline=None)
@given(st.lists(TOKENS, max_size=14))
@example(["The", " CO", "$_{2}$", " level (x `$ ", PICTURE, "`"])
@example(["CO", "://x"])
@example(["---", "CO `` a"])
def test_a_stream_is_the_whole(pieces: list[str]) -> None:
    assert streamed(*pieces) == safe_markdown("".join(pieces), {})


@pytest.mark.parametrize("line", ["a word\n\n", "- an item\n", "| a | b |\n", "> a quote\n", "> ```\na\n", "`a"])
def test_a_stream_is_examined_once(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    examined: list[int] = []
    original = SafeLines.add

    def count(self: SafeLines, line: str, **options: bool) -> str:
        examined.append(len(line))
        return original(self, line, **options)

    monkeypatch.setattr(SafeLines, "add", count)
    text = line * 400
    streamed(*(text[start : start + 3] for start in range(0, len(text), 3)))
    assert sum(examined) <= 2 * len(text)


@pytest.mark.parametrize("sign", ["w", "]", "a", "-", "`", "<"])
def test_a_long_word_is_not_searched_for_each_piece(sign: str, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[int] = []

    def counting(pattern: re.Pattern[str]) -> Any:
        def count(method: str, text: str) -> Any:
            searched.append(len(text))
            return getattr(pattern, method)(text)

        return SimpleNamespace(search=partial(count, "search"), match=partial(count, "match"))

    for name in ("MARKUP_START", "MAY_BE_BLOCK"):
        monkeypatch.setattr(markdown, name, counting(getattr(markdown, name)))
    text = sign * 20_000
    assert streamed(*text)
    assert sum(searched) <= 100 * len(text)


@pytest.mark.parametrize("text", ["![a][IMG]/x.png?q=1)", "[a][/INST]/../logout)", "[a][search results]/b)"])
def test_removing_chat_tokens_makes_no_links(text: str) -> None:
    assert links(without_fences(safe_markdown(text, {}))) == []


def test_link_definition_in_another_block_of_a_stream_makes_no_link() -> None:
    blocks = ("See [the manual].\n\n", *(f"Paragraph {n}.\n\n" for n in range(20)), "[the\n manual]: //evil.example\n")
    assert links(streamed(*blocks)) == []
