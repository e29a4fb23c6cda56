"""The Claude Agent SDK: its own program, with a model on this machine that plays a script."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from claude_agent_sdk import (
    AgentDefinition,
    AssistantMessage,
    ClaudeAgentOptions,
    ResultMessage,
    StreamEvent,
    SystemMessage,
    TextBlock,
    create_sdk_mcp_server,
    tool,
)

from amplifier_hooks.agent.model_server import ModelServer, Reply
from amplifier_hooks.coverage import CLAUDE_AGENT_SDK
from amplifier_hooks.frameworks import Governor
from amplifier_hooks.frameworks.claude_agent_sdk import (
    AmplifiedClient,
    Questions,
    amplified_query,
)
from tests.adapters.drivers.driver import Call, Driver, Ran, Step
from tests.support.adapter_runs.plain_mcp_server import record_calls

SERVER = "tools"
HELPER = "helper"
NO_REQUESTS = CLAUDE_AGENT_SDK.limits["provider:request"]
NO_REPLIES = CLAUDE_AGENT_SDK.limits["provider:response"]
NO_OWN_ANSWER = "its program has no answer of its own to a call that was put off"
NOT_SYNCHRONOUS = "the SDK has no synchronous entry point"


class ClaudeDriver(Driver):
    """Each run starts the program, which takes seconds: so fewer of them at once."""

    name = CLAUDE_AGENT_SDK.name
    coverage = CLAUDE_AGENT_SDK
    runs_at_once = 5
    cannot: ClassVar[Mapping[str, str]] = {
        "the_frameworks_own_answer_counts": NO_OWN_ANSWER,
        "the_frameworks_own_yes_is_bound_to_what_was_shown": NO_OWN_ANSWER,
        "a_request_is_seen": NO_REQUESTS,
        "a_denied_request_reaches_no_model": NO_REQUESTS,
        "a_request_is_changed": NO_REQUESTS,
        "an_injection_at_the_request": NO_REQUESTS,
        "a_reply_is_seen": NO_REPLIES,
        "a_denied_reply_ends_the_turn": NO_REPLIES,
        "a_reply_is_changed": NO_REPLIES,
        "a_call_in_a_reply_is_changed": NO_REPLIES,
        "the_synchronous_entry_point_is_governed": NOT_SYNCHRONOUS,
        "a_question_in_the_synchronous_entry_point": NOT_SYNCHRONOUS,
        "without_hooks_nothing_of_ours_is_attached": "its program is not part of the benchmark",
        "an_injection_for_one_request": CLAUDE_AGENT_SDK.limits["tool:post inject_context"],
        "an_injection_behind_the_last_result": CLAUDE_AGENT_SDK.limits["tool:post inject_context"],
    }

    def __init__(self) -> None:
        self._homes: dict[str, str] = {}

    async def run(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        async with self.serve(script, ran) as url:
            await self._ask(hooks, self.build_options(url, ran), prompt, ran)
        return ran

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        ran = Ran()
        async with self.serve(script, ran) as url:
            more = {"include_partial_messages": True}
            await self._ask(hooks, self.build_options(url, ran, **more), prompt, ran)
        return ran

    async def run_with_helper(
        self, hooks: Governor, script: list[Step], helper: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        about = AgentDefinition(description="Helps.", prompt="You help.", background=False)
        # The agent waits for its helper, so there is one order of all replies.
        async with self.serve([script[0], *helper, *script[1:]], ran, in_order=True) as url:
            options = self.build_options(url, ran, agents={HELPER: about})
            await self._ask(hooks, options, prompt, ran)
        return ran

    async def run_interrupted(
        self, hooks: Governor, script: list[Step], choose: Any, prompt: str = "Do it."
    ) -> Ran:
        ran, asks = Ran(), Questions()
        async with self.serve(script, ran) as url:
            options = self.build_options(url, ran)
            await self._ask(hooks, options, prompt, ran, asks=asks)
            while asks.waiting:
                for payload in list(asks.waiting):
                    asks.give(payload, choose(payload))
                resumed = replace(options, resume=ran.stored[0])
                given: dict[str, Any] = {"plain_servers": [SERVER], "asks": asks}
                async with AmplifiedClient(hooks, resumed, **given) as client:
                    async for message in client.receive_response():
                        _read_message(message, ran)
        return ran

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        ran = Ran()
        with record_calls(ran.calls) as (command, *words):
            async with self.serve(script, ran) as url:
                options = self.build_options(url, ran)
                options.mcp_servers = {SERVER: {"command": command, "args": words}}
                await self._ask(hooks, options, prompt, ran)
        return ran

    @asynccontextmanager
    async def serve(
        self, script: list[Step], ran: Ran, *, in_order: bool = False
    ) -> AsyncIterator[str]:
        replies = [_write_reply(step) for step in script]
        with TemporaryDirectory(prefix="claude-", ignore_cleanup_errors=True) as home:
            async with ModelServer(replies, per_conversation=not in_order) as server:
                self._homes[server.url] = home
                try:
                    yield server.url
                finally:
                    ran.requests += [_read_request(one.body) for one in server.requests]

    def build_options(self, url: str, ran: Ran, **more: Any) -> ClaudeAgentOptions:
        home = self._homes[url]
        return ClaudeAgentOptions(
            mcp_servers={SERVER: create_sdk_mcp_server(SERVER, tools=_make_tools(ran))},
            allowed_tools=[f"mcp__{SERVER}"],
            setting_sources=[],
            cwd=home,
            env={
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": "none",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "CLAUDE_CONFIG_DIR": home,
                "DISABLE_AUTOUPDATER": "1",
                "HOME": home,
            },
            **more,
        )

    async def _ask(
        self, hooks: Governor, options: ClaudeAgentOptions, prompt: str, ran: Ran, **more: Any
    ) -> None:
        given = {"prompt": prompt, "options": options, "plain_servers": [SERVER], **more}
        async for message in amplified_query(hooks, **given):
            _read_message(message, ran)


def _read_message(message: Any, ran: Ran) -> None:
    if isinstance(message, AssistantMessage):
        ran.stored += [one.text for one in message.content if isinstance(one, TextBlock)]
    elif isinstance(message, StreamEvent):
        delta = message.event.get("delta") or {}
        ran.pieces.append(str(delta.get("text") or ""))
    elif isinstance(message, ResultMessage):
        ran.answer = message.result or ran.answer
        ran.stored.insert(0, message.session_id)
    elif isinstance(message, SystemMessage) and message.subtype == "informational":
        ran.answer = str(message.data.get("content"))


def _make_tools(ran: Ran) -> list[Any]:
    def say(text: str) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": text}]}

    @tool("note", "Note a text.", {"text": str})
    async def note(given: dict[str, Any]) -> dict[str, Any]:
        ran.calls.append(("note", given))
        return say(f"noted {given['text']}")

    @tool("wipe", "Wipe a path.", {"path": str})
    async def wipe(given: dict[str, Any]) -> dict[str, Any]:
        ran.calls.append(("wipe", given))
        return say(f"wiped {given['path']}")

    @tool("boom", "Fail.", {"text": str})
    async def boom(given: dict[str, Any]) -> dict[str, Any]:
        ran.calls.append(("boom", given))
        raise RuntimeError(f"boom {given['text']}")

    return [note, wipe, boom]


def _write_reply(step: Step) -> Reply:
    if isinstance(step, str):
        return Reply(text=step)
    return Reply.model_validate({"tool_calls": [_write_call(one) for one in step]})


def _write_call(call: Call) -> dict[str, Any]:
    if call.name == HELPER:
        task = {"subagent_type": HELPER, "description": "help", "prompt": call.arguments["task"]}
        return {"name": "Agent", "input": {**task, "run_in_background": False}, "id": call.id}
    known = call.name in ("note", "wipe", "boom")
    name = f"mcp__{SERVER}__{call.name}" if known else call.name
    return {"name": name, "input": call.arguments, "id": call.id}


def _read_request(body: Mapping[str, Any]) -> str:
    return json.dumps(body.get("messages"), ensure_ascii=False)


DRIVER_CLASS = ClaudeDriver
