"""Building blocks used everywhere: text, files, paths, errors, messages, logs. Imports nothing else of sleuth."""
