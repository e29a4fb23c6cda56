"""What an adapter sees of its framework, and what an answer can do there."""

from __future__ import annotations

from amplifier_hooks.coverage.coverage import ALL, NOTHING, Coverage

TABLE = Coverage(
    name="x",
    framework="X",
    package="x",
    module="x",
    attach="x(hooks)",
    events={"tool:pre": ALL, "tool:post": frozenset({"deny"}), "session:end": NOTHING},
    unseen=("its dreams",),
    limits={"tool:post modify": "results are final", "prompt:submit": "it has no prompts"},
)


def test_an_act_is_allowed_where_the_table_has_it() -> None:
    """And nowhere else."""
    assert TABLE.allows("tool:pre", "modify")
    assert not TABLE.allows("tool:post", "modify")
    assert not TABLE.allows("prompt:submit", "deny")


def test_what_is_missing_has_a_reason() -> None:
    """Of the act, of the event, or that there is no place for it."""
    assert TABLE.explain("tool:post", "modify") == "results are final"
    assert TABLE.explain("prompt:submit", "deny") == "it has no prompts"
    assert TABLE.explain("tool:post", "ask_user") == "X offers no place for it"


def test_events_that_only_tell_decide_nothing() -> None:
    """They are not listed as places where hooks decide."""
    assert TABLE.list_decided() == ["tool:pre", "tool:post"]
