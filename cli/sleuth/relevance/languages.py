"""Stemmers and stop words of many languages, and which language a text in Latin script is written in."""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice

from sleuth.base.files import text_beside


def _stop_words() -> dict[str, frozenset[str]]:
    """Return the function words of each language."""
    found: dict[str, list[str]] = {}
    for language, *words in map(str.split, text_beside(__file__, "stop_words.txt").splitlines()):
        found.setdefault(language, []).extend(words)
    return {language: frozenset(words) for language, words in found.items() if language != "#"}


LATIN_STOP_WORDS = _stop_words()
OTHER_STOP_WORDS = LATIN_STOP_WORDS.pop("other")  # of scripts in which no other language is stemmed here
SCRIPT_STEMMERS = (  # first and last character of a script, and its stemmer
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
ENGLISH, UNSTEMMED = "english", "vietnamese"
LATIN_WORD = re.compile(r"[a-z\u00df-\u024f\u1e00-\u1eff]+", re.IGNORECASE)
SAMPLED_TEXTS, SAMPLED_CHARS = 20, 1_000  # from which the language is detected
MIN_LEAD = 1.3  # of the function words of another language over English ones: names and terms are often English


def detect(texts: Iterable[str]) -> str:
    """Return the language of texts in Latin script by their function words; English if in doubt."""
    found = LATIN_WORD.findall(" ".join(text[:SAMPLED_CHARS] for text in islice(texts, SAMPLED_TEXTS)).lower())
    counts = {name: sum(word in listed for word in found) for name, listed in LATIN_STOP_WORDS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > MIN_LEAD * counts[ENGLISH] else ENGLISH


def is_stop_word(word: str, language: str) -> bool:
    """Tell whether a lower-case word, not its stem, is a function word."""
    return word in LATIN_STOP_WORDS[language] or word in OTHER_STOP_WORDS


@lru_cache(maxsize=1 << 16)
def stem(word: str, language: str) -> str:
    """Return the stem of a lower-case word in the language of its script; `language` is for Latin script."""
    from Stemmer import Stemmer  # type: ignore[import-not-found]  # PyStemmer ships no types

    name = language
    if word[:1] > "\u024f":
        name = next((known for first, last, known in SCRIPT_STEMMERS if first <= word[0] <= last), language)
    if name == UNSTEMMED:
        return word
    return str(Stemmer(name, 0).stemWord(word))  # a new one takes a microsecond; a shared one is not thread-safe
