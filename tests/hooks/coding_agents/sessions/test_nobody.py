"""Where nobody sits in front of an agent: a short wait, a refusal, and a yes that comes later."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import TOOL_PRE
from amplifier_hooks.approvals.models import Approval, ApprovalFilter
from amplifier_hooks.approvals.stores.store import Store, open_store
from amplifier_hooks.external.verdicts import Verdict
from tests.hooks.coding_agents.sessions.agents import PLAIN, Agent, Data, make_project, start
from tests.support.stores import ALLOW, BOB, choose

COMMAND: Data = {"command": "npm ci"}
OPTIONS = ["Allow once", "Deny", "Allow always"]
WAIT = "amplifier_hooks.coding_agents.sessions.approval.SHORT_WAIT"


@pytest.fixture(autouse=True)
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits for as long as a person does."""
    monkeypatch.setattr(WAIT, 0.3)


@pytest.fixture
async def store(home: Path) -> AsyncIterator[Store]:
    """The person's own store."""
    opened = await open_store(None)
    yield opened
    await opened.close()


def make_asking(one: Agent, prompt: str = "Really?", **more: Any) -> list[Data]:
    """A hook that asks about every call."""
    given: Data = {"approval_options": OPTIONS, "approval_timeout": 60, **more}
    return one.hook(TOOL_PRE, action="ask_user", approval_prompt=prompt, **given)


async def call(one: Agent, call_id: str, given: Data = COMMAND, **more: Any) -> Verdict:
    """The agent wants to run a command."""
    return await one.tell("PreToolUse", tool_use_id=call_id, tool_input=given, **more)


async def report(one: Agent, call_id: str, given: Data = COMMAND) -> None:
    """It has run."""
    await one.tell("PostToolUse", tool_use_id=call_id, tool_input=given, tool_response="x")


async def list_waiting(store: Store) -> list[Approval]:
    """The questions that a person can answer."""
    found, _ = await store.approvals.list(ApprovalFilter(status=("pending",)))
    return found


async def decide(store: Store, option: int = ALLOW, **more: Any) -> Approval:
    """A person answers the only question."""
    (waiting,) = await list_waiting(store)
    return await store.approvals.decide(waiting.id, choose(waiting, option, **more), BOB)


async def test_a_call_is_refused_soon_and_its_question_waits_on(
    project: Path, store: Store
) -> None:
    """The agent reads how a person can still allow it."""
    async with start("codex", project) as one:
        make_asking(one)
        began = time.monotonic()
        verdict = await call(one, "c1")
        assert time.monotonic() - began < 10
        (waiting,) = await list_waiting(store)
    assert verdict.decision == "deny"
    begins = "Refused: nobody can be asked here. A person can still allow it, for 1 min: "
    assert str(verdict.reason).startswith(f"{begins}amplifier approvals allow {waiting.id[:8]}")
    assert "Really?" in str(verdict.reason)
    assert waiting.seconds_left > 30


async def test_a_later_yes_is_used_once(project: Path, store: Store) -> None:
    """The same call runs when it is tried again; the time after that, it is asked about."""
    async with start("codex", project) as one:
        make_asking(one)
        await call(one, "c1")
        await decide(store)
        second = await call(one, "c2")
        await report(one, "c2")
        third = await call(one, "c3")
        assert len(await list_waiting(store)) == 1
        (used,), _ = await store.approvals.list(ApprovalFilter(status=("executing", "executed")))
    assert [second.decision, third.decision] == ["allow", "deny"]
    assert used.request.tool_call_id.startswith("c1")


async def test_a_yes_while_the_agent_tries_again_is_used(project: Path, store: Store) -> None:
    """The second try waits for the same question, and no other is put."""
    async with start("codex", project) as one:
        make_asking(one)
        await call(one, "c1")
        trying = asyncio.create_task(call(one, "c2"))
        await asyncio.sleep(0.1)
        await decide(store)
        assert (await trying).decision == "allow"


async def test_of_two_tries_at_once_one_runs(project: Path, store: Store) -> None:
    """A yes is for one run, however many calls come for it."""
    async with start("codex", project) as one:
        make_asking(one)
        await call(one, "c1")
        await decide(store)
        tries = await asyncio.gather(*(call(one, f"c{number}") for number in range(2, 7)))
    assert sorted(str(one.decision) for one in tries) == ["allow", *["deny"] * 4]


@pytest.mark.parametrize(
    "other",
    [{"given": {"command": "npm ci --force"}}, {"tool_name": "Other"}, {"cwd": "/"}],
)
async def test_a_yes_is_for_nothing_else(project: Path, store: Store, other: Data) -> None:
    """Another input, tool or folder is another question."""
    async with start("codex", project) as one:
        make_asking(one)
        await call(one, "c1")
        await decide(store)
        assert (await call(one, "c2", **other)).decision == "deny"
        assert len(await list_waiting(store)) == 1
        assert (await call(one, "c3")).decision == "allow"


async def test_a_yes_is_for_one_session_and_one_hook(project: Path, store: Store) -> None:
    """Another session asks anew; so does another hook, before both were answered."""
    async with start("codex", project) as one:
        make_asking(one)
        await call(one, "c1")
        await decide(store)
        async with start("codex", project, "s2") as other:
            make_asking(other)
            assert (await call(other, "c1")).decision == "deny"
            await decide(store)
        make_asking(one, "Are you sure?", name="second")
        assert (await call(one, "c2")).decision == "deny"
        await decide(store)
        assert (await call(one, "c3")).decision == "allow"


async def test_a_denial_comes_before_a_later_yes(project: Path, store: Store) -> None:
    """Hooks are asked again, and what they deny stays denied."""
    async with start("codex", project) as one:
        make_asking(one)
        await call(one, "c1")
        await decide(store)
        one.hook(TOOL_PRE, name="strict", action="deny", reason="no more")
        assert "no more" in str((await call(one, "c2")).reason)


async def test_a_later_no_refuses_once(project: Path, store: Store) -> None:
    """The next try is told; it is not remembered beyond that."""
    async with start("codex", project) as one:
        make_asking(one)
        await call(one, "c1")
        await decide(store, 1, comment="not today")
        assert "not today" in str((await call(one, "c2")).reason)
        third = await call(one, "c3")
        assert (third.decision, "not today" in str(third.reason)) == ("deny", False)
        assert len(await list_waiting(store)) == 1


async def test_it_holds_when_another_process_goes_on_with_the_session(
    project: Path, store: Store
) -> None:
    """The yes may come after a crash of ours, or after the agent was started anew."""
    async with start("codex", project) as one:
        make_asking(one)
        await call(one, "c1")
        state = await one.guest.read_state()
        await one.guest.suspend()
    await decide(store)
    async with start("codex", project, state=state) as resumed:
        make_asking(resumed)
        assert (await call(resumed, "c2")).decision == "allow"


async def test_an_agent_that_has_a_prompt_waits_too_if_nobody_sees_it(
    project: Path, store: Store
) -> None:
    """`claude -p` has the same way."""
    async with start("claude", project, alone=True) as one:
        make_asking(one)
        assert (await call(one, "c1")).decision == "deny"
        await decide(store)
        assert (await call(one, "c2")).decision == "allow"


async def test_a_part_of_a_call_is_allowed_later_as_well(project: Path, store: Store) -> None:
    """Where the agent is elsewhere, the call is judged there, too; each yes is used once."""
    below = project / "below"
    below.mkdir()
    async with start("codex", project) as one:
        make_asking(one)
        for name in ("c1", "c2"):
            assert (await call(one, name, cwd=str(below))).decision == "deny"
            await decide(store)
        assert (await call(one, "c3", cwd=str(below))).decision == "allow"
        await report(one, "c3")
        assert (await call(one, "c4", cwd=str(below))).decision == "deny"


@pytest.mark.parametrize("approval", ["{via: store}", "{timeout: 45}"])
async def test_people_who_were_named_are_waited_for(
    home: Path, tmp_path: Path, store: Store, approval: str
) -> None:
    """Who says where people are, or how long they have, is believed."""
    folder = make_project(tmp_path / "named", f"{PLAIN}\napproval: {approval}\n")
    async with start("codex", folder) as one:
        make_asking(one)
        calling = asyncio.create_task(call(one, "c1"))
        await asyncio.sleep(1.5)
        assert not calling.done()
        await decide(store)
        assert (await calling).decision == "allow"


async def test_a_question_whose_time_is_a_yes_is_waited_for(project: Path, store: Store) -> None:
    """Nothing is allowed earlier than its hook has said."""
    async with start("codex", project) as one:
        make_asking(one, approval_default="allow", approval_timeout=2)
        began = time.monotonic()
        verdict = await call(one, "c1")
    assert verdict.decision in ("allow", None)
    assert time.monotonic() - began > 1.2


async def test_it_is_said_once_at_the_start(project: Path) -> None:
    """To the person, or else to the agent; and not where somebody can be asked."""
    for name, event in (("codex", "SessionStart"), ("gemini", "SessionStart")):
        async with start(name, project, name) as one:
            first, second = await one.tell(event), await one.tell(event)
        said = [*first.notes, *first.context]
        assert [text.startswith("amplifier: nobody can be asked here") for text in said] == [True]
        assert [*second.notes, *second.context] == []
    async with start("claude", project, "c") as one:
        assert (await one.tell("SessionStart")).notes == ()
