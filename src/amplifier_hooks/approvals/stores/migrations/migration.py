"""Bringing a database to the newest version, once, whoever else opens it at the same time."""

from __future__ import annotations

from collections.abc import Sequence

from amplifier_hooks.approvals.stores.engine import Engine, Transaction
from amplifier_hooks.approvals.stores.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.migrations.steps import STEPS, Step


async def migrate(
    engine: Engine, preamble: Sequence[str] = (), steps: Sequence[Step] = STEPS
) -> int:
    """Run the steps that the database has not seen, all in one transaction; returns its version."""
    return await engine.write(lambda transaction: _run(transaction, preamble, steps))


def _run(transaction: Transaction, preamble: Sequence[str], steps: Sequence[Step]) -> int:
    for statement in preamble:
        transaction.run(statement)
    transaction.run(
        "CREATE TABLE IF NOT EXISTS schema_steps "
        "(number BIGINT PRIMARY KEY, name TEXT NOT NULL, applied DOUBLE PRECISION NOT NULL)"
    )
    version = read_version(transaction)
    newest = steps[-1].number
    if version > newest:
        raise StoreUnavailable(
            f"The store was made by a newer version of Amplifier: it has schema {version}, and "
            f"this installation knows schemas up to {newest}; upgrade this installation"
        )
    for step in steps:
        if step.number > version:
            _apply(transaction, step)
    return newest


def read_version(transaction: Transaction) -> int:
    """The number of the last step that was run; 0 before the first."""
    found = transaction.run("SELECT COALESCE(MAX(number), 0) AS version FROM schema_steps")
    return int(found[0]["version"])


def _apply(transaction: Transaction, step: Step) -> None:
    for statement in step.statements:
        transaction.run(statement)
    transaction.run(
        "INSERT INTO schema_steps (number, name, applied) VALUES (:number, :name, unix_now())",
        number=step.number,
        name=step.name,
    )
