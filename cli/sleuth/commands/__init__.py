"""One module a command: options in, request out, call, render."""
