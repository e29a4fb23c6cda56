"""hooks-cost-control: limits per turn, session and day."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.guards.cost_control.agent import Agent, agent_with
from tests.support.harness import Harness
from tests.support.hooks import asks
from tests.support.people import PlainPerson


async def test_a_turn_over_its_tokens_is_stopped_and_the_next_begins_at_zero(
    tmp_path: Path,
) -> None:
    """Limits per turn, on provider:request from the usage of provider:response."""
    agent = await agent_with(tmp_path, turn={"tokens": 250})
    await agent.prompt()
    for _ in range(3):
        assert (await agent.request()).action == "continue"
        await agent.reply(100)
    denied = await agent.request()
    assert denied.action == "deny"
    assert denied.reason == "This turn has used 300 of 250 tokens"
    await agent.prompt()
    assert (await agent.request()).action == "continue"


async def test_a_session_keeps_its_sum_over_turns_and_resuming(tmp_path: Path) -> None:
    """The session's sum is saved with the session."""
    agent = await agent_with(tmp_path, session={"tokens": 150, "over": "ask_user"})
    await agent.reply(100)
    await agent.prompt()
    await agent.reply(100)
    asked = await agent.request()
    assert asked.action == "ask_user"
    assert "Continue anyway?" in (asked.approval_prompt or "")
    resumed = Harness(tmp_path)
    resumed.coordinator.session_state.update(
        json.loads(json.dumps(agent.harness.coordinator.session_state))
    )
    await resumed.mount("cost_control", {"session": {"tokens": 150}})
    assert (await Agent(resumed).request()).action == "deny"


async def test_money_is_tokens_times_price(tmp_path: Path) -> None:
    """A price table per model prefix; money limits."""
    prices = {"my-model": {"input": 10, "output": 100}}
    agent = await agent_with(tmp_path, session={"money": 0.01}, prices=prices)
    await agent.reply(500, "my-model-v2", output_tokens=40)
    assert (await agent.request()).action == "continue"
    await agent.reply(100, "vendor/My-Model", output_tokens=0)
    denied = await agent.request()
    assert denied.reason == "This session has used 0.0100 of 0.01 USD"


async def test_the_user_is_warned_once_before_the_end(tmp_path: Path) -> None:
    """warn: once per span, when the share is reached; `over: warn` never stops anything."""
    agent = await agent_with(tmp_path, turn={"tokens": 100, "over": "warn", "warn_at": 0.5})
    warned = []
    for _ in range(4):
        result = await agent.request()
        assert result.action == "continue"
        warned.append(bool(result.user_message))
        await agent.reply(40)
    assert warned == [False, False, True, False]
    await agent.prompt()
    assert (await agent.request()).user_message is None


async def test_prompts_of_sub_agents_do_not_begin_a_new_turn(tmp_path: Path) -> None:
    """The calls of sub-agents belong to the turn that started them."""
    agent = await agent_with(tmp_path, turn={"tokens": 100})
    await agent.prompt()
    await agent.reply(120)
    await agent.prompt(session_id="child")
    assert (await agent.request()).action == "deny"


async def test_a_model_without_a_price_is_said_once(tmp_path: Path) -> None:
    """It counts for token limits only, and a warning says so."""
    agent = await agent_with(tmp_path, session={"money": 1})
    assert "no price for 'mystery'" in ((await agent.reply(10, "mystery")).user_message or "")
    assert (await agent.reply(10, "mystery")).user_message is None
    priced = await agent_with(
        tmp_path, session={"money": 1}, unknown_price={"input": 1_000_000, "output": 0}
    )
    await priced.reply(10, "mystery")
    assert (await priced.request()).action == "deny"


@pytest.mark.parametrize("usage", [None, {}, {"input_tokens": None}, {"input_tokens": "7"}, []])
async def test_odd_usage_counts_nothing_and_does_no_harm(tmp_path: Path, usage: Any) -> None:
    """What a provider does not report cannot be counted."""
    agent = await agent_with(tmp_path, turn={"tokens": 1})
    result = await agent.harness.hooks.emit("provider:response", {"usage": usage, "response": 3})
    assert result.action == "continue"
    assert (await agent.request()).action == "continue"


async def test_a_reply_that_waited_for_a_person_is_counted_once(tmp_path: Path) -> None:
    """Guards judge again after a wait; the tokens were spent once."""
    harness = Harness(tmp_path, approval=PlainPerson("Allow"))
    await harness.mount("cost_control", {"session": {"tokens": 150}})
    harness.hooks.register("provider:response", asks("Show it?"))
    reply = {"model": "m", "usage": {"input_tokens": 100, "output_tokens": 0}}
    await harness.run("provider:response", **reply)
    assert (await harness.run("provider:request")).action == "continue"
    await harness.run("provider:response", **reply)
    assert (await harness.run("provider:request")).action == "deny"


async def test_a_days_file_in_the_home_directory_is_shared_by_all_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`~` is the home directory, so one budget covers everything that a person runs."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    limits: dict[str, Any] = {"day": {"tokens": 100}, "file": "~/.local/share/spent.json"}
    first, second = [await agent_with(tmp_path / name, **limits) for name in ("shop", "blog")]
    await first.reply(100)
    assert (await second.request()).action == "deny"
    assert (tmp_path / "home" / ".local" / "share" / "spent.json").exists()
