"""sleuth: command-line web search with many providers, one ranked list and numbered citations."""

__version__ = "0.1.0"
