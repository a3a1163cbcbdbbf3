"""The path in front of Typer: help texts, rendered answers and plain searches."""
