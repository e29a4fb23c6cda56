"""One recorded session before a policy: what differs, why, and what people had said."""

from __future__ import annotations

import json
import random
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.loader import ModuleLoader
from amplifier_core.mounting import Mounting
from amplifier_core.records import SessionStarted
from amplifier_hooks.agent.session.inspection.trails import select_trails
from amplifier_hooks.insight.backtest import Tally
from amplifier_hooks.insight.backtest.trail_run import MOST_OPEN, Questions, TrailReader, Window
from amplifier_hooks.insight.backtest.verdicts import Asking, Verdict
from amplifier_hooks.trails import RecordedApproval, RecordedEvent, read_history
from tests.hooks.insight.backtest.recorder import Recorder, Row, make_call, row

NUMBERS = 8
ANSWERS = ["continue"] * 6 + ["deny", "ask_user", "inject_context", "modify", "fail"]
SEEDED = {"deny": "newly_denied", "ask_user": "newly_asked"} | {
    "inject_context": "newly_injected",
    "modify": "changed_input",
}


def _make_rows(rng: random.Random, start: str, most: int, answers: list[str]) -> list[Row]:
    return [
        {
            "name": f"{start}{number}",
            "event": rng.choice(["tool:pre", "tool:pre", "prompt:submit", "tool:*"]),
            "priority": rng.randint(-3, 3),
            "on_error": rng.choice(["continue", "deny"]),
            "answers": {str(n): rng.choice(answers) for n in range(NUMBERS)},
        }
        for number in range(rng.randint(0, most))
    ]


async def _record(rng: random.Random, recorder: Recorder, sessions: int) -> list[Row]:
    """Record sessions of a policy of random hooks; some of each have hooks of their own."""
    rows = _make_rows(rng, "hook", 5, ANSWERS)
    recorder.save(*rows)
    plain = [one for one in ANSWERS if one != "modify"]
    for _ in range(sessions):
        own = _make_rows(rng, "own", 2, plain)
        said = rng.choices(["Allow once", "Allow always", "Deny"], k=NUMBERS)
        prompts: Any = [("prompt:submit", {"prompt": str(rng.randrange(NUMBERS))})]
        numbers = rng.choices(range(NUMBERS), k=rng.randint(1, 10))
        await recorder.record(numbers, *said, own=own, events=prompts)
    return rows


def _count_expected(recorder: Recorder, action: str, number: int) -> int:
    """The calls of a number for which one more answer of this action makes a difference."""
    found = 0
    for trail in select_trails([str(recorder.trails)]):
        for item in read_history(trail):
            if not isinstance(item, RecordedEvent) or item.again or item.event != "tool:pre":
                continue
            injects = any(one.action == "inject_context" for one in item.answers)
            stands = item.action == "deny" or (action == "ask_user" and item.action == "ask_user")
            stands = stands or (action == "inject_context" and injects)
            found += item.data["tool_input"]["n"] == number and not stands
    return found


async def _check_batch(folder: Path, seed: int, sessions: int) -> Tally:
    rng = random.Random(seed)
    folder.mkdir()
    recorder = Recorder(folder)
    rows = await _record(rng, recorder, sessions)
    same = await recorder.backtest()
    assert same.counts == {}, f"seed {seed}"
    assert same.sessions == sessions
    questions = same.questions.values()
    assert [then for then, _ in questions] == [would for _, would in questions], f"seed {seed}"
    action, number = rng.choice(sorted(SEEDED)), rng.randrange(NUMBERS)
    recorder.save(*rows, row("seeded", 100, **{f"n{number}": action}))  # type: ignore[arg-type]
    changed = await recorder.backtest()
    expected = Counter({SEEDED[action]: _count_expected(recorder, action, number)})
    assert changed.counts == dict(+expected), f"seed {seed}: {action} for {number}"
    return changed


async def test_an_unchanged_policy_differs_nowhere_and_a_changed_one_where_it_was_changed(
    tmp_path: Path,
) -> None:
    """Generated sessions: all actions, failures, guards, priorities, hooks of programs."""
    found = [await _check_batch(tmp_path / str(seed), seed, 8) for seed in (3, 7)]
    assert all(one.counts for one in found)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_thousand_generated_sessions_differ_only_where_the_policy_was_changed(
    tmp_path: Path,
) -> None:
    """The same for a thousand."""
    for seed in range(100, 150):
        await _check_batch(tmp_path / str(seed), seed, 20)


async def test_unheard_events_are_counted_and_skipped(tmp_path: Path) -> None:
    """A text that looks like a member of a record changes nothing."""
    recorder = Recorder(tmp_path)
    recorder.save(row("judge"))
    tricky = {"delta": '"event":"tool:pre","hook":null,"registration":null,"type":"dispatch"'}
    deltas = [("content_block:delta", tricky)] * 3
    await recorder.record([1, 2], events=deltas)
    (trail,) = select_trails([str(recorder.trails)])
    reader = TrailReader(trail, lambda name: name.startswith("tool:"), Window())
    events = [item.event for item in reader.read_items() if isinstance(item, RecordedEvent)]
    assert events == ["tool:pre", "tool:pre"]
    assert reader.skipped == 3
    assert reader.read == sum(path.stat().st_size for path in trail.glob("*.jsonl"))
    everything = TrailReader(trail, lambda name: True, Window())
    told = [item for item in everything.read_items() if isinstance(item, RecordedEvent)]
    assert told == [item for item in read_history(trail) if isinstance(item, RecordedEvent)]
    later = TrailReader(trail, lambda name: False, Window(since="2100"))
    assert list(later.read_items())
    assert later.skipped == 0


def test_a_window_holds_its_beginning_and_not_its_end() -> None:
    """As ranges usually do."""
    window = Window("2026-11-01", "2026-11-02")
    times = ("2026-10-31T23:59:59Z", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z")
    assert [window.holds(time) for time in times] == [False, True, False]
    assert Window().holds("")


ASKS = Verdict("ask_user", {}, asking=(Asking("guard", "really?"),))
GOES_ON = Verdict("continue", {})


def _make_event(call: str = "1") -> RecordedEvent:
    data = {"tool_name": "Bash", "tool_call_id": call}
    return RecordedEvent(
        sequence=1, time="2026-11-02T10:00:00Z", session="s", turn=1, event="tool:pre",
        data=data, left=data,
    )  # fmt: skip


def _make_step(stage: Any, call: str = "1", **more: Any) -> RecordedApproval:
    return RecordedApproval(
        sequence=2, time="2026-11-02T10:00:01Z", session="s", turn=1, event="tool:pre",
        stage=stage, hook="guard", id=1, digest=f"d{call}", tool="Bash", call_id=call,
        prompt="really?", **more,
    )  # fmt: skip


OTHER = Verdict("ask_user", {}, asking=(Asking("guard", "and this?"),))
ASKED = _make_step("requested")
BY_RULE = _make_step("decided", how="rule", decision="Allow once")
FOR_ALWAYS = _make_step("decided", decision="Allow always", allowed=True)


@pytest.mark.parametrize(
    ("recorded", "steps", "counts"),
    [
        # A question of then that is asked now counts once on both sides.
        (
            True,
            [
                (_make_event(), ASKS, ASKS),
                ASKED,
                _make_step("decided", decision="Allow once", allowed=True),
            ],
            [1, 1],
        ),
        # One that is not asked any more had disturbed somebody.
        (True, [(_make_event(), ASKS, GOES_ON), ASKED], [1, 0]),
        # What a rule answered disturbed nobody: it is taken back on both sides.
        (True, [(_make_event(), ASKS, ASKS), ASKED, BY_RULE], [0, 0]),
        # An answer for always answers those of the same hook, about the same tool, in these words.
        (
            True,
            [
                ASKED,
                FOR_ALWAYS,
                (_make_event("2"), GOES_ON, ASKS),
                (_make_event("3"), GOES_ON, OTHER),
            ],
            [1, 1],
        ),
        # Another policy is counted as it would ask.
        (
            False,
            [(_make_event(), ASKS, GOES_ON), ASKED, BY_RULE, (_make_event("2"), ASKS, ASKS)],
            [2, 1],
        ),
        # A session that never ends does not fill the memory.
        (
            True,
            [
                *((_make_event(str(number)), ASKS, ASKS) for number in range(MOST_OPEN + 5)),
                _make_step("requested", "0"),
                _make_step("requested", str(MOST_OPEN)),
            ],
            [2, 1],
        ),
    ],
    ids=["both", "then", "rule", "always", "another policy", "bounded"],
)
def test_questions_are_counted_for_whom_they_disturb(
    recorded: bool, steps: list[Any], counts: list[int]
) -> None:
    """Whether a question was put at all, the trail says."""
    questions = Questions(recorded=recorded)
    for step in steps:
        if isinstance(step, tuple):
            questions.add_verdicts(*step)
        else:
            questions.add_approval(step)
    assert questions.days == {"2026-11-02": counts}


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    """A folder with recorded sessions."""
    return Recorder(tmp_path)


async def test_an_unchanged_policy_differs_nowhere(recorder: Recorder) -> None:
    """Every action, a failure and a guard's failure give what they gave."""
    recorder.save(
        row("changes", -5, n1="modify", n2="modify"),
        row("tells", n1="inject_context", n3="inject_context"),
        row("asks", 5, n4="ask_user", n5="ask_user"),
        row("breaks", 6, n6="fail"),
        row("guards", 7, "deny", n7="fail", n8="deny"),
    )
    await recorder.record(range(10), "Allow once", "Deny")
    found = await recorder.backtest()
    assert found.counts == {}
    assert found.events >= 10
    assert found.questions[next(iter(found.questions))] == [2, 2]


KINDS = [
    ("continue", "deny", "newly_denied"),
    ("ask_user", "deny", "newly_denied"),
    ("deny", "continue", "no_longer_denied"),
    ("deny", "ask_user", "no_longer_denied"),
    ("continue", "ask_user", "newly_asked"),
    ("ask_user", "continue", "no_longer_asked"),
    ("continue", "modify", "changed_input"),
    ("modify", "continue", "changed_input"),
    ("continue", "inject_context", "newly_injected"),
    ("inject_context", "modify", "changed_input"),
    ("inject_context", "continue", "no_longer_injected"),
    ("continue", "fail", "error"),
    ("deny", "deny", None),
    ("fail", "continue", None),
]
"""What a hook answered, what it answers now, and how the difference is called."""


async def test_a_change_of_an_answer_is_told_by_its_kind(recorder: Recorder) -> None:
    """What was changed for one call is found for that call, and for no other."""
    recorder.save(_make_row({str(n): was for n, (was, _, _) in enumerate(KINDS)}))
    await recorder.record(range(len(KINDS) + 3))
    recorder.save(_make_row({str(n): would for n, (_, would, _) in enumerate(KINDS)}))
    found = await recorder.backtest(examples=9)
    told = {
        json.loads(one["about"])["n"]: kind
        for kind in found.examples
        for one in found.examples[kind]
    }
    assert told == {n: kind for n, (_, _, kind) in enumerate(KINDS) if kind is not None}
    assert sum(found.counts.values()) == sum(found.hooks["judge"].values()) == len(told)


async def test_an_example_says_what_a_person_had_decided(recorder: Recorder) -> None:
    """Somebody who denies by rule what people always allowed wants to know that."""
    recorder.save(row("judge", n1="ask_user", n2="ask_user"))
    await recorder.record([1, 2], "Allow once", "Deny")
    recorder.save(row("judge", n1="deny", n2="deny"))
    found = await recorder.backtest()
    said = {"allowed": 1, "refused": 1, "not_run": 0, "not_known": 0}
    assert found.people == {"newly_denied": said}
    persons = [one["person"] for one in found.examples["newly_denied"]]
    assert [one["allowed"] for one in persons] == [True, False]


async def test_an_error_is_shown_with_its_line(recorder: Recorder) -> None:
    """An author finds the place without running anything again."""
    await recorder.record([1])
    recorder.save(row("judge", n1="fail"))
    example = (await recorder.backtest()).examples["error"][0]
    assert example["error"] == "RuntimeError: judge is broken"
    assert "recorder.py:" in example["at"]


async def test_hooks_that_no_bundle_asks_for_answer_as_they_did(recorder: Recorder) -> None:
    """What a program registered by itself is no part of the policy, and is not lost either."""
    recorder.save(row("judge", n5="deny"))
    own = [
        row("first", -10, n1="deny", n2="modify"),
        row("last", 10, n3="ask_user", n4="inject_context"),
    ]
    await recorder.record(range(7), own=own)
    assert (await recorder.backtest()).counts == {}
    recorder.save(row("judge"))
    found = await recorder.backtest()
    assert found.counts == {"no_longer_denied": 1}
    assert found.examples["no_longer_denied"][0]["not_asked_then"] == ["last"]


async def test_changes_that_cannot_be_told_apart_are_in_doubt(recorder: Recorder) -> None:
    """Of several changes a trail has the last result, not who made which."""
    recorder.save(row("judge", 5, n1="modify"))
    await recorder.record([1], own=[row("own", n1="modify")])
    found = await recorder.backtest()
    assert found.counts == {"cannot_tell": 1}
    assert found.unclear[0].why == "the trail does not say which of several changes own made"


async def test_what_was_masked_is_judged_as_it_is_and_a_difference_is_in_doubt(
    recorder: Recorder,
) -> None:
    """A hook may have decided by the very text that nobody kept."""
    async with recorder.host() as host:
        host.register_scrubber(lambda text: text.replace("hunter2", "[REDACTED:password]"))
        for number in (1, 2):
            call = make_call(number, password="hunter2")
            await host.execute_with_hooks("tool:pre", call)
    assert (await recorder.backtest()).counts == {}
    recorder.save(row("judge", n2="deny"))
    found = await recorder.backtest()
    assert found.counts == {"cannot_tell": 1}
    assert found.unclear[0].path == "tool_input.password"


async def test_values_that_are_kept_apart_are_used_while_they_are_there(
    recorder: Recorder,
) -> None:
    """Without them it is said which record, which field and why."""
    async with recorder.host(values="committed") as host:
        for number in (1, 2):
            await host.execute_with_hooks("tool:pre", make_call(number))
    recorder.save(row("judge", n2="deny"))
    assert (await recorder.backtest()).counts == {"newly_denied": 1}
    for part in recorder.trails.rglob("values*"):
        part.unlink()
    found = await recorder.backtest()
    assert found.counts == {"cannot_tell": 2}
    (unclear,) = found.unclear
    assert (unclear.hook, unclear.count) == ("judge", 2)
    assert unclear.path.startswith("tool_input")
    assert unclear.why == "missing, and no record says that it was redacted"


async def test_a_trail_of_decisions_alone_is_named_as_unreadable(recorder: Recorder) -> None:
    """It has no events to judge, which is not the same as no difference."""
    async with recorder.host(level="decisions") as host:
        await host.execute_with_hooks("tool:pre", make_call(1))
    (one,) = (await recorder.backtest()).unreadable
    assert "audit.level: decisions" in one["why"]


async def test_sub_agents_are_judged_by_the_hooks_of_their_parent_and_their_own(
    recorder: Recorder,
) -> None:
    """Their events stand in the same trail, under another id."""
    entry = {**recorder.plan["hooks"][0], "config": {"rows": [row("child", n3="deny")]}}
    agents = {"helper": {"description": "x", "hooks": [entry]}}
    recorder.save(row("judge", n1="deny"), agents=agents)
    async with recorder.host() as host:
        await host.execute_with_hooks("agent:spawn", {"agent_name": "helper", "task": "x"})
        child = SessionCoordinator(
            HookRegistry(host.hooks), audit=host.trail.sink, session_id="child-1"
        )
        child.trail.write(SessionStarted(resumed=False, parent=host.session_id, shadow=False))
        mounting = Mounting(child, ModuleLoader(base=recorder.folder))
        await mounting.mount("hooks", entry)
        for number in (1, 2, 3):
            await child.execute_with_hooks("tool:pre", make_call(number))
        await host.execute_with_hooks("tool:pre", make_call(3))
        await child.cleanup()
    assert (await recorder.backtest()).counts == {}
    recorder.save(row("judge"), agents=agents)
    assert (await recorder.backtest()).counts == {"no_longer_denied": 1}
    recorder.save(row("judge", n1="deny"), agents={})
    assert (await recorder.backtest()).counts == {"no_longer_denied": 1}


async def test_an_answer_for_always_is_one_question(recorder: Recorder) -> None:
    """What a person said for always is not asked again, then as now."""
    recorder.save(row("judge", n1="ask_user"))
    await recorder.record([1, 1, 1], "Allow always")
    recorder.save(row("judge", n1="ask_user", n2="ask_user"))
    found = await recorder.backtest()
    assert list(found.questions.values()) == [[1, 1]]


async def test_new_questions_are_counted_by_day(recorder: Recorder) -> None:
    """Somebody has to answer them."""
    await recorder.record([1, 2, 2])
    recorder.save(row("judge", n2="ask_user"))
    assert list((await recorder.backtest()).questions.values()) == [[0, 2]]


async def test_two_policies_are_compared_with_each_other(recorder: Recorder) -> None:
    """With a baseline, what happened does not matter."""
    recorder.save(row("judge", n1="deny"))
    await recorder.record(range(4), events=[("provider:request", {"provider": "x"})])
    monitor = ["hooks-progress-monitor"]  # hears of requests, whose messages are not recorded
    recorder.save(row("judge", n2="deny"), modules=monitor)
    baseline = recorder.load()
    recorder.save(row("judge", n2="deny", n3="deny"), modules=monitor)
    found = await recorder.backtest(recorder.load(), baseline)
    assert found.counts == {"newly_denied": 1}
    assert '"n": 3' in found.examples["newly_denied"][0]["about"]


async def test_events_outside_the_window_reach_hooks_and_do_not_count(recorder: Recorder) -> None:
    """State that hooks gather before the window is there when it begins."""
    await recorder.record([1, 1])
    recorder.save(row("judge", n1="deny"))
    found = await recorder.backtest(window=Window(since="2100-01-01"))
    assert (found.events, found.counts) == (0, {})
    assert found.calls["judge"] == 2


async def test_a_value_that_is_not_in_the_trail_is_named_where_a_hook_looks_at_it(
    recorder: Recorder,
) -> None:
    """Trail, record, hook, field and reason: exactly what cannot be told."""
    looks = 'async def look(event, data):\n    return len(data["tool_input"]["text"]) > 9 or None\n'
    (recorder.folder / "looks.py").write_text(
        looks.replace(" > 9 or None", " and None")
        + "\nasync def mount(c, config):\n    c.hooks.register('tool:pre', look, 0, 'looks')\n"
    )
    long = "x" * 1_000_000
    async with recorder.host() as host:
        await host.execute_with_hooks("tool:pre", make_call(1, text=long))
    assert (await recorder.backtest()).counts == {}
    found = await recorder.backtest(recorder.load(hooks=(str(recorder.folder / "looks.py"),)))
    assert found.counts == {"cannot_tell": 1}
    (unclear,) = found.unclear
    assert (unclear.hook, unclear.path) == ("looks", "tool_input.text")
    assert unclear.why == "too long for a record"
    assert unclear.places[0]["event"] == "tool:pre"


async def test_a_resumed_session_mounts_its_hooks_anew(recorder: Recorder) -> None:
    """A process that went on with a session gave its hooks numbers of its own."""
    recorder.save(row("judge", n2="deny"))
    own = [row("own", -1, n1="deny")]
    async with recorder.open(own=own) as session:
        await session.coordinator.execute_with_hooks("tool:pre", make_call(1))
        state = await session.state()
    async with recorder.open(own=own, resume=state) as session:
        for number in (1, 2, 3):
            await session.coordinator.execute_with_hooks("tool:pre", make_call(number))
    found = await recorder.backtest()
    assert found.counts == {}
    recorder.save(row("judge", n3="deny"))
    assert (await recorder.backtest()).counts == {"newly_denied": 1, "no_longer_denied": 1}


def _make_row(answers: dict[str, str]) -> Row:
    return {"name": "judge", "answers": answers}


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_memory_does_not_grow_with_the_trail(recorder: Recorder) -> None:
    """A trail may be larger than the memory."""
    recorder.save(row("judge", n1="ask_user", n2="deny"))
    await recorder.record([0, 1, 2, 3] * 50)
    recorder.save(row("judge", n1="deny", n3="modify"))
    (segment,) = recorder.trails.rglob("*.jsonl")
    events = [line for line in segment.read_bytes().splitlines(True) if b'"dispatch"' in line]
    peaks = []
    for _ in range(2):
        with segment.open("ab") as file:
            for _ in range(12):
                file.writelines(events)
        tracemalloc.start()
        found = await recorder.backtest()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert found.events > 4_000
    assert peaks[1] < 1.2 * peaks[0] + 1_000_000
    assert peaks[1] < 50_000_000
