"""The real server with a real store, in a thread of the test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalFilter,
    ApprovalRequest,
    Choice,
    Decider,
)
from amplifier_hooks.approvals.stores.store import Store, open_store
from amplifier_hooks.server.app import create_app
from amplifier_hooks.server.server import Server, bind, create_server
from amplifier_hooks.server.services import Services
from amplifier_hooks.server.settings import ServerSettings

PATIENCE = 30.0
T = TypeVar("T")


class RunningServer:
    """A server on a port of its own; it can be stopped and started again there."""

    store: Store
    services: Services

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._settings = ServerSettings(port=0)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: Server | None = None
        self._serving: asyncio.Task[None] | None = None
        self.start()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://127.0.0.1:{self._settings.port}"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do something where the server runs."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE)

    def start(self) -> None:
        """Open the store and listen."""
        self.run(self._start())

    def stop(self) -> None:
        """End the server and close the store; what is stored stays."""
        self.run(self._stop())

    def close(self) -> None:
        """End everything."""
        if self._server is not None:
            self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(PATIENCE)
        self._loop.close()

    async def _start(self) -> None:
        self.store = await open_store(self._folder / "store.db")
        listening = bind(self._settings)
        self._settings = replace(self._settings, port=listening.getsockname()[1])
        app = create_app(self.store, self._settings)
        self.services = app.state.services
        server = create_server(app, self._settings)
        self._server = server

        async def serve() -> None:
            with closing(listening):
                await server.serve(sockets=[listening])

        self._serving = asyncio.ensure_future(serve())

    async def _stop(self) -> None:
        assert self._server is not None
        assert self._serving is not None
        self._server.should_exit = True
        await self._serving
        await self.store.close()
        self._server = None

    # What agents and people do

    def make_code(self, name: str = "ann", scopes: Iterable[str] = ("read", "decide")) -> str:
        """A one-time code to log in with."""
        return self.run(self.store.access.add_code(name, frozenset(scopes)))

    def ask(self, request: ApprovalRequest) -> Approval:
        """Put a question, as an agent does."""
        return self.run(self.store.approvals.request(request))

    def get(self, approval: Approval) -> Approval:
        """How an approval stands."""
        return self.run(self.store.approvals.get(approval.id))

    def wait(self, approval: Approval) -> Approval:
        """The approval once it is decided."""
        return self.run(self.store.approvals.wait(approval.id, PATIENCE - 5))

    def withdraw_all(self) -> None:
        """Stop asking whatever is still asked."""
        wanted = ApprovalFilter(status=("pending",))
        while waiting := self.run(self.store.approvals.list(wanted))[0]:
            for one in waiting:
                self.run(self.store.approvals.withdraw(one.id))

    def decide(self, approval: Approval, option: int, name: str = "bob") -> Approval:
        """Decide at the terminal of somebody else."""
        choice = Choice(option=option, nonce=approval.nonce, key=f"{name}-{approval.id}-{option}")
        decider = Decider(name, "cli", frozenset({"read", "decide"}))
        return self.run(self.store.approvals.decide(approval.id, choice, decider))
