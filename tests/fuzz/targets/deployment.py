"""The files of a SearXNG deployment: any content is checked, and a fixed file is no worse.

The parts of a case are separated by lines of %%, in that order.
"""

import tempfile
from pathlib import Path

from sleuth.base.text import JOINERS
from sleuth.doctor.files.settings import check_settings, diff, fix_settings
from sleuth.doctor.files.yaml_source import NotYamlError, read_yaml

FOLDER = tempfile.TemporaryDirectory(prefix="sleuth-fuzz-")
PLACES = ("config/settings.yml", "docker-compose.yml", ".env", "config/limiter.toml")
PARTS = "\n%%\n"
WORDS = (
    "search: ¦ server: ¦   formats: ¦     - json ¦ secret_key:  ¦ limiter: true ¦ &a  ¦ *a ¦ <<: *a ¦ "
    "!!str  ¦ ?  ¦ | \n ¦ >-\n ¦ ~ ¦ { ¦ [ ¦ :  ¦ \n   ¦ \n ¦ ---\n ¦ ...\n ¦ %YAML 1.2\n ¦ y ¦ 0o7 ¦ 1:20 ¦ "
    "\n%%\n ¦ engines:\n ¦   - name: x\n ¦ outgoing: ¦ valkey: ¦ null"
)
ROUNDS = 50
LARGE = 10_000  # bytes: the parser of YAML takes its time, and no more than fifteen times as much is read


def check(data: bytes) -> None:
    """Check the files, fix the settings, and check them again."""
    home = Path(FOLDER.name)
    parts = data.split(PARTS.encode())
    for place, part in zip(PLACES, parts, strict=False):
        file = home / place
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(part)
    for place in PLACES[len(parts) :]:
        (home / place).unlink(missing_ok=True)
    path = home / PLACES[0]
    before = check_settings(str(path))
    assert before
    assert all(type(part) is str for finding in before for part in (*finding[:5], finding.title))
    shown = "".join(part for finding in before for part in (finding.evidence, finding.cause, *finding.fix.splitlines()))
    assert all(sign.isprintable() or sign in JOINERS for sign in shown), "what is shown is harmless"
    text = fix_settings(str(path))
    if text is None:
        return
    old = path.read_bytes().decode()
    assert text != old, "a fix changes the text"
    diff(old, text, "settings.yml")
    assert _parses(text), "a fixed file parses"
    path.write_bytes(text.encode())
    after = check_settings(str(path))
    assert _failed(after) <= _failed(before) or any(
        one.id == "settings.yaml" and one.state == "fail" for one in before
    ), "a fixed file is no worse"
    assert fix_settings(str(path)) is None, "nothing is left to fix"
    comments = {line.strip() for line in old.splitlines() if line.strip().startswith("# ") and line.isascii()}
    assert all(comment in text for comment in comments), "comments stay"


def _failed(findings: list[object]) -> int:
    return sum(getattr(finding, "state", "") == "fail" for finding in findings)


def _parses(text: str) -> bool:
    try:
        read_yaml(text)
    except NotYamlError:
        return False
    return True
