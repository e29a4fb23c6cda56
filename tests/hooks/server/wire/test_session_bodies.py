"""What an agent reports."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_hooks.server.bodies import RecordsBody, SessionBody, WitnessBody


def test_a_session_is_of_its_token_and_never_hosted():
    """What an agent says about that is passed over."""
    body = SessionBody(id="s", user="root", hosted=True, turns=3)
    entry = body.reported_by("bot")
    assert (entry.user, entry.hosted, entry.turns) == ("bot", False, 3)


@pytest.mark.parametrize("wrong", [{"id": ""}, {"status": "dead"}, {"turns": -1}, {"extra": 1}])
def test_what_is_no_session_is_refused(wrong: dict[str, Any]):
    """Closed sets."""
    with pytest.raises(ValidationError):
        SessionBody(**{"id": "s", **wrong})


def test_records_become_records():
    """In their order, at most a thousand."""
    one: Any = {"number": 1, "time": 2.5, "type": "dispatch", "body": {"a": 1}}
    (record,) = RecordsBody(records=[one]).records
    assert (record.number, record.time, record.body) == (1, 2.5, {"a": 1})
    assert len(RecordsBody(records=[one] * 1000).records) == 1000
    wrong: Any
    for wrong in ([one] * 1001, [{**one, "number": 0}], [{**one, "time": float("nan")}]):
        with pytest.raises(ValidationError):
            RecordsBody(records=wrong)


def test_a_checkpoint_has_a_size():
    """So has its proof."""
    assert WitnessBody(note="n").proof == []
    wrong: Any
    for wrong in ({"note": ""}, {"note": "x" * 70_000}, {"proof": ["a"] * 129}):
        with pytest.raises(ValidationError):
            WitnessBody(**{"note": "n", **wrong})
