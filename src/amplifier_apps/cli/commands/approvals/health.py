"""Whether people elsewhere can be asked, as a bundle says where they are."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import Any

from amplifier_core.mount_plan import list_ways
from amplifier_foundation.stores.errors import NotFound, StoreError

SECONDS = 5.0
VARIABLE = "AMPLIFIER_STORE"
NOBODY = "0" * 32
"""An id that no approval has: the answer to it shows whether a token is taken."""

Health = tuple[str, bool, str]


def probe_bundle() -> list[Health]:
    """The same for the bundle that is in use here; of one that cannot be read, others tell."""
    from amplifier_foundation.bundles import BundleError, load_bundle

    try:
        section: Mapping[str, Any] = load_bundle().mount_plan["approval"]
    except BundleError:
        section = {}
    return asyncio.run(probe_people(section, os.environ.get(VARIABLE)))


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
    from amplifier_foundation.stores.store import open_store
    from amplifier_foundation.stores.values.approval import ApprovalFilter

    try:
        async with asyncio.timeout(SECONDS), await open_store(url) as store:
            waiting, _ = await store.approvals.list(ApprovalFilter(status=("pending",)))
    except (StoreError, OSError, TimeoutError) as error:
        return False, str(error) or "does not answer"
    return True, f"answers; {len(waiting)} approvals wait"


async def _probe_server(section: Mapping[str, Any]) -> tuple[bool, str]:
    """Ask for an approval that is not there: NotFound is what an agent with a token hears."""
    from amplifier_foundation.remote.connection import Connection

    connection = Connection(str(section["server"]), str(section["token"]))
    try:
        async with asyncio.timeout(SECONDS):
            await connection.get(f"/agent/approvals/{NOBODY}")
    except NotFound:
        pass
    except (StoreError, TimeoutError) as error:
        return False, str(error) or "does not answer"
    finally:
        await connection.close()
    return True, f"{connection.host} answers, and takes the token"
