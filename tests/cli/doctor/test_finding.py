"""The remedies: their handbook links, and where they are used."""

import re
from pathlib import Path

import pytest

import sleuth.doctor
from sleuth.doctor.finding import as_fix, catalogue, fail
from sleuth.library.handbook import anchor, handbook_folder

DOCTOR = Path(sleuth.doctor.__file__).parent


@pytest.mark.parametrize("link", catalogue()["links"].values())
def test_link_leads_to_a_heading_of_the_handbook(link: str) -> None:
    chapter, _, section = link.partition("#")
    lines = (Path(handbook_folder() or "") / chapter).read_text().splitlines()
    headings = [anchor(line.lstrip("# ").strip()) for line in lines if line.startswith("#")]
    assert not section or section in headings


def test_every_link_is_used() -> None:
    used = {entry["link"] for entry in catalogue()["remedies"].values()}
    assert used == set(catalogue()["links"])


def test_every_remedy_is_used_and_every_name_exists() -> None:
    sources = "\n".join(path.read_text() for path in DOCTOR.rglob("*.py"))
    words = set(re.findall(r"[\"']([\w-]+)[\"']", sources))
    composed = re.compile(r"redis-[A-Z]\w+|redis-gaierror|engines-\w+|key-\w+(-\w+)*")  # from a prefix and a kind
    in_code = {name for name, entry in catalogue()["remedies"].items() if "log" not in entry}  # others by their pattern
    assert [name for name in in_code if name not in words and not composed.fullmatch(name)] == []
    named = set(re.findall(r"(?:fail|warn|report)\([^\n]*?, \"([a-z]+-[\w-]+)\"", sources))
    assert len(named) > 100
    assert named - set(catalogue()["remedies"]) == set()


def test_lines_for_a_file_say_where_they_go_and_how_they_take_effect() -> None:
    fix = fail("", "limiter-without-exemption").fix
    assert fix.split("\n\n") == [
        "# in settings.yml (merge into an existing server: section):\nserver:\n  limiter: false",
        "# then restart SearXNG:\ndocker compose restart core",
        "# or keep it and exempt local programs:\n# in limiter.toml, next to settings.yml:\n"
        '[botdetection.ip_lists]\npass_ip = ["127.0.0.0/8", "172.16.0.0/12"]',
        "# then restart SearXNG:\ndocker compose restart core",
    ]


def test_empty_values_leave_no_line_and_lists_become_lines() -> None:
    assert fail("", "keys-missing", set_keys=["a", "b"]).fix == "a\nb"
    assert fail("", "model-address-incomplete", url="u", set_address="").fix == "curl -s u"


def test_values_cannot_add_lines_or_placeholders() -> None:
    assert fail("", "settings-unreadable", path="a\n@env\n{path}").fix == "ls -l a @env {path}"


@pytest.mark.parametrize(
    ("hint", "fix"),
    [
        ("set one: sleuth providers set brave --api-key -", "# set one:\nsleuth providers set brave --api-key -"),
        ("设置密钥：sleuth providers set brave --api-key -", "# 设置密钥：\nsleuth providers set brave --api-key -"),
        ("sleuth providers test brave", "sleuth providers test brave"),
        ("set it: sleuth config set a.b ID, or SLEUTH_A_B", "# set it: sleuth config set a.b ID, or SLEUTH_A_B"),
        ("update sleuth or try again", "# update sleuth or try again"),
        ("try again\nrm -r ~", "# try again rm -r ~"),
        ("", ""),
    ],
)
def test_hint_of_an_error_becomes_a_fix_that_can_be_pasted(hint: str, fix: str) -> None:
    assert as_fix(hint) == fix
