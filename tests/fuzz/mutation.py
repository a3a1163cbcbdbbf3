"""Mutates cases: removes, repeats, moves and replaces pieces, of JSON by value and of other input by byte."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NEWLINE = b"\n"  # the first line of a case may say how to parse the rest, which may be JSON
MAX_STEPS = 4
MAX_BYTES = 20_000  # of a case that is not inflated
TROUBLESOME = (  # separated as `split_words` expects
    "\x1b]8;;http://x/\x1b\\ ¦ \x1b[2J ¦ \x9b31m ¦ \u202e ¦ \u2028 ¦ \x85 ¦ \r ¦ \r\n ¦ \t ¦ \x00 ¦ "
    "\ufeff ¦ e\u0301\u0301\u0301\u0301\u0301\u0301 ¦ \u200d ¦ \u200b ¦ \U000e0041 ¦ \ue000 ¦ "
    "\U0010ffff ¦ İ ¦ ﬁ ¦ ß ¦ 日本語。 ¦ 的一是 ¦ 한국어 ¦ العربية ¦ ก็ ¦ 👩\u200d👩\u200d👧 ¦ \u3000 ¦ ½ ¦ ² ¦ ٣ ¦ "
    "１２ ¦ 𝟙 ¦ [1] ¦ [1, 2] ¦ [1-3] ¦ [[1]] ¦ [1]( ¦ ](x) ¦ 【1】 ¦ [^1] ¦ [1]: http://x ¦ ![ ¦ ` ¦ ``` ¦ "
    "~~~ ¦      ¦ < ¦ > ¦ <!-- ¦ --> ¦ <p> ¦ </p> ¦ <a href= ¦ <script> ¦ <pre> ¦ <div> ¦ <![CDATA[ ¦ "
    "&amp; ¦ &#x1b; ¦ &#0; ¦ &lt;b&gt; ¦ & ¦ ; ¦ % ¦ %s ¦ %00 ¦ %ff ¦ %2F ¦ {} ¦ {x} ¦ ${A} ¦ $ ¦ \\ ¦ "
    "\\u0000 ¦ \\ud800 ¦ http:// ¦ https://a.b/ ¦ http://[ ¦ http://[::1]/ ¦ //a ¦ @ ¦ user:pass@ ¦ :0 ¦ "
    ":99999 ¦ ?a=b ¦ # ¦ /../ ¦ ' ¦ \" ¦ “ ¦ ” ¦ « ¦ ( ¦ ) ¦ [ ¦ ] ¦ { ¦ } ¦ , ¦ : ¦ = ¦ | ¦ * ¦ _ ¦ - ¦ "
    "-  ¦ 1.  ¦ >  ¦ #  ¦ 0 ¦ -1 ¦ 1e999 ¦ NaN ¦ 9999999999999999999999999 ¦ 0x1f ¦ 1_0 ¦ null ¦ true ¦ "
    "2026-02-30 ¦ 0000-00-00 ¦ 3 days ago"
)
UNEXPECTED: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**30, 1e308, "", " ", "text", "http://[", "https://a.b/c", "\ud800", "\x1b[2J"),
    *("<b>x</b> &amp;", [], {}, [[]], [None], {"": None}, {"x": [{}]}, ["a", "b"], [1, 2], "2026-01-31", "[1]"),
)


def split_words(text: str) -> tuple[str, ...]:
    """Split a text at ` ¦ `; words may contain spaces and line breaks."""
    return tuple(text.split(" ¦ "))


TOKENS = split_words(TROUBLESOME)


def mutate(data: bytes, others: Sequence[bytes], random: Random, words: Sequence[str] = ()) -> bytes:
    """Return a mutated case with pieces of `others` and tokens from `words`."""
    for _ in range(random.randint(1, MAX_STEPS)):
        data = _step(data, others, random, words)
    return data[:MAX_BYTES]


def _step(data: bytes, others: Sequence[bytes], random: Random, words: Sequence[str]) -> bytes:
    head, line, body = data.partition(NEWLINE)
    for start, rest in ((b"", data), (head + line, body)):
        if rest[:1] in (b"{", b"[") and random.random() < 0.7:
            try:
                value = json.loads(rest)
            except (ValueError, RecursionError):
                continue
            return start + json.dumps(_mutate_value(value, random, words)).encode()
    if random.random() < 0.7:
        return head + line + random.choice(STEPS)(body, others, random, words)
    return random.choice(STEPS)(data, others, random, words)


def _remove(data: bytes, _others: Sequence[bytes], random: Random, _words: Sequence[str]) -> bytes:
    first, last = _slice(data, random)
    return data[:first] + data[last:]


def _repeat(data: bytes, _others: Sequence[bytes], random: Random, _words: Sequence[str]) -> bytes:
    first, last = _slice(data, random)
    return data[:last] + data[first:last] * random.choice((1, 1, 2, 50)) + data[last:]


def _move(data: bytes, _others: Sequence[bytes], random: Random, _words: Sequence[str]) -> bytes:
    first, last = _slice(data, random)
    rest = data[:first] + data[last:]
    place = random.randint(0, len(rest))
    return rest[:place] + data[first:last] + rest[place:]


def _insert(data: bytes, _others: Sequence[bytes], random: Random, words: Sequence[str]) -> bytes:
    place = random.randint(0, len(data))
    return data[:place] + _token(random, words).encode() + data[place:]


def _replace(data: bytes, _others: Sequence[bytes], random: Random, words: Sequence[str]) -> bytes:
    first, last = _slice(data, random)
    return data[:first] + _token(random, words).encode() + data[last:]


def _flip(data: bytes, _others: Sequence[bytes], random: Random, _words: Sequence[str]) -> bytes:
    place = random.randint(0, len(data))
    return data[:place] + bytes((random.randrange(256),)) + data[place + 1 :]


def _splice(data: bytes, others: Sequence[bytes], random: Random, _words: Sequence[str]) -> bytes:
    other = random.choice(others) if others else data
    first, last = _slice(other, random)
    place = random.randint(0, len(data))
    return data[:place] + other[first:last] + data[place:]


Step = Callable[[bytes, Sequence[bytes], Random, Sequence[str]], bytes]
STEPS: tuple[Step, ...] = (_remove, _repeat, _move, _insert, _insert, _replace, _flip, _splice)


def _slice(data: bytes, random: Random) -> tuple[int, int]:
    first = random.randint(0, len(data))
    return first, min(len(data), first + random.choice((1, 2, 4, 8, 30, 200)))


def _token(random: Random, words: Sequence[str]) -> str:
    return random.choice(words if words and random.random() < 0.5 else TOKENS)


def _mutate_value(value: Any, random: Random, words: Sequence[str]) -> Any:
    """Return a JSON value with its type, text or members changed."""
    if isinstance(value, dict | list) and value and random.random() < 0.85:
        return _mutate_member(value, random, words)
    if isinstance(value, str) and random.random() < 0.6:
        changed = random.choice(STEPS)(value.encode("utf-8", "surrogatepass"), (), random, words)
        return changed.decode("utf-8", "replace")
    if random.random() < 0.1:
        return [value] * random.choice((2, 30))
    return random.choice(UNEXPECTED)


def _mutate_member(value: Any, random: Random, words: Sequence[str]) -> Any:
    names = list(value) if isinstance(value, dict) else list(range(len(value)))
    name = random.choice(names)
    chance = random.random()
    if chance < 0.7:
        changed = _mutate_value(value[name], random, words)
    elif chance < 0.85:
        changed = value[random.choice(names)]
    elif isinstance(value, dict):
        return {key: entry for key, entry in value.items() if key != name}
    else:
        return value[:name] + value[name + 1 :]
    if isinstance(value, dict):
        return value | {name: changed}
    return [*value[:name], changed, *value[name + 1 :]]


def inflate(data: bytes, random: Random, size: int) -> bytes:
    """Return a case of about so many bytes with one piece repeated, to find super-linear parsers."""
    first, last = _slice(data, random)
    piece = data[first:last] or b"["
    if random.random() < 0.3:
        piece = _token(random, ()).encode()
    return data[:last] + piece * (size // len(piece)) + data[last:]
