"""Checks of this installation, of a SearXNG server, and of SearXNG's files."""

from sleuth import __version__
from sleuth_providers.net.identity import user_agent

USER_AGENT = user_agent(__version__)
