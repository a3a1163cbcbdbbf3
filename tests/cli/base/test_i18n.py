"""Messages in two languages: everything that is said has both, and no translation loses a place."""

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sleuth.pages.article  # noqa: F401 - or a thread does it, in the middle of the next test
from sleuth.base.i18n import set_language, tr, tr_detail
from sleuth.base.i18n.catalogues.zh_cn import DETAILS, MESSAGES
from sleuth_providers import errors

ROOT = Path(__file__).parents[3]
CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
PROSE = re.compile(r"(?<=[ (])(?:the|is|are|and|of|not|cannot|does|with|there|it|its|no|to|for|this|that)(?=[ ,.;:)])")
# Nothing but names, commands and places: the same in every language.
SAME = {
    "{usage}",
    "{why}",
    "SearXNG",
    "false",
    "sleuth config edit",
    "sleuth config show",
    "sleuth doctor settings.yml --fix",
    "sleuth providers set …",
    "sleuth providers set {id} --api-host 'https://example.org/search?q=%s'",
    "sleuth providers set {id} --basic-auth-username NAME --basic-auth-password -",
    "--api-host 'https://host/search?q=%s'",
    "pip install 'sleuth[keyring]'",
}
SPOKEN = {"message", "hint", "trouble_hint"}  # attributes of errors and providers
RECORDS = {
    "Check": {"title": 1, "problem": 2},
    "EngineProblem": {"title": 1},
}  # fields said later, by place
FOLLOWED = {*SPOKEN, "detail", *(field for fields in RECORDS.values() for field in fields)}


class Collector:
    """Reads the sources and finds every template: literals that are said, given to errors, or kept to be said later."""

    def __init__(self) -> None:
        paths = [path for folder in ("cli", "providers") for path in sorted((ROOT / folder).rglob("*.py"))]
        self.trees = [ast.parse(path.read_text("utf-8")) for path in paths if path.parent.name != "zh_cn"]
        nodes = [node for tree in self.trees for node in ast.walk(tree)]
        self.parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
        self.calls = [node for node in nodes if isinstance(node, ast.Call)]
        self.classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        self.families = self._families()
        self.lost: set[str] = set()  # what is said and cannot be followed to a literal
        self.found = {text for node in self._sources() for text in self.texts(node) if text} - SAME

    def _families(self) -> dict[str, str]:
        """Return the classes of errors, each with the root of its tree."""
        found = {"SleuthError": "SleuthError", "ProviderError": "ProviderError"}
        for _ in range(5):  # as deep as the trees grow
            for node in self.classes:
                roots = [found[called(base)] for base in node.bases if called(base) in found]
                if roots:
                    found[node.name] = roots[0]
        return found

    def _sources(self) -> Iterator[ast.expr]:
        for call in self.calls:
            name = called(call.func)
            if name == "tr":
                yield call.args[0]
            elif name == "map" and called(call.args[0]) == "tr":
                yield call.args[1]
            elif name in RECORDS:
                yield from (call.args[place] for place in RECORDS[name].values())
            elif self.families.get(name) == "SleuthError":
                yield from call.args[:2]
            spoken = [keyword.value for keyword in call.keywords if keyword.arg in SPOKEN]
            yield from (value for value in spoken if name in self.families or isinstance(value, ast.Constant))
        for node in self.classes:
            yield from (value for name, value in assigned(node.body) if name in SPOKEN)

    def texts(self, node: ast.expr, depth: int = 0) -> Iterator[str]:
        """Return the literals an expression may be."""
        if isinstance(node, ast.Constant):
            yield str(node.value)
        elif isinstance(node, ast.IfExp):
            yield from self.texts(node.body, depth)
            yield from self.texts(node.orelse, depth)
        elif isinstance(node, ast.BoolOp):
            yield from (text for value in node.values for text in self.texts(value, depth))
        elif isinstance(node, ast.Tuple):  # lines of a fix: comments are words, the others are to be typed
            lines = [str(element.value) for element in node.elts if isinstance(element, ast.Constant)]
            yield from (line for line in lines if line.startswith("#"))
        elif isinstance(node, ast.Dict):
            yield from (text for value in node.values for text in self.texts(value, depth))
        elif isinstance(node, ast.Subscript):
            yield from self.texts(node.value, depth)
        elif isinstance(node, ast.Name) and depth < 4:
            yield from (text for value in self._named(node) for text in self.texts(value, depth + 1))
        elif not (isinstance(node, ast.Attribute) and node.attr in FOLLOWED):
            self.lost.add(ast.unparse(node))

    def _named(self, name: ast.Name) -> list[ast.expr]:
        """Return what a name may stand for: assigned, iterated over, an argument of callers, or imported."""
        scope: ast.AST = name
        while scope in self.parents:
            scope = self.parents[scope]
            if isinstance(scope, ast.FunctionDef | ast.Module) and (values := [*self._bound(scope, name.id)]):
                return values
        imported = [value for tree in self.trees for key, value in assigned(tree.body) if key == name.id]
        if not imported:
            self.lost.add(name.id)
        return imported

    def _bound(self, scope: ast.FunctionDef | ast.Module, name: str) -> Iterator[ast.expr]:
        for node in ast.walk(scope):
            yield from (value for key, value in assigned([node]) if key == name)
            if isinstance(node, ast.For) and isinstance(node.target, ast.Tuple):
                yield from self._iterated(node, [called(element) for element in node.target.elts], name)
        if isinstance(scope, ast.FunctionDef):
            taken = [argument.arg for argument in scope.args.posonlyargs + scope.args.args if argument.arg != "self"]
            home = self._module(scope) if scope.name.startswith("_") else None
            for call in self.calls if name in taken else ():
                if called(call.func) == scope.name and home in (None, self._module(call)):
                    yield from call.args[taken.index(name) :][:1]

    def _iterated(self, loop: ast.For, names: list[str], name: str) -> Iterator[ast.expr]:
        """Return what stands at the place of a name in the rows of the table that a loop goes through."""
        for key, table in assigned(self._module(loop).body) if name in names else ():
            if key == called(loop.iter) and isinstance(table, ast.Tuple):
                yield from (row.elts[names.index(name)] for row in table.elts if isinstance(row, ast.Tuple))

    def _module(self, node: ast.AST) -> Any:
        while node in self.parents:
            node = self.parents[node]
        return node

    def details(self) -> set[str]:
        """Return what errors of providers tell besides their message; `{}` stands for each value in it."""
        calls = [call for call in self.calls if self.families.get(called(call.func)) == "ProviderError" and call.args]
        return {shape(call.args[0]) for call in calls} - {"", "{}", "HTTP {}"}


def called(node: ast.AST) -> str:
    """Return the last name of an expression."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def assigned(body: list[Any]) -> Iterator[tuple[str, ast.expr]]:
    """Return the names that statements give to values."""
    for node in body:
        if isinstance(node, ast.Assign):
            yield called(node.targets[0]), node.value
        elif isinstance(node, ast.AnnAssign) and node.value:
            yield called(node.target), node.value


def shape(node: ast.expr) -> str:
    """Return a text with `{}` for what is filled in; nothing for what is no text."""
    if isinstance(node, ast.Constant):
        return re.sub(r"^HTTP \d+$", "", str(node.value))
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)


def places(template: str) -> set[tuple[str, str | None, str | None]]:
    return {(name, spec, kind) for _, name, spec, kind in string.Formatter().parse(template) if name}


@pytest.fixture(scope="module")
def collected() -> Collector:
    return Collector()


@pytest.mark.parametrize("catalogue", [MESSAGES, DETAILS], ids=["messages", "details"])
def test_translations_have_the_same_places(catalogue: dict[str, str]) -> None:
    assert [english for english, chinese in catalogue.items() if places(chinese) != places(english)] == []
    assert [english for english, chinese in catalogue.items() if not CHINESE.search(chinese)] == []


def test_everything_said_is_translated(collected: Collector) -> None:
    assert len(collected.found) > 600
    assert sorted(collected.found - MESSAGES.keys() - DETAILS.keys()) == []


def test_nothing_is_translated_that_is_never_said(collected: Collector) -> None:
    assert sorted(MESSAGES.keys() - collected.found) == []


def test_everything_said_can_be_followed_to_its_words(collected: Collector) -> None:
    assert sorted(collected.lost) == []


def test_every_detail_of_a_provider_error_is_translated(collected: Collector) -> None:
    known = {re.sub(r"\{\w+\}", "{}", english) for english in DETAILS}
    assert len(collected.details()) > 30
    assert sorted(collected.details() - known) == []


def test_every_provider_error_is_translated() -> None:
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.ProviderError)
    ]
    assert len(kinds) > 8
    assert [text for kind in kinds for text in (kind.message, kind.hint) if text not in MESSAGES] == []


def test_texts_of_others_are_told_again() -> None:
    try:
        set_language("zh-CN", {})
        assert tr_detail("connection refused at localhost:1") == "localhost:1 拒绝连接"
        assert tr("it takes {accepted}", accepted="a whole number from 1 to 5") == "可接受的值：1 到 5 之间的整数"
        assert tr_detail("something else") == "something else"
    finally:
        set_language("en", {})
    assert tr_detail("connection refused at localhost:1") == "connection refused at localhost:1"


def test_errors_are_said_in_chinese(make_sleuth: Any) -> None:
    sleuth = make_sleuth(LC_ALL="zh_CN.UTF-8")
    done = sleuth("search", "-p", "brave", "x")
    assert done.err == "错误：Brave Search 需要 API 密钥\n提示：设置密钥：sleuth providers set brave --api-key -\n"
    assert "无法连接 SearXNG" in sleuth("search", "-p", "searxng", "x").err
    assert "没有要搜索的内容" in sleuth("search").err


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
    done = make_sleuth(LC_ALL="zh_CN.UTF-8", PATH="/nowhere")(*words)  # what Docker says is quoted as it is
    said = done.out + done.err
    assert CHINESE.search(said)
    assert [line for line in said.splitlines() if PROSE.search(line)] == []


def test_language_setting_beats_the_locale(make_sleuth: Any) -> None:
    sleuth = make_sleuth(LC_ALL="zh_CN.UTF-8", SLEUTH_UI_LANGUAGE="en")
    assert sleuth("search").err.startswith("error: ")
