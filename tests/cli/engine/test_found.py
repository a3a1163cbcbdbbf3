"""Answers are truncated, and keys that a server repeats are redacted."""

import json
from base64 import b64encode
from html import unescape
from typing import Any

import pytest

from sleuth.base.text import clean
from sleuth.engine.found import (
    MAX_CHARS,
    MAX_ENGINES,
    MAX_FIELD_CHARS,
    MAX_RESULTS,
    MAX_TEXTS,
    found_as_json,
    found_from_json,
    limit_found,
)
from sleuth_providers.base import Details, DirectAnswer, Found, Result

KEY = "sk-secret/0123456789"


def test_answer_of_usual_size_is_unchanged() -> None:
    results = tuple(Result(f"t{n}", f"https://a.test/{n}", "s" * 2000, "c" * 100_000, score=0.5) for n in range(50))
    found = Found(
        results, (DirectAnswer("a", "https://a.test/"),), ("one",), ("two",), {"bing": "timeout"}, ("lang",), 0.1
    )
    assert limit_found(found, (KEY,)) == found


def test_long_lists_are_truncated() -> None:
    many = tuple(map(str, range(10_000)))
    results = tuple(Result(number, f"https://a.test/{number}", engines=many) for number in many)
    answers = tuple(DirectAnswer(number) for number in many)
    found = limit_found(Found(results, answers, many, many, dict.fromkeys(many, "x")))
    assert len(found.results) == MAX_RESULTS
    assert [len(part) for part in found[1:4]] == [MAX_TEXTS] * 3
    assert len(found.engines) == MAX_ENGINES
    assert len(found.results[0].engines) == MAX_TEXTS


def test_long_texts_are_truncated() -> None:
    endless: dict[str, Any] = dict.fromkeys(Result._fields, "x" * 2_000_000)
    details = Details(venue="x" * 2_000_000, authors=("x" * 2_000_000,) * 1000)
    result = limit_found(Found((Result(**endless | {"engines": (), "score": None, "details": details}),))).results[0]
    assert result.details == Details(venue="x" * MAX_CHARS, authors=("x" * MAX_CHARS,) * MAX_TEXTS)
    for name in Result._fields:
        if name not in ("engines", "score", "details"):
            assert len(getattr(result, name)) == MAX_FIELD_CHARS.get(name, MAX_CHARS), name


@pytest.mark.parametrize(
    "said",
    [
        KEY,
        f"your key is {KEY}, keep it",
        "sk-secret%2F0123456789",
        "%73k-secret/0123456789",
        "sk-secret\\/0123456789",
        "sk-secret&#47;0123456789",  # entities are decoded before a result is shown
        "sk-secret&#x000000002f;0123456789",
        "sk-secret&sol;0123456789",
        "".join(f"&#{ord(character)};" for character in KEY),
        "".join(f"\\u{ord(character):04x}" for character in KEY),
        "sk-secret\u200b/0123456789",  # characters that are not shown
        "sk-secret&shy;/0123456789",
        "sk-secret\x07/0123456789",
        b64encode(f"me:{KEY}".encode()).decode(),
        f"{KEY} and sk-secret\u200b/0123456789",  # as it is, and split
        f"https://{KEY.upper()}.example/",
        "x" * (MAX_CHARS - 8) + KEY,  # would be cut
    ],
)
def test_repeated_key_is_redacted(said: str) -> None:
    fields: dict[str, Any] = dict.fromkeys(Result._fields, said)
    details = Details(authors=(said,), venue=said)
    hit = Result(**fields | {"engines": (said,), "score": None, "details": details})
    found = limit_found(Found((hit,), (DirectAnswer(said, said),), (said,), (said,), {said: said}), (KEY, ""))
    assert "0123456789" not in unescape(repr(found))
    assert clean(said) not in repr(found)
    assert "[hidden]" in found.results[0].title


@pytest.mark.parametrize("secret", ["admin", "search", "test", "contributions"])
def test_common_word_as_a_password_changes_no_result(secret: str) -> None:
    found = Found((Result(f"Django {secret}", f"https://{secret}.example/{secret}/"),))
    assert limit_found(found, (secret, KEY)) == found


def test_details_survive_the_cache() -> None:
    details = Details(authors=("Ada",), year=2026, open_access=True, cited_by=0, doi="10.1000/a")
    found = Found((Result("a", "https://a.test/", details=details), Result("b", "https://b.test/")))
    document = json.loads(json.dumps(found_as_json(found)))
    assert found_from_json(document) == found
    document["results"][0]["details"]["year"] = "2026"
    assert found_from_json(document) is None


def test_value_that_is_not_text_is_unchanged(capsys: Any) -> None:
    odd: Any = None
    assert limit_found(Found((Result(odd, "https://a.test/"),)), (KEY,)).results[0].title is None
