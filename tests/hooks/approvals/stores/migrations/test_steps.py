"""The steps: numbered without a gap, and written for both databases."""

from __future__ import annotations

import hashlib
import re

from amplifier_hooks.approvals.stores.migrations import STEPS

# A released step never changes: databases that have run it would differ from new ones.
RELEASED = {
    1: "6c2ea654e3e22532",
    2: "a05f07f09fa34bcc",
    3: "c1086590e982789f",
    4: "177f589d6bd1ed06",
    5: "03900875cfb38172",
    6: "61994dcd1fd3aa71",
    7: "fc3ecd311e6c46ed",
}


def digest(statements: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(statements).encode()).hexdigest()[:16]


def test_steps_are_numbered_from_1_without_a_gap() -> None:
    """The number of the last one is the version."""
    assert [step.number for step in STEPS] == list(range(1, len(STEPS) + 1))


def test_a_step_is_never_changed() -> None:
    """What changes the tables is a further step."""
    assert {step.number: digest(step.statements) for step in STEPS} == RELEASED


def test_columns_have_types_that_both_databases_know() -> None:
    """TEXT, BIGINT and DOUBLE PRECISION, and nothing that only one of them has."""
    for step in STEPS:
        for statement in step.statements:
            assert not re.search(
                r"\b(INTEGER|SERIAL|AUTOINCREMENT|JSONB?|BLOB|BYTEA|TIMESTAMP|BOOLEAN|STRICT)\b",
                statement,
            )
