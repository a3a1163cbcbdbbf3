"""Checks of a running SearXNG server."""
