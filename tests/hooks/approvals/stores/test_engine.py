"""The protocol of an engine, and both databases that fulfil it."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from amplifier_hooks.approvals.stores.engine import ANY, Change, Engine, Transaction
from amplifier_hooks.approvals.stores.postgres import PostgresEngine
from amplifier_hooks.approvals.stores.postgres_connection import PostgresTransaction
from amplifier_hooks.approvals.stores.sqlite import SqliteEngine
from amplifier_hooks.approvals.stores.sqlite_connection import SqliteTransaction


def list_methods(kind: Any) -> dict[str, list[str]]:
    return {
        name: list(inspect.signature(value).parameters)
        for name, value in vars(kind).items()
        if inspect.isfunction(value) and not name.startswith("_")
    }


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [
        (Engine, SqliteEngine),
        (Engine, PostgresEngine),
        (Transaction, SqliteTransaction),
        (Transaction, PostgresTransaction),
    ],
)
def test_both_databases_have_what_the_protocol_asks_for(protocol: Any, kind: Any) -> None:
    """The same names with the same parameters."""
    wanted, offered = list_methods(protocol), list_methods(kind)
    assert wanted
    assert {name: offered.get(name) for name in wanted} == wanted


def test_changes_that_say_the_same_are_one() -> None:
    """So that a burst about one approval is one piece of news."""
    assert len({Change("approval", "a"), Change("approval", "a"), Change(ANY, ANY)}) == 2
