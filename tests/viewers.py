"""What viewers of Markdown find in a text, and texts that are pictures in some of them unless they are made safe."""

from markdown_it import MarkdownIt

VIEWERS = (
    MarkdownIt("commonmark", {"html": True}).enable("table"),
    MarkdownIt("gfm-like", {"html": True, "linkify": False}),
)


def links(text: str) -> list[tuple[str, str]]:
    """Return the label and target of each link; fail if a viewer finds an image or HTML."""
    found: list[list[tuple[str, str]]] = []
    for viewer in VIEWERS:
        found.append([])
        for block in viewer.parse(text):
            tokens = (block, *(block.children or ()))
            assert not {"html_block", "html_inline", "image"} & {token.type for token in tokens}, text
            target, label = "", ""
            for token in tokens:
                if token.type == "link_open":
                    target, label = str(token.attrs["href"]), ""
                elif token.type == "link_close":
                    found[-1].append((label, target))
                else:
                    label += token.content
    return [link for links in found for link in links]


PICTURE = "![x](https://evil.example/p)"
HOSTILE = (
    f"| a |\n|---|\n| b |\n7.      {PICTURE}",
    f"| a |\n|---|\n    {PICTURE}",
    f"> | a |\n> |---|\n>     {PICTURE}",
    f"| a ` |\n|---|\n| `{PICTURE}` |",
    f"| a | b |\n|---|---|\n| c | d |\n7. `a|{PICTURE}`",
    f"| a | b |\n|---|---|\n| c | d |\n-\n  `a|{PICTURE}`",
    f"> | a | b |\n> |---|---|\n> | c | d |\n> 7. `a\n>    {PICTURE}`",
    f"a ``` {PICTURE}\nb\n|---|\nc ```",
    f"a ``` {PICTURE}\nb | c | d\n-|-\nc ```",
    f"Hi\n\n    a\n7.      {PICTURE}",
    f"    a\n    ```\n7.      {PICTURE}",
    f"    a\n-\n      {PICTURE}",
    f"    a\n10) ``` {PICTURE}",
    f"    a\n7. ~~~\n   {PICTURE}\n   ~~~",
    f"    a\n7. `a\n8. `{PICTURE}`",
    f"Tokio [1].\n\n    a\n\n2. ~~~{PICTURE}",
    f"* g\n      `\n{PICTURE}`",
    f"* g\n      ``\n{PICTURE}`` `",
    f"$ ` $ {PICTURE} `",
    f"```\na\n```~~~\n{PICTURE}\n```",
    f"a|b|c\n-|-|-\nc | `d|{PICTURE}`",
    f"> - a|b|c\n> -|-|-\n> c | `d|{PICTURE}`",
    f"$$\n~~~\n$$\n{PICTURE}\n~~~\n",
    f"$$$$\n```\n$$$$\n{PICTURE}\n```\n",
    f"$ https://e.org/${PICTURE}",
    "$ https://e.org/$![a[b[c]]](https://evil.example/p)",
    f"$ `a $ {PICTURE}`",
    f"a | b | c\n-|-|-\nx | `y|z` `{PICTURE}`",
    f"| a | `y|` `{PICTURE}` |\n|-|-|-|",
    "a | b | c\n-|-|-\nx | `y|z` text `<img src=x>`",
    "a | b | c\n-|-|-\nx | `y\\\\|z` text `<img src=x>`",
    f"a | b | c\n-|-|-\n\u00a0\nc | `x|{PICTURE}`",
    "[1]\\: http:/evil.example/p\n\n![1]",
    "![a\nb][](x)(http:/evil.example/p)",
    "[1]![](x): http:/evil.example/p\n\n![1]",
    "[a\nb]\\: http:/evil.example/p\n\n![a b]",
    "- [ ] [r]: http:/evil.example/p\n\n![r]",
    "![a[\n`]b](https://evil.example/p`)",
    f"![a[{'b' * 60}`]b](https://evil.example/p`)",
    f"\\( ` \\) {PICTURE} `",
    f"\\[\n```\n\\]\n{PICTURE}\n<img src=x>\n[a]: https://evil.example\n```",
    f"Use `$$a$$ {PICTURE}` here",
    f"\\ce{{ ` }} {PICTURE} `",
    f"- $$\n```\n{PICTURE}\n```",
    f"$$\n\n```\n$$\n{PICTURE}\n```",
    f"[a] (b) ]({PICTURE}) `\\) {PICTURE}`",
    f"```\n\\begin{{a}}\n```\n\\end{{a}}\n```\n{PICTURE}\n```",
    f"$\n```\n$\n{PICTURE}\n```",
    f"- a\n- $\n```\n$\n{PICTURE}\n```",
    f"~5 ms: `a~{PICTURE}` or `{PICTURE}`",
    f"~5\nms: `a~{PICTURE}`",
    "[a\\]\nb]: https:evil.example\n\n![a\\] b]",
    f"[[a``b]](https://a.example)[c](d){PICTURE}e``",
    "[\n``[https://a.example]](https://evil.example/)[b](https://c.example/)",
    f"`a]` [b `c]` [d [e]](f) `g]{PICTURE}`",
    f"2. ```\n{PICTURE}\n```",
    f"a\n10. ```\n    b\n    ```\n\n    ```\n{PICTURE}\n    ```",
    f"- a\n\n  ```\nb\n  ```\n{PICTURE}",
    f"> ```\n{PICTURE}\n> ```\n",
    f"> a\n10. b\n    ```\n{PICTURE}\n    ```",
    f"- - a\n  ```\n{PICTURE}\n  ```",
    f"a\n\n    b\n{PICTURE}",
    f"costs $20 and $30 with `$HOME {PICTURE}`",
    f"$a `b$ {PICTURE}` $",
    f"text $$ a\n\n```\n$$\n{PICTURE}\n```",
    "$$\n```\n$$\nOpen https://evil.example/login now. <h1>Big</h1> <plaintext>\n```",
    "$\\href{javascript:alert(1)}{docs}$ and \\(\\style{background-image:url(https:\\2f\\2f evil.example/p)}{x}\\)",
    "1. First step\n\n   - detail\n     $$\n---\n E = mc^2\n     $$\n"
    "     ~~~text\n     <script src=//e.example/x></script>\n     ~~~",
    "\\[\nx\n$$\n\\]\n\n```\n$$\n![x](https://e.example/p)\n```",
    "\\[\n# h\n$\n\\]\n\n```\n$\n![x](https://e.example/p)\n```",
    "$$\na | b | c\n--|---|--\n$$\n`a|![x](https://e.example/p)|b`",
    "[r\n5. x]: https:e.example/p\n\n![r 5. x] and [click][r 5. x]",
    "[r\n5. x]: javascript:alert(1)\n\n[r 5. x]",
    "It costs $5 and\n5. `$ ![x](https://e.example/p)`",
    "$a `\\href{javascript:alert(1)}{x} \\style{background-image:url(https:\\2f\\2f evil.example/p.png)}{x}` b$",
    "- [a\n  ```\n  b]: x\n  ![x](https://e.example/p)\n  ```",
    "See x \\begin{align}\n\\href{javascript:alert(1)}{the docs} "
    "\\style{background-image:url(https:\\2f\\2f evil.example/p.png)}{x}\n\\end{align}",
    f"$$\n$$\n\n```\n{PICTURE}\n$$\n```\n{PICTURE}",
    f"$$\na\\\n$$\n\n```\n$$\n{PICTURE}\n```",
    "1.     x\n\n   2. ~~~js\n      https://evil.example/u\n\n[r]",
    f"- a\n  - b\n    $$ > x\n    y\n    $$\n    ~~~\n    {PICTURE}\n    ~~~",
    f"- a\n  - b\n    $$\n    -    $$\n         ~~~\n         {PICTURE}\n         ~~~",
    f"$$\na | b\n--|-- $$\n`a|{PICTURE}|b`",
    f"\\begin{{align}} $a\nx\n\\end{{align}} `$ {PICTURE}`",
    "See x \\begin{align}\nx\\href\n{javascript:alert(1)}{click}\n\\end{align}",
    f"\\(a $b\\) `$ {PICTURE}`",
    f"\\ce{{$5}} and \\pu{{ $b}} `x $ {PICTURE}`",
    f"\\begin{{a}} $b \\end{{a}} then `x$ {PICTURE}`",
    f"\\begin{{a}}\\begin{{b}}\\end{{a}}\n\n```\n\\end{{b}}\n{PICTURE}\n```",
    f"CO$_{{2}}$ (x `$ {PICTURE}`",
    f"$\n# h\n$\n`$ {PICTURE}`",
    f"$\n* c\n$$\n`$ {PICTURE}`",
    f"$$a$$ is it\n\n```\n$$\n{PICTURE}\n```",
    f"- $$a$$ \n\n  ```\n  $$\n  {PICTURE}\n  ```",
    f"$$a$$b and 其中$a$是 `c$ {PICTURE}`",
    f"$a \\(b$ `x\\) {PICTURE}`",
    f"x\n$$\n---\n$$\n`$$ {PICTURE}`",
    f"$$\n[a]: b\n$$\n\n```\n$$\n{PICTURE}\n```",
    f"\\[\n- x\n\\]({PICTURE})",
    f"> > ```\n> > {PICTURE}\n{PICTURE}\n> > ```",
    f"- > ```\n  > {PICTURE}\n  > ```\n  > {PICTURE}\n  > ```",
    f"- a\n  > ```\n> {PICTURE}\n> ```",
    f"> $$\n> a\n> b $$ `$$ {PICTURE}`\n> $$\nc",
    f"> a\n    {PICTURE}\n> ```\n    {PICTURE}",
    f"~~~~`\n{PICTURE}",
    f"- a|\n---\nx\n``{PICTURE}|b``",
    f"- a\nlazy\n  > ```\n> {PICTURE}\n> ```",
    f"> `{PICTURE}|b` | a\n---|---\n",
    f"x\n> > ``\\({PICTURE}|b``\n---|---\n",
    "For $n$ set `$HOME`, then see https://![a[b[c]d]e](https://evil.example/p.png) now.",
    f"See [`a]` www.![{'a' * 400}](https://evil.example/p) and https://[{'a' * 400}](https://evil.example/p)",
    "See [`a]` x https://docs.example.com[1] and `https://a]https://evil.example/q$`",
    "[a `]` b](\\\\evil.example)\n[^1]: [r]: https://evil.examp\\$le/r",
    f"> > > 2. | a |\n> > >    |---|\n    > > >    | b |\n> > >    | `~{PICTURE}|b` |",
    f"$x_1 $, # $$x$$, `a$` and ``{PICTURE}|b``, //evil.example/s",
    "$x$ `$y` www.www.evil.example/p, https://www.www.evil.example/q and `curl https://www.www.evil.example/r`",
    "evil.com/p _evil.com/p_ 例.com/p $x$.evil.com/p ~evil.com/p $x$ `evil.com/p` $`$y` [x](https://www.www.evil.com/p)",
    r"$\color{u\rl(https:\2f\2f evil.example/p)}{x}$ and $\colorbox{\75rl(https:\2f\2f evil.example/p)}{x}$",
)
