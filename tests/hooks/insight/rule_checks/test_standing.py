"""Standing rules are read from the store, with the call that they were given for."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.approvals.models import StandingWish
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.insight.rule_checks.standing import read_grants
from tests.support.stores import ANN, ask, decide


async def test_rules_of_the_folder_come_with_their_call(tmp_path: Path) -> None:
    """Those for other folders are not about what is checked here."""
    async with await open_store(tmp_path / "store.db") as store:
        for key, folder in (("a", str(tmp_path)), ("b", "/elsewhere")):
            given = {"tool_name": "Bash", "tool_input": {"command": "make"}, "working_dir": folder}
            approval = await ask(store, key=key, **given)
            await decide(
                store, approval, by=ANN, standing=StandingWish(scope="exact", seconds=3600.0)
            )
        (grant,) = await read_grants(store, tmp_path)
    assert (grant.author, grant.tool, grant.input) == (ANN.name, "Bash", {"command": "make"})
    assert grant.uses == 0
