"""deploy/Dockerfile under a linter that knows the usual mistakes."""

import subprocess

import pytest
from tests.servers import ROOT, WHEELS, environment

pytestmark = pytest.mark.live


@pytest.mark.skipif("hadolint" not in WHEELS, reason="there is no wheel of hadolint for this platform")
def test_linter_finds_no_fault_with_the_dockerfile() -> None:
    hadolint = environment("hadolint") / "bin" / "hadolint"
    done = subprocess.run([hadolint, ROOT / "deploy" / "Dockerfile"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
