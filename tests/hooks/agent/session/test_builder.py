"""The sessions of a bundle share the person, the screen and the trail."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.errors import ModuleLoadError
from amplifier_core.module_sources import ModuleNotFoundError
from amplifier_core.testing import MemoryAudit, RecordingDisplay, ScriptedApproval
from amplifier_hooks.agent.session.assembled import AssembledSession
from amplifier_hooks.agent.session.builder import SessionBuilder
from amplifier_hooks.agent.session.child_plan import build_child_plan
from amplifier_hooks.agent.session.spawning import Spawner
from amplifier_hooks.approvals import EditsApproval, RulesApproval
from amplifier_hooks.guards.policy.places import get_places
from tests.hooks.approvals.questions import ask
from tests.support.project import SECRET, Project

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
