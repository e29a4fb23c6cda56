"""The trails of the scope, and reading them backwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.record import Record
from amplifier_hooks.mcp.server.presenter import FULL, build_presenter
from amplifier_hooks.mcp.server.tool import Refused
from amplifier_hooks.mcp.server.trails import (
    END,
    BackwardScan,
    Deadline,
    FilterArguments,
    OpenTrail,
    RecordFilter,
    Scope,
    Trails,
    find_record,
    list_segments,
    name_tool,
    read_segment,
)
from tests.audit.support import write_log
from tests.hooks.mcp.server.world import MINE, OTHERS, SECRET, World, call


@pytest.fixture
async def trails(world: World) -> Trails:
    await world.write_trail(MINE)
    await world.write_trail("11aa-also")
    await world.write_trail(OTHERS, world.other)
    await write_log(world.trails / "nobodys", 3)
    return Trails(Scope(world.project), world.project)


async def test_only_trails_of_the_folder_are_listed(world: World, trails: Trails) -> None:
    """Not one that does not say where it comes from; all of them to whoever may see all."""
    assert {one.id for one in trails.list()} == {MINE, "11aa-also"}
    everything = Trails(Scope(None), world.project)
    assert {one.id for one in everything.list()} == {MINE, "11aa-also", OTHERS, "nobodys"}


async def test_a_session_is_found_by_its_id_or_a_beginning_that_is_its_own(trails: Trails) -> None:
    """Of several, none is guessed."""
    assert trails.find(MINE).id == trails.find("11aa-m").id == MINE
    with pytest.raises(Refused, match="Several sessions begin with '11aa'"):
        trails.find("11aa")


async def test_nothing_outside_can_be_named(trails: Trails) -> None:
    """Nor does the refusal tell whether it is there."""
    hidden = [OTHERS, "22bb", "nobodys", "nope", "11a"]
    paths = ["..", "../audit/11aa-mine", "/etc", "", "a\0b", "x" * 200]
    for name in (*hidden, *paths):
        with pytest.raises(Refused, match=r"^(No session|session: give the id)"):
            trails.find(name)


async def test_a_bundle_may_keep_its_trails_elsewhere(world: World) -> None:
    """They are found there, and in the usual place."""
    await world.write_trail(MINE)
    kept = world.home / "kept"
    world.trails.rename(kept)
    await world.write_trail("33cc")
    world.save_bundle(audit={"path": str(kept)})
    assert {one.id for one in Trails(Scope(world.project), world.project).list()} == {MINE, "33cc"}


def test_a_deadline_passes() -> None:
    """At once, if there is no time at all."""
    assert Deadline(-1.0).expired
    assert not Deadline(1000.0).expired


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
    found = [one["seq"] for one in BackwardScan(WANTED, 100, Deadline(1000)).read(trail)]
    assert len(found) == 40
    assert found == sorted(found, reverse=True)
    rest = [one["seq"] for one in BackwardScan(WANTED, 100, Deadline(1000)).read(trail, found[9])]
    assert rest == found[10:]


async def test_when_time_is_up_it_says_how_far_it_came(
    trail: OpenTrail, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read is handed out; without one whole segment there is nothing to go on from."""
    deadline = Deadline(1000)
    scan = BackwardScan(WANTED, 100, deadline)
    found = []
    for record in scan.read(trail):
        found.append(record["seq"])
        deadline._end = 0.0
    assert 0 < len(found) < 40
    assert scan.stopped_at is not None
    assert scan.stopped_at <= found[-1]
    with pytest.raises(Refused, match="within -1 seconds"):
        list(BackwardScan(WANTED, 100, Deadline(-1.0)).read(trail))


async def test_a_record_is_found_by_its_number(trail: OpenTrail) -> None:
    """In the first segment, in the last, and not beyond."""
    for record in (read_all(trail)[0], read_all(trail)[-1]):
        assert find_record(trail, record["seq"], Deadline(1000)) == record
    assert find_record(trail, 10_000, Deadline(1000)) is None


def test_what_cannot_be_read_has_no_records(tmp_path: Path) -> None:
    """It may have been removed meanwhile."""
    assert list(read_segment(tmp_path / "gone.jsonl")) == []
    assert END > 2**52


PRESENTER = build_presenter(None)


def make_record(body: dict[str, Any], **members: Any) -> dict[str, Any]:
    plain = {"session": "s", "event": "tool:pre", "type": "dispatch", "hook": None}
    return {"time": "2026-11-15T09:30:00", **plain, **members, "body": body}


def matches(record: dict[str, Any], *, tool: str | None = None, text: str | None = None) -> bool:
    wanted = FilterArguments().build_filter()
    mask = lambda body: PRESENTER.shorten(body, FULL)  # noqa: E731
    return RecordFilter(wanted, tool, text, mask).matches(record)


def test_a_text_is_found_in_what_the_caller_may_see() -> None:
    """Whatever its case, and with the quotes and line breaks that it has."""
    record = make_record({"data": {"command": 'say "Hello"\nto them'}})
    assert matches(record, text='SAY "hello"\nTo')
    assert not matches(record, text="goodbye")


def test_no_search_finds_a_secret_letter_by_letter() -> None:
    """What is masked is not searched."""
    record = make_record({"data": {"command": f"curl {SECRET}"}})
    assert matches(record, text="curl")
    for length in range(4, len(SECRET) + 1):
        assert not matches(record, text=SECRET[:length])


@pytest.mark.parametrize(
    ("type", "body", "tool"),
    [
        ("dispatch", {"data": {"tool_name": "Bash"}}, "Bash"),
        ("tool_started", {"tool": "Write"}, "Write"),
        ("mine", {"tool": "Write"}, "Write"),
        ("mine", {"tool_name": "Read"}, "Read"),
        ("dispatch", {"data": "text"}, None),
        ("tool_started", {"tool": ["Bash"]}, None),
        ("session_started", {}, None),
    ],
)
def test_the_tool_of_a_record_is_found_where_each_type_has_it(
    type: str, body: dict[str, Any], tool: str | None
) -> None:
    """A forged record has none."""
    record = make_record(body, type=type)
    assert name_tool(record) == tool
    assert matches(record, tool="Bash") is (tool == "Bash")


def test_times_are_read_as_the_command_line_does() -> None:
    """From one on, before another; what is no time is refused by its name."""
    wanted = FilterArguments(since="2026-11-15T09", until="2026-11-15T09:30").build_filter()
    assert (wanted.after, wanted.before) == ("2026-11-15T09:00:00", "2026-11-15T09:30:00")
    with pytest.raises(Refused, match=r"^until: 'noon' is not a time"):
        FilterArguments(until="noon").build_filter()
