"""One planted secret, one whole session, and every way on which text leaves it."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from amplifier_core.message_models import ChatRequest, StreamChunk
from amplifier_core.models import ToolResult
from amplifier_core.testing import MockTool, RecordingDisplay, ScriptedApproval
from amplifier_hooks import AssembledSession, load_bundle, open_session
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
from amplifier_hooks.cli.display.display import observe
from tests.hooks.guards.otel.collector import collector
from tests.support.http_server import receiver
from tests.support.waiting import wait_until

SECRETS = {
    "token": ("ghp_" + "Zz9" * 12, "ghp_" + "Zz9" * 12),
    "guess": ("password=hunter22x", "hunter22x"),
}
each_secret = pytest.mark.parametrize(("text", "hidden"), SECRETS.values(), ids=SECRETS)


class Raises(MockTool):
    """A tool that says in its error what it should keep to itself."""

    def __init__(self, text: str) -> None:
        super().__init__("Login")
        self.text = text

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        raise ValueError(f"refused: {self.text}")


class Seen:
    """Stands before the provider, keeps what the model was sent, and cuts its words apart."""

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self.requests: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._provider, name)

    async def stream(self, request: ChatRequest, **more: Any) -> AsyncIterator[StreamChunk]:
        self.requests.append(request.model_dump_json())
        async for chunk in self._provider.stream(request):
            if chunk.kind not in {"text", "thinking"}:
                yield chunk
                continue
            for letter in chunk.text:
                yield StreamChunk(chunk.kind, chunk.index, chunk.block_type, letter)


class Screen(RecordingDisplay):
    """A display that also hears every event, as that of the command line does."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []

    def show_event(self, event: str, data: dict[str, Any]) -> None:
        self.events.append((event, data))


def call(tool: str, **given: Any) -> dict[str, Any]:
    return {"tool_calls": [{"name": tool, "input": given}]}


def make_plan(folder: Path, text: str, spans: str, webhook: str) -> dict[str, Any]:
    script = [
        call("Read", file_path="config.txt"),
        call("Bash", command=f"echo '{text}' > written.txt; cat written.txt; echo '{text}' >&2"),
        call("Login", secret=text, password="plain words"),
        {"thinking": f"so {text} it is", "text": f"The secret is {text} indeed."},
    ]
    notify = {
        "desktop": False,
        "min_turn_seconds": 0,
        "include_data": True,
        "events": ["*"],
        "webhooks": [{"url": webhook}],
    }
    return {
        "name": "journey",
        "session": {"orchestrator": "loop-streaming", "context": "context-simple"},
        "providers": [{"module": "provider-scripted", "config": {"script": script}}],
        "tools": ["tool-filesystem", "tool-bash"],
        "hooks": [
            {"module": "hooks-redaction"},
            {"module": "hooks-logging", "config": {"path": "log.jsonl", "level": "debug"}},
            {"module": "hooks-otel", "config": {"endpoint": spans, "capture_content": True}},
            {"module": "hooks-notify", "config": notify},
        ],
        "audit": {"enabled": True, "path": str(folder / "trail"), "level": "full"},
    }


@asynccontextmanager
async def open_journey(
    folder: Path, plan: dict[str, Any], screen: Screen
) -> AsyncIterator[tuple[AssembledSession, Seen]]:
    bundle = folder / "bundle.yaml"
    bundle.write_text(yaml.safe_dump(plan))
    session = await open_session(
        load_bundle(bundle, user=False, defaults=False),
        working_dir=folder / "project",
        display_system=screen,
        approval_system=ScriptedApproval("Allow once"),
    )
    assert session.failures == []
    providers = session.coordinator.mount_points["providers"]
    model = providers["scripted"] = Seen(providers["scripted"])
    observe(session.coordinator.hooks, screen, session.coordinator.scrub)  # type: ignore[arg-type]
    try:
        yield session, model
    finally:
        await session.cleanup()


def add_gossips(session: AssembledSession, text: str) -> None:
    """Hooks that tell the person, print, and fail with the secret in their words."""

    async def tell(event: str, data: dict[str, Any]) -> dict[str, Any]:
        sys.stdout.write(f"printed {text}\n")
        return {"action": "continue", "user_message": f"told {text}"}

    async def fail(event: str, data: dict[str, Any]) -> None:
        raise ValueError(f"failed on {text}")

    session.coordinator.hooks.register("tool:post", tell)
    session.coordinator.hooks.register("tool:post", fail)


def read_all(folder: Path) -> str:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert files
    return "\n".join(path.read_bytes().decode(errors="replace") for path in files)


@each_secret
async def test_no_way_out_of_a_session_has_the_secret(
    text: str, hidden: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Reply, requests, conversation, screen, events, trail, log file, log lines, spans, webhooks
    and saved state are clean; what the person allowed to be written is written as it is."""
    project, screen = tmp_path / "project", Screen()
    project.mkdir()
    (project / "config.txt").write_text(f"a\n{text}\nb\n")
    with collector() as spans, receiver() as webhook, caplog.at_level(logging.DEBUG):
        plan = make_plan(tmp_path, text, spans.url, webhook.url)
        async with open_journey(tmp_path, plan, screen) as (session, model):
            await session.coordinator.mount("tools", Raises(text))
            add_gossips(session, text)
            reply = await session.execute(f"Use {text} please")
            state = await session.state()
            conversation = repr(list(session.context.get_messages()))
            await wait_until(lambda: len(webhook.requests) > 5)
        sent = [body.decode() for _, _, body in webhook.requests]
        exported = spans.text()
    store = SessionStore(tmp_path / "sessions")
    store.save(SessionInfo(session.session_id), state)
    ways = {
        "reply": reply,
        "requests": "\n".join(model.requests),
        "conversation": conversation,
        "messages": repr(screen.messages),
        "events": repr(screen.events),
        "trail": read_all(tmp_path / "trail"),
        "log file": (project / "log.jsonl").read_text(),
        "log lines": caplog.text,
        "spans": exported,
        "webhooks": "\n".join(sent),
        "saved state": read_all(tmp_path / "sessions"),
    }
    assert [name for name, found in ways.items() if hidden in found] == []
    assert "plain words" not in ways["saved state"] + ways["trail"] + ways["log file"]
    assert "refused: " in json.dumps(state)
    assert "told " in ways["messages"]
    assert "printed " in ways["messages"]
    assert "failed on " in ways["log lines"]
    streamed = "".join(d["delta"] for e, d in screen.events if e == "content_block:delta")
    assert streamed.startswith("The secret is ")
    assert streamed.endswith(" indeed.")
    assert hidden in (project / "written.txt").read_text()
