"""Sessions whose bundle lets a model answer questions, on the real SDK over HTTP."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from amplifier_core.testing import MemoryAudit, RecordingDisplay, ScriptedApproval
from amplifier_hooks import open_session
from amplifier_hooks.agent.bundles import Bundle, bundle_from_plan
from amplifier_hooks.approvals.policy import RefusingApproval

Decide = Callable[[dict[str, Any]], str]


class JudgeServer:
    """A chat API whose model judges calls with a function."""

    def __init__(self) -> None:
        self.decide: Decide = lambda call: "ask"
        self.seen: list[dict[str, Any]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                body = outer.answer(json.loads(self.rfile.read(size)))
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def answer(self, request: dict[str, Any]) -> bytes:
        said = request["messages"][-1]["content"]
        code, shown = re.search(r"<call-(\w+)>\n(.*)\n</call", said, re.DOTALL).groups()
        call = json.loads(shown)
        self.seen.append(call)
        reply = {"code": code, "verdict": self.decide(call), "reason": "as the scope says"}
        message = {"role": "assistant", "content": json.dumps(reply)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m"}
        return json.dumps({**head, "choices": [choice]}).encode()


@pytest.fixture
def model() -> Iterator[JudgeServer]:
    made = JudgeServer()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def build(tmp_path: Path, model: JudgeServer, commands: list[str], **more: Any) -> Bundle:
    calls = [{"tool_calls": [{"name": "Bash", "input": {"command": one}}]} for one in commands]
    judge = {"base_url": model.url, "api_key": "k", "api": "chat", "name": "small", "model": "m"}
    scope = "Deleting files below build/ is fine."
    plan = {
        "session": {"orchestrator": "loop-basic", "context": "context-simple"},
        "providers": [
            {"module": "provider-scripted", "config": {"script": [*calls, {"text": "done"}]}},
            {"module": "provider-openai", "config": judge},
        ],
        "tools": ["tool-bash"],
        "hooks": [
            {"module": "hooks-command-guard", "config": {"ask": ["rm"], "deny": ["mkfs"]}},
            {"module": "hooks-model-judge", "config": {"scope": scope, "provider": "small"}},
        ],
        "sandbox": {"mode": "off"},
        **more,
    }
    return bundle_from_plan(plan)


async def run(bundle: Bundle, folder: Path, people: Any) -> tuple[RecordingDisplay, MemoryAudit]:
    screen, trail = RecordingDisplay(), MemoryAudit()
    session = await open_session(
        bundle, approval_system=people, display_system=screen, working_dir=folder, audit=trail
    )
    async with session:
        await session.execute("tidy up")
    return screen, trail


async def test_a_model_answers_what_is_in_its_scope_and_the_person_the_rest(
    tmp_path: Path, model: JudgeServer
) -> None:
    """The trail names the model and its reason; the person sees why they are asked."""
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "a").touch()
    (tmp_path / "notes").touch()
    model.decide = lambda call: "allow" if "build/" in call["input"]["command"] else "ask"
    people = ScriptedApproval("Deny")
    bundle = build(tmp_path, model, ["rm build/a", "rm notes"])
    screen, trail = await run(bundle, tmp_path, people)
    assert not (tmp_path / "build" / "a").exists()
    assert (tmp_path / "notes").exists()
    assert [one.tool_input["command"] for one in people.questions] == ["rm notes"]
    decided = [one["body"] for one in trail.records if one["type"] == "approval_decided"]
    assert next((one["allowed"], one["by"]) for one in decided) == (
        True,
        "rule:model judge: as the scope says",
    )
    shown = " ".join(str(one) for one in screen.messages)
    assert "leaves this question to a person: as the scope says" in shown


async def test_a_denial_is_never_judged(tmp_path: Path, model: JudgeServer) -> None:
    """A model that says yes to everything changes nothing about a no."""
    model.decide = lambda call: "allow"
    bundle = build(tmp_path, model, ["mkfs build/a"])
    _, trail = await run(bundle, tmp_path, ScriptedApproval("Allow once"))
    assert not model.seen
    assert not [one for one in trail.records if one["type"] == "tool_started"]


async def test_where_everything_that_asks_is_denied_no_model_is_asked(
    tmp_path: Path, model: JudgeServer
) -> None:
    """`--approve deny` is an answer, not a question."""
    (tmp_path / "notes").touch()
    model.decide = lambda call: "allow"
    bundle = build(tmp_path, model, ["rm notes"])
    await run(bundle, tmp_path, RefusingApproval())
    assert (tmp_path / "notes").exists()
    assert not model.seen
