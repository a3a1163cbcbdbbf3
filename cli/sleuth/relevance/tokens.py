"""Counts the tokens of a text: exactly with the extra `tokens`, otherwise by an estimate and a safe upper bound."""

import importlib
import math
import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from sleuth.relevance import sentences
from sleuth.relevance.vocabulary import FOLLOWERS, HAN, HANGUL, LETTERS

ENCODING = "o200k_base"
BYTES_PER_TOKEN = 4.6  # of UTF-8; the estimate is off by 9 % on average, that by characters ÷ 4 by 20 %
LETTERS_PER_TOKEN = 4  # in a word of common letter pairs
SPACES_PER_TOKEN = 16
SLACK = 3  # a few odd words may take more tokens than estimated; in a longer text, others take fewer
MAX_TOKEN_CHARS = 64  # only runs of spaces make longer tokens
PIECE = re.compile(r" ?[A-Za-z]+|[0-9]{1,3}|\0+| +|\n+|\t+|\r+|.", re.DOTALL)


def count(text: str) -> int:
    """Return the number of tokens, or an estimate without the tokenizer."""
    tokenizer = _tokenizer()
    data = text.encode("utf-8", "replace")  # no tokenizer takes lone surrogates
    if tokenizer is None:
        return max(round(len(data) / BYTES_PER_TOKEN), 1) if data else 0
    return len(tokenizer.encode_ordinary(data.decode()))


def exact() -> bool:
    """Tell whether `count` is exact."""
    return _tokenizer() is not None


def upper_bound(text: str) -> int:
    """Return the number of tokens, or a cautious upper bound without the tokenizer."""
    if exact():
        return count(text)
    return _bound(text)


def cut(text: str, limit: int) -> str:
    """Truncate a text so that it surely fits into `limit` tokens, after a sentence or a word."""
    if upper_bound(text) <= limit:
        return text
    text = text[: MAX_TOKEN_CHARS * (limit + 1)]
    fits, breaks = 0, len(text)
    while breaks - fits > 1:
        middle = (fits + breaks) // 2
        fits, breaks = (middle, breaks) if upper_bound(text[:middle]) <= limit else (fits, middle)
    end = sentences.cut(text, fits)
    while end and upper_bound(text[:end]) > limit:  # part of a word can have more tokens than the whole
        end = sentences.word_end(text, end - 1)
    return text[:end]


def _bound(text: str) -> int:
    likely = sum(_max_tokens(found[0]) for found in PIECE.finditer(_single_token_characters().sub("\0", text)))
    return min(likely + SLACK, len(text.encode("utf-8", "replace")))  # every token has at least one byte


@lru_cache(maxsize=1)
def _single_token_characters() -> re.Pattern[str]:
    return re.compile(f"[{LETTERS}{HAN}{HANGUL}]")  # compiled on demand: it takes milliseconds


@lru_cache(maxsize=1 << 14)
def _max_tokens(piece: str) -> int:
    """Return the most tokens that a piece can have.

    The limits hold for everything o200k_base was tried on: prose of many languages, random letters, base64 and code.
    A lower-case word has a token per LETTERS_PER_TOKEN letters, and one more for each uncommon pair of letters.
    """
    letters = piece.lstrip(" ")
    if not letters or piece[0] in "\n\t\r":
        return 1 + len(piece) // SPACES_PER_TOKEN
    if not letters.isalpha() or not letters.isascii():
        return 1 if letters.isdigit() and letters.isascii() else len(piece.encode("utf-8", "replace"))
    if not (letters[1:].islower() or len(letters) == 1):
        return len(letters)
    unusual = sum(second not in FOLLOWERS.get(first, "") for first, second in pairwise(letters.lower()))
    return max(1, math.ceil(len(letters) / LETTERS_PER_TOKEN) + unusual)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        return importlib.import_module("splintr").Tokenizer.from_pretrained(ENCODING)  # includes the vocabulary
    except ImportError:
        return None
