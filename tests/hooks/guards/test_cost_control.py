"""hooks-cost-control: prices, limits, and the sum of a day."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_core.models import HookResult
from amplifier_hooks.guards.cost_control import (
    BUILT_IN_PRICES,
    NAME,
    DayBook,
    Price,
    compute_cost,
    find_price,
)
from tests.support.harness import Harness
from tests.support.hooks import asks
from tests.support.people import PlainPerson


class Agent:
    """Plays the model calls of a session."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness

    async def prompt(self, **data: Any) -> HookResult:
        result: HookResult = await self.harness.hooks.emit("prompt:submit", {"prompt": "x", **data})
        return result

    async def request(self) -> HookResult:
        return await self.harness.hooks.emit("provider:request", {"messages": []})

    async def reply(
        self, tokens: int = 100, model: str = "claude-sonnet-5", **more: Any
    ) -> HookResult:
        usage = {"input_tokens": tokens, "output_tokens": 0, **more}
        data = {"provider": "p", "model": model, "response": {}, "usage": usage}
        return await self.harness.hooks.emit("provider:response", data)


async def agent_with(directory: Path, **config: Any) -> Agent:
    harness = Harness(directory)
    await harness.mount("cost_control", config)
    return Agent(harness)


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"turn": {}}, "needs 'tokens' or 'money'"),
        ({"turn": {"tokens": 0}}, "turn.tokens"),
        ({"turn": {"money": float("nan")}}, "turn.money"),
        ({"turn": {"tokens": 5, "over": "stop"}}, "turn.over"),
        ({"turn": {"tokens": 5, "warn_at": 2}}, "turn.warn_at"),
        ({"turn": {"token": 5}}, "did you mean 'tokens'?"),
        ({"prices": {"x": {"input": -1, "output": 0}}}, "prices.x.input"),
    ],
)
async def test_a_bad_limit_is_refused_at_load(tmp_path: Path, config: Any, words: str) -> None:
    """Bad limits and prices are clear errors."""
    with pytest.raises(ModuleLoadError) as refused:
        await Harness(tmp_path).mount("cost_control", config)
    assert words in str(refused.value)


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


async def test_the_day_is_shared_by_sessions_and_ends_at_midnight(tmp_path: Path) -> None:
    """Day persisted in a small file under the working directory's .amplifier."""
    first = await agent_with(tmp_path, day={"tokens": 150})
    second = await agent_with(tmp_path, day={"tokens": 150})
    await first.reply(100)
    await second.reply(100)
    assert (await first.request()).reason == "This day has used 200 of 150 tokens"
    file = tmp_path / ".amplifier" / "cost.json"
    entry = json.loads(file.read_text())
    assert entry["tokens"] == 200
    file.write_text(json.dumps({**entry, "date": "2001-01-01"}))
    assert (await first.request()).action == "continue"


def test_the_day_is_that_of_the_clock_it_was_given(tmp_path: Path) -> None:
    """And what was spent on another one is not of today."""
    today = ["2026-01-01"]
    book = DayBook(tmp_path / "cost.json", lambda: today[0])
    book.add(5, 0.5)
    assert (book.read().tokens, json.loads((tmp_path / "cost.json").read_text())["date"]) == (
        5,
        "2026-01-01",
    )
    today[0] = "2026-01-02"
    assert book.read().tokens == 0


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"date": 1}', '{"tokens": "x", "money": 1, "date": "x"}']
)
async def test_a_broken_day_file_closes_the_door(tmp_path: Path, content: str) -> None:
    """Fails closed, with the name of the file in the reason."""
    (tmp_path / ".amplifier").mkdir()
    (tmp_path / ".amplifier" / "cost.json").write_text(content)
    agent = await agent_with(tmp_path, day={"tokens": 10})
    denied = await agent.request()
    assert denied.action == "deny"
    assert "cost.json" in (denied.reason or "")


async def test_a_day_that_cannot_be_saved_still_counts_and_is_said(tmp_path: Path) -> None:
    """A reply is not withheld because a file cannot be written; the limit holds all the same."""
    (tmp_path / ".amplifier").write_text("in the way of the folder")
    agent = await agent_with(tmp_path, day={"tokens": 150}, file=".amplifier/cost.json")
    said = await agent.reply(100)
    assert said.action == "continue"
    assert "cannot be saved" in (said.user_message or "")
    (tmp_path / ".amplifier").unlink()
    await agent.reply(100)
    assert (await agent.request()).reason == "This day has used 200 of 150 tokens"


def _spend(path: str, times: int) -> None:
    book = DayBook(Path(path), lambda: "2030-01-01")
    for _ in range(times):
        book.add(1, 0.5)


def test_sessions_in_several_processes_lose_nothing(tmp_path: Path) -> None:
    """Sums are added under a lock that other processes respect."""
    path = tmp_path / "cost.json"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_spend, args=(str(path), 50)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    spent = DayBook(path, lambda: "2030-01-01").read()
    assert (spent.tokens, spent.money) == (150, 75.0)


async def test_counting_the_day_does_not_block_the_loop(tmp_path: Path) -> None:
    """File work goes to a thread: other tasks go on while many replies are counted."""
    agent = await agent_with(tmp_path, day={"tokens": 10**9})
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    await asyncio.gather(*(agent.reply(1) for _ in range(20)))
    ticking.cancel()
    assert ticks > 20
    assert (await agent.request()).action == "continue"
    assert agent.harness.coordinator.session_state[NAME]["tokens"] == 20


def test_usage_inside_the_response_counts_too() -> None:
    """Cached tokens have their own price and are parts of the input."""
    price = Price(input=10, output=20, cache_read=1, cache_write=12.5)
    usage = {
        "input_tokens": 1_000_000,
        "output_tokens": 100_000,
        "cache_read_tokens": 500_000,
        "cache_write_tokens": 200_000,
    }
    tokens, money = compute_cost(usage, price)
    assert tokens == 1_100_000
    assert money == pytest.approx(3 + 0.5 + 2.5 + 2)


@given(
    st.dictionaries(
        st.sampled_from(["input_tokens", "output_tokens", "cache_read_tokens"]),
        st.integers() | st.floats(),
    )
)
def test_no_usage_is_ever_worth_less_than_nothing(usage: dict[str, Any]) -> None:
    """Negative, infinite and not-a-number counts add nothing."""
    tokens, money = compute_cost(usage, Price(input=1, output=1))
    assert tokens >= 0
    assert money >= 0


@pytest.mark.parametrize(
    ("model", "key"),
    [
        ("claude-sonnet-4-5", "claude-sonnet"),
        ("anthropic/claude-haiku-4", "claude-haiku"),
        ("claude-new-thing", "claude"),
        ("gpt-4o-mini-2024", "gpt-4o-mini"),
        ("gpt-4o", "gpt-4o"),
        ("GPT-5-MINI", "gpt-5-mini"),
        ("o3-pro", "o3"),
    ],
)
def test_the_longest_prefix_names_the_price(model: str, key: str) -> None:
    """Built-in prices by prefix; the user's own come first."""
    assert find_price(model, {}, None) == BUILT_IN_PRICES[key]
    own = Price(input=1, output=1)
    assert find_price(model, {model: own}, None) == own
    assert find_price(None, {}, own) == own
