"""Every regular expression of the packages, and inputs that make a backtracking one slow.

Run as a program, it measures each pattern in CPU time, and prints those that are not linear.
"""

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]  # the module has no public name
from re import _parser as sre_parser  # type: ignore[attr-defined]  # the module has no public name
from typing import Any, NamedTuple

from sleuth.relevance import sites
from sleuth_providers import registry

PACKAGES = ("sleuth", "sleuth_providers")
REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT)
FUNCTIONS = ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")
SIZE = 20_000  # characters of an input; a quadratic pattern takes far longer than FAST_S for it, a linear one far less
GROWTH = 4  # of an input that took longer: the time of a linear pattern grows as much, of a quadratic one GROWTH ** 2
FAST_S, CPU_LIMIT_S = 0.03, 2.0
MANY = 200  # a repeat that is bounded below this is not pumped
TAILS = ("\0", "x", " <")  # one of them keeps almost every pattern from matching


# Slow on inputs that they never see.
SAFE = {
    "sleuth_providers.html.limits:ATTRIBUTE": "applied to what TAG matched, which has no white space at its end",
}
# Tables of patterns that are passed to `re` in a loop, or to a library.
TABLES = {
    "sleuth.answers.llm.errors": ("STATUS_BY_TEXT", "search"),
    "sleuth.base.logs": ("SECRET_PATTERNS", "search"),
    "sleuth.doctor.server.container": ("LOG_PATTERNS", "search"),
    "sleuth.pages.extract": ("SCRIPTS", "search"),
    "sleuth.relevance.dates": ("FORMS", "search"),
    "sleuth.relevance.sites": ("TRACKING_VALUES", "fullmatch"),
    "sleuth.serving.http.models": ("PRINTABLE", "search"),
    "sleuth.store.setting_types": ("HOST_AND_PORT", "match"),
    "sleuth_providers.exchange": ("SECRET_FIELD", "search"),
}
# Calls whose pattern is not known when the module is imported, and why no input makes it slow.
DYNAMIC = {
    "sleuth.answers.evidence": "escaped words with white space between them; a word",
    "sleuth.answers.llm.dialect": "the name of a field",
    "sleuth.answers.llm.errors": "in TABLES",
    "sleuth.base.logs": "in TABLES",
    "sleuth.base.urls": "SECRET_FIELD, in TABLES, and a class that ends at the next field",
    "sleuth.commands.app": "applied to messages of Click",
    "sleuth.doctor.files.schema": "applied to the user's own files",
    "sleuth.doctor.server.container": "in TABLES",
    "sleuth.pages.extract": "in TABLES",
    "sleuth.relevance.dates": "in TABLES",
    "sleuth.relevance.patterns": "written by the user, and checked there",
    "sleuth.relevance.rules": "an escaped text",
    "sleuth.relevance.urls": "in the tables of `sites`, see `site_patterns`",
    "sleuth.relevance.words": "two characters",
    "sleuth.store.setting_types": "applied to the user's own settings; and HOST_AND_PORT, in TABLES",
    "sleuth_providers.adapters._feed": "applied to 2,000 characters",
    "sleuth_providers.base": "in the error rules of providers, see `rule_patterns`",
}


class Pattern(NamedTuple):
    """A pattern, the place that compiles it, and the methods that apply it."""

    place: str
    text: str | bytes
    flags: int
    methods: tuple[str, ...] = ("search",)


def patterns() -> Iterator[Pattern]:
    """Yield the patterns of every call of `re` whose arguments are known when the module is imported."""
    sources = {name: source(name) for name in modules()}
    for name, text in sources.items():
        names, tree = vars(importlib.import_module(name)), ast.parse(text)
        targets = {id(node.value): node.targets[0].id for node in tree.body if is_constant(node)}  # type: ignore[attr-defined]  # see is_constant
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_re_call(node)):
            method = call.func.attr  # type: ignore[attr-defined]  # see is_re_call
            if method == "compile":
                used = re.findall(rf"\b{targets.get(id(call), '')}\.({'|'.join(FUNCTIONS)})\(", text)
                method = ",".join(set(used) or {"finditer"})
            place = f"{name}:{targets.get(id(call), call.lineno)}"
            yield from evaluated(place, call, names, tuple(method.split(",")))
    for name, (table, method) in TABLES.items():
        found = strings(getattr(importlib.import_module(name), table))
        yield from (Pattern(f"{name}:{table}", text, re.IGNORECASE, (method,)) for text in found)
    yield from site_patterns()
    yield from rule_patterns()


def site_patterns() -> Iterator[Pattern]:
    """Yield the keys of the tables by site, which are matched against URLs of results."""
    for name in ("KEPT_ON", "REDIRECTS", "REWRITTEN"):
        found = (text for site in getattr(sites, name).values() for text in site)
        yield from (Pattern(f"sleuth.relevance.sites:{name}", text, 0, ("fullmatch",)) for text in found)


def rule_patterns() -> Iterator[Pattern]:
    """Yield the patterns by which providers recognise errors in a response."""
    for id in registry.names():
        if id != "library":  # which the runtime adds
            rules = registry.load(id).error_rules
            yield from (Pattern(f"{id}:error_rules", rule.pattern, re.IGNORECASE) for rule in rules)


def dynamic_calls() -> Iterator[str]:
    """Yield the modules that pass patterns to `re` which are not known when they are imported."""
    for name in modules():
        names = vars(importlib.import_module(name))
        for call in (node for node in ast.walk(ast.parse(source(name))) if isinstance(node, ast.Call)):
            if is_re_call(call) and not list(evaluated("", call, names, ())):
                yield name


def source(name: str) -> str:
    return Path(str(importlib.import_module(name).__file__)).read_text(encoding="utf-8")


def is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from strings(tuple(value.values()))
    elif isinstance(value, tuple):
        yield from (text for part in value for text in strings(part))


def modules() -> Iterator[str]:
    for package in PACKAGES:
        yield package
        found = pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
        yield from (one.name for one in found if not one.name.endswith("__main__"))


def is_re_call(call: ast.Call) -> bool:
    function = call.func
    return (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.value.id == "re"
        and function.attr in FUNCTIONS
    )


def evaluated(place: str, call: ast.Call, names: dict[str, Any], methods: tuple[str, ...]) -> Iterator[Pattern]:
    try:
        text = value(call.args[0], names)
        flags = [value(word.value, names) for word in call.keywords if word.arg == "flags"]
        if call.func.attr == "compile" and len(call.args) > 1:  # type: ignore[attr-defined]  # see is_re_call
            flags.append(value(call.args[1], names))
    except NameError:
        return
    if isinstance(text, str | bytes):
        yield Pattern(place, text, int(sum(flags)), methods)


def value(node: ast.expr, names: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "pattern", "eval"), names)


# Inputs: a beginning that the pattern accepts, one of its repeats pumped up, and an end that it refuses.

CHARACTERS = "a1 \n\t-<[\\\"'.,/=:;>](){}&%#@_*`!|~中é\0"


class Attack(NamedTuple):
    """An input that can have any length."""

    prefix: str
    body: str
    tail: str

    def text(self, size: int) -> str:
        return self.prefix + self.body * (size // len(self.body)) + self.tail


def attacks(pattern: Pattern) -> Iterator[Attack]:
    """Yield inputs on which a pattern that is not linear takes long."""
    seen: set[tuple[str, str]] = set()
    tree = sre_parser.parse(pattern.text, pattern.flags)
    sampler = Sampler(tree)
    for prefix, body in sampler.pumps(tree, [""]):
        if body and (prefix, body) not in seen:
            seen.add((prefix, body))
            yield from (Attack(prefix, body, tail) for tail in TAILS)
            yield Attack("", prefix + body, "")


class Sampler:
    """Makes texts that parts of a pattern accept, from its own literals and a few other characters."""

    def __init__(self, tree: Any) -> None:
        found = re.findall(r"(?:LITERAL, |RANGE, \()(\d+)", str(tree))
        self.characters = "".join(dict.fromkeys([*(chr(int(code)) for code in found[:8]), *CHARACTERS]))

    def pumps(self, tree: Any, before: list[str]) -> Iterator[tuple[str, str]]:
        """Yield what comes before a repeat, and what is repeated, for every long repeat in a parsed pattern."""
        for op, argument in tree:
            for inner in children(op, argument):
                yield from self.pumps(inner, before)
            if op in REPEATS and argument[1] > MANY:
                yield from ((prefix, body) for prefix in before[:2] for body in self.samples(argument[2]))
            before = [prefix + part for prefix in before[:2] for part in self.sample(op, argument)[:2]][:3]

    def samples(self, tree: Any) -> list[str]:
        found = [""]
        for op, argument in tree:
            found = [start + part for start in found for part in self.sample(op, argument)][:9]
        return found

    def sample(self, op: Any, argument: Any) -> list[str]:
        if op is sre.LITERAL:
            return [chr(argument)]
        if op in (sre.NOT_LITERAL, sre.IN, sre.ANY):
            return [one for one in self.characters if accepts(op, argument, one)][:9]
        if op in REPEATS:
            return [one * max(argument[0], 1) for one in self.samples(argument[2])]
        if op is sre.BRANCH:
            return [one for tree in argument[1] for one in self.samples(tree)[:3]][:9]
        if op in (sre.SUBPATTERN, sre.ATOMIC_GROUP):
            return self.samples(children(op, argument)[0])
        return [""]  # an assertion, a reference to a group


def children(op: Any, argument: Any) -> list[Any]:
    if op in REPEATS:
        return [argument[2]]
    if op is sre.BRANCH:
        return list(argument[1])
    if op is sre.SUBPATTERN:
        return [argument[3]]
    if op is sre.ATOMIC_GROUP:
        return [argument]
    if op in (sre.ASSERT, sre.ASSERT_NOT):
        return [argument[1]]
    return [part for part in argument[1:] if part] if op is sre.GROUPREF_EXISTS else []


def accepts(op: Any, argument: Any, character: str) -> bool:
    if op is sre.IN:
        return is_in(argument, character)
    return character != "\n" if op is sre.ANY else ord(character) != argument


def is_in(items: Any, character: str) -> bool:
    code, found, negated = ord(character), False, False
    for op, argument in items:
        negated = negated or op is sre.NEGATE
        if op is sre.LITERAL:
            found = found or code == argument
        elif op is sre.RANGE:
            found = found or argument[0] <= code <= argument[1]
        elif op is sre.CATEGORY:
            name = str(argument).removeprefix("CATEGORY_")
            holds = {"DIGIT": str.isdigit, "SPACE": str.isspace, "WORD": lambda c: c.isalnum() or c == "_"}
            found = found or holds[name.removeprefix("NOT_")](character) != name.startswith("NOT_")
    return found != negated


def slow(pattern: Pattern) -> str | None:
    """Return the beginning of an input for which the time of a pattern grows faster than its length, or None."""
    if pattern.place in SAFE:
        return None
    for attack in attacks(pattern):
        try:
            first = cpu_time(pattern, attack.text(SIZE))
            if first > FAST_S and cpu_time(pattern, attack.text(SIZE * GROWTH)) > 2 * GROWTH * first:
                raise TimeoutError
        except TimeoutError:
            return repr(attack.text(60))
    return None


def cpu_time(pattern: Pattern, text: str) -> float:
    compiled = re.compile(pattern.text, pattern.flags)
    subject: Any = text if isinstance(pattern.text, str) else text.encode("latin-1", "replace")
    started = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_LIMIT_S)
    try:
        for method in pattern.methods:
            if method in ("match", "fullmatch"):
                getattr(compiled, method)(subject)
            elif method == "search":
                compiled.search(subject)
            else:
                deque(compiled.finditer(subject), maxlen=0)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - started


@contextmanager
def cpu_limit() -> Iterator[None]:
    """Let the timer that `slow` sets raise TimeoutError; a match checks for signals in the main thread."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGVTALRM, before)


if __name__ == "__main__":
    with cpu_limit():
        for pattern in patterns():
            if found := slow(pattern):
                print(pattern.place, repr(pattern.text)[:100], found, flush=True)
