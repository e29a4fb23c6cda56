"""What a change would take away, in words."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_foundation.trust.weakening import find_weakened

SESSION = {"orchestrator": "loop-basic", "context": "context-simple"}


def sentences(before: dict[str, Any], after: dict[str, Any], *changed: str) -> list[str]:
    old, new = ({"session": SESSION, **one} for one in (before, after))
    return [one.sentence for one in find_weakened(old, new, changed)]


def hook(**more: Any) -> dict[str, Any]:
    return {"hooks": [{"module": "g", **more}]}


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        (hook(), {"hooks": []}, ["g would be gone"]),
        (hook(name="n"), hook(), ["n would be gone"]),
        (hook(required=True), hook(), ["g would no longer be required"]),
        (hook(locked=True), hook(), ["g would no longer be locked"]),
        (hook(), hook(source="/x.py"), ["g would come from /x.py"]),
        (hook(name="n"), {"hooks": [{"module": "o", "name": "n"}]}, ["n would come from o"]),
        (hook(config={"a": "1"}), hook(config={"b": "1"}), ["g would have other options: a, b"]),
        (
            hook(priority=1),
            hook(priority=9),
            ["g would run in another position: priority 9, not 1"],
        ),
        (
            {"agents": {"a": hook()}},
            {"agents": {"a": {"hooks": []}}},
            ["agent a: g would be gone"],
        ),
        ({"agents": {"a": hook()}}, {"agents": {}}, []),
        (
            {"tools": [{"module": "t", "locked": True}, {"module": "u"}]},
            {"tools": []},
            ["t would be gone"],
        ),
    ],
)
def test_what_an_entry_loses(
    before: dict[str, Any], after: dict[str, Any], lost: list[str]
) -> None:
    """Hooks of any kind, in agents too; of tools only those that are held."""
    assert sentences(before, after) == lost
    assert sentences(before, before) == []


def test_other_code_behind_the_same_entry_is_a_loss() -> None:
    """Nobody can say what it does."""
    assert sentences(hook(), hook(), "g") == ["g would run other code or other rules"]


@pytest.mark.parametrize(
    ("section", "before", "after", "lost"),
    [
        ("approval", {"mode": "deny"}, {"mode": "ask"}, ["approval.mode would be ask, not deny"]),
        ("approval", {"mode": "ask"}, {"mode": "deny"}, []),
        ("approval", {"mode": "ask"}, {"mode": "edits"}, ["approval.mode would be edits, not ask"]),
        (
            "approval",
            {"locked": True},
            {},
            ["approval.locked would be left to the default, not true"],
        ),
        ("approval", {"timeout": "1"}, {"timeout": "2"}, ["approval.timeout would be different"]),
        (
            "audit",
            {"level": "full"},
            {"level": "normal"},
            ["audit.level would be normal, not full"],
        ),
        ("audit", {"path": "1"}, {}, ["audit.path would be different"]),
        ("audit", {"sign": True}, {"sign": False}, ["audit.sign would be false, not true"]),
        (
            "sandbox",
            {"mode": "required", "network": "deny"},
            {"mode": "off", "network": "odd"},
            ["sandbox.mode would be off, not required", "sandbox.network would be odd, not deny"],
        ),
        (
            "sandbox",
            {"write": ["/a"]},
            {"write": ["/a", "/b"]},
            ["the sandbox would let commands write to /b"],
        ),
    ],
)
def test_what_a_section_loses(
    section: str, before: dict[str, Any], after: dict[str, Any], lost: list[str]
) -> None:
    """What is not known counts as the weakest; what becomes stricter is no loss."""
    assert sentences({section: before}, {section: after}) == lost


def test_a_section_in_its_short_form_is_its_mode() -> None:
    """As plans that are written in code may have it."""
    assert sentences({"sandbox": "required"}, {"sandbox": "off"}) == [
        "sandbox.mode would be off, not required"
    ]


def test_wider_limits_are_a_loss() -> None:
    """Or none at all."""
    old, new = {"a": 1, "b": 2, "c": 3, "d": None}, {"a": 2, "c": 2}
    before, after = ({"session": {**SESSION, "limits": one}} for one in (old, new))
    assert sentences(before, after) == [
        "session.limits.a would be 2, not 1",
        "session.limits.b would be left to the default, not 2",
    ]


def test_shadow_mode_is_a_loss() -> None:
    """No hook holds anybody back in it; to leave it takes nothing away."""
    shadow = {"session": {**SESSION, "evaluate_only": True}}
    assert sentences({}, shadow) == [
        "no hook would have an effect any more: session.evaluate_only would be true"
    ]
    assert sentences(shadow, {}) == []
