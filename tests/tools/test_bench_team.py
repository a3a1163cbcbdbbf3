"""The load test refuses to run for too short a time."""

import pytest
from bench import team


def test_time_without_any_request_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["team", "--seconds", "2"])
    with pytest.raises(SystemExit) as stopped:
        team.main()
    assert stopped.value.code == 2
    assert "--seconds must be more than 2" in capsys.readouterr().err


def test_no_request_at_all_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["team", "--seconds", "3"])
    nothing = team.Result(3.0, {}, [], team.Upstream.asked, set())
    monkeypatch.setattr(team, "run", lambda *_: nothing)
    assert team.main() == 1
