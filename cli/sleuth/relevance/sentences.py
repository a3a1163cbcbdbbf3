"""Splits text into sentences, by offsets: Latin and CJK punctuation, headings, list items."""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from sleuth.base.text import SKIN_TONES
from sleuth.relevance.languages import ENGLISH, LATIN_STOP_WORDS
from sleuth.relevance.words import UNSPACED

CLOSERS = "\"'”’»)\\]*_`」』）】》〉"
FULL_STOPS = "。！？；｡।॥؟۔"  # always end a sentence; the others only before a space or next to CJK text
END = re.compile(rf"[.!?;…{FULL_STOPS}]+[{CLOSERS}]*")
BREAK = re.compile(r"\n\s*|\u3000{2,}\s*")  # two ideographic spaces are an indent, so a new paragraph
UNSPACED_END = re.compile(f"[{UNSPACED}”」』）》]")
MARKER = re.compile(r"(?:[-*+•·>|#]+|\(?\d{1,3}[.)、]|[a-z][.)])\s")  # list items, headings, quotes, table rows
WRAPPED = re.compile(r"[^\W\d_]|[,;&(—–-]")  # the end of a line that continues on the next
NUMBER = re.compile(r"\W*(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})")
NEXT_WORD = re.compile(r"[\s\"'“‘(\[*_]*(\w*)")
DOTTED = re.compile(r"(?:\w\.)+\w")
STARTERS = LATIN_STOP_WORDS[ENGLISH] | {"he", "she", "his", "her", "however", "according", "although"}
MAX_WORD_CHARS = 40
MAX_NUMBER_CHARS = 10

# TITLES never end a sentence; ABBREVIATIONS do only before a word that starts one.
TITLES = (
    "mr mrs ms dr prof sr jr st mt rev hon gen col lt sgt capt cmdr adm gov sen rep pres supt vs cf e.g i.e eg ie viz "
    "approx ca fig figs eq eqs no nos vol vols pp ed eds tab sec ch hr bzw z.b d.h u.a usw mme mlle sra dra"
)
ABBREVIATIONS = (
    "etc al inc ltd co corp bros dept univ assn ave blvd rd jan feb mar apr jun jul aug sep sept oct nov dec mon tue "
    "wed thu fri sat sun a.m p.m am pm u.s u.k u.n e.u ph.d m.d b.a m.a b.c a.d bc ad"
)
NEVER_LAST, SELDOM_LAST = frozenset(TITLES.split()), frozenset(ABBREVIATIONS.split())


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each sentence; only white space is between them."""
    return list(iter_sentences(text))


def iter_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each sentence: a long page has up to 500,000, whose list takes 60 MB."""
    for start, end in _units(text):
        yield from _split(text, start, end)


def joined(texts: Iterable[str]) -> str:
    """Join sentences, with a space between them unless the script has none."""
    result = ""
    for text in texts:
        space = " " if result and not (UNSPACED_END.match(result[-1]) or result[-1] in FULL_STOPS) else ""
        result += space + text
    return result


def cut(text: str, limit: int) -> int:
    """Return where to truncate a text to `limit` characters: after a sentence, or after a word."""
    if len(text) <= limit:
        return len(text)
    ends = [end for _, end in sentences(text[: limit + MAX_WORD_CHARS]) if end <= limit]
    return ends[-1] if ends and 2 * ends[-1] >= limit else word_end(text, max(limit, 0))


def word_end(text: str, limit: int) -> int:
    """Return the last offset up to `limit` that splits neither a word, if one ends near, nor a grapheme."""
    for place in range(limit, max(limit - MAX_WORD_CHARS, limit // 2), -1):
        before, after = text[place - 1], text[place]
        if before.isspace() or after.isspace() or (UNSPACED_END.match(before) and not _joins(after)):
            return len(text[:place].rstrip())
    places = range(limit, max(limit - MAX_WORD_CHARS, 0), -1)
    return next((place for place in places if not _joins(text[place])), limit if limit > MAX_WORD_CHARS else 0)


def _joins(character: str) -> bool:
    """Tell whether a character combines with the one before it: accents, joiners, skin tones of emoji."""
    if character.isascii():
        return False
    return character in "\u200d" + SKIN_TONES or unicodedata.category(character)[0] == "M"


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Yield the lines of a text; a line that was only wrapped is joined with the next."""
    start = len(text) - len(text.lstrip())
    for gap in BREAK.finditer(text, start):
        end = _stripped(text, start, gap.start())
        if end > start and not _is_wrapped(text, start, end, gap):
            yield start, end
            start = gap.end()
    end = _stripped(text, start, len(text))
    if end > start:
        yield start, end


def _stripped(text: str, start: int, end: int) -> int:
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def _is_wrapped(text: str, start: int, end: int, gap: re.Match[str]) -> bool:
    after = text[gap.end() : gap.end() + 1]
    return (
        after.islower()
        and gap[0].count("\n") == 1
        and bool(WRAPPED.match(text, end - 1))
        and not MARKER.match(text, gap.end())
        and not text.startswith("#", start)
    )


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for mark in END.finditer(text, start, end):
        if _is_end(text, start, mark):
            yield start, mark.end()
            start = mark.end()
            while start < end and text[start].isspace():
                start += 1
    if end > start:
        yield start, end


def _is_end(text: str, start: int, mark: re.Match[str]) -> bool:
    sign, before, after = mark[0][0], text[max(mark.start() - 1, 0)], text[mark.end() : mark.end() + 1]
    if sign in FULL_STOPS:
        return True
    if not before.isascii() and UNSPACED_END.match(before) and (sign in "!?;" or UNSPACED_END.match(after)):
        return True
    return sign != ";" and after.isspace() and _ends_latin(text, start, mark)


def _ends_latin(text: str, start: int, mark: re.Match[str]) -> bool:
    following = NEXT_WORD.match(text, mark.end())
    word = following[1] if following else ""
    if word[:1].islower():
        return False
    if mark[0] != ".":
        return True
    if mark.start() - start < MAX_NUMBER_CHARS and NUMBER.fullmatch(text, start, mark.start()):
        return False  # the number of a list item
    before = text[max(start, mark.start() - MAX_WORD_CHARS) : mark.start()].split()
    return not before or _ends_sentence(before[-1].lstrip("([\"'“‘"), word)


def _ends_sentence(last: str, following: str) -> bool:
    """Tell whether a full stop between two words ends a sentence."""
    name = last.lower()
    if name in NEVER_LAST:
        return name in ("no", "ed", "sec") and not following[:1].isdigit()
    is_short = name in SELDOM_LAST or (len(last) == 1 and last.isupper()) or DOTTED.fullmatch(last)
    return not is_short or following.lower() in STARTERS
