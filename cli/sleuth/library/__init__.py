"""The embedded full-text index: reading files, storing, ranking, and the provider that searches it."""
