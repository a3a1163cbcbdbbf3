"""The client for language models."""
