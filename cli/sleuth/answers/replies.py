"""Fields of a model's JSON reply, read with patience: what is missing or of another kind becomes something usable."""

import math
from collections.abc import Mapping
from typing import Any

from sleuth.base.text import clean


def text_of(reply: Mapping[str, Any], name: str, limit: int) -> str:
    """Return a text as one harmless line."""
    value = reply.get(name)
    return clean(value, limit, entities=False) if isinstance(value, str) else ""


def texts_of(reply: Mapping[str, Any], name: str, most: int, limit: int) -> tuple[str, ...]:
    """Return a list of texts, also where there is one text in its place."""
    value = reply.get(name)
    values = value if isinstance(value, list) else [value]
    lines = (clean(one, limit, entities=False) for one in values if isinstance(one, str))
    return tuple(dict.fromkeys(line for line in lines if line))[:most]


def flag_of(reply: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """Return yes or no, also where it is spelled out."""
    value = reply.get(name)
    if isinstance(value, str):
        return value.strip().lower() in ("true", "yes", "1", "是")
    return bool(value) if isinstance(value, bool | int) else default


def share_of(reply: Mapping[str, Any], name: str, default: float) -> float:
    """Return a number from 0 to 1, also where it is given out of ten or a hundred."""
    part, _, whole = str(reply.get(name)).strip().rstrip("%").partition("/")
    try:
        number = float(part)
        scale = float(whole) if whole else 1 if number <= 1 else 10 if number <= 10 else 100
        share = number / scale
    except (ValueError, ZeroDivisionError):
        return default
    return min(max(share, 0.0), 1.0) if math.isfinite(share) else default
