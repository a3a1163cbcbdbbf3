"""Answers from pages that were read, with citations."""
