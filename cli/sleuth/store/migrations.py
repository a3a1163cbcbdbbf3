"""The migrations of sleuth.db, in order. A released migration never changes; add new ones at the end."""

from sqlite3 import Connection


def _create_providers_and_requests(connection: Connection) -> None:
    connection.execute(
        """CREATE TABLE websearch_provider (
            id TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            type TEXT NOT NULL CHECK (type IN ('api', 'local')),
            api_key TEXT,
            api_host TEXT,
            engines TEXT CHECK (engines IS NULL OR json_type(engines) = 'array'),
            using_browser INTEGER NOT NULL DEFAULT 0 CHECK (using_browser IN (0, 1)),
            basic_auth_username TEXT,
            basic_auth_password TEXT,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
            enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
            options TEXT NOT NULL DEFAULT '{}' CHECK (json_type(options) = 'object'),
            adapter TEXT NOT NULL,
            built_in INTEGER NOT NULL DEFAULT 0
        )"""
    )
    connection.execute("CREATE UNIQUE INDEX one_default ON websearch_provider (is_default) WHERE is_default = 1")
    connection.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    # One row per request: rate limits, usual response times and usage are read from it.
    connection.execute(
        """CREATE TABLE request (
            id INTEGER PRIMARY KEY,
            provider TEXT NOT NULL,
            at REAL NOT NULL,
            state TEXT NOT NULL,
            elapsed_ms INTEGER,
            cached INTEGER NOT NULL DEFAULT 0,
            cost REAL NOT NULL DEFAULT 0
        )"""
    )
    connection.execute("CREATE INDEX request_time ON request (provider, at)")
    # Cooldowns of a provider, or of one of its keys as "provider#fingerprint".
    connection.execute(
        """CREATE TABLE health (
            name TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL, state TEXT NOT NULL
        ) WITHOUT ROWID"""
    )


def _create_searches_and_answers(connection: Connection) -> None:
    # One row per search. `query` is NULL when the history is off, was cleared, or has reached its limit.
    connection.execute(
        """CREATE TABLE search (
            id INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            query TEXT,
            providers TEXT NOT NULL,
            outcome TEXT NOT NULL,
            results INTEGER NOT NULL,
            elapsed_ms INTEGER NOT NULL,
            cached INTEGER NOT NULL DEFAULT 0
        )"""
    )
    connection.execute("CREATE INDEX search_time ON search (at)")
    # One row per answer, or per summary, which has no rounds; no text of question or answer.
    connection.execute(
        """CREATE TABLE answer (
            id INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            rounds INTEGER,
            method TEXT NOT NULL,
            model TEXT NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            cost REAL NOT NULL,
            elapsed_ms INTEGER
        )"""
    )


MIGRATIONS = (_create_providers_and_requests, _create_searches_and_answers)
