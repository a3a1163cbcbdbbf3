-- One row per search. `query` is NULL when the history is off, was cleared, or has reached its limit.
CREATE TABLE search (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    query TEXT,
    providers TEXT NOT NULL,
    outcome TEXT NOT NULL,
    results INTEGER NOT NULL,
    elapsed_ms INTEGER NOT NULL,
    cached INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX search_time ON search (at);
-- One row per answer, or per summary, which has no rounds; no text of question or answer.
CREATE TABLE answer (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    rounds INTEGER,
    method TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    cost REAL NOT NULL,
    elapsed_ms INTEGER
);
