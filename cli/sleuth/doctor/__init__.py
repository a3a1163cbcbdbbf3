"""Checks of this installation, of a SearXNG server, and of SearXNG's files."""

from sleuth import __version__

USER_AGENT = f"sleuth/{__version__} (doctor)"
