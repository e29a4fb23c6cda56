"""A server with a store of its own, people and agents with their tokens, and clients for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from fastapi import FastAPI

from amplifier_hooks.approvals.models import Approval, ApprovalRequest, Option
from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.server.app import create_app
from amplifier_hooks.server.server import Server, bind, create_server
from amplifier_hooks.server.settings import ServerSettings

API = "/api/v1"
OPTIONS = (Option(id=0, label="Deny", allows=False), Option(id=1, label="Allow once", allows=True))
PEOPLE = ("read", "decide", "admin")


def make_request(**changes: Any) -> ApprovalRequest:
    """A question about a shell command."""
    base = ApprovalRequest(
        key="key-1",
        session_id="session-1",
        prompt="Run it?",
        options=OPTIONS,
        timeout=600.0,
        digest="d" * 64,
        hook="hooks-production-guard",
        event="tool:pre",
        tool_name="Bash",
        tool_call_id="call-1",
        tool_input={"command": "ls"},
        requester="bot",
        machine="build-7",
        working_dir="/srv/app",
    )
    return base.model_copy(update=changes)


@dataclass
class World:
    """One server and its store."""

    store: Store
    app: FastAPI
    settings: ServerSettings
    server: Server | None = None
    _asked: int = 0

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.settings.port}"

    @property
    def services(self) -> Any:
        """What its routes share."""
        return self.app.state.services

    def client(self, **headers: str) -> httpx2.AsyncClient:
        """A client without a credential, unless the headers have one."""
        transport = None if self.server else httpx2.ASGITransport(app=self.app)
        return httpx2.AsyncClient(
            transport=transport,
            base_url=f"{self.address}{API}",
            headers=headers,
            timeout=30,
            trust_env=False,
        )

    async def token(self, name: str, *scopes: str) -> str:
        """The text of a new token."""
        text, _ = await self.store.access.add_token(name, scopes)
        return text

    async def person(self, name: str = "ann", *scopes: str) -> httpx2.AsyncClient:
        """A client with a person's token."""
        token = await self.token(name, *(scopes or PEOPLE))
        return self.client(Authorization=f"Bearer {token}")

    async def agent(self, name: str = "bot") -> httpx2.AsyncClient:
        """A client with an agent's token."""
        return self.client(Authorization=f"Bearer {await self.token(name, 'agent')}")

    async def browser(self, name: str = "ann", *scopes: str) -> httpx2.AsyncClient:
        """A client that has logged in, and sends what our page sends."""
        code = await self.store.access.add_code(name, scopes or PEOPLE)
        async with self.client() as visitor:
            answer = await visitor.post("/login", json={"code": code})
        client = self.client(Origin=self.address)
        client.cookies.set("amplifier_login", answer.cookies["amplifier_login"])
        client.headers["X-Amplifier-CSRF"] = answer.json()["csrf"]
        return client

    async def ask(self, **changes: Any) -> Approval:
        """A question that waits."""
        self._asked += 1
        key = {"key": f"key-{self._asked}", "tool_call_id": f"call-{self._asked}"}
        return await self.store.approvals.request(make_request(**{**key, **changes}))


def allow(approval: Approval, **changes: Any) -> dict[str, Any]:
    """The body of a decision that allows."""
    return {"option": 1, "nonce": approval.nonce, "key": "press-1", **changes}


@asynccontextmanager
async def run_app(store: Store, **settings: Any) -> AsyncIterator[World]:
    """The app in this process, without sockets."""
    chosen = ServerSettings(**settings)
    app = create_app(store, chosen)
    async with app.router.lifespan_context(app):
        yield World(store, app, chosen)


@asynccontextmanager
async def run_server(store: Store, **settings: Any) -> AsyncIterator[World]:
    """The app behind a real server on a free port of this machine."""
    listening = bind(ServerSettings(**{"port": 0, **settings}))
    chosen = ServerSettings(**{**settings, "port": listening.getsockname()[1]})
    app = create_app(store, chosen)
    server = create_server(app, chosen)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield World(store, app, chosen, server)
    finally:
        server.should_exit = True
        await running
        listening.close()
