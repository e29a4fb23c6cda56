"""The hook that tests of the gateway put before servers: a word in a call says what happens."""

from __future__ import annotations

import json
from typing import Any

from amplifier_core import HookResult
from amplifier_core.interfaces import hook

CONTINUE = HookResult(action="continue")
DENY = HookResult(action="deny", reason="the-judge-refuses")
INJECT = HookResult(action="inject_context", context_injection="the-judge-adds-this")
ASK = HookResult(
    action="ask_user",
    approval_prompt="May the-judge-asks run?",
    approval_options=["Allow once", "Deny"],
    approval_timeout=90,
    approval_default="deny",
    reason="the-judge-asks",
)
ASK_SHORTLY = ASK.model_copy(update={"approval_timeout": 0.2})
ANSWERS = {"deny-me": DENY, "inject-me": INJECT, "ask-me": ASK, "ask-shortly": ASK_SHORTLY}


@hook("tool:pre", on_error="deny", timeout=300)
async def judge_call(event: str, data: dict[str, Any]) -> HookResult:
    """Look for the word that the call holds, in its input or its name."""
    said = json.dumps([data["tool_name"], data["tool_input"]])
    for word, answer in ANSWERS.items():
        if word in said:
            return answer
    if "rewrite-me" not in said:
        return CONTINUE
    changed = json.loads(json.dumps(data["tool_input"]).replace("rewrite-me", "rewritten"))
    return HookResult(action="modify", data={**data, "tool_input": changed})


@hook("tool:post", on_error="deny")
async def judge_result(event: str, data: dict[str, Any]) -> HookResult:
    """Replace what a server said, keep it back, or add to it, if it said a certain word."""
    said = json.dumps(data["tool_result"])
    if "withhold-this" in said:
        return HookResult(action="deny", reason="the-judge-withholds")
    if "explain-this" in said:
        return HookResult(action="inject_context", context_injection="the-judge-explains")
    if "replace-this" not in said:
        return CONTINUE
    changed = json.loads(said.replace("replace-this", "the-judge-replaced-it"))
    return HookResult(action="modify", data={**data, "tool_result": changed})


@hook("mcp:list", on_error="deny")
async def judge_list(event: str, data: dict[str, Any]) -> HookResult:
    """Take certain words out of what a server says of itself."""
    said = json.dumps(data)
    if "hidden instruction" not in said:
        return CONTINUE
    return HookResult(
        action="modify", data=json.loads(said.replace("hidden instruction", "(removed)"))
    )
