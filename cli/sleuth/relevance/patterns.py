"""Regular expressions that users write, run only where no address can stall them."""

import re
import warnings
from functools import cache

MAX_PATTERN = 500
MAX_REPEATS = 3


@cache
def expression(pattern: str) -> re.Pattern[str] | None:
    """Return a compiled expression, or None for one that is broken or could take for ever."""
    if _takes_for_ever(pattern):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's thoughts on the style of a user's expression
            return re.compile(pattern, re.IGNORECASE)
    except (re.error, RecursionError, OverflowError):
        return None


def _takes_for_ever(pattern: str) -> bool:
    """Tell whether an expression repeats so much, or what itself repeats or chooses, that some text could stall it."""
    if len(pattern) > MAX_PATTERN:
        return True
    plain = re.sub(r"\\.|\[\^?\]?[^\]]*\]", "x", pattern)
    plain = re.sub(r"\(\?(?:[:=!]|<[=!])", "(", plain)
    if len(re.findall(r"[*+]|,\}", plain)) > MAX_REPEATS:
        return True
    while group := re.search(r"\(([^()]*)\)([*+{]?)", plain):
        varied = re.search(r"[*+?{|]", group[1])
        if varied and group[2]:
            return True
        plain = plain.replace(group[0], ("x?" if varied else "x") + group[2], 1)
    return False
