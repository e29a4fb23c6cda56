"""Trust in the bundle behind a guard, asked for before the guard is installed."""

from __future__ import annotations

import asyncio
import shlex
from pathlib import Path

from amplifier_hooks.agent.trust.material import Material, Untrusted
from amplifier_hooks.agent.trust.store import TrustStore
from amplifier_hooks.cli.approval.trust_question import ask_for_trust
from amplifier_hooks.coding_agents.installing.bundle_state import BundleState, read_bundle_state


def require_trust(bundle: Path | None, root: Path) -> BundleState:
    """Ask for trust if nobody has given it: Untrusted without a yes.

    A guard whose bundle nobody has trusted would deny everything. One that is named is trusted
    where it lies, for all folders, and then what it would also run in this one.
    """
    state, store = read_bundle_state(bundle, root), TrustStore()
    for material in (state.where_it_lies, state.material):
        if state.trusted:
            break
        if material is not None and not store.is_trusted(material):
            _ask(material, store, bundle)
        state = read_bundle_state(bundle, root)
    return state


def _ask(material: Material, store: TrustStore, bundle: Path | None) -> None:
    try:
        asyncio.run(ask_for_trust(material, store))
    except Untrusted as error:
        if bundle is None:
            raise
        where = f"in {material.folder}, and add --bundle {shlex.quote(str(bundle))}"
        raise Untrusted(f"{error}. Run that {where}") from error
