"""A project with hooks that answer by the name of a tool, and both programs that judge there."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import yaml

from amplifier_audit import open_log, read_records, verify
from amplifier_hooks.agent.session.trail import locate_trail
from amplifier_hooks.approvals.models import Approval, ApprovalFilter, Choice, Decider
from amplifier_hooks.approvals.stores.store import Store
from amplifier_hooks.machine.locations import get_user_name
from amplifier_hooks.server.judge_server import ListenSettings, create_judge_app, create_server
from amplifier_hooks.server.judge_server import bind as bind_judge
from amplifier_hooks.server.judging.host import JudgeHost
from amplifier_hooks.server.settings import JudgeSettings
from tests.hooks.server.world import run_server
from tests.support.trust import trust_project

TOKEN = "t" * 43
HOOKS = """
import asyncio

from amplifier_core.interfaces import hook
from amplifier_core.models import HookResult
from tests.hooks.server.judging.switches import gates, heard


@hook("tool:pre", on_error="deny", timeout=1000, name="rules")
async def before(event, data):
    tool = data["tool_name"]
    given = data["tool_input"]
    heard[data["tool_call_id"]] += 1
    if tool == "Deny":
        return HookResult(action="deny", reason="not on my machine")
    if tool == "Change":
        return HookResult(action="modify", data={**data, "tool_input": {**given, "safe": True}})
    if tool == "Ask":
        return HookResult(
            action="ask_user", approval_prompt="May it?", reason="it asks", approval_timeout=60.0
        )
    if tool == "Slow":
        await gates.setdefault(data["tool_call_id"], asyncio.Event()).wait()
    if tool == "Break":
        raise RuntimeError("broken")
    if tool == "Say":
        return HookResult(
            action="inject_context",
            context_injection="You are on main.",
            ephemeral=given.get("once", False),
            user_message="A copy was kept.",
        )


@hook("tool:post", on_error="deny", timeout=1000, name="results")
async def after(event, data):
    heard["result of " + data["tool_call_id"]] += 1
    output = data["tool_result"]["output"]
    if output == "slow":
        await gates.setdefault("result of " + data["tool_call_id"], asyncio.Event()).wait()
    if output == "secret":
        changed = {**data["tool_result"], "output": "[hidden]"}
        return HookResult(action="modify", data={**data, "tool_result": changed})
    if output == "poison":
        return HookResult(action="deny", reason="the model must not read it")


@hook("prompt:submit", name="prompts")
async def prompt(event, data):
    heard["prompt"] += 1
    if "forbidden" in data["prompt"]:
        return HookResult(action="deny", reason="not that")
    if "loud" in data["prompt"]:
        return HookResult(action="modify", data={**data, "prompt": data["prompt"].lower()})
    if "remember" in data["prompt"]:
        return HookResult(action="inject_context", context_injection="Be careful.")


@hook("provider:request", name="requests")
async def request(event, data):
    heard["request"] += 1
    if data["model"] == "forbidden":
        return HookResult(action="deny", reason="not that model")


@hook("provider:response", name="replies")
async def reply(event, data):
    heard["reply"] += 1
    text = "".join(one.get("text") or "" for one in data["response"]["content"])
    if text == "bad":
        return HookResult(action="deny", reason="not said")


@hook("prompt:answer", name="answers")
async def answer(event, data):
    heard["answer"] += 1
    if data["response"] == "key 123":
        return HookResult(action="modify", data={**data, "response": "key [hidden]"})


@hook("session:start", on_error="deny", name="starts")
async def start(event, data):
    heard["start"] += 1


@hook("session:end", name="ends")
async def end(event, data):
    heard["end " + data["reason"]] += 1
"""


def write_project(folder: Path, code: str = HOOKS, **sections: Any) -> Path:
    """A folder whose bundle has these hooks, and which a person trusts."""
    folder.mkdir(exist_ok=True)
    (folder / "judging_hooks.py").write_text(code)
    bundle = {
        "inherit": False,
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [{"module": "provider-scripted", "config": {"script": []}}],
        "hooks": [{"module": "judging-hooks", "source": "./judging_hooks.py"}],
        "audit": {"enabled": True},
        **sections,
    }
    (folder / "amplifier.yaml").write_text(yaml.safe_dump(bundle))
    trust_project(folder)
    return folder


@dataclass
class Scene:
    """A server that judges, and clients for it."""

    address: str
    judge: JudgeHost
    store: Store
    token: str
    other_token: str = ""
    owner: str = ""
    """The name of the first token."""

    def client(self, token: str | None = None) -> httpx2.AsyncClient:
        """A program, by its token; without any, if it is empty."""
        chosen = self.token if token is None else token
        return httpx2.AsyncClient(
            base_url=f"{self.address}/api/v1/judge",
            headers={"Authorization": f"Bearer {chosen}"} if chosen else {},
            timeout=30,
            trust_env=False,
        )

    async def wait_for_question(self, session: str = "") -> Approval:
        """The next one that waits for a person."""
        for _ in range(1500):
            wanted = ApprovalFilter(("pending",), session_id=session)
            found, _ = await self.store.approvals.list(wanted)
            if found:
                return found[0]
            await asyncio.sleep(0.02)
        raise AssertionError("nobody was asked")

    async def answer(self, session: str, label: str = "Allow", comment: str = "") -> None:
        """A person chooses."""
        asked = await self.wait_for_question(session)
        option = next(one.id for one in asked.request.options if one.label == label)
        key = uuid.uuid4().hex
        choice = Choice(option=option, nonce=asked.nonce, key=key, comment=comment)
        await self.store.approvals.decide(asked.id, choice, Decider("ann", "cli"))


class Program:
    """One session, and short ways to have its events judged."""

    def __init__(self, client: httpx2.AsyncClient, state: dict[str, Any]) -> None:
        self.client = client
        self.state = state
        self.id: str = state["session"]

    @property
    def path(self) -> str:
        """Where its session is."""
        return f"/sessions/{self.id}"

    async def post(self, **body: Any) -> httpx2.Response:
        """Send an event."""
        return await self.client.post(f"{self.path}/events", json=body)

    async def judge(self, **body: Any) -> dict[str, Any]:
        """Send an event that must be judged."""
        response = await self.post(**body)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def call(self, id: str, tool: str = "Plain", **more: Any) -> dict[str, Any]:
        """Ask for a call."""
        given = more.pop("input", {"value": 1})
        return await self.judge(event="call", id=id, tool=tool, input=given, **more)

    async def report(self, call: str, **more: Any) -> dict[str, Any]:
        """Say what became of one."""
        more = more or {"output": "done"}
        return await self.judge(event="result", id=f"result of {call}", call=call, **more)

    async def poll(self, id: str, wait: float = 0.0) -> httpx2.Response:
        """Ask for a judgement again."""
        return await self.client.get(f"{self.path}/events/{id}", params={"wait": wait})

    async def end(self, reason: str = "complete") -> dict[str, Any]:
        """End it."""
        response = await self.client.post(f"{self.path}/end", json={"reason": reason})
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    async def status(self) -> dict[str, Any]:
        """How it stands."""
        found: dict[str, Any] = (await self.client.get(self.path)).json()
        return found


async def open_session(client: httpx2.AsyncClient, **more: Any) -> Program:
    """Open one that must be opened."""
    body = {"key": uuid.uuid4().hex, "program": "tests", **more}
    response = await client.post("/sessions", json=body)
    assert response.status_code == 201, response.text
    return Program(client, response.json())


def read_trail(session: str) -> list[dict[str, Any]]:
    """The records of a session that has ended, in their order; they agree with one another."""
    path = locate_trail({}, session)
    assert verify(path).verdict == "consistent"
    return list(read_records(open_log(path)))


def list_ends(session: str) -> dict[str, list[str]]:
    """How the trail says that each call ended, by its id."""
    ends: dict[str, list[str]] = {}
    for record in read_trail(session):
        if record["type"] == "tool_finished":
            ends.setdefault(record["body"]["id"], []).append(record["body"]["outcome"])
    return ends


@asynccontextmanager
async def run_judge(settings: JudgeSettings, store: Store) -> AsyncIterator[Scene]:
    """The server of `amplifier judge`; `store` is where its bundle has people asked."""
    listening = bind_judge(ListenSettings(port=0))
    chosen = ListenSettings(port=listening.getsockname()[1], judge=settings)
    app = create_judge_app(chosen, TOKEN)
    server = create_server(app)
    server.heeds_signals = False
    running = asyncio.create_task(server.serve(sockets=[listening]))
    await server.is_up.wait()
    try:
        yield Scene(chosen.address, app.state.judge, store, TOKEN, owner=get_user_name())
    finally:
        server.should_exit = True
        await running
        listening.close()


@asynccontextmanager
async def run_serve(settings: JudgeSettings, store: Store) -> AsyncIterator[Scene]:
    """The server of `amplifier serve`."""
    more = {"bundle": settings.bundle, "folder": settings.folder}
    async with run_server(store, **more) as world:
        token = await world.token("builder", "judge")
        other = await world.token("other", "judge")
        yield Scene(world.address, world.services.judge, store, token, other, "builder")
