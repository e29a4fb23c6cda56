"""Whether people elsewhere can be asked, as a bundle says where they are."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from amplifier_core.mount_plan import list_ways
from amplifier_hooks.approvals.errors import NotFound, StoreError

SECONDS = 5.0
VARIABLE = "AMPLIFIER_STORE"
NOBODY = "0" * 32
"""An id that no approval has: the answer to it shows whether a token is taken."""

NOT_TRIED = "not trusted, not tried: amplifier trust shows what this folder would run"

Health = tuple[str, bool | None, str]
"""A way to people elsewhere, whether it works (None: it was not tried), and what was found."""


def probe_bundle() -> list[Health]:
    """The same for the bundle in use here; a bundle that cannot be read is reported elsewhere.

    The address and the token of a bundle that is not trusted are not used: it may name any server
    and any variable of the person.
    """
    from amplifier_core.errors import ModuleError
    from amplifier_hooks.agent.bundles import BundleError
    from amplifier_hooks.cli.commands.hooks.testing import load_material

    section: Mapping[str, Any] = {}
    distrust = ""
    try:
        material, distrust = asyncio.run(load_material(None))
        section = material.bundle.mount_plan["approval"]
    except (BundleError, ModuleError):
        pass
    named = os.environ.get(VARIABLE)
    if not distrust:
        return asyncio.run(probe_people(section, named))
    untried: list[Health] = [
        (way, None, NOT_TRIED) for way in ("store", "server") if way in list_ways(section)
    ]
    return asyncio.run(probe_people({}, named)) + untried


async def probe_people(section: Mapping[str, Any], named: str | None = None) -> list[Health]:
    """For each way to people elsewhere: its name, whether it works, and what was found.

    `named` is the store that commands use here because the environment says so.
    """
    found: list[Health] = []
    if named:
        found.append((VARIABLE, *await _probe_store(named)))
    if "store" in list_ways(section):
        found.append(("store", *await _probe_store(section.get("store"))))
    if "server" in list_ways(section):
        found.append(("server", *await _probe_server(section)))
    return found


async def _probe_store(url: str | None) -> tuple[bool, str]:
    from amplifier_hooks.approvals.models import ApprovalFilter
    from amplifier_hooks.approvals.stores.store import open_store

    try:
        async with asyncio.timeout(SECONDS), await open_store(url) as store:
            waiting, _ = await store.approvals.list(ApprovalFilter(status=("pending",)))
    except (StoreError, OSError, TimeoutError) as error:
        return False, str(error) or "does not answer"
    return True, f"answers; {len(waiting)} approvals wait"


async def _probe_server(section: Mapping[str, Any]) -> tuple[bool, str]:
    """Ask for an approval that is not there: NotFound is what an agent with a token hears."""
    from amplifier_hooks.approvals.http_connection import Connection
    from amplifier_hooks.approvals.models import Approval

    connection = Connection(str(section["server"]), str(section["token"]))
    try:
        async with asyncio.timeout(SECONDS):
            await connection.get(f"/agent/approvals/{NOBODY}", Approval)
    except NotFound:
        pass
    except (StoreError, TimeoutError) as error:
        return False, str(error) or "does not answer"
    finally:
        await connection.close()
    return True, f"{connection.host} answers, and takes the token"
