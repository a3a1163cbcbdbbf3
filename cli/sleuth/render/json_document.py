"""One JSON document: the published form of an outcome."""

import json
from typing import TextIO

from sleuth.outcome import Outcome, as_json
from sleuth.render import View
from sleuth.render.fields import chosen_fields


def render(outcome: Outcome, out: TextIO, view: View) -> None:
    """Write the outcome as indented JSON; control characters are escaped by the encoder."""
    document = as_json(outcome, explain=view.explain)
    if view.fields:
        document["results"] = [chosen_fields(hit, view.fields, explain=view.explain) for hit in outcome.results]
    json.dump(document, out, ensure_ascii=not _takes_unicode(out), indent=2)
    out.write("\n")


def _takes_unicode(out: TextIO) -> bool:
    return (getattr(out, "encoding", None) or "utf-8").lower().replace("-", "") == "utf8"
