"""Pure functions over text and lists: tokenise, score, merge, compress, summarise."""
