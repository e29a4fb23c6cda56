"""Calls and what became of them: reported once, and only what was allowed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from amplifier_hooks.external import tool_calls
from amplifier_hooks.server.judging import session as sessions
from tests.hooks.server.judging.scene import list_ends, open_session, read_trail
from tests.hooks.server.judging.switches import gates, heard


def get_code(response: httpx2.Response) -> tuple[int, str]:
    """The status and the code of an error."""
    return response.status_code, response.json()["error"]["code"]


@pytest.mark.parametrize(
    ("report", "output", "end"),
    [
        ({"output": "done"}, "done", "returned"),
        ({"output": {"a": [1, None]}}, {"a": [1, None]}, "returned"),
        ({"output": None}, None, "returned"),
        ({"output": "no", "success": False}, "no", "returned"),
        ({"error": {"message": "disk full", "type": "OSError"}}, "disk full", "raised"),
        ({"error": {"message": "403", "type": "denied"}}, "403", "raised"),
        ({"not_run": "the person stopped it"}, "the person stopped it", "cancelled"),
    ],
)
async def test_how_a_call_ended_is_recorded(
    client: httpx2.AsyncClient, report: dict[str, Any], output: Any, end: str
) -> None:
    """Returned, failed, or not run; the model gets what the answer has."""
    program = await open_session(client)
    await program.call("c1")
    told = await program.report("c1", **report)
    assert (told["decision"], told["changed"], told["output"]) == ("allow", False, output)
    ended = await program.end()
    assert ended["unreported"] == []
    assert list_ends(program.id) == {"c1": [end]}


async def test_hooks_change_and_withhold_what_the_model_reads(client: httpx2.AsyncClient) -> None:
    """A changed output; a denied one, in whose place the reason stands."""
    program = await open_session(client)
    await program.call("c1")
    await program.call("c2")
    changed = await program.report("c1", output="secret")
    denied = await program.report("c2", output="poison")
    assert (changed["decision"], changed["changed"]) == ("allow", True)
    assert changed["output"] == "[hidden]"
    assert (denied["decision"], denied["hook"]) == ("deny", "results")
    assert denied["output"] == denied["reason"]
    assert "the model must not read it" in denied["output"]


async def test_a_result_belongs_to_a_call_that_was_allowed(client: httpx2.AsyncClient) -> None:
    """Not to one that nobody asked about, that was denied, that waits, or that was reported."""
    program = await open_session(client)
    await program.call("denied", "Deny")
    await program.call("waits", "Ask")
    await program.call("once")
    await program.report("once")
    for number, call in enumerate(("never", "denied", "waits", "once")):
        refused = await program.post(event="result", id=f"r{number}", call=call, output="x")
        assert get_code(refused) == (409, "no_call"), call
    assert [key for key in heard if key.startswith("result of")] == ["result of once"]
    await program.end()
    assert list_ends(program.id) == {"once": ["returned"]}


async def test_two_results_at_once_are_one_too_many(client: httpx2.AsyncClient) -> None:
    """The first counts."""
    program = await open_session(client)
    await program.call("c1")
    first = asyncio.create_task(program.report("c1", output="slow"))
    while "result of c1" not in gates:
        await asyncio.sleep(0.01)
    for number in range(3):
        refused = await program.post(event="result", id=f"r{number}", call="c1", output="x")
        assert get_code(refused) == (409, "no_call")
    gates["result of c1"].set()
    assert (await first)["output"] == "slow"
    await program.end()
    assert list_ends(program.id) == {"c1": ["returned"]}


async def test_a_call_that_ran_with_another_input_is_told(client: httpx2.AsyncClient) -> None:
    """Hooks judged something else: the trail and the person learn of it."""
    program = await open_session(client)
    await program.call("c1", input={"path": "a"})
    told = await program.report("c1", output="x", input={"path": "b"})
    assert [one["level"] for one in told["shown"]] == ["error"]
    assert "tests has changed it" in told["shown"][0]["text"]
    await program.end()
    assert "digest_mismatch" in {one["type"] for one in read_trail(program.id)}


async def test_a_call_elsewhere_is_judged_there(client: httpx2.AsyncClient, folder: Path) -> None:
    """`cwd` is a whole path: hooks see the call as it looks from the session's folder."""
    program = await open_session(client)
    relative = await program.post(event="call", id="c0", tool="Plain", input={}, cwd="src")
    assert relative.status_code == 422
    assert "absolute" in relative.json()["error"]["message"]
    await program.call("c1", "Bash", input={"command": "ls"}, cwd=str(folder.parent))
    assert heard["c1:there:1"] == 1


async def test_a_hook_that_breaks_denies(client: httpx2.AsyncClient) -> None:
    """It was a guard."""
    program = await open_session(client)
    broken = await program.call("c1", "Break")
    assert (broken["decision"], broken["hook"]) == ("deny", "rules")
    assert "broken" in broken["reason"]


async def test_an_error_of_ours_denies(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever could not be judged is not allowed, and the trail says why."""
    program = await open_session(client)

    async def fail(*_: object) -> None:
        raise RuntimeError("nobody thought of this")

    monkeypatch.setattr(tool_calls.ToolCalls, "before", fail)
    denied = await program.call("c1")
    assert (denied["decision"], denied["hook"]) == ("deny", "kernel")
    assert "nobody thought of this" in denied["reason"]
    refused = await program.post(event="result", id="r1", call="c1", output="x")
    assert get_code(refused) == (409, "no_call")
    await program.end()
    assert any("nobody thought" in str(one["body"]) for one in read_trail(program.id))


async def test_no_more_events_at_once_than_there_is_room_for(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was judged makes room; what was refused can be sent again."""
    monkeypatch.setattr(sessions, "MOST_AT_ONCE", 1)
    program = await open_session(client)
    slow = asyncio.create_task(program.call("c1", "Slow"))
    while "c1" not in gates:
        await asyncio.sleep(0.01)
    refused = await program.post(event="call", id="c2", tool="Plain", input={})
    assert get_code(refused) == (429, "too_many")
    gates["c1"].set()
    await slow
    assert (await program.call("c2", input={}))["decision"] == "allow"


async def test_no_more_events_than_a_session_may_have(
    client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then it takes another session."""
    monkeypatch.setattr(sessions, "MOST_EVENTS", 1)
    program = await open_session(client)
    await program.call("c1")
    refused = await program.post(event="call", id="c2", tool="Plain", input={})
    assert get_code(refused) == (429, "too_many")


async def test_a_program_that_reports_nothing_goes_on(client: httpx2.AsyncClient) -> None:
    """More calls than an agent of ours remembers are still known: each is unknown at the end."""
    program = await open_session(client)
    many = tool_calls.MOST + 5
    for number in range(many):
        await program.call(f"c{number}")
    await program.report("c0", not_run="no")
    ended = await program.end()
    assert len(ended["unreported"]) == many - 1
    ends = list_ends(program.id)
    assert ends["c0"] == ["cancelled"]
    assert ends["c1"] == ends[f"c{many - 1}"] == ["unknown"]
