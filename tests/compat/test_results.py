"""What a loop that emits by itself gets back, and what it does with it."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import ModuleCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_core.testing import MockContextManager, RecordingDisplay

REQUEST = "provider:request"


class Person:
    """Answers with what it is told to."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[tuple[str, list[str]]] = []

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        self.asked.append((prompt, options))
        return self.answer


def says(**fields: Any) -> Any:
    async def hook(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(**fields)

    return hook


def injects(text: str, **fields: Any) -> Any:
    return says(action="inject_context", context_injection=text, **fields)


async def prepare(approval: Any = None) -> ModuleCoordinator:
    coordinator = ModuleCoordinator(None, approval, RecordingDisplay())
    await coordinator.mount("context", MockContextManager())
    return coordinator


async def run(coordinator: ModuleCoordinator, event: str = REQUEST) -> HookResult:
    """What an existing loop does with an event."""
    result = await coordinator.hooks.emit(event, {"messages": []})
    return await coordinator.process_hook_result(result, event, "orchestrator")


async def test_what_was_stored_needs_nothing_more() -> None:
    """`continue`, or the loop would store it again."""
    coordinator = await prepare()
    coordinator.hooks.register(REQUEST, injects("kept"), name="status")
    assert (await run(coordinator)).action == "continue"
    [message] = coordinator.get("context").messages
    assert (message["role"], message["content"]) == ("system", "kept")
    assert message["metadata"]["source"] == "hook"
    assert (message["metadata"]["hook_name"], message["metadata"]["event"]) == ("status", REQUEST)
    assert message["metadata"]["timestamp"]


async def test_what_is_for_one_request_is_handed_to_the_loop() -> None:
    """The texts joined by a blank line, with their role and placement; nothing of it is stored."""
    coordinator = await prepare()
    once = {"ephemeral": True, "context_injection_role": "user"}
    coordinator.hooks.register(
        REQUEST, injects("one", append_to_last_tool_result=True, **once), priority=1
    )
    coordinator.hooks.register(REQUEST, injects("kept"), priority=2)
    coordinator.hooks.register(REQUEST, injects("two", **once), priority=3)
    result = await run(coordinator)
    assert (result.action, result.ephemeral) == ("inject_context", True)
    assert result.context_injection == "one\n\ntwo"
    assert (result.context_injection_role, result.append_to_last_tool_result) == ("user", True)
    assert [one["content"] for one in coordinator.get("context").messages] == ["kept"]


async def test_it_is_handed_over_once() -> None:
    """The request that our own loops build does not have it again."""
    coordinator = await prepare()
    unregister = coordinator.hooks.register(REQUEST, injects("now", ephemeral=True))
    assert (await run(coordinator)).context_injection == "now"
    unregister()
    opened = await coordinator.open_request({"messages": []})  # type: ignore[typeddict-item]
    assert opened.data is not None
    assert opened.data["messages"] == []


@pytest.mark.parametrize(("answer", "action"), [("Allow", "continue"), ("Deny", "deny")])
async def test_a_question_becomes_continue_or_deny(answer: str, action: str) -> None:
    """With the default question and options, where the hook gave none."""
    person = Person(answer)
    coordinator = await prepare(person)
    coordinator.hooks.register("tool:pre", says(action="ask_user"))
    result = await run(coordinator, "tool:pre")
    assert result.action == action
    assert person.asked == [("Allow this operation?", ["Allow", "Deny"])]
    if action == "deny":
        assert "User denied" in str(result.reason)


@pytest.mark.parametrize(
    "fields",
    [{}, {"action": "modify", "data": {"a": 1}}, {"action": "deny", "reason": "no"}],
    ids=["continue", "modify", "deny"],
)
async def test_other_results_come_back_as_the_same_object(fields: dict[str, Any]) -> None:
    coordinator = await prepare()
    result = HookResult(**fields)
    assert await coordinator.process_hook_result(result, "tool:pre", "hook") is result


@pytest.mark.parametrize("action", ["continue", "deny", "ask_user"])
async def test_a_folded_result_without_injections_has_an_empty_list(action: str) -> None:
    """Never None."""
    registry = HookRegistry()
    registry.register("x", says(action=action))
    assert (await registry.emit("x", {})).context_injections == []
    assert (await HookRegistry().emit("x", {})).context_injections == []


async def test_a_folded_result_carries_every_injection() -> None:
    """The scalar fields are a projection of them."""
    registry = HookRegistry()
    registry.register("x", injects("one"), name="a")
    registry.register("x", injects("two", ephemeral=True), name="b")
    result = await registry.emit("x", {})
    first, second = result.context_injections or []
    assert (first.content, first.role, first.ephemeral) == ("one", "system", False)
    assert (first.append_to_last_tool_result, first.hook_name, first.event) == (False, "a", "x")
    assert (second.content, second.ephemeral, second.hook_name) == ("two", True, "b")
    assert (result.context_injection, result.ephemeral) == ("one\n\ntwo", True)


async def test_reasons_say_why_nothing_was_allowed() -> None:
    class Slow:
        async def request_approval(self, *_: Any) -> str:
            from amplifier_core.approval import ApprovalTimeoutError

            raise ApprovalTimeoutError("late")

    for approval, text in ((None, "No approval system"), (Slow(), "timeout")):
        coordinator = await prepare(approval)
        coordinator.hooks.register("tool:pre", says(action="ask_user", approval_prompt="Go?"))
        result = await run(coordinator, "tool:pre")
        assert result.action == "deny"
        assert text.lower() in str(result.reason).lower()


@pytest.mark.parametrize("answer", ["Allow", "Allow once", "Allow always"])
async def test_the_usual_words_allow_though_they_were_not_offered(answer: str) -> None:
    """Front ends answer so from their own cache; it allows this once."""
    person = Person(answer)
    coordinator = await prepare(person)
    coordinator.hooks.register(
        "tool:pre", says(action="ask_user", approval_options=["Yes, go", "No"])
    )
    for _ in range(2):
        assert (await run(coordinator, "tool:pre")).action == "continue"
    assert len(person.asked) == 2


async def test_they_do_not_where_nothing_that_was_offered_allows() -> None:
    coordinator = await prepare(Person("Allow"))
    coordinator.hooks.register("tool:pre", says(action="ask_user", approval_options=["No", "Stop"]))
    assert (await run(coordinator, "tool:pre")).action == "deny"


async def test_a_message_is_shown_with_its_source() -> None:
    coordinator = await prepare()
    coordinator.hooks.register("x", says(user_message="a"), name="one")
    coordinator.hooks.register("x", says(user_message="b", user_message_source="two"))
    await run(coordinator, "x")
    sources = [source for _, _, source in coordinator.display_system.messages]  # type: ignore[attr-defined]
    assert sources == ["hook:one", "hook:two"]


async def test_who_is_collected_from_gets_no_timestamp() -> None:
    registry, seen = HookRegistry(), []

    async def hook(event: str, data: dict[str, Any]) -> HookResult:
        seen.append(data)
        return HookResult(data={"answer": 1})

    registry.register("x", hook)
    assert await registry.emit_and_collect("x", {"a": 1}) == [{"answer": 1}]
    assert seen == [{"a": 1}]


async def test_a_handler_of_another_signature_fails_when_it_is_called(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Registering it is a warning; what cannot be called at all is a TypeError."""
    registry: Any = HookRegistry()
    registry.register("x", lambda: None)
    assert "must take (event, data)" in caplog.text
    assert (await registry.emit("x", {})).action == "continue"
    assert "failed on 'x'" in caplog.text
    with pytest.raises(TypeError, match="must be callable"):
        registry.register("x", "text")
