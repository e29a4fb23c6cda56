"""What people and models wrote is taken out of a body, and commitments stand in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.line_maker import SENSITIVE, commit_to, replace_sensitive
from amplifier_audit.value_store import ValueStore, reveal

BODIES = st.dictionaries(
    st.sampled_from([*sorted(SENSITIVE), "tool", "hooks", "reason"]),
    st.recursive(
        st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=9),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["prompt", "name", "text"]), inner, max_size=3)
        ),
        max_leaves=8,
    ),
    max_size=6,
)


def test_a_value_opens_its_commitment_and_no_other_does(tmp_path: Path) -> None:
    """With at least 128 bits of salt, so that nobody can test a guess."""
    value = commit_to({"a": 1})
    assert len(value.salt) == 16
    assert value.is_genuine()
    store = ValueStore(tmp_path / "values.db")
    store.add([value])
    assert store.get(value.commitment) == value
    store.close()


def test_the_same_value_has_another_commitment_each_time() -> None:
    """Two equal prompts cannot be told to be equal."""
    one, two = commit_to("secret"), commit_to("secret")
    assert one.commitment != two.commitment
    assert one.salt != two.salt


def test_a_text_is_kept_as_text_and_all_else_as_json() -> None:
    """The media type says which, and the value is JSON in both cases."""
    text, other = commit_to("é"), commit_to([1])
    assert (text.media_type, json.loads(text.value)) == ("text/plain", "é")
    assert (other.media_type, json.loads(other.value)) == ("application/json", [1])


@pytest.mark.parametrize("name", sorted(SENSITIVE))
def test_what_people_and_models_wrote_is_replaced_at_any_depth(name: str) -> None:
    """Names, reasons and actions stay in the line."""
    body = {"tool": "Bash", name: "secret", "hooks": [{"hook": "guard", name: {"a": "secret"}}]}
    replaced, values = replace_sensitive(body)
    assert "secret" not in json.dumps(replaced)
    assert (replaced["tool"], replaced["hooks"][0]["hook"]) == ("Bash", "guard")
    assert [value.media_type for value in values] == ["text/plain", "application/json"]
    assert replaced[name] == {
        "$commitment": values[0].commitment,
        "media_type": "text/plain",
        "length": len(b'"secret"'),
    }


@pytest.mark.parametrize("empty", [None, ""])
def test_nothing_is_kept_where_there_is_nothing(empty: Any) -> None:
    """An empty field stays one that anybody can see is empty."""
    assert replace_sensitive({"prompt": empty}) == ({"prompt": empty}, [])


def test_odd_values_are_made_harmless_first() -> None:
    """Cycles, objects, bodies that are no mapping."""
    body: dict[str, Any] = {"prompt": object(), "n": float("nan")}
    body["self"] = body
    replaced, values = replace_sensitive(body)
    assert replaced["self"]["$cut"] == "cycle"
    assert replaced["n"] == {"$float": "nan"}
    assert "$object" in json.loads(values[0].value)
    assert replace_sensitive(5) == (5, [])


def test_more_is_kept_aside_than_fits_into_a_line() -> None:
    """A prompt of a megabyte can be revealed as a whole."""
    _, (value,) = replace_sensitive({"prompt": "x" * 1_000_000})
    assert len(json.loads(value.value)) == 1_000_000
    _, (value,) = replace_sensitive({"prompt": "x" * 2_000_000})
    assert json.loads(value.value)["length"] == 2_000_000


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("values") / "values.db"


@given(body=BODIES)
def test_revealing_gives_back_what_was_replaced(path: Path, body: dict[str, Any]) -> None:
    """Replacing and revealing are each other's reverse."""
    replaced, values = replace_sensitive(body)
    store = ValueStore(path)
    store.add(values)
    store.close()
    (record,) = reveal([{"body": replaced}], path)
    assert record["body"] == body
