"""Markdown of a model made fit for any viewer: no pictures that tell who reads, no HTML, links to the web alone."""

import re
from collections.abc import Iterable, Iterator, Mapping

from sleuth.answers.prose import LABEL, TARGET, Span, inline, paragraphs
from sleuth.base import markdown
from sleuth.base.urls import ascii_url, clean_url

TAG = re.compile(r"<(?=[A-Za-z/!?])")
ADDRESS = re.compile(r"<https?://[^\s<>]*>", re.IGNORECASE)
DEFINITION = re.compile(rf"^([ \t>]*(?:(?:[-*+]|\d{{1,9}}[.)])[ \t]+)*)\[(?={LABEL}\]:)", re.MULTILINE)
CITATION = re.compile(r"\[(\d{1,3})[+?]{0,2}\]")


def tame(text: str, links: Mapping[int, str]) -> str:
    """Return Markdown that shows what it showed and does nothing else; `links` tells where citations may lead.

    Where a parser still sees more in it than words, it gets the words alone.
    """
    parts = markdown.split_blocks(text)
    tamed = "".join(_checked(_block(part, links), part, links) for part in parts)
    return _checked(tamed, text, links) if len(parts) > 1 else tamed


def _checked(tamed: str, text: str, links: Mapping[int, str]) -> str:
    known = {number: markdown.normalise_target(target) for number, target in links.items()}
    seen = markdown.inspect(tamed)
    is_tame = not seen.has_html and all(_is_fit(link, known) for link in seen.links)
    return tamed if is_tame else re.sub(r"([\\`*_\[\]<>!&~])", r"\\\1", text)


def _is_fit(link: markdown.Link, known: Mapping[int, str]) -> bool:
    if link.is_picture or not clean_url(link.target):
        return False
    cited = CITATION.fullmatch(link.label)
    return cited is None or known.get(int(cited[1])) == link.target


def _block(text: str, links: Mapping[int, str]) -> str:
    pieces, end = [], 0
    for start, stop in paragraphs(text):
        part = DEFINITION.sub(r"\1\\[", text[start:stop])  # a definition would say what [1] means
        pieces += [text[end:start], _words(part, links)]
        end = stop
    return "".join([*pieces, text[end:]])


def _words(part: str, links: Mapping[int, str]) -> str:
    pieces, end = [], 0
    for start, stop in _outermost(inline(part, frozenset())):
        pieces += [TAG.sub(r"\\<", part[end:start]), _span(part[start:stop], links)]
        end = stop
    return "".join([*pieces, TAG.sub(r"\\<", part[end:])])


def _outermost(spans: Iterable[Span]) -> Iterator[Span]:
    """Yield spans without those inside others."""
    done = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= done:
            done = end
            yield start, end


def _span(found: str, links: Mapping[int, str]) -> str:
    if found.startswith(("[", "![")):
        return _link(found.removeprefix("!"), links)
    if found.startswith("<") and not ADDRESS.fullmatch(found):
        return TAG.sub(r"\\<", found)
    return found  # code, an escaped sign, an address


def _link(found: str, links: Mapping[int, str]) -> str:
    """Return a link to the web as it is, any other as its own text."""
    places = [match.start() for match in re.finditer(r"\]\(", found)]
    closing = next((place for place in places if TARGET.fullmatch(found, place + 1)), 0)
    label, target = found[1:closing], found[closing + 2 : -1].strip()
    place = target[1:].partition(">")[0] if target.startswith("<") else target.partition(" ")[0]
    address = ascii_url(clean_url(place))
    cited = CITATION.fullmatch(label)
    if not address or (cited and links.get(int(cited[1])) != address.replace("&amp;", "&")):
        return "\\[" + _words(found[1:], links)
    return f"[{_words(label, links)}](<{address}>)"
