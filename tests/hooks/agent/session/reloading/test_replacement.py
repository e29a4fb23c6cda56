"""Modules are exchanged one for another: those that changed, all of them or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_core.session import AmplifierSession
from amplifier_hooks.agent.session.reloading.replacement import ModuleReplacer
from tests.support.project import Project, script
from tests.support.sessions import calls, plan_for

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
