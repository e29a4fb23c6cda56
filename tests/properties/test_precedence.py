"""The registry against a small model of the rules: random hooks, orders, failures, mutations."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult

EVENT = "tool:pre"
KINDS = (
    "continue", "none", "speak", "deny", "ask", "inject", "modify", "raise", "cancelled", "garbage",
    "dict", "modify nothing", "mutate", "mutate and modify", "add", "remove all",
)  # fmt: skip
FAILING = {"raise", "cancelled", "garbage", "modify nothing"}
ACTIONS = {"deny": "deny", "ask": "ask_user", "inject": "inject_context"}


@dataclass(frozen=True)
class Spec:
    """One hook of a random set."""

    number: int
    kind: str
    priority: int
    guard: bool
    sync: bool
    limited: bool


@dataclass
class Expected:
    """What the rules say of a set."""

    action: str
    data: dict[str, Any]
    ran: list[int]
    text: str | None
    first: int | None


def expected(specs: list[Spec]) -> Expected:
    """The rules of DECISIONS.md in a few lines."""
    data: dict[str, Any] = {"value": 0, "list": [0]}
    ran, texts, spoken = [], [], []
    for spec in sorted(specs, key=lambda one: (one.priority, one.number)):
        ran.append(spec.number)
        if spec.kind in FAILING and spec.guard:
            return Expected("deny", {}, ran, None, spec.number)
        if spec.kind == "deny":
            return Expected("deny", {}, ran, None, spec.number)
        if spec.kind in ("modify", "mutate and modify"):
            data = {**data, "value": data["value"] * 10 + spec.number}
            data["list"] = [*data["list"], spec.number]
        if spec.kind == "inject":
            texts.append(f"text {spec.number}")
        if spec.kind in ("ask", "inject"):
            spoken.append((("ask", "inject").index(spec.kind), len(ran), spec))
    winner = min(spoken, default=None)
    action = "continue" if winner is None else ACTIONS[winner[2].kind]
    text = "\n\n".join(texts) if action == "inject_context" else None
    return Expected(action, data, ran, text, winner and winner[2].number)


def answer(spec: Spec, registry: HookRegistry, data: dict[str, Any]) -> Any:  # noqa: C901 - one line a kind
    number, kind = spec.number, spec.kind
    if kind == "raise":
        raise ValueError(number)
    if kind == "cancelled":
        raise asyncio.CancelledError
    if kind.startswith("mutate"):
        data["value"] = -1 if kind == "mutate" else data["value"] * 10 + number
        data["list"].append(number)
        data["new"] = {"leak": number}
        if kind == "mutate":
            return HookResult()
        data.pop("new")
        return HookResult(action="modify", data=data)
    if kind == "modify":
        changed = {"value": data["value"] * 10 + number, "list": [*data["list"], number]}
        return HookResult(action="modify", data={**data, **changed})
    if kind == "add":
        registry.register(EVENT, lambda event, data: {"action": "deny"}, priority=99, name="late")
    if kind == "remove all":
        for name in {name for names in registry.list_handlers().values() for name in names}:
            registry.unregister(name)
    return {
        "none": None,
        "speak": HookResult(user_message="hello"),
        "deny": HookResult(action="deny", reason=f"no {number}"),
        "ask": HookResult(action="ask_user", approval_prompt=f"may {number}?"),
        "inject": HookResult(action="inject_context", context_injection=f"text {number}"),
        "garbage": f"garbage {number}",
        "dict": {"action": "continue", "user_message": "hi", "unknown": 1},
        "modify nothing": HookResult(action="modify"),
    }.get(kind, HookResult())


def handler(spec: Spec, registry: HookRegistry, ran: list[int]) -> Any:
    def plain(event: str, data: dict[str, Any]) -> Any:
        ran.append(spec.number)
        return answer(spec, registry, data)

    async def waiting(event: str, data: dict[str, Any]) -> Any:
        if spec.number % 2:
            await asyncio.sleep(0)
        return plain(event, data)

    return plain if spec.sync else waiting


def registry_of(specs: list[Spec], ran: list[int], registry: HookRegistry) -> None:
    for spec in specs:
        registry.register(
            EVENT if spec.number % 3 else "tool:*",
            handler(spec, registry, ran),
            priority=spec.priority,
            name=f"hook {spec.number}",
            on_error="deny" if spec.guard else "continue",
            timeout=5 if spec.limited else None,
        )


hook_sets = st.lists(
    st.tuples(
        st.sampled_from(KINDS), st.integers(-3, 3), st.booleans(), st.booleans(), st.booleans()
    ),
    max_size=8,
).map(lambda rows: [Spec(i + 1, *row) for i, row in enumerate(rows)])


def check(specs: list[Spec], given_data: dict[str, Any], result: HookResult) -> None:
    want = expected(specs)
    assert result.action == want.action
    assert given_data == {"value": 0, "list": [0]}
    if want.action == "deny":
        assert result.data is None
        assert str(want.first) in (result.reason or "")
        return
    final = {key: value for key, value in (result.data or {}).items() if key != "timestamp"}
    assert final == want.data
    assert result.context_injection == want.text
    if want.action == "ask_user":
        assert result.approval_prompt == f"may {want.first}?"
    if final["list"] == [0]:
        assert final["list"] is given_data["list"]


@given(hook_sets)
@example([Spec(1, "ask", 0, False, False, False), Spec(2, "ask", 0, False, False, False)])
@example([Spec(1, "modify", 0, True, False, False), Spec(2, "inject", 1, False, False, False)])
@example([Spec(1, "inject", 0, False, True, False), Spec(2, "ask", 1, True, False, True)])
@example([Spec(1, "remove all", 0, False, True, False), Spec(2, "raise", 1, True, False, False)])
async def test_emit_follows_the_rules(specs: list[Spec]):
    """The stronger action wins, whatever the priorities; a denial ends the chain."""
    ran: list[int] = []
    registry = HookRegistry()
    registry_of(specs, ran, registry)
    data = {"value": 0, "list": [0]}
    result = await registry.emit(EVENT, data)
    check(specs, data, result)
    assert ran == expected(specs).ran


@given(hook_sets, st.randoms())
async def test_a_parent_and_its_child_are_one_order(specs: list[Spec], random: Any):
    """Hooks of both run as if one registry had them."""
    ran: list[int] = []
    parent = HookRegistry()
    child = HookRegistry(parent=parent)
    for spec in specs:
        registry_of([spec], ran, random.choice((parent, child)))
    data = {"value": 0, "list": [0]}
    check(specs, data, await child.emit(EVENT, data))
    assert ran == expected(specs).ran


@given(hook_sets)
async def test_a_dispatch_keeps_every_answer(specs: list[Spec]):
    """No answer is lost behind the folded one, and each has its hook's name."""
    ran: list[int] = []
    registry = HookRegistry()
    registry_of(specs, ran, registry)
    run = await registry.dispatch(EVENT, {"value": 0, "list": [0]})
    assert [answer.hook for answer in run.all_answers] == [f"hook {number}" for number in ran]
    kinds = {f"hook {spec.number}": spec.kind for spec in specs}
    for one in run.all_answers:
        assert (one.error is not None) == (kinds[one.hook] in FAILING)
