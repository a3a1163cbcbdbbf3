"""Cases made of other cases: pieces cut, doubled, swapped and spoiled, in JSON by its values, elsewhere by its text."""

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

LINE = b"\n"  # a case may begin with a line that says how it is to be read; what follows it may be JSON
MOST_STEPS = 4
LONGEST = 20_000  # bytes of a case, unless it is swollen
SPELLED = (  # the building blocks of trouble, as `split_words` reads them
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
WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 10**30, 1e308, "", " ", "text", "http://[", "https://a.b/c", "\ud800", "\x1b[2J"),
    *("<b>x</b> &amp;", [], {}, [[]], [None], {"": None}, {"x": [{}]}, ["a", "b"], [1, 2], "2026-01-31", "[1]"),
)


def split_words(spelled: str) -> tuple[str, ...]:
    """Return words, which may hold blanks and line ends, from a text in which ¦ stands between them."""
    return tuple(spelled.split(" ¦ "))


TOKENS = split_words(SPELLED)


def mutate(data: bytes, others: Sequence[bytes], random: Random, words: Sequence[str] = ()) -> bytes:
    """Return a case like the one given; `others` are those it may borrow from, `words` those of its language."""
    for _ in range(random.randint(1, MOST_STEPS)):
        data = _step(data, others, random, words)
    return data[:LONGEST]


def _step(data: bytes, others: Sequence[bytes], random: Random, words: Sequence[str]) -> bytes:
    head, line, body = data.partition(LINE)
    for start, rest in ((b"", data), (head + line, body)):
        if rest[:1] in (b"{", b"[") and random.random() < 0.7:
            try:
                value = json.loads(rest)
            except (ValueError, RecursionError):
                continue
            return start + json.dumps(_spoil(value, random, words)).encode()
    if random.random() < 0.7:
        return head + line + random.choice(STEPS)(body, others, random, words)
    return random.choice(STEPS)(data, others, random, words)


def _cut(data: bytes, _others: Sequence[bytes], random: Random, _words: Sequence[str]) -> bytes:
    first, last = _slice(data, random)
    return data[:first] + data[last:]


def _double(data: bytes, _others: Sequence[bytes], random: Random, _words: Sequence[str]) -> bytes:
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


def _borrow(data: bytes, others: Sequence[bytes], random: Random, _words: Sequence[str]) -> bytes:
    other = random.choice(others) if others else data
    first, last = _slice(other, random)
    place = random.randint(0, len(data))
    return data[:place] + other[first:last] + data[place:]


Step = Callable[[bytes, Sequence[bytes], Random, Sequence[str]], bytes]
STEPS: tuple[Step, ...] = (_cut, _double, _move, _insert, _insert, _replace, _flip, _borrow)


def _slice(data: bytes, random: Random) -> tuple[int, int]:
    first = random.randint(0, len(data))
    return first, min(len(data), first + random.choice((1, 2, 4, 8, 30, 200)))


def _token(random: Random, words: Sequence[str]) -> str:
    return random.choice(words if words and random.random() < 0.5 else TOKENS)


def _spoil(value: Any, random: Random, words: Sequence[str]) -> Any:
    """Return a JSON value with something in it changed: its kind, its text, its members."""
    if isinstance(value, dict | list) and value and random.random() < 0.85:
        return _spoil_inside(value, random, words)
    if isinstance(value, str) and random.random() < 0.6:
        changed = random.choice(STEPS)(value.encode("utf-8", "surrogatepass"), (), random, words)
        return changed.decode("utf-8", "replace")
    if random.random() < 0.1:
        return [value] * random.choice((2, 30))
    return random.choice(WRONG)


def _spoil_inside(value: Any, random: Random, words: Sequence[str]) -> Any:
    names = list(value) if isinstance(value, dict) else list(range(len(value)))
    name = random.choice(names)
    way = random.random()
    if way < 0.7:
        inside = _spoil(value[name], random, words)
    elif way < 0.85:
        inside = value[random.choice(names)]
    elif isinstance(value, dict):
        return {key: entry for key, entry in value.items() if key != name}
    else:
        return value[:name] + value[name + 1 :]
    if isinstance(value, dict):
        return value | {name: inside}
    return [*value[:name], inside, *value[name + 1 :]]


def swell(data: bytes, random: Random, size: int) -> bytes:
    """Return a case of about so many bytes, one piece of it again and again: what is not linear shows here."""
    first, last = _slice(data, random)
    piece = data[first:last] or b"["
    if random.random() < 0.3:
        piece = _token(random, ()).encode()
    return data[:last] + piece * (size // len(piece)) + data[last:]
