"""Wraps styled text."""

from rich.text import Text

from sleuth.base.wrap import line_breaks


def wrap(text: Text, width: int) -> list[Text]:
    """Return lines of at most `width` columns without trailing spaces."""
    lines: list[Text] = []
    for line in text.split("\n", allow_blank=True):
        for part in line.divide(line_breaks(line.plain, width)):
            part.rstrip()
            lines.append(part)
    return lines
