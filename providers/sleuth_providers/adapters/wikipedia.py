"""Wikipedia: MediaWiki search with the introduction of each article; needs no key."""

from sleuth_providers.adapters._mediawiki import MediaWiki, ranked_pages
from sleuth_providers.base import Account, Found, Query, Request, Response, Result, Sample
from sleuth_providers.json import as_dict, as_list, as_text, web_results


class Wikipedia(MediaWiki):
    """One request returns results, introductions, pictures and URLs, in no particular order."""

    id = "wikipedia"
    name = "Wikipedia"
    homepage = "https://www.mediawiki.org/wiki/API:Search"
    notes = "--lang selects the Wikipedia (default English). Texts are under CC BY-SA."
    attribution = "Wikipedia contributors, CC BY-SA"
    host = "https://{lang}.wikipedia.org"
    supports = frozenset({"lang", "page"})
    max_results = 20  # limit of introductions per request
    max_query = 300
    price = "free"
    weight = 0.8  # reliable, but narrow
    caveat = "an encyclopedia, not a web search"

    def request(self, query: Query, account: Account) -> Request:
        """Use the search generator of the Action API; `formatversion=2` makes pages a list."""
        lang = query.lang.split("-")[0].lower() or "en"
        host = (account.host or self.host).replace("{lang}", lang)
        count = min(query.count, self.max_results)
        params = {
            "action": "query",
            "format": "json",
            "formatversion": 2,
            "generator": "search",
            "gsrsearch": query.text,
            "gsrlimit": count,
            "prop": "extracts|info|pageimages",
            "explaintext": 1,
            "exlimit": "max",
            "inprop": "url",
            "piprop": "thumbnail",
            "pithumbsize": 320,
            "redirects": 1,
            "exintro": 1,  # the API returns no more than one whole article
            "exchars": 600,
            "gsroffset": (query.page - 1) * count or None,
        }
        headers = {"Accept-Language": query.lang} if query.lang else {}
        return self.get(account._replace(host=host), "/w/api.php", params, headers)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the pages and the suggested query."""
        return Found(web_results(map(_result, ranked_pages(response))), suggestions=_suggestions(response))

    sample_refused = Sample(
        Query("slow down", count=10),
        "GET https://en.wikipedia.org/w/api.php?action=query&format=json&formatversion=2&generator=search"
        "&gsrsearch=slow+down&gsrlimit=10&prop=extracts%7Cinfo%7Cpageimages&explaintext=1"
        "&exlimit=max&inprop=url&piprop=thumbnail&pithumbsize=320&redirects=1&exintro=1&exchars=600",
        '{"error": {"code": "ratelimited", "info": "You\'ve exceeded your rate limit."}}',
        (),
        error="RATE_LIMIT_EXCEEDED",
    )
    samples = (
        Sample(
            Query("爱因斯坦", lang="zh-CN", count=5),
            "GET https://zh.wikipedia.org/w/api.php?action=query&format=json&formatversion=2&generator=search"
            "&gsrsearch=%E7%88%B1%E5%9B%A0%E6%96%AF%E5%9D%A6&gsrlimit=5&prop=extracts%7Cinfo%7Cpageimages&explaintext=1"
            "&exlimit=max&inprop=url&piprop=thumbnail&pithumbsize=320&redirects=1&exintro=1&exchars=600",
            """{"batchcomplete": true, "query": {"pages": [
              {"pageid": 2, "title": "相对论", "index": 2, "extract": "相对论是物理学理论。", "fullurl": "https://zh.wikipedia.org/wiki/相对论"},
              {"pageid": 1, "title": "阿尔伯特·爱因斯坦", "index": 1, "extract": "阿尔伯特·爱因斯坦是物理学家。",
               "fullurl": "https://zh.wikipedia.org/wiki/爱因斯坦", "touched": "2026-11-10T01:00:00Z",
               "thumbnail": {"source": "//upload.wikimedia.org/e.jpg", "width": 244}}]}}""",
            ("https://zh.wikipedia.org/wiki/爱因斯坦", "https://zh.wikipedia.org/wiki/相对论"),
        ),
        sample_refused,
        sample_refused._replace(body="", status=429),
        sample_refused._replace(body='{"error": {"code": "srsearch-error"}}', error="BAD_RESPONSE"),
        sample_refused._replace(body="<html>User-Agent</html>", status=403, error="BLOCKED"),
        sample_refused._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(page: dict[str, object]) -> Result:
    thumbnail = as_text(as_dict(page.get("thumbnail")).get("source"))
    return Result(
        title=as_text(page.get("title")),
        url=as_text(page.get("fullurl")),
        snippet=as_text(page.get("extract"))[:600],
        published=as_text(page.get("touched")),
        site="Wikipedia",
        thumbnail=f"https:{thumbnail}" if thumbnail.startswith("//") else thumbnail,
    )


def _suggestions(response: Response) -> tuple[str, ...]:
    info = as_dict(as_dict(as_dict(response.json()).get("query")).get("searchinfo"))
    return tuple(as_text(text) for text in as_list([info.get("suggestion")]) if text)
