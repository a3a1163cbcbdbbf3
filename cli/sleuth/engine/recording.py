"""Record the responses of providers, and replay a search from a recording without any request.

A recording is a JSON file: for every exchange the provider, the question, the request without keys, and the raw reply
or the error. A replay runs the whole pipeline, parsing included, so it reproduces a ranking or a bug.
"""

import json
import os
import re
from base64 import b64decode, b64encode
from collections import defaultdict
from datetime import UTC, datetime
from functools import partial
from threading import Lock
from typing import Any

from sleuth.base.errors import RequestError
from sleuth.base.files import read_file, unreadable, write_out
from sleuth.base.json_output import json_text
from sleuth.base.text import redact
from sleuth.engine.found import found_as_json, found_from_json
from sleuth.engine.query_fit import without_date
from sleuth_providers import errors
from sleuth_providers.base import Account, Found, Provider, Query, Request, Response
from sleuth_providers.errors import ProviderError, UnreachableError
from sleuth_providers.net import client as net_client
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

VERSION = 1
MAX_FILE_BYTES = 500_000_000  # a provider response has up to 5 MB, and a batch many of them
RECORDED_HEADERS = ("content-type", "retry-after", "location", "server-timing", "x-ratelimit-reset")
_ERROR_TYPES = {
    kind.__name__: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ProviderError)
}


class Recorder:
    """Records every exchange of a search; thread-safe."""

    replays = False

    def __init__(self, path: str) -> None:
        if os.path.isfile(path) and os.path.getsize(path):
            _read(path, "choose another file")  # what is not a recording is left alone
        self.path = path
        self.entries: list[dict[str, Any]] = []
        self.now = datetime.now(UTC)

    def search(self, adapter: Provider, query: Query, account: Account, policy: Policy) -> Found:
        """Run a provider and record its exchanges."""
        if not adapter.offline:
            return adapter.search(query, account, HttpClient(policy, partial(self._exchange, query, account)))
        found = adapter.search(query, account, HttpClient(policy))
        self.entries.append(_entry(account, query) | {"found": found_as_json(found)})
        return found

    def _exchange(self, query: Query, account: Account, request: Request, *rest: Any) -> Response:
        secrets = account.secrets
        entry = _entry(account, query) | {"method": request.method, "url": redact(request.address, secrets)}
        try:
            reply = net_client.transmit(request, *rest)
        except ProviderError as error:
            self.entries.append(entry | {"error": type(error).__name__, "detail": redact(error.detail, secrets)})
            raise
        kept = {name: redact(reply.headers[name], secrets) for name in RECORDED_HEADERS if name in reply.headers}
        self.entries.append(entry | {"status": reply.status, "headers": kept} | _encoded_body(reply.body, secrets))
        return reply

    def save(self) -> None:
        """Write the recording to its file."""
        entries = sorted(self.entries, key=lambda entry: (entry["provider"], entry["question"], entry["page"]))
        document = {"version": VERSION, "recordedAt": self.now.isoformat(), "exchanges": entries}
        write_out(self.path, (json_text(document, indent=1) + "\n").encode())


class Replayer:
    """Replays a recording; a request that is not in it fails as unreachable."""

    replays = True

    def __init__(self, path: str) -> None:
        document = _read(path, "give a file written by --record")
        self.now = datetime.fromisoformat(document["recordedAt"])
        self._lock = Lock()
        self._exchanges: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
        for entry in document["exchanges"]:
            self._exchanges[entry["provider"], without_date(entry["question"]), entry["page"]].append(entry)

    @property
    def questions(self) -> list[str]:
        """Return the recorded questions."""
        return list(dict.fromkeys(question for _, question, _ in self._exchanges))

    @property
    def providers(self) -> list[str]:
        """Return the ids of the recorded providers."""
        return list(dict.fromkeys(provider for provider, _, _ in self._exchanges))

    def search(self, adapter: Provider, query: Query, account: Account, policy: Policy) -> Found:
        """Run a provider on its recorded responses, matched by URL; those to equal requests are replayed in order."""
        if adapter.offline:
            found = found_from_json(self._next(query, account, offline=True)["found"]) or Found()
            return found._replace(results=tuple(one for one in found.results if _is_shown(adapter, one.url)))
        client = HttpClient(policy, partial(self._exchange, query, account), sleep=lambda _: None)
        return adapter.search(query, account, client)

    def _exchange(self, query: Query, account: Account, request: Request, *_: Any) -> Response:
        entry = self._next(query, account, request.address)
        if "error" in entry:
            raise _ERROR_TYPES.get(entry["error"], UnreachableError)(entry.get("detail", ""))
        body = entry["text"].encode("utf-8", "replace") if "text" in entry else b64decode(entry["base64"])
        return Response(entry["status"], entry["headers"], body, request.address)

    def _next(self, query: Query, account: Account, url: str = "", *, offline: bool = False) -> dict[str, Any]:
        entries = self._exchanges.get((account.id, without_date(query.text), query.page))
        hint = "replay the recorded query, or record this one: sleuth search --record FILE …"
        missing = UnreachableError(message="the recording has no such request to {provider}", hint=hint)
        if not entries or ("found" in entries[0]) != offline:
            raise missing
        parts = _parts(url)
        with self._lock:  # a provider may send several requests at once
            places = [at for at, entry in enumerate(entries) if _engine(parts) == _engine(_parts(entry.get("url", "")))]
            if places:
                return entries.pop(max(places, key=lambda at: len(parts & _parts(entries[at].get("url", "")))))
        raise missing


def _parts(url: str) -> set[str]:
    """Return the address and the parameters of a URL, which tell the requests of one search apart."""
    return {*re.split("[?&]", url)}


def _engine(parts: set[str]) -> set[str]:
    """Return the parameter in which the parallel requests of SerpApi differ."""
    return {part for part in parts if part.startswith("engine=")}


def _is_shown(adapter: Provider, url: str) -> bool:
    """Tell whether a result is on the web or in the library here: a foreign recording may name any file."""
    from sleuth.library.provider import LibraryProvider

    return not url.strip().lower().startswith("file:") or (isinstance(adapter, LibraryProvider) and adapter.holds(url))


def _entry(account: Account, query: Query) -> dict[str, Any]:
    return {"provider": account.id, "question": query.text, "page": query.page}


def _encoded_body(body: bytes, secrets: tuple[str, ...]) -> dict[str, str]:
    try:
        return {"text": redact(body.decode("utf-8"), secrets)}
    except UnicodeDecodeError:
        return {"base64": b64encode(redact(body.decode("latin-1"), secrets).encode("latin-1")).decode()}


def _read(path: str, hint: str) -> dict[str, Any]:
    try:
        document = json.loads(read_file(path, MAX_FILE_BYTES, own=False))
        if document["version"] != VERSION or document.keys() != {"version", "recordedAt", "exchanges"}:
            raise ValueError(f"version {document['version']}")
        if datetime.fromisoformat(document["recordedAt"]).tzinfo is None:
            raise ValueError("no time zone")
        for entry in document["exchanges"]:
            _check(entry)
    except OSError as problem:
        raise unreadable(path, problem, hint) from problem
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise RequestError("{path} is not a recording", hint, path=path) from problem
    return dict(document)


def _check(entry: dict[str, Any]) -> None:
    """Raise for an exchange that cannot be replayed: without its question, or with neither error nor reply."""
    texts = [entry["provider"], entry["question"], entry.get("error", ""), entry.get("detail", "")]
    numbers = [entry["page"]]
    if "error" not in entry and "found" not in entry:
        numbers.append(entry["status"])
        texts += [part for pair in entry["headers"].items() for part in pair]
        texts.append(entry["text"] if "text" in entry else b64decode(entry["base64"]).decode("latin-1"))
    if not all(isinstance(text, str) for text in texts) or not all(isinstance(number, int) for number in numbers):
        raise TypeError("not an exchange")
