"""A provider table with three built-in providers."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sleuth.store.database import open_database
from sleuth.store.migrations import MIGRATIONS
from sleuth.store.provider_table import ProviderTable
from sleuth_providers.base import Provider


def seed(id: str, name: str, type: str) -> Provider:
    """Return an adapter with these declarations."""
    adapter = Provider()
    vars(adapter).update(id=id, name=name, type=type)
    return adapter


SEEDS = [
    seed("brave", "Brave Search", "api"),
    seed("searxng", "SearXNG", "api"),
    seed("local-bing", "Bing", "local"),
]
SECRET = "sk-secret-0123456789"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "sleuth.db")


@pytest.fixture
def table(path: str) -> Iterator[ProviderTable]:
    with closing(open_database(path, MIGRATIONS)) as connection:
        table = ProviderTable(connection, path)
        table.seed("1", lambda: SEEDS)
        yield table


def raw(table: ProviderTable) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in table.connection.execute("SELECT * FROM websearch_provider ORDER BY id")]
