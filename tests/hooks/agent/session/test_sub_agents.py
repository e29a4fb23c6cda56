"""The plan of a sub-agent, from its parent's plan and its own entry."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from amplifier_core.errors import SessionError
from amplifier_core.models import HookResult
from amplifier_core.mount_plan import MountPlan
from amplifier_core.testing import EventRecorder, ScriptedApproval
from amplifier_hooks.agent.session.sub_agents import (
    Spawner,
    apply_session_options,
    build_child_plan,
    list_allowed_tools,
    list_own_tool_modules,
)
from tests.hooks.agent.session.hook_files import GUARD
from tests.support.hooks import injects, modifies, says
from tests.support.project import Project, script
from tests.support.sessions import calls

PARENT: dict[str, Any] = {
    "session": {
        "orchestrator": {
            "module": "loop-basic",
            "config": {"system": "Parent.", "max_turns": 9, "provider": "big", "retry_delay": 1},
        },
        "context": "context-simple",
        "instructions": "Parent.",
        "debug": True,
    },
    "providers": ["provider-big"],
    "tools": ["tool-filesystem", "tool-bash"],
    "hooks": ["hooks-command-guard"],
    "agents": {"helper": {}},
    "approval": {"mode": "deny"},
    "audit": {"enabled": True},
}
SEARCH = {"module": "tool-search", "config": {}}


def made(**agent: Any) -> dict[str, Any]:
    return build_child_plan(PARENT, {"description": "Helps.", **agent})


def test_a_child_has_what_its_parent_has_except_the_hooks() -> None:
    """The parent's hooks mediate it through the registry; mounted again they would run twice."""
    plan = made()
    for key in ("providers", "tools", "agents", "approval", "audit"):
        assert plan[key] == PARENT[key]
    assert plan["hooks"] == []
    assert plan["session"]["debug"] is True
    MountPlan.parse(plan)


def test_its_own_hooks_and_providers_are_its_own() -> None:
    """They stand in place of the parent's."""
    plan = made(hooks=["hooks-datetime"], providers=["provider-small"])
    assert plan["hooks"] == ["hooks-datetime"]
    assert plan["providers"] == ["provider-small"]


def test_nothing_of_the_parents_plan_is_shared() -> None:
    """What the child's modules do to their plan, the parent never sees."""
    made()["providers"].append("x")
    made()["session"]["orchestrator"]["config"]["retry_delay"] = 7
    assert PARENT["providers"] == ["provider-big"]
    assert PARENT["session"]["orchestrator"]["config"]["retry_delay"] == 1


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        ({}, {"max_turns": 9, "provider": "big", "retry_delay": 1}),
        ({"session": {"max_turns": 2}}, {"provider": "big", "retry_delay": 1}),
        ({"providers": ["p"]}, {"max_turns": 9, "retry_delay": 1}),
        ({"session": {"orchestrator": {"module": "loop-streaming"}}}, None),
    ],
)
def test_options_of_the_parents_loop_give_way_to_the_agents_settings(
    agent: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    """The system prompt always, the others where the agent says something else."""
    loop = made(**agent)["session"]["orchestrator"]
    if expected is None:
        assert loop == {"module": "loop-streaming"}
    else:
        assert loop == {"module": "loop-basic", "config": expected}


@pytest.mark.parametrize("loop", ["loop-basic", {"module": "loop-basic"}])
def test_a_loop_may_be_written_short(loop: Any) -> None:
    """A bare id works like an entry."""
    parent = {**PARENT, "session": {"orchestrator": loop, "context": "context-simple"}}
    plan = apply_session_options(
        build_child_plan(parent, {"description": "Helps.", "instructions": "Go."})
    )
    assert plan["session"]["orchestrator"] == {"module": "loop-basic", "config": {"system": "Go."}}


def test_instructions_replace_those_of_the_parent() -> None:
    """An agent without any is told what it is for."""
    assert made(instructions="Be strict.")["session"]["instructions"] == "Be strict."
    assert made()["session"]["instructions"] == "You are a sub-agent. What you are for: Helps."


@pytest.mark.parametrize(
    ("listed", "modules", "allowed", "own"),
    [
        (None, PARENT["tools"], None, []),
        (["Read"], PARENT["tools"], frozenset({"Read"}), []),
        ([SEARCH], [SEARCH], None, ["tool-search"]),
        (["Read", SEARCH], [*PARENT["tools"], SEARCH], frozenset({"Read"}), ["tool-search"]),
        ([], [], None, []),
    ],
)
def test_named_tools_come_from_the_parents_modules(
    listed: list[Any] | None, modules: list[Any], allowed: frozenset[str] | None, own: list[str]
) -> None:
    """Names choose among the parent's tools; modules are the agent's own; an empty list is none."""
    agent = {"description": "Helps."} | ({} if listed is None else {"tools": listed})
    assert build_child_plan(PARENT, agent)["tools"] == modules
    assert list_allowed_tools(agent) == allowed
    assert [entry.module for entry in list_own_tool_modules(agent)] == own


@pytest.mark.parametrize(
    ("session", "expected"),
    [
        ({"orchestrator": "o"}, "o"),
        ({"orchestrator": "o", "max_turns": 3}, {"module": "o", "config": {"max_turns": 3}}),
        (
            {"orchestrator": "o", "max_turns": 3, "instructions": "Hi."},
            {"module": "o", "config": {"max_turns": 3, "system": "Hi."}},
        ),
        (
            {"orchestrator": {"module": "o", "config": {"max_turns": 1}}, "max_turns": 3},
            {"module": "o", "config": {"max_turns": 1}},
        ),
        (
            {"orchestrator": {"module": "o", "source": "./o.py", "config": None}, "max_turns": 3},
            {"module": "o", "source": "./o.py", "config": {"max_turns": 3}},
        ),
    ],
)
def test_settings_of_the_session_are_options_of_the_loop(
    session: dict[str, Any], expected: Any
) -> None:
    """Unless the loop's own options say something else; the plan that was given is not changed."""
    plan = {"session": session, "tools": []}
    before = repr(plan)
    assert apply_session_options(plan)["session"]["orchestrator"] == expected
    assert repr(plan) == before


def family(project: Project, *parent: Any, child: Any = None, **session: Any) -> dict[str, Any]:
    """A parent, and a helper that reads a file unless it is told otherwise."""
    project.write("notes.txt", "nothing special")
    read = calls("Read", file_path=str(project.folder / "notes.txt"))
    helper = {"description": "Helps.", "providers": script(*(child or (read, "Read it.")))}
    return {
        "session": {**project.plan["session"], **session},
        "tools": ["tool-filesystem", "tool-delegate"],
        "providers": script(*parent),
        "agents": {"helper": helper},
    }


def delegate(*tasks: str) -> dict[str, Any]:
    """A reply that gives all these tasks to helpers at once."""
    made = [{"name": "Delegate", "input": {"agent_name": "helper", "task": t}} for t in tasks]
    return {"tool_calls": made}


def read(project: Project) -> dict[str, Any]:
    return calls("Read", file_path=str(project.folder / "notes.txt"))


async def test_a_sub_agent_does_its_task_and_reports(project: Project) -> None:
    """The agent reads the child's last word as the result of its call."""
    async with project.session(
        project.bundle(**family(project, delegate("read notes.txt"), "Done."))
    ) as session:
        assert await session.execute("go") == "Done."
        results = [m for m in session.context.get_messages() if m["role"] == "tool"]
    assert results[0]["content"] == "Read it."


async def test_the_parents_hooks_mediate_the_child_too(project: Project) -> None:
    """Every event of the child passes the parent's hooks, and says whose child it is."""
    heard = EventRecorder()
    async with project.session(
        project.bundle(**family(project, delegate("read notes.txt"), "Done."))
    ) as session:
        session.coordinator.hooks.register("*", heard)
        await session.execute("go")
        parent = session.session_id
    seen = heard.events
    events = [event for event, _ in seen]
    start = events.index("decision:agent_resolution")
    wanted = ["decision:agent_resolution", "agent:spawn", "session:start", "session:fork"]
    assert [event for event in events[start:] if event in wanted][:4] == wanted
    [read] = [data for event, data in seen if event == "tool:pre" and data["tool_name"] == "Read"]
    assert read["parent_id"] == parent
    assert read["session_id"] != parent
    [complete] = [data for event, data in seen if event == "agent:complete"]
    assert (complete["status"], complete["agent_name"]) == ("success", "helper")
    assert complete["parent_session_id"] == parent


async def test_the_events_of_a_delegation_have_exactly_their_fields(project: Project) -> None:
    """Who delegated what to whom, as which session, and what came of it."""
    heard = EventRecorder()
    plan = family(project, delegate("read it"), "Done.")
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("agent:*", heard)
        session.coordinator.hooks.register("session:fork", heard)
        await session.execute("go")
    (_, spawn), (_, fork), (_, complete) = heard.events
    assert heard.names == ["agent:spawn", "session:fork", "agent:complete"]
    assert spawn.keys() == {
        "session_id", "parent_id", "parent_session_id", "agent_name", "task", "config_override",
        "timestamp",
    }  # fmt: skip
    assert fork.keys() == {"session_id", "parent_id", "child_id", "agent_name", "timestamp"}
    assert complete.keys() == {
        "session_id", "parent_id", "parent_session_id", "agent_name", "task", "result",
        "duration_ms", "status", "timestamp",
    }  # fmt: skip
    assert spawn["config_override"]["description"] == "Helps."
    assert complete["result"]["output"] == "Read it."
    child = fork["child_id"]
    assert child == fork["session_id"] == spawn["session_id"] == complete["session_id"]
    assert complete["result"]["session_id"] == child
    parents = {fork["parent_id"], spawn["parent_session_id"], complete["parent_session_id"]}
    assert parents == {session.session_id} != {child}


async def test_a_guard_of_the_parent_stops_the_child(project: Project) -> None:
    """What the parent's guard denies, the child may not do either."""
    project.write("guard.py", GUARD)
    plan = {**family(project, delegate("read notes.txt"), "Done."), "hooks": ["./guard.py"]}
    forbidden = calls("Read", file_path=str(project.folder / "forbidden.txt"))
    plan["agents"]["helper"]["providers"] = script(forbidden, {"expect": "forbidden words"})
    async with project.session(project.bundle(**plan)) as session:
        await session.execute("go")
        assert session.status == "idle"


async def test_a_hook_that_the_parent_gets_later_mediates_a_running_child(project: Project) -> None:
    """The child asks the parent's registry anew for each event."""
    plan = family(project, delegate("read"), "Done.")
    deny = EventRecorder(HookResult(action="deny", reason="closed"))
    async with project.session(project.bundle(**plan)) as session:

        async def close(event: str, data: dict[str, Any]) -> None:
            if data["session_id"] != session.session_id:
                session.coordinator.hooks.register("tool:pre", deny, name="late")

        session.coordinator.hooks.register("provider:response", close)
        await session.execute("go")
    assert [data["tool_name"] for _, data in deny.events] == ["Read"]


async def test_always_is_not_inherited_by_the_child(project: Project) -> None:
    """What the person allowed the parent for good, the child has to ask for again."""
    person = ScriptedApproval("Allow always")

    async def gate(event: str, data: dict[str, Any]) -> HookResult:
        if data["tool_name"] != "Read":
            return HookResult()
        return HookResult(
            action="ask_user", approval_prompt="read?", approval_options=["Allow always", "Deny"]
        )

    plan = family(project, read(project), read(project), delegate("read"), "Done.")
    async with project.session(project.bundle(**plan), approval_system=person) as session:
        session.coordinator.hooks.register("tool:pre", gate, name="gate")
        assert await session.execute("go") == "Done."
    # Once for the two reads of the parent, once for the child's.
    assert person.prompts == ["read?", "read?"]


async def test_the_child_has_an_injection_budget_of_its_own(project: Project) -> None:
    """What the parent's hooks have used up does not count against the child."""
    plan = family(project, delegate("read"), "Done.", injection_budget_per_turn=10)
    inject = HookResult(action="inject_context", context_injection="x" * 32)
    heard = EventRecorder()
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("prompt:submit", EventRecorder(inject), name="talker")
        session.coordinator.hooks.register("provider:request", heard)
        await session.execute("go")
        assert session.coordinator.injection_budget == 8
    children = [d for _, d in heard.events if d["session_id"] != session.session_id]
    assert children
    assert all("x" * 32 in str(data["messages"]) for data in children)
    assert not [text for text, _, _ in project.screen.messages if "over the turn's budget" in text]


async def test_what_the_parent_knows_is_handed_over_with_the_task(project: Project) -> None:
    """The context that comes with a task is part of the child's first prompt."""
    plan = family(project, child=({"expect": "the port is 8080", "text": "ok"},))
    async with project.session(project.bundle(**plan)) as session:
        spawn = session.coordinator.get_capability("session.spawn")
        report = await spawn("helper", "look", "the port is 8080")
    assert (report["output"], report["status"]) == ("ok", "success")


async def test_a_hook_may_change_the_task(project: Project) -> None:
    """agent:spawn with modify: the child gets what the hook left of the task."""
    plan = family(project, child=({"expect": "gently", "text": "ok"},))

    def soften(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "task": data["task"] + " gently"})

    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("agent:spawn", soften)
        report = await session.coordinator.get_capability("session.spawn")("helper", "look")
    assert report["output"] == "ok"


async def test_a_hook_may_send_another_agent(project: Project) -> None:
    """agent:spawn with modify: another name brings that agent's own settings."""
    plan = family(project, child=("not me",))
    plan["agents"]["expert"] = {"description": "Knows.", "providers": script("I know")}

    def promote(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "agent_name": "expert"})

    heard = EventRecorder()
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("agent:spawn", promote)
        session.coordinator.hooks.register("agent:complete", heard)
        session.coordinator.hooks.register("session:fork", heard)
        report = await session.coordinator.get_capability("session.spawn")("helper", "look")
    assert report["output"] == "I know"
    assert [data["agent_name"] for _, data in heard.events] == ["expert", "expert"]


@pytest.mark.parametrize(
    "hook",
    [modifies(agent_name="expert"), says(data={"recommended_agent": "expert"})],
    ids=["modify", "recommendation"],
)
async def test_hooks_decide_which_agent_gets_the_task(project: Project, hook: Any) -> None:
    """decision:agent_resolution is "fired to resolve agent selection"."""
    plan = family(project, child=("not me",))
    plan["agents"]["expert"] = {"description": "Knows.", "providers": script("I know")}
    heard = EventRecorder()
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("decision:agent_resolution", hook)
        session.coordinator.hooks.register("decision:agent_resolution", heard, priority=-1)
        session.coordinator.hooks.register("agent:spawn", heard)
        report = await session.coordinator.get_capability("session.spawn")("helper", "look")
    (_, decision), (_, spawn) = heard.events
    assert decision["available_agents"] == ["expert", "helper"]
    assert (report["output"], spawn["agent_name"]) == ("I know", "expert")
    assert spawn["config_override"]["description"] == "Knows."


async def test_hooks_can_veto_a_delegation(project: Project) -> None:
    """A deny of decision:agent_resolution starts nothing."""
    plan = family(project, child=("ok",))
    heard = EventRecorder()
    async with project.session(project.bundle(**plan)) as session:
        veto = says("deny", reason="do it yourself")
        session.coordinator.hooks.register("decision:agent_resolution", veto, name="boss")
        session.coordinator.hooks.register("agent:*", heard)
        result = await session.execute_tool("Delegate", {"agent_name": "helper", "task": "t"})
    assert "Operation denied by boss: do it yourself" in str(result.error)
    assert heard.events == []


@pytest.mark.parametrize("ephemeral", [False, True])
async def test_what_a_hook_injects_at_the_start_reaches_the_sub_agent(
    project: Project, ephemeral: bool
) -> None:
    """agent:spawn: "Inject context to sub-agents"; the parent's conversation is left alone."""
    plan = family(project, child=({"expect": "the port is 8080", "text": "ok"},))
    async with project.session(project.bundle(**plan)) as session:
        tell = injects("the port is 8080", ephemeral=ephemeral)
        session.coordinator.hooks.register("agent:spawn", tell, name="guide")
        report = await session.coordinator.get_capability("session.spawn")("helper", "look")
        assert (report["output"], report["status"]) == ("ok", "success")
        assert "8080" not in str(session.context.get_messages())
        assert await session.injections() == []


async def test_a_hook_may_change_what_the_agent_is_made_of(project: Project) -> None:
    """agent:spawn with modify: config_override is what the child is built from."""
    plan = family(project, child=("never",))

    def rebuild(event: str, data: dict[str, Any]) -> HookResult:
        agent = {
            **data["config_override"],
            "tools": ["Read"],
            "providers": script(
                calls("Write", file_path="x", content="y"), {"expect": "Unknown tool", "text": "ok"}
            ),
        }
        return HookResult(action="modify", data={**data, "config_override": agent})

    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("agent:spawn", rebuild)
        report = await session.coordinator.get_capability("session.spawn")("helper", "look")
    assert report["output"] == "ok"
    assert not (project.folder / "x").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"task": ""}, "left the sub-agent no task: ''"),
        ({"task": None}, "left the sub-agent no task: None"),
        ({"config_override": "fast"}, "left config_override as 'fast'; it must be a mapping"),
        ({"agent_name": "expret"}, "Unknown agent 'expret'"),
    ],
)
async def test_what_a_hook_leaves_unusable_starts_nothing(
    project: Project, change: dict[str, Any], message: str
) -> None:
    """The refusal says what the hook left and what would do, and the place stays free."""
    wishes = [change, {}]

    def spoil(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, **wishes.pop(0)})

    plan = family(project, child=("ok",), limits={"agent_count": 1})
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("agent:spawn", spoil)
        spawn = session.coordinator.get_capability("session.spawn")
        with pytest.raises(SessionError, match=re.escape(message)):
            await spawn("helper", "look")
        assert (await spawn("helper", "look"))["output"] == "ok"


@pytest.mark.parametrize(
    ("child", "settings", "expected"),
    [
        (("fine",), {}, "complete"),
        (({"error": "authentication"},), {}, "error"),
        (({"text": "late", "delay": 30},), {"turn_timeout": 0.05}, "timeout"),
    ],
)
async def test_the_end_of_a_child_says_how_it_came(
    project: Project, child: Any, settings: dict[str, Any], expected: str
) -> None:
    """session:end: reason is "complete", "user_exit", "error" or "timeout"."""
    plan = family(project, delegate("try"), "Done.", child=child)
    plan["agents"]["helper"]["session"] = settings
    heard = EventRecorder()
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("session:end", heard)
        await session.execute("go")
        ((_, ended),) = heard.events
    assert ended["reason"] == expected
    assert ended["parent_id"] == session.session_id


async def test_a_child_has_only_the_tools_that_it_is_given(project: Project) -> None:
    """A list of names takes the parent's other tools away."""
    plan = family(project, delegate("read notes.txt"), "Done.")
    plan["agents"]["helper"]["tools"] = ["Read"]
    plan["agents"]["helper"]["providers"] = script(
        calls("Write", file_path="x", content="y"), {"expect": "have Read", "text": "ok"}
    )
    async with project.session(project.bundle(**plan)) as session:
        assert await session.execute("go") == "Done."
        results = [m for m in session.context.get_messages() if m["role"] == "tool"]
    assert results[0]["content"] == "ok"


async def test_a_child_may_bring_modules_beside_named_tools(project: Project) -> None:
    """Names choose from the parent's tools; modules in the same list are its own."""
    plan = family(project, delegate("read notes.txt"), "Done.")
    plan["agents"]["helper"]["tools"] = ["Read", "tool-search"]
    plan["agents"]["helper"]["providers"] = script(
        calls("Write", file_path="x", content="y"), {"expect": "have Glob, Grep, Read"}
    )
    async with project.session(project.bundle(**plan)) as session:
        await session.execute("go")
        results = [m for m in session.context.get_messages() if m["role"] == "tool"]
    assert "could not run" not in results[0]["content"]


async def test_a_tool_that_nobody_has_is_named_with_those_there_are(project: Project) -> None:
    """A misspelt tool in the list of an agent does not silently leave it without."""
    plan = family(project)
    plan["agents"]["helper"]["tools"] = ["Raed"]
    async with project.session(project.bundle(**plan)) as session:
        with pytest.raises(SessionError, match="'helper' wants the tools Raed; have Delegate, "):
            await session.coordinator.get_capability("session.spawn")("helper", "look")


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"agent_depth": 0}, "Sub-agents may be 0 deep (session.limits.agent_depth)"),
        ({"agent_count": 0}, "0 sub-agents were started already (session.limits.agent_count)"),
    ],
)
async def test_depth_and_count_are_limited(
    project: Project, limits: dict[str, int], message: str
) -> None:
    """The refusal names the limit and the setting behind it."""
    plan = family(project, limits=limits)
    async with project.session(project.bundle(**plan)) as session:
        result = await session.execute_tool("Delegate", {"agent_name": "helper", "task": "t"})
    assert message in str(result.error)


async def test_agents_that_delegate_to_themselves_come_to_an_end(project: Project) -> None:
    """Depth is counted over generations, the number over the whole family."""
    again = calls("Delegate", agent_name="loop", task="again")
    plan = {
        "tools": ["tool-delegate"],
        "providers": script(again, "top"),
        "agents": {"loop": {"description": "Delegates.", "providers": script(again, "end")}},
    }
    heard = EventRecorder()
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("*", heard)
        assert await session.execute("go") == "top"
    events = heard.names
    assert events.count("session:fork") == 2
    assert events.count("agent:complete") == 2


async def test_children_that_start_at_once_do_not_pass_the_limit_together(project: Project) -> None:
    """Calls in parallel share one count."""
    plan = family(project, delegate("a", "b", "c", "d"), "Done.", limits={"agent_count": 2})
    async with project.session(project.bundle(**plan)) as session:
        assert await session.execute("go") == "Done."
        results = [m["content"] for m in session.context.get_messages() if m["role"] == "tool"]
    refused = [one for one in results if "2 sub-agents were started already" in one]
    assert len(refused) == 2
    assert results.count("Read it.") == 2


async def test_a_refused_child_does_not_count(project: Project) -> None:
    """A spawn that a hook denied leaves the place free."""
    answers = [HookResult(action="deny", reason="not yet"), HookResult()]

    async def doorman(event: str, data: dict[str, Any]) -> HookResult:
        return answers.pop(0)

    plan = family(project, delegate("a"), delegate("b"), "Done.", limits={"agent_count": 1})
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("agent:spawn", doorman, name="doorman")
        await session.execute("go")
        results = [m["content"] for m in session.context.get_messages() if m["role"] == "tool"]
    assert "Operation denied by doorman: not yet" in results[0]
    assert results[1] == "Read it."


async def test_unknown_agents_are_named_with_the_known_ones(project: Project) -> None:
    """A misspelt name can be corrected from the message alone."""
    async with project.session(
        project.bundle(**family(project, delegate("read notes.txt"), "Done."))
    ) as session:
        result = await session.execute_tool("Delegate", {"agent_name": "helpr", "task": "t"})
    assert result.error == "Unknown agent 'helpr'; have helper"


async def test_a_denied_spawn_starts_nothing(project: Project) -> None:
    """A hook that denies the spawn stops it, and its reason is the tool's error."""
    async with project.session(
        project.bundle(**family(project, delegate("read notes.txt"), "Done."))
    ) as session:

        async def refuse(event: str, data: dict[str, Any]) -> HookResult:
            return HookResult(action="deny", reason="no helpers today")

        session.coordinator.hooks.register("agent:spawn", refuse, name="lonely")
        result = await session.execute_tool("Delegate", {"agent_name": "helper", "task": "t"})
    assert "no helpers today" in str(result.error)


async def test_a_child_that_fails_is_reported_and_cleaned_up(project: Project) -> None:
    """Its completion has the status error, its session ends, and the parent goes on."""
    plan = family(project, delegate("read notes.txt"), "Done.")
    plan["agents"]["helper"]["providers"] = script({"error": "authentication"})
    heard = EventRecorder()
    async with project.session(project.bundle(**plan)) as session:
        session.coordinator.hooks.register("*", heard)
        assert await session.execute("go") == "Done."
    seen = heard.events
    [complete] = [data for event, data in seen if event == "agent:complete"]
    assert complete["status"] == "error"
    ended = [data["session_id"] for event, data in seen if event == "session:end"]
    assert len(ended) == 2


async def test_what_a_child_spends_its_parent_spends(project: Project) -> None:
    """The parent's tokens include those of its sub-agents."""
    plan = family(project, delegate("read notes.txt"), "Done.")
    usage = {"input_tokens": 100, "output_tokens": 11}
    plan["agents"]["helper"]["providers"] = script({"text": "x", "usage": usage})
    async with project.session(project.bundle(**plan)) as session:
        await session.execute("go")
        assert session.stats["total_tokens"] >= 111


async def test_cancelling_the_parent_ends_the_child(project: Project) -> None:
    """The child's turn ends with its parent's, and leaves no task."""
    plan = family(project, delegate("wait"), "Done.", child=({"text": "late", "delay": 30},))
    started = asyncio.Event()
    before = asyncio.all_tasks()
    async with project.session(project.bundle(**plan)) as session:

        def note(event: str, data: dict[str, Any]) -> None:
            if data["session_id"] != session.session_id:
                started.set()

        session.coordinator.hooks.register("provider:request", note)
        running = asyncio.create_task(session.execute("go"))
        await asyncio.wait_for(started.wait(), 5)
        await session.coordinator.request_cancel(immediate=True)
        await asyncio.wait_for(running, 5)
        assert session.status == "interrupted"
    assert asyncio.all_tasks() == before


async def test_sub_agents_need_a_session() -> None:
    """A spawner that belongs to no session yet says so."""

    async def never(*given: Any) -> Any:
        raise AssertionError

    with pytest.raises(SessionError, match="has not started yet"):
        await Spawner(never).spawn("helper", "look")


async def test_sub_agents_share_the_number_of_calls_at_once(project: Project) -> None:
    """Delegating makes no room for more calls, and takes none away from those it leads to."""
    running = most = 0

    async def begin(event: str, data: dict[str, Any]) -> None:
        nonlocal running, most
        if data["tool_name"] == "Read":
            running += event == "tool:pre"
            most = max(most, running)
            running -= event == "tool:post"

    reads = {"tool_calls": [read(project)["tool_calls"][0] for _ in range(5)]}
    limits = {"tool_calls_at_once": 2}
    plan = family(
        project, delegate("a", "b", "c", "d"), "Done.", child=(reads, "Read."), limits=limits
    )
    async with project.session(project.bundle(**plan)) as session, asyncio.timeout(30):
        session.coordinator.hooks.register("tool:*", begin)
        assert await session.execute("go") == "Done."
        results = [
            one["content"] for one in session.context.get_messages() if one["role"] == "tool"
        ]
    assert results == ["Read."] * 4
    assert most == 2
