"""Messages in other languages: dictionaries from the English text."""
