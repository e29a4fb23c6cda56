"""What the middleware for FastMCP servers sees."""

from __future__ import annotations

from amplifier_core import events
from amplifier_hooks.coverage.coverage import ALL, NOTHING, Coverage

COVERAGE = Coverage(
    name="fastmcp",
    framework="FastMCP",
    package="fastmcp",
    module="amplifier_hooks.frameworks.fastmcp",
    attach='server.add_middleware(AmplifierMCP("amplifier.yaml"))',
    events={
        events.SESSION_START: frozenset({"deny", "inject_context", "ask_user"}),
        events.TOOL_PRE: ALL,
        events.TOOL_POST: ALL,
        events.TOOL_ERROR: NOTHING,
        events.SESSION_END: NOTHING,
    },
    unseen=(
        "the agent behind the client: its prompts, its model and its other tools",
        "lists of tools, resources and prompts, and completions",
        "results of calls that a task extension runs in the background, and what they do there",
        "what middleware of a mounted server does to a call that the outer server's hooks judged",
    ),
    entries=(
        "tools/call of a server written with FastMCP",
        "tools/call of a proxy of any other server",
        "resources/read and prompts/get, as the tools of these names",
    ),
    limits={
        events.PROMPT_SUBMIT: "an MCP server sees no prompts",
        events.PROMPT_ANSWER: "an MCP server sees no answers",
        events.PROVIDER_REQUEST: "an MCP server sees no requests to a model",
        events.PROVIDER_RESPONSE: "an MCP server sees no replies of a model",
    },
)
