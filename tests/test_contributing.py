"""The example provider in CONTRIBUTING.md works as printed, and its file is all it needs."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

ROOT = Path(__file__).parents[1]


@pytest.fixture
def example() -> str:
    found = re.search(r"```python\n(\"\"\"Example:.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert found
    return found[1]


def test_example_is_short(example: str) -> None:
    assert len(example.splitlines()) <= 50


def test_example_needs_no_other_change(sleuth: Any, example: str, httpserver: HTTPServer, tmp_path: Path) -> None:
    package = tmp_path / "sleuth_providers"
    shutil.copytree(ROOT / "providers" / "sleuth_providers", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "adapters" / "example.py").write_text(example)
    hit = {"title": "Rust", "link": "https://rust-lang.org/", "text": "A language."}
    httpserver.expect_request("/search", headers={"X-Key": "k"}).respond_with_json(
        {"hits": [hit, "junk", {"link": None}]}
    )
    sleuth.environ |= {"PYTHONPATH": str(tmp_path)}
    change = ("providers", "set", "example", "--api-host", httpserver.url_for(""), "--api-key", "-")
    assert sleuth.process(*change, stdin="k\n").exit == 0
    done = sleuth.process("search", "-p", "example", "--template", "{title} {url}", "rust")
    assert (done.exit, done.out) == (0, "Rust https://rust-lang.org/\n")


def test_sample_of_the_example_matches_its_code(example: str) -> None:
    from sleuth_providers.base import Response

    namespace: dict[str, Any] = {}
    exec(compile(example, "example.py", "exec"), namespace)
    provider = namespace["Example"]()
    for sample in provider.samples:
        request = provider.request(sample.query, sample.account)
        assert f"{request.method} {request.address}" == sample.sends
        found = provider.parse(Response(sample.status, sample.headers, sample.body.encode()), sample.query)
        assert tuple(result.url for result in found.results) == sample.finds
