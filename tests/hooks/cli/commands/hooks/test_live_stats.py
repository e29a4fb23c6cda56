"""Live statistics: the table of a running session is shown again after each change."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit import AuditLog
from amplifier_hooks.cli.commands.hooks.live_stats import follow_session
from amplifier_hooks.insight.counting import Survey
from tests.hooks.insight.written_trail import write_trail

ANSWER = {"hook": "guard", "id": 1, "action": "continue", "ms": 1}


def test_what_a_session_adds_is_counted_once_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a change nothing is drawn; Ctrl-C ends it."""
    path = write_trail(tmp_path / "one")
    log = AuditLog(path, name="one")
    shown: list[int] = []
    pauses = 0

    def show(survey: Survey) -> None:
        shown.append(survey.found.hooks["guard"].calls)

    def wait(_seconds: float) -> None:
        nonlocal pauses
        pauses += 1
        if pauses == 4:
            raise KeyboardInterrupt
        if pauses == 2:
            body = {"action": "continue", "hooks": [ANSWER] * 3, "data": {}}
            log.append("dispatch", body, session="one", turn=2, event="tool:pre")
            log.close_now()

    follow_session(path, "", show, wait=wait)
    assert shown == [4, 7]
    assert "Ctrl-C ends" in capsys.readouterr().out
