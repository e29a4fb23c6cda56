"""Random scripts and random hooks on every framework: what must hold, whatever they come to."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit import AuditLog, AuditSettings, verify
from amplifier_core import HookResult
from amplifier_core.testing import MemoryAudit
from amplifier_hooks.frameworks import Governor, govern
from tests.adapters.drivers.driver import Driver, Ran
from tests.adapters.gamble import ANSWER, PROMPT, Gamble, Hooks, Planned, digest
from tests.adapters.stage import DONE, attempt, keep_runs

SEEDS = range(int(os.environ.get("AMPLIFIER_SEEDS", "2")))
"""More of them take longer: 100 are a good test of a new adapter."""
RUNS = 3
Outcome = tuple[Ran, Exception | None]


async def play(driver: Driver, hooks: Governor, gamble: Gamble) -> Outcome:
    """Run it through one of the entry points that the framework has."""
    prompt = f"Do {gamble.name}.prompt."
    try:
        if gamble.entry == "stream":
            return await attempt_known(driver.stream(hooks, gamble.script, prompt))
        if gamble.entry == "run_sync":
            work = asyncio.to_thread(driver.run_sync, hooks, gamble.script, prompt)
            return await attempt_known(work)
    except NotImplementedError:
        pass
    return await attempt(driver.run(hooks, gamble.script, prompt))


async def attempt_known(work: Any) -> Outcome:
    """The same for an entry point that the framework may lack."""
    ran, error = await attempt(work)
    if isinstance(error, NotImplementedError):
        raise error
    return ran, error


def count_runs(driver: Driver) -> int:
    """How many at once: one where each is a process of its own."""
    return 1 if hasattr(driver, "runs_at_once") else RUNS


async def play_all(
    driver: Driver, seed: int, names: tuple[str, ...], audit: Any
) -> tuple[Hooks, list[Outcome]]:
    """Some runs at once, under one governor."""
    hooks = Hooks([Gamble(seed, f"r{number}", names) for number in range(count_runs(driver))])
    governor = govern(hooks.registry, approval=hooks, audit=audit)
    try:
        work = (play(driver, governor, one) for one in hooks.gambles)
        return hooks, await asyncio.gather(*work)
    finally:
        await governor.close()


@pytest.mark.parametrize("seed", SEEDS)
async def test_whatever_happens_the_rules_hold(driver: Driver, seed: int) -> None:
    """Nothing runs that was refused, and no text goes where it must not."""
    audit = MemoryAudit()
    hooks, outcomes = await play_all(driver, seed, ("note", "note", "wipe"), audit)
    check_trail(audit, hooks)
    assert max(Counter(hooks.questions).values(), default=1) == 1
    for gamble, (ran, error) in zip(hooks.gambles, outcomes, strict=True):
        if error is None:
            check_calls(gamble.planned, ran, hooks)
            check_texts(gamble, ran, driver)


@pytest.mark.parametrize("seed", SEEDS)
async def test_what_runs_is_in_the_trail_whatever_fails(
    driver: Driver, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tools that raise or do not exist end runs in some frameworks, and break no rule in any."""
    audit, kept = MemoryAudit(), keep_runs(driver, monkeypatch)
    names = ("note", "wipe", "boom", "rocket")
    hooks, outcomes = await play_all(driver, seed, names, audit)
    check_trail(audit, hooks)
    ran = Ran(calls=[call for one in kept or [ran for ran, _ in outcomes] for call in one.calls])
    check_calls([one for gamble in hooks.gambles for one in gamble.planned], ran, hooks)
    started = Counter(one["body"]["digest"] for one in audit.of_type("tool_started"))
    assert not Counter(digest(*call) for call in ran.calls) - started


@pytest.mark.parametrize("seed", SEEDS)
async def test_runs_that_are_cancelled_at_any_moment_break_no_rule(
    driver: Driver, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every session that started has ended, all that ran is recorded, and nothing refused began."""
    audit, kept = MemoryAudit(), keep_runs(driver, monkeypatch)
    hooks = Hooks([Gamble(seed, f"r{number}") for number in range(count_runs(driver))])
    chance = random.Random(seed)
    for event in ("session:start", "prompt:submit", "provider:request", "tool:pre", "session:end"):
        hooks.registry.register(event, lambda event, data: linger(chance, 6), name="slow")
    async with govern(hooks.registry, approval=hooks, audit=audit) as governor:
        for one in hooks.gambles:
            task = asyncio.create_task(driver.run(governor, one.script, f"Do {one.name}."))
            await linger(chance, 60)
            for _ in range(chance.randint(1, 2)):
                task.cancel()
                await asyncio.sleep(0)
            await asyncio.wait([task])
    sessions = Counter(one["session"] for one in audit.of_type("session_started"))
    assert sessions == Counter(one["session"] for one in audit.of_type("session_ended"))
    begun = check_begun(audit, hooks)
    assert not Counter(digest(*call) for ran in kept for call in ran.calls) - begun


async def linger(chance: random.Random, most: int) -> HookResult:
    """Let others go on for a while."""
    for _ in range(chance.randint(0, most)):
        await asyncio.sleep(0)
    return HookResult()


async def test_the_trail_of_random_runs_verifies(driver: Driver, tmp_path: Path) -> None:
    """On disk, with several runs writing at once."""
    log = await AuditLog.open(tmp_path / "log", AuditSettings())
    await play_all(driver, 4711, ("note", "wipe"), log)
    await log.close()
    assert verify(tmp_path / "log").verdict == "consistent"


def check_trail(audit: MemoryAudit, hooks: Hooks) -> None:
    """Sessions and calls begin and end once, and nothing refused has begun."""
    sessions = Counter(one["session"] for one in audit.of_type("session_started"))
    assert sessions == Counter(one["session"] for one in audit.of_type("session_ended"))
    assert max(sessions.values()) == 1
    assert len(sessions) == len(hooks.gambles)
    started, finished = audit.of_type("tool_started"), audit.of_type("tool_finished")
    assert count_calls(started) == count_calls(finished)
    check_begun(audit, hooks)


def check_begun(audit: MemoryAudit, hooks: Hooks) -> Counter[str]:
    """Each call begins at most once, as hooks left it; returns the digests of those that did."""
    begun = Counter(one["body"]["digest"] for one in audit.of_type("tool_started"))
    for planned in (one for gamble in hooks.gambles for one in gamble.planned):
        wanted, left = planned.digests["wanted"], planned.digests["left"]
        assert begun[left] <= (not planned.is_refused), planned
        assert wanted == left or not begun[wanted], planned
    return begun


def count_calls(records: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """By session and tool; several calls may have one id."""
    return Counter((one["session"], one["body"]["tool"]) for one in records)


def check_calls(planned: list[Planned], ran: Ran, hooks: Hooks) -> None:
    """What ran is what hooks left of what the model wanted."""
    found = Counter(digest(*call) for call in ran.calls)
    allowed = {
        one.digests["left"]
        for one in planned
        if not one.is_refused and one.text not in hooks.dropped
    }
    assert set(found) <= allowed
    assert max(found.values(), default=1) == 1


def check_texts(gamble: Gamble, ran: Ran, driver: Driver) -> None:
    """Withheld results and answers are nowhere, and nothing of another run is here."""
    sent, events = "".join(ran.requests), driver.coverage.events
    for one in gamble.planned:
        if one.after in ("deny", "modify") and "tool:post" in events:
            verb = "noted" if one.call.name == "note" else "wiped"
            assert f"{verb} {one.text}" not in sent
        if one.after == "inject":
            # Some frameworks keep every text; then it is once in each request.
            keeps = "an_injection_for_one_request" in driver.cannot
            parts = ran.requests if keeps else [sent]
            assert all(part.count(f"<<{one.text}>>") <= 1 for part in parts)
    others = {"r0.", "r1.", "r2."} - {f"{gamble.name}."}
    assert not [one for one in others if one in sent + ran.answer]
    if gamble.choose("prompt:submit", PROMPT) == "deny" and "prompt:submit" in events:
        assert (ran.requests, ran.calls) == ([], [])
    if "prompt:answer" in events and ran.answer.startswith(DONE):
        assert gamble.choose("prompt:answer", ANSWER) != "deny"
