"""The store of approvals, opened so that nothing can be written through it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from amplifier_core.mount_plan import list_ways
from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.approvals.stores.address import find_store, names_postgres, read_path
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.sqlite_connection import ReadOnlySqlite
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.policy.bundle import CurrentBundle
from amplifier_hooks.modules.installation import name_install_command

T = TypeVar("T")


class Reader(Protocol):
    """All that can be done with the store here: it has no method that writes."""

    async def read(self, work: Callable[[Transaction], T]) -> T | None: ...

    async def close(self) -> None: ...


class ApprovalStore:
    """The store that was named, else the bundle's, else the person's own."""

    def __init__(self, bundle: CurrentBundle, url: str | None = None) -> None:
        self._bundle = bundle
        self._url = url
        self._open: tuple[str, Reader] | None = None
        self._lock = asyncio.Lock()

    async def read(self, work: Callable[[Transaction], T]) -> T | None:
        """Run `work` on the store; None if there is none yet, Refused if it does not answer."""
        reader = await self._find_reader()
        try:
            return await reader.read(work)
        except StoreError as error:
            raise Refused(str(error)) from error

    async def close(self) -> None:
        """Close what is open."""
        async with self._lock:
            if self._open is not None:
                await self._open[1].close()
            self._open = None

    async def _find_reader(self) -> Reader:
        url = self._url or await self._find_bundles_own() or find_store()
        async with self._lock:
            if self._open is None or self._open[0] != url:
                if self._open is not None:
                    await self._open[1].close()
                self._open = (url, await asyncio.to_thread(_open_reader, url))
            return self._open[1]

    async def asks_elsewhere(self) -> bool:
        """Whether questions of this bundle also go where this server does not look."""
        return "server" in list_ways(await self._read_section())

    async def _find_bundles_own(self) -> str | None:
        section = await self._read_section()
        return section.get("store") if "store" in list_ways(section) else None

    async def _read_section(self) -> Mapping[str, Any]:
        """As long as a person trusts the bundle: it could name any database there is."""
        try:
            material = await self._bundle.load()
        except Refused:
            return {}
        section: dict[str, Any] = material.bundle.mount_plan["approval"]
        return section


def _open_reader(url: str) -> Reader:
    try:
        if not names_postgres(url):
            return ReadOnlySqlite(read_path(url))
        from amplifier_hooks.approvals.stores.postgres_connection import ReadOnlyPostgres

        return ReadOnlyPostgres(url)
    except ImportError as error:
        needed = name_install_command("postgres")
        raise Refused(f"A store on PostgreSQL needs psycopg: {needed}") from error
    except StoreError as error:
        raise Refused(str(error)) from error
