"""The journal: one line a search, added without opening the database. `folding` moves it there later.

Searches from the cache are too quick for a database: a line costs microseconds, and imports nothing heavy.
"""

import os
import time

from sleuth.base.append import append

TYPE_CHECKING = False  # typing is not free either
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sleuth.engine.outcome import Attempt, Outcome

FULL = 256_000  # bytes after which the journal is to be folded
ROOM = 4 * FULL  # where nobody can fold it, it ends there
LONGEST_LINE = 4000  # bytes
LONGEST_QUERY = 800  # characters


def append_search(path: str, search: str) -> bool:
    """Add a search, as `describe` gives it, with the time of now; tells whether the journal is to be folded.

    Trouble costs the line and nothing else: the user has an answer, and must get it.
    """
    # A line that a full disk cut off ends where the next one begins.
    line = f'\n{{"at":{time.time():.3f},{search}}}\n'.encode("utf-8", "replace")
    try:
        try:
            return append(path, line, ROOM) > FULL
        except FileNotFoundError:
            from sleuth.base.files import private_folder

            private_folder(os.path.dirname(path))
            return append(path, line, ROOM) > FULL
    except Exception:
        return False


def journal_line(outcome: "Outcome", uncounted: "Sequence[Attempt]", *, with_query: bool) -> str:
    """Return a search as it stands in the journal, all but its time; what is too long for a line is cut.

    `uncounted` are the attempts that are not in the database already: those answered by the cache or by this machine.
    """
    facts = f'"providers":{_quoted(outcome.provider[:500])},"outcome":{_quoted(outcome.outcome)}'
    facts += f',"results":{len(outcome.results)},"ms":{outcome.elapsed_ms:d},"cached":{outcome.cached:d}'
    for words, most in ((LONGEST_QUERY, 100), (100, 10)):
        query = _quoted(outcome.query[:words]) if with_query else "null"
        asked = ",".join(map(_attempt, uncounted[:most]))
        search = f'"query":{query},{facts},"asked":[{asked}]'
        if len(search.encode("utf-8", "replace")) < LONGEST_LINE:
            break
    return search


def _attempt(attempt: "Attempt") -> str:
    return f"[{_quoted(attempt.provider[:64])},{_quoted(attempt.state)},{attempt.elapsed_ms:d},{attempt.cached:d}]"


def _quoted(text: str) -> str:
    """Return a JSON string; json itself takes longer to import than this."""
    if not text.isprintable():
        text = "".join(max(character, " ") for character in text)
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
