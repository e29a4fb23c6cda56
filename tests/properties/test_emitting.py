"""Emitting to hooks of every kind: who is called with what, and whose answer it is."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_core.dispatch import find_dispatch
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from tests.support.hooks import PRE, Data

SPELLED, OTHER_SPELLING = "execution:end", "execution:complete"
ANSWERS: dict[str, Any] = {
    "silent": HookResult(),
    "none": None,
    "deny": HookResult(action="deny", reason="no"),
    "ask": HookResult(action="ask_user", approval_prompt="go?"),
    "inject": HookResult(action="inject_context", context_injection="note"),
    "tells": HookResult(user_message="hello"),
    "nonsense": 5,
    "raises": ValueError("boom"),
    "cancels": asyncio.CancelledError(),
}
KINDS = [*ANSWERS, "silent", "modify", "in place", "plain function"]
WAYS = ["plain", "guard", "limited", "pattern", "other spelling"]


class Odd(list[int]):
    """A container that has no plain copy."""


PAYLOADS: dict[str, Callable[[], Any]] = {
    "plain": lambda: {"x": "given", "list": [1]},
    "odd": lambda: {"list": [1], "odd": Odd([1])},
    "nothing": lambda: None,
    "value": lambda: 5,
}


class Scene:
    """A registry with some hooks, and what was seen of them."""

    def __init__(self, event: str, hooks: list[tuple[str, str]]) -> None:
        self.registry = HookRegistry()
        self.registry.set_default_fields(session_id="s", x="default")
        self.registry.reporter = self.report
        self.seen: list[Any] = []
        self.failed: list[str] = []
        self._held: list[Data] = []
        for number, (kind, way) in enumerate(hooks):
            self.register(event, f"{number} {kind} {way}", kind, way)

    def register(self, event: str, name: str, kind: str, way: str) -> None:
        limits: Any = {"guard": {"on_error": "deny"}, "limited": {"timeout": 50.0}}.get(way, {})
        spelled = event.split(":")[0] + ":*" if way == "pattern" else event
        if way == "other spelling" and event == SPELLED:
            spelled = OTHER_SPELLING
        handler = self.make_hook(name, kind, way)
        self.registry.register(spelled, handler, name=name, **limits)

    def make_hook(self, name: str, kind: str, way: str) -> Any:
        def answer(event: str, data: Data) -> Any:
            own = way == "guard" and not any(data is other for other in self._held)
            self._held.append(data)
            self.seen.append((name, event, own, tidy(data)))
            if kind == "modify":
                return HookResult(
                    action="modify", data={**data, "list": [*data.get("list", []), 2]}
                )
            if kind == "in place":
                data["list"] = "changed"
            found = ANSWERS.get(kind, HookResult())
            if isinstance(found, BaseException):
                raise type(found)(*found.args)
            return found

        async def hook(event: str, data: Data) -> Any:
            return answer(event, data)

        return answer if kind == "plain function" else hook

    async def report(self, run: Any) -> None:
        self.failed += [problem.handler.name for problem in run.problems]

    async def observe(self, event: str, data: Any) -> Any:
        run = find_dispatch(await self.registry.emit(event, data))
        spoken = [(one.hook, one.result.action) for one in run.answers] if run else []
        return self.seen, self.failed, spoken


def tidy(data: Data | None) -> dict[str, str]:
    """What can be compared: not the time, and of an id only that there is one."""
    known = {key: repr(value) for key, value in (data or {}).items() if key != "timestamp"}
    return {**known, "stamped": str("timestamp" in (data or {}))} | (
        {"request_id": "an id"} if "request_id" in known else {}
    )


@example(PRE, [("silent", "plain"), ("silent", "guard")], "plain")
@example(PRE, [("in place", "plain"), ("silent", "guard")], "plain")
@given(
    st.sampled_from([PRE, SPELLED, "llm:request", "mine:own"]),
    st.lists(st.tuples(st.sampled_from(KINDS), st.sampled_from(WAYS)), max_size=4),
    st.sampled_from(sorted(PAYLOADS)),
)
def test_a_guard_gets_a_copy_that_no_other_hook_ever_held(
    event: str, hooks: list[tuple[str, str]], payload: str
) -> None:
    """Whatever the others answer, and of whatever kind the data are."""
    seen, *_ = asyncio.run(Scene(event, hooks).observe(event, PAYLOADS[payload]()))
    assert all(own for name, _, own, _ in seen if name.endswith("guard"))


@given(
    st.lists(st.sampled_from(["silent", "in place", "inject"]), max_size=3),
    st.sampled_from([kind for kind in KINDS if kind != "silent"]),
)
def test_each_hook_is_called_once_with_the_fields_of_all_events(
    before: list[str], last: str
) -> None:
    """Nobody is called again, and the answer is that hook's own."""
    hooks = [(kind, "plain") for kind in [*before, last]]
    seen, failed, spoken = asyncio.run(Scene(PRE, hooks).observe(PRE, {"x": "given"}))
    names = [f"{number} {kind} plain" for number, (kind, _) in enumerate(hooks)]
    assert [name for name, *_ in seen] == names
    assert all((data["session_id"], data["x"]) == ("'s'", "'given'") for *_, data in seen)
    if last in ("deny", "ask", "inject", "tells", "modify", "raises", "cancels", "nonsense"):
        assert spoken[-1][0] == names[-1]
    if last in ("raises", "cancels", "nonsense"):
        assert failed[-1] == names[-1]
