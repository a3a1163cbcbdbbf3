"""The cache, locks and rate limits that machines share through a Redis or Valkey server."""
