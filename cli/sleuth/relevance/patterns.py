"""Regular expressions from users, accepted only if no URL can make them stall."""

import re
import warnings
from functools import cache

MAX_PATTERN_CHARS = 500
MAX_CHOICES = 7  # a repetition counts three times: with a third one, a URL of 250 characters takes seconds


@cache
def expression(pattern: str) -> re.Pattern[str] | None:
    """Compile an expression; return None for an invalid one or one that could take exponential time."""
    if _may_stall(pattern):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as FutureWarning: possible nested set
            return re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError):
        return None


def _may_stall(pattern: str) -> bool:
    """Tell whether an expression has too many repetitions, or repeats a group that itself repeats or branches.

    Such a group, as in (a+)+ or (a|a)*, makes the matcher try exponentially many ways.
    """
    if len(pattern) > MAX_PATTERN_CHARS:
        return True
    plain = re.sub(r"\\.|\[\^?\]?[^\]]*+(?:\]|\Z)", "x", pattern)
    if re.search(r"\(\?\w*x", plain):  # the flag that allows blanks and comments between a group and its repetition
        return True
    plain = re.sub(r"\(\?(?:[:=!]|<[=!])", "(", plain)
    repeats, optional = re.findall(r"(?:[*+]|\{\d*,)", plain), re.findall(r"(?<![*+}?])\?", plain)
    if 3 * len(repeats) + len(optional) > MAX_CHOICES:
        return True
    while group := re.search(r"\(([^()]*)\)([*+{]?)", plain):
        varied = re.search(r"[*+?{|]", group[1])
        if varied and group[2]:
            return True
        plain = plain.replace(group[0], ("x?" if varied else "x") + group[2], 1)
    return False
