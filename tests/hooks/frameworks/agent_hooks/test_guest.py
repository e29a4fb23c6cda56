"""As a guest in any host of the contract."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agent_hooks")

from agent_hooks import ApprovalOutcome, ApprovalRequest, InterceptionPoint, Verdict
from agent_hooks.ctk.runner import load_vectors, run_vector

from amplifier_core import HookRegistry, HookResult
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, HandedOver
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.testing import EventRecorder, MemoryAudit, ScriptedApproval
from amplifier_hooks.agent.bundles import load_bundle
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.agent_hooks import AmplifierInterceptor
from amplifier_hooks.frameworks.agent_hooks.guest import HOST, HandingOver, note_questions
from amplifier_hooks.frameworks.agent_hooks.host import GateResolver
from amplifier_hooks.frameworks.agent_hooks.translation import CHANGED_AND_ASKED
from tests.hooks.frameworks.agent_hooks.conforming_host import ConformingHost
from tests.hooks.frameworks.agent_hooks.reference_host import (
    WRITE,
    Resolver,
    make_scenario,
    run_reference,
)
from tests.support.harness import Harness
from tests.support.hooks import asks, injects, raises, says

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


def changes(key: str, value: Any) -> Any:
    """A hook that changes one field."""

    async def hook(_: str, data: dict[str, Any]) -> HookResult:
        changed = value(data[key]) if callable(value) else value
        return HookResult(action="modify", data={**data, key: changed})

    return hook


def make(event: str, *hooks: Any) -> AmplifierInterceptor:
    registry = HookRegistry()
    for number, hook in enumerate(hooks):
        registry.register(event, hook, name=f"hook{number}")
    return AmplifierInterceptor(registry)


async def test_every_point_is_the_event_that_it_is_here() -> None:
    """With the data that our hooks know."""
    heard = EventRecorder()
    await run_reference(make("*", heard))
    told = [(name, data) for name, data in heard.events if not name.startswith("session:")]
    assert [name for name, _ in told] == [
        "prompt:submit",
        "provider:request",
        "provider:response",
        "tool:pre",
        "tool:post",
        "provider:request",
        "provider:response",
        "prompt:answer",
        "prompt:complete",
    ]
    data = dict(reversed(told))
    assert data["prompt:submit"]["prompt"] == "go"
    assert data["tool:pre"]["tool_input"] == WRITE
    assert data["tool:post"]["tool_result"]["output"] == "the PIN is 4711"
    assert data["provider:response"]["response"]["tool_calls"][0]["name"] == "write"
    assert data["prompt:answer"]["response"] == "done"


@pytest.mark.parametrize(
    ("event", "key", "value", "point", "path"),
    [
        ("prompt:submit", "prompt", "better", "input", "$target.content"),
        ("tool:pre", "tool_input", {**WRITE, "text": "y"}, "pre_tool_call", "$target.text"),
        (
            "tool:post",
            "tool_result",
            lambda found: {**found, "output": "hidden"},
            "post_tool_call",
            "$target",
        ),
        ("prompt:answer", "response", "changed", "output", "$target.content"),
        (
            "provider:response",
            "response",
            lambda found: {**found, "tool_calls": []},
            "post_model_call",
            "$target.tool_calls",
        ),
        (
            "provider:response",
            "response",
            lambda found: {**found, "content": [{"type": "text", "text": "changed"}]},
            "post_model_call",
            "$target.content",
        ),
        (
            "provider:request",
            "messages",
            lambda found: [{**found[0], "content": "other"}, *found[1:]],
            "pre_model_call",
            "$target[0].content",
        ),
    ],
)
async def test_what_a_hook_changes_is_the_smallest_rewrite(
    event: str, key: str, value: Any, point: str, path: str
) -> None:
    """Of what is at that point, and of nothing else."""
    _, watched = await run_reference(make(event, changes(key, value)))
    transform = watched.at(point)[0].transform
    assert transform is not None
    assert transform.path == path


@pytest.mark.parametrize(
    ("event", "point"),
    [
        ("prompt:submit", "input"),
        ("provider:request", "pre_model_call"),
        ("provider:response", "post_model_call"),
        ("tool:pre", "pre_tool_call"),
        ("tool:post", "post_tool_call"),
        ("prompt:answer", "output"),
    ],
)
async def test_at_each_point_a_hook_may_deny_ask_or_fail(event: str, point: str) -> None:
    """A guard that fails denies, and what it raised is not told."""
    _, watched = await run_reference(make(event, says("deny", reason="no")))
    assert (watched.at(point)[0].message, watched.at(point)[0].is_liftable) == ("no", False)
    _, watched = await run_reference(make(event, asks("May it?")))
    assert (watched.at(point)[0].message, watched.at(point)[0].is_liftable) == ("May it?", True)
    registry = HookRegistry()
    registry.register(event, raises(RuntimeError("a secret")), name="guard", on_error="deny")
    _, watched = await run_reference(AmplifierInterceptor(registry))
    assert watched.at(point)[0].message == "hook 'guard' failed"


async def test_every_gate_is_asked_before_the_host_may_lift_the_denial() -> None:
    """One yes for one of two questions would be a yes to what nobody was asked."""
    resolver = Resolver()
    await run_reference(make("tool:pre", asks("One?"), asks("Two?")), resolver=resolver)
    assert [one.verdict.message for one in resolver.requests] == ["One?; Two?"]


async def test_what_was_changed_and_is_asked_about_is_denied() -> None:
    """Lifted, it would run as it was before the change."""
    resolver = Resolver()
    changed = changes("tool_input", {"path": "other"})
    record, watched = await run_reference(
        make("tool:pre", changed, asks("May it?")), resolver=resolver
    )
    assert (record.tool_invocations, resolver.requests) == ([], [])
    assert watched.at("pre_tool_call")[0].message == CHANGED_AND_ASKED


async def test_another_tool_cannot_be_chosen() -> None:
    """The host would run the one that it has."""
    record, watched = await run_reference(make("tool:pre", changes("tool_name", "other")))
    assert record.tool_invocations == []
    assert "another tool" in (watched.at("pre_tool_call")[0].message or "")


async def test_what_a_hook_left_that_is_no_text_denies() -> None:
    """As in a session of our own."""
    _, watched = await run_reference(make("prompt:answer", changes("response", 7)))
    assert watched.at("output")[0].message == "a hook left no usable response: int"


@pytest.mark.parametrize("event", ["prompt:submit", "tool:post", "provider:request"])
async def test_what_is_injected_is_in_the_next_request_and_those_after_it(event: str) -> None:
    """Once, also where the host keeps the rewritten messages."""
    _, watched = await run_reference(make(event, injects("mind the gap")))
    last = watched.at("pre_model_call")[-1].transform
    requests = [one for one in watched.contexts if one["interception_point"] == "pre_model_call"]
    kept = str(requests[-1]["messages"]) + ("" if last is None else str(last.value))
    assert "mind the gap" in kept
    if event == "prompt:submit":
        assert str(requests[-1]["messages"]).count("mind the gap") == 1
        assert last is None


async def test_what_is_injected_for_one_request_is_in_that_one_alone() -> None:
    """The next time it is asked for again, if at all."""
    _, watched = await run_reference(make("prompt:submit", injects("now only", ephemeral=True)))
    first, second = (one.transform for one in watched.at("pre_model_call"))
    assert first is not None
    assert "now only" in str(first.value)
    assert second is None


async def test_a_call_is_on_record_from_its_start_to_its_end() -> None:
    """With what it was called with and what it returned, as digests."""
    audit = MemoryAudit()
    await run_reference(AmplifierInterceptor(HookRegistry(), audit=audit))
    (started,), (finished,) = audit.of_type("tool_started"), audit.of_type("tool_finished")
    assert started["body"]["id"] == finished["body"]["id"] == "c1"
    assert finished["body"]["outcome"] == "returned"


async def test_a_trail_that_takes_no_records_stops_what_had_to_be_on_it() -> None:
    """A gated call must be on disk before it runs."""
    audit = MemoryAudit()
    registry = HookRegistry()
    registry.register("tool:pre", asks("May it?"))
    audit.fail()
    record, _ = await run_reference(AmplifierInterceptor(registry, audit=audit), make_scenario())
    assert record.tool_invocations == []


CALL = {"tool_call": {"id": "c1", "name": "Write", "args": {"path": "a.txt"}}}


def make_request(
    verdict: Verdict, point: InterceptionPoint = InterceptionPoint.PRE_TOOL_CALL, **context: Any
) -> ApprovalRequest:
    return ApprovalRequest("sha256:1", point, verdict, context or CALL)


@pytest.mark.parametrize(
    ("option", "outcome"), [("Allow once", "approve"), ("Allow", "approve"), ("Deny", "reject")]
)
async def test_a_yes_lifts_the_denial_and_anything_else_does_not(option: str, outcome: str) -> None:
    """The answer echoes what it is about; the question shows what would run, and is on record."""
    person = ScriptedApproval(option)
    harness = Harness(approval=person)
    verdict = Verdict.escalate(reason="policy:ask", message="Really?")
    found = await GateResolver(harness.coordinator, "agent-hooks").resolve(make_request(verdict))
    assert (found.outcome, found.context_identity) == (ApprovalOutcome(outcome), "sha256:1")
    (question,) = person.questions
    assert (question.prompt, question.hook) == ("Allow this? Really?", "agent-hooks")
    assert (question.tool_name, question.tool_input) == ("Write", {"path": "a.txt"})
    assert len(harness.trail.of_type("approval_decided")) == 1


async def test_without_anybody_to_ask_the_denial_stands() -> None:
    """Nobody is no yes."""
    resolver = GateResolver(Harness().coordinator, "agent-hooks")
    found = await resolver.resolve(make_request(Verdict.escalate()))
    assert found.outcome is ApprovalOutcome.REJECT
    assert found.verdict is not None
    assert "No approval system" in (found.verdict.message or "")


async def test_what_is_no_call_can_be_asked_about_as_well() -> None:
    """An answer that is to go out, for example."""
    person = ScriptedApproval("Allow once")
    resolver = GateResolver(Harness(approval=person).coordinator, "agent-hooks")
    request = make_request(
        Verdict.escalate(reason="policy:ask"), InterceptionPoint.OUTPUT, target={"content": "x"}
    )
    assert (await resolver.resolve(request)).outcome is ApprovalOutcome.APPROVE
    assert person.questions[0].event == "prompt:answer"


def make_question(*options: str) -> ApprovalQuestion:
    return ApprovalQuestion("Write?", options, 300, "allow", hook="gate")


async def test_a_question_is_noted_and_lets_the_next_gate_be_asked() -> None:
    """Nothing is decided by that, and nobody remembers anything."""
    with note_questions() as asked:
        question = make_question("Allow always", "Allow once", "Deny")
        answer = await HandingOver().decide(question)
    assert asked == [question]
    assert answer == HandedOver(HOST, goes_on=True)


async def test_without_a_yes_for_once_it_is_a_no() -> None:
    """Whatever the default of the question says."""
    with note_questions() as asked:
        assert _is_no(await HandingOver().decide(make_question("Allow always", "No")))
    assert asked == []


async def test_outside_of_an_interception_it_is_a_no() -> None:
    """There is no verdict that could carry the question."""
    assert _is_no(await HandingOver().decide(make_question("Allow", "Deny")))


def _is_no(answer: ApprovalAnswer | HandedOver) -> bool:
    return isinstance(answer, ApprovalAnswer) and answer.option == "Deny"


VECTORS = load_vectors()
NOT_OURS = "incremental_output"
"""The only capability that this host does not declare: it hands over whole answers."""


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: str(one["id"]))
async def test_the_session_does_what_the_vector_says(vector: dict[str, Any]) -> None:
    """Every vector that applies passes; what is skipped is skipped by its capability alone."""
    host: Any = ConformingHost()  # what is optional in the kit's text is required by its type
    result = await run_vector(host, vector)
    if NOT_OURS in vector["capabilities"]:
        assert result.status == "skip"
        pytest.skip(result.detail)
    assert (result.status, result.failures) == ("pass", [])


def test_71_of_the_75_vectors_apply() -> None:
    """A kit with fewer vectors, or more that do not apply, would prove less than we claim."""
    applying = [one for one in VECTORS if NOT_OURS not in one["capabilities"]]
    assert (len(VECTORS), len(applying)) == (75, 71)
