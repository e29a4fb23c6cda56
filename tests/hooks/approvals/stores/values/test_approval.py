"""Approvals as values: frozen, and the same after a journey as plain data."""

from __future__ import annotations

import dataclasses
import json

import pytest

from amplifier_hooks.approvals.models import Approval, Vote, read_approval, to_plain
from tests.support.stores import make_request, require


def test_an_approval_survives_the_journey_as_json() -> None:
    """With its request, options, requirement and votes."""
    approval = Approval(
        "id",
        "nonce",
        "pending",
        make_request(notes=("a", "b"), requirement=require(persons=2, scope="release")),
        1.0,
        61.0,
        2.0,
        59.0,
        votes=(Vote("ann", "web", 2.0, "Allow once"),),
        edited_input={"a": [1, {"b": None}]},
    )
    assert read_approval(json.loads(json.dumps(to_plain(approval)))) == approval


def test_an_approval_cannot_be_changed() -> None:
    """Only the store changes one."""
    approval = Approval("id", "nonce", "pending", make_request(), 1.0, 61.0, 2.0, 59.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        approval.status = "approved"  # type: ignore[misc]
