"""The version of a store, for those who cannot change it."""

from __future__ import annotations

from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.migrations.migration import read_version
from amplifier_hooks.approvals.stores.migrations.steps import STEPS


def check_version(transaction: Transaction, address: str) -> None:
    """Raise StoreUnavailable unless the store has the version that this installation knows."""
    version, known = read_version(transaction), STEPS[-1].number
    if version > known:
        raise StoreUnavailable(
            f"The store {address} was made by a newer version of Amplifier: it has schema "
            f"{version}, and this installation knows schemas up to {known}; upgrade it"
        )
    if version < known:
        raise StoreUnavailable(
            f"The store {address} has schema {version}, which is older than this installation's "
            f"{known}; `amplifier approvals list` upgrades it"
        )
