"""References for bibliographies: BibTeX and CSL JSON.

Everything from the web is escaped: a title must neither end its field nor run a TeX command.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import count

from sleuth.base.json_output import camel_case, write_json
from sleuth.base.text import clean
from sleuth.base.urls import ascii_url, clean_url, domain
from sleuth.relevance.details import clean_details
from sleuth.relevance.hit import Hit
from sleuth_providers.base import Details, Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

# Types of works in CSL, with the entry type of BibTeX and the names of its fields for venue and publisher.
BIBTEX_TYPES = {
    "article-journal": ("article", "journal", "publisher"),
    "paper-conference": ("inproceedings", "booktitle", "publisher"),
    "book": ("book", "series", "publisher"),
    "chapter": ("incollection", "booktitle", "publisher"),
    "thesis": ("phdthesis", "series", "school"),
    "report": ("techreport", "series", "institution"),
}
MAX_TEXT_CHARS = 2000  # of a field that is read from a file
OTHER_TYPE = ("misc", "howpublished", "publisher")
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
TEX_ESCAPES = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_"}
    | {"\\": r"\textbackslash{}", "{": r"\textbraceleft{}", "}": r"\textbraceright{}"}  # braces must be balanced
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
URL_ESCAPES = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C"})
# Letters without an ASCII letter in their Unicode decomposition.
LETTERS = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "þ": "th", "œ": "oe", "ı": "i"})
SMALL_WORDS = frozenset(["a", "an", "the", "on", "of", "in", "and", "for", "to", "der", "die", "das", "le", "la", "el"])
PARTICLES = frozenset(["van", "von", "der", "den", "de", "di", "da", "du", "del", "la", "le", "ten", "ter", "zu"])


def write_references(hits: Sequence[Hit], format: str, out: TextIO) -> None:
    """Write results as `bibtex` or `csl-json`, which Zotero, Pandoc and other citation processors read."""
    if format == "csl-json":
        write_json([{"id": key} | csl_item(hit) for key, hit in zip(keys(hits), hits, strict=True)], out)
        return
    for key, hit in zip(keys(hits), hits, strict=True):
        kind, fields = _bibtex_fields(hit)
        lines = "".join(f"  {name} = {value},\n" for name, value in fields.items() if value not in ("", "{}"))
        out.write(f"@{kind}{{{key},\n{lines}}}\n\n")


def hit_of(entry: Mapping[str, Any]) -> Hit:
    """Return an entry of `results` in a JSON answer as a result, sanitised; fields of a wrong type are left out."""
    texts = {name: entry.get(name) for name in ("title", "url", "snippet", "published", "author", "siteName")}
    known: Any = {name: clean(value, MAX_TEXT_CHARS) for name, value in texts.items() if isinstance(value, str)}
    details: dict[str, Any] = {}
    for name, (published, default) in zip(Details._fields, camel_case(Details._field_defaults).items(), strict=True):
        value = tuple(entry[published]) if isinstance(entry.get(published), list) else entry.get(published)
        if isinstance(value, int | None if default is None else type(default)):
            details[name] = value
    details["authors"] = tuple(name for name in details.get("authors", ()) if isinstance(name, str))
    url, site = clean_url(known.get("url", "")), known.pop("siteName", "")
    cleaned = clean_details(Result("", url, details=Details(**details)))
    return Hit(0, **{"title": "", **known, "url": url}, site_name=site, details=cleaned)


def _bibtex_fields(hit: Hit) -> tuple[str, dict[str, str]]:
    details, type = hit.details, work_type(hit)
    kind, venue_field, publisher_field = BIBTEX_TYPES.get(type, OTHER_TYPE)
    venue = details.venue or (hit.site_name if kind == "misc" and not details.arxiv else "")
    year, month, _ = _date(hit)
    fields = {
        "author": _braced(_bibtex_names(hit), escape=False),
        "title": _braced(hit.title),
        venue_field: _braced(venue),
        publisher_field: _braced(details.publisher),
        "volume": _braced(details.volume),
        "number": _braced(details.issue),
        "pages": _braced(re.sub(r"[-\u2013]+", "--", details.pages)),
        "year": _braced(str(year or "")),
        "month": MONTHS[month - 1] if month else "",
        "doi": _braced(details.doi.translate(URL_ESCAPES), escape=False),
        "isbn": _braced(details.isbn),
        "eprint": _braced(details.arxiv),
        "archiveprefix": "{arXiv}" if details.arxiv else "",
        "url": _braced(ascii_url(hit.url).translate(URL_ESCAPES), escape=False),
        "urldate": _braced("" if details.doi else time.strftime("%Y-%m-%d")),
    }
    return kind, fields


def _braced(text: str, *, escape: bool = True) -> str:
    return f"{{{text.translate(TEX_ESCAPES) if escape else text}}}"


def _bibtex_names(hit: Hit) -> str:
    """Return names joined by "and"; a name that contains the word, or too many commas, is kept whole by braces."""
    if not hit.details.authors:
        return _braced(hit.author) if hit.author else ""
    names = (name.translate(TEX_ESCAPES) for name in hit.details.authors)
    whole = (f"{{{name}}}" if re.search(r"(?i)\sand\s", name) or name.count(",") > 2 else name for name in names)
    return " and ".join(whole)


def csl_item(hit: Hit) -> dict[str, Any]:
    """Return a result as an item of CSL JSON, without its id."""
    details = hit.details
    people = [_csl_name(name) for name in details.authors] or ([{"literal": hit.author}] if hit.author else [])
    date = [part for part in _date(hit) if part]
    fields = {
        "type": work_type(hit),
        "title": hit.title,
        "author": people,
        "issued": {"date-parts": [date]} if date else None,
        "container-title": details.venue or ("" if details.doi or details.isbn else hit.site_name),
        "publisher": details.publisher,
        "volume": details.volume,
        "issue": details.issue,
        "page": details.pages,
        "DOI": details.doi,
        "ISBN": details.isbn,
        "number": f"arXiv:{details.arxiv}" if details.arxiv else "",
        "abstract": hit.snippet if details.authors else "",
        "URL": ascii_url(hit.url),
        "accessed": None if details.doi else {"date-parts": [list(time.localtime()[:3])]},
    }
    return {name: value for name, value in fields.items() if value}


def _csl_name(name: str) -> dict[str, str]:
    """Return a name in its parts; "van" and the like belong to the family name."""
    family, comma, given = (part.strip() for part in name.partition(","))
    if comma and family and given:
        return {"family": family, "given": given}
    words = name.split()
    if len(words) < 2:
        return {"literal": name}
    start = next((place for place, word in enumerate(words) if place and word in PARTICLES), len(words) - 1)
    return {"family": " ".join(words[start:]), "given": " ".join(words[:start])}


def work_type(hit: Hit) -> str:
    """Return the type of a result in CSL; what is not known to be a publication is a web page."""
    details = hit.details
    if details.type:
        return details.type
    if details.isbn:
        return "book"
    return "article-journal" if details.doi else "article" if details.arxiv else "webpage"


def _date(hit: Hit) -> tuple[int, int, int]:
    """Return year, month and day of a result, 0 for each that is not known."""
    if re.fullmatch(r"\d{4}-\d\d-\d\d", hit.published):
        year, month, day = map(int, hit.published.split("-"))
        if hit.details.year in (None, year):
            return year, month, day
    return hit.details.year or 0, 0, 0


def keys(hits: Sequence[Hit]) -> list[str]:
    """Return a unique ASCII key for each result, such as `example2026sparse`."""
    made: list[str] = []
    for base in map(_key, hits):
        numbered = (f"{base}-{number}" for number in count(2))
        made.append(base if base not in made else next(key for key in numbered if key not in made))
    return made


def _key(hit: Hit) -> str:
    first = next(iter(hit.details.authors), "")
    family = _csl_name(first).get("family", first) if first else domain(hit.url).split(".")[0]
    words = [word for word in _ascii_words(hit.title) if word not in SMALL_WORDS]
    parts = ["".join(_ascii_words(family)), str(_date(hit)[0] or ""), *words[:1]]
    return "".join(parts)[:60] or "source"


def _ascii_words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text.lower().translate(LETTERS))
    return re.findall(r"[a-z0-9]+", re.sub(r"[^\x00-\x7f]", "", plain))
