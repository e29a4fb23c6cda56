"""Trails as values: what a session did can be read back as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.records import SessionEnded
from amplifier_core.testing import ScriptedApproval
from amplifier_hooks.agent.session.origin import digest_hooks
from amplifier_hooks.trails import (
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
    read_header,
    read_history,
    read_items,
)
from tests.support.project import Project, script


async def test_a_header_says_whose_session_it_is(project: Project, tmp_path: Path) -> None:
    """Its folder, its bundle, its level and the hooks that it had at the start."""
    audit = {"enabled": True, "path": str(tmp_path / "trails")}
    bundle = project.bundle(hooks=["hooks-datetime"], audit=audit, providers=script("hello"))
    async with project.session(bundle) as session:
        await session.execute("x")
    (path,) = (tmp_path / "trails").iterdir()
    header = read_header(path)
    assert (header.session, header.path) == (path.name, path)
    assert header.folder == str(project.folder)
    assert header.bundle_file == str(project.folder / "amplifier.yaml")
    assert (header.level, header.values, header.shadow) == ("normal", "inline", False)
    assert header.bundle_digest == bundle.digest
    assert header.hooks_digest == digest_hooks(bundle)
    assert "hooks-datetime" in {one.module for one in header.hooks.values()}
    assert header.started < "9"


HOOKS = """
from amplifier_core.models import HookResult

async def judge(event, data):
    text = data["tool_input"].get("content", "")
    if "rename" in text:
        changed = {**data["tool_input"], "content": "renamed"}
        return HookResult(action="modify", data={**data, "tool_input": changed})
    if "ask" in text:
        return HookResult(action="ask_user", approval_prompt="Sure?", reason="it is large")
    if "fail" in text:
        raise OSError("no policy")
    return HookResult()

async def mount(coordinator, config):
    coordinator.hooks.register("tool:pre", judge, name="judge", priority=7)
"""


def write(content: str) -> dict[str, Any]:
    return {"name": "Write", "input": {"file_path": "a.txt", "content": content}}


@pytest.fixture
async def trail(project: Project, tmp_path: Path) -> Path:
    """The trail of a session in which hooks changed, asked and failed."""
    project.write("judge.py", HOOKS)
    calls = [write("rename me"), write("ask me"), write("fail"), write("plain")]
    bundle = project.bundle(
        hooks=["./judge.py"],
        tools=["tool-filesystem"],
        providers=script({"text": "", "tool_calls": calls}, "done"),
        audit={"enabled": True, "path": str(tmp_path / "trails")},
    )
    person = ScriptedApproval("Allow once")
    async with project.session(bundle, approval_system=person) as session:
        await session.execute("go")
    (path,) = (tmp_path / "trails").iterdir()
    return path


async def test_an_event_is_told_as_hooks_were_given_it_and_as_they_left_it(trail: Path) -> None:
    """The changed field in both forms."""
    pre = [one for one in read_history(trail) if isinstance(one, RecordedEvent)]
    changed = next(one for one in pre if one.event == "tool:pre" and one.action == "continue")
    assert changed.data["tool_input"]["content"] == "rename me"
    assert changed.left["tool_input"]["content"] == "renamed"
    (answer,) = [one for one in changed.answers if one.hook == "judge"]
    assert (answer.action, answer.error) == ("modify", None)
    assert answer.ms is not None


async def test_a_question_is_told_step_by_step(trail: Path) -> None:
    """Asked, and decided by whom."""
    steps = [one for one in read_history(trail) if isinstance(one, RecordedApproval)]
    assert [(one.stage, one.hook, one.allowed) for one in steps] == [
        ("requested", "judge", False),
        ("decided", "judge", True),
    ]
    assert steps[0].prompt == "Sure?"
    assert steps[0].input["content"] == "ask me"
    assert steps[0].digest == steps[1].digest != ""
    assert steps[1].how == "person"


async def test_calls_failures_hooks_and_what_the_model_said_are_told(trail: Path) -> None:
    """Each by its own kind of value."""
    items = list(read_history(trail))
    calls = [one for one in items if isinstance(one, RecordedCall)]
    assert [one.stage for one in calls].count("started") == 4
    assert {one.outcome for one in calls if one.stage == "finished"} == {"returned"}
    failed = [a for one in items if isinstance(one, RecordedEvent) for a in one.answers if a.error]
    assert [(one.hook, one.timed_out) for one in failed] == [("judge", False)]
    (hook,) = [one for one in items if isinstance(one, RecordedHook) and one.name == "judge"]
    assert (hook.priority, hook.kind, hook.module) == (7, "hooks", "judge")
    said = [one for one in items if isinstance(one, RecordedEvent) and "response" in one.data]
    assert [one.event for one in said] == [
        "provider:response",
        "provider:response",
        "prompt:answer",
    ]
    assert said[-1].data["response"] == "done"
    assert any(isinstance(one, Note) and isinstance(one.body, SessionEnded) for one in items)


RECORD = {
    "seq": 1, "time": "t", "session": "s", "turn": 1, "event": "tool:pre", "hook": None,
    "registration": None,
}  # fmt: skip

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
bodies = st.dictionaries(
    st.sampled_from(
        ["action", "hooks", "data", "before", "digest", "input", "ms", "priority", "options"]
    ),
    values | st.lists(st.dictionaries(st.sampled_from(["hook", "id", "action", "ms"]), values)),
)


@given(
    st.sampled_from(["dispatch", "approval_requested", "tool_started", "hook_registered", "other"]),
    bodies,
    values,
)
def test_no_record_breaks_the_reading(type: str, body: dict[str, Any], odd: Any) -> None:
    """A trail may be of another version, or forged: what is unusable is left out."""
    record = {**RECORD, "registration": odd, "hook": odd, "type": type, "body": body}
    (item,) = read_items([record])
    assert json.dumps(body)  # the body is what it was
    assert item is not None


@pytest.mark.parametrize("ms", [-1, 1e308, float("inf"), float("nan"), 10**300, True, "1"])
def test_a_time_that_nothing_takes_is_left_out(ms: Any) -> None:
    """Whoever adds times up does not have to look at each."""
    answer = {"hook": "a", "id": 1, "action": "continue", "ms": ms}
    judged = {"type": "dispatch", "body": {"data": {}, "hooks": [answer]}}
    ended = {"type": "tool_finished", "body": {"ms": ms}}
    event, call = read_items([{**RECORD, **judged}, {**RECORD, **ended}])
    assert isinstance(event, RecordedEvent)
    assert event.answers[0].ms is None
    assert isinstance(call, RecordedCall)
    assert call.ms is None


@pytest.mark.parametrize("levels", [150, 20_000])
@pytest.mark.parametrize("place", ["data", "before"])
def test_an_event_that_is_nested_without_end_says_nothing(levels: int, place: str) -> None:
    """No writer nests so deep, and whoever looks at values does not have to expect it."""
    nested: Any = 1
    for _ in range(levels):
        nested = [nested]
    body = {"data": {"tool_input": 1}, "hooks": [], place: {"tool_input": nested}}
    (item,) = read_items([{**RECORD, "type": "dispatch", "body": body}])
    assert isinstance(item, Note)


def test_an_event_without_a_name_says_nothing() -> None:
    """No hook could be told of it."""
    record = {**RECORD, "event": " ", "type": "dispatch", "body": {"data": {}, "hooks": []}}
    (item,) = read_items([record])
    assert isinstance(item, Note)
