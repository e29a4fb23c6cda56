"""What is tested before anything is kept."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import Option
from amplifier_hooks.approvals.stores import checks
from amplifier_hooks.approvals.stores.address import find_store, names_postgres, read_path
from amplifier_hooks.approvals.stores.checks import (
    Position,
    identify_person,
    read_limit,
    read_position,
)
from tests.support.stores import make_request, require


@given(st.text(max_size=50))
def test_a_cleaned_text_can_be_kept_by_every_database(text: str) -> None:
    """No NUL, no half of a pair; everything else is as it was."""
    cleaned = checks.clean_text(text, 40)
    cleaned.encode()
    assert "\0" not in cleaned
    assert len(cleaned) == min(len(text), 40)
    changed = [new for old, new in zip(text, cleaned, strict=False) if old != new]
    assert set(changed) <= {"\N{REPLACEMENT CHARACTER}"}


@given(st.one_of(st.floats(), st.integers(), st.booleans(), st.text(), st.none()))
def test_seconds_are_above_zero_and_finite(value: Any) -> None:
    """A truth value is no number."""
    number = not isinstance(value, bool) and isinstance(value, int | float)
    if number and math.isfinite(value) and 0 < value <= 100:
        assert checks.read_seconds("wait", value, 100.0) == value
    else:
        with pytest.raises(BadRequest, match="wait"):
            checks.read_seconds("wait", value, 100.0)


def test_json_has_a_limit_and_no_odd_values() -> None:
    """Depth, NaN, and objects that are no JSON are refused in words."""
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, math.nan, {"x": {1j}}, {(1, 2): 3}, "x" * 100):
        with pytest.raises(BadRequest, match="input"):
            checks.write_json("input", value, 50)
    assert checks.write_json("input", {"a": [1, None, "\ud800"]}, 50) == '{"a":[1,null,"\\ud800"]}'


def test_a_usual_request_is_good() -> None:
    """And one with everything at its limit."""
    checks.refuse_bad_request(make_request())
    checks.refuse_bad_request(
        make_request(
            prompt="x" * checks.PROMPT,
            preview="x" * checks.PREVIEW,
            timeout=checks.LONGEST,
            session_id="s" * 400,
            working_dir="/" + "d" * 4095,
            notes=("n",) * checks.OPTIONS,
            requirement=require(persons=checks.PERSONS),
        )
    )


@pytest.mark.parametrize(
    "field",
    ["key", "session_id", "hook", "digest", "event", "tool_name", "requester"],
)
@pytest.mark.parametrize("value", ["x" * 401, "a\0b", "\ud800"])
def test_names_are_kept_as_they_are_or_refused(field: str, value: Any) -> None:
    """A name that a database would change names something else."""
    with pytest.raises(BadRequest, match=field):
        checks.refuse_bad_request(make_request(**{field: value}))


@pytest.mark.parametrize(
    "change",
    [
        {"working_dir": "/" + "d" * 4096},
        {"working_dir": "/a\0"},
        {"preview": "x" * (checks.PREVIEW + 1)},
        {"notes": ("n",) * 17},
        {"notes": ("x" * (checks.PROMPT + 1),)},
        {"options": (Option(id=0, label="Deny", allows=True),)},
        {"options": (Option(id=0, label="Allow once", allows=False),)},
        {"options": (Option(id=0, label="Allow once", allows=True, remembered=True),)},
        {
            "options": (
                Option(id=0, label="Deny", allows=False),
                Option(id=1, label="Deny", allows=True),
            )
        },
        {"requirement": require(persons=17)},
        {"requirement": require(scope="a\0")},
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    """Whatever type it has."""
    with pytest.raises(BadRequest):
        checks.refuse_bad_request(make_request(**change))


@given(st.floats(allow_nan=False, allow_infinity=False), st.text("abc/0-9"))
def test_a_place_is_read_as_it_was_written(at: float, id: str) -> None:
    """To the last bit of its time."""
    assert read_position(str(Position(at, id))) == Position(at, id)


def test_the_beginning_has_no_place() -> None:
    """An empty text is the first page."""
    assert read_position("") is None


@pytest.mark.parametrize("text", ["x", "1.0", "nan/a", "inf/a", "/a", "1.0/a\0", "1,0/a"])
def test_what_no_page_gave_out_is_refused(text: str) -> None:
    """With a message that says where to get one."""
    with pytest.raises(BadRequest, match="`next` of a page"):
        read_position(text)


@pytest.mark.parametrize("limit", [0, -1, 1001, True, 1.5, "5", None])
def test_a_page_has_a_size(limit: Any) -> None:
    """From one to a thousand."""
    with pytest.raises(BadRequest, match="1 to 1000"):
        read_limit(limit)
    assert read_limit(1000) == 1000


@pytest.mark.parametrize("name", ["ann", "Ann", " ANN ", "\uff21nn"])
def test_spellings_of_one_name_are_one_person(name: str) -> None:
    """Letter case, width and spaces make nobody else."""
    assert identify_person(name) == "ann"


def test_other_names_are_other_people() -> None:
    """Also when they look alike."""
    assert len({identify_person(name) for name in ("ann", "anna", "\u0430nn", "")}) == 4


@pytest.mark.parametrize(
    "url", ["", ":memory:", "sqlite:///:memory:", "mysql://host/db", "sqlite://relative.db", "a\0"]
)
def test_what_is_no_store_is_refused_with_what_would_be(url: str) -> None:
    """Before anything is opened."""
    with pytest.raises(BadRequest, match="use a path"):
        read_path(url)


def test_the_environment_names_the_store_before_the_persons_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, it lies below their data folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("AMPLIFIER_STORE", "postgresql://host/base")
    assert find_store() == "postgresql://host/base"
    monkeypatch.delenv("AMPLIFIER_STORE")
    assert find_store() == str(tmp_path / "amplifier" / "store" / "store.db")


def test_only_an_address_of_postgresql_is_one() -> None:
    """A path is a file, whatever it is called."""
    assert names_postgres("postgres://host/base")
    assert names_postgres("postgresql://host/base")
    assert not names_postgres("postgresql")
    assert not names_postgres(Path("postgresql://host"))
