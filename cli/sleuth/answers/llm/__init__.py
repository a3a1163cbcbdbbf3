"""Language models behind any OpenAI-compatible endpoint."""
