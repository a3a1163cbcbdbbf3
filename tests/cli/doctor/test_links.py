"""The handbook links of findings."""

from pathlib import Path

import pytest

from sleuth.doctor.links import Link
from sleuth.library.handbook import anchor, handbook_folder


@pytest.mark.parametrize("link", Link)
def test_link_leads_to_a_heading_of_the_handbook(link: Link) -> None:
    chapter, _, section = link.partition("#")
    lines = (Path(handbook_folder() or "") / chapter).read_text().splitlines()
    headings = [anchor(line.lstrip("# ").strip()) for line in lines if line.startswith("#")]
    assert not section or section in headings
