"""Counts the tokens of a text with the tokenizer of current OpenAI models; its vocabulary is in the package."""

from functools import lru_cache
from typing import Any

from sleuth.relevance import sentences

ENCODING = "o200k_base"
BYTES_PER_TOKEN = 4.6  # of UTF-8 on average, for estimates where loading the tokenizer (130 ms) is not worth it


def count(text: str) -> int:
    """Return the number of tokens."""
    return len(_encode(text)) if text else 0


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
