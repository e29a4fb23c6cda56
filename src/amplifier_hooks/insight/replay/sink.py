"""The trail of a replay: every record is compared as it is written, and none is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amplifier_audit.encoding import encode_body
from amplifier_core.trail import Level, OnFailure
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.trails import RecordedHook, read_items


class ReplaySink:
    """Takes the records of a replayed session."""

    level: Level = "normal"
    on_failure: OnFailure = "warn"

    def __init__(self, playback: Playback) -> None:
        self._playback = playback
        self._count = 0

    def append(
        self,
        type: str,
        body: Mapping[str, Any],
        *,
        session: str | None = None,
        turn: int | None = None,
        event: str | None = None,
        hook: str | None = None,
        registration: int | None = None,
    ) -> int:
        """Compare the record, as a log would have it, with what was recorded then."""
        self._count += 1
        if self._playback.stopped:
            return self._count
        record = {
            "seq": self._count,
            "time": "",
            "session": self._playback.find_session(session),
            "turn": turn,
            "event": event,
            "hook": hook,
            "registration": registration,
            "type": type,
            "body": self._playback.translate(json.loads(encode_body(body))),
        }
        for item in read_items([record]):
            if not isinstance(item, RecordedHook):
                self._playback.hear(item)
        return self._count

    async def commit(self, sequence: int | None = None) -> None:
        """There is nothing to wait for."""

    async def close(self) -> None:
        """There is nothing to close."""
