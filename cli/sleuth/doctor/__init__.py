"""What is wrong with this installation and, above all, with a SearXNG deployment: checks, one file a topic."""
