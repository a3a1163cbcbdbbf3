"""The path in front of Typer: help texts, completions, rendered answers and plain searches."""
