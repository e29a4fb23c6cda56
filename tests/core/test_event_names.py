"""What an event may be called, and which known one a name nearly is."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.event_names import KNOWN, find_meant, find_problem
from amplifier_core.events import spellings
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from tests.support.hooks import says

# Names of modules' own, and of modules that exist: near no known event.
OWN = (
    "deploy:start", "deploy:end", "test:event", "session:config", "tool:selecting",
    "tool:selected", "provider:selected", "delegate:agent_spawned", "recipe:step", "skill:loaded",
    "mode:changed", "user:prompt", "todo:update", "a:b", "routing:*",
    "delegate:*", "image:generated", "notification:sent", "memory:stored", "build:complete",
)  # fmt: skip


def misspell(name: str) -> Iterator[str]:
    """Every name with one letter swapped, dropped, doubled or replaced."""
    for place, letter in enumerate(name):
        rest = name[place + 1 :]
        yield name[:place] + rest
        yield name[:place] + letter * 2 + rest
        yield name[:place] + ("x" if letter != "x" else "y") + rest
        yield name[:place] + rest[:1] + letter + rest[1:]


def test_every_slip_in_every_event_is_seen() -> None:
    """Swapped, dropped, doubled, replaced: at each letter."""
    for event in sorted(KNOWN):
        for wrong in misspell(event):
            meant = find_meant(wrong)
            assert (meant is None) == (wrong in KNOWN), wrong
        joined = [event.replace(":", one) for one in "._-/ "]
        for wrong in (*joined, event.title().replace(":", ""), event.upper()):
            assert find_meant(wrong) in spellings(event), wrong


def test_known_names_and_names_of_ones_own_pass(caplog: pytest.LogCaptureFixture) -> None:
    """Custom events are allowed, and nobody is told to rename them."""
    for event in (*sorted(KNOWN), *OWN):
        assert find_meant(event) is None, event
        HookRegistry().register(event, says(), on_error="deny")
    assert not caplog.messages


@pytest.mark.parametrize(
    ("pattern", "meant"),
    [
        ("tol:*", "tool:*"),
        ("tools:*", "tool:*"),
        ("sesion:*", "session:*"),
        ("*:per", "*:pre"),
        ("Tool*", "tool:*"),
        ("tool:*", None),
        ("tool:p*", None),
        ("*", None),
        ("*:start", None),
        ("deploy:*", None),
        ("*:rolled_back", None),
    ],
)
def test_a_pattern_that_nothing_matches_is_a_slip_if_it_is_near_one(
    pattern: str, meant: str | None
) -> None:
    """One that matches a known event is right, whatever it is near to."""
    assert find_meant(pattern) == meant


def test_a_slip_is_registered_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """It may be a custom event after all."""
    registry = HookRegistry()
    registry.register("tool:prre", says(), name="guard")
    assert registry.list_handlers() == {"tool:prre": ["guard"]}
    assert [(one.levelno, one.message) for one in caplog.records] == [
        (
            logging.WARNING,
            "Hook 'guard' on 'tool:prre' may never run: no event 'tool:prre' is known; "
            "did you mean 'tool:pre'?",
        )
    ]


# What people write who come from elsewhere, or guess; the events of coding agents are compared with
# the tables of `dialects` in tests/hooks.
MEANT = {
    "PreToolUse": "tool:pre",
    "pre_tool": "tool:pre",
    "tool_pre": "tool:pre",
    "BeforeTool": "tool:pre",
    "onToolCall": "tool:pre",
    "tool.execute.before": "tool:pre",
    "on_tool_start": "tool:pre",
    "before_tool_callback": "tool:pre",
    "PRE_TOOL_CALL": "tool:pre",
    "BeforeToolCallEvent": "tool:pre",
    "wrap_tool_call": "tool:pre",
    "preBashCommand": "tool:pre",
    "tool:before": "tool:pre",
    "tool:call": "tool:pre",
    "tool:bef*": "tool:pre",
    "tool:after": "tool:post",
    "after_tool": "tool:post",
    "on_tool_end": "tool:post",
    "tool:failure": "tool:error",
    "UserPromptSubmit": "prompt:submit",
    "before_model": "provider:request",
    "on_llm_end": "provider:response",
    "Stop": "orchestrator:complete",
    "SubagentStop": "agent:complete",
    "agent:stop": "agent:complete",
    "agent:start": "agent:spawn",
    "session:begin": "session:start",
    "PermissionRequest": "approval:required",
    "PreCompress": "context:pre_compact",
    "mcp:lists": "mcp:list",
    "execution_start": "execution:start",
    "execution:begin": "execution:start",
}
UNGUESSED = {
    "deploy": "no event 'deploy' is known; one of a module's own is called like 'deploy:start'",
    "x": "no event 'x' is known; one of a module's own is called like 'deploy:start'",
    "Pre*": "no known event matches 'Pre*'; one of a module's own is called like 'deploy:start'",
    "artifact:scan": "no event 'artifact:scan' is known; have artifact:read, artifact:write",
}


@pytest.mark.parametrize("wrong", [*MEANT, *UNGUESSED])
class TestAnEventThatNeverComes:
    def test_a_guard_on_it_is_refused(self, wrong: str) -> None:
        """With our name for what was probably meant: it would be a guard that is not there."""
        registry = HookRegistry()
        meant = f"did you mean '{MEANT.get(wrong)}'?"
        problem = find_problem(wrong)
        assert problem is not None
        assert problem.endswith(meant) or problem == UNGUESSED[wrong]
        with pytest.raises(ValueError, match="would never run") as refused:
            registry.register(wrong, says(), name="mine.guard", on_error="deny")
        assert str(refused.value) == f"Guard 'mine.guard' would never run: {problem}"
        with pytest.raises(ValueError, match="would never run"):
            registry.register(wrong, on_error="deny")(says())
        assert registry.list_handlers() == {}

    def test_who_only_looks_is_warned(self, wrong: str, caplog: pytest.LogCaptureFixture) -> None:
        """A module that emits such an event goes on as before."""
        HookRegistry().register(wrong, says())
        assert [one.levelno for one in caplog.records] == [logging.WARNING]
        assert str(find_problem(wrong)) in caplog.messages[0]

    def test_declaring_it_makes_it_an_event(
        self, wrong: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        """By whoever emits it, here or in a parent, or as modules of the ecosystem do it."""
        parent = HookRegistry()
        parent.declare(wrong.replace("*", "me"), "other:event")
        for registry in (parent, HookRegistry(parent)):
            registry.register(wrong, says(), on_error="deny")
        host = SessionCoordinator()
        host.register_capability("observability.events", [wrong.replace("*", "me"), None])
        host.hooks.register(wrong, says(), on_error="deny")
        assert not caplog.records


def test_what_is_declared_must_be_a_name() -> None:
    """As what is registered."""
    with pytest.raises(TypeError, match="An event name must be a string, got 3"):
        HookRegistry().declare("a:b", 3)  # type: ignore[arg-type]


class TestTheSameFunctionTwice:
    def test_it_is_said_and_both_run(self, caplog: pytest.LogCaptureFixture) -> None:
        """Modules of the ecosystem may do so; a person who did not mean to is told."""
        registry, hook = HookRegistry(), says()
        remove = registry.register("tool:pre", hook, name="once")
        registry.register("tool:pre", hook, name="again")
        assert caplog.messages == [
            "Hook 'again' on 'tool:pre' is registered for 'tool:pre' more than once, "
            "and runs each time"
        ]
        assert registry.list_handlers("tool:pre") == {"tool:pre": ["once", "again"]}
        remove()
        registry.unregister("again")
        registry.register("tool:pre", hook)
        assert len(caplog.messages) == 1

    def test_nobody_is_warned_who_listens_to_other_spellings_events_or_places(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        """Both spellings run it once; before and after others is meant so."""
        registry, hook = HookRegistry(), says()
        for event in ("tool:error", "error:tool", "tool:pre", "tool:*"):
            registry.register(event, hook)
        registry.register("tool:pre", hook, priority=5)
        HookRegistry(registry).register("tool:pre", hook)
        assert not caplog.records

    def test_a_guard_is_told_at_any_place(self, caplog: pytest.LogCaptureFixture) -> None:
        """It decides; a second time decides nothing."""
        registry, hook = HookRegistry(), says()
        registry.register("tool:pre", hook, priority=1, on_error="deny")
        registry.register("tool:pre", hook, priority=2, on_error="deny")
        assert len(caplog.messages) == 1

    async def test_the_person_is_asked_once(self) -> None:
        """One function with one question is one gate."""
        asked: list[str] = []

        class Person:
            async def request_approval(self, prompt: str, *more: object) -> str:
                asked.append(prompt)
                return "Allow"

        def guard(event: str, data: dict[str, object]) -> HookResult:
            return HookResult(action="ask_user", approval_prompt="Really?")

        host = SessionCoordinator(approval_system=Person())
        for event in ("tool:pre", "tool:pre", "tool:*"):
            host.hooks.register(event, guard, on_error="deny")
        result = await host.execute_with_hooks("tool:pre", {"tool_name": "T", "tool_input": {}})
        assert (result.action, asked) == ("continue", ["Really?"])
