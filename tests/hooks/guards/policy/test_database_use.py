"""Which databases this process keeps its answers in."""

from __future__ import annotations

import sys

import pytest

from amplifier_hooks.guards.policy.database_use import uses_postgres

ENGINE = "amplifier_hooks.approvals.stores.postgres"


@pytest.mark.parametrize(
    ("address", "used"),
    [("", False), ("/home/ann/store.db", False), ("postgresql://db.test/answers", True)],
)
def test_the_environment_says_which(
    monkeypatch: pytest.MonkeyPatch, address: str, used: bool
) -> None:
    """Where nothing was opened yet."""
    monkeypatch.delitem(sys.modules, ENGINE, raising=False)
    monkeypatch.setenv("AMPLIFIER_STORE", address)
    assert uses_postgres() is used


def test_what_was_opened_counts_whoever_named_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle, or an option of the command line."""
    monkeypatch.setenv("AMPLIFIER_STORE", "")
    monkeypatch.setitem(sys.modules, ENGINE, sys)
    assert uses_postgres()
