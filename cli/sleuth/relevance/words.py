"""Tokenises text: stems of words; characters and pairs of characters in scripts without spaces."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, groupby, islice

from sleuth.relevance import languages
from sleuth.relevance.languages import ENGLISH

MAX_TERMS = 64  # in one search expression

# Scripts without spaces between words, or with too few to rely on: Hangul, kana, Han; and Thai, Lao, Burmese, Khmer,
# whose vowels are separate characters, so that pairs of characters say little.
UNSPACED_VOWELS = "\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1780-\u17dd"
UNSPACED_SYLLABLES = (
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97c\uac00-\ud7fb"
    "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd"
)
# Vowel signs and joiners, which are part of a word but not in \w.
MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u200c\u200d"
# Characters that NFKC changes within words. To normalise all text would take longer than scoring it.
NFKC_RANGES = (
    "\u00aa\u00b2-\u00be\u0132\u0133\u017f\u01c4-\u01cc\u01f1-\u01f3\u0300-\u036f\u1100-\u11ff\u2070-\u218f"
    "\u2460-\u24ff\u2e80-\u2fd5\u3099\u309a\u3130-\u33ff\uf900-\ufdff\ufe70-\ufefc\uff10-\uff19\uff21-\uff3a"
    "\uff41-\uff5a\uff66-\uffdc\U0001d400-\U0001d7ff\U0002f800-\U0002fa1f"
)
UNSPACED = UNSPACED_VOWELS + UNSPACED_SYLLABLES
UNSPACED_RUN = re.compile(f"[{UNSPACED_SYLLABLES}]+|[{UNSPACED_VOWELS}]+")
THREES = re.compile(f"[{UNSPACED_VOWELS}]")
# A word outside UNSPACED_RUN; c++, .net and 3.11 stay whole.
WORD_PATTERN = re.compile(rf"\.?\w++(?:[.,]\w++|[{MARKS}]\w*+)*+(?:\+\+|\#(?!\w))?")
NFKC_CHANGED = re.compile(f"[{NFKC_RANGES}]")
# Chinese question words: rare in pages, so they would score high, but they say nothing about the subject.
QUESTION_WORDS = re.compile(
    "为什么|為什麼|为何|為何|什么|什麼|甚麼|哪[些个個里裡位年一]?|怎么样?|怎麼樣?|怎样|怎樣|如何|多少|何时|何時|[吗嗎呢谁誰]"
)
# Particles, not worth highlighting.
GRAMMAR_CHARACTERS = frozenset("的了是在和有与及也就都而吗呢啊吧之其何哪のはがをにへとでも")


def words(text: str, language: str = ENGLISH) -> list[str]:
    """Return the tokens of a text without stop words and question words, unless there is nothing else.

    `language` is that of Latin script; other scripts identify their language.
    """
    return list(iter_words(text, language))


def iter_words(text: str, language: str = ENGLISH) -> Iterator[str]:
    """Return an iterator over the tokens: those of a long page take 200 MB together."""
    plain = QUESTION_WORDS.sub(" ", text)
    ways = _tokens(plain, language, stop_words=False), _tokens(plain, language), _tokens(text, language)
    return next((chain((first,), tokens) for tokens in ways for first in tokens), iter(()))


class TokenCounter:
    """Counts the tokens of one query in many texts, without making the tokens of the texts."""

    def __init__(self, tokens: Iterable[str], language: str = ENGLISH) -> None:
        wanted = frozenset(tokens)
        self._threes = frozenset(filter(THREES.match, wanted))
        self._unspaced = sorted((token for token in wanted - self._threes if UNSPACED_RUN.match(token)), key=len)
        self._words = _WordCounts(wanted, language)

    @classmethod
    def of_query(cls, query: str, texts: Sequence[str]) -> "TokenCounter":
        """Return a counter of the tokens of a query, in the language of the texts to count in."""
        language = languages.detect([query, *texts[:: max(len(texts) // languages.SAMPLED_TEXTS, 1)]])
        return cls(words(query, language), language)

    def of(self, text: str) -> tuple[dict[str, int], int]:
        """Return how often each query token occurs in a text, and the number of tokens in the text."""
        normal = _normalised(text)
        spaced = normal if normal.isascii() else UNSPACED_RUN.sub(" ", normal)
        found = WORD_PATTERN.findall(spaced)
        length = sum(map(self._words.__getitem__, found))
        counts: dict[str, int] = {}
        for word in found:
            for stem in self._words.wanted.get(word, ()):
                counts[stem] = counts.get(stem, 0) + 1
        if spaced is not normal:
            runs = UNSPACED_RUN.findall(normal)
            length += sum(max(len(run) - 2, 1) if THREES.match(run) else 2 * len(run) - 1 for run in runs)
            self._count_unspaced(normal, counts)
            for piece in (piece for run in runs for piece in _pieces(run)) if self._threes else ():
                if piece in self._threes:
                    counts[piece] = counts.get(piece, 0) + 1
        return counts, length

    def _count_unspaced(self, normal: str, counts: dict[str, int]) -> None:
        for token in self._unspaced:  # single characters first: a pair is searched only if both are there
            if (len(token) == 1 or (token[0] in counts and token[1] in counts)) and token in normal:
                is_double = len(token) > 1 and token[0] == token[1]  # such as 人人, which can overlap itself
                counts[token] = len(re.findall(f"(?={token})", normal)) if is_double else normal.count(token)


class _WordCounts(dict[str, int]):
    """Maps a word to its number of tokens, filled on demand; `wanted` maps it to its tokens in the query."""

    def __init__(self, tokens: frozenset[str], language: str) -> None:
        super().__init__()
        self._tokens, self._language = tokens, language
        self.wanted: dict[str, tuple[str, ...]] = {}

    def __missing__(self, word: str) -> int:
        stems = _stems(word, self._language)
        if found := tuple(stem for stem in stems if stem in self._tokens):
            self.wanted[word] = found
        is_stop_word = languages.is_stop_word(word, self._language)
        self[word] = 0 if is_stop_word else sum(not languages.is_stop_word(stem, self._language) for stem in stems)
        return self[word]


def index_text(text: str) -> str:
    """Return all tokens of a text, stop words included, in a form that FTS5 does not split."""
    tokens = map(_fts_token, _tokens(text))  # joined in chunks: those of a long page take 200 MB
    return " ".join(map(" ".join, iter(lambda: list(islice(tokens, 10_000)), [])))


def query_terms(query: str) -> list[str]:
    """Return the tokens of a query without those characters that also occur in a pair."""
    found = words(query)
    paired = {character for token in found if len(token) == 2 and UNSPACED_RUN.match(token) for character in token}
    return [token for token in found if token not in paired]


def match_expression(query: str) -> str:
    """Return the FTS5 expression that matches any token of a query in text from `index_text`."""
    wanted = dict.fromkeys(map(_fts_token, query_terms(query)))
    return " OR ".join(f'"{token}"' for token in list(wanted)[:MAX_TERMS] if token)


def spans(text: str, query: str) -> list[tuple[int, int]]:
    """Return the start and end of the query's words in a text, in reading order."""
    exact, single = frozenset(query_terms(query)), frozenset(words(query))  # single characters only if nothing else
    return list(_spans(text, exact - GRAMMAR_CHARACTERS)) or list(_spans(text, single - GRAMMAR_CHARACTERS))


def _spans(text: str, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    for start, piece, is_run in _segments(text):
        yield from _matching_characters(piece, start, wanted) if is_run else _matching_words(piece, start, wanted)


def _matching_characters(run: str, offset: int, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield the parts of an unspaced run that consist of wanted characters and pairs."""
    normal = _normalised(run) if len(_normalised(run)) == len(run) else run
    pieces = ((at, length) for at in range(len(normal)) for length in (1, 2, 3) if normal[at : at + length] in wanted)
    marked = {at + step for at, length in pieces for step in range(length)}
    for is_marked, group in groupby(range(len(normal)), marked.__contains__):
        places = list(group)
        if is_marked:
            yield offset + places[0], offset + places[-1] + 1


def _matching_words(word: str, offset: int, wanted: frozenset[str]) -> Iterator[tuple[int, int]]:
    stems = _stems(_normalised(word))
    if stems and stems[0] in wanted:
        yield offset, offset + len(word)
    elif len(stems) > 1:
        for part in re.finditer(r"[^\W_]+", word):
            if wanted.intersection(_stems(_normalised(part[0]))):
                yield offset + part.start(), offset + part.end()


def _normalised(text: str) -> str:
    if not text.isascii() and NFKC_CHANGED.search(text):
        text = unicodedata.normalize("NFKC", text)
    return text.lower()


def _segments(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield the start and text of each word and each unspaced run, and whether it is a run."""
    end = 0
    for run in UNSPACED_RUN.finditer(text):
        yield from ((word.start(), word[0], False) for word in WORD_PATTERN.finditer(text, end, run.start()))
        yield run.start(), run[0], True
        end = run.end()
    yield from ((word.start(), word[0], False) for word in WORD_PATTERN.finditer(text, end))


def _tokens(text: str, language: str = ENGLISH, *, stop_words: bool = True) -> Iterator[str]:
    for _, piece, is_run in _segments(_normalised(text)):
        if is_run:
            yield from _pieces(piece)
        elif stop_words:
            yield from _stems(piece, language)
        elif not languages.is_stop_word(piece, language):
            yield from (stem for stem in _stems(piece, language) if not languages.is_stop_word(stem, language))


def _pieces(run: str) -> Iterator[str]:
    """Yield the characters of a run and their pairs, or three at a time."""
    if THREES.match(run):
        yield from (run[at : at + 3] for at in range(max(len(run) - 2, 1)))
    else:
        yield from run
        yield from (run[at : at + 2] for at in range(len(run) - 1))


@lru_cache(maxsize=1 << 16)
def _stems(word: str, language: str = ENGLISH) -> tuple[str, ...]:
    """Return the tokens of a lower-case word: its stem, or for a name such as node.js the whole and its parts."""
    if word.isalpha():
        return (_stem(word, language),)
    parts = [part for part in re.split(r"[.,_+#]+", word) if part]
    if "".join(parts) == word:
        return (_stem(word, language),)
    if re.fullmatch(r"v?\d+(?:\.\d+)+|\d{1,3}(?:,\d{3})+(?:\.\d+)?", word):
        number = word.lstrip("v").replace(",", "")
        return tuple(dict.fromkeys((number, ".".join(number.split(".")[:2]))))  # 3.11.4 is found by 3.11
    if len(parts) > 1 and all(len(part) == 1 for part in parts):
        return ("".join(parts),)  # U.S.A.
    stems = tuple(stem for part in parts for stem in _stems(part, language))
    return stems if "," in word or not parts else (word,) if len(word) <= 3 else (word, *stems)


def _stem(word: str, language: str) -> str:
    if word.isascii():
        return languages.stem(word, language)
    if language == ENGLISH:
        return languages.stem(_unaccented(word), language)
    stem = languages.stem(word, language)  # its suffixes have accents
    return stem if language == languages.UNSTEMMED else _unaccented(stem)


def _unaccented(word: str) -> str:
    plain = "".join(part for part in unicodedata.normalize("NFKD", word) if not unicodedata.combining(part))
    return plain if plain.isascii() else word


def _fts_token(token: str) -> str:
    return token if token.isalnum() else "".join(map(_fts_character, token))


def _fts_character(character: str) -> str:
    # FTS5 drops punctuation and marks but keeps private-use characters, so each is mapped to one of those.
    if character.isalnum():
        return character
    return chr(0xE000 + ord(character)) if ord(character) < 0x1900 else ""
