"""One file per provider; the file name, with - for _, is the provider's id."""
