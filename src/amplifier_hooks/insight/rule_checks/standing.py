"""The standing rules of a store, with a call that each of them allows."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.approvals.errors import NotFound
from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.insight.rule_checks.written_rule import StandingGrant


async def read_grants(store: Store, folder: Path) -> list[StandingGrant]:
    """Those that hold for sessions in a folder."""
    found = []
    for rule in await store.rules.list():
        if rule.working_dir not in ("", str(folder)):
            continue
        try:
            given = dict((await store.approvals.get(rule.approval_id)).request.tool_input)
        except NotFound:  # removed with age; the rule still holds
            given = {}
        found.append(
            StandingGrant(
                rule.id,
                rule.author,
                rule.hook,
                rule.tool_name,
                rule.description,
                rule.uses,
                given,
            )
        )
    return found
