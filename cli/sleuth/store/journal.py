"""The journal: one line per search, appended without opening the database; `journal_import` moves it there later.

A search answered from the cache takes less time than opening a database does.
"""

import os
import time

from sleuth.base.append import append

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from sleuth.engine.outcome import Attempt, Outcome

IMPORT_SIZE = 256_000  # bytes after which the journal should be imported
MAX_SIZE = 4 * IMPORT_SIZE  # bytes after which lines are dropped, if no import succeeds
MAX_LINE_BYTES = 4000
MAX_QUERY_CHARS = 800
QUESTION_SEPARATOR = " | "  # where several questions are shown as one query; the journal separates them by newlines


def append_search(path: str, line: str) -> bool:
    """Append a search, as `journal_line` returns it, with the current time; return whether to import the journal.

    A failure loses the line and nothing else: the user gets the answer.
    """
    # The leading newline ends a line that a full disk truncated.
    data = f'\n{{"at":{time.time():.3f},{line}}}\n'.encode("utf-8", "replace")
    try:
        try:
            return append(path, data, MAX_SIZE) > IMPORT_SIZE
        except FileNotFoundError:
            from sleuth.base.files import private_folder

            private_folder(os.path.dirname(path))
            return append(path, data, MAX_SIZE) > IMPORT_SIZE
    except Exception:
        return False


def journal_line(outcome: "Outcome", uncounted: "Sequence[Attempt]", *, with_query: bool) -> str:
    """Return the members of a search's JSON object, without the time; long ones are truncated.

    `uncounted` are the attempts that are not in the database yet: those answered by the cache or by this machine.
    """
    import json  # not needed to append a line that was saved with a rendered answer

    questions = "\n".join(outcome.questions or [outcome.query])
    for max_chars, max_attempts in ((MAX_QUERY_CHARS, 100), (100, 5)):
        entry = {
            "query": questions[:max_chars] if with_query else None,
            "providers": outcome.provider[:max_chars],
            "outcome": outcome.outcome,
            "results": len(outcome.results),
            "ms": outcome.elapsed_ms,
            "cached": int(outcome.cached),
            "asked": [[a.provider[:64], a.state, a.elapsed_ms, int(a.cached)] for a in uncounted[:max_attempts]],
        }
        line = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))[1:-1]
        if len(line.encode("utf-8", "replace")) < MAX_LINE_BYTES:
            break
    return line
