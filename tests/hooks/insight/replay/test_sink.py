"""The trail of a replay."""

from __future__ import annotations

from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recording import Run
from amplifier_hooks.insight.replay.sink import ReplaySink
from tests.hooks.insight.replay.items import event
from tests.hooks.insight.replay.test_recording import make


async def test_each_record_is_compared_as_it_is_written() -> None:
    """The first one that differs stops the replay; what comes after is not looked at."""
    stopped: list[bool] = []
    playback = Playback(make(event("session:start", 1), event("prompt:submit", 2, prompt="x")))
    playback.begin(Run(tuple(playback.recording.sessions["s"]), "ended"))
    playback.on_stop = lambda: stopped.append(True)
    sink = ReplaySink(playback)
    body = {"action": "continue", "hooks": [], "data": {}}
    first = sink.append("dispatch", body, session="s", event="session:start")
    assert not playback.differences
    other = {**body, "data": {"prompt": object()}}
    assert sink.append("dispatch", other, session="s", event="prompt:submit") == first + 1
    sink.append("dispatch", body, session="s", event="session:end")
    await sink.commit()
    await sink.close()
    (difference,) = playback.differences
    assert [one.field for one in difference.changes] == ["given prompt"]
    assert stopped == [True]
