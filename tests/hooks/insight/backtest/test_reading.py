"""Reading trails: what nobody heard and nobody would is not even parsed."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.agent.session.inspection.selection import select_trails
from amplifier_hooks.insight.backtest.reading import TrailReader, Window
from amplifier_hooks.trails import RecordedEvent, read_history
from tests.hooks.insight.backtest.recorder import Recorder, row


async def test_unheard_events_are_counted_and_skipped(tmp_path: Path) -> None:
    """A text that looks like a member of a record changes nothing."""
    recorder = Recorder(tmp_path)
    recorder.save(row("judge"))
    tricky = {"delta": '"event":"tool:pre","hook":null,"registration":null,"type":"dispatch"'}
    deltas = [("content_block:delta", tricky)] * 3
    await recorder.record([1, 2], events=deltas)
    (trail,) = select_trails([str(recorder.trails)])
    reader = TrailReader(trail, lambda name: name.startswith("tool:"), Window())
    events = [item.event for item in reader.read_items() if isinstance(item, RecordedEvent)]
    assert events == ["tool:pre", "tool:pre"]
    assert reader.skipped == 3
    assert reader.read == sum(path.stat().st_size for path in trail.glob("*.jsonl"))
    everything = TrailReader(trail, lambda name: True, Window())
    told = [item for item in everything.read_items() if isinstance(item, RecordedEvent)]
    assert told == [item for item in read_history(trail) if isinstance(item, RecordedEvent)]
    later = TrailReader(trail, lambda name: False, Window(since="2100"))
    assert list(later.read_items())
    assert later.skipped == 0


def test_a_window_holds_its_beginning_and_not_its_end() -> None:
    """As ranges usually do."""
    window = Window("2026-11-01", "2026-11-02")
    times = ("2026-10-31T23:59:59Z", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z")
    assert [window.holds(time) for time in times] == [False, True, False]
    assert Window().holds("")
