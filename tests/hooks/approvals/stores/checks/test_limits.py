"""Limits: what is refused is named, with the figure."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import Option
from amplifier_hooks.approvals.stores import checks
from tests.support.stores import make_request, require


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
