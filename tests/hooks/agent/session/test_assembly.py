"""A bundle in, a running session out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError, SessionDenied, SessionStateError
from amplifier_core.models import HookResult
from amplifier_core.module_sources import ModuleNotFoundError
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import EventRecorder, MemoryAudit, RecordingDisplay, ScriptedApproval
from amplifier_hooks import load_bundle, open_session
from amplifier_hooks.agent.session.assembled import MOST_CONTINUATIONS, AssembledSession
from amplifier_hooks.agent.session.assembly import SessionBuilder
from amplifier_hooks.agent.session.sub_agents import Spawner, build_child_plan
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.approvals import EditsApproval, RulesApproval
from amplifier_hooks.guards.policy.protected_places import get_places
from amplifier_hooks.modules.installation import name_install_command
from tests.hooks.agent.session.hook_files import ASKING, GUARD
from tests.hooks.approvals.questions import ask
from tests.support.hooks import says
from tests.support.people import PlainPerson
from tests.support.project import SECRET, Project, messages_of, script
from tests.support.sessions import calls, plan_for

STOP = """#!/usr/bin/env bash
cat > stdin.json
test -f tested || { touch tested; echo "run the tests first" >&2; exit 2; }
"""


async def test_a_stop_hook_keeps_the_agent_working(project: Project) -> None:
    """A hook that refuses the stop gives the reason as the next prompt."""
    project.write("stop.sh", STOP)
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "bash stop.sh"}]}]}
    replies = script("I am done.", {"expect": "run the tests first", "text": "Tests pass."})
    hook = {"module": "hooks-shell", "config": {"hooks": hooks}}
    async with project.session(project.bundle(hooks=[hook], providers=replies)) as session:
        assert await session.execute("fix it") == "Tests pass."
    assert json.loads((project.folder / "stdin.json").read_text())["stop_hook_active"] is True


async def test_stop_hooks_cannot_keep_it_working_for_ever(project: Project) -> None:
    """After eight refusals in a row the agent may stop."""
    stubborn = [{"hooks": [{"command": "echo again >&2; exit 2"}]}]
    hook = {"module": "hooks-shell", "config": {"hooks": {"Stop": stubborn}}}
    replies = script("done", when_done="repeat")
    async with project.session(project.bundle(hooks=[hook], providers=replies)) as session:
        await session.execute("fix it")
        prompts = [m["content"] for m in session.context.get_messages() if m["role"] == "user"]
    assert prompts == ["fix it", *["again"] * 8]


@pytest.mark.parametrize("loop", ["loop-basic", "loop-streaming"])
async def test_a_hook_that_denies_the_end_has_the_agent_go_on(loop: str) -> None:
    """Its reason is the next prompt, at most eight times; then it is said that the agent stops."""
    screen = RecordingDisplay()
    replies = [{"text": "done"}] * (MOST_CONTINUATIONS + 1)
    session = AssembledSession(plan_for(replies, loop=loop), display_system=screen)
    coordinator = session.coordinator
    coordinator.register_capability("session.keep_working", session.keep_working)
    coordinator.hooks.register(
        "orchestrator:complete", says("deny", reason="the tests fail"), name="strict"
    )
    async with session:
        await session.execute("go")
        assert messages_of(session, "user") == ["go", *["the tests fail"] * MOST_CONTINUATIONS]
        assert coordinator.hooks.count()["strict"].ignored == {"deny": 1}
    (shown,) = [text for text, _, source in screen.messages if source == "hook:strict"]
    assert shown.endswith("hooks kept the agent working 8 times in a row; it stops now")


async def test_a_sub_agent_of_ours_is_not_the_agent() -> None:
    """What is denied at its end does not keep the agent itself working."""
    session = AssembledSession(plan_for([{"text": "one"}]))
    assert session.keep_working("go on", "agent:complete") is not None


async def test_several_reasons_to_go_on_are_one_prompt() -> None:
    """Whatever hooks want done before the end is done together, in the order they said it."""
    session = AssembledSession(plan_for([{"text": "one"}, {"text": "two"}]))

    def want_more(event: str, data: dict[str, Any]) -> None:
        if data["prompt"] == "go":
            session.keep_working("run the tests")
            session.keep_working("update the docs")

    session.coordinator.hooks.register("prompt:complete", want_more)
    async with session:
        assert await session.execute("go") == "two"
        assert messages_of(session, "user") == ["go", "run the tests\n\nupdate the docs"]


async def test_a_wish_from_outside_a_turn_does_not_start_one() -> None:
    """A reason that was given before the prompt belongs to no turn."""
    session = AssembledSession(plan_for([{"text": "one"}], loop="loop-streaming"))
    async with session:
        session.keep_working("too early")
        await session.execute("go")
        assert messages_of(session, "user") == ["go"]


async def test_an_interrupted_turn_is_not_continued() -> None:
    """Whoever stops the agent has the last word, not a hook."""
    session = AssembledSession(plan_for([{"text": "one"}, {"text": "two"}]))

    async def stop(event: str, data: dict[str, Any]) -> None:
        session.keep_working("go on")
        await session.coordinator.request_cancel()

    session.coordinator.hooks.register("provider:response", stop)
    async with session:
        await session.execute("go")
        assert session.status == "interrupted"
        assert messages_of(session, "user") == ["go"]


async def test_what_was_opened_for_it_is_closed_after_its_end_and_once() -> None:
    """The trail is closed last, so that the end itself is on record."""
    order: list[str] = []

    async def close() -> None:
        order.append("closed")

    session = AssembledSession(plan_for([]), owned=[close])
    session.coordinator.hooks.register("session:end", lambda event, data: order.append("end"))
    async with session:
        assert order == []
    await session.cleanup()
    assert order == ["end", "closed"]


async def test_failures_are_the_modules_that_were_left_out() -> None:
    """Each with its reason; those that work are not among them."""
    session = AssembledSession(
        plan_for([], tool_modules=["tool-nonsense"], hooks=["hooks-datetime"])
    )
    async with session:
        [failure] = session.failures
    assert failure.startswith("Unknown module 'tool-nonsense'; have context-simple, ")


@pytest.mark.parametrize("required", [True, None])
async def test_a_hook_that_may_be_a_guard_is_not_left_out(required: bool | None) -> None:
    """Nobody knows what it would have done, unless its entry says that it may be missing."""
    entry = {"module": "hooks-nonsense", "required": required}
    with pytest.raises(ModuleLoadError, match="hooks-nonsense"):
        await AssembledSession(plan_for([], hooks=[entry])).initialize()


async def test_a_guard_that_a_hook_adds_to_the_plan_must_load_too() -> None:
    """At session:start the plan may be changed; what is added there has the same rule."""
    session = AssembledSession(plan_for([]))

    async def add(event: str, data: dict[str, Any]) -> HookResult:
        plan = {**data["mount_plan"], "hooks": ["hooks-nonsense"]}
        return HookResult(action="modify", data={**data, "mount_plan": plan})

    session.coordinator.hooks.register("session:start", add)
    with pytest.raises(ModuleLoadError, match="hooks-nonsense"):
        await session.start()


async def test_the_state_leaves_the_session_scrubbed() -> None:
    """What is saved has passed the scrubbers; the conversation itself goes on unchanged."""
    session = AssembledSession(plan_for([{"text": "done"}]))
    async with session:
        session.coordinator.register_scrubber(lambda text: text.replace("hunter2", "***"))
        await session.execute("it is hunter2")
        session.coordinator.session_state["note"] = {"deep": ["hunter2"]}
        state = await session.state()
    assert "hunter2" not in json.dumps(state)
    assert state["session_state"] == {"note": {"deep": ["***"]}}
    assert state["messages"][0]["content"] == "it is ***"


async def test_an_error_leaves_the_session_scrubbed() -> None:
    """Its own text and that of its causes: applications print them."""

    class Broken:
        name = "broken"

        async def complete(self, request: Any, **more: Any) -> Any:
            try:
                int("hunter2")
            except ValueError as cause:
                raise RuntimeError("the key hunter2 is wrong", 7) from cause

    session = AssembledSession(plan_for([]))
    async with session:
        session.coordinator.register_scrubber(lambda text: text.replace("hunter2", "***"))
        await session.coordinator.unmount("providers", "scripted")
        await session.coordinator.mount("providers", Broken())
        with pytest.raises(RuntimeError) as raised:
            await session.execute("go")
    assert raised.value.args == ("the key *** is wrong", 7)
    assert "hunter2" not in str(raised.value.__cause__)


async def test_a_conversation_can_be_compacted_on_request(project: Project) -> None:
    """context:pre_compact with trigger "manual"; a hook may still deny it."""
    project.plan["session"]["context"] = {"module": "context-simple", "config": {"keep_last": 1}}
    heard = EventRecorder()
    async with project.session(
        project.bundle(providers=script("one", "two", "three", "four"))
    ) as session:
        session.coordinator.hooks.register("context:pre_compact", heard)
        assert await session.compact() is False
        for prompt in ("first", "second", "third"):
            await session.execute(prompt)
        assert await session.compact() is True
        session.coordinator.hooks.register("context:pre_compact", says("deny"))
        assert await session.compact() is False
        assert await session.execute("and on") == "four"
    assert {data["trigger"] for _, data in heard.events} == {"manual"}


async def test_no_turn_compacts_its_own_conversation(project: Project) -> None:
    """A hook that asks for it inside a turn gets an error, not a deadlock."""
    async with project.session(project.bundle(providers=script("one"))) as session:
        refused: list[str] = []

        async def try_it(event: str, data: dict[str, Any]) -> None:
            try:
                await session.compact()
            except SessionStateError as error:
                refused.append(str(error))

        session.coordinator.hooks.register("provider:request", try_it)
        await session.execute("go")
    assert refused == ["A turn is under way; the context makes room by itself"]


HELPER = {"description": "Helps.", "hooks": [{"module": "hooks-nonsense", "required": False}]}


class Family:
    """A builder, and the people that it was given."""

    def __init__(self, project: Project, **sections: Any) -> None:
        self.person, self.screen, self.trail = (
            ScriptedApproval("Allow"),
            RecordingDisplay(),
            MemoryAudit(),
        )
        self.bundle = project.bundle(**sections)
        self.builder = SessionBuilder(
            self.bundle, project.folder, self.person, self.screen, self.trail
        )

    def build_root(self, **more: Any) -> AssembledSession:
        return self.builder.build_root(self.bundle.mount_plan, "root", **more)

    async def open_child(self, parent: AssembledSession, agent: dict[str, Any] = HELPER) -> Any:
        plan = build_child_plan(parent.coordinator.config, agent)
        return await self.builder.open_child(
            parent, "child", plan, Spawner(self.builder.open_child)
        )


async def test_a_root_is_built_and_not_started(project: Project) -> None:
    """Whoever builds it may still prepare it; nothing has been mounted or recorded."""
    family = Family(project)
    root = family.build_root()
    assert (root.session_id, root.initialized, family.trail.records) == ("root", False, [])
    for name in ("working_dir", "rename", "model_call", "keep_working", "spawn"):
        assert root.coordinator.get_capability(f"session.{name}") is not None


async def test_a_saved_state_is_completed_before_it_is_used(project: Project) -> None:
    """Models refuse a conversation in which a call has no result."""
    open_call = {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "A"}]}
    state = {"version": 1, "session_id": "root", "messages": [open_call]}
    async with Family(project).build_root(resume=state) as root:
        assert root.is_resumed
        assert [one["role"] for one in root.context.get_messages()] == ["assistant", "tool"]


@pytest.mark.parametrize("mode", ["ask", "deny"])
async def test_a_bundle_may_leave_the_person_alone(project: Project, mode: str) -> None:
    """In mode deny neither the session nor its sub-agents can ask anybody."""
    family = Family(project, approval={"mode": mode})
    expected = family.person if mode == "ask" else None
    async with family.build_root() as root:
        child = await family.open_child(root)
        assert root.coordinator.approval_system is expected
        assert child.coordinator.approval_system is expected
        await child.cleanup()


async def test_a_bundle_may_allow_edits_without_the_person(project: Project) -> None:
    """In mode edits they are asked about the rest, by sub-agents too."""
    family = Family(project, approval={"mode": "edits"})
    async with family.build_root() as root:
        child = await family.open_child(root)
        for session in (root, child):
            system = session.coordinator.approval_system
            assert isinstance(system, EditsApproval)
            answer = await system.decide(ask("Write", file_path="a.py"))
            assert getattr(answer, "by", None) == "rule:edits"
            asked = len(family.person.questions)
            await system.decide(ask(command="ls"))
            assert len(family.person.questions) == asked + 1
        await child.cleanup()


async def test_the_rules_that_govern_a_session_are_sealed_for_sub_agents_too(
    project: Project,
) -> None:
    """The file that the approval system names as governing."""
    rules = project.folder / "approve.yaml"
    rules.write_text("rules: [{name: none, decision: deny}]")
    family = Family(project)
    system = RulesApproval(rules, project.folder)
    family.builder = SessionBuilder(family.bundle, project.folder, system, None, None)
    async with family.build_root() as root:
        child = await family.open_child(root)
        for session in (root, child):
            places = get_places(session.coordinator)
            assert places.find_refusal(rules, writing=True)
        await child.cleanup()


async def test_a_child_is_started_among_what_its_parent_has(project: Project) -> None:
    """It has its parent's hooks, folder, screen and trail, and an id of its own."""
    family = Family(project)
    async with family.build_root() as root:
        root.coordinator.register_capability("display.tool_output", print)
        await root.start()
        child = await family.open_child(root)
        assert child.initialized
        assert child.parent_id == root.session_id != child.session_id
        for shared in ("session.working_dir", "display.tool_output"):
            value = root.coordinator.get_capability(shared)
            assert child.coordinator.get_capability(shared) == value is not None
        await child.cleanup()
    started = [one["session"] for one in family.trail.of_type("session_started")]
    assert started == [root.session_id, child.session_id]


async def test_a_child_finds_modules_where_its_parent_does(project: Project) -> None:
    """With a loader of its own, whose end takes nothing from the parent's; the resolver is one."""

    class Resolver:
        def resolve(self, module_id: str) -> object:
            raise ModuleNotFoundError(module_id)

    family = Family(project)
    async with family.build_root() as root:
        await root.coordinator.mount("module-source-resolver", Resolver())
        child = await family.open_child(root)
        assert child.mounting.loader is not root.mounting.loader
        assert child.mounting.loader.base == root.mounting.loader.base
        resolver = root.coordinator.get("module-source-resolver")
        assert child.coordinator.get("module-source-resolver") is resolver
        await child.cleanup()


async def test_modules_that_a_child_has_to_do_without_are_shown(project: Project) -> None:
    """A sub-agent whose entry says that a hook may be missing works without, and it is told."""
    family = Family(project)
    async with family.build_root() as root:
        child = await family.open_child(root)
        await child.cleanup()
    [(shown, level, _)] = family.screen.messages
    assert shown.startswith("Left out: Unknown module 'hooks-nonsense'")
    assert level == "warning"


async def test_a_child_does_not_start_without_a_guard(project: Project) -> None:
    """The error has the line of the option in the agent's own list, not of the parent's module."""
    hook = {"module": "hooks-rules", "config": {"rulez": []}}
    wrong = {"description": "Helps.", "hooks": [hook]}
    right = {"module": "hooks-rules", "config": {"rules": []}}
    family = Family(project, hooks=[right], agents={"helper": wrong})
    lines = (project.folder / "amplifier.yaml").read_text().splitlines()
    first = next(at for at, line in enumerate(lines, 1) if "rulez" in line)
    async with family.build_root() as root:
        with pytest.raises(ModuleLoadError, match=rf"amplifier.yaml:{first}: hooks-rules: .*rulez"):
            await family.open_child(root, family.bundle.mount_plan["agents"]["helper"])


async def test_what_the_parent_hides_the_child_hides(project: Project) -> None:
    """Secrets of the bundle, and whatever a module of the parent scrubs."""
    secret = {"module": "hooks-datetime", "enabled": False, "config": {"x": "${KEY_X}"}}
    family = Family(project, hooks=[secret])
    async with family.build_root() as root:
        root.coordinator.register_scrubber(lambda text: text.replace("Berlin", "somewhere"))
        child = await family.open_child(root)
        assert child.coordinator.scrub(f"{SECRET} in Berlin") == "[secret] in somewhere"
        await child.cleanup()


async def test_a_child_does_not_rename_what_the_person_sees(project: Project) -> None:
    """The name in a list of sessions is the parent's."""
    given: list[Any] = []
    family = Family(project)
    async with family.build_root(on_rename=lambda *name: given.append(name)) as root:
        child = await family.open_child(root)
        child.coordinator.get_capability("session.rename")("Helper", "")
        root.coordinator.get_capability("session.rename")("Root", "")
        await child.cleanup()
    assert given == [("Root", "")]


async def test_the_default_bundle_runs_with_nothing_but_us(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a bundle, a key or a model there is an agent that says what is missing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    bundle = load_bundle(project_dir=tmp_path, env={"HOME": str(tmp_path)})
    session = await open_session(bundle, working_dir=tmp_path)
    try:
        assert session.failures == []
        assert {"Read", "Write", "Bash", "Todo", "Delegate"} <= set(
            session.coordinator.get("tools")
        )
        assert "No model is configured" in await session.execute("hello")
    finally:
        await session.cleanup()
    log = tmp_path / ".local/share/amplifier/audit" / session.session_id / "00000000.jsonl"
    types = [json.loads(line)["type"] for line in log.read_text().splitlines()]
    assert {"session_started", "dispatch", "session_ended"} <= set(types)


async def test_hooks_of_the_bundle_mediate_the_tools_of_the_bundle(project: Project) -> None:
    """A file that the bundle names guards the tools that the bundle names."""
    project.write("guard.py", GUARD)
    bundle = project.bundle(hooks=["./guard.py"], tools=["tool-filesystem"])
    async with project.session(bundle) as session:
        path = str(project.folder / "a.txt")
        refused = await session.execute_tool("Write", {"file_path": path, "content": "forbidden"})
        done = await session.execute_tool("Write", {"file_path": path, "content": "fine"})
    assert "forbidden words" in str(refused.error)
    assert done.success
    assert Path(path).read_text() == "fine"


async def test_required_makes_it_fatal_and_leaves_nothing_open(project: Project) -> None:
    """The error has the line that asked for the module, and the trail is free again."""
    audit = {"enabled": True, "path": "trail"}
    bundle = project.bundle(hooks=[{"module": "hooks-nonsense", "required": True}], audit=audit)
    for _ in range(2):  # the second would find the trail locked if the first had left it open
        with pytest.raises(
            ModuleLoadError, match=r"amplifier\.yaml:\d+: Unknown module 'hooks-non"
        ):
            await open_session(bundle, session_id="s1", working_dir=project.folder)


async def test_a_plan_that_nobody_has_checked_is_refused() -> None:
    """A bundle made of it has been checked; the error says how to get one."""
    with pytest.raises(TypeError, match="got dict; bundle_from_plan makes one"):
        await open_session({"session": {}})  # type: ignore[arg-type]


async def test_a_session_that_a_hook_refuses_does_not_start(project: Project) -> None:
    """The caller gets the hook's reason."""
    project.write(
        "closed.py",
        "from amplifier_core.models import HookResult\n"
        "async def on_session_start(event, data):\n"
        "    return HookResult(action='deny', reason='closed on Sundays')\n",
    )
    with pytest.raises(SessionDenied, match="closed on Sundays"):
        await open_session(project.bundle(hooks=["./closed.py"]), working_dir=project.folder)


async def test_the_trail_is_closed_with_the_session_and_can_be_resumed(project: Project) -> None:
    """One folder per session, one writer; a resumed session goes on in it."""
    bundle = project.bundle(audit={"enabled": True, "path": "trail", "level": "full"})
    async with project.session(bundle, session_id="s1") as session:
        await session.execute("one")
        state = await session.state()
    async with project.session(bundle, resume=json.loads(json.dumps(state))) as again:
        assert again.session_id == "s1"
        messages = [message["content"] for message in again.context.get_messages()]
        assert "one" in messages
    folder = locate_trail(bundle.mount_plan["audit"], "s1")
    lines = (folder / "00000000.jsonl").read_text().splitlines()
    started = [one for one in map(json.loads, lines) if one["type"] == "session_started"]
    assert len(started) == 2


async def test_a_damaged_trail_is_shown_to_the_person(project: Project) -> None:
    """A trail that lost what it had acknowledged raises an alarm that the person sees."""
    bundle = project.bundle(audit={"enabled": True, "path": "trail"})
    async with project.session(bundle, session_id="s1"):
        pass
    assert project.shown("audit") == []
    segment = locate_trail(bundle.mount_plan["audit"], "s1") / "00000000.jsonl"
    segment.write_bytes(segment.read_bytes()[:100])
    async with project.session(bundle, session_id="s1"):
        (told,) = project.shown("audit")
    assert "is damaged" in told


async def test_secrets_of_the_bundle_never_reach_display_or_trail(project: Project) -> None:
    """What came from a variable named like a secret is shown and recorded as [secret]."""
    project.write(
        "leak.py",
        "from amplifier_core.models import HookResult\n"
        "async def mount(coordinator, config):\n"
        "    async def leak(event, data):\n"
        "        return HookResult(user_message=f\"the key is {config['key']}\")\n"
        "    return coordinator.hooks.register('prompt:submit', leak)\n",
    )
    hooks = [{"module": "./leak.py", "config": {"key": "${KEY_X}"}}]
    sink = MemoryAudit()
    async with project.session(project.bundle(hooks=hooks), audit=sink) as session:
        await session.execute("hi")
    assert ("the key is [secret]", "info", "hook:leak") in project.screen.messages
    assert b"k" * 12 not in b"".join(sink.lines)


@pytest.mark.parametrize("mode", ["ask", "deny"])
async def test_approval_mode_deny_asks_nobody(project: Project, mode: str) -> None:
    """In mode deny every question is a no, and the person is left alone."""
    project.write("ask.py", ASKING)
    person = ScriptedApproval("Allow")
    plan = {"hooks": ["./ask.py"], "tools": ["tool-filesystem"], "approval": {"mode": mode}}
    async with project.session(project.bundle(**plan), approval_system=person) as session:
        path = str(project.write("a.txt", "x"))
        result = await session.execute_tool("Read", {"file_path": path})
    assert result.success is (mode == "ask")
    assert person.prompts == (["may it?"] if mode == "ask" else [])


async def test_approval_timeout_is_an_upper_limit(project: Project) -> None:
    """No question waits longer than the bundle says, whatever the hook asks for."""
    project.write("ask.py", ASKING)
    plan = {"hooks": ["./ask.py"], "tools": ["tool-filesystem"], "approval": {"timeout": 0.05}}
    person = PlainPerson("Allow", delay=20)
    async with project.session(project.bundle(**plan), approval_system=person) as session:
        path = str(project.write("a.txt", "x"))
        result = await session.execute_tool("Read", {"file_path": path})
    assert "Timeout - denied by default" in str(result.error)
    [(_, _, seconds, _)] = person.asked
    assert seconds == 0.05


async def test_session_settings_reach_the_loop(project: Project) -> None:
    """`max_turns` and `instructions` of the session section are options of the loop."""
    session_plan = {
        "orchestrator": "loop-basic",
        "context": "context-simple",
        "max_turns": 2,
        "instructions": "Be brief.",
    }
    looping = script(calls("Glob", pattern="*"), when_done="repeat")
    bundle = project.bundle(session=session_plan, providers=looping, tools=["tool-search"])
    async with project.session(bundle) as session:
        reply = await session.execute("look")
        assert session.coordinator.get("orchestrator").config.system == "Be brief."
    assert "max_turns reached: 2" in reply


async def test_an_application_can_hear_the_very_first_event(project: Project) -> None:
    """`prepare` gets the session before it starts."""
    heard: list[str] = []

    def prepare(session: AmplifierSession) -> None:
        session.coordinator.hooks.register("*", lambda event, data: heard.append(event))

    async with project.session(prepare=prepare):
        pass
    assert heard[0] == "session:start"


async def test_a_shell_hook_stops_the_agent_which_reads_why(project: Project) -> None:
    """A journey: the agent is refused, reads the reason and does it another way."""
    project.write(
        "guard.sh",
        'input=$(cat)\ncase "$input" in *--force*) echo "no force pushes" >&2; exit 2;; esac\n',
    )
    pre = [{"matcher": "Bash", "hooks": [{"type": "command", "command": "bash guard.sh"}]}]
    bundle = project.bundle(
        hooks=[{"module": "hooks-shell", "config": {"hooks": {"PreToolUse": pre}}}],
        tools=["tool-bash"],
        providers=script(
            calls("Bash", command="echo pushing --force"),
            {**calls("Bash", command="echo pushing"), "expect": "no force pushes"},
            {"text": "Pushed.", "expect": "pushing"},
        ),
    )
    async with project.session(bundle) as session:
        assert await session.execute("push") == "Pushed."


async def test_debug_shows_what_hooks_said_to_the_agent(project: Project) -> None:
    """With `debug` the person sees each injection, under the name of its hook."""
    prompt = [{"hooks": [{"type": "command", "command": "echo the branch is main"}]}]
    hook = {"module": "hooks-shell", "config": {"hooks": {"UserPromptSubmit": prompt}}}
    session_plan = {**project.plan["session"], "debug": True}
    async with project.session(project.bundle(hooks=[hook], session=session_plan)) as session:
        await session.execute("hi")
        await session.execute("hi again")
    shown = project.shown_by_hooks()
    assert len(shown) == 2
    assert "the branch is main" in shown[0]


BARE = """
import asyncio, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks import load_bundle, open_session

def leave_out(plan):
    return {**plan, "hooks": [{**one, "required": False} for one in plan["hooks"]]}

async def main():
    bundle = load_bundle(project_dir=".")
    try:
        await open_session(bundle, working_dir=".")
    except ModuleLoadError as error:
        print(error)
    session = await open_session(bundle.changed(leave_out), working_dir=".")
    print(await session.execute("hello"))
    print(*session.failures, sep="\\n")
    await session.cleanup()

asyncio.run(main())
"""


def test_without_any_extra_the_default_bundle_runs_only_if_its_guards_may_be_missing(
    tmp_path: Path,
) -> None:
    """A guard that lacks its package stops the session; left out by its entry, the rest works."""

    extras = (
        "re2 tree_sitter tree_sitter_bash cel_expr_python anthropic openai cryptography "
        "rich click prompt_toolkit httpx2 opentelemetry"
    )
    program = f"EXTRAS = {set(extras.split())!r}\n{BARE}"
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, timeout=50
    )
    assert ran.returncode == 0, ran.stderr.decode()
    stopped, reply, *left_out = ran.stdout.decode().splitlines()
    assert "default.yaml:" in stopped
    assert name_install_command("policy") in stopped
    assert "`required: false`" in stopped
    assert "No model is configured" in reply
    assert all(name_install_command("policy") in line for line in left_out)
    for guard in ("hooks-command-guard", "hooks-production-guard", "hooks-redaction"):
        assert any(guard in line for line in left_out)
