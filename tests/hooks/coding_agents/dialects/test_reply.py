"""What came back from a hook."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import Reply, build_reply


def test_a_reply_without_words_is_a_success() -> None:
    """Silence and exit code 0 are what most hooks answer."""
    reply = Reply()
    assert (reply.code, reply.stdout, reply.stderr, reply.failure) == (0, "", "", None)
    assert not reply.timed_out


def test_nobody_changes_a_reply_after_the_fact() -> None:
    """It is evidence."""
    reply = Reply(2, "", "no")
    with pytest.raises(FrozenInstanceError):
        reply.code = 0  # type: ignore[misc]


def test_an_answer_is_one_object_without_what_is_none() -> None:
    """A key that an agent does not expect may void the rest."""
    assert build_reply({"decision": "deny", "reason": None}) == Reply(stdout='{"decision": "deny"}')


def test_an_answer_that_says_nothing_is_silent() -> None:
    """Silence means no opinion everywhere."""
    assert build_reply({"reason": None}) == Reply()


def test_an_answer_is_json_for_strict_parsers_too() -> None:
    """Half a character would make some agents drop the whole answer, and the denial in it."""
    reply = build_reply({"reason": "half \ud800, whole \U0001f600"})
    assert json.loads(reply.stdout.encode()) == {"reason": "half ?, whole \U0001f600"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        build_reply({"args": {"limit": float("nan")}})
