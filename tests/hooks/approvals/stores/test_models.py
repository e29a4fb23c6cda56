"""Values, validated wherever they arrive."""

from __future__ import annotations

import json
import math
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_hooks.approvals.encoding import DEEPEST, TooDeep, to_json, to_kept_json
from amplifier_hooks.approvals.models import (
    AGENT,
    DECIDE,
    READ,
    SCOPES,
    Approval,
    ApprovalRequest,
    Choice,
    Decider,
    Identity,
    OfferedScope,
    SessionEntry,
    SessionRecord,
    StandingRule,
    Vote,
)
from amplifier_hooks.approvals.stores.decisions import refuse_bystander
from tests.support.stores import make_request, require


def test_an_approval_survives_the_journey_as_json() -> None:
    """With its request, options, requirement and votes."""
    approval = Approval(
        id="id",
        nonce="nonce",
        status="pending",
        request=make_request(notes=("a", "b"), requirement=require(persons=2, scope="release")),
        created=1.0,
        deadline=61.0,
        updated=2.0,
        seconds_left=59.0,
        votes=(Vote(by="ann", via="web", at=2.0, option="Allow once"),),
        edited_input={"a": [1, {"b": None}]},
    )
    assert Approval.model_validate(json.loads(to_json(approval))) == approval


def test_an_approval_cannot_be_changed() -> None:
    """Only the store changes one."""
    approval = Approval(
        id="id",
        nonce="nonce",
        status="pending",
        request=make_request(),
        created=1.0,
        deadline=61.0,
        updated=2.0,
        seconds_left=59.0,
    )
    with pytest.raises(ValidationError, match="frozen"):
        approval.status = "approved"  # type: ignore[misc]


@pytest.mark.parametrize("option", [True, "1", 1.0, None])
def test_an_option_is_chosen_by_its_number_and_nothing_like_it(option: object) -> None:
    """True is 1 in Python, and a person has chosen neither."""
    with pytest.raises(ValidationError, match="valid integer"):
        Choice(option=option, nonce="n", key="k")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": None},
        {"reason": 7},
        {"options": [{"id": 0, "label": "Deny"}]},
        {"options": [{"id": True, "label": "Deny", "allows": False}]},
        {"default": "maybe"},
        {"requirement": {"persons": True}},
        {"requirement": {"requester_may_approve": "yes"}},
        {"tool_input": ["a"]},
        {"tool_input": {1: "a"}},
        {"timeout": "60"},
    ],
)
def test_a_request_of_other_types_is_none(change: dict[str, object]) -> None:
    """On the agent's side as well as on the server's."""
    asked = make_request()
    request = json.loads(to_json(asked))
    assert ApprovalRequest.model_validate({**request, "novelty": 7}) == asked
    with pytest.raises(ValidationError):
        ApprovalRequest.model_validate({**request, **change})


def test_a_rule_and_an_offer_survive_the_journey_as_json() -> None:
    """As the page and the command line get them."""
    rule = StandingRule(
        id="id",
        author="ann",
        created=1.0,
        expires=2.0,
        hook="guard",
        event="tool:pre",
        tool_name="Write",
        prompt="Go?",
        scope="exact",
        digest="d",
        working_dir="/w",
        machine="m",
        approval_id="a",
    )
    assert StandingRule.model_validate(json.loads(to_json(rule))) == rule
    assert (rule.uses, rule.uses_left, rule.revoked_at) == (0, None, None)
    offer = OfferedScope(id="exact", words="Allow exactly this")
    assert OfferedScope.model_validate(json.loads(to_json(offer))) == offer


def test_an_identity_has_no_scope_unless_it_is_given() -> None:
    """Nobody may anything by default."""
    assert Identity("ann").scopes == frozenset()


def test_the_named_scopes_are_the_known_ones() -> None:
    """And the one that decides is what a person has by default who stands at the machine."""
    assert {AGENT, DECIDE, READ} < SCOPES
    refuse_bystander(Decider("ann", "cli"))


def test_entries_and_records_survive_the_journey_as_json() -> None:
    """As an agent on another machine sends them."""
    entry = SessionEntry(id="s", machine="laptop", user="ann", name="Fix it", hosted=True, turns=3)
    assert SessionEntry.model_validate(json.loads(to_json(entry))) == entry
    record = SessionRecord(
        number=1, time=2.5, type="dispatch", event="tool:pre", body={"hooks": [{"hook": "a"}]}
    )
    assert SessionRecord.model_validate(json.loads(to_json(record))) == record


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_every_input_is_kept_as_it_is(tool_input: dict[str, Any]) -> None:
    """As ASCII, also lone halves of pairs and NUL."""
    request = make_request(tool_input=tool_input)
    text = to_kept_json(request)
    assert text.isascii()
    assert "\0" not in text
    assert ApprovalRequest.model_validate(json.loads(text)) == request


def nest(levels: int) -> Any:
    """Something nested so deeply, with brackets in its strings."""
    value: Any = {']}\\"[{': "}"}
    for _ in range(levels - 1):
        value = [value]
    return value


def test_what_nobody_could_read_again_is_not_kept() -> None:
    """Encoders and parsers end somewhere; what is wide is no deeper for it."""
    assert json.loads(to_kept_json(nest(DEEPEST))) == nest(DEEPEST)
    assert to_kept_json([{"a": ["[" * 500]}] * 500)
    for levels in (DEEPEST + 1, 900, 100_000):
        with pytest.raises(TooDeep, match="more than 100 levels"):
            to_kept_json(nest(levels))


def test_what_is_only_sent_may_be_deeper() -> None:
    """As far as anybody can write it."""
    assert json.loads(to_json(nest(DEEPEST + 1))) == nest(DEEPEST + 1)
    with pytest.raises(TooDeep):
        to_json(nest(100_000))


def test_mappings_and_sets_become_plain() -> None:
    """Whatever kind they are."""
    value = {"m": MappingProxyType({"a": (1, 2)}), "s": frozenset({"b", "a"})}
    plain = {"m": {"a": [1, 2]}, "s": ["a", "b"]}
    assert json.loads(to_json(value)) == plain


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), {"a": b"bytes"}, SessionEntry])
def test_what_is_no_json_is_refused(value: Any) -> None:
    """As one kind of error."""
    with pytest.raises(ValueError, match="JSON"):
        to_json(value)
