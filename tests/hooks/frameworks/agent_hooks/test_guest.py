"""Our hooks as an interceptor: in the contract's reference host, and in Agent Framework."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import ApprovalOutcome

from amplifier_core import HookRegistry, HookResult
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.agent_hooks import AmplifierInterceptor
from tests.hooks.frameworks.agent_hooks.reference_host import Resolver, run_reference
from tests.support.hooks import asks, says

DENY = says("deny", reason="not here")
HOOK_FILE = """
from amplifier_core import HookResult, hook

@hook("tool:pre", on_error="deny")
async def guard(event, data):
    return HookResult(action="deny", reason="not here")
"""


def make_registry(event: str, hook: Any, name: str = "mine") -> HookRegistry:
    registry = HookRegistry()
    registry.register(event, hook, name=name)
    return registry


async def test_a_registry_judges_and_its_session_starts_and_ends_with_the_hosts() -> None:
    """One session of ours behind each of theirs, with a whole trail."""
    registry, heard, audit = HookRegistry(), EventRecorder(), MemoryAudit()
    registry.register("session:*", heard)
    registry.register("tool:pre", DENY, name="guard")
    record, _ = await run_reference(AmplifierInterceptor(registry, audit=audit))
    assert (record.outcome.value, record.tool_invocations) == ("completed", [])
    assert heard.names == ["session:start", "session:end"]
    assert heard.events[1][1]["reason"] == "complete"
    types = [one["type"] for one in audit.records]
    assert (types[0], types[-1]) == ("session_started", "session_ended")


@pytest.mark.parametrize("loaded", [True, False])
async def test_a_bundle_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, loaded: bool
) -> None:
    """By its path, or loaded before."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "guard.py").write_text(HOOK_FILE)
    bundle = tmp_path / "amplifier.yaml"
    bundle.write_text("hooks:\n  - ./guard.py\naudit: {enabled: false}\n")
    hooks = load_bundle(bundle) if loaded else str(bundle)
    record, _ = await run_reference(AmplifierInterceptor(hooks, folder=tmp_path))
    assert record.tool_invocations == []


async def test_a_coordinator_made_by_hand_judges_and_its_own_people_are_asked() -> None:
    """Whoever has an approval system is asked here; the host needs no resolver."""
    person = ScriptedApproval("Allow once", "Deny")
    coordinator = SessionCoordinator(make_registry("tool:pre", asks("Write?")), None, person)
    interceptor = AmplifierInterceptor(coordinator)
    record, _ = await run_reference(interceptor)
    assert record.tool_invocations
    record, watched = await run_reference(interceptor)
    assert record.tool_invocations == []
    assert not watched.at("pre_tool_call")[0].is_liftable
    assert person.prompts == ["Write?", "Write?"]


async def test_a_coordinator_without_people_leaves_the_question_to_the_host() -> None:
    """Before it has started; after that, a question is a plain denial."""
    coordinator = SessionCoordinator(make_registry("tool:pre", asks("Write?")))
    resolver = Resolver()
    await run_reference(AmplifierInterceptor(coordinator), resolver=resolver)
    assert len(resolver.requests) == 1
    sealed = SessionCoordinator(make_registry("tool:pre", asks("Write?")))
    sealed.seal()
    _, watched = await run_reference(AmplifierInterceptor(sealed), resolver=resolver)
    assert not watched.at("pre_tool_call")[0].is_liftable


async def test_with_an_approval_system_people_are_asked_here() -> None:
    """The resolver of the host is not."""
    person, resolver = ScriptedApproval("Allow once"), Resolver()
    registry = make_registry("tool:pre", asks("Write?"))
    interceptor = AmplifierInterceptor(registry, approval=person)
    record, _ = await run_reference(interceptor, resolver=resolver)
    assert record.tool_invocations
    assert (person.prompts, resolver.requests) == (["Write?"], [])


async def test_a_refused_start_blocks_everything() -> None:
    """The host is told why, and the session of ours is over."""
    registry = make_registry("session:start", says("deny", reason="not today"), "doorman")
    heard = EventRecorder()
    registry.register("session:end", heard)
    record, watched = await run_reference(AmplifierInterceptor(registry))
    assert record.outcome.value == "blocked"
    assert watched.at("agent_startup")[0].message == "Operation denied by doorman: not today"
    assert len(heard.events) == 1


async def test_50_sessions_at_once_do_not_hear_one_another() -> None:
    """Each has its own injections."""
    registry = HookRegistry()

    async def remind(_: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="inject_context", context_injection=f"for {data['session_id']}")

    registry.register("tool:post", remind)
    interceptor = AmplifierInterceptor(registry)
    runs = await asyncio.gather(*(run_reference(interceptor) for _ in range(50)))
    texts = [str(watched.at("pre_model_call")[1].transform) for _, watched in runs]
    assert len(set(texts)) == 50
    assert all(text.count("for ") == 1 for text in texts)


async def test_a_session_that_its_host_forgot_is_ended_with_the_interceptor() -> None:
    """Otherwise its hooks would never hear of the end."""
    heard = EventRecorder()
    interceptor = AmplifierInterceptor(make_registry("session:end", heard))
    _, watched = await run_reference(interceptor)
    await interceptor.intercept(watched.contexts[0])
    await interceptor.close()
    await interceptor.close()
    assert len(heard.events) == 2


async def test_a_governor_judges_and_asks_its_own_people() -> None:
    """As in front of every other framework."""
    person = ScriptedApproval("Deny")
    governor = govern(make_registry("tool:pre", asks("Write?")), approval=person)
    record, _ = await run_reference(AmplifierInterceptor(governor))
    assert (record.tool_invocations, person.prompts) == ([], ["Write?"])


def test_what_holds_no_hooks_is_refused() -> None:
    """It says what would do."""
    wrong: Any = 7
    with pytest.raises(TypeError, match=r"takes the path of a bundle, .* or a Governor, got int"):
        AmplifierInterceptor(wrong)


@pytest.mark.parametrize(
    ("outcome", "ran"), [(ApprovalOutcome.APPROVE, True), (ApprovalOutcome.REJECT, False)]
)
async def test_a_question_is_a_denial_that_the_hosts_resolver_may_lift(
    outcome: ApprovalOutcome, ran: bool
) -> None:
    """It is shown who asks what."""
    resolver = Resolver(outcome)
    registry = make_registry("tool:pre", asks("Write?"), "gate")
    record, _ = await run_reference(AmplifierInterceptor(registry), resolver=resolver)
    assert bool(record.tool_invocations) is ran
    (request,) = resolver.requests
    assert request.verdict.message == "Write?"
    (question,) = (request.verdict.approval or {})["questions"]
    assert (question["hook"], question["options"]) == ("gate", ["Allow", "Deny"])
