"""Bing images and videos: the fragments that its pages load."""

import json
import re
from collections.abc import Iterator
from typing import Any

from sleuth_providers.adapters._bing_market import market
from sleuth_providers.adapters._walls import wall_error
from sleuth_providers.base import Account, Details, Found, Provider, Query, Request, Response, Result, Sample
from sleuth_providers.errors import BadResponseError, ProviderError
from sleuth_providers.html.tree import read_html, text_of
from sleuth_providers.json import as_count, as_dict, as_text, strip_tags, web_results

PAGE_SIZE = 35
MAX_NODES = 200  # unclosed tags can nest each item in the one before
MINUTES = {"day": 1440, "week": 10080, "month": 44640, "year": 525600}
HIGHLIGHT = re.compile("[\ue000-\uf8ff]")  # characters that mark matches in titles
SIZE = re.compile(r"(\d{1,5})\s*[×x]\s*(\d{1,5})")
VIEWS = re.compile(r"([\d.,]{1,15})\s?([KMB]?)\s?views", re.IGNORECASE)
AGE = re.compile(r"\bago\b|\d{4}|前", re.IGNORECASE)
PAUSE_S = 900.0  # after a bot check


class BingMedia(Provider):
    """Each item carries its data as JSON in an attribute."""

    id = "bing-media"
    name = "Bing media (page)"
    homepage = "https://www.bing.com/images"
    notes = "Unofficial. Pictures belong to the sites that show them; videos include YouTube."
    host = "https://www.bing.com"
    supports = frozenset({"freshness", "lang", "region", "safe", "page"})
    operators = True
    categories = ("images", "videos")
    max_results = PAGE_SIZE
    price = "free"
    per_minute = 20
    kind = "page"

    def request(self, query: Query, account: Account) -> Request:
        """Request the fragment of the category; images are filtered strictly unless --safe off is given."""
        is_video = query.category == "videos"
        minutes = MINUTES.get(query.freshness)
        age = f" filterui:videoage-lt{minutes}" if is_video else f"filterui:age-lt{minutes}"
        safe = "strict" if query.safe == "moderate" and not is_video else query.safe
        area, language = market(query)
        params = {
            "q": query.with_operators(),
            "async": "content" if is_video else "1",
            "first": (query.page - 1) * PAGE_SIZE + 1,
            "count": PAGE_SIZE,
            "adlt": safe,
            **area,
            "qft": age if minutes else None,
            "form": "VRFLTR" if minutes and is_video else None,
        }
        path = "/videos/asyncv2" if is_video else "/images/async"
        return self.get(account, path, params, language)

    def detect_error(self, response: Response) -> ProviderError | None:
        """Recognise a bot check."""
        return wall_error(response, b"vrhm=" if b"vrhm=" in response.body else b"iusc", PAUSE_S)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse pictures or videos."""
        read = _videos if query.category == "videos" else _pictures
        results = web_results(read(read_html(response)))
        body = response.body.lower()
        is_json = body.lstrip().startswith(b"{")
        if not results and (is_json or b"<html" in body) and b"bing" not in body:  # such as the login page of a hotspot
            raise BadResponseError("not a Bing page", status=response.status)
        return Found(results)

    sample_plain = Sample(
        Query("lighthouse", category="images"),
        "GET https://www.bing.com/images/async?q=lighthouse&async=1&first=1&count=35&adlt=strict",
        "<div></div>",
        (),
        headers={"content-type": "text/html; charset=utf-8"},
    )
    samples = (
        sample_plain._replace(
            query=Query(
                "lighthouse", page=2, lang="de", region="CH", safe="off", category="images", freshness="week",
                since="2026-11-10", exclude=("spam.example",),
            ),
            sends="GET https://www.bing.com/images/async?q=lighthouse+-site%3Aspam.example&async=1&first=36&count=35&adlt=off"
            "&mkt=de-CH&qft=filterui%3Aage-lt10080",
            body="""<ul class="dgControl_list"><li><div class="iuscp"><div class="imgpt"><a class="iusc"
             m="{&quot;purl&quot;:&quot;https://example.org/p&quot;,&quot;murl&quot;:&quot;https://example.org/a.jpg&quot;,
             &quot;turl&quot;:&quot;https://tse1.mm.bing.net/th?id=OIP.x&quot;,&quot;t&quot;:&quot;\ue000Lighthouse\ue001&quot;}"></a>
             <div class="img_info hon"><span class="nowrap">1600 × 1200 · jpeg</span></div></div><div class="infopt">
             <div class="lnkw"><a>example.org</a></div></div></div></li><li><a class="iusc" m="{broken"></a></li><li>
             <a class="iusc" m="[7]"></a></li><li><a class="iusc" m="{&quot;purl&quot;:&quot;https://例え.jp/&quot;}"></a></li>
             </ul>""",
            finds=("https://example.org/p", "https://例え.jp/"),
        ),
        sample_plain._replace(
            query=Query("lighthouse", category="videos", freshness="day", since="2026-11-16"),
            sends="GET https://www.bing.com/videos/asyncv2?q=lighthouse&async=content&first=1&count=35&adlt=moderate"
            "&qft=+filterui%3Avideoage-lt1440&form=VRFLTR",
            body="""<div id="mc_vtvc_video_1" class="mc_vtvc"><div class="vrhdata"
             vrhm="{&quot;murl&quot;:&quot;https://www.youtube.com/watch?v=x&quot;,&quot;vt&quot;:&quot;A tour&quot;,
             &quot;du&quot;:&quot;8:02&quot;,&quot;thid&quot;:&quot;OVP.x&quot;}"></div><img class="rms_img"
             data-src-hq="https://tse2.mm.bing.net/th?id=OVP.x"><div class="mc_vtvc_meta_block"><span>1.2M views</span>
             <span>3 weeks ago</span><span>Ada's sea</span></div></div><div id="mc_vtvc_video_2"><div class="vrhdata"
             vrhm="7"></div></div>""",
            finds=("https://www.youtube.com/watch?v=x",),
        ),
        sample_plain,
        sample_plain._replace(
            body="<html><script src='https://challenges.cloudflare.com/turnstile/v0/api.js'></script></html>",
            error="BLOCKED",
        ),
        sample_plain._replace(body="", status=403, error="BLOCKED"),
        sample_plain._replace(body="", status=429, error="BLOCKED"),
        sample_plain._replace(body="", status=502, error="PROVIDER_UNAVAILABLE"),
    )  # fmt: skip


def _data(node: Any, attribute: str) -> dict[str, Any]:
    """Return the JSON object in an attribute of a node."""
    try:
        return as_dict(json.loads(node.attributes.get(attribute) or "" if node else ""))
    except (ValueError, RecursionError):
        return {}


def _pictures(tree: Any) -> Iterator[Result]:
    found = tree.css("ul[class*=dgControl_list] > li") or tree.css("div.imgpt")
    for item in found[:MAX_NODES]:
        data = _data(item.css_first("a.iusc[m]"), "m")
        size = SIZE.search(text_of(item.css_first(".img_info span, .imgpt div span")))
        yield Result(
            title=strip_tags(HIGHLIGHT.sub("", as_text(data.get("t")))),
            url=as_text(data.get("purl")),
            snippet=strip_tags(HIGHLIGHT.sub("", as_text(data.get("desc")))),
            site=text_of(item.css_first("div.lnkw a")),
            thumbnail=as_text(data.get("turl")),
            image=as_text(data.get("murl")),
            details=Details(width=as_count(size[1]), height=as_count(size[2])) if size else Details(),
        )


def _videos(tree: Any) -> Iterator[Result]:
    for item in tree.css('div[id*="mc_vtvc_video"]')[:MAX_NODES]:
        data = _data(item.css_first("div.vrhdata[vrhm]"), "vrhm")
        facts = [text_of(node) for node in item.css("div.mc_vtvc_meta_block span")[:10]]
        picture = item.css_first("img.rms_img[data-src-hq]")
        views = next((found for fact in facts if (found := VIEWS.search(fact))), None)
        age = next((fact for fact in facts if AGE.search(fact)), "")
        names = [fact for fact in facts if fact and fact != age and not VIEWS.search(fact)]
        yield Result(
            title=HIGHLIGHT.sub("", as_text(data.get("vt"))),
            url=as_text(data.get("murl")),
            snippet=" · ".join(dict.fromkeys(filter(None, facts))),
            published=age,
            thumbnail=picture.attributes.get("data-src-hq") or "" if picture else "",
            length=as_text(data.get("du")),
            details=Details(channel=names[-1] if names else "", views=_views(views[1], views[2]) if views else None),
        )


def _views(number: str, unit: str) -> int | None:
    """Return "1.2" and "M" as 1200000."""
    factor = {"K": 10**3, "M": 10**6, "B": 10**9}.get(unit.upper(), 1)
    try:
        return as_count(float(number if factor > 1 else number.replace(",", "").replace(".", "")) * factor)
    except ValueError:
        return None
