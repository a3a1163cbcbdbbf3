"""Says once, on a terminal, which services get the queries of a search for which no provider was chosen."""

from __future__ import annotations

import os

from sleuth.base.i18n import tr
from sleuth.runtime import Runtime

MARK = "keyless-notice"  # the file that says that the notice was shown


def show_once(runtime: Runtime, providers: tuple[str, ...], *, offline: bool) -> None:
    """Print the notice before the first search that uses the default chain, unless output goes to a pipe."""
    mark = os.path.join(runtime.paths.state, MARK)
    if offline or runtime.quiet or not runtime.stderr.isatty() or os.path.exists(mark):
        return
    names = _services(runtime, providers)
    if not names:
        return
    runtime.note(
        tr(
            "no provider is chosen, so queries go to the first of these that answers: {names}; choose one: "
            "sleuth providers use ID; none of them: sleuth config set websearch.keyless false",
            names=", ".join(names),
        )
    )
    from sleuth.base.files import private_folder, write_atomic
    from sleuth.base.logs import log

    try:
        private_folder(runtime.paths.state)
        write_atomic(mark, b"", sync=False)
    except Exception as problem:  # the next search says it again
        log("keyless notice: not remembered: %r", problem)


def _services(runtime: Runtime, providers: tuple[str, ...]) -> list[str]:
    """Return the names of the services in the default chain; none if the user chose the providers."""
    from sleuth.engine.chain import chain_entries
    from sleuth_providers.base import Query

    selector, query = runtime.selector, Query("")
    if providers not in ((), ("auto",)) or (not providers and selector.default()):
        return []
    if chain_entries(runtime.settings, query)[1]:
        return []
    groups = selector.groups(query, "", library=False)
    return [one.row.name for group in groups for one in group if selector.is_third_party(one)]
