"""The default chains: providers of a search that names none, by category and language.

They are tried in order. Those joined by + are searched together and their results merged; the next ones are a reserve.
Ids without an adapter, a needed key or a set-up server are left out, so a chain may name what is not installed.
"""

GENERAL = [
    "searxng",  # only if it was set up
    "duckduckgo",
    "keenable",
    "you",
    "parallel",
    "exa-mcp",
    "local-bing",
    "firecrawl",
    "tavily",
    "wikipedia",
    "library",  # only if it answers the query
]
CHAINS = {
    "general-zh": [
        "searxng",
        "local-baidu",
        "local-bing",
        "sogou",
        "keenable",
        "you",
        "parallel",
        "duckduckgo",
        "wikipedia",
        "library",
    ],
    "news": ["searxng", "bing-news+google-news", "you", "exa-mcp", "hackernews", "duckduckgo-media", "tavily"],
    "images": ["searxng", "wikimedia+openverse", "bing-media", "duckduckgo-media"],
    "videos": ["searxng", "open-videos+wikimedia+internet-archive", "bing-media", "duckduckgo-media"],
    "science": ["searxng", "openalex+crossref+arxiv", "europepmc", "semantic-scholar", "pubmed"],
    "it": ["searxng", "stackexchange+github+hackernews", "mdn"],
    "books": ["openlibrary+internet-archive", "crossref"],
}
