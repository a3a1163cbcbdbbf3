"""Answers put together from what was read, with citations."""
