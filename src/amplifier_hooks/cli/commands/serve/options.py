"""What the commands around the server share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store

T = TypeVar("T")

STORE = click.option(
    "--store",
    metavar="PATH|URL",
    help="The store: a file, or postgresql://… [default: $AMPLIFIER_STORE, or your own]",
)
_PACKAGES = ("fastapi", "uvicorn", "websockets")


def require_server() -> None:
    """Say what to install if the server's packages are missing."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        from amplifier_hooks.modules.installation import name_install_command

        raise click.ClickException(
            f"The server needs more packages ({', '.join(missing)}): {name_install_command('web')}"
        )


def use_store(url: str | None, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open a store, do something with it, close it; not for an agent's own commands."""
    from amplifier_hooks.cli.person import refuse_agents

    refuse_agents()

    async def run() -> T:
        from amplifier_hooks.approvals.stores.store import open_store

        async with await open_store(url) as store:
            return await work(store)

    return asyncio.run(run())
