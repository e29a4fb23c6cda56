"""A signed log, as the commands find it."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit import AuditLog, anchor_to_file
from tests.audit.support import FAST, SIGNER


@pytest.fixture
async def log(tmp_path: Path) -> Path:
    """Two sessions, three hooks, fifteen records, and anchors elsewhere."""
    path = tmp_path / "log"
    trail = await AuditLog.open(
        path, FAST, signer=SIGNER, anchors=(anchor_to_file(tmp_path / "anchors"),)
    )
    for number in range(10):
        action = "deny" if number == 7 else "continue"
        hooks = [
            {"hook": "guard", "id": 1, "action": action, "ms": number},
            {"hook": "linter", "id": 2, "action": "inject_context", "ms": 0.5},
            {"hook": "asker", "id": 3, "action": "ask_user", "ms": 1, "error": "ValueError: x"},
        ]
        body = {"action": action, "hooks": hooks, "reason": "why\x1b[2J"}
        trail.append("dispatch", body, session="s1", event="tool:pre")
    trail.append("action_resolved", {"action": "deny", "ms": 2}, session="s2", hook="guard")
    trail.append("user_message", {"text": "\u202e[red]forged\x1b]0;x\x07"}, session="s2")
    await trail.commit()
    await trail.close()
    return path
