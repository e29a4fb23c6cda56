"""Every call of a reply has an id of its own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import ToolCall
from amplifier_hooks.modules.call_ids import ensure_distinct_ids


@given(st.lists(st.sampled_from(["", "a", "b", "call"]), max_size=8))
def test_ids_are_distinct_and_the_first_of_each_stays(ids: list[str]) -> None:
    """Calls keep their order and everything else; none is left without an id."""
    calls = [ToolCall(id=one, name=f"T{n}", arguments={"n": n}) for n, one in enumerate(ids)]
    distinct = ensure_distinct_ids(calls)
    assert len({call.id for call in distinct} - {""}) == len(calls)
    assert [(call.name, call.arguments) for call in distinct] == [
        (call.name, call.arguments) for call in calls
    ]
    for one in set(ids) - {""}:
        assert distinct[ids.index(one)] is calls[ids.index(one)]


def test_a_new_id_shows_where_it_comes_from() -> None:
    """Whoever reads a log sees which call was repeated, and which had no id."""
    given_ids = ["a", "a", ""]
    calls = [ToolCall(id=one, name="T", arguments={}) for one in given_ids]
    _, repeated, without = ensure_distinct_ids(calls)
    assert repeated.id.startswith("a_")
    assert without.id.startswith("call_")


def test_the_calls_that_were_given_are_not_changed() -> None:
    """A reply may be kept and read again."""
    calls = [ToolCall(id="a", name="T", arguments={}) for _ in range(2)]
    ensure_distinct_ids(calls)
    assert [call.id for call in calls] == ["a", "a"]
