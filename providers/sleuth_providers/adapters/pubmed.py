"""PubMed: biomedical papers with abstracts, through the E-utilities of NCBI."""

from itertools import takewhile

from sleuth_providers.adapters._feed import attribute, elements
from sleuth_providers.adapters._languages import language_code, unknown_language
from sleuth_providers.adapters._papers import author_names, doi_name, known_names, paragraphs, year_of
from sleuth_providers.base import (
    Account,
    Details,
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
from sleuth_providers.errors import (
    OWN_KEY_HINT,
    BadRequestError,
    KeyInvalidError,
    RateLimitError,
    UnavailableError,
)
from sleuth_providers.json import web_results

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


class PubMed(Provider):
    """Takes two requests: one finds the numbers of papers, the other returns the papers."""

    id = "pubmed"
    name = "PubMed"
    homepage = "https://www.ncbi.nlm.nih.gov/books/NBK25497/"
    key_page = "https://account.ncbi.nlm.nih.gov/settings/"
    notes = "Works without a key, for 3 requests a second; a search takes two. Europe PMC includes the same papers."
    attribution = "PubMed, U.S. National Library of Medicine"
    env = ("NCBI_API_KEY",)
    host = "https://eutils.ncbi.nlm.nih.gov"
    supports = frozenset({"freshness", "range", "lang", "page"})
    categories = ("science",)
    max_results = 100
    price = "free"
    per_minute = 60
    options = {"email": "your e-mail address, sent with each request as NCBI asks for"}
    error_rules = (
        ErrorRule(400, KeyInvalidError, rb"API key"),
        ErrorRule(429, RateLimitError, hint=OWN_KEY_HINT, min_pause_s=1),
        ErrorRule(200, BadRequestError, rb"<ERROR>", "the API reports an error"),
        ErrorRule(
            200,
            UnavailableError,
            rb"(?s)\A(?!.{0,3000}<(?:eSearchResult|PubmedArticleSet))",
            "the API reports an error",
        ),
    )

    def request(self, query: Query, account: Account) -> Request:
        """Return the first request; NCBI sorts by date unless told otherwise."""
        count = min(query.count, self.max_results)
        code = language_code(query)
        is_range = query.freshness == "range"
        params: dict[str, str | int | None] = {
            "term": f"({query.text}) AND {code}[la]" if code else query.text,
            "retmax": count,
            "sort": "relevance",
            "retstart": (query.page - 1) * count or None,
            "datetype": "pdat" if query.freshness else None,
            "reldate": DAYS.get(query.freshness),
            "mindate": query.since.replace("-", "/") if is_range else None,
            "maxdate": query.until.replace("-", "/"),
        }
        return self._get(account, "esearch", params)

    def _get(self, account: Account, name: str, params: dict[str, str | int | None]) -> Request:
        common = {
            "db": "pubmed",
            "retmode": "xml",
            "tool": "sleuth",
            "email": account.options.get("email") or account.contact,
        }
        return self.get(account, f"/entrez/eutils/{name}.fcgi", common | {"api_key": account.key} | params)

    def search(self, query: Query, account: Account, http: Sender) -> Found:
        """Find the numbers, then fetch the papers."""
        response = http.send(self.request(query, account), self.detect_error)
        listed = next((inner for _, inner in elements(response.text(), "IdList")), "")
        numbers = [number for _, inner in elements(listed, "Id") if (number := inner.strip()).isdecimal()]
        if not numbers:
            return Found(not_applied=unknown_language(query))
        fetch = self._get(account, "efetch", {"id": ",".join(numbers[: self.max_results])})
        return self.parse(http.send(fetch, self.detect_error), query)

    def parse(self, response: Response, query: Query) -> Found:
        """Parse the papers."""
        papers = (_result(paper, query) for _, paper in elements(response.text(), "PubmedArticle"))
        return Found(web_results(papers), not_applied=unknown_language(query))

    sample_plain = Sample(
        Query("asthma", category="science"),
        "GET https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi?db=pubmed&retmode=xml&tool=sleuth&term=asthma"
        "&retmax=10&sort=relevance",
        """<?xml version="1.0" encoding="UTF-8" ?><eSearchResult><Count>0</Count><IdList/><ErrorList>
         <PhraseNotFound>asthmma</PhraseNotFound></ErrorList></eSearchResult>""",
        (),
        headers={"content-type": "text/xml; charset=UTF-8"},
    )
    # Both replies in one, since every request gets the same: each is found by its elements.
    sample_papers = """<?xml version="1.0" encoding="UTF-8" ?><eSearchResult><Count>2</Count>
     <IdList><Id>40000001</Id><Id>40000002</Id></IdList></eSearchResult><PubmedArticleSet>
     <PubmedArticle><MedlineCitation><PMID Version="1">40000001</PMID><Article>
     <Journal><Title>Journal of Examples</Title></Journal><ArticleTitle>Asthma in <i>adults</i>.</ArticleTitle>
     <Abstract><AbstractText Label="BACKGROUND">We studied CO<sub>2</sub>, p &lt; 0.05 …</AbstractText>
     <AbstractText>Second.</AbstractText></Abstract><AuthorList><Author><LastName>Example</LastName>
     <ForeName>Ada</ForeName></Author><Author><CollectiveName>The Group</CollectiveName></Author></AuthorList>
     </Article></MedlineCitation><PubmedData><History><PubMedPubDate PubStatus="pubmed"><Year>2026</Year>
     <Month>3</Month><Day>2</Day></PubMedPubDate></History></PubmedData></PubmedArticle>
     <PubmedArticle><PMID>40000002</PMID><ArticleTitle>二</ArticleTitle></PubmedArticle>
     <PubmedArticle><PMID>x</PMID></PubmedArticle><PubmedArticle>"""
    samples = (
        sample_plain._replace(
            query=Query(
                "asthma",
                page=2,
                lang="en",
                category="science",
                freshness="range",
                since="2026-01-01",
                until="2026-06-30",
            ),
            sends="GET https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi?db=pubmed&retmode=xml&tool=sleuth"
            "&email=me%40example.org&api_key=ncbi-sample&term=%28asthma%29+AND+eng%5Bla%5D&retmax=10&sort=relevance"
            "&retstart=10&datetype=pdat&mindate=2026%2F01%2F01&maxdate=2026%2F06%2F30",
            body=sample_papers,
            finds=("https://pubmed.ncbi.nlm.nih.gov/40000001/", "https://pubmed.ncbi.nlm.nih.gov/40000002/"),
            account=Account(key="ncbi-sample", options={"email": "me@example.org"}),
        ),
        sample_plain._replace(
            query=Query("asthma", category="science", freshness="week", since="2026-11-10"),
            sends=f"{sample_plain.sends}&datetype=pdat&reldate=7",
        ),
        sample_plain,
        sample_plain._replace(
            body='{"error": "API rate limit exceeded", "count": "4", "limit": "3"}',
            status=429,
            error="RATE_LIMIT_EXCEEDED",
        ),
        sample_plain._replace(body="<eSearchResult><ERROR>Empty term</ERROR></eSearchResult>", error="INVALID_REQUEST"),
        sample_plain._replace(
            body='{"error": "API key invalid"}',
            status=400,
            sends=sample_plain.sends.replace("&term", "&api_key=ncbi-sample&term"),
            account=Account(key="ncbi-sample"),
            error="API_KEY_INVALID",
        ),
        sample_plain._replace(body="", status=400, error="INVALID_REQUEST"),
        sample_plain._replace(body='{"error": "lbsm -> Neg"}', error="PROVIDER_UNAVAILABLE"),
        sample_plain._replace(body="<html>Error</html>", error="PROVIDER_UNAVAILABLE"),
    )


def _result(paper: str, query: Query) -> Result:
    number = _text(paper, "PMID")
    authors = known_names(
        _text(author, "CollectiveName") or f"{_text(author, 'ForeName')} {_text(author, 'LastName')}".strip()
        for _, author in elements(paper, "Author")
    )
    published = _date(paper, query)
    dois = (inner for attributes, inner in elements(paper, "ELocationID") if '"doi"' in attributes)
    return Result(
        title=_text(paper, "ArticleTitle").removesuffix("."),
        url=f"https://pubmed.ncbi.nlm.nih.gov/{number}/" if number.isdecimal() else "",
        snippet=" ".join(_section(attributes, part) for attributes, part in elements(paper, "AbstractText")),
        published=published,
        site=_text(paper, "Title") or "PubMed",
        author=author_names(authors),
        details=Details(
            authors=authors,
            year=year_of(published),
            type="article-journal",
            venue=_text(paper, "Title"),
            volume=_text(paper, "Volume"),
            issue=_text(paper, "Issue"),
            pages=_text(paper, "MedlinePgn"),
            doi=doi_name(next(dois, "")),
        ),
    )


def _text(markup: str, name: str) -> str:
    """Return the text of the first element with this name, without the tags in it."""
    return paragraphs(next((inner for _, inner in elements(markup, name)), ""))


def _section(attributes: str, text: str) -> str:
    label = attribute(attributes, "Label")
    return f"{label}: {paragraphs(text)}" if label else paragraphs(text)


def _date(paper: str, query: Query) -> str:
    """Return when a paper was published online or in print, or listed: the first of these that the query asks for."""
    listed = (inner for attributes, inner in elements(paper, "PubMedPubDate") if '"pubmed"' in attributes)
    sources = [inner for name in ("ArticleDate", "PubDate") for _, inner in elements(paper, name)]
    dates = [date for source in [*sources, next(listed, "")] if (date := _iso_date(source))]
    in_range = (date for date in dates if query.since <= date and (not query.until or date[:10] <= query.until))
    return next(in_range, next(iter(dates), ""))


def _iso_date(markup: str) -> str:
    """Return year, month and day, as far as they are known; months may be numbers or English names."""
    parts = [_text(markup, name) for name in ("Year", "Month", "Day")]
    if (name := parts[1][:3].lower()) in MONTHS:
        parts[1] = str(MONTHS.index(name) + 1)
    known = takewhile(str.isdecimal, parts)
    return "-".join(part.zfill(2) for part in known)
