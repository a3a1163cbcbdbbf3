"""Startpage: Google's results through its own results page."""

import json
import re
from typing import Any

from sleuth_providers.adapters._media import picture_size
from sleuth_providers.adapters._walls import wall_error
from sleuth_providers.base import Account, Found, Provider, Query, Request, Response, Result, Sample, Sender
from sleuth_providers.errors import BadResponseError, BlockedError, ProviderError
from sleuth_providers.html.tree import join, page_text, read_html, text_of
from sleuth_providers.json import as_count, as_dict, as_text, objects, strip_tags, web_results

SAFE = {"off": "none", "moderate": "moderate", "strict": "heavy"}
KINDS = {"general": "web", "news": "news", "images": "images"}
LANGUAGES = {
    "en": "english", "de": "deutsch", "fr": "francais", "es": "espanol", "it": "italiano", "nl": "nederlands",
    "pt": "portugues", "pl": "polski", "sv": "svenska", "da": "dansk", "no": "norsk",
}  # fmt: skip
DATA = re.compile(r"React\.createElement\(UIStartpage\.AppSerp\w{3,10}, (?=\{)")
DATE = re.compile(r"^(\d{1,2} \w{3,9} \d{4}|\d{1,2} \w{3,7} ago) \.\.\. ")
MAX_ITEMS = 200  # unclosed tags can nest each result in the one before
PAUSE_S = 3600.0  # after a bot check


class Startpage(Provider):
    """Takes two requests: the start page has a token that the search form needs."""

    id = "startpage"
    name = "Startpage (page)"
    homepage = "https://www.startpage.com/"
    notes = "Unofficial: Startpage shows a captcha to most programs."
    host = "https://www.startpage.com"
    supports = frozenset({"freshness", "lang", "region", "safe", "page"})
    operators = True
    categories = ("general", "news", "images")
    max_results = 10
    price = "free"
    per_minute = 10
    weight = 1.2  # Google's index
    kind = "page"
    opt_in = True

    def request(self, query: Query, account: Account) -> Request:
        """Return the search form, without its token."""
        lang = LANGUAGES.get(query.lang.split("-")[0].lower(), "english")
        form = {
            "query": query.with_operators(),
            "cat": KINDS.get(query.category, "web"),
            "t": "device",
            "with_date": query.freshness[:1] if query.freshness != "range" else "",
            "abd": "1",
            "abe": "1",
            "qsr": "all",
            "qadf": SAFE[query.safe],
            "language": lang,
            "lui": lang,
        }
        if query.page > 1:
            form |= {"page": str(query.page), "segment": "startpage.udog"}
        host = self.base_url(account)
        preferences = {
            "disable_family_filter": form["qadf"],
            "enable_post_method": "1",
            "num_of_results": "10",
            "language": lang,
            "language_ui": lang,
            "search_results_region": f"{query.lang.split('-')[0] or 'en'}-{query.region}" if query.region else "all",
        }
        cookie = "N1N".join(f"{name}EEE{value}" for name, value in preferences.items())
        return Request(f"{host}/sp/search", method="POST", form=form, headers={"Cookie": f"preferences={cookie}"})

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add languages that Startpage does not have."""
        ignored = super().not_applied(query)
        known = not query.lang or query.lang.split("-")[0].lower() in LANGUAGES
        return ignored if known else (*ignored, "lang")

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Read the token from the start page, then send the form."""
        home = http.send(Request(f"{self.base_url(account)}/"), self.detect_error)
        token = read_html(home).css_first('input[name="sc"]')
        if token is None:
            raise BlockedError("the page contains no token", status=home.status, retry_after=PAUSE_S)
        request = self.request(query, account)
        form = {**(request.form or {}), "sc": token.attributes.get("value") or ""}
        return self.parse(http.send(request._replace(form=form), self.detect_error), query)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise a bot check; a page with the token is not one."""
        return wall_error(response, b'name="sc"', PAUSE_S)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the data of the page, or its elements."""
        page = page_text(response)
        start = DATA.search(page)
        if start is None:
            results = web_results(_elements(read_html(response)))
            if not results:
                raise BadResponseError("no results found on the page", status=response.status)
            return Found(results)
        try:
            data = json.JSONDecoder().raw_decode(page, start.end())[0]
        except (ValueError, RecursionError) as problem:
            raise BadResponseError("invalid JSON", status=response.status) from problem
        regions = as_dict(as_dict(as_dict(as_dict(data).get("render")).get("presenter")).get("regions"))
        rows = [item for block in objects(regions.get("mainline")) for item in objects(block.get("results"))]
        return Found(web_results(_result(row, response.url) for row in rows))

    sample_plain = Sample(
        Query("sqlite wal"),
        "POST https://www.startpage.com/sp/search",
        '<form id="search"><input type="hidden" name="sc" value="tok1"></form><script>React.createElement(UIStartpage.'
        'AppSerpWeb, {"render": {"presenter": {"regions": {"mainline": []}}}})</script>',
        (),
        headers={"content-type": "text/html; charset=utf-8"},
        sends_body={
            "query": "sqlite wal", "cat": "web", "t": "device", "with_date": "", "abd": "1", "abe": "1", "qsr": "all",
            "qadf": "moderate", "language": "english", "lui": "english",
        },
    )  # fmt: skip
    samples = (
        sample_plain._replace(
            query=Query("sqlite", page=2, lang="de", region="CH", safe="strict", freshness="week", since="2026-11-10"),
            body=sample_plain.body.replace(
                "[]",
                """[{"display_type": "web-google", "results": [{"title": "Write-Ahead <b>Logging</b>",
                 "clickUrl": "https://sqlite.org/wal.html", "description": "2 Sep 2026 ... The WAL file &amp; …"},
                 {"clickUrl": null}, 7]}, {"display_type": "ads"}, 7]""",
            ),
            finds=("https://sqlite.org/wal.html",),
            sends_body=sample_plain.sends_body
            | {"query": "sqlite", "with_date": "w", "qadf": "heavy", "language": "deutsch", "lui": "deutsch"}
            | {"page": "2", "segment": "startpage.udog"},
        ),
        sample_plain._replace(
            query=Query("sea", category="images"),
            body=sample_plain.body.replace(
                "[]",
                """[{"display_type": "images-bing", "results": [{"title": "Sea", "altClickUrl": "https://example.org/p",
                 "rawImageUrl": "https://example.org/a.jpg", "thumbnailUrl": "/av/t.jpg", "width": 1600,
                 "height": "1200"}]}]""",
            ),
            finds=("https://example.org/p",),
            sends_body=sample_plain.sends_body | {"query": "sea", "cat": "images"},
        ),
        sample_plain._replace(
            body="""<input name="sc" value="tok1"><div class="result"><a href="https://sqlite.org/wal.html"><h2>WAL</h2></a>
             <p>The WAL file</p></div><div id="sponsored"><div class="result"><a href="https://ads.example/"><h2>Ad</h2></a>
             </div></div>""",
            finds=("https://sqlite.org/wal.html",),
        ),
        sample_plain,
        sample_plain._replace(body='<input name="sc" value="tok1">', error="BAD_RESPONSE"),
        sample_plain._replace(body="<html><title>Startpage Captcha</title></html>", error="BLOCKED"),
        sample_plain._replace(body="<html></html>", error="BLOCKED"),
        sample_plain._replace(body="", status=403, error="BLOCKED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(item: dict[str, object], address: str) -> Result:
    text = strip_tags(item.get("description"))
    date = DATE.match(text)
    milliseconds = as_count(item.get("date"))
    return Result(
        title=strip_tags(item.get("title")),
        url=as_text(item.get("clickUrl")) or as_text(item.get("altClickUrl")),
        snippet=text[date.end() :] if date else text,
        published=date[1] if date else str(milliseconds // 1000) if milliseconds else "",
        site=as_text(item.get("source")),
        thumbnail=join(address, as_text(item.get("thumbnailUrl"))) if item.get("thumbnailUrl") else "",
        image=as_text(item.get("rawImageUrl")),
        details=picture_size(item),
    )


def _elements(tree: Any) -> list[Result]:
    sponsored = {node.mem_id for node in tree.css("#sponsored div.result")}
    found = []
    for item in tree.css("div.result")[:MAX_ITEMS]:
        link = item.css_first("a[href]")
        if link and item.mem_id not in sponsored:
            href = link.attributes.get("href") or ""
            found.append(Result(text_of(item.css_first("h2")), href, text_of(item.css_first("p"))))
    return found
