"""Generators for man pages, completions, the command reference and the fast path's tables. Not in the wheel."""
