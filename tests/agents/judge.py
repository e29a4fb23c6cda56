"""The hook that the tests of the real agents put in front of them: a command says what happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from amplifier_core import HookResult
from amplifier_core.interfaces import hook

HERE = Path(__file__).parent
CONTINUE = HookResult(action="continue")


@hook("tool:pre", on_error="deny", timeout=300)
async def judge(event: str, data: dict[str, Any]) -> HookResult:
    """Look for the word that the command holds."""
    said = json.dumps(data["tool_input"])
    for word, answer in ANSWERS.items():
        if word in said:
            return await answer(data)
    return CONTINUE


@hook("prompt:submit", on_error="deny")
async def judge_prompt(event: str, data: dict[str, Any]) -> HookResult:
    """Refuse a prompt, or add to it, if a file of the project says so."""
    if (HERE / "refuse-prompts").exists():
        return HookResult(action="deny", reason="the-judge-refuses")
    if (HERE / "explain-prompts").exists():
        return HookResult(action="inject_context", context_injection="the-judge-explains")
    return CONTINUE


@hook("orchestrator:complete")
async def judge_end(event: str, data: dict[str, Any]) -> HookResult:
    """Have the agent go on, if a file of the project says so."""
    if not (HERE / "keep-working").exists():
        return CONTINUE
    return HookResult(action="deny", reason="the-judge-wants-more")


@hook("guest:config_change")
async def judge_settings(event: str, data: dict[str, Any]) -> HookResult:
    """Refuse changed settings, if a file of the project says so."""
    if not (HERE / "refuse-settings").exists():
        return CONTINUE
    return HookResult(action="deny", reason="the-judge-refuses")


@hook("tool:post", on_error="deny")
async def judge_result(event: str, data: dict[str, Any]) -> HookResult:
    """Replace what a tool said, if it said a certain word."""
    result = data["tool_result"]
    if "replace-this" not in json.dumps(result):
        return CONTINUE
    changed = json.loads(json.dumps(result).replace("replace-this", "the-judge-replaced-it"))
    return HookResult(action="modify", data={**data, "tool_result": changed})


async def deny(data: dict[str, Any]) -> HookResult:
    """No."""
    return HookResult(action="deny", reason="the-judge-refuses")


async def rewrite(data: dict[str, Any]) -> HookResult:
    """The same call with another word in it."""
    changed = json.loads(json.dumps(data["tool_input"]).replace("rewrite-me", "rewritten"))
    return HookResult(action="modify", data={**data, "tool_input": changed})


async def inject(data: dict[str, Any]) -> HookResult:
    """Yes, and the model is told something."""
    return HookResult(action="inject_context", context_injection="the-judge-adds-this")


async def ask(data: dict[str, Any]) -> HookResult:
    """A person is to say."""
    return HookResult(
        action="ask_user",
        approval_prompt="May the-judge-asks run?",
        approval_options=["Allow once", "Deny"],
        approval_timeout=90,
        approval_default="deny",
        reason="the-judge-asks",
    )


async def crash(data: dict[str, Any]) -> HookResult:
    """A fault of the hook."""
    raise RuntimeError("the-judge-crashes")


async def hang(data: dict[str, Any]) -> HookResult:
    """Longer than anybody waits."""
    _say_that_it_has_begun()
    await asyncio.sleep(250)
    return CONTINUE


async def wait(data: dict[str, Any]) -> HookResult:
    """Go on when the file is there."""
    _say_that_it_has_begun()
    while not (HERE / "go").exists():
        await asyncio.sleep(0.05)
    return await deny(data) if (HERE / "refuse-calls").exists() else CONTINUE


def _say_that_it_has_begun() -> None:
    with (HERE / "judging").open("a") as begun:
        begun.write("judging\n")


ANSWERS: dict[str, Callable[[dict[str, Any]], Awaitable[HookResult]]] = {
    "deny-me": deny,
    "rewrite-me": rewrite,
    "inject-me": inject,
    "ask-me": ask,
    "crash-me": crash,
    "hang-me": hang,
    "wait-me": wait,
}
