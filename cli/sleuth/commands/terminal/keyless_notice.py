"""Says once, on a terminal, which services get the queries of a search for which no provider was chosen."""

from __future__ import annotations

import os

from sleuth.base.i18n import tr
from sleuth.runtime import Runtime
from sleuth_providers.base import Query

MARK = "keyless-notice"  # the file that says that the notice was shown


def show_once(runtime: Runtime, providers: tuple[str, ...], query: Query, *, offline: bool) -> None:
    """Print the notice before the first search that uses the default chain, unless output goes to a pipe."""
    mark = os.path.join(runtime.paths.state, MARK)
    if offline or runtime.quiet or not runtime.stderr.isatty() or os.path.exists(mark):
        return
    own, names = _services(runtime, providers, query)
    if not names:
        return
    beginning = "no default provider is set; queries go to the first of these that answers: "
    if own:
        beginning = "queries go to {own}; if it fails, to the first of these that answers: "
    choices = tr("; to choose one: sleuth providers use ID; to use none: sleuth config set websearch.keyless false")
    runtime.note(tr(beginning, own=own) + tr(", ").join(names) + choices)
    from sleuth.base.files import private_folder, write_atomic
    from sleuth.base.logs import log

    try:
        private_folder(runtime.paths.state)
        write_atomic(mark, b"", sync=False)
    except Exception as problem:  # the next search says it again
        log("keyless notice: not remembered: %r", problem)


def _services(runtime: Runtime, providers: tuple[str, ...], query: Query) -> tuple[str, list[str]]:
    """Return the user's own provider at the start of the default chain, and the services in it.

    There are none if the user chose the providers. Services that are searched together are joined with +.
    """
    from sleuth.engine.chain import chain_entries

    selector = runtime.selector
    chosen = selector.default() if not providers else providers != ("auto",)
    if chosen or chain_entries(runtime.settings, query)[1]:
        return "", []
    groups = list(selector.groups(query, "", library=False))
    services = [[one.row.name for one in group if selector.is_third_party(one)] for group in groups]
    own = groups[0][0].row.name if groups and not services[0] else ""
    return own, [" + ".join(names) for names in services if names]
