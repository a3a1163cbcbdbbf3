"""Google News: the RSS feed of its search."""

from sleuth_providers.adapters._feed import attribute, elements, feed_elements, field, plain_field
from sleuth_providers.base import (
    Account,
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
from sleuth_providers.errors import BadResponseError, BlockedError
from sleuth_providers.json import web_results

PERIODS = {"day": "1d", "week": "7d", "month": "1m", "year": "1y"}
# The edition where a language alone does not name a country of the same code.
COUNTRIES = {"en": "US", "zh": "CN", "ja": "JP", "ko": "KR", "pt": "BR", "sv": "SE", "cs": "CZ", "uk": "UA", "el": "GR"}
COUNTRIES |= {"da": "DK", "he": "IL", "hi": "IN", "ar": "EG", "vi": "VN", "es": "ES"}
# The language of the edition of a country; English for others.
LANGUAGES = {country: lang for lang, country in COUNTRIES.items()}
LANGUAGES |= dict.fromkeys(("AR", "CL", "CO", "MX", "PE"), "es")
LANGUAGES |= {
    "AT": "de",
    "BE": "fr",
    "CH": "de",
    "DE": "de",
    "FR": "fr",
    "HK": "zh",
    "IN": "en",
    "PT": "pt",
    "TW": "zh",
}
LANGUAGES |= {code.upper(): code for code in ("bg", "hu", "id", "it", "lt", "lv", "nl", "no", "pl", "ro", "ru", "tr")}
# Editions whose language is not simply the language code.
EDITIONS = {
    ("zh", "CN"): ("zh-CN", "zh-Hans"),
    ("zh", "TW"): ("zh-TW", "zh-Hant"),
    ("zh", "HK"): ("zh-HK", "zh-Hant"),
    ("pt", "BR"): ("pt-BR", "pt-419"),
    ("pt", "PT"): ("pt-PT", "pt-150"),
    ("es", "MX"): ("es-419", "es-419"),
}
PAUSE_S = 3600.0  # after a block


class GoogleNews(Provider):
    """Has no snippets, and its links lead through Google News."""

    id = "google-news"
    name = "Google News (RSS)"
    homepage = "https://news.google.com/"
    notes = (
        "Unofficial feed for personal, non-commercial use. Titles without snippets; "
        "links open Google News, which forwards to the article by script, so --content cannot read them."
    )
    attribution = "via Google News"
    host = "https://news.google.com"
    supports = frozenset({"freshness", "range", "lang", "region"})
    operators = True
    categories = ("news",)
    max_results = 100
    price = "free"
    per_minute = 20
    kind = "feed"
    error_rules = tuple(ErrorRule(status, BlockedError, min_pause_s=PAUSE_S) for status in (429, 503))

    def request(self, query: Query, account: Account) -> Request:
        """Name the edition three times, as the feed demands."""
        words = [query.with_operators()]
        if query.freshness == "range":
            words += [f"after:{query.since}", f"before:{query.until}"]
        elif query.freshness:
            words.append(f"when:{PERIODS[query.freshness]}")
        params = {"q": " ".join(words)} | _edition(query)
        return self.get(account, "/rss/search", params, {"Cookie": "CONSENT=YES+"})  # asked for in the EU

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Take a redirect to another host for what it is: the consent page or the captcha."""
        try:
            return super().search(query, account, http)
        except BadResponseError as error:
            if error.status in (301, 302, 303, 307):
                raise BlockedError("redirected to another host", status=error.status, retry_after=PAUSE_S) from error
            raise

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the feed, which always contains everything."""
        return Found(web_results(map(_result, feed_elements(response, "rss", "item"))))

    sample_plain = Sample(
        Query("sqlite", category="news"),
        "GET https://news.google.com/rss/search?q=sqlite&hl=en-US&gl=US&ceid=US%3Aen",
        '<rss version="2.0"><channel><title>"sqlite" - Google News</title></channel></rss>',
        (),
        headers={"content-type": "application/xml; charset=utf-8"},
    )
    sample_feed = """<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel><title>Google News</title>
     <item><title>SQLite turns 26 - Example Times</title><link>https://news.google.com/rss/articles/CBMiA?oc=5</link>
     <guid isPermaLink="false">CBMiA</guid><pubDate>Sun, 15 Nov 2026 08:00:00 GMT</pubDate>
     <description>&lt;a href="https://news.google.com/rss/articles/CBMiA"&gt;SQLite turns 26&lt;/a&gt;</description>
     <source url="https://times.example">Example Times</source></item>
     <item><title>二 &amp; 三</title><link>https://news.google.com/rss/articles/CBMiB?oc=5</link></item>
     <item><title>No link</title></item><item><title>Broken"""
    samples = (
        sample_plain._replace(
            query=Query(
                "sqlite",
                lang="zh-TW",
                category="news",
                freshness="range",
                since="2026-10-01",
                until="2026-10-31",
                include=("a.example", "b.example"),
                exclude=("spam.example",),
            ),
            sends="GET https://news.google.com/rss/search?q=sqlite+%28site%3Aa.example+OR+site%3Ab.example%29"
            "+-site%3Aspam.example+after%3A2026-10-01+before%3A2026-10-31&hl=zh-TW&gl=TW&ceid=TW%3Azh-Hant",
            body=sample_feed,
            finds=(
                "https://news.google.com/rss/articles/CBMiA?oc=5",
                "https://news.google.com/rss/articles/CBMiB?oc=5",
            ),
        ),
        sample_plain._replace(
            query=Query("sqlite", lang="de", category="news", freshness="month", since="2026-10-17"),
            sends="GET https://news.google.com/rss/search?q=sqlite+when%3A1m&hl=de&gl=DE&ceid=DE%3Ade",
        ),
        sample_plain._replace(
            query=Query("sqlite", region="CH", category="news"),
            sends="GET https://news.google.com/rss/search?q=sqlite&hl=de&gl=CH&ceid=CH%3Ade",
        ),
        sample_plain,
        sample_plain._replace(
            body="", status=302, headers={"location": "https://consent.google.com/m?continue=x"}, error="BLOCKED"
        ),
        sample_plain._replace(
            body="", status=302, headers={"location": "https://www.google.com/sorry/x"}, error="BLOCKED"
        ),
        sample_plain._replace(body="", status=429, error="BLOCKED"),
        sample_plain._replace(body="", status=503, error="BLOCKED"),
        sample_plain._replace(body="", status=400, error="INVALID_REQUEST"),
        sample_plain._replace(body="<html></html>", error="BAD_RESPONSE"),
    )


def _edition(query: Query) -> dict[str, str]:
    """Return language, country and edition, which must agree."""
    lang, _, territory = query.lang.partition("-")
    lang = lang.lower() or LANGUAGES.get(query.region, "en")
    country = (query.region or territory or COUNTRIES.get(lang, lang)).upper()
    shown, edition = EDITIONS.get((lang, country), (f"en-{country}" if lang == "en" else lang, lang))
    return {"hl": shown, "gl": country, "ceid": f"{country}:{edition}"}


def _result(item: str) -> Result:
    publisher, source = next(elements(item, "source"), ("", ""))
    site = plain_field(f"<source>{source}</source>", "source")
    return Result(
        title=plain_field(item, "title").removesuffix(f" - {site}"),
        url=field(item, "link"),
        published=field(item, "pubDate"),
        site=site or attribute(publisher, "url"),
    )
