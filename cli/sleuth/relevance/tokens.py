"""How many tokens a text is to a model: exact with the extra `tokens`, else an estimate and a bound that is safe."""

import importlib
import math
import re
from functools import lru_cache
from itertools import pairwise
from typing import Any

from sleuth.relevance import sentences
from sleuth.relevance.vocabulary import FOLLOWERS, HAN, HANGUL, LETTERS

ENCODING = "o200k_base"
BYTES_A_TOKEN = 4.6  # of UTF-8: 9 % off on average; characters ÷ 4 is 20 % off
LETTERS_A_TOKEN = 4  # in a word of common pairs of letters
BLANKS_A_TOKEN = 16
SLACK = 3  # a few odd words may be more than their letters suggest; in a longer text others make up for them
LONGEST = 64  # characters a token; a text of longer ones is blank, and may lose its end
PIECE = re.compile(r" ?[A-Za-z]+|[0-9]{1,3}|\0+| +|\n+|\t+|\r+|.", re.DOTALL)


def count(text: str) -> int:
    """Return the tokens of a text, or without the tokenizer an estimate of them."""
    tokenizer = _tokenizer()
    data = text.encode("utf-8", "replace")  # lone surrogates are no text to any tokenizer
    if tokenizer is None:
        return max(round(len(data) / BYTES_A_TOKEN), 1) if data else 0
    return len(tokenizer.encode_ordinary(data.decode()))


def exact() -> bool:
    """Tell whether `count` counts rather than estimates."""
    return _tokenizer() is not None


def upper_bound(text: str) -> int:
    """Return what the tokens of a text do not exceed: their number, or without the tokenizer a cautious guess."""
    if exact():
        return count(text)
    return _bound(text)


def cut(text: str, limit: int) -> str:
    """Return as much of a text as surely fits in `limit` tokens, ended after a sentence or a word."""
    if upper_bound(text) <= limit:
        return text
    text = text[: LONGEST * (limit + 1)]
    fits, breaks = 0, len(text)
    while breaks - fits > 1:
        middle = (fits + breaks) // 2
        fits, breaks = (middle, breaks) if upper_bound(text[:middle]) <= limit else (fits, middle)
    end = sentences.cut(text, fits)
    while end and upper_bound(text[:end]) > limit:  # a part of a word may be more tokens than the whole
        end = sentences.word_end(text, end - 1)
    return text[:end]


def _bound(text: str) -> int:
    likely = sum(_most(found[0]) for found in PIECE.finditer(_single().sub("\0", text)))
    return min(likely + SLACK, len(text.encode("utf-8", "replace")))  # no token is less than a byte


@lru_cache(maxsize=1)
def _single() -> re.Pattern[str]:
    return re.compile(f"[{LETTERS}{HAN}{HANGUL}]")  # takes milliseconds, which those who count do not need


@lru_cache(maxsize=1 << 14)
def _most(piece: str) -> int:
    """Return how many tokens a piece may be: seen in prose of many languages, random letters, base64 and code."""
    letters = piece.lstrip(" ")
    if not letters or piece[0] in "\n\t\r":
        return 1 + len(piece) // BLANKS_A_TOKEN
    if not letters.isalpha() or not letters.isascii():
        return 1 if letters.isdigit() and letters.isascii() else len(piece.encode("utf-8", "replace"))
    if not (letters[1:].islower() or len(letters) == 1):
        return len(letters)
    unusual = sum(second not in FOLLOWERS.get(first, "") for first, second in pairwise(letters.lower()))
    return max(1, math.ceil(len(letters) / LETTERS_A_TOKEN) + unusual)


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    try:
        return importlib.import_module("splintr").Tokenizer.from_pretrained(ENCODING)  # carries its vocabulary
    except ImportError:
        return None
