"""Programs that tests run. `.ci/run` installs them; on a machine without one, its tests are skipped."""

import shutil

import pytest


def needs(program: str) -> pytest.MarkDecorator:
    """Skip a test if a program is not installed."""
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")
