"""Messages in two languages: every error of a provider has both, and no translation loses a place."""

import re
import string
from typing import Any

import pytest

from sleuth.translations.zh_cn import MESSAGES
from sleuth_providers import errors


def places(template: str) -> set[str]:
    return {name.partition("!")[0] for _, name, _, _ in string.Formatter().parse(template) if name}


@pytest.mark.parametrize("english", MESSAGES, ids=lambda text: re.sub(r"\W+", "-", text)[:50])
def test_translation_has_the_same_places(english: str) -> None:
    assert places(MESSAGES[english]) == places(english)
    assert re.search(r"[\u4e00-\u9fff]", MESSAGES[english])


def test_every_provider_error_is_translated() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.ProviderError)
    ]
    assert len(kinds) > 8
    assert [text for kind in kinds for text in (kind.message, kind.hint) if text not in MESSAGES] == []


def test_errors_are_said_in_chinese(make_sleuth: Any) -> None:
    sleuth = make_sleuth(LC_ALL="zh_CN.UTF-8")
    done = sleuth("search", "-p", "brave", "x")
    assert done.err == "错误：Brave Search 需要 API 密钥\n提示：设置密钥：sleuth providers set brave --api-key -\n"
    assert "无法连接 SearXNG" in sleuth("search", "-p", "searxng", "x").err
    assert "没有要搜索的内容" in sleuth("search").err


def test_language_setting_beats_the_locale(make_sleuth: Any) -> None:
    sleuth = make_sleuth(LC_ALL="zh_CN.UTF-8", SLEUTH_UI_LANGUAGE="en")
    assert sleuth("search").err.startswith("error: ")
