"""Messages in two languages: every message has a translation, and no translation loses a placeholder."""

import pickle
import re
import string
from pathlib import Path
from typing import Any

import pytest
from tools.messages import Collector, catalogues, compiled, problems, read

import sleuth.pages.article  # noqa: F401 - or a thread imports it in the middle of the next test
from sleuth.base import i18n
from sleuth.base.i18n import set_language, tr, trn
from sleuth_providers import errors
from sleuth_providers.translatable import Translatable

CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
PROSE = re.compile(r"(?<=[ (])(?:the|is|are|and|of|not|cannot|does|with|there|it|its|no|to|for|this|that)(?=[ ,.;:)])")


def placeholders(template: str) -> set[tuple[str, str | None, str | None]]:
    return {(name, spec, kind) for _, name, spec, kind in string.Formatter().parse(template) if name}


@pytest.fixture(scope="module")
def collected() -> Collector:
    return Collector()


@pytest.fixture
def chinese() -> Any:
    set_language("zh-CN", {})
    yield
    set_language("en", {})


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.parts[-3])
def test_translations_keep_placeholders_and_are_chinese(path: Path) -> None:
    entries = [(entry.id, entry.string) for entry in read(path) if entry.id]
    pairs = [(key[1], text[0]) if isinstance(key, tuple) else (key, text) for key, text in entries]
    assert len(pairs) > 600
    assert [english for english, text in pairs if placeholders(text) != placeholders(english)] == []
    assert [english for english, text in pairs if not CHINESE.search(text)] == []


@pytest.mark.parametrize("path", catalogues(), ids=lambda path: path.parts[-3])
def test_every_message_is_translated_and_no_translation_is_unused(path: Path, collected: Collector) -> None:
    assert len(collected.found) > 600
    assert problems(path, collected) == []


def test_every_provider_error_is_collected(collected: Collector) -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.ProviderError)
    ]
    assert len(kinds) > 8
    assert [text for kind in kinds for text in (kind.message, kind.hint) if text not in collected.found] == []


def test_compiled_catalogues_are_current() -> None:
    assert [path.with_suffix(".mo").read_bytes() for path in catalogues()] == [compiled(path) for path in catalogues()]


@pytest.mark.parametrize(
    "damaged", [b"", b"\xde\x12", b"\xde\x12\x04\x95", b"\xde\x12\x04\x95" + b"\xff" * 24, b"text"]
)
def test_damaged_catalogue_means_english(tmp_path: Path, damaged: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    catalogue = tmp_path / "zh_CN" / "LC_MESSAGES" / "sleuth.mo"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_bytes(damaged)
    monkeypatch.setattr(i18n, "LOCALE_FOLDER", str(tmp_path))
    assert set_language("zh-CN", {}) == "zh-CN"
    assert tr("permission denied") == "permission denied"


@pytest.mark.usefixtures("chinese")
def test_texts_of_code_that_cannot_translate_are_translated_where_they_are_shown() -> None:
    error = errors.UnreachableError("connection refused at {where}", where="localhost:1")
    assert (error.detail, tr(error.detail)) == ("connection refused at localhost:1", "localhost:1 拒绝了连接")
    accepted = Translatable("a whole number from {low} to {high}", low=1, high=5)
    assert tr("it takes {accepted}", accepted=accepted) == "可接受的值：1 到 5 之间的整数"
    assert tr("cannot read {path} ({reason})", path="a", reason="Permission denied") == "无法读取 a（权限不足）"
    assert tr(Translatable("something {else}")) == "something {else}"


def test_texts_stay_english_in_english() -> None:
    assert tr(Translatable("connection refused at {where}", where="localhost:1")) == "connection refused at localhost:1"


def test_translatable_text_survives_pickling() -> None:
    text = pickle.loads(pickle.dumps(Translatable("connection refused at {where}", where="a")))
    assert (text, text.template, text.values) == (
        "connection refused at a",
        "connection refused at {where}",
        {"where": "a"},
    )


def test_counts_have_a_singular_and_a_plural() -> None:
    assert [trn("{count} search", "{count} searches", count) for count in (0, 1, 2)] == [
        "0 searches",
        "1 search",
        "2 searches",
    ]


def test_errors_are_shown_in_chinese(make_sleuth: Any) -> None:
    sleuth = make_sleuth(LC_ALL="zh_CN.UTF-8")
    done = sleuth("search", "-p", "brave", "x")
    assert done.err == "错误：Brave Search 需要 API 密钥\n提示：设置密钥：sleuth providers set brave --api-key -\n"
    assert "无法连接 SearXNG" in sleuth("search", "-p", "searxng", "x").err
    assert "没有要搜索的内容" in sleuth("search").err


def test_lists_have_chinese_commas(make_sleuth: Any) -> None:
    done = make_sleuth(LC_ALL="zh_CN.UTF-8")("search", "-p", "searxng,brave,serper", "x")
    assert "没有搜索源响应（searxng、brave、serper）：" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("search", "-p", "searxng", "x"),
        ("search", "--freshness", "yesterday", "x"),
        ("doctor", "http://127.0.0.1:9", "--verbose"),
        ("config", "set", "websearch.timeout", "many"),
        ("search", "-n", "many", "x"),
        ("search", "--nonsense", "x"),
        ("config", "get"),
        ("config", "set", "serch.count", "3"),
        ("library", "add", "nowhere.txt"),
        ("library", "stats"),
        ("summarize", "nonsense"),
        ("summarize", "http://127.0.0.1:9/page"),
        ("providers", "list"),
        ("serch", "x"),
    ],
    ids=" ".join,
)
def test_no_english_sentence_is_left_in_chinese(make_sleuth: Any, words: tuple[str, ...]) -> None:
    done = make_sleuth(LC_ALL="zh_CN.UTF-8", PATH="/nowhere")(*words)  # Docker's own output is quoted untranslated
    text = done.out + done.err
    assert CHINESE.search(text)
    assert [line for line in text.splitlines() if PROSE.search(line)] == []


def test_language_setting_overrides_the_locale(make_sleuth: Any) -> None:
    sleuth = make_sleuth(LC_ALL="zh_CN.UTF-8", SLEUTH_UI_LANGUAGE="en")
    assert sleuth("search").err.startswith("error: ")


@pytest.mark.usefixtures("chinese")
def test_chinese_value_in_chinese_text_has_no_spaces_around_it() -> None:
    assert tr("{provider} cannot be reached", provider=tr("the site")) == "无法连接该网站"
    assert tr("{provider} cannot be reached", provider="Brave") == "无法连接 Brave"
    assert tr("key from {source}", source=tr("table")) == "密钥来自搜索源表"
    assert tr("{provider} is unavailable", provider="Mein Server") == "Mein Server 暂时不可用"
