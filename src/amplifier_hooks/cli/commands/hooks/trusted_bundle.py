"""A trusted bundle: what it would run, and why it may not be run if nobody trusts it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_hooks.agent.trust.material import Material


async def load_material(path: Path | None, *, user: bool = True) -> tuple[Material, str]:
    """The bundle with what it runs, and why it may not be run; empty if a person trusts it.

    Without `user`, the settings of the person who asks are left out.
    """
    from amplifier_hooks.agent.bundles import load_bundle
    from amplifier_hooks.agent.trust.material import Untrusted, collect_material
    from amplifier_hooks.agent.trust.store import TrustStore
    from amplifier_hooks.cli.approval.trust_question import explain, require_trust

    store = TrustStore()
    bundle = await asyncio.to_thread(load_bundle, path, user=user)
    material = await asyncio.to_thread(collect_material, bundle, Path.cwd())
    try:
        await require_trust(material, store, ask=False)
    except Untrusted:
        return material, explain(material, store)
    return material, ""
