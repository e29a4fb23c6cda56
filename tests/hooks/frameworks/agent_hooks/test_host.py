"""As a host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import (
    AgentContextBuilder,
    DeclarationError,
    EnforcementMode,
    HostRegistry,
    IdentityProvider,
    Transform,
    Verdict,
)

from amplifier_core.errors import SessionDenied
from amplifier_core.models import HookResult
from amplifier_core.testing import EventRecorder, MockTool, ScriptedApproval
from amplifier_hooks.frameworks.agent_hooks import (
    describe_surface,
    host_declaration,
    host_interceptors,
)
from amplifier_hooks.frameworks.agent_hooks.host import (
    RECORD,
    TOO_LATE,
    build_emitter,
)
from tests.support.sessions import SessionHarness, calls

POINTS = [
    "agent_startup",
    "input",
    "pre_model_call",
    "post_model_call",
    "pre_tool_call",
    "post_tool_call",
    "pre_model_call",
    "post_model_call",
    "output",
    "agent_shutdown",
]


class Judge:
    """An interceptor that says one thing at one point, and keeps what it was shown."""

    def __init__(self, point: str = "", verdict: Verdict | None = None) -> None:
        self._point = point
        self._verdict = verdict
        self.contexts: list[dict[str, Any]] = []

    async def intercept(self, context: dict[str, Any], /) -> Verdict:
        self.contexts.append(context)
        here = context["interception_point"] == self._point
        return self._verdict if here and self._verdict is not None else Verdict.allow()

    def at(self, point: str) -> list[dict[str, Any]]:
        return [one for one in self.contexts if one["interception_point"] == point]


def make_session(**more: Any) -> SessionHarness:
    """A session that calls Write once and answers."""
    script = [calls("Write", path="a.txt", text="x"), {"text": "the answer"}]
    return SessionHarness(script, tools=[MockTool("Write", "written")], **more)


def change(path: str, value: Any) -> Verdict:
    return Verdict.from_wire(
        {"decision": "transform", "transform": Transform(path=path, value=value).to_wire()}
    )


async def run(judge: Judge, harness: SessionHarness, **options: Any) -> tuple[str, Any]:
    judges: list[Any] = [judge]
    host = host_interceptors(harness.session, judges, **options)
    async with harness:
        return await harness.session.execute("go"), host


async def test_all_eight_points_are_emitted_in_order_and_recorded_without_payloads() -> None:
    """One record for each, in the trail as well."""
    judge, harness = Judge(), make_session()
    answer, host = await run(judge, harness)
    assert answer == "the answer"
    assert [one["interception_point"] for one in judge.contexts] == POINTS
    assert [one["sequence"] for one in judge.contexts] == list(range(len(POINTS)))
    assert judge.contexts[0]["agent_init"]["tools_registered"] == ["Write"]
    assert judge.contexts[-1]["summary"]["reason"] == "completed"
    assert [one.interception_point.value for one in host.records] == POINTS
    kept = [one["body"] for one in harness.trail.of_type(RECORD)]
    assert [one["interception_point"] for one in kept] == POINTS
    assert "the answer" not in json.dumps(kept)


@pytest.mark.parametrize("point", ["input", "pre_model_call", "post_model_call", "output"])
async def test_a_denial_ends_the_turn_and_its_text_is_no_output(point: str) -> None:
    """The reply is the reason; it is not emitted as if the agent had said it."""
    judge = Judge(point, Verdict.deny(reason="policy:no", message="not this"))
    harness = make_session()
    answer, host = await run(judge, harness)
    assert answer == "Operation denied by agent-hooks: not this (policy:no)"
    assert [one["output"]["content"] for one in judge.at("output")] == (
        ["the answer"] if point == "output" else []
    )
    assert host.records[-1].interception_point.value == "agent_shutdown"


async def test_whether_a_turn_was_blocked_can_be_asked() -> None:
    """A denied tool call ends no turn."""
    for point, blocked in (("output", True), ("pre_tool_call", False)):
        judge, harness = Judge(point, Verdict.deny(reason="policy:no")), make_session()
        judges: list[Any] = [judge]
        host = host_interceptors(harness.session, judges)
        async with harness:
            await harness.session.execute("go")
            assert host.is_blocked() is blocked


async def test_a_refused_start_is_told_with_its_end() -> None:
    """The shutdown of a session that was not to start is an error there."""
    judge = Judge("agent_startup", Verdict.deny(reason="policy:no"))
    harness = make_session()
    with pytest.raises(SessionDenied, match="policy:no"):
        await run(judge, harness)
    assert judge.contexts[-1]["summary"]["reason"] == "error"


@pytest.mark.parametrize(
    ("point", "path", "value", "seen"),
    [
        ("input", "$target.content", "better", "better"),
        ("pre_tool_call", "$target.path", "b.txt", "b.txt"),
        ("post_tool_call", "$target", "hidden", "hidden"),
        ("output", "$target.content", "changed", "changed"),
        ("post_model_call", "$target.finish_reason", "stop", "the answer"),
    ],
)
async def test_a_rewrite_is_what_goes_on(point: str, path: str, value: Any, seen: str) -> None:
    """To the model, to the tool, to the conversation, to the user."""
    harness = make_session()
    answer, _ = await run(Judge(point, change(path, value)), harness)
    everything = [answer, *map(str, harness.tools["Write"].calls), *map(str, harness.messages)]
    assert any(seen in one for one in everything)


async def test_rewritten_messages_are_sent_and_the_conversation_stays() -> None:
    """As with every hook at provider:request."""
    told = [{"role": "user", "content": "something else"}]
    judge, harness = Judge("pre_model_call", change("$target", told)), make_session()
    heard = EventRecorder()
    harness.hooks.register("provider:request", heard, priority=9_500)
    await run(judge, harness)
    assert heard.events[0][1]["messages"][0]["content"] == "something else"
    assert harness.texts("user") == ["go"]


@pytest.mark.parametrize(
    ("point", "path", "value", "why"),
    [
        ("input", "$target.content", ["x"], "a prompt is a text here, got list"),
        ("input", "$target.role", "system", "the role of a prompt stays 'user' here"),
        ("output", "$target.content", 7, "an answer is a text here, got int"),
        ("pre_model_call", "$target", "x", "messages are a list of objects, got str"),
        ("post_model_call", "$target.tool_calls", [{"name": 1}], "a reply has content"),
    ],
)
async def test_a_rewrite_that_cannot_be_carried_out_denies(
    point: str, path: str, value: Any, why: str
) -> None:
    """Nothing goes on that the interceptor did not want."""
    answer, _ = await run(Judge(point, change(path, value)), make_session())
    assert f"a rewrite cannot be used: {why}" in answer


async def test_warnings_are_shown() -> None:
    """They change nothing else."""
    judge, harness = (
        Judge("input", Verdict.warn(reason="policy:odd", message="odd")),
        make_session(),
    )
    answer, _ = await run(judge, harness)
    assert answer == "the answer"
    assert ("odd", "warning", "hook:agent-hooks") in harness.screen.messages


async def test_an_interceptor_that_fails_or_hangs_denies() -> None:
    """The contract fails closed, with its own reasons."""

    class Broken:
        async def intercept(self, context: dict[str, Any], /) -> Verdict:
            raise RuntimeError("a secret")

    broken: list[Any] = [Broken()]
    harness = make_session()
    host_interceptors(harness.session, broken)
    with pytest.raises(SessionDenied, match="host_error:interceptor_failed"):
        await harness.session.start()


async def test_without_any_interceptor_nothing_starts() -> None:
    """A host that nobody judges denies everything."""
    harness = make_session()
    host_interceptors(harness.session, [])
    with pytest.raises(SessionDenied, match="host_error:no_interceptor"):
        await harness.session.start()


@pytest.mark.parametrize("shadow", [True, False])
async def test_evaluate_only_asks_and_records_and_changes_nothing(shadow: bool) -> None:
    """By its own mode, or because the session is in shadow mode, which then tells of it."""
    judge = Judge("pre_tool_call", Verdict.deny(reason="policy:no"))
    harness = make_session(session={"evaluate_only": shadow})
    options: dict[str, Any] = {} if shadow else {"mode": EnforcementMode.EVALUATE_ONLY}
    answer, host = await run(judge, harness, **options)
    assert answer == "the answer"
    assert harness.tools["Write"].call_count == 1
    assert {one.mode for one in host.records} == {EnforcementMode.EVALUATE_ONLY}
    told = [one["body"]["would"] for one in harness.trail.of_type("shadowed")]
    assert told == (["would have denied the call: policy:no"] if shadow else [])


async def test_interceptors_judge_behind_our_hooks() -> None:
    """What they see is what runs."""
    judge, harness = Judge(), make_session()
    changed = HookResult(
        action="modify", data={"tool_name": "Write", "tool_input": {"path": "c.txt"}}
    )
    harness.hooks.register("tool:pre", EventRecorder(changed), priority=100)
    await run(judge, harness)
    assert judge.at("pre_tool_call")[0]["tool_call"]["args"] == {"path": "c.txt"}


async def test_what_is_attached_too_late_denies_everything() -> None:
    """The start was not judged, so nothing that follows may be."""
    harness = make_session()
    async with harness:
        judges: list[Any] = [Judge()]
        host = host_interceptors(harness.coordinator, judges)
        assert TOO_LATE in await harness.session.execute("go")
        host.remove()
        assert TOO_LATE not in await harness.session.execute("go")


HOOK_FILE = """
from agent_hooks import Verdict
from amplifier_hooks.frameworks.agent_hooks import host_interceptors


class Policy:
    def intercept(self, context):
        return Verdict.deny(reason="policy:no") if "tool_call" in context else Verdict.allow()


async def mount(coordinator, config):
    return host_interceptors(coordinator, [Policy()]).remove
"""


async def test_a_bundle_may_mount_them_from_a_hook_file(tmp_path: Path) -> None:
    """Two lines of a module: hooks are mounted before the session starts."""
    (tmp_path / "policy.py").write_text(HOOK_FILE)
    harness = make_session(hooks=[{"module": str(tmp_path / "policy.py"), "required": True}])
    async with harness:
        assert await harness.session.execute("go") == "the answer"
    assert harness.tools["Write"].call_count == 0


async def test_a_sub_agent_is_a_session_with_its_own_sequence() -> None:
    """Its tools are those of its plan."""
    judge, harness = Judge(), make_session()
    await run_child(judge, harness)
    starts = judge.at("agent_startup")
    assert [one["sequence"] for one in starts] == [0, 0]
    assert starts[0]["session"]["id"] != starts[1]["session"]["id"]
    assert starts[1]["agent_init"]["tools_registered"] == ["tool-filesystem"]


async def run_child(judge: Judge, harness: SessionHarness) -> None:
    judges: list[Any] = [judge]
    host_interceptors(harness.session, judges)
    async with harness:
        more: dict[str, Any] = {"parent_hooks": harness.hooks, "parent_id": "p"}
        async with SessionHarness([], tool_modules=["tool-filesystem"], **more):
            pass


class TestDeclaration:
    """A host declaration says which interceptors run, where, and how."""

    def make_registry(self, judge: Any) -> HostRegistry:  # the SDK wants a narrower context
        return HostRegistry(describe_surface()).kind("test.judge", lambda config, context: judge)

    def write(self, **more: Any) -> dict[str, Any]:
        return {
            "declaration": "agent-hooks-declaration/1.0",
            "spec": "agent-hooks/0.1",
            "bindings": [{"id": "judge", "kind": "test.judge"}],
            **more,
        }

    @pytest.mark.parametrize("in_file", [True, False])
    async def test_it_holds(self, tmp_path: Path, in_file: bool) -> None:
        """From a file or as a value; each record names the contract of the declaration."""
        path = tmp_path / "host.json"
        path.write_text(json.dumps(self.write()))
        judge, harness = Judge("output", Verdict.deny(reason="policy:no")), make_session()
        registry = self.make_registry(judge)
        host = host_declaration(harness.session, path if in_file else self.write(), registry)
        async with harness:
            assert "policy:no" in await harness.session.execute("go")
        assert {one.declaration for one in host.records} == {"agent-hooks-declaration/1.0"}

    def test_one_that_cannot_be_held_to_is_refused(self) -> None:
        """Nothing is attached."""
        harness = make_session()
        registry = self.make_registry(Judge())
        with pytest.raises(DeclarationError):
            host_declaration(harness.session, self.write(spec="agent-hooks/9.9"), registry)
        assert not harness.hooks.has_listeners("tool:pre")


async def test_a_liftable_denial_is_put_to_the_session_s_own_people() -> None:
    """Without a resolver of the contract; with none at all it stands."""
    ask = Verdict.escalate(reason="policy:ask", message="Write a.txt?")
    person = ScriptedApproval("Allow once")
    harness = make_session(approval=person)
    await run(Judge("pre_tool_call", ask), harness)
    assert harness.tools["Write"].call_count == 1
    assert person.prompts == ["Allow this? Write a.txt?"]
    harness = make_session(approval=person)
    await run(Judge("pre_tool_call", ask), harness, resolver=None)
    assert harness.tools["Write"].call_count == 0


async def test_what_a_person_has_allowed_is_judged_once_more_as_an_emission_of_its_own() -> None:
    """With its own number in the sequence; meanwhile something may have changed."""
    judge, harness = Judge(), make_session(approval=ScriptedApproval("Allow once"))
    question = HookResult(action="ask_user", approval_prompt="Write?")
    harness.hooks.register("tool:pre", EventRecorder(question), name="gate")
    await run(judge, harness)
    numbers = [one["sequence"] for one in judge.at("pre_tool_call")]
    assert len(set(numbers)) == 2
    assert harness.tools["Write"].call_count == 1


class Allow:
    def intercept(self, context: dict[str, Any], /) -> Verdict:
        return Verdict.allow()


def make_context() -> dict[str, Any]:
    builder = AgentContextBuilder(agent_id="a", framework="f", session_id="s")
    return builder.input(content="go")


def test_the_surface_has_every_point_and_hands_over_whole_answers() -> None:
    """A declaration that wants more is refused."""
    surface = describe_surface().to_wire()
    assert len(surface["interception_points"]) == 8
    assert "incremental_output" not in surface["capabilities"]


async def test_a_record_names_the_interceptors_that_have_names() -> None:
    """And the declaration that held."""
    emitter = build_emitter({"policy": Allow()}, None, {})
    record = await emitter.emit_unchecked(make_context())
    assert (record.interceptors_registered, record.declaration) == (
        1,
        "agent-hooks-declaration/1.0",
    )
    assert emitter.declaration is not None
    assert [one.id for one in emitter.declaration.bindings] == ["policy"]


def test_people_are_not_held_to_the_time_of_an_interceptor() -> None:
    """Five seconds would refuse every approval of a person."""
    default = build_emitter([Allow()], None, {}).declaration
    given = build_emitter([Allow()], None, {"timeout": None, "resolver_timeout": 0.5}).declaration
    assert default is not None
    assert given is not None
    assert default.configuration["timeouts"] == {
        "approval_resolver_ms": None,
        "interceptor_ms": 5000,
    }
    assert given.configuration["timeouts"] == {
        "approval_resolver_ms": 500,
        "interceptor_ms": None,
    }


async def test_a_provider_of_identities_may_be_ones_own() -> None:
    """Or there is none."""
    own = IdentityProvider("numbers", lambda context: str(context["sequence"]))
    record = await build_emitter([Allow()], None, {"identity_provider": own}).emit_unchecked(
        make_context()
    )
    assert (record.identity_provider, record.input_identity) == ("numbers", "0")
    unbound = build_emitter([Allow()], None, {"identity_provider": None})
    assert (await unbound.emit_unchecked(make_context())).input_identity is None
