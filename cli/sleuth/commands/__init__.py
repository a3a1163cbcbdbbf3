"""One module a command: options in, request out, call, render."""

COMMANDS = (  # in the order of the help
    "search",
    "summarize",
    "ask",
    "chat",
    "cite",
    "providers",
    "config",
    "library",
    "doctor",
    "searxng",
    "serve",
    "mcp",
    "usage",
    "history",
    "cache",
    "tool-schema",
    "completions",
)
