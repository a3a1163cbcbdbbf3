"""One module per command: options in, request out, call, render."""

COMMANDS = (  # in the order of the help
    *("search", "open", "again", "watch", "read", "summarize", "ask", "chat", "cite", "providers", "config", "library"),
    *("handbook", "doctor", "searxng", "serve", "mcp", "agents", "usage", "history", "cache", "tool-schema"),
    "completions",
)


def is_option(word: str) -> bool:
    """Whether a word of a command line can be an option; `->` and `-1` are words to search for."""
    name = word.lstrip("-")[:1]
    return word.startswith("-") and name.isascii() and name.isalpha()
