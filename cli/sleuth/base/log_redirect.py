"""Sends log records of libraries to the log of sleuth."""

import logging

from sleuth.base import logs


class LibraryLogHandler(logging.Handler):
    """Writes records to the log of sleuth, because stderr is for people and stdout for the protocol."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        logs.log("%s: %s", record.name, record.getMessage())


def redirect_logging() -> None:
    """Send warnings and errors of all libraries to the log of sleuth."""
    logging.basicConfig(handlers=[LibraryLogHandler(logging.WARNING)], force=True)
