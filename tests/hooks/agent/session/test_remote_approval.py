"""A session that asks people elsewhere, as its bundle says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion
from amplifier_core.errors import ApprovalError
from amplifier_core.testing import MemoryAudit, RecordingDisplay
from amplifier_hooks.agent.bundles import bundle_from_plan
from amplifier_hooks.agent.session.assembly import hide_credentials, open_session
from amplifier_hooks.agent.session.remote_approval import (
    REPORTED,
    Elsewhere,
    reach_people,
)
from amplifier_hooks.approvals import PolicyApproval, RefusingApproval, Ruling
from amplifier_hooks.approvals.errors import Conflict, StoreError
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.links import answer, find_waiting, list_states
from tests.support.sessions import calls, plan_for

GATE = {
    "name": "gate",
    "event": "tool:pre",
    "tool": "Write",
    "action": "ask_user",
    "approval_prompt": "Write it?",
    "approval_options": ["Allow once", "Allow always", "Deny"],
}


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """The store that sessions of the test ask at."""
    async with await open_store(tmp_path / "asked.db") as opened:
        yield opened


def plan(folder: Path, *written: str, **approval: Any) -> dict[str, Any]:
    """A session that writes files, and asks about each."""
    script = [*(calls("Write", file_path=name, content="x\n") for name in written), {"text": "ok"}]
    made = plan_for(script, tool_modules=["tool-filesystem"])
    made["hooks"] = [{"module": "hooks-rules", "config": {"rules": [GATE]}}]
    made["approval"] = {"via": "store", "store": str(folder / "asked.db"), **approval}
    return made


class Session:
    """One that is open, with its screen and its trail."""

    def __init__(self, made: dict[str, Any], folder: Path, **more: Any) -> None:
        self.screen, self.trail = RecordingDisplay(), MemoryAudit()
        self._open = open_session(
            bundle_from_plan(made),
            working_dir=folder,
            display_system=self.screen,
            audit=self.trail,
            hot_reload=False,
            **more,
        )

    async def __aenter__(self) -> Session:
        self.session = await self._open
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.session.cleanup()

    def run(self) -> asyncio.Task[str]:
        return asyncio.create_task(self.session.execute("go"))


async def test_a_call_waits_for_a_person_elsewhere_and_runs_once_they_allow_it(
    store: Store, tmp_path: Path
) -> None:
    """Nobody is at a terminal; the answer is in the trail with its name."""
    async with Session(plan(tmp_path, "a.txt"), tmp_path) as one:
        running = one.run()
        waiting = await find_waiting(store)
        assert not (tmp_path / "a.txt").exists()
        assert waiting.request.working_dir == str(tmp_path)
        await answer(store)
        assert await running == "ok"
    assert (tmp_path / "a.txt").read_text() == "x\n"
    assert await list_states(store) == ["executed"]
    decided = [one["body"] for one in one.trail.records if one["type"] == "approval_decided"]
    assert [body["by"] for body in decided] == ["ann via web"]
    entry = await store.sessions.get(one.session.session_id)
    assert (entry.status, entry.turns, entry.bundle) == ("ended", 1, "amplifier")
    types = [record.type for record in await store.records.read(entry.id)]
    assert {"approval_requested", "tool_started", "tool_finished", "session_ended"} <= {*types}


async def test_a_refusal_elsewhere_keeps_the_call_from_running(
    store: Store, tmp_path: Path
) -> None:
    """And the agent reads what the person said."""
    async with Session(plan(tmp_path, "a.txt"), tmp_path) as one:
        running = one.run()
        await answer(store, 2, comment="not on a Friday")
        await running
        messages = await one.session.read_messages()
    assert not (tmp_path / "a.txt").exists()
    assert any("not on a Friday" in str(message.get("content")) for message in messages)


async def test_what_cannot_be_claimed_does_not_run(store: Store, tmp_path: Path) -> None:
    """Another process was faster with the same answer; never do both run it."""
    async with Session(plan(tmp_path, "a.txt"), tmp_path) as one:
        running = one.run()
        waiting = await find_waiting(store)
        request = waiting.request
        await answer(store)
        taken = False
        with suppress(Conflict):  # if the session was faster
            call = (request.session_id, request.tool_call_id, request.digest)
            taken = await store.claims.claim(*call, 60) is not None
        await running
        messages = await one.session.read_messages()
    assert (tmp_path / "a.txt").exists() != taken
    assert any("'executing'" in str(one.get("content")) for one in messages) == taken


async def test_a_resumed_session_goes_on_with_the_numbers_of_its_records(
    store: Store, tmp_path: Path
) -> None:
    """A number that is known would be passed over."""
    made = plan(tmp_path)
    async with Session(made, tmp_path) as first:
        await first.run()
        state = await first.session.state()
    last = (await store.records.read(state["session_id"]))[-1].number
    assert 1 <= state["session_state"][REPORTED] <= last
    async with Session(made, tmp_path, resume=state) as second:
        await second.run()
    numbers = [one.number for one in await store.records.read(state["session_id"])]
    assert numbers[last] > last
    assert len(numbers) > last + 3


async def test_a_person_at_the_terminal_is_asked_as_well_where_the_bundle_says_so(
    store: Store, tmp_path: Path
) -> None:
    """Their answer closes the question elsewhere; the answer elsewhere is told on the screen."""
    shown = asyncio.Event()

    class Terminal:
        said: asyncio.Future[ApprovalAnswer]

        async def decide(self, question: ApprovalQuestion) -> ApprovalAnswer:
            self.said = asyncio.get_running_loop().create_future()
            shown.set()
            return await self.said

    terminal = Terminal()
    made = plan(tmp_path, "a.txt", "b.txt", via=["terminal", "store"])
    async with Session(made, tmp_path, approval_system=terminal) as one:
        running = one.run()
        await find_waiting(store)
        await shown.wait()
        terminal.said.set_result(ApprovalAnswer("Allow once", by="me"))
        shown.clear()
        await shown.wait()
        await answer(store)
        assert await running == "ok"
    assert await list_states(store) == ["cancelled", "executed"]
    said = [message for message, _, _ in one.screen.messages]
    assert "Answered by ann in the browser: Allow once" in said


async def test_without_the_terminal_in_it_only_people_elsewhere_are_asked(
    store: Store, tmp_path: Path
) -> None:
    """The terminal would be a way around them."""

    class Yes:
        async def decide(self, question: ApprovalQuestion) -> str:
            return "Allow once"

    async with Session(plan(tmp_path, "a.txt"), tmp_path, approval_system=Yes()) as one:
        running = one.run()
        await answer(store, 2)
        await running
    assert not (tmp_path / "a.txt").exists()


async def test_modes_and_policies_come_before_people_elsewhere(
    store: Store, tmp_path: Path
) -> None:
    """Edits in the folder need nobody; with deny, and with a refusal, nobody is asked."""
    async with Session(plan(tmp_path, "a.txt", mode="edits"), tmp_path) as one:
        await one.run()
    assert (tmp_path / "a.txt").exists()
    async with Session(plan(tmp_path, "b.txt", mode="deny"), tmp_path) as one:
        await one.run()
    refusing = RefusingApproval()
    async with Session(plan(tmp_path, "b.txt"), tmp_path, approval_system=refusing) as one:
        await one.run()
    assert not (tmp_path / "b.txt").exists()
    assert await list_states(store) == []

    class Unsure(PolicyApproval):
        def judge(self, question: ApprovalQuestion) -> Ruling:
            return Ruling("ask", "unsure")

    async with Session(plan(tmp_path, "b.txt"), tmp_path, approval_system=Unsure()) as one:
        running = one.run()
        await answer(store)
        await running
    assert (tmp_path / "b.txt").exists()


async def test_a_store_that_cannot_be_opened_stops_the_start(tmp_path: Path) -> None:
    """Questions would go nowhere."""
    (tmp_path / "file").write_text("")
    made = plan(tmp_path, store=str(tmp_path / "file" / "store.db"))
    with pytest.raises((StoreError, OSError)):
        async with Session(made, tmp_path):
            pass


async def test_a_server_that_does_not_answer_denies_with_a_sentence(tmp_path: Path) -> None:
    """And the session ends all the same."""
    made = plan(
        tmp_path,
        "a.txt",
        via="server",
        server="http://127.0.0.1:9",
        token="t0ken-of-an-agent",
        timeout=3,
    )
    async with Session(made, tmp_path) as one:
        await one.run()
        messages = await one.session.read_messages()
    assert any("could be asked" in str(message.get("content")) for message in messages)
    assert "t0ken-of-an-agent" not in repr([one.trail.records, one.screen.messages, messages])


async def test_no_module_sees_the_credentials(tmp_path: Path) -> None:
    """Not in the plan of the session, which hooks get with its start."""
    section = {
        "via": ["store", "server"],
        "store": "postgresql://me:secret@db.test/a",
        "server": "https://host.test",
        "token": "t0ken-t0ken",
    }
    assert hide_credentials({"approval": section})["approval"] == {
        "via": ["store", "server"],
        "server": "https://host.test",
    }
    async with Session(plan(tmp_path), tmp_path) as one:
        assert one.session.config["approval"] == {
            "via": "store",
            "store": str(tmp_path / "asked.db"),
        }


async def test_a_bundle_that_asks_at_the_terminal_opens_nothing(tmp_path: Path) -> None:
    """And where two links are named, both are asked."""
    assert await reach_people({}, tmp_path) is None
    both = await reach_people(
        {
            "via": ["store", "server"],
            "store": str(tmp_path / "a.db"),
            "server": "http://127.0.0.1:9",
            "token": "t0ken-t0ken",
        },
        tmp_path,
    )
    assert isinstance(both, Elsewhere)
    system = both.place(None)
    with pytest.raises((ApprovalError, TimeoutError)):
        await asyncio.wait_for(
            system.decide(ApprovalQuestion("?", ("Yes", "No"), 1, "deny", "h")),  # type: ignore[union-attr]
            10,
        )
    await both.close()
