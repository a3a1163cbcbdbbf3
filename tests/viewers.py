"""What viewers of Markdown find in a text."""

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
