"""Every option of a search is declared once; Typer, the Python API, HTTP and tools agree with the declaration."""

import inspect
from typing import Any

import pytest
from typer.main import get_command

from sleuth.api import Client
from sleuth.base import choices
from sleuth.base.errors import RequestError
from sleuth.commands.app import app
from sleuth.engine.options import check_options
from sleuth.engine.search_options import OPTIONS, RENDERED, SearchOptions
from sleuth.serving.tool_definitions import WEB_SEARCH
from sleuth.store.settings import TABLE
from sleuth_providers import registry

NAMES = {name for option in OPTIONS.values() for name in (option.name, *option.other_names)}


def test_typer_command_has_every_option_with_its_default() -> None:
    command: Any = get_command(app).get_command(None, "search")  # type: ignore[attr-defined]  # a group
    assert SearchOptions(**command.make_context("search", []).params) == SearchOptions()
    flags = {flag for option in OPTIONS.values() for flag in (*option.flags, *option.negative)}
    assert {flag for p in command.params for flag in (*p.opts, *p.secondary_opts)} == flags | {"words"}


def test_python_api_takes_the_names_and_defaults_of_the_options() -> None:
    parameters = dict(inspect.signature(Client.search).parameters)
    for name in ("self", "query", "cache", "on_page"):  # cache is --no-cache and --refresh in one
        del parameters[name]
    assert {name: parameter.default for name, parameter in parameters.items()} == {
        name: OPTIONS[name].default for name in parameters
    }


def test_http_and_tools_take_the_names_of_the_options() -> None:
    assert set(WEB_SEARCH.input["properties"]) <= NAMES
    assert set(WEB_SEARCH.input["properties"]["freshness"]["enum"]) <= set(choices.FRESHNESS)
    assert {"providerId", "questions"} <= NAMES


def test_choices_are_those_of_settings_and_providers() -> None:
    assert TABLE["websearch.safe_search"].kind.choices == choices.SAFE_SEARCH == OPTIONS["safe"].choices
    adapters = [registry.load(name) for name in registry.names() if name != "library"]
    assert {category for adapter in adapters for category in adapter.categories} <= set(choices.CATEGORIES)


def test_range_of_count_is_that_of_the_setting() -> None:
    accepts = TABLE["websearch.max_results"].kind.accepts
    low, high = OPTIONS["count"].range or (0, 0)
    assert [accepts(number) for number in (low - 1, low, high, high + 1)] == [False, True, True, False]


@pytest.mark.parametrize(
    "values", [{"count": 0}, {"count": True}, {"safe": "on"}, {"timeout": float("nan")}, {"category": "maps"}]
)
def test_invalid_value_is_rejected_by_name(values: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=f"invalid {next(iter(values))}"):
        check_options(values)


def test_only_options_with_a_stable_answer_may_be_answered_from_rendered_output() -> None:
    unstable = {"freshness", "recent", "cached", "refresh", "offline", "content", "output", "rules", "record", "batch"}
    assert not RENDERED & unstable
    assert {"words", "questions", "providers", "count", "as_json"} <= RENDERED
