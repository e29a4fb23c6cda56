"""The sink in front of a trail: nothing gated runs unclaimed, and everything is published."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ApprovalError, AuditUnavailable
from amplifier_core.records import ToolStarted
from amplifier_core.testing import MemoryAudit
from amplifier_core.trail import AuditSink, NullSink, Trail
from amplifier_hooks.approvals.remote import RemoteApproval
from amplifier_hooks.approvals.reporting import Claims, Publisher, ReportingSink
from amplifier_hooks.approvals.stores.store import Store
from tests.hooks.approvals.questions import ask
from tests.support.links import CutLink, answer, list_states, make_asker

QUESTION = replace(ask(command="ls"), session_id="s", tool_call_id="c")
START = ToolStarted(tool="Bash", id="c", digest=QUESTION.digest, gated=True)


class FullDisk(NullSink):
    """A trail that takes nothing."""

    def __init__(self, on_failure: Any, *, at: str) -> None:
        self.on_failure = on_failure
        self._at = at

    def append(self, type: str, body: Mapping[str, Any], **source: Any) -> int:
        if self._at == "append":
            raise AuditUnavailable("the disk is full")
        return 7

    async def commit(self, sequence: int | None = None) -> None:
        raise AuditUnavailable("the disk is full")


async def make_sink(
    store: Store, folder: Path, behind: AuditSink | None, link: CutLink | None = None
) -> ReportingSink:
    """A sink of a session in which a person elsewhere has allowed the call."""
    link = link or CutLink(store)
    remote = RemoteApproval(link, make_asker(folder))
    asking = asyncio.create_task(remote.decide(QUESTION))
    await answer(store)
    await asking
    return ReportingSink(behind, Claims([remote]), [Publisher(link)])


async def test_a_gated_call_is_claimed_before_its_start_counts(
    store: Store, tmp_path: Path
) -> None:
    """And is over when its end is recorded."""
    sink = await make_sink(store, tmp_path, MemoryAudit())
    assert isinstance(sink, AuditSink)
    sequence = sink.append("tool_started", START.to_dict(), session="s")
    assert await list_states(store) == ["approved"]
    await sink.commit(sequence)
    assert await list_states(store) == ["executing"]
    sink.append("tool_finished", {"id": "c", "success": True}, session="s")
    await sink.close()
    assert await list_states(store) == ["executed"]


async def test_without_an_audit_trail_calls_are_claimed_as_well(
    store: Store, tmp_path: Path
) -> None:
    """What people allowed runs once, whether or not a trail is kept."""
    sink = await make_sink(store, tmp_path, None)
    await sink.commit(sink.append("tool_started", START.to_dict(), session="s"))
    sink.append("tool_finished", {"id": "c", "success": False}, session="s")
    await sink.close()
    assert await list_states(store) == ["failed"]
    assert (sink.level, sink.on_failure) == ("normal", "deny")


async def test_a_call_that_cannot_be_claimed_is_refused_and_not_left_open_in_the_trail(
    store: Store, tmp_path: Path
) -> None:
    """Through the kernel's own pen: a refusal, no failed trail, and no outcome that is unknown."""
    link, audit = CutLink(store), MemoryAudit()
    sink = await make_sink(store, tmp_path, audit, link)
    sink.on_failure = "warn"
    link.cut.add("claim")
    trail = Trail(sink, "s")
    refused = await trail.write_ahead(START)
    assert refused == "the call could not be claimed: The store at this test does not answer"
    assert not trail.failed
    assert [one["type"] for one in audit.records] == ["tool_started", "tool_finished"]
    assert audit.records[1]["body"]["outcome"] == "not claimed"
    await sink.close()


@pytest.mark.parametrize("at", ["append", "commit"])
@pytest.mark.parametrize(("on_failure", "state"), [("deny", "failed"), ("warn", "executing")])
async def test_a_trail_that_takes_no_start_gives_the_claim_back_unless_the_call_runs_anyway(
    store: Store, tmp_path: Path, at: str, on_failure: str, state: str
) -> None:
    """It is claimed in both cases: with `warn` it runs, and may run only once."""
    sink = await make_sink(store, tmp_path, FullDisk(on_failure, at=at))
    failure = await Trail(sink, "s").write_ahead(START)
    assert (failure is None) == (on_failure == "warn")
    for _ in range(200):
        if await list_states(store) == [state]:
            break
        await asyncio.sleep(0.01)
    assert await list_states(store) == [state]
    await sink.close()


async def test_calls_that_nobody_was_asked_about_claim_nothing(
    store: Store, tmp_path: Path
) -> None:
    """Only what is gated waits for anything."""
    link = CutLink(store)
    sink = await make_sink(store, tmp_path, None, link)
    sink.append("tool_started", {**START.to_dict(), "gated": False}, session="s")
    await sink.commit()
    assert "claim" not in link.calls
    await sink.close()


async def test_every_record_is_published_with_a_number_of_its_session(
    store: Store, tmp_path: Path
) -> None:
    """Records that belong to no session stay in the trail."""
    sink = ReportingSink(None, Claims([]), [Publisher(store.as_link())], numbered_from=11)
    sink.append("x", {"a": 1}, session="s", turn=2, event="tool:pre", hook="h", registration=4)
    sink.append("y", {}, session="t")
    sink.append("z", {}, session="s")
    sink.append("nobody", {})
    assert sink.last_number == 12
    await sink.close()
    first, second = await store.records.read("s")
    assert (first.number, first.type, first.body, first.turn) == (11, "x", {"a": 1}, 2)
    assert (first.event, first.hook, second.number) == ("tool:pre", "h", 12)
    assert [one.number for one in await store.records.read("t")] == [11]


async def test_a_claim_that_is_refused_raises_what_the_kernel_takes_for_a_refusal(
    store: Store, tmp_path: Path
) -> None:
    """Whatever the trail's own setting is."""
    sink = await make_sink(store, tmp_path, MemoryAudit())
    sequence = sink.append("tool_started", {**START.to_dict(), "digest": "another"}, session="s")
    with pytest.raises(ApprovalError, match="The call cannot run"):
        await sink.commit(sequence)
    await sink.close()
