"""Wikimedia Commons: free images and videos."""

import re

from sleuth_providers.adapters._contact import contact_headers
from sleuth_providers.adapters._media import credit, video_length
from sleuth_providers.adapters._mediawiki import MediaWiki, ranked_pages
from sleuth_providers.base import Account, Details, Found, Query, Request, Response, Result, Sample
from sleuth_providers.json import as_count, as_dict, as_text, objects, strip_tags, web_results

FILE_TYPES = {"images": "bitmap|drawing", "videos": "video"}
DESCRIPTION_CHARS = 300


class Wikimedia(MediaWiki):
    """Files come in no particular order, with author and licence in HTML."""

    id = "wikimedia"
    name = "Wikimedia Commons"
    homepage = "https://commons.wikimedia.org/wiki/Commons:API"
    notes = "There is no filter for adult content. Reuse must state author and licence, which results have."
    host = "https://commons.wikimedia.org"
    supports = frozenset({"lang", "page"})
    categories = ("images", "videos")
    max_results = 50
    max_query = 250
    price = "free"
    per_minute = 60

    def request(self, query: Query, account: Account) -> Request:
        """Search the file pages, and request the file information of each; --lang selects that of descriptions."""
        count = min(query.count, self.max_results)
        language = query.lang.split("-")[0].lower()
        params = {
            "action": "query",
            "format": "json",
            "formatversion": 2,
            "generator": "search",
            "gsrnamespace": 6,
            "gsrsearch": f"filetype:{FILE_TYPES.get(query.category, FILE_TYPES['images'])} {query.text}",
            "gsrlimit": count,
            "prop": "imageinfo",
            "iiprop": "url|size|mime|extmetadata",
            "iiurlwidth": 320,
            "uselang": language,
            "iiextmetadatalanguage": language,
            "gsroffset": (query.page - 1) * count or None,
        }
        return self.get(account, "/w/api.php", params, contact_headers(account))

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the files."""
        return Found(web_results(map(_result, ranked_pages(response))))

    sample_plain = Sample(
        Query("lighthouse", category="images"),
        "GET https://commons.wikimedia.org/w/api.php?action=query&format=json&formatversion=2&generator=search"
        "&gsrnamespace=6&gsrsearch=filetype%3Abitmap%7Cdrawing+lighthouse&gsrlimit=10&prop=imageinfo"
        "&iiprop=url%7Csize%7Cmime%7Cextmetadata&iiurlwidth=320",
        '{"batchcomplete": true}',
        (),
    )
    samples = (
        sample_plain._replace(
            query=Query("lighthouse", page=2, lang="de-CH", category="images"),
            sends=f"{sample_plain.sends}&uselang=de&iiextmetadatalanguage=de&gsroffset=10",
            body="""{"batchcomplete": true, "query": {"pages": [
             {"pageid": 102, "ns": 6, "title": "File:二.png", "index": 2,
             "imageinfo": [{"url": "https://upload.wikimedia.org/2.png", "extmetadata": null,
             "descriptionurl": "https://commons.wikimedia.org/wiki/File:二.png"}]},
             {"pageid": 101, "ns": 6, "title": "File:Lighthouse at dusk.jpg", "index": 1,
             "imageinfo": [{"size": 1048576, "width": 4000, "height": 3000, "mime": "image/jpeg",
             "url": "https://upload.wikimedia.org/a/ab/Lighthouse_at_dusk.jpg",
             "thumburl": "https://upload.wikimedia.org/320px-Lighthouse_at_dusk.jpg",
             "descriptionurl": "https://commons.wikimedia.org/wiki/File:Lighthouse_at_dusk.jpg",
             "extmetadata": {"LicenseShortName": {"value": "CC BY-SA 4.0"}, "Artist": {"value": "<a href='/'>Ada</a>"},
             "ImageDescription": {"value": "A <b>lighthouse</b>"}, "DateTimeOriginal": {"value": "2025-06-01"}}}]},
             {"title": "File:None.jpg", "imageinfo": []}, 7]}}""",
            finds=(
                "https://commons.wikimedia.org/wiki/File:Lighthouse_at_dusk.jpg",
                "https://commons.wikimedia.org/wiki/File:二.png",
            ),
        ),
        sample_plain._replace(
            query=Query("lighthouse", category="videos"),
            sends=sample_plain.sends.replace("bitmap%7Cdrawing", "video"),
            body="""{"query": {"pages": [{"title": "File:Light.webm", "index": 1, "imageinfo": [{"duration": 482.3,
             "mime": "video/webm", "url": "https://upload.wikimedia.org/Light.webm",
             "descriptionurl": "https://commons.wikimedia.org/wiki/File:Light.webm"}]}]}}""",
            finds=("https://commons.wikimedia.org/wiki/File:Light.webm",),
        ),
        sample_plain,
        sample_plain._replace(
            body='{"error": {"code": "ratelimited", "info": "You\'ve exceeded your rate limit."}}',
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(body='{"error": {"code": "maxlag", "info": "…"}}', error="PROVIDER_UNAVAILABLE"),
        sample_plain._replace(body='{"error": {"code": "cirrussearch-too-busy-error"}}', error="BAD_RESPONSE"),
        sample_plain._replace(body="<html>User-Agent</html>", status=403, error="BLOCKED"),
        sample_plain._replace(body="", status=429, error="RATE_LIMIT_EXCEEDED"),
        sample_plain._replace(body="", status=503, error="PROVIDER_UNAVAILABLE"),
    )


def _result(page: dict[str, object]) -> Result:
    info = next(iter(objects(page.get("imageinfo"))), {})
    facts = {name: strip_tags(as_dict(value).get("value")) for name, value in as_dict(info.get("extmetadata")).items()}
    author = facts.get("Artist", "")
    is_video = as_text(info.get("mime")).startswith("video/")
    return Result(
        title=re.sub(r"^[^:]{1,30}:|\.\w{2,5}$", "", as_text(page.get("title"))),
        url=as_text(info.get("descriptionurl")),
        snippet=facts.get("ImageDescription", "")[:DESCRIPTION_CHARS],
        published=facts.get("DateTimeOriginal", ""),
        site="Wikimedia Commons",
        thumbnail=as_text(info.get("thumburl")),
        author=author,
        length=video_length(info.get("duration")),
        image="" if is_video else as_text(info.get("url")),
        details=Details(
            width=as_count(info.get("width")),
            height=as_count(info.get("height")),
            license=facts.get("LicenseShortName", ""),
            license_url=facts.get("LicenseUrl", ""),
            attribution=facts.get("Attribution", "") or credit(author, facts.get("LicenseShortName", "")),
            channel=author if is_video else "",
        ),
    )
