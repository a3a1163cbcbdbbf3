"""What the APIs for pictures and videos have in common."""

from __future__ import annotations

from collections.abc import Mapping

from sleuth_providers.base import Details
from sleuth_providers.json import as_count, as_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_SECONDS = 1_000_000


def video_length(seconds: Any) -> str:
    """Return a duration in seconds as `8:02` or `1:08:02`, empty for none."""
    number = as_number(seconds) or 0.0
    if not 0 < number < MAX_SECONDS:
        return ""
    minutes, rest = divmod(round(number), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def picture_size(item: Mapping[str, Any], width: str = "width", height: str = "height") -> Details:
    """Return width and height of a picture; 0 means unknown."""
    return Details(width=as_count(item.get(width)) or None, height=as_count(item.get(height)) or None)


def credit(*parts: str) -> str:
    """Return author, licence and other facts that must be shown with a picture."""
    return " · ".join(part for part in parts if part)
