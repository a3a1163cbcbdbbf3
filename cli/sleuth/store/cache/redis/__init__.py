"""What machines share through a Redis or Valkey server: answers, pages, who is asking what now, and rate limits."""
