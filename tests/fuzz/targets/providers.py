"""Replies of search providers: whatever a server sends, there are results of the right types or a ProviderError.

A case names a provider, which of its samples it stands for and a status; below that line is the body.
"""

import math

from sleuth_providers import registry
from sleuth_providers.base import Details, Found, Response
from sleuth_providers.errors import ProviderError
from sleuth_providers.net.client import HttpClient
from sleuth_providers.net.policy import Policy

PROVIDERS = {name: registry.load(name) for name in (*registry.names(), "local") if name != "library"}
SEEDS = [
    f"{name} {number} {sample.status}\n{sample.body}"
    for name, provider in PROVIDERS.items()
    for number, sample in enumerate(provider.samples)
]
LOCAL = "local 0 200\n" + "".join(
    f'<div class="r"><h3><a href="https://site{number}.example/page">Title {number} of rust</a></h3>'
    f"<p>Some words about rust, number {number}, that go on for a while.</p></div>"
    for number in range(5)
)
SEEDS.append(LOCAL)
WORDS = (
    '"url":  ¦ "title":  ¦ "content":  ¦ "snippet":  ¦ "results": [ ¦ "score": 1e400 ¦ '
    '"error": {"code": 1} ¦ <div class="result web-result"> ¦ <a class="result__a" href=" ¦ '
    '<h3 class="LC20lb"> ¦ <li class="b_algo"> ¦ <a href="/url?q=http://["> ¦ '
    '<a href="/l/?uddg=http%3A%2F%2F["> ¦ <a href="http://[x/"> ¦ /ck/a?u=a1 ¦ /RU='
)
ROUNDS = 1200


def check(data: bytes) -> None:
    """Search with one reply in place of the network."""
    head, _, body = data.partition(b"\n")
    name, number, status = [*head.decode("utf-8", "replace").split(" "), "", "", ""][:3]
    provider = PROVIDERS.get(name)
    if provider is None or not (number.isascii() and number.isdigit() and status.isascii() and status.isdigit()):
        return
    samples = provider.samples or PROVIDERS["local-bing"].samples
    sample = samples[int(number[:3]) % len(samples)]
    reply = Response(100 + int(status[:6]) % 500, sample.headers, body, "https://search.example/?q=rust")
    account = sample.account if name != "local" else sample.account._replace(host="https://search.example/?q=%s")
    http = HttpClient(Policy(attempts=1), transport=lambda *_: reply)
    for read in (lambda: provider.search(sample.query, account, http), lambda: provider.parse(reply, sample.query)):
        try:
            assert_plain(read())
        except ProviderError as error:
            assert isinstance(error.detail, str)
            assert error.retry_after is None or error.retry_after >= 0


def assert_plain(found: Found) -> None:
    """Fail where anything of a wrong type has come through."""
    for result in found.results:
        values = result._asdict()
        score = values.pop("score")
        assert score is None or math.isfinite(score), "score"
        assert all(type(name) is str for name in values.pop("engines")), "engines"
        details = values.pop("details")
        assert all(type(name) is str for name in details.authors), "authors"
        for name, default in Details._field_defaults.items():
            assert isinstance(getattr(details, name), int | None if default is None else type(default)), name
        assert all(type(value) is str for value in values.values()), "texts"
        assert result.url.startswith(("http://", "https://")), "url"
    assert all(type(part) is str for answer in found.answers for part in answer), "answers"
    assert all(type(part) is str for pair in found.engines.items() for part in pair), "failed engines"
    assert all(type(text) is str for text in (*found.suggestions, *found.corrections, *found.not_applied)), "lists"
    assert math.isfinite(found.cost), "cost"
