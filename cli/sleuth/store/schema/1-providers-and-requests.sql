CREATE TABLE websearch_provider (
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
);
CREATE UNIQUE INDEX one_default ON websearch_provider (is_default) WHERE is_default = 1;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
-- One row per request: rate limits, usual response times and usage are read from it.
CREATE TABLE request (
    id INTEGER PRIMARY KEY,
    provider TEXT NOT NULL,
    at REAL NOT NULL,
    state TEXT NOT NULL,
    elapsed_ms INTEGER,
    cached INTEGER NOT NULL DEFAULT 0,
    cost REAL NOT NULL DEFAULT 0
);
CREATE INDEX request_time ON request (provider, at);
-- Cooldowns of a provider, or of one of its keys as "provider#fingerprint".
CREATE TABLE health (
    name TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL, state TEXT NOT NULL
) WITHOUT ROWID;
