"""Makes untrusted text safe: page text for prompts, and a model's Markdown for any viewer."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from sleuth.answers.citations import MARK, find
from sleuth.answers.prose import LABEL, TARGET, Span, inline, paragraphs
from sleuth.base import markdown
from sleuth.base.text import clean, markdown_target, splice
from sleuth.base.urls import ascii_url, clean_url

if TYPE_CHECKING:
    from sleuth.base.markdown import Link

FENCE_TAG = re.compile(r"<(?=\s*/?\s*untrusted)", re.IGNORECASE)
FENCE_HEADING = re.compile(r"[\[【［](?=\s*search\s+results)", re.IGNORECASE)
HTML_TAG = re.compile(r"<(?=[A-Za-z/!?])")
AUTOLINK = re.compile(r"<https?://[^\s<>]*>", re.IGNORECASE)
DEFINITION = re.compile(rf"^([ \t>]*(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+)*)\[(?={LABEL}\]:)", re.MULTILINE)
CITATION = re.compile(r"\[(\d{1,3})[+?]{0,2}\]")


def fenced(text: str, provider: str, code: str) -> str:
    """Return text between two tags with a random code that pages cannot guess."""
    heading = f"[search results — from {without_fences(clean(provider, 200)) or 'the web'}]"
    return f"{heading}\n<untrusted-{code}>\n{text}\n</untrusted-{code}>"


def without_fences(text: str) -> str:
    """Return text without anything that looks like the tags or the heading of a fence."""
    return FENCE_HEADING.sub("(", FENCE_TAG.sub("‹", text))


def without_citations(text: str) -> str:
    """Return page text without fences or anything that looks like a citation.

    Citations get round brackets. In code and links the number is indented by two spaces: `argv[1]` becomes
    `argv[  1]`, which means the same and is not a citation.
    """
    cited = {place for mark in find(text) for place in range(mark.start, mark.end)}

    def replace(found: re.Match[str]) -> str:
        inside = found[0][1:-1]
        if found.start() in cited:
            return f"({inside})"
        return f"{found['opening']}  {inside.lstrip()}{found['closing']}"

    return without_fences(MARK.sub(replace, text))


def safe_markdown(text: str, targets: Mapping[int, str]) -> str:
    """Return a model's Markdown without images, HTML or links other than to the web.

    `targets` maps citations to the only URLs they may link to. A block in which a Markdown parser still finds more
    is escaped completely.
    """

    parts = markdown.split_blocks(text)
    safe = "".join(_checked(_block(part, targets), part, targets) for part in parts)
    return _checked(safe, text, targets) if len(parts) > 1 else safe


def _checked(safe: str, text: str, targets: Mapping[int, str]) -> str:

    known = {number: markdown.normalise_target(target) for number, target in targets.items()}
    seen = markdown.inspect(safe)
    is_safe = not seen.has_html and all(_is_safe_link(link, known) for link in seen.links)
    return safe if is_safe else re.sub(r"([\\`*_\[\]<>!&~])", r"\\\1", text)


def _is_safe_link(link: "Link", targets: Mapping[int, str]) -> bool:
    if link.is_picture or not clean_url(link.target):
        return False
    cited = CITATION.fullmatch(link.label)
    return cited is None or targets.get(int(cited[1])) == link.target


def _block(text: str, targets: Mapping[int, str]) -> str:
    # A link definition could redirect [1].
    parts = ((start, end, DEFINITION.sub(r"\1\\[", text[start:end])) for start, end in paragraphs(text))
    return splice(text, ((start, end, _paragraph(part, targets)) for start, end, part in parts))


def _paragraph(part: str, targets: Mapping[int, str]) -> str:
    pieces, end = [], 0
    for start, stop in _outermost(inline(part, frozenset())):
        pieces += [HTML_TAG.sub(r"\\<", part[end:start]), _span(part[start:stop], targets)]
        end = stop
    return "".join([*pieces, HTML_TAG.sub(r"\\<", part[end:])])


def _outermost(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans that are not inside others."""
    done = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:
            done = end
            yield start, end


def _span(found: str, targets: Mapping[int, str]) -> str:
    if found.startswith(("[", "![")):
        return _link(found.removeprefix("!"), targets)
    if found.startswith("<") and not AUTOLINK.fullmatch(found):
        return HTML_TAG.sub(r"\\<", found)
    return found  # code, an escaped character, a URL


def _link(found: str, targets: Mapping[int, str]) -> str:
    """Return a link to the web; of any other link only its text."""
    places = [match.start() for match in re.finditer(r"\]\(", found)]
    closing = next((place for place in places if TARGET.fullmatch(found, place + 1)), 0)
    label, target = found[1:closing], found[closing + 2 : -1].strip()
    place = target[1:].partition(">")[0] if target.startswith("<") else target.partition(" ")[0]
    url = ascii_url(clean_url(place))
    cited = CITATION.fullmatch(label)
    if not url or (cited and targets.get(int(cited[1])) != url.replace("&amp;", "&")):
        return "\\[" + _paragraph(found[1:], targets)
    return f"[{_paragraph(label, targets)}]({markdown_target(url)})"
