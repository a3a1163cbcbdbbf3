"""GitHub: repositories and issues."""

import re

from sleuth_providers.base import Account, Details, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import OWN_KEY_HINT, ProviderError, RateLimitError
from sleuth_providers.json import as_count, as_dict, as_text, items, web_results

ENGINES = ("repositories", "issues")
SNIPPET_CHARS = 300
MIN_PAUSE_S = 60.0  # what GitHub asks for after its secondary limit


class GitHub(Provider):
    """Reports an exceeded limit as 403, like a missing permission."""

    id = "github"
    name = "GitHub"
    homepage = "https://docs.github.com/en/rest/search/search"
    key_page = "https://github.com/settings/personal-access-tokens"
    notes = (
        "Works without a key, for 10 searches a minute per IP address; a token without any permission allows 30. "
        "GITHUB_TOKEN or GH_TOKEN, if set, is sent with each search. "
        "Engines: " + ", ".join(ENGINES) + " (issues and pull requests)."
    )
    env = ("GITHUB_TOKEN", "GH_TOKEN")
    host = "https://api.github.com"
    supports = frozenset({"freshness", "range", "page", "engines"})
    categories = ("it",)
    known_engines = ENGINES
    max_results = 100
    max_query = 256
    price = "free"
    per_minute = 10
    options = {
        "sort": "stars, forks or updated; for issues comments, reactions, created or updated (default best match)"
    }

    def request(self, query: Query, account: Account) -> Request:
        """Write dates into the query: the last push to a repository, the creation of an issue."""
        engine = self.engine(query, account, ENGINES[0])
        words = [query.text]
        if query.freshness:
            until = query.until if query.freshness == "range" else "*"
            words.append(f"{'created' if engine == 'issues' else 'pushed'}:{query.since}..{until}")
        params = {
            "q": " ".join(words),
            "per_page": min(query.count, self.max_results),
            "page": query.page if query.page > 1 else None,
            "sort": account.options.get("sort"),
        }
        headers = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}
        if account.key:
            headers["Authorization"] = f"Bearer {account.key}"
        return self.get(account, f"/search/{engine}", params, headers)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Tell a limit, which is 403 or 429, from a rejected token."""
        if response.status not in (403, 429):
            return None
        from sleuth_providers.net.client import retry_after

        pause = retry_after(response)
        is_secondary = pause is not None or b"secondary rate limit" in response.body
        if is_secondary or response.headers.get("x-ratelimit-remaining") == "0" or response.status == 429:
            pause = max(pause or 0, MIN_PAUSE_S)
            return RateLimitError(status=response.status, retry_after=pause, hint=OWN_KEY_HINT)
        return None

    def parse(self, response: Response, query: Query) -> Found:
        """Parse repositories or issues; the score is the same for all."""
        return Found(web_results(map(_result, items(response, "items"))))

    sample_plain = Sample(
        Query("search library", category="it"),
        "GET https://api.github.com/search/repositories?q=search+library&per_page=10",
        '{"total_count": 0, "incomplete_results": false, "items": []}',
        (),
    )
    samples = (
        Sample(
            Query(
                "search library",
                count=200,
                page=2,
                category="it",
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
            ),
            "GET https://api.github.com/search/repositories?q=search+library+pushed%3A2026-01-01..2026-06-30&per_page=100"
            "&page=2&sort=stars",
            """{"total_count": 3120, "incomplete_results": true, "items": [{"id": 1, "full_name": "example/searchlib",
             "html_url": "https://github.com/example/searchlib", "description": "Small search library",
             "created_at": "2024-01-02T03:04:05Z", "pushed_at": "2026-10-30T12:00:00Z", "language": "Python",
             "stargazers_count": 1520, "topics": ["search"], "license": {"spdx_id": "MIT"}, "score": 1.0,
             "owner": {"login": "example", "avatar_url": "https://avatars.githubusercontent.com/u/1"}},
             {"full_name": "example/二", "html_url": "https://github.com/example/二", "description": null,
             "language": null, "stargazers_count": 1, "license": null, "owner": null}, {"html_url": null}, 7]}""",
            ("https://github.com/example/searchlib", "https://github.com/example/二"),
            account=Account(key="github_sample", options={"sort": "stars"}),
        ),
        sample_plain._replace(
            query=Query("search library", category="it", engines=("issues",), freshness="week", since="2026-11-10"),
            sends="GET https://api.github.com/search/issues?q=search+library+created%3A2026-11-10..%2A&per_page=10",
            body="""{"items": [{"title": "Crash", "html_url": "https://github.com/example/searchlib/issues/7",
             "body": "It\\r\\ncrashes …", "state": "open", "user": {"login": "ada"}, "comments": 3,
             "created_at": "2026-11-11T00:00:00Z"}]}""",
            finds=("https://github.com/example/searchlib/issues/7",),
        ),
        sample_plain,
        sample_plain._replace(
            body='{"message": "API rate limit exceeded"}',
            status=403,
            headers={
                "content-type": "application/json",
                "x-ratelimit-remaining": "0",
                "x-ratelimit-reset": "1794900000",
            },
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"message": "You have exceeded a secondary rate limit."}', status=403, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_plain._replace(body="{}", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body='{"message": "Forbidden"}', status=403, error="API_KEY_INVALID"),
        sample_plain._replace(
            body='{"message": "Validation Failed", "errors": []}', status=422, error="INVALID_REQUEST"
        ),
        sample_plain._replace(
            body='{"message": "Bad credentials"}',
            status=401,
            account=Account(key="github_sample"),
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object]) -> Result:
    owner, spdx = as_dict(item.get("owner")), as_text(as_dict(item.get("license")).get("spdx_id"))
    return Result(
        title=as_text(item.get("full_name")) or as_text(item.get("title")),
        url=as_text(item.get("html_url")),
        snippet=_beginning(as_text(item.get("description")) or as_text(item.get("body"))),
        published=as_text(item.get("pushed_at")) or as_text(item.get("created_at")),
        site="GitHub",
        thumbnail=as_text(owner.get("avatar_url")),
        author=as_text(owner.get("login")) or as_text(as_dict(item.get("user")).get("login")),
        details=Details(
            stars=as_count(item.get("stargazers_count")),
            language=as_text(item.get("language")),
            license="" if spdx == "NOASSERTION" else spdx,
            comments=as_count(item.get("comments")),
        ),
    )


def _beginning(text: str) -> str:
    return re.sub(r"\s+", " ", text[: 2 * SNIPPET_CHARS]).strip()[:SNIPPET_CHARS]
