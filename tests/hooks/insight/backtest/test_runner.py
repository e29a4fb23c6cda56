"""The hooks of a policy, mounted as in the recorded session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.hooks import HookRegistry
from amplifier_core.records import HookAnswer
from amplifier_hooks.insight.backtest import PolicyError
from amplifier_hooks.insight.backtest.runner import (
    RecordedAnswers,
    RecordedClock,
    RecordedTimeRegistry,
    read_time,
)
from amplifier_hooks.trails import RecordedEvent, RecordedHook
from tests.hooks.insight.backtest.recorder import Recorder, make_call, row

CLOCK = """
async def mount(coordinator, config):
    clock = coordinator.get_capability("session.clock")
    assert clock() > 1_500_000_000, "no time yet"

    async def look(event, data):
        folder = coordinator.get_capability("session.working_dir")
        raise RuntimeError(f"{clock():.0f} {data['timestamp'][:4]} {folder} {data['session_id']}")

    coordinator.hooks.register("tool:pre", look, 0, "look")
"""


async def test_hooks_find_the_time_the_folder_and_the_session_of_then(tmp_path: Path) -> None:
    """Not those of the machine that the backtest runs on."""
    recorder = Recorder(tmp_path)
    async with recorder.host() as host:
        await host.execute_with_hooks("tool:pre", make_call(1))
        session = str(host.session_id)
    (tmp_path / "look.py").write_text(CLOCK)
    found = await recorder.backtest(recorder.load(hooks=(str(tmp_path / "look.py"),)))
    seconds, year, folder, told = found.examples["error"][0]["error"].split()[1:]
    assert (folder, told) == (str(tmp_path), session)
    assert found.first.startswith(year)
    assert abs(int(seconds) - recorder.trails.stat().st_mtime) < 3600


async def test_a_module_that_does_not_mount_stops_the_backtest(tmp_path: Path) -> None:
    """Without one of its guards it would be another policy."""
    recorder = Recorder(tmp_path)
    await recorder.record([1])
    recorder.save(row("judge"), modules=[{"module": "hooks-rules", "config": {"rules": 5}}])
    with pytest.raises(PolicyError, match=r"cannot be tried: .*hooks-rules"):
        await recorder.backtest()


async def test_a_module_that_stayed_as_it_was_answers_what_it_answered(tmp_path: Path) -> None:
    """Where it looks at what the trail does not have; with other options nobody can tell."""
    recorder = Recorder(tmp_path)
    recorder.save(row("judge"), modules=[{"module": "hooks-redaction", "config": {}}])
    request = ("provider:request", {"messages": [{"role": "user", "content": "hi"}]})
    secret = ("tool:pre", make_call(1, command="echo AKIA" + "QYLPMN5HHBFPZ7XA"))
    await recorder.record([1], events=[request, request, secret])
    found = await recorder.backtest()
    assert (found.counts, found.calls["hooks-redaction"] > 2) == ({}, True)
    changed = {"module": "hooks-redaction", "config": {"priority": 5}}
    recorder.save(row("judge"), modules=[changed])
    found = await recorder.backtest()
    assert found.counts == {"cannot_tell": 3}
    assert found.unclear[0].key == ("hooks-redaction", "messages", "trails do not repeat it")


async def test_shadow_mode_is_part_of_a_policy(tmp_path: Path) -> None:
    """What a hook would do when its shadow ends is what a backtest is good for."""
    recorder = Recorder(tmp_path)
    table = {"module": "table", "source": "./table.py", "config": {"rows": [row("new", n1="deny")]}}
    recorder.save(row("judge", n2="deny"), modules=[{**table, "name": "new", "mode": "shadow"}])
    await recorder.record([1, 2])
    assert (await recorder.backtest()).counts == {}
    recorder.save(row("judge", n2="deny"), modules=[{**table, "name": "new"}])
    assert (await recorder.backtest()).hooks == {"new": {"newly_denied": 1}}


async def test_a_session_in_which_no_answer_had_an_effect_is_judged_so(tmp_path: Path) -> None:
    """Until the policy is enforced."""
    recorder = Recorder(tmp_path)
    session = {**recorder.plan["session"], "evaluate_only": True}
    recorder.save(row("judge", n1="deny", n2="modify"), session=session)
    await recorder.record([1, 2, 3])
    assert (await recorder.backtest()).counts == {}
    recorder.save(row("judge", n1="deny", n2="modify"))
    assert (await recorder.backtest()).counts == {"newly_denied": 1, "changed_input": 1}


async def test_rate_limits_go_by_recorded_time(tmp_path: Path) -> None:
    """Calls that were far apart do not meet a limit because they are told again quickly."""
    recorder = Recorder(tmp_path)
    limit = {"module": "hooks-rate-limit", "config": {"overall": {"calls": 3, "seconds": 3600}}}
    recorder.save(row("judge"), modules=[limit])
    await recorder.record([1, 2, 3, 4, 5])
    assert (await recorder.backtest()).counts == {}
    recorder.save(row("judge"))
    assert (await recorder.backtest()).counts == {"no_longer_denied": 2}


COUNTING = """
from amplifier_core.models import HookResult

CALLS = []

async def on_tool_pre(event, data):
    CALLS.append(event)
    return HookResult(action="deny", reason="enough") if len(CALLS) > 2 else None
"""


async def test_what_a_hook_file_remembers_ends_with_the_session(tmp_path: Path) -> None:
    """As it would if each session had a process of its own; two policies share nothing either."""
    recorder = Recorder(tmp_path)
    await recorder.record([1, 2])
    await recorder.record([1, 2])
    hook = tmp_path / "counting.py"
    hook.write_text(COUNTING)
    policy, other = (recorder.load(hooks=(str(hook),), only=True) for _ in range(2))
    assert (await recorder.backtest(policy)).counts == {}
    assert (await recorder.backtest(policy, other)).counts == {}
    await recorder.record([1, 2, 3])
    assert (await recorder.backtest(policy)).counts == {"newly_denied": 1}


async def test_hooks_see_the_time_of_the_record() -> None:
    """In the form that registries give it."""
    clock = RecordedClock()
    registry, seen = RecordedTimeRegistry(clock), []

    @registry.register("tool:pre")
    async def look(event: str, data: dict[str, Any]) -> None:
        seen.append((data["timestamp"], clock()))

    clock.set("2026-11-17T19:21:19.645012732Z")
    await registry.dispatch("tool:pre", {})
    assert seen == [("2026-11-17T19:21:19.645+00:00", clock())]
    assert round(clock(), 3) == 1794943279.645


def test_a_time_that_is_none_is_the_first_moment_of_all() -> None:
    """A forged record does not stop anything."""
    assert read_time("soon").timestamp() == 0
    assert read_time("2026-11-17T00:00:00").isoformat() == "2026-11-17T00:00:00+00:00"


def _make_event(*answers: HookAnswer, left: dict[str, Any] | None = None) -> RecordedEvent:
    data = {"a": 1, "gone": 2}
    return RecordedEvent(
        sequence=1, time="", session="s", turn=1, event="tool:pre", data=data,
        left=data if left is None else left, answers=answers,
    )  # fmt: skip


def _turn(standing: RecordedAnswers, event: RecordedEvent) -> None:
    standing.set_event(event, event.data, event.left)


@pytest.mark.parametrize(
    ("hook", "names_modules", "expected"),
    [
        (RecordedHook(1, "trail-guard", "tool:pre", 0), True, True),
        (RecordedHook(1, "tool-bash", "tool:pre", 0, module="tool-bash", kind="tools"), True, True),
        (RecordedHook(1, "mine", "tool:pre", 0, module="mine", kind="hooks"), True, False),
        (RecordedHook(1, "named", "*", 0, module="hooks-backup", kind="hooks"), True, True),
        (RecordedHook(1, "trail-guard", "tool:pre", 0), False, True),
        (RecordedHook(1, "cli-display", "*", 0), False, True),
        (RecordedHook(1, "hooks-rules", "tool:pre", 0), False, False),
        (RecordedHook(1, "hooks-backup", "tool:pre", 0), False, True),
    ],
)
def test_a_policy_replaces_hooks_of_hook_modules_that_only_answer(
    hook: RecordedHook, names_modules: bool, expected: bool
) -> None:
    """All others answer as they did; trails of earlier versions are read by names."""
    assert (
        RecordedAnswers({"hooks-backup"}).stands_for(hook, names_modules=names_modules) is expected
    )


async def test_each_answers_what_it_answered_and_nothing_where_it_did_not() -> None:
    """By the number of its registration."""
    standing, registry = RecordedAnswers(()), HookRegistry()
    standing.add(RecordedHook(7, "guard", "tool:*", -5), registry)
    _turn(standing, _make_event(HookAnswer("guard", 7, "deny", reason="no")))
    denied = await registry.emit("tool:pre", {"a": 1})
    assert (denied.action, denied.reason) == ("deny", "no")
    _turn(standing, _make_event(HookAnswer("other", 8, "deny")))
    assert (await registry.emit("tool:pre", {"a": 1})).action == "continue"


async def test_a_change_is_made_again_also_where_it_took_something_away() -> None:
    """Fields that records leave out stay."""
    standing, registry = RecordedAnswers(()), HookRegistry()
    standing.add(RecordedHook(7, "guard", "tool:pre", 0), registry)
    changed = _make_event(HookAnswer("guard", 7, "modify"), left={"a": 2, "new": 3})
    _turn(standing, changed)
    run = await registry.dispatch("tool:pre", {**changed.data, "messages": []})
    assert {key: run.data[key] for key in run.data if key != "timestamp"} == {
        "a": 2, "new": 3, "messages": [],
    }  # fmt: skip
    assert standing.doubt == ""


async def test_a_number_that_is_given_again_belongs_to_the_new_hook() -> None:
    """A process that resumes a session counts from one."""
    standing, registry = RecordedAnswers(()), HookRegistry()
    for name in ("first", "second"):
        standing.add(RecordedHook(1, name, "tool:pre", 0), registry)
    assert [one.name for one in registry.handlers_for("tool:pre")] == ["second"]


async def test_an_answer_is_recalled_by_name_if_there_is_one() -> None:
    """Of two of one name nobody knows which."""
    standing = RecordedAnswers(())
    assert standing.recall("guard", {}) is None
    _turn(standing, _make_event(HookAnswer("guard", 7, "deny"), HookAnswer("x", 8, "deny")))
    known = standing.recall("guard", {})
    assert known is not None
    assert known.action == "deny"
    _turn(standing, _make_event(HookAnswer("x", 7, "deny"), HookAnswer("x", 8, "deny")))
    assert standing.recall("x", {}) is None
