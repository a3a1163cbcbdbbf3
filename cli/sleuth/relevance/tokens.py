"""Counts the tokens of a text with the tokenizer of current OpenAI models; its vocabulary is in the package."""

import math
from functools import lru_cache
from typing import Any

from sleuth.relevance import sentences

ENCODING = "o200k_base"
VOCABULARY_SIZE = 200_000
FREQUENT_TOKENS = 256  # the first ones are single bytes
PIECE_RARITY = 0.15  # of each further token of a word
BYTES_PER_TOKEN = 4.6  # of UTF-8 on average, for estimates where loading the tokenizer (130 ms) is not worth it


def count(text: str) -> int:
    """Return the number of tokens."""
    return len(_encode(text)) if text else 0


def rarity(word: str) -> float:
    """Return how rare a word is in general: from 0 for the most frequent ones to 1, and above for unknown words.

    The vocabulary is in order of frequency in texts of all languages, and a rare word consists of several tokens.
    """
    tokens = _encode(f" {word}" if word.isascii() else word)
    first, last = math.log(FREQUENT_TOKENS), math.log(VOCABULARY_SIZE)
    return (math.log(max(*tokens, FREQUENT_TOKENS)) - first) / (last - first) + PIECE_RARITY * (len(tokens) - 1)


def cut(text: str, limit: int) -> str:
    """Truncate a text to at most `limit` tokens, after a sentence or a word."""
    tokens = _encode(text)
    if len(tokens) <= limit:
        return text
    fits = len(_tokenizer().decode_bytes(tokens[:limit]).decode("utf-8", "ignore"))  # a token can end in a character
    end = sentences.cut(text, fits)
    while end and count(text[:end]) > limit:  # part of a word can have more tokens than the whole
        end = sentences.word_end(text, end - 1)
    return text[:end]


def _encode(text: str) -> list[int]:
    # What a page writes is text, never a control token; no tokenizer takes lone surrogates.
    return list(_tokenizer().encode_ordinary(text.encode("utf-8", "replace").decode()))


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    from splintr import Tokenizer

    return Tokenizer.from_pretrained(ENCODING)
