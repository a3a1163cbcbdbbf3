"""Wraps text at spaces and between CJK characters, but not before closing or after opening punctuation."""

from unicodedata import east_asian_width

from rich.cells import get_character_cell_size
from rich.text import Text

# Characters that may not begin a line, and that may not end one.
CLOSING = frozenset("、。，．：；？！’”）〕］｝〉》」』】〗…—～·%,.:;?!)]}'\"")
OPENING = frozenset("‘“（〔［｛〈《「『【〖([{$￥")

JOINER = "\u200d"  # zero-width joiner inside an emoji


def wrap(text: Text, width: int) -> list[Text]:
    """Return lines of at most `width` columns without trailing spaces."""
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        for part in line.divide(_breaks(line.plain, max(width, 2))):
            part.rstrip()
            lines.append(part)
    return lines


def _breaks(line: str, width: int) -> list[int]:
    """Return the offsets at which new lines begin."""
    places: list[int] = []
    start = column = candidate = candidate_column = 0
    for place, character in enumerate(line):
        if place > start and _may_break(line, place):
            candidate, candidate_column = place, column
        size = get_character_cell_size(character)
        while column and column + size > width and character != " ":
            if candidate <= start:  # a word longer than the line
                candidate, candidate_column = place, column
            places.append(candidate)
            start, column = candidate, column - candidate_column
        column += size
    return places


def _may_break(line: str, place: int) -> bool:
    before, after = line[place - 1], line[place]
    if before == " ":
        return after != " "
    if after == " " or after in CLOSING or before in OPENING or JOINER in (before, after):
        return False
    if after == "[" and line[place + 1 : place + 2].isdigit():  # a citation stays with its sentence
        return False
    return _is_wide(before) or _is_wide(after)


def _is_wide(character: str) -> bool:
    return not character.isascii() and east_asian_width(character) in "WF"
