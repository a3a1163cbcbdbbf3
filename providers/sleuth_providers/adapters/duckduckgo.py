"""DuckDuckGo without a key: parses the page for browsers without JavaScript."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from sleuth_providers.base import (
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
from sleuth_providers.errors import BadResponseError, BlockedError
from sleuth_providers.html.tree import is_web, join, read_html, text_of
from sleuth_providers.net.identity import accept_language
from sleuth_providers.net.urls import site_of

SAFE = {"off": "-2", "moderate": "-1", "strict": "1"}
COUNTRIES = {"gb": "uk"}
LANGUAGES = {"ja": "jp", "ko": "kr", "nb": "no", "nn": "no", "fil": "tl"}
# Country and language; the first of a language is where it is taken to be spoken if no country is given.
REGIONS = re.findall(
    "[a-z]{2,9}-[a-z]{2,9}",
    "us-en uk-en au-en ca-en ie-en in-en nz-en sg-en za-en ph-en my-en id-en xa-en de-de at-de ch-de fr-fr ca-fr ch-fr"
    " be-fr it-it ch-it es-es mx-es ar-es cl-es co-es pe-es ve-es ue-es xl-es pt-pt br-pt nl-nl be-nl cn-zh tw-tzh"
    " hk-tzh jp-jp kr-kr xa-ar bg-bg ct-ca hr-hr cz-cs dk-da ee-et fi-fi gr-el hu-hu id-id il-he lv-lv lt-lt my-ms"
    " no-no ph-tl pl-pl ro-ro ru-ru sk-sk sl-sl se-sv th-th tr-tr ua-uk vn-vi",
)
BANG = re.compile(r"(?<!\S)(!{1,2}\w\S*)")  # a command that redirects to another site, unless it is quoted
MAX_BLOCKS = 200  # unclosed tags can nest each block in the one before


class DuckDuckGo(Provider):
    """One POST per page; the form for the next page is read from the page before, as in a browser."""

    id = "duckduckgo"
    name = "DuckDuckGo"
    homepage = "https://duckduckgo.com/"
    notes = "Unofficial: too many requests lead to a bot check."
    host = "https://html.duckduckgo.com"
    supports = frozenset({"freshness", "range", "lang", "region", "safe", "page"})
    operators = True
    max_results = 25
    max_query = 499
    price = "free"
    per_minute = 20
    kind = "page"
    challenge = rb"anomaly-modal|anomaly\.js|challenge-form|bots use DuckDuckGo too"
    error_rules = (
        ErrorRule(202, BlockedError),
        ErrorRule(403, BlockedError),
        ErrorRule(200, BlockedError, challenge, "challenge page"),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Fill in the search form of the start page."""
        text = BANG.sub(r'"\1"', query.text)
        form = {"q": query._replace(text=text).with_operators(), "b": "", "kl": region(query)}
        if query.freshness:
            form["df"] = query.freshness[0] if query.freshness != "range" else f"{query.since}..{query.until}"
        if query.safe != "moderate":  # the default of the page
            form["kp"] = SAFE[query.safe]
        return self._post(account, form, query)

    def not_applied(self, query: Query) -> tuple[str, ...]:
        """Add a language or country that DuckDuckGo has no region for."""
        return super().not_applied(query) + unknown_area(query)

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Go through the pages up to the wanted one, since each has the form for the next."""
        response = http.send(self.request(query, account), self.detect_error)
        for _ in range(query.page - 1):
            form = _next_form(read_html(response))
            if not form:
                return Found()
            response = http.send(self._post(account, form, query), self.detect_error)
        return self.parse(response, query)

    def _post(self, account: Account, form: dict[str, str], query: Query) -> Request:
        headers = {"Accept-Language": accept_language(query.lang, query.region)}
        return Request(f"{self.base_url(account)}/html/", method="POST", form=form, headers=headers)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the results, without advertisements and links to DuckDuckGo itself."""
        tree = read_html(response)
        abstract = tree.css_first("#zero_click_abstract")
        link = abstract.css_first("a") if abstract else None
        answer = DirectAnswer(text_of(abstract), link.attributes.get("href") or "" if link else "")
        results = tuple(_results(tree))
        # Any other page, such as the login page of a hotspot, is not "no results".
        if not results and not any(mark in response.body.lower() for mark in (b"duckduckgo", b"web-result")):
            raise BadResponseError("not a DuckDuckGo page", status=response.status)
        return Found(results, answers=(answer,) if answer.text else ())

    sample_wall = Sample(
        Query("wall"),
        "POST https://html.duckduckgo.com/html/",
        """<form id="challenge-form"><div class="anomaly-modal__title">bots use DuckDuckGo too</div></form>""",
        (),
        status=202,
        headers={"content-type": "text/html"},
        error="BLOCKED",
    )
    samples = (
        Sample(
            Query("doc", freshness="week", lang="de", region="CH"),
            "POST https://html.duckduckgo.com/html/",
            """<div id="links"><div class="result results_links results_links_deep web-result">
             <h2 class="result__title"><a rel="nofollow" class="result__a"
               href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.org%2Fdoc%3Fa%3D1">Example <b>doc</b></a></h2>
             <a class="result__snippet" href="//duckduckgo.com/l/?uddg=x">Short <b>doc</b> text &amp; more.</a></div>
             <div class="result result--ad"><h2><a class="result__a" href="https://ads.example/">Ad</a></h2></div>
             <div class="result web-result"><h2><a class="result__a" href="https://duckduckgo.com/y.js?ad=1">Ad</a></h2></div>
             <div class="result web-result"><h2 class="result__title"><a class="result__a" href="https://例え.jp/頁">直接</a></h2></div>
            </div>""",
            ("https://example.org/doc?a=1", "https://例え.jp/頁"),
            headers={"content-type": "text/html; charset=utf-8"},
            sends_body={"q": "doc", "b": "", "kl": "ch-de", "df": "w"},
        ),
        sample_wall,
        sample_wall._replace(status=200),
        sample_wall._replace(body="Forbidden", status=403),
        sample_wall._replace(body="<title>wall at DuckDuckGo</title>No results.", status=200, error=""),
        sample_wall._replace(body="<title>Hotel</title>Log in", status=200, error="BAD_RESPONSE"),
        sample_wall._replace(
            query=Query("!g wall"), sends_body={"q": '"!g" wall', "b": "", "kl": "wt-wt"}
        ),  # unquoted, it would redirect to Google
    )


def region(query: Query) -> str:
    """Return DuckDuckGo's code for region and language, such as ch-de; wt-wt for none or unknown ones."""
    lang, _, territory = query.lang.lower().partition("-")
    country = (query.region or territory).lower()
    country, lang = COUNTRIES.get(country, country), LANGUAGES.get(lang, lang)
    of_country = [code for code in REGIONS if code.startswith(f"{country}-")] if country else REGIONS
    of_both = [code for code in of_country if lang in ("", code[3:]) or (lang, code[3:]) == ("zh", "tzh")]
    return next(iter(of_both or (of_country if country else [])), "wt-wt") if country or lang else "wt-wt"


def unknown_area(query: Query) -> tuple[str, ...]:
    """Return which of language and country the region of a query does not have."""
    code, primary = region(query), query.lang.partition("-")[0].lower()
    lang = LANGUAGES.get(primary, primary)
    unknown_lang = bool(lang) and not code.endswith(f"-{lang}") and (lang, code[3:]) != ("zh", "tzh")
    return ("lang",) * unknown_lang + ("region",) * bool(query.region and code == "wt-wt")


def _results(tree: Any) -> Iterator[Result]:
    for block in tree.css("div.web-result")[:MAX_BLOCKS]:
        link = block.css_first("a.result__a")
        url = _target(link.attributes.get("href") or "") if link else ""
        if "result--ad" in (block.attributes.get("class") or "") or not url:
            continue
        yield Result(text_of(link), url, text_of(block.css_first(".result__snippet")))


def _target(link: str) -> str:
    """Return the target of a DuckDuckGo redirect, empty for links to DuckDuckGo itself."""
    url = join("https://duckduckgo.com/", link)
    parts = urlsplit(url)
    if parts.path == "/l/":
        url = parse_qs(parts.query).get("uddg", [url])[0]
    return url if is_web(url) and site_of(url) != "duckduckgo.com" else ""


def _next_form(tree: Any) -> dict[str, str]:
    fields = tree.css("div.nav-link form input[name]")
    form = {field.attributes["name"] or "": field.attributes.get("value") or "" for field in fields}
    return form if form.get("vqd") else {}
