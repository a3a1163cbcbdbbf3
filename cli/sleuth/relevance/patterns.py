"""Regular expressions from users, accepted only if no URL can make them stall."""

import re
import warnings
from functools import cache

MAX_PATTERN_CHARS = 500
MAX_CHOICES = 8  # a repetition counts three times: with a third one, a URL of 250 characters takes seconds


@cache
def expression(pattern: str) -> re.Pattern[str] | None:
    """Compile an expression; return None for an invalid one or one that could take exponential time."""
    if "(?#" in pattern or _may_stall(pattern):  # a comment may hide the end of a class
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as FutureWarning: possible nested set
            return re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError):
        return None


def _may_stall(pattern: str) -> bool:
    """Tell whether an expression has too many choices, or repeats a group that itself repeats or branches.

    Such a group, as in (a+)+ or (a|a)*, makes the matcher try exponentially many ways, and so do many of (a|a).
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        return True
    plain = re.sub(r"\\.|\[\^?\]?[^\]]*+(?:\]|\Z)", ".", pattern)
    if re.search(r"\(\?\w*x", plain):  # the flag that allows blanks and comments between a group and its repetition
        return True
    plain = re.sub(r"\(\?(?:[:=!]|<[=!])", "(", plain)
    repeats, optional = re.findall(r"(?:[*+]|\{\d*,)", plain), re.findall(r"(?<![*+}?])\?", plain)
    choices = 3 * len(repeats) + len(optional)
    while choices <= MAX_CHOICES and (group := re.search(r"\(([^()]*)\)([*+{]?)", plain)):
        varied = re.search(r"[*+?{|]", group[1])
        if varied and group[2]:
            return True
        choices += (_ways(group[1]) - 1).bit_length()
        plain = plain.replace(group[0], (".?" if varied else ".") + group[2], 1)
    return choices > MAX_CHOICES


def _ways(group: str) -> int:
    """Return how many alternatives of a group may match at one place: those that begin with the same letters."""
    starts = [re.sub(r"(?s)(?:[a-z0-9][?*{]|[^a-z0-9]).*", "", part) for part in group.lower().split("|")]
    return max(sum(one.startswith(other) or other.startswith(one) for other in starts) for one in starts)
