"""How many results of each provider were opened, for `history.learn_weights`. Only counts are kept."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress

from sleuth.base.errors import SleuthError
from sleuth.base.files import read_file, write_atomic
from sleuth.relevance.hit import Hit

MAX_FILE_BYTES = 100_000
PRIOR_RESULTS = 20  # shown before the share of a provider counts half
MIN_FACTOR, MAX_FACTOR = 0.5, 2.0


def _path(state: str) -> str:
    return os.path.join(state, "opened.json")


def _counts(state: str) -> dict[str, list[int]]:
    try:
        found = json.loads(read_file(_path(state), MAX_FILE_BYTES))
        return {str(name): [int(opened), int(shown)] for name, (opened, shown) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def record(state: str, opened: Sequence[Hit], shown: Sequence[Hit]) -> None:
    """Count results that were opened, and all that were shown with them, for each provider that found them."""
    counts = _counts(state)
    for place, hits in enumerate((opened, shown)):
        for provider in (name for hit in hits for name in hit.providers):
            counts.setdefault(provider, [0, 0])[place] += 1
    with suppress(OSError, SleuthError):
        write_atomic(_path(state), json.dumps(counts).encode())


def factors(state: str) -> dict[str, float]:
    """Return factors for the weights of providers: the share of their results that was opened, against that of all."""
    counts = _counts(state)
    rate = sum(opened for opened, _ in counts.values()) / max(sum(shown for _, shown in counts.values()), 1)
    if not rate:
        return {}
    shares = {name: (one + PRIOR_RESULTS * rate) / (shown + PRIOR_RESULTS) for name, (one, shown) in counts.items()}
    return {name: round(min(max(share / rate, MIN_FACTOR), MAX_FACTOR), 2) for name, share in shares.items()}


def forget(state: str) -> None:
    """Delete all counts."""
    with suppress(FileNotFoundError):
        os.unlink(_path(state))
