"""The embedded full-text index: ingestion, storage, ranking and its provider."""
