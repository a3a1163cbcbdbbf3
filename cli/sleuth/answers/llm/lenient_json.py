"""A reader of JSON as language models write it: Python's words, other quotation marks, loose commas, no end."""

import re
from typing import Any

WORDS = {"true": True, "false": False, "null": None, "None": None, "undefined": None, "NaN": None}
BLANK = re.compile(r"(?:\s++|//[^\n]*+|/\*.*?\*/)*+", re.DOTALL)
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
WORD = re.compile(r"[^\W\d][\w-]*")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)?", re.DOTALL)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
CLOSERS = {'"': '"', "'": "'", "“": "”“", "”": "”", "‘": "’‘", "’": "’", "「": "」"}
STOPS = {opener: re.compile(rf"[{closers}\\]") for opener, closers in CLOSERS.items()}
END_OF_TEXT = re.compile(r"\s*(?:[,:}\]]|$)")  # what follows a quotation mark that ends a text


class Cut(ValueError):  # noqa: N818 - no fault, but where the reply was cut off
    """The text ends in the middle of a value."""


class LenientReader:
    """Reads the object that begins at a place; what is cut off at the end of the text is closed."""

    def __init__(self, text: str, start: int, max_depth: int) -> None:
        self.text, self.place, self.max_depth = text, start, max_depth

    def read(self) -> dict[str, Any]:
        """Return the object; ValueError where there is none, or nothing in it."""
        if not self.text.startswith("{", self.place):
            raise ValueError("no object")
        found: dict[str, Any] = self._object(0)
        if not found:
            raise ValueError("an empty object")
        return found

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.place += 1
        while self._next() not in ("}", ""):
            try:
                key = self._key()
                if self._next() != ":":
                    raise self._fault()
                self.place += 1
                self._next()
                found[key] = self._value(depth + 1)
            except Cut:
                break
            self._pass_comma("}")
        self.place += 1
        return found

    def _array(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.place += 1
        while self._next() not in ("]", ""):
            try:
                found.append(self._value(depth + 1))
            except Cut:
                break
            self._pass_comma("]")
        self.place += 1
        return found

    def _value(self, depth: int) -> Any:
        if depth > self.max_depth:
            raise ValueError("nested too deep")
        first = self.text[self.place : self.place + 1]
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._array(depth)
        if first in CLOSERS:
            return self._quoted()
        if number := NUMBER.match(self.text, self.place):
            self.place = number.end()
            if self.place == len(self.text):  # more digits may have been meant
                raise Cut
            return _number(number[0])
        word = WORD.match(self.text, self.place)
        known = word and (word[0] if word[0] in WORDS else word[0].lower())
        if not word or known not in WORDS:
            raise self._fault()
        self.place = word.end()
        return WORDS[known]

    def _key(self) -> str:
        if self._next() in CLOSERS:
            return self._quoted()
        word = WORD.match(self.text, self.place)
        if not word:
            raise self._fault()
        self.place = word.end()
        return word[0]

    def _quoted(self) -> str:
        """Read a text; a mark inside of it that nobody escaped does not end it, unless a separator follows."""
        stop = STOPS[self.text[self.place]]
        start = place = self.place + 1
        while found := stop.search(self.text, place):
            place = found.end()
            if found[0] == "\\":
                place += 1
            elif END_OF_TEXT.match(self.text, place):
                place -= 1
                break
        else:
            place = len(self.text)
        self.place = place + 1
        text = ESCAPE.sub(_unescaped, self.text[start:place])
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # two escapes may be one character

    def _pass_comma(self, closer: str) -> None:
        after = self._next()
        if after == ",":
            self.place += 1
        elif after not in (closer, ""):
            raise ValueError("no comma")

    def _next(self) -> str:
        """Pass over blanks and comments; return the next character, nothing at the end."""
        blank = BLANK.match(self.text, self.place)
        self.place = blank.end() if blank else self.place
        return self.text[self.place : self.place + 1]

    def _fault(self) -> ValueError:
        """Return the error for what fits nowhere: a cut where the text ends before anything else comes."""
        rest = self.text[self.place :].strip()
        return Cut() if not rest or rest.isalpha() else ValueError("not JSON")


def _number(text: str) -> int | float:
    return float(text) if re.search(r"[.eE]", text) else int(text)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or ""
    return chr(int(code[1:], 16)) if len(code) == 5 else ESCAPES.get(code, code)
