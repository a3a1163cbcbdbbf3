"""The words that options and settings choose from. Constants only: the cached path imports this module."""

SAFE_SEARCH = ("off", "moderate", "strict")
CATEGORIES = ("general", "news", "images", "videos", "science", "it", "books")
FRESHNESS = ("day", "week", "month", "year")
COMPRESSION = ("none", "cutoff", "rag")
UNITS = ("char", "token")
PROGRESS = ("auto", "json", "none")
CACHE_USE = ("use", "refresh", "off")
FORMATS = ("rich", "plain", "json", "ndjson", "markdown", "csv", "urls", "bibtex", "csl-json")
FIELDS = (
    *("citation", "rank", "title", "url", "snippet", "content", "siteName", "domain", "published", "score"),
    *("providers", "engines", "thumbnail", "author", "length", "image"),
    *("authors", "year", "type", "venue", "publisher", "volume", "issue", "pages", "doi", "arxiv", "isbn", "editions"),
    *("pdf", "citedBy", "openAccess", "width", "height", "license", "licenseUrl", "attribution", "channel", "views"),
    *("points", "answerCount", "accepted", "comments", "stars", "language"),
)
