CREATE TABLE page (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    url TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    site TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('handbook', 'file', 'page', 'bookmark')),
    kind TEXT NOT NULL,
    lang TEXT NOT NULL,
    published TEXT NOT NULL,
    added_at REAL NOT NULL,
    modified REAL NOT NULL,
    size INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX page_source ON page (source, added_at);
CREATE VIRTUAL TABLE words USING fts5 (title, body, content = '', tokenize = 'ascii');
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
