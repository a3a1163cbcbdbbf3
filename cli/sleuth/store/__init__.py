"""What sleuth remembers between runs, in SQLite."""
