"""Reloading: when a person says so, whole or not at all, and never by the agent's own hand."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError, SessionStateError
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_core.session import AmplifierSession
from amplifier_core.testing import MemoryAudit, ScriptedApproval
from amplifier_hooks.agent.session.reload import (
    HINT,
    QUESTION,
    ChangePolicy,
    ModuleReplacer,
    repeat_change,
)
from amplifier_hooks.agent.trust.material import collect_material
from tests.hooks.agent.session.hook_files import COUNTER
from tests.support.project import Project, script
from tests.support.sessions import calls, plan_for

NAMES = st.sampled_from("abcd")
VALUES = st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=2)
ENTRIES = st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=2), max_size=4).map(
    lambda found: [{"module": name, "config": config} for name, config in found.items()]
)
PLANS = st.fixed_dictionaries(
    {}, optional={"hooks": ENTRIES, "session": st.dictionaries(NAMES, VALUES, max_size=3)}
)


@given(base=PLANS, newer=PLANS)
def test_without_a_change_the_newer_plan_is_used(base: Any, newer: Any) -> None:
    """Nothing was changed: nothing is changed again."""
    assert repeat_change(base, base, newer) == newer


@given(base=PLANS, changed=PLANS)
def test_without_an_edit_the_changed_plan_stays(base: Any, changed: Any) -> None:
    """The files say what they said: the plan stays what the hooks made of it."""
    assert in_any_order(repeat_change(base, changed, base)) == in_any_order(changed)


def in_any_order(plan: dict[str, Any]) -> dict[str, Any]:
    hooks = sorted(plan.get("hooks", []), key=lambda entry: entry["module"])
    return {**plan, "hooks": hooks} if "hooks" in plan else plan


@pytest.mark.parametrize(
    ("base", "changed", "newer", "expected"),
    [
        (["a"], ["a", "guard"], ["a", "b"], ["a", "b", "guard"]),
        (["a", "b"], ["b"], ["a", "b", "c"], ["b", "c"]),
        ([{"module": "a", "priority": 1}], [{"module": "a", "priority": 2}], [], []),
        (
            [{"module": "a"}],
            [{"module": "a", "required": True}],
            [{"module": "a", "priority": 3}],
            [{"module": "a", "priority": 3, "required": True}],
        ),
        ([1, 2], [1, 2, 3], [1], [1, 2, 3]),
    ],
)
def test_lists_of_modules_are_merged_by_entry(
    base: list[Any], changed: list[Any], newer: list[Any], expected: list[Any]
) -> None:
    """Added is added, removed is removed, changed is changed; what is gone stays gone."""
    assert repeat_change(base, changed, newer) == expected


SESSION = {"orchestrator": "loop-basic", "context": "context-simple"}


def digest(entry: ModuleEntry) -> str:
    """Of the file that an entry names, as it is now."""
    return Path(entry.source).read_text() if entry.source else ""


def replacer_of(session: AmplifierSession) -> ModuleReplacer:
    return ModuleReplacer(session.coordinator, session.mounting, digest)


def bash(timeout: Any) -> dict[str, Any]:
    return {"module": "tool-bash", "config": {"timeout": timeout}}


@pytest.mark.parametrize(
    ("before", "after", "mounted", "removed"),
    [
        (["tool-todo"], ["tool-todo"], [], []),
        (["tool-todo"], [{"module": "tool-todo", "required": True}], [], []),
        (["tool-todo"], [{"module": "tool-todo", "config": {}}], [], []),
        ([bash(5)], [bash(6)], ["tool-bash"], []),
        ([bash(1)], [bash(True)], ["tool-bash"], []),
        (["tool-todo"], [{"module": "tool-todo", "name": "mine"}], ["tool-todo"], []),
        (["tool-todo"], ["tool-bash"], ["tool-bash"], ["tool-todo"]),
        (["tool-todo", "tool-bash"], ["tool-bash", "tool-todo"], [], []),
        (["tool-todo"], [], [], ["tool-todo"]),
    ],
)
async def test_only_an_entry_that_says_something_else_is_exchanged(
    before: list[Any], after: list[Any], mounted: list[str], removed: list[str]
) -> None:
    """Module, name, source, options and priority count; order and `required` do not."""
    async with AmplifierSession({"session": SESSION, "tools": before}) as session:
        found = replacer_of(session).compare(
            MountPlan.parse({"session": SESSION, "tools": after}), digest
        )
    assert (found.mounted, found.removed) == (mounted, removed)


async def test_a_file_that_changed_exchanges_its_module(tmp_path: Path) -> None:
    """The entry says the same; what it leads to is another module."""
    file = tmp_path / "mine.py"
    file.write_text("async def on_tool_pre(event, data): ...\n")
    plan = {"session": SESSION, "hooks": [{"module": "mine", "source": str(file)}]}
    async with AmplifierSession(plan) as session:
        replacer = replacer_of(session)
        file.write_text("async def on_tool_post(event, data): ...\n")
        found = replacer.compare(MountPlan.parse(plan), digest)
        assert found.mounted == ["mine"]
        await replacer.apply(found)
        assert session.coordinator.hooks.list_handlers("tool:post") == {
            "tool:post": ["mine.on_tool_post"]
        }
        assert not any(session.coordinator.hooks.list_handlers("tool:pre").values())


async def test_when_one_fails_nothing_has_changed() -> None:
    """What was mounted before the mistake is taken away again; the old set is the same objects."""
    plan = {"session": SESSION, "tools": [bash(5), "tool-todo"]}
    async with AmplifierSession(plan) as session:
        replacer = replacer_of(session)
        tools, book = dict(session.coordinator.get("tools")), list(session.mounting.mounted)
        context = session.context
        other = {**SESSION, "context": {"module": "context-simple", "config": {"keep_last": 3}}}
        edit = {"session": other, "tools": [bash(6), "tool-search", "tool-nonsense"]}
        with pytest.raises(ModuleLoadError, match="Unknown module 'tool-nonsense'"):
            await replacer.apply(replacer.compare(MountPlan.parse(edit), digest))
        assert session.coordinator.get("tools") == tools
        assert session.mounting.mounted == book
        assert session.context is context


async def test_modules_that_came_in_are_told_that_all_is_ready(tmp_path: Path) -> None:
    """Each new module is told once; those that were there before are not told again."""
    text = (
        "async def mount(coordinator, config): ...\n"
        "async def on_session_ready(coordinator):\n"
        "    coordinator.session_state.setdefault('ready', []).append({name!r})\n"
    )
    entries = []
    for name in ("old", "new"):
        (tmp_path / f"{name}.py").write_text(text.format(name=name))
        entries.append({"module": name, "source": str(tmp_path / f"{name}.py")})
    async with AmplifierSession({"session": SESSION, "tools": entries[:1]}) as session:
        replacer = replacer_of(session)
        found = replacer.compare(MountPlan.parse({"session": SESSION, "tools": entries}), digest)
        await replacer.apply(found)
        assert session.coordinator.session_state["ready"] == ["old", "new"]


async def test_the_conversation_moves_to_another_context() -> None:
    """Message by message, in its order."""
    async with AmplifierSession(plan_for([{"text": "one"}, {"text": "two"}])) as session:
        await session.execute("first")
        await session.execute("second")
        before = [one["content"] for one in session.context.get_messages()]
        plan = plan_for([], context_config={"keep_last": 3})
        plan["providers"] = session.config["providers"]
        replacer = replacer_of(session)
        await replacer.apply(replacer.compare(MountPlan.parse(plan), digest))
        assert session.context.config.keep_last == 3  # type: ignore[attr-defined]
        assert [one["content"] for one in session.context.get_messages()] == before


async def test_one_bad_entry_keeps_the_good_ones_of_the_same_edit_out(project: Project) -> None:
    """Atomically: all of an edit or nothing of it, whatever order it is written in."""
    tools = ["tool-filesystem"]
    async with project.dev_session(project.bundle(tools=tools)) as session:
        await session.execute("go")
        before = dict(session.coordinator.get("tools"))
        handlers = session.coordinator.hooks.list_handlers()
        project.save(hooks=["hooks-datetime", "hooks-nonsense"], tools=["tool-search"])
        await session.execute("go")
        assert "Unknown module 'hooks-nonsense'" in project.shown("reload")[0]
        assert session.coordinator.get("tools") == before
        assert session.coordinator.hooks.list_handlers() == handlers
        assert len(session.mounting.mounted) == 4


async def test_tools_and_providers_are_exchanged_too(project: Project) -> None:
    """All new modules are mounted, then swapped; what an old one cleans up is its own."""
    first = script("first", when_done="repeat")
    bundle = project.bundle(tools=["tool-filesystem"], providers=first)
    async with project.dev_session(bundle) as session:
        assert await session.execute("go") == "first"
        read = session.coordinator.get("tools", "Read")
        project.save(
            tools=["tool-search", "tool-filesystem"],
            providers=script(calls("Glob", pattern="*.yaml"), "second"),
        )
        assert await session.execute("go") == "second"
        assert list(session.coordinator.get("tools"))[:2] == ["Glob", "Grep"]
        assert session.coordinator.get("tools", "Read") is read
        project.save(tools=["tool-search"])
        await session.execute("go")
        assert set(session.coordinator.get("tools")) == {"Glob", "Grep"}


async def test_a_changed_tool_of_the_same_name_survives_the_clean_up_of_the_old(
    project: Project,
) -> None:
    """The clean-up of the old module must not take the new one away."""
    tool = {"module": "tool-bash", "config": {"timeout": 5}}
    async with project.dev_session(project.bundle(tools=[tool])) as session:
        await session.execute("go")
        old = session.coordinator.get("tools", "Bash")
        project.save(tools=[{"module": "tool-bash", "config": {"timeout": 6}}])
        await session.execute("go")
        new = session.coordinator.get("tools", "Bash")
        assert new is not None
        assert new is not old
        assert (await session.execute_tool("Bash", {"command": "echo hi"})).success


GROWING = """
class Tool:
    description, input_schema = "A tool.", {}

    def __init__(self, name):
        self.name = name

    async def execute(self, input):
        return self.name


async def mount(coordinator, config):
    first = Tool("first")
    await coordinator.mount("tools", first)

    async def grow():
        await coordinator.mount("tools", Tool("later"))
        await coordinator.unmount("tools", "first")

    async def replace():
        await coordinator.mount("tools", Tool("first"))

    async def cleanup():
        for name in ("first", "later"):
            await coordinator.unmount("tools", name)

    coordinator.register_capability("test.grow", grow)
    coordinator.register_capability("test.replace", replace)
    return cleanup
"""


@pytest.fixture
def growing(tmp_path: Path) -> dict[str, Any]:
    """A module that mounts tools when it likes."""
    (tmp_path / "growing.py").write_text(GROWING)
    return {"module": "growing", "source": str(tmp_path / "growing.py")}


async def test_what_a_module_mounted_later_stays_with_it(growing: dict[str, Any]) -> None:
    """A reload of another module leaves it alone, and what it took away does not come back."""
    plan = {"session": SESSION, "tools": [growing, "tool-todo"]}
    async with AmplifierSession(plan) as session:
        replacer = replacer_of(session)
        await session.coordinator.get_capability("test.grow")()
        session.coordinator.mount_points["tools"]["own"] = own = object()
        after = {"session": SESSION, "tools": [growing, bash(5)]}
        await replacer.apply(replacer.compare(MountPlan.parse(after), digest))
        tools = session.coordinator.mount_points["tools"]
        assert set(tools) == {"later", "own", "Bash"}
        assert tools["own"] is own


async def test_what_a_module_replaced_stays_replaced(growing: dict[str, Any]) -> None:
    """The first object is not put back."""
    async with AmplifierSession({"session": SESSION, "tools": [growing]}) as session:
        replacer = replacer_of(session)
        await session.coordinator.get_capability("test.replace")()
        current = session.coordinator.mount_points["tools"]["first"]
        after = {"session": SESSION, "tools": [growing, "tool-todo"]}
        await replacer.apply(replacer.compare(MountPlan.parse(after), digest))
        assert session.coordinator.mount_points["tools"]["first"] is current


async def test_what_a_module_mounted_later_goes_with_it(growing: dict[str, Any]) -> None:
    """Its clean-up takes it away."""
    async with AmplifierSession({"session": SESSION, "tools": [growing]}) as session:
        replacer = replacer_of(session)
        await session.coordinator.get_capability("test.grow")()
        after = {"session": SESSION, "tools": ["tool-todo"]}
        await replacer.apply(replacer.compare(MountPlan.parse(after), digest))
        assert set(session.coordinator.mount_points["tools"]) == {"Todo"}


def counter(word: str, **more: Any) -> dict[str, Any]:
    """A hook that counts prompts."""
    return {"module": "./counter.py", "name": word, "config": {"word": word}, **more}


@pytest.fixture
def project(project: Project) -> Project:
    """The project, with the file of the counting hook."""
    project.write("counter.py", COUNTER)
    return project


async def said(project: Project, session: AmplifierSession) -> list[str]:
    """What hooks told the person in one turn."""
    project.screen.messages.clear()
    await session.execute("go")
    return project.shown_by_hooks()


async def test_an_edit_of_the_bundle_takes_effect_at_the_next_turn(project: Project) -> None:
    """Changing the bundle takes effect at the next turn."""
    async with project.dev_session(project.bundle(hooks=[counter("one")])) as session:
        assert await said(project, session) == ["one 1"]
        project.save(hooks=[counter("two")])
        assert await said(project, session) == ["two 1"]
        assert project.shown("reload") == ["Reloaded: counter"]
        project.save(hooks=[])
        assert await said(project, session) == []
        assert project.shown("reload") == ["Reloaded the settings; removed: counter"]


async def test_an_edit_of_a_hook_file_takes_effect_at_the_next_turn(project: Project) -> None:
    """Changing a hook file takes effect at the next turn."""
    async with project.dev_session(project.bundle(hooks=[counter("one")])) as session:
        await said(project, session)
        project.write("counter.py", COUNTER.replace("{len(seen)}", "changed"))
        assert await said(project, session) == ["one changed"]


async def test_nothing_changes_without_an_edit(project: Project) -> None:
    """Modules stay what they are from turn to turn."""
    async with project.dev_session(project.bundle(hooks=[counter("one")])) as session:
        assert [await said(project, session) for _ in range(3)] == [["one 1"], ["one 2"], ["one 3"]]
        assert project.shown("reload") == []


async def test_untouched_modules_keep_what_they_remember(project: Project) -> None:
    """Only entries that changed are exchanged."""
    async with project.dev_session(project.bundle(hooks=[counter("a"), counter("b")])) as session:
        await said(project, session)
        project.save(hooks=[counter("a"), counter("c")])
        assert await said(project, session) == ["a 2", "c 1"]


async def test_a_comment_reloads_nothing(project: Project) -> None:
    """A file that says the same as before is no change."""
    async with project.dev_session(project.bundle(hooks=[counter("a")])) as session:
        await said(project, session)
        path = project.folder / "amplifier.yaml"
        path.write_text(path.read_text() + "# a comment\n")
        assert await said(project, session) == ["a 2"]
        assert project.shown("reload") == []


async def test_a_broken_bundle_keeps_the_old_set_and_says_why_once(project: Project) -> None:
    """A broken edit keeps the old set and says why."""
    async with project.dev_session(project.bundle(hooks=[counter("a")])) as session:
        await said(project, session)
        path = project.write("amplifier.yaml", "hoks: []\n")
        assert await said(project, session) == ["a 2"]
        [told] = project.shown("reload")
        assert told == (
            "The change is not used, the old settings stay: "
            f"{path}:1: hoks: unknown key 'hoks'; did you mean 'hooks'?"
        )
        assert await said(project, session) == ["a 3"]
        assert project.shown("reload") == []
        project.save(hooks=[counter("a"), counter("b")])
        assert await said(project, session) == ["a 4", "b 1"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("def mount(:\n", "SyntaxError"),
        ("raise RuntimeError('no')\n", "RuntimeError: no"),
        ("x = 1\n", "has no mount"),
        ("async def mount(coordinator, config):\n    raise KeyError('port')\n", "KeyError"),
    ],
)
async def test_a_broken_hook_file_keeps_the_old_set(project: Project, text: str, why: str) -> None:
    """A broken edit keeps the old set and says why."""
    async with project.dev_session(project.bundle(hooks=[counter("a"), counter("b")])) as session:
        await said(project, session)
        project.write("counter.py", text)
        assert await said(project, session) == ["a 2", "b 2"]
        assert why in project.shown("reload")[0]
        project.write("counter.py", COUNTER)
        assert await said(project, session) == ["a 3", "b 3"]


@pytest.mark.parametrize(
    "broken",
    [
        {"module": "hooks-rate-limit", "config": {"overal": {"calls": 9}}},
        {"module": "hooks-rate-limit", "config": {"overall": 9}, "required": False},
        {"module": "hooks-rate-limt"},
    ],
)
async def test_a_reload_that_would_lose_a_guard_keeps_the_old_one(
    project: Project, broken: dict[str, Any]
) -> None:
    """The guard goes on guarding, and the person reads the line that is wrong."""
    guard = {"module": "hooks-rate-limit", "config": {"events": {"prompt:submit": {"calls": 1}}}}
    person = ScriptedApproval("Allow")
    async with project.session(project.bundle(hooks=[guard]), approval_system=person) as session:
        await session.execute("first")
        project.save(hooks=[broken])
        assert not await session.reload()
        await session.execute("second")
        assert session.status == "denied"
    told = project.shown("reload")[-1]
    file = project.folder / "amplifier.yaml"
    assert told.startswith(f"The change is not used, the old settings stay: {file}:")
    assert "hooks-rate-lim" in told


async def test_the_conversation_survives_another_loop_and_context(project: Project) -> None:
    """What was said so far is moved to the new context, and the next turn goes on from it."""
    async with project.dev_session(project.bundle()) as session:
        await session.execute("remember me")
        plan = {"orchestrator": "loop-streaming"}
        plan["context"] = {"module": "context-simple", "config": {"keep_last": 3}}  # type: ignore[assignment]
        project.save(session=plan)
        await session.execute("second")
        texts = [message["content"] for message in session.context.get_messages()]
        assert session.coordinator.get("orchestrator").name == "loop-streaming"
        assert session.context.config.keep_last == 3  # type: ignore[attr-defined]
    assert texts[0] == "remember me"
    assert "second" in texts


async def test_files_that_options_name_are_watched(project: Project) -> None:
    """A hook's own files count as hook files: rules, settings, scripts."""
    settings = {"hooks": {"UserPromptSubmit": [{"hooks": [{"command": "echo no >&2; exit 2"}]}]}}
    path = project.write("settings.json", json.dumps({"hooks": {}}))
    hook = {"module": "hooks-shell", "config": {"settings": ["settings.json"]}}
    async with project.dev_session(project.bundle(hooks=[hook])) as session:
        assert "denied" not in await session.execute("go")
        path.write_text(json.dumps(settings))
        assert "denied by hooks-shell: no" in await session.execute("go")


async def test_patterns_of_files_that_the_agent_works_on_are_not_watched(project: Project) -> None:
    """Only the files of the session are looked at; an edit of the project asks nobody."""
    hook = {"module": "hooks-test-runner", "config": {"command": "true", "files": ["*.py"]}}
    async with project.dev_session(project.bundle(hooks=[hook])) as session:
        project.write("work.py", "x = 1\n")
        await session.execute("go")
        assert project.shown("reload") == []


CHANGER = """
from amplifier_core.models import HookResult

async def on_session_start(event, data):
    plan = data["mount_plan"]
    hooks = [one for one in plan["hooks"] if one.get("name") != "unwanted"]
    hooks.append({"module": "./counter.py", "name": "added", "config": {"word": "added"}})
    session = {**plan["session"], "max_turns": 7}
    return HookResult(
        action="modify",
        data={**data, "mount_plan": {**plan, "hooks": hooks, "session": session}},
    )
"""


async def test_what_a_hook_changed_in_the_plan_survives_a_reload(project: Project) -> None:
    """session:start modify: the session runs on the changed plan, after an edit as before it."""
    project.write("changer.py", CHANGER)
    hooks = ["./changer.py", counter("unwanted")]
    async with project.dev_session(project.bundle(hooks=hooks)) as session:
        assert await said(project, session) == ["added 1"]
        project.save(hooks=[*hooks, counter("new")])
        assert sorted(await said(project, session)) == ["added 2", "new 1"]
        assert session.config["session"]["max_turns"] == 7
        project.save(hooks=["./changer.py"], session={**project.plan["session"], "debug": True})
        assert await said(project, session) == ["added 3"]
        assert session.config["session"]["debug"] is True


async def test_nothing_of_the_reloader_stays_behind_a_session(project: Project) -> None:
    """cleanup undoes everything that the session registered."""
    async with project.dev_session() as session:
        assert any(session.coordinator.hooks.list_handlers().values())
    assert not any(session.coordinator.hooks.list_handlers().values())


async def test_included_files_and_new_layers_are_watched(project: Project) -> None:
    """`.sources`: the files read; and those that would be read if they existed."""
    part = project.write("part.yaml", "name: part\n")
    project.save(include="part.yaml", inherit=True)
    async with project.dev_session(project.bundle()) as session:
        await session.execute("go")
        part.write_text("session: {injection_size_limit: 77}\n")
        await session.execute("go")
        assert session.config["session"]["injection_size_limit"] == 77
        user = project.home / ".config" / "amplifier" / "amplifier.yaml"
        user.parent.mkdir(parents=True)
        user.write_text("session: {injection_budget_per_turn: 5}\n")
        await session.execute("go")
        assert session.config["session"]["injection_budget_per_turn"] == 5


async def test_the_trail_tells_of_changes_and_of_refused_ones(project: Project) -> None:
    """Each change has its digests before and after, each refusal its reason."""
    sink = MemoryAudit()
    async with project.dev_session(project.bundle(hooks=[counter("a")]), audit=sink) as session:
        await session.execute("go")
        project.save(hooks=[counter("b")])
        await session.execute("go")
        project.write("amplifier.yaml", "- no\n")
        await session.execute("go")
    changed, refused = [record["body"] for record in sink.of_type("configuration_changed")]
    assert changed["mounted"] == ["counter"]
    assert changed["before"] != changed["after"]
    assert "must be a mapping" in refused["refused"]


async def test_what_is_fixed_at_the_start_is_said_to_be(project: Project) -> None:
    """Changes of approval and audit wait for the next session, and the person is told."""
    async with project.dev_session(project.bundle(approval={"mode": "ask"})) as session:
        await session.execute("go")
        project.save(approval={"mode": "deny"})
        await session.execute("go")
    assert "approval will not change until the next session" in project.shown("reload")[0]


GUARD = """
from amplifier_core.models import HookResult

async def on_prompt_submit(event, data):
    return HookResult(user_message="guarded")
"""


def rewriting(project: Project, tool: str) -> dict[str, Any]:
    """An agent that takes its guard out of the bundle."""
    path = project.folder / "amplifier.yaml"
    without = json.dumps({**project.plan, "hooks": []})
    if tool == "Write":
        return calls("Write", file_path=str(path), content=without)
    project.write("weaker.json", without)
    return calls("Bash", command=f"cp weaker.json {path}")


@pytest.mark.parametrize("tool", ["Write", "Bash"])
@pytest.mark.parametrize("dev", [True, False])
async def test_an_agent_cannot_take_off_its_own_guards(
    project: Project, tool: str, dev: bool
) -> None:
    """A person is told once; nothing changes, at this turn or a later one."""
    project.write("guard.py", GUARD)
    project.save(hooks=["./guard.py"], tools=["tool-filesystem", "tool-bash"])
    project.plan["providers"] = script("hi")
    bundle = project.bundle(providers=script(rewriting(project, tool), "Done.", when_done="close"))
    async with project.session(bundle, changes=ChangePolicy(dev=dev)) as session:
        assert await said(project, session) == ["guarded"]
        assert await said(project, session) == ["guarded"]
        told = f"amplifier.yaml, guard.py changed. The old settings stay; {HINT}."
        assert project.shown("reload") == [told]
        assert await said(project, session) == ["guarded"]
        assert project.shown("reload") == []


@pytest.mark.parametrize("answer", [None, "Deny", "Allow"])
async def test_a_person_is_shown_what_will_be_loaded_and_that_is_loaded(
    project: Project, answer: str | None
) -> None:
    """Lost guards first, then the difference; what the file becomes meanwhile is not used."""
    project.write("guard.py", GUARD)
    bundle = project.bundle(hooks=["./guard.py", counter("one")])

    class Swapping(ScriptedApproval):
        async def request_approval(self, *given: Any) -> str:
            project.write("counter.py", COUNTER.replace("{len(seen)}", "swapped"))
            return await super().request_approval(*given)

    person = None if answer is None else Swapping(answer)
    async with project.session(bundle, approval_system=person) as session:
        assert await said(project, session) == ["guarded", "one 1"]
        project.write("counter.py", COUNTER.replace("{len(seen)}", "shown"))
        project.save(hooks=[counter("one")])
        assert await said(project, session) == ["guarded", "one 2"]
        assert await session.reload() is (answer == "Allow")
        assert await said(project, session) == (
            ["one shown"] if answer == "Allow" else ["guarded", "one 3"]
        )
    if person is not None:
        [prompt] = person.prompts
        first, lost, *rest = prompt.removeprefix(f"{QUESTION}\n\n").split("\n")
        assert (first, lost) == ("Weaker than before:", "  guard would be gone")
        assert any(line.startswith("│ +") and "shown" in line for line in rest)
        assert "swapped" not in prompt


async def test_what_a_person_allowed_elsewhere_needs_no_second_question(project: Project) -> None:
    """Such as with `amplifier trust` in another terminal."""
    allowed: set[str] = set()
    told: list[str] = []
    changes = ChangePolicy(
        accepts=lambda material: material.digest in allowed,
        on_allowed=lambda material: told.append(material.digest),
    )
    bundle = project.bundle(hooks=[counter("one")])
    person = ScriptedApproval("Allow")
    async with project.session(bundle, changes=changes, approval_system=person) as session:
        project.save(hooks=[counter("two")])
        assert await said(project, session) == ["one 1"]
        assert await said(project, session) == ["one 2"]
        allowed.add(collect_material(project.bundle(), project.folder).digest)
        assert await said(project, session) == ["two 1"]
        assert (person.prompts, told) == ([], [])
        project.save(hooks=[counter("three")])
        assert await session.reload()
        assert await said(project, session) == ["three 1"]
        assert told == [collect_material(project.bundle(), project.folder).digest]


async def test_with_dev_a_weakened_guard_still_needs_a_person(project: Project) -> None:
    """Other edits of the person take effect at the next turn."""
    guard = {"module": "hooks-production-guard", "config": {"patterns": ["prod/**"]}}
    async with project.dev_session(project.bundle(hooks=[guard, counter("a")])) as session:
        project.save(hooks=[guard, counter("b")])
        assert await said(project, session) == ["b 1"]
        weaker = {**guard, "config": {"patterns": ["nothing"]}}
        project.save(hooks=[weaker, counter("c")])
        assert await said(project, session) == ["b 2"]
        assert HINT in project.shown("reload")[0]
        project.save(hooks=[guard, counter("d")])
        assert await said(project, session) == ["d 1"]


class Survivor:
    """A process that is still there when its call is over, and rewrites the bundle all the time."""

    def __init__(self, path: Path, text: str) -> None:
        self._path, self._text = path, text
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._rewrite)
        self.count = 0

    def _rewrite(self) -> None:
        other = self._path.with_name("other.yaml")
        while not self._done.is_set():
            self.count += 1
            other.write_text(f"{self._text}\n# {self.count}\n")
            if self.count % 3:
                other.replace(self._path)
            else:
                self._path.unlink()
                self._path.symlink_to(other)
            self._done.wait(0.001)

    def __enter__(self) -> Survivor:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self._thread.join()


@pytest.mark.parametrize("dev", [True, False])
@pytest.mark.parametrize("held", ["locked", "required", "neither"])
async def test_a_process_that_outlives_its_call_changes_nothing(
    project: Project, dev: bool, held: str
) -> None:
    """It takes the guard out of the bundle between calls and turns: 8 of 8 times in vain."""
    project.write("guard.py", GUARD)
    guard = {"module": "./guard.py", **({} if held == "neither" else {held: True})}
    steps = script(calls("Bash", command="true"), "Done.", when_done="repeat")
    bundle = project.bundle(hooks=[guard], tools=["tool-bash"], providers=steps)
    weaker = json.dumps({**project.plan, "hooks": []})
    async with project.session(bundle, changes=ChangePolicy(dev=dev)) as session:
        if dev:  # where a process can outlive its call, there is no wall that would end it
            session.coordinator.register_capability("session.wall", None)
        assert await said(project, session) == ["guarded"]
        with Survivor(project.folder / "amplifier.yaml", weaker) as process:
            for _ in range(8):
                assert await said(project, session) == ["guarded"]
        assert process.count > 8
        assert await said(project, session) == ["guarded"]
        assert "Reloaded" not in str(project.shown("reload"))


@pytest.mark.parametrize("held", ["locked", "required"])
async def test_with_dev_and_a_wall_a_held_guard_is_not_taken_off_either(
    project: Project, held: str
) -> None:
    """Edits then count as the person's, but those that lose a guard need a yes."""
    project.write("guard.py", GUARD)
    guard = {"module": "./guard.py", held: True}
    async with project.dev_session(project.bundle(hooks=[guard])) as session:
        weaker = json.dumps({**project.plan, "hooks": []})
        with Survivor(project.folder / "amplifier.yaml", weaker):
            for _ in range(8):
                assert await said(project, session) == ["guarded"]


async def test_edits_between_calls_of_tools_are_the_persons(project: Project) -> None:
    """With dev, tools that touch nothing of the session ask nobody."""
    person = ScriptedApproval("Deny")
    steps = script(calls("Write", file_path="other.txt", content="x"), "ok", when_done="repeat")
    bundle = project.bundle(hooks=[counter("a")], tools=["tool-filesystem"], providers=steps)
    async with project.dev_session(bundle, approval_system=person) as session:
        assert await said(project, session) == ["a 1"]
        project.save(hooks=[counter("b")])
        assert await said(project, session) == ["b 1"]
    assert person.prompts == []


async def test_what_a_command_put_on_top_survives_a_reload(project: Project) -> None:
    """Flags hold for the whole run."""
    bundle = project.bundle().changed(lambda plan: {**plan, "providers": script("flag")})
    async with project.dev_session(bundle) as session:
        project.save(hooks=[counter("a")])
        assert await said(project, session) == ["a 1"]
        assert session.coordinator.get("providers")["scripted"] is not None
        texts = [message["content"] for message in session.context.get_messages()]
    assert texts == ["go", "flag"]


async def test_reload_can_be_switched_off(project: Project) -> None:
    """Without hot reload an edit waits for the next session."""
    bundle = project.bundle(hooks=[counter("a")])
    async with project.session(bundle, hot_reload=False) as session:
        await said(project, session)
        project.save(hooks=[counter("b")])
        assert await said(project, session) == ["a 2"]


async def test_many_reloads_leave_nothing_behind(project: Project) -> None:
    """Every old set is taken away completely."""
    async with project.dev_session(project.bundle(hooks=[counter("a")])) as session:
        tasks = len(asyncio.all_tasks())
        for number in range(40):
            project.save(hooks=[counter(f"w{number}")])
            await session.execute("go")
        assert len(session.coordinator.hooks.handlers_for("prompt:submit")) == 1
        assert len(session.mounting.mounted) == 4
        assert len(asyncio.all_tasks()) == tasks


async def test_a_persons_own_settings_need_a_person_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Trust is given to a folder: a change of the settings at home is not part of that."""
    monkeypatch.setenv("HOME", str(project.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    user = project.home / ".config" / "amplifier" / "amplifier.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("session: {injection_size_limit: 5}\n")
    changes = ChangePolicy(accepts=lambda material: True)
    bundle = project.bundle(inherit=True)
    person = ScriptedApproval("Allow")
    async with project.session(bundle, changes=changes, approval_system=person) as session:
        user.write_text("session: {injection_size_limit: 7}\n")
        await session.execute("go")
        assert session.config["session"]["injection_size_limit"] == 5
        assert await session.reload()
        assert session.config["session"]["injection_size_limit"] == 7


async def test_what_hooks_left_out_at_the_start_cannot_become_locked_meanwhile(
    project: Project,
) -> None:
    """A change that hooks made is made again, but not against a lock."""
    project.write("leave.py", LEAVES_OUT)
    bundle = project.bundle(hooks=["./leave.py", counter("one")])
    async with project.session(bundle, approval_system=ScriptedApproval("Allow")) as session:
        assert await said(project, session) == []
        project.save(hooks=["./leave.py", counter("one", locked=True)])
        assert not await session.reload()
        assert "is locked; no hook can change it" in project.shown("reload")[-1]


async def test_nothing_is_reloaded_while_a_turn_is_under_way(project: Project) -> None:
    """A hook that asks for it gets an error, another task has to wait."""
    errors: list[str] = []
    async with project.session() as session:

        async def reload(event: str, data: dict[str, Any]) -> None:
            try:
                await session.reload()
            except SessionStateError as error:
                errors.append(str(error))

        session.coordinator.hooks.register("prompt:submit", reload)
        await session.execute("go")
    assert errors == ["A turn is under way; nothing can be reloaded meanwhile"]


LEAVES_OUT = """
from amplifier_core.models import HookResult

async def on_session_start(event, data):
    plan = data["mount_plan"]
    hooks = [one for one in plan["hooks"] if one.get("name") != "one"]
    return HookResult(action="modify", data={**data, "mount_plan": {**plan, "hooks": hooks}})
"""


async def test_a_bundle_that_is_gone_takes_no_guard_with_it(project: Project) -> None:
    """An empty folder needs no trust, so nobody has said that the hooks may go."""
    changes = ChangePolicy(accepts=lambda material: True)
    bundle = project.bundle(hooks=[counter("one")])
    async with project.session(bundle, changes=changes) as session:
        await said(project, session)
        (project.folder / "amplifier.yaml").unlink()
        assert await said(project, session) == ["one 2"]
        assert "The old settings stay" in project.shown("reload")[-1]
