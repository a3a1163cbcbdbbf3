"""Other people's packages add providers through an entry point; a broken one only warns."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

PLUGINS = Path(__file__).parents[2] / "plugins"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Both packages, built and installed into a separate folder."""
    target = tmp_path_factory.mktemp("plugins")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--target", str(target)]
    pip = [sys.executable, "-m", "pip", "install", *options]
    done = subprocess.run([*pip, str(PLUGINS / "good"), str(PLUGINS / "broken")], capture_output=True, text=True)
    if done.returncode and "No module named pip" in done.stderr:
        uv = ["uv", "pip", "install", *options]
        done = subprocess.run([*uv, str(PLUGINS / "good"), str(PLUGINS / "broken")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return str(target)


def test_plugin_is_a_provider_like_any_other(sleuth: Any, installed: str, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/echo").respond_with_data("heard you")
    sleuth.environ |= {"PYTHONPATH": installed, "ECHO_URL": httpserver.url_for("")}
    done = sleuth.process("search", "-p", "echo", "--template", "{title} {url}", "hello")
    assert (done.exit, done.out) == (0, "heard you https://echo.example/hello\n")
    listed = sleuth.process("providers", "list", "--json")
    assert "echo" in [item["id"] for item in listed.json["items"]]


@pytest.mark.parametrize(
    "chain",
    [{"SLEUTH_WEBSEARCH_FALLBACK": "nosuch,Echo"}, {"SLEUTH_WEBSEARCH_CHAINS": "{ general = ['echo+nosuch'] }"}],
)
def test_plugin_of_a_chain_is_found_in_a_new_home(
    sleuth: Any, installed: str, httpserver: HTTPServer, chain: dict[str, str]
) -> None:
    httpserver.expect_request("/echo").respond_with_data("heard you")
    sleuth.environ |= {"PYTHONPATH": installed, "ECHO_URL": httpserver.url_for(""), **chain}
    done = sleuth.process("search", "--template", "{title}", "hello")
    assert (done.exit, done.out) == (0, "heard you\n")
    assert done.err == "note: unknown provider 'nosuch' in the fallback chain\n"


def test_plugin_that_fails_to_load_is_a_warning(sleuth: Any, installed: str) -> None:
    sleuth.environ["PYTHONPATH"] = installed
    done = sleuth.process("providers", "list")
    assert done.exit == 0
    assert "the plug-in 'broken' cannot be loaded (RuntimeError: this plug-in was never finished)" in done.err
    assert sleuth.process("search", "-p", "library", "searxng").err == ""
    assert sleuth.process("search", "-p", "broken", "x").exit == 3


def test_row_of_an_uninstalled_plugin_is_an_error(sleuth: Any, installed: str) -> None:
    sleuth.process("providers", "list", PYTHONPATH=installed)
    done = sleuth.process("search", "-p", "echo", "x")
    assert done.exit == 2
    assert "sleuth providers remove echo" in done.err
    assert sleuth.process("providers", "list").exit == 0
    chain = {"SLEUTH_WEBSEARCH_FALLBACK": "echo,library"}
    done = sleuth.process("search", "-f", "urls", "json searxng", **chain)
    assert (done.exit, bool(done.out)) == (0, True)
    assert "cannot load the adapter 'echo' of 'echo' (not installed)" in done.err
    assert sleuth.process("providers", "list", **chain).exit == 0
    chain["SLEUTH_WEBSEARCH_FALLBACK"] = "echo,nosuch"
    done = sleuth.process("config", "validate", **chain)
    assert (done.exit, "not installed" in done.err, "'nosuch'" in done.err) == (2, True, True)
    done = sleuth.process("doctor", "--only", "install.settings", **chain)
    assert ("not installed" in done.out, "'nosuch'" in done.out) == (True, True)
    assert sleuth.process("providers", "remove", "echo").exit == 0
