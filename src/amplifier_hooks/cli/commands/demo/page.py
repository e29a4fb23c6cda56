"""The demonstration's page: a store and a server of its own, for as long as it runs."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from amplifier_hooks.agent.session.remote_approval import Elsewhere
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.cli.text.output import print_line
from amplifier_hooks.machine.locations import get_user_name
from amplifier_hooks.server.server import serve_beside
from amplifier_hooks.server.settings import ServerSettings, name_address


@asynccontextmanager
async def offer_page(folder: Path, project: Path, port: int) -> AsyncIterator[Elsewhere]:
    """Serve the page and say how to open it; whoever does decides what the demonstration asks."""
    settings = ServerSettings(port=port, folder=project)
    store = await open_store(folder / "outside" / "store.db")
    async with store, serve_beside(store, settings) as listening:
        code = await store.access.add_code(get_user_name(), ("read", "decide"))
        address = f"{name_address(listening)}/#code={code}"
        print_line(("title", "Open this in your browser; the question will appear there:"))
        print_line(("tool", f"  {address}"))
        print_line("")
        sys.stdout.flush()
        yield Elsewhere({"via": "store"}, [store.as_link()], project)


async def linger() -> None:
    """Leave the page up for a person who looks at it, until they press Ctrl-C.

    Without a terminal, as in CI, nobody could; what is printed may go to a file all the same.
    """
    if not (sys.stdin.isatty() and (sys.stdout.isatty() or sys.stderr.isatty())):
        return
    print_line("")
    print_line(("title", "The page stays up: look at Sessions, Statistics and Trail there."))
    print_line(("dim", "Ctrl-C here ends it."))
    sys.stdout.flush()
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:  # Ctrl-C: the demonstration is over, and nothing is wrong
        print_line("")
        print_line(("dim", "The page has ended."))
