"""hooks-provenance: the development sessions, played to their end."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.security.played_sessions import SESSIONS, play_one, read_sessions

ALL = [
    pytest.param(session, id=session["name"])
    for name in ("tools-dev", "code-dev")
    for session in read_sessions(SESSIONS / f"{name}.yaml")
]


@pytest.mark.parametrize("session", ALL)
@pytest.mark.parametrize("form", ["values", "json"])
async def test_development_session(session: dict[str, Any], form: Any) -> None:
    played = await play_one(session, form)
    assert not played.asked
    assert played.is_stopped == played.is_attack
