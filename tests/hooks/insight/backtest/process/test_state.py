"""The state file: what it keeps, and when it is worth nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.insight.backtest import Tally
from amplifier_hooks.insight.backtest.process.state import StateFile, holds_something_else


@pytest.fixture
def trail(tmp_path: Path) -> Path:
    """A trail of one segment."""
    path = tmp_path / "trail"
    path.mkdir()
    (path / "00000000.jsonl").write_text("{}\n")
    return path


def test_a_finished_trail_is_remembered(tmp_path: Path, trail: Path) -> None:
    """With what was found in it, for nobody else to read."""
    state = StateFile(tmp_path / "state.json", "digest")
    state.keep(trail, Tally(events=5), "spent")
    state.write()
    later = StateFile(tmp_path / "state.json", "digest")
    found = later.find(trail)
    assert found is not None
    assert (found.events, later.spent) == (5, "spent")
    assert (tmp_path / "state.json").stat().st_mode & 0o077 == 0


def test_a_changed_trail_or_policy_is_noticed(tmp_path: Path, trail: Path) -> None:
    """Old results would be wrong ones."""
    path = tmp_path / "state.json"
    StateFile(path, "digest").keep(trail, Tally())
    assert StateFile(path, "other").find(trail) is None
    (trail / "00000000.jsonl").write_text("{}\n{}\n")
    assert StateFile(path, "digest").find(trail) is None
    path.write_text("not JSON")
    assert StateFile(path, "digest").find(trail) is None
    path.write_text('{"version": 99}')
    assert StateFile(path, "digest").find(trail) is None


def test_a_file_that_nobody_named_goes_when_all_is_done(tmp_path: Path, trail: Path) -> None:
    """One that was named stays."""
    for temporary in (True, False):
        state = StateFile(tmp_path / "state.json", "digest", temporary=temporary)
        state.keep(trail, Tally())
        state.finish()
        assert state.path.exists() is not temporary


@pytest.mark.parametrize("known", [5, {}, {"stamp": 1}, {"tally": {}}, {"tally": {"x": 1}}])
def test_a_state_that_somebody_edited_is_not_relied_on(
    tmp_path: Path, trail: Path, known: Any
) -> None:
    """The trail is looked at again."""
    path = tmp_path / "state.json"
    StateFile(path, "digest").keep(trail, Tally())
    values = json.loads(path.read_text())
    kept = values["trails"][str(trail)]
    values["trails"][str(trail)] = {**kept, **known} if isinstance(known, dict) else known
    if known == {}:
        values["trails"] = []
    path.write_text(json.dumps(values))
    assert StateFile(path, "digest").find(trail) is None


def test_a_file_of_somebody_else_is_told_from_a_state(tmp_path: Path, trail: Path) -> None:
    """Whoever mistypes a name must not lose a file."""
    path = tmp_path / "state.json"
    assert not holds_something_else(path)
    StateFile(path, "digest").keep(trail, Tally())
    assert not holds_something_else(path)
    for content in ("text", "[]", '{"version": 1}', "\0"):
        path.write_text(content)
        assert holds_something_else(path)
