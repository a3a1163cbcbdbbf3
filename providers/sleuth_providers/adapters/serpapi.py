"""SerpApi: the results pages of Google, Bing and Baidu as JSON."""

from functools import partial
from itertools import zip_longest

from sleuth_providers.adapters._baidu import time_span as _baidu_time_span
from sleuth_providers.adapters._bing import time_filter
from sleuth_providers.adapters._google import language, time_span
from sleuth_providers.base import (
    UNKNOWN_ENGINE,
    Account,
    DirectAnswer,
    ErrorRule,
    Found,
    Provider,
    Query,
    Request,
    Response,
    Result,
    Sample,
    Sender,
)
from sleuth_providers.errors import BadResponseError, DeadlineError, KeyInvalidError, ProviderError, QuotaError
from sleuth_providers.json import as_dict, as_text, document, objects, result_of, web_results
from sleuth_providers.threads import run_parallel

ENGINES = ("google", "bing", "baidu")
GRACE_S = 0.1  # after the deadline, for the error of an engine to arrive; the search waits no longer than 0.2
LISTS = {"news": ("news_results",), "images": ("images_results",)}
SAFE = {"off": "off", "moderate": None, "strict": "active"}
NOTHING = "returned any results"  # in the error of an empty result
Params = dict[str, str | int | None]


class SerpApi(Provider):
    """One endpoint for all engines, each with its own parameters."""

    id = "serpapi"
    name = "SerpApi"
    homepage = "https://serpapi.com/search-api"
    key_page = "https://serpapi.com/manage-api-key"
    notes = (
        "Engines: google (default), bing, baidu; each counts as a search. 250 searches a month are free. "
        "The key is part of the URL."
    )
    env = ("SERPAPI_API_KEY", "SERPAPI_KEY")
    host = "https://serpapi.com"
    needs_key = True
    supports = frozenset({"freshness", "range", "lang", "region", "safe", "page", "engines"})
    operators = True
    categories = ("general", "news", "images")
    known_engines = ENGINES
    several_engines = True
    max_results = 50
    page_size = 10  # of Google, whatever is requested
    price = "$15 to $25 (2026-11)"
    cost = 0.02
    weight = 1.2  # Google's index

    error_rules = (ErrorRule(429, QuotaError, rb"run out of searches|exhausted"),)

    def request(self, query: Query, account: Account) -> Request:
        """Use the first engine of the query, else that of the account."""
        engine = self.engine(query, account, "google")
        special = {"bing": _bing, "baidu": _baidu}.get(engine, _google)(query)
        params = {"engine": engine, "q": query.with_operators()} | special | {"api_key": account.key}
        return self.get(account, "/search.json", params)

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Search with all engines at once, and mix the results of those that answer."""
        wanted = [*dict.fromkeys(one for one in query.engines if one in ENGINES)] or account.engines or ("google",)
        search, replies = super().search, dict[str, Found | Exception]()
        jobs = [partial(search, query._replace(engines=(name,)), account, http) for name in wanted]
        for number, reply in run_parallel(jobs, http.time_left() + GRACE_S):
            replies[wanted[number]] = DeadlineError() if isinstance(reply, TimeoutError) else reply
        found = {name: reply for name in wanted if isinstance(reply := replies[name], Found)}
        errors = {name: reply for name in wanted if isinstance(reply := replies[name], ProviderError)}
        if bug := next((one for one in replies.values() if not isinstance(one, Found | ProviderError)), None):
            raise bug
        failed = {name: str(error.detail) or error.state for name, error in errors.items()}
        if not found:
            error = min(errors.values(), key=lambda one: not isinstance(one, KeyInvalidError | QuotaError))
            error.engines = failed if len(wanted) > 1 else {}
            raise error
        rows = zip_longest(*(each.results for each in found.values()))
        unknown = {name: UNKNOWN_ENGINE for name in query.engines if name not in ENGINES}
        ignored = [field for name in found for field in _ignored(query, name)]
        return Found(
            tuple(
                result._replace(engines=(name,)) if len(wanted) > 1 else result
                for row in rows
                for name, result in zip(found, row, strict=True)
                if result
            ),
            answers=tuple(answer for each in found.values() for answer in each.answers),
            suggestions=tuple(text for each in found.values() for text in each.suggestions),
            engines=unknown | failed,
            cost=self.cost * len(found),
            not_applied=tuple(dict.fromkeys(ignored)),
        )

    def detect_error(self, response: Response) -> ProviderError | None:
        """Tell an exhausted balance (429) from too many requests, and errors in HTTP 200 from empty results."""
        if response.status != 200:
            return super().detect_error(response)
        text = as_text(as_dict(response.json()).get("error"))
        if not text or NOTHING in text:
            return None
        if "API key" in text:
            return KeyInvalidError("an error in an HTTP 200 response", status=200)
        if "run out of searches" in text or "exhausted" in text:
            return QuotaError("an error in an HTTP 200 response", status=200)
        return BadResponseError("an error in an HTTP 200 response", status=200)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the list of the category, else the usual one, and the answer box."""
        names = (*LISTS.get(query.category, ()), "organic_results")
        is_empty = NOTHING in as_text(document(response).get("error"))
        data = document(response, *(() if is_empty else ("search_metadata", *names)))
        hits = next((found for name in names if (found := objects(data.get(name)))), [])
        box, graph = as_dict(data.get("answer_box")), as_dict(data.get("knowledge_graph"))
        answer = next((text for name in ("answer", "snippet", "result") if (text := as_text(box.get(name)))), "")
        source = as_text(as_dict(graph.get("source")).get("link"))
        answers = (
            DirectAnswer(answer, as_text(box.get("link"))),
            DirectAnswer(as_text(graph.get("description")), source),
        )
        related = (as_text(item.get("query")) for item in objects(data.get("related_searches")))
        return Found(
            web_results(map(_result, hits)),
            answers=tuple(each for each in answers if each.text),
            suggestions=tuple(text for text in related if text),
        )

    sample_plain = Sample(
        Query("rust"),
        "GET https://serpapi.com/search.json?engine=google&q=rust&api_key=sample-key",
        '{"search_metadata": {"status": "Success"}, "error": "Google hasn\'t returned any results for this query."}',
        (),
        account=Account(key="sample-key"),
    )
    samples = (
        sample_plain._replace(body='{"error": "Google hasn\'t returned any results for this query."}'),
        Sample(
            Query(
                "rust 2027",
                page=2,
                lang="zh-TW",
                region="TW",
                freshness="range",
                since="2026-01-05",
                until="2026-10-31",
                safe="strict",
                include=("example.org",),
                exclude=("spam.example",),
                engines=("duckduckgo", "google"),
            ),
            "GET https://serpapi.com/search.json?engine=google&q=rust+2027+site%3Aexample.org+-site%3Aspam.example"
            "&hl=zh-tw&lr=lang_zh-TW&gl=tw&tbs=cdr%3A1%2Ccd_min%3A1%2F5%2F2026%2Ccd_max%3A10%2F31%2F2026&safe=active&start=10"
            "&api_key=sample-key",
            """{"search_metadata": {"id": "66f0c1", "status": "Success", "total_time_taken": 1.9},
             "search_parameters": {"engine": "google", "q": "rust 2027"},
             "search_information": {"total_results": 182000}, "answer_box": {"type": "organic_result",
             "snippet": "Rust 2027 is an edition.", "link": "https://example.org/r27"},
             "knowledge_graph": {"title": "Rust", "description": "A language.",
             "source": {"link": "https://en.wikipedia.org/"}}, "organic_results": [{"position": 1,
             "title": "Rust 2027", "link": "https://example.org/r27", "displayed_link": "https://example.org",
             "snippet": "The next edition", "date": "3 days ago", "source": "Example",
             "thumbnail": "https://i.example/t"}, {"position": 2, "title": null, "link": "https://example.org/2",
             "snippet": null, "source": null}, {"position": 3, "title": "No link"}],
             "related_searches": [{"query": "rust 2024"}, {"query": null}]}""",
            ("https://example.org/r27", "https://example.org/2"),
            account=Account(key="sample-key", engines=("baidu",)),
        ),
        Sample(
            Query(
                "大模型",
                count=20,
                page=2,
                lang="zh-CN",
                freshness="week",
                since="2026-11-09",
                today="2026-11-16",
                safe="off",
            ),
            "GET https://serpapi.com/search.json?engine=baidu&q=%E5%A4%A7%E6%A8%A1%E5%9E%8B&rn=20&pn=20"
            "&gpc=stf%3D1794153600%2C1794844799%7Cstftype%3D1&api_key=sample-key",
            """{"search_parameters": {"engine": "baidu", "q": "大模型"}, "organic_results": [{"position": 1,
             "title": "大模型进展", "link": "http://www.baidu.com/link?url=abc", "displayed_link": "example.cn/",
             "snippet": "大模型……", "date": "2026年11月12日"}]}""",
            ("http://www.baidu.com/link?url=abc",),
            account=Account(key="sample-key", engines=("baidu",)),
        ),
        Sample(
            Query(
                "rust",
                category="images",
                lang="de",
                region="CH",
                freshness="year",
                since="2025-11-16",
                today="2026-11-16",
            ),
            "GET https://serpapi.com/search.json?engine=bing_images&q=rust&count=10&mkt=de-CH"
            "&filters=ex1%3A%22ez5_20408_20773%22&safeSearch=Moderate&api_key=sample-key",
            """{"search_parameters": {"engine": "bing_images"}, "images_results": [{"title": "Rust",
             "link": "https://a.example/1", "thumbnail": "https://th.bing.com/1",
             "original": "https://a.example/1.png", "source": "a.example"}]}""",
            ("https://a.example/1",),
            account=Account(key="sample-key", engines=("bing",)),
        ),
        Sample(
            Query("rust", category="news", freshness="day", since="2026-11-15"),
            "GET https://serpapi.com/search.json?engine=google&q=rust&tbs=qdr%3Ad&tbm=nws&api_key=sample-key",
            """{"search_parameters": {"engine": "google"}, "news_results": [{"title": "Rust in space",
             "link": "https://news.example/1", "source": "News", "date": "2 hours ago", "snippet": "…"}]}""",
            ("https://news.example/1",),
            account=sample_plain.account,
        ),
        sample_plain._replace(
            body='{"error": "Invalid API key. Your API key should be here: https://serpapi.com/manage-api-key"}',
            status=401,
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(body='{"error": "Unsupported `rust` engine."}', status=400, error="INVALID_REQUEST"),
        sample_plain._replace(
            body='{"error": "Your account has run out of searches."}', status=429, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_plain._replace(
            body='{"error": "You are exceeding your hourly throughput limit."}', status=429, error="RATE_LIMIT_EXCEEDED"
        ),
        sample_plain._replace(body='{"error": "Invalid API key."}', error="API_KEY_INVALID"),
        sample_plain._replace(
            body='{"error": "Your searches for the month are exhausted. You can upgrade plans."}',
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(
            body='{"search_metadata": {"status": "Error"}, "error": "We couldn\'t get valid results for this search."}',
            error="BAD_RESPONSE",
        ),
        sample_plain._replace(body='{"error": "…"}', status=500, error="PROVIDER_UNAVAILABLE"),
        sample_plain._replace(
            body="upstream connect error",
            status=503,
            headers={"content-type": "text/plain"},
            error="PROVIDER_UNAVAILABLE",
        ),
        sample_plain,
    )


def _google(query: Query) -> Params:
    code = language(query.lang)
    return {
        "hl": code.lower(),
        "lr": f"lang_{code}" if code else None,
        "gl": query.region.lower(),
        "tbs": time_span(query),
        "safe": SAFE[query.safe],
        "start": 10 * (query.page - 1) or None,
        "tbm": {"news": "nws", "images": "isch"}.get(query.category),
    }


def _bing(query: Query) -> Params:
    lang, _, territory = query.lang.partition("-")
    region = query.region or territory
    return {
        "engine": f"bing_{query.category}" if query.category in ("news", "images") else "bing",
        "count": min(query.count, 50),
        "mkt": f"{lang}-{region}" if lang and region else None,
        "cc": region.lower() if not lang else None,
        "filters": f'ex1:"{time_filter(query)}"' if query.freshness else None,
        "safeSearch": query.safe.capitalize(),
        "first": 1 + 10 * (query.page - 1) if query.page > 1 else None,
    }


def _baidu(query: Query) -> Params:
    count = min(query.count, 50)
    params: Params = {"engine": "baidu_news" if query.category == "news" else "baidu", "rn": count}
    params["pn"] = count * (query.page - 1) or None
    if query.freshness:
        params["gpc"] = _baidu_time_span(query)
    return params


def _ignored(query: Query, engine: str) -> tuple[str, ...]:
    """Return what an engine does not support; Bing has no language without a country."""
    if engine == "bing":
        return ("lang",) if query.lang and not query.region and "-" not in query.lang else ()
    if engine == "google":
        return ()
    wanted = {"lang": query.lang, "region": query.region, "safe": query.safe != "moderate"}
    wanted["category"] = query.category == "images"
    return tuple(name for name, value in wanted.items() if value)


def _result(item: dict[str, object]) -> Result:
    names = {"published": "date", "site": "source", "thumbnail": "thumbnail", "image": "original"}
    texts = result_of(item, title="title", url="link", snippet="snippet", **names)
    return texts._replace(site=texts.site or as_text(item.get("displayed_link")))
