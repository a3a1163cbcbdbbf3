"""What a SearXNG says of its engines, as doctor reads it: /config, a search and /stats/errors, each of any shape.

A case is one JSON object with these three and the header of timings.
"""

import json
from types import SimpleNamespace
from typing import Any

from sleuth.base.text import JOINERS
from sleuth.doctor.server.address import Endpoint
from sleuth.doctor.server.search import (
    ENGINE_PROBLEMS,
    engines_answer,
    engines_with,
    response_is_fast_enough,
    search_works,
)
from sleuth.doctor.server.session import Environment, Session
from sleuth_providers.base import Account
from sleuth_providers.json import as_dict, as_text

WORDS = (
    '"engines": [ ¦ "name": ¦ "enabled": true ¦ "unresponsive_engines": [ ¦ Suspended:  ¦ suspended_time=999999999 ¦ '
    "total_0_a;dur=1.2.3"
)
ROUNDS = 900
LARGE = 300_000


def check(data: bytes) -> None:
    """Report on the engines."""
    try:
        said = as_dict(json.loads(data))
    except (ValueError, RecursionError):
        return
    session = _session(said)
    found = [engines_answer(session), search_works(session), response_is_fast_enough(session)]
    found += [finding for problem in ENGINE_PROBLEMS if (finding := engines_with(problem, session))]
    for finding in found:
        assert all(type(part) is str for part in (*finding[:5],))
        assert all(sign.isprintable() or sign in JOINERS or sign == "\n" for sign in finding.evidence), "harmless"
        assert all(sign.isprintable() or sign in JOINERS for sign in finding.fix.replace("\n", "")), "harmless to type"


def _session(said: dict[str, Any]) -> Session:
    seen = SimpleNamespace(
        header=lambda _name: as_text(said.get("timing")), elapsed_ms=40, status=200, timed_out=False, summary="HTTP 200"
    )
    environment = Environment(now=1_700_000_000.0)
    session = Session(Endpoint("http", "a", 80), Account("searxng", engines=("bing", "x")), 5.0, environment)
    vars(session).update(  # no request is made for what is known already
        config=as_dict(said.get("config")),
        answer=as_dict(said.get("answer")),
        engine_errors=as_dict(said.get("errors")),
        search=seen,
        software=(as_text(said.get("software")), ""),
    )
    return session
