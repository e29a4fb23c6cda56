"""Reading trails backwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_audit.format.record import Record
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.scope import Scope
from amplifier_hooks.mcp.server.trail import scanning
from amplifier_hooks.mcp.server.trail.filters import FilterArguments, RecordFilter
from amplifier_hooks.mcp.server.trail.scanning import (
    Scan,
    find_record,
    list_segments,
    read_segment,
)
from amplifier_hooks.mcp.server.trail.trails import Deadline, OpenTrail, Trails
from tests.hooks.mcp.server.world import MINE, World, call

WANTED = RecordFilter(FilterArguments().build_filter(), "Bash", None, lambda body: body)


@pytest.fixture
async def trail(world: World) -> OpenTrail:
    """A trail of several segments."""
    records = [call("Bash", command=f"echo {number} {'x' * 500}") for number in range(40)]
    await world.write_trail(MINE, records=records, segment_bytes=8_000)
    return Trails(Scope(None), world.project).find(MINE)


def read_all(trail: OpenTrail) -> list[Record]:
    return [record for path in list_segments(trail) for record in read_segment(path)]


async def test_records_come_newest_first_over_all_segments(trail: OpenTrail) -> None:
    """Every one that matches, once; from any place on."""
    assert len(list_segments(trail)) > 3
    found = [one["seq"] for one in Scan(WANTED, 100, Deadline(1000)).read(trail)]
    assert len(found) == 40
    assert found == sorted(found, reverse=True)
    rest = [one["seq"] for one in Scan(WANTED, 100, Deadline(1000)).read(trail, found[9])]
    assert rest == found[10:]


async def test_when_time_is_up_it_says_how_far_it_came(
    trail: OpenTrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read is handed out; without one whole segment there is nothing to go on from."""
    deadline = Deadline(1000)
    scan = Scan(WANTED, 100, deadline)
    found = []
    for record in scan.read(trail):
        found.append(record["seq"])
        deadline._end = 0.0
    assert 0 < len(found) < 40
    assert scan.stopped_at is not None
    assert scan.stopped_at <= found[-1]
    with pytest.raises(Refused, match="within -1 seconds"):
        list(Scan(WANTED, 100, Deadline(-1.0)).read(trail))


async def test_a_record_is_found_by_its_number(trail: OpenTrail) -> None:
    """In the first segment, in the last, and not beyond."""
    for record in (read_all(trail)[0], read_all(trail)[-1]):
        assert find_record(trail, record["seq"], Deadline(1000)) == record
    assert find_record(trail, 10_000, Deadline(1000)) is None


def test_what_cannot_be_read_has_no_records(tmp_path: Path) -> None:
    """It may have been removed meanwhile."""
    assert list(read_segment(tmp_path / "gone.jsonl")) == []
    assert scanning.END > 2**52
